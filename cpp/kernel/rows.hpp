// The rows α[0 … T] of a forward pass, whole or as checkpoints.
//
// When all rows fit the memory limit they are kept. Otherwise they are computed in blocks of about
// √(T·D) rows, of which only the last D are kept, and a block is computed again when a backward
// reader comes to it: memory ∝ √T instead of T, for twice the work.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/aligned.hpp"

namespace trelliswork {

class Rows {
  public:
    // T + 1 rows of `width` numbers; a row is computed from the `lead` rows before it.
    void plan(std::int64_t length, std::int64_t lead, std::int64_t width, std::size_t bytes_a_row,
              std::size_t memory_limit) {
        length_ = length;
        lead_ = lead;
        width_ = width;
        block_length_ = std::max<std::int64_t>(length, 1);
        if (static_cast<std::size_t>(block_length_) * bytes_a_row > memory_limit) {
            const auto root = std::sqrt(static_cast<double>(length) * static_cast<double>(lead));
            block_length_ =
                std::min(block_length_, std::max(lead, static_cast<std::int64_t>(root) + 1));
        }
        block_start_ = 0;
        // Every row is written before it is read: clearing them would cost as much as computing.
        rows_.resize(static_cast<std::size_t>((block_length_ + lead) * width));
        const auto n_blocks = (length + block_length_ - 1) / block_length_;
        checkpoints_.resize(n_blocks > 1 ? static_cast<std::size_t>(n_blocks * lead * width) : 0);
    }

    // Readable for t = block_start − lead + 1 … block_start + block_length.
    double* operator[](std::int64_t t) {
        return rows_.data() + (t - block_start_ + lead_ - 1) * width_;
    }
    const double* operator[](std::int64_t t) const {
        return rows_.data() + (t - block_start_ + lead_ - 1) * width_;
    }

    std::int64_t block_start() const { return block_start_; }
    std::int64_t block_length() const { return block_length_; }
    std::int64_t block_end() const { return std::min(block_start_ + block_length_, length_); }

    // fill() computes rows block_start + 1 … block_end and says whether it could.
    template <class Fill>
    bool run(Fill&& fill) {
        for (std::int64_t block = 0;; ++block) {
            if (!checkpoints_.empty()) {
                std::copy_n(rows_.data(), lead_ * width_, checkpoint(block));
            }
            if (!fill()) return false;
            if (block_end() == length_) return true;
            std::copy_n((*this)[block_end() - lead_ + 1], lead_ * width_, rows_.data());
            block_start_ += block_length_;
        }
    }

    // Makes rows t − lead … t readable.
    template <class Fill>
    void seek(std::int64_t t, Fill&& fill) {
        const auto block = t > 0 ? (t - 1) / block_length_ : 0;
        if (block * block_length_ == block_start_) return;
        block_start_ = block * block_length_;
        std::copy_n(checkpoint(block), lead_ * width_, rows_.data());
        fill();
    }

  private:
    double* checkpoint(std::int64_t block) { return checkpoints_.data() + block * lead_ * width_; }

    std::int64_t length_ = 0;
    std::int64_t lead_ = 1;
    std::int64_t width_ = 0;
    std::int64_t block_length_ = 1;
    std::int64_t block_start_ = 0;
    AlignedDoubles rows_;              // (lead + block, width)
    std::vector<double> checkpoints_;  // (blocks, lead, width)
};

}  // namespace trelliswork
