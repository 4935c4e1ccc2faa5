// A cache of results by the text of a token. Readers and writers need no
// lock: an entry is published after its row is complete, and two threads that compute the same
// entry write the same numbers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace trelliswork {

class TextMemo {
  public:
    // Texts are numbered by first occurrence, so the first ones are the frequent ones: remembering
    // no more than these bounds the memory.
    static constexpr std::size_t most_texts = 32768;

    TextMemo() = default;
    TextMemo(std::size_t n_texts, std::size_t width)
        : n_texts_(std::min(n_texts, most_texts)), width_(width) {
        const std::size_t n_cells = n_texts_ * (width + 1);
        cells_ = std::make_unique<std::atomic<std::uint32_t>[]>(n_cells);
    }

    // Fills `row` and answers true when text `id` (from 1) is remembered.
    bool recall(std::uint32_t id, std::span<std::uint32_t> row) const {
        if (id == 0 || id > n_texts_) return false;
        const auto* const cells = cells_.get() + (id - 1) * (width_ + 1);
        if (cells[0].load(std::memory_order_acquire) == 0) return false;
        for (std::size_t i = 0; i < width_; ++i) {
            row[i] = cells[i + 1].load(std::memory_order_relaxed);
        }
        return true;
    }

    // Const: a remembered row equals the row that would be computed again.
    void remember(std::uint32_t id, std::span<const std::uint32_t> row) const {
        if (id == 0 || id > n_texts_) return;
        auto* const cells = cells_.get() + (id - 1) * (width_ + 1);
        for (std::size_t i = 0; i < width_; ++i) {
            cells[i + 1].store(row[i], std::memory_order_relaxed);
        }
        cells[0].store(1, std::memory_order_release);
    }

  private:
    std::size_t n_texts_ = 0;
    std::size_t width_ = 0;
    std::unique_ptr<std::atomic<std::uint32_t>[]> cells_;  // (n_texts, 1 + width): known, row
};

}  // namespace trelliswork
