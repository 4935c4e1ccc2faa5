// Numbers pairs of states in the order in which they are met.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace trelliswork {

// A hash table with open addressing: products visit millions of pairs.
class PairIndex {
  public:
    using Pair = std::pair<std::int32_t, std::int32_t>;
    static constexpr std::int64_t most = std::int64_t{1} << 30;  // numbers have 32 bits

    PairIndex() : slots_(1024, -1) {}

    std::int64_t size() const { return static_cast<std::int64_t>(pairs_.size()); }
    Pair operator[](std::int64_t id) const { return pairs_[static_cast<std::size_t>(id)]; }

    // The number of the pair, which is new if it equals the size before the call.
    std::int32_t add(std::int32_t first, std::int32_t second) {
        if (2 * pairs_.size() >= slots_.size()) grow();
        const Pair pair{first, second};
        auto slot = hash(pair);
        while (slots_[slot] >= 0) {
            if (pairs_[static_cast<std::size_t>(slots_[slot])] == pair) return slots_[slot];
            slot = (slot + 1) & (slots_.size() - 1);
        }
        const auto id = static_cast<std::int32_t>(pairs_.size());
        slots_[slot] = id;
        pairs_.push_back(pair);
        return id;
    }

  private:
    std::size_t hash(Pair pair) const {
        const auto key =
            static_cast<std::uint64_t>(pair.first) << 32 | static_cast<std::uint32_t>(pair.second);
        const auto mixed = key * 0x9E3779B97F4A7C15u;
        return static_cast<std::size_t>(mixed ^ mixed >> 32) & (slots_.size() - 1);
    }

    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        for (std::size_t id = 0; id < pairs_.size(); ++id) {
            auto slot = hash(pairs_[id]);
            while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = static_cast<std::int32_t>(id);
        }
    }

    std::vector<Pair> pairs_;
    std::vector<std::int32_t> slots_;  // a power of two; −1 = free
};

}  // namespace trelliswork
