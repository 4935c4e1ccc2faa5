#include "text/features.hpp"

#include <algorithm>
#include <cstring>

#include "base/threads.hpp"
#include "text/features_extraction.hpp"

namespace trelliswork {

namespace {

void append(FeatureRows& all, const FeatureRows& part) {
    const auto base = static_cast<std::int64_t>(all.indices.size());
    all.indices.reserve_more(part.indices.size());
    all.ends.reserve_more(part.ends.size());
    if (part.indices.size() > 0) {
        std::memcpy(all.indices.data() + base, part.indices.data(),
                    part.indices.size() * sizeof(std::int32_t));
    }
    for (std::size_t i = 0; i < part.ends.size(); ++i) {
        all.ends.data()[all.ends.size() + i] = base + part.ends.data()[i];
    }
    all.indices.set_size(all.indices.size() + part.indices.size());
    all.ends.set_size(all.ends.size() + part.ends.size());
}

// Drops the features that are not kept and renumbers the others, in place.
void keep_only(FeatureRows& rows, std::span<const std::uint8_t> keep) {
    std::vector<std::int32_t> renumbered(keep.size());
    std::int32_t n_kept = 0;
    for (std::size_t f = 0; f < keep.size(); ++f) {
        renumbered[f] = n_kept;
        n_kept += keep[f];
    }
    std::int32_t* const indices = rows.indices.data();
    std::int64_t from = 0;
    std::int64_t to = 0;
    for (std::size_t row = 0; row < rows.ends.size(); ++row) {
        for (; from < rows.ends.data()[row]; ++from) {
            const auto feature = static_cast<std::size_t>(indices[from]);
            indices[to] = renumbered[feature];
            to += keep[feature];
        }
        rows.ends.data()[row] = to;
    }
    rows.indices.set_size(static_cast<std::size_t>(to));
}

std::vector<std::uint8_t> frequent(const std::vector<std::int64_t>& counts,
                                   std::int64_t min_count) {
    std::vector<std::uint8_t> keep(counts.size());
    for (std::size_t f = 0; f < counts.size(); ++f) keep[f] = counts[f] >= min_count;
    return keep;
}

}  // namespace

FeatureIndex::FeatureIndex(std::shared_ptr<const FeatureProgram> program)
    : program_(std::move(program)),
      values_(program_->attributes.size()),
      ngrams_(program_->kinds.size()),
      rows_(program_->kinds.size()),
      memos_(program_->n_columns) {
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        rows_[k].assign(n_rows(k) * program_->kinds[k].n_columns, no_feature);
    }
}

std::size_t FeatureIndex::n_rows(std::size_t kind) const {
    const NgramKind& ngram = program_->kinds[kind];
    const std::size_t n_ids = ngram.prefix < 0 ? program_->n_pads(ngram.attribute) +
                                                     std::size_t{values_[ngram.attribute].size()}
                                               : ngrams_[kind].size();
    return n_ids + 1;
}

void FeatureIndex::start_memos() {
    for (std::uint32_t c = 0; c < program_->n_columns; ++c) {
        const auto identity = program_->identity[c];
        const std::size_t width = program_->text_attributes[c].size();
        if (identity < 0 || width < 2) continue;
        memos_[c] = TextMemo(values_[static_cast<std::size_t>(identity)].size(), width);
    }
}

std::pair<FeatureIndex, ExtractedFeatures> FeatureIndex::fit(
    std::shared_ptr<const FeatureProgram> program, const TokenBatch& batch,
    std::int64_t min_count) {
    FeatureIndex index(std::move(program));
    Extraction<true> extraction(index, batch, 0, batch.sequences.size() - 1);
    ExtractedFeatures features = extraction.run();
    // Values seen only where no template reads them still have a (blank) row.
    for (std::size_t k = 0; k < index.rows_.size(); ++k) {
        index.rows_[k].resize(index.n_rows(k) * index.program_->kinds[k].n_columns, no_feature);
    }
    if (min_count > 1) {
        const auto state = frequent(extraction.state_counts, min_count);
        const auto edge = frequent(extraction.edge_counts, min_count);
        keep_only(features.state, state);
        keep_only(features.edge, edge);
        index = index.select(state, edge);
    } else {
        index.start_memos();
    }
    return {std::move(index), std::move(features)};
}

ExtractedFeatures FeatureIndex::transform(const TokenBatch& batch, int n_workers) const {
    const std::size_t n_sequences = batch.sequences.size() - 1;
    const auto n_shards =
        std::clamp<std::size_t>(n_sequences, 1, static_cast<std::size_t>(n_workers));
    if (n_shards == 1) return Extraction<false>(*this, batch, 0, n_sequences).run();
    const auto bounds = split_evenly(batch.sequences.data(), static_cast<std::int64_t>(n_sequences),
                                     static_cast<int>(n_shards));
    std::vector<ExtractedFeatures> parts(bounds.size() - 1);
    run_workers(static_cast<int>(parts.size()), [&](int worker) {
        const auto i = static_cast<std::size_t>(worker);
        parts[i] = Extraction<false>(*this, batch, static_cast<std::size_t>(bounds[i]),
                                     static_cast<std::size_t>(bounds[i + 1]))
                       .run();
    });
    for (std::size_t i = 1; i < parts.size(); ++i) {
        append(parts[0].state, parts[i].state);
        append(parts[0].edge, parts[i].edge);
    }
    return std::move(parts[0]);
}

}  // namespace trelliswork
