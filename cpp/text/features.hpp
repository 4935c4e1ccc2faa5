// From text to sparse features. A FeatureIndex is a FeatureProgram with its vocabulary: the values
// of every attribute, the n-grams of every kind, and the feature ids in their rows. Reading a known
// n-gram of length n costs n − 1 look-ups of integers, an unknown value ends it at once; no feature
// is ever spelled out as a string.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/vocabulary.hpp"
#include "text/features_memo.hpp"
#include "text/features_program.hpp"

namespace trelliswork {

// A growing array that does not clear its new cells, and whose memory can be handed over.
template <class Item>
class GrowingBuffer {
  public:
    GrowingBuffer() = default;
    GrowingBuffer(GrowingBuffer&& other) noexcept { swap(other); }
    GrowingBuffer& operator=(GrowingBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    GrowingBuffer(const GrowingBuffer&) = delete;
    GrowingBuffer& operator=(const GrowingBuffer&) = delete;
    ~GrowingBuffer() { std::free(items_); }

    Item* data() { return items_; }
    const Item* data() const { return items_; }
    std::size_t size() const { return size_; }
    void set_size(std::size_t size) { size_ = size; }
    // Makes room for `n` items behind the present ones.
    void reserve_more(std::size_t n) {
        if (size_ + n > capacity_) reallocate(std::max(size_ + n, capacity_ + capacity_ / 2));
    }
    // Gives memory kept in reserve back.
    void shrink() {
        if (capacity_ > size_ && size_ > 0) reallocate(size_);
    }

  private:
    void reallocate(std::size_t capacity) {
        auto* const grown = static_cast<Item*>(std::realloc(items_, capacity * sizeof(Item)));
        if (grown == nullptr) throw std::bad_alloc();
        items_ = grown;
        capacity_ = capacity;
    }
    void swap(GrowingBuffer& other) noexcept {
        std::swap(items_, other.items_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    Item* items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

// The text of one column, all sequences end to end.
struct TokenColumn {
    std::vector<char> bytes;
    std::vector<std::int64_t> offsets{0};  // (N + 1,)
    std::string_view operator[](std::size_t token) const {
        return {bytes.data() + offsets[token],
                static_cast<std::size_t>(offsets[token + 1] - offsets[token])};
    }
};

struct TokenBatch {
    std::vector<std::int64_t> sequences{0};  // (B + 1,) bounds of the sequences in tokens
    std::vector<TokenColumn> columns;        // (program.n_columns,)
};

// Rows of a sparse 0/1 matrix, one row a token.
struct FeatureRows {
    GrowingBuffer<std::int64_t> ends;     // (N,) where each row ends in indices
    GrowingBuffer<std::int32_t> indices;  // (nnz,)
};

struct ExtractedFeatures {
    FeatureRows state;
    FeatureRows edge;  // row t: the transition into token t; empty for the first of a sequence
};

// A FeatureIndex as flat arrays, for storage.
struct FeatureArrays {
    std::vector<std::uint8_t> value_bytes;    // UTF-8 of all values, attribute by attribute
    std::vector<std::int64_t> value_offsets;  // (values + 1,)
    std::vector<std::int64_t> value_counts;   // (A,) values of each attribute
    std::vector<std::uint64_t> ngram_keys;    // (n-grams,) prefix id << 32 | value id, by kind
    std::vector<std::int64_t> ngram_counts;   // (K,) n-grams of each kind, 0 where n = 1
    std::vector<std::int32_t> rows;           // feature ids, −1 for none, by kind and n-gram
    std::int64_t n_state = 0;
    std::int64_t n_edge = 0;
};

// UTF-8 texts end to end.
struct FeatureNames {
    std::string bytes;
    std::vector<std::int64_t> ends;  // (n_features,)
};

inline constexpr std::uint32_t no_feature = 0xFFFFFFFFu;

class FeatureIndex {
  public:
    explicit FeatureIndex(std::shared_ptr<const FeatureProgram> program);
    // Throws std::invalid_argument unless the arrays describe an index of this program.
    FeatureIndex(std::shared_ptr<const FeatureProgram> program, const FeatureArrays& arrays);
    FeatureIndex(FeatureIndex&&) = default;
    FeatureIndex& operator=(FeatureIndex&&) = default;
    FeatureIndex(const FeatureIndex&) = delete;
    FeatureIndex& operator=(const FeatureIndex&) = delete;
    ~FeatureIndex() = default;

    // Learns the features that occur at least min_count times, numbered by first occurrence.
    static std::pair<FeatureIndex, ExtractedFeatures> fit(
        std::shared_ptr<const FeatureProgram> program, const TokenBatch& batch,
        std::int64_t min_count);
    // The known features of every token. Reads only: safe from many threads.
    ExtractedFeatures transform(const TokenBatch& batch, int n_workers) const;
    // The index of the kept features, renumbered in order, without unused parts.
    FeatureIndex select(std::span<const std::uint8_t> keep_state,
                        std::span<const std::uint8_t> keep_edge) const;
    // The same for a program of some of the templates: its template i is ours at origins[i], and
    // every kept feature belongs to one of them.
    FeatureIndex select(std::span<const std::uint8_t> keep_state,
                        std::span<const std::uint8_t> keep_edge,
                        std::shared_ptr<const FeatureProgram> smaller,
                        std::span<const std::int64_t> origins) const;
    // Which templates of state or edge features, in their order, make a kept feature.
    std::vector<std::uint8_t> live_templates(bool edge, std::span<const std::uint8_t> keep) const;

    FeatureArrays arrays() const;
    // Readable names in id order.
    FeatureNames names(bool edge) const;
    // The template of every feature: its place among those of state or edge features. Templates
    // that share a column share its features: they are the first one's.
    std::vector<std::int32_t> feature_templates(bool edge) const;
    const FeatureProgram& program() const { return *program_; }
    std::uint32_t n_state() const { return n_state_; }
    std::uint32_t n_edge() const { return n_edge_; }

  private:
    template <bool learn>
    friend class Extraction;
    template <bool learn>
    friend class TokenValues;

    // Where a feature comes from.
    struct Owner {
        std::int32_t emission = -1;  // the first that reads its column
        std::uint32_t ngram = 0;
    };

    // The number of ids of a kind, id 0 ("unknown") included: the number of its rows.
    std::size_t n_rows(std::size_t kind) const;
    // To be called once the values are complete.
    void start_memos();
    std::vector<Owner> owners(bool edge) const;
    void append_name(std::string& out, const Template& feature, std::size_t kind,
                     std::uint32_t ngram) const;

    std::shared_ptr<const FeatureProgram> program_;
    std::vector<StringPool> values_;                // (A,) value id = pads + pool id
    std::vector<PairTable> ngrams_;                 // (K,) unused where n = 1: the id is the value
    std::vector<std::vector<std::uint32_t>> rows_;  // (K,) each (n_rows, n_columns); row 0 is empty
    std::vector<TextMemo> memos_;                   // (columns,) keyed by the text's value id
    std::uint32_t n_state_ = 0;
    std::uint32_t n_edge_ = 0;
};

}  // namespace trelliswork
