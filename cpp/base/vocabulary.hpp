// Exact vocabularies by interning. A string, or a pair of ids, gets a small id at its first
// occurrence; ids count from 1, and 0 means "never seen". Nothing is identified by its hash alone.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace trelliswork {

// Spreads all bits of `x` over the result (multiply, fold, multiply).
inline std::uint64_t mix(std::uint64_t x) {
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    return x ^ (x >> 29);
}

inline std::uint64_t hash_bytes(std::string_view bytes) {
    std::uint64_t hash = bytes.size();
    std::size_t i = 0;
    // Eight bytes at a time, then the rest in one zero-padded word; the length keeps both apart.
    for (; i + 8 <= bytes.size(); i += 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + i, 8);
        hash = mix(hash ^ word);
    }
    std::uint64_t rest = 0;
    if (i < bytes.size()) std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
    return mix(hash ^ rest);
}

// Strings ↔ ids 1 … size(). The bytes lie in one buffer in id order.
class StringPool {
  public:
    std::uint32_t size() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
    std::uint32_t find(std::string_view text) const { return find(text, hash_bytes(text)); }
    std::uint32_t find(std::string_view text, std::uint64_t hash) const;
    std::uint32_t insert(std::string_view text) { return insert(text, hash_bytes(text)); }
    std::uint32_t insert(std::string_view text, std::uint64_t hash);
    std::string_view operator[](std::uint32_t id) const {
        const auto begin = offsets_[id - 1];
        return {bytes_.data() + begin, static_cast<std::size_t>(offsets_[id] - begin)};
    }
    std::span<const char> bytes() const { return bytes_; }              // (offsets.back(),)
    std::span<const std::int64_t> offsets() const { return offsets_; }  // (size + 1,)

  private:
    void grow();

    std::vector<char> bytes_;
    std::vector<std::int64_t> offsets_{0};
    // Slots of an open-addressing table: high half a piece of the hash, low half the id, 0 = free.
    std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(16);
};

// Pairs of ids ↔ ids 1 … size(): one step of a path from a prefix to a longer n-gram.
class PairTable {
  public:
    std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
    static std::uint64_t key(std::uint32_t prefix, std::uint32_t value) {
        return (static_cast<std::uint64_t>(prefix) << 32) | value;
    }
    static std::uint32_t prefix_of(std::uint64_t key) {
        return static_cast<std::uint32_t>(key >> 32);
    }
    static std::uint32_t value_of(std::uint64_t key) { return static_cast<std::uint32_t>(key); }
    // Both halves of a key are at least 1, so key 0 marks a free slot.
    std::uint32_t find(std::uint64_t key) const {
        for (std::size_t at = mix(key) & mask_;; at = (at + 1) & mask_) {
            if (slots_[at].key == key) return slots_[at].id;
            if (slots_[at].key == 0) return 0;
        }
    }
    std::uint32_t insert(std::uint64_t key);
    void prefetch(std::uint64_t key) const {
#if defined(__GNUC__)
        __builtin_prefetch(&slots_[mix(key) & mask_]);
#else
        static_cast<void>(key);
#endif
    }
    std::span<const std::uint64_t> keys() const { return keys_; }  // (size,) in id order

  private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t id = 0;
    };
    void grow();

    std::vector<std::uint64_t> keys_;
    std::vector<Slot> slots_ = std::vector<Slot>(16);
    std::size_t mask_ = 15;
};

}  // namespace trelliswork
