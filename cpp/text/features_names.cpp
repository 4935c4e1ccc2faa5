// Names of the features of a FeatureIndex, and the templates they come from.
#include <string>

#include "text/features.hpp"

namespace trelliswork {

std::vector<FeatureIndex::Owner> FeatureIndex::owners(bool edge) const {
    const auto& emissions = edge ? program_->edge : program_->state;
    std::vector<Owner> out(edge ? n_edge_ : n_state_);
    for (std::size_t e = 0; e < emissions.size(); ++e) {
        const std::size_t width = program_->kinds[emissions[e].kind].n_columns;
        const auto& rows = rows_[emissions[e].kind];
        for (std::size_t id = 1; id * width < rows.size(); ++id) {
            const std::uint32_t feature = rows[id * width + emissions[e].column];
            if (feature == no_feature || out[feature].emission >= 0) continue;
            out[feature] = {static_cast<std::int32_t>(e), static_cast<std::uint32_t>(id)};
        }
    }
    return out;
}

void FeatureIndex::append_name(std::string& out, const Template& feature, std::size_t kind,
                               std::uint32_t ngram) const {
    std::vector<std::string> texts;  // from the last value to the first
    for (std::uint32_t id = ngram;;) {
        const NgramKind& step = program_->kinds[kind];
        std::uint32_t value = id;
        if (step.prefix >= 0) {
            const std::uint64_t key = ngrams_[kind].keys()[id - 1];
            id = PairTable::prefix_of(key);
            value = PairTable::value_of(key);
        }
        const auto n_pads = program_->n_pads(step.attribute);
        const auto reach = static_cast<std::uint32_t>(program_->reach);
        if (value > n_pads) {
            texts.emplace_back(values_[step.attribute][value - n_pads]);
        } else if (value <= reach) {
            texts.push_back("_B-" + std::to_string(value));
        } else {
            texts.push_back("_B+" + std::to_string(value - reach));
        }
        if (step.prefix < 0) break;
        kind = static_cast<std::size_t>(step.prefix);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        out += feature.literals[i];
        out += texts[texts.size() - 1 - i];
    }
    out += feature.literals.back();
}

FeatureNames FeatureIndex::names(bool edge) const {
    const auto& emissions = edge ? program_->edge : program_->state;
    const auto& sources = edge ? program_->edge_template : program_->state_template;
    FeatureNames out;
    for (const Owner& owner : owners(edge)) {
        const auto e = static_cast<std::size_t>(owner.emission);
        append_name(out.bytes, program_->templates[sources[e]], emissions[e].kind, owner.ngram);
        out.ends.push_back(static_cast<std::int64_t>(out.bytes.size()));
    }
    return out;
}

std::vector<std::int32_t> FeatureIndex::feature_templates(bool edge) const {
    // Emissions are in the order of the templates, one each.
    std::vector<std::int32_t> out;
    for (const Owner& owner : owners(edge)) out.push_back(owner.emission);
    return out;
}

}  // namespace trelliswork
