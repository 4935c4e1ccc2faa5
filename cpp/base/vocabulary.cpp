#include "base/vocabulary.hpp"

#include <stdexcept>

namespace trelliswork {

namespace {

constexpr std::uint64_t id_half = 0xFFFFFFFFu;
constexpr std::size_t most_entries = 0xFFFFFFF0u;

// Tables are kept at most three quarters full.
bool is_full(std::size_t n_entries, std::size_t n_slots) {
    return n_entries * 4 >= n_slots * 3;
}

}  // namespace

std::uint32_t StringPool::find(std::string_view text, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const std::uint64_t slot = slots_[at];
        if (slot == 0) return 0;
        const auto id = static_cast<std::uint32_t>(slot);
        if (((slot ^ hash) & ~id_half) == 0 && (*this)[id] == text) return id;
    }
}

std::uint32_t StringPool::insert(std::string_view text, std::uint64_t hash) {
    if (is_full(size() + 1u, slots_.size())) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
        const auto id = static_cast<std::uint32_t>(slots_[at]);
        if (((slots_[at] ^ hash) & ~id_half) == 0 && (*this)[id] == text) return id;
    }
    if (size() >= most_entries) throw std::length_error("more than 4 billion distinct strings");
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
    slots_[at] = (hash & ~id_half) | size();
    return size();
}

void StringPool::grow() {
    slots_.assign(slots_.size() * 2, 0);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t id = 1; id <= size(); ++id) {
        const std::uint64_t hash = hash_bytes((*this)[id]);
        std::size_t at = hash & mask;
        while (slots_[at] != 0) at = (at + 1) & mask;
        slots_[at] = (hash & ~id_half) | id;
    }
}

std::uint32_t PairTable::insert(std::uint64_t key) {
    if (is_full(keys_.size() + 1, slots_.size())) grow();
    std::size_t at = mix(key) & mask_;
    for (; slots_[at].key != 0; at = (at + 1) & mask_) {
        if (slots_[at].key == key) return slots_[at].id;
    }
    if (keys_.size() >= most_entries) throw std::length_error("more than 4 billion n-grams");
    keys_.push_back(key);
    slots_[at] = {key, size()};
    return size();
}

void PairTable::grow() {
    slots_.assign(slots_.size() * 2, {});
    mask_ = slots_.size() - 1;
    for (std::uint32_t id = 1; id <= size(); ++id) {
        std::size_t at = mix(keys_[id - 1]) & mask_;
        while (slots_[at].key != 0) at = (at + 1) & mask_;
        slots_[at] = {keys_[id - 1], id};
    }
}

}  // namespace trelliswork
