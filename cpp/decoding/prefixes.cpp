#include "decoding/prefixes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/threads.hpp"
#include "kernel/paths.hpp"

namespace trelliswork {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kStates = 2;  // where the states of terms begin in a row

}  // namespace

Prefixes::Prefixes(const PrefixTables& tables, const Predicates& predicates)
    : tables_(tables),
      predicates_(predicates),
      automaton_(*tables.batch.automaton),
      n_terms_(tables.terms.size()),
      n_predicates_(predicates.penalty.size()),
      width_(kStates + n_terms_),
      reader_(tables.batch),
      own_least_(n_terms_) {
    for (const auto& term : tables.terms) width_ += term.is_hard() ? 1 : 0;
    scratch_.resize(width_);
}

void Prefixes::read(std::int64_t sequence) {
    sequence_ = sequence;
    first_token_ = tables_.batch.offsets[sequence];
    scores_ = reader_.read(sequence);
    prefixes_.clear();
    rows_.clear();
    counts_.assign(n_predicates_, 0);
    for (std::size_t i = 0; i < n_terms_; ++i) {
        const auto& term = tables_.terms[i];
        if (term.classes == nullptr) continue;
        fill_least(*term.automaton, term.classes + first_token_, length(), automaton_.n_labels,
                   scores_.n_durations, own_least_[i]);
    }
    run_backward();
    double paid = 0.0;
    auto* violation = scratch_.data() + kStates + n_terms_;
    scratch_[0] = 0;
    for (std::size_t i = 0; i < n_terms_; ++i) {
        const auto& term = tables_.terms[i];
        scratch_[kStates + i] = term.automaton->start;
        if (term.is_hard()) {
            *violation++ = term.automaton->empty;
        } else {
            paid += term.penalty * static_cast<double>(term.automaton->empty);
        }
    }
    const double charge = paid + least_charge(0, scratch_.data());
    for (std::int32_t s = 0; s < automaton_.n_states; ++s) {
        const double optimistic = automaton_.initial[s] + best_rest_[s] - charge;
        if (optimistic == kNegativeInfinity) continue;
        scratch_[1] = s;
        // Where there is no token, complete labellings are asked about here.
        const auto counts = length() == 0 ? std::int64_t{-1} : std::int64_t{0};
        prefixes_.push_back({optimistic, automaton_.initial[s], paid, 0.0,
                             static_cast<std::int64_t>(rows_.size()), counts, 0, -1, -1, 0});
        rows_.insert(rows_.end(), scratch_.begin(), scratch_.end());
    }
}

// h[t, s] = max over arcs from s and lengths d of  w + φ[t + d − 1, d] + h[t + d, target]
void Prefixes::run_backward() {
    const auto n_states = static_cast<std::int64_t>(automaton_.n_states);
    const std::int64_t n_labels = automaton_.n_labels;
    best_rest_.assign(static_cast<std::size_t>((length() + 1) * n_states), kNegativeInfinity);
    std::copy(automaton_.final.begin(), automaton_.final.end(),
              best_rest_.begin() + length() * n_states);
    for (auto t = length() - 1; t >= 0; --t) {
        double* row = best_rest_.data() + t * n_states;
        const auto longest = std::min<std::int64_t>(scores_.n_durations, length() - t);
        for (std::int64_t a = 0; a < automaton_.n_arcs(); ++a) {
            double best = kNegativeInfinity;
            for (std::int64_t d = 1; d <= longest; ++d) {
                const double phi =
                    scores_.phi[((t + d - 1) * scores_.n_durations + d - 1) * n_labels +
                                automaton_.label[a]];
                best = std::max(best, phi + best_rest_[(t + d) * n_states + automaton_.target[a]]);
            }
            if (best == kNegativeInfinity) continue;
            double& entry = row[automaton_.source[a]];
            entry = std::max(entry, best + arc_weight(t, a));
        }
    }
}

double Prefixes::arc_weight(std::int64_t t, std::int64_t arc) const {
    double total = tables_.weight[arc];
    if (scores_.positional == nullptr) return total;
    const double* own = scores_.positional + t * scores_.n_positional;
    for (auto k = automaton_.pattern_offsets[arc]; k < automaton_.pattern_offsets[arc + 1]; ++k) {
        const auto pattern = automaton_.pattern_ids[k];
        if (pattern < scores_.n_positional) total += own[pattern];
    }
    return total;
}

double Prefixes::step(const Prefix& from, std::int64_t arc, std::int64_t* to) const {
    const auto* row = rows_.data() + from.row;
    const auto* violation = row + kStates + n_terms_;
    auto* violation_after = to + kStates + n_terms_;
    double charge = 0.0;
    to[1] = automaton_.target[arc];
    for (std::size_t i = 0; i < n_terms_; ++i) {
        const auto& term = tables_.terms[i];
        std::int64_t letter = automaton_.label[arc];
        if (term.classes != nullptr) {
            letter += std::int64_t{term.classes[first_token_ + from.end]} * automaton_.n_labels;
        }
        const auto cell = row[kStates + i] * term.automaton->n_letters + letter;
        to[kStates + i] = term.automaton->next[cell];
        if (term.is_hard()) {
            *violation_after++ = *violation++ + term.automaton->step[cell];
        } else {
            charge += term.penalty * static_cast<double>(term.automaton->step[cell]);
        }
    }
    return charge;
}

double Prefixes::least_charge(std::int64_t t, const std::int64_t* row) const {
    const auto* violation = row + kStates + n_terms_;
    const auto left = length() - t;
    double charge = 0.0;
    for (std::size_t i = 0; i < n_terms_; ++i) {
        const auto& term = tables_.terms[i];
        const auto& table = term.classes == nullptr ? tables_.least_left[i] : own_least_[i];
        const auto least = table[left * term.automaton->n_states + row[kStates + i]];
        if (!term.is_hard()) {
            charge += term.penalty * static_cast<double>(least);
        } else if (*violation++ + least > 0) {
            return kInfinity;
        }
    }
    return charge;
}

bool Prefixes::is_open(std::int64_t id) const {
    const Prefix& prefix = prefixes_[id];
    if (n_predicates_ == 0 || prefix.counts >= 0) return false;
    return predicates_.reads_prefixes || prefix.end == length();
}

void Prefixes::ask(std::int64_t id) {
    Prefix& prefix = prefixes_[id];
    const Labelling path = labelling(id);
    tags_.resize(path.labels.size());
    for (std::size_t t = 0; t < tags_.size(); ++t) {
        tags_[t] = path.labels[t] + (path.begins[t] != 0 ? 0 : automaton_.n_labels);
    }
    // The last hypothesis before it that predicates were asked about: later tags are new.
    auto before = prefix.parent;
    while (before >= 0 && prefixes_[before].counts < 0) before = prefixes_[before].parent;
    const auto counted = before < 0 ? std::int64_t{0} : prefixes_[before].counts;
    const auto n_new = prefix.end - (before < 0 ? 0 : prefixes_[before].end);
    prefix.counts = static_cast<std::int64_t>(counts_.size());
    counts_.resize(counts_.size() + n_predicates_);
    predicates_.count(sequence_, tags_, n_new, counts_.data() + counted,
                      counts_.data() + prefix.counts);
    double more = 0.0;
    for (std::size_t p = 0; p < n_predicates_; ++p) {
        const auto added = counts_[prefix.counts + p] - counts_[counted + p];
        if (added > 0) more += predicates_.penalty[p] * static_cast<double>(added);
    }
    prefix.charged += more;
    prefix.optimistic -= more;
}

void Prefixes::settle(std::int64_t id) {
    Prefix& prefix = prefixes_[id];
    if (prefix.row >= 0) return;
    prefix.row = static_cast<std::int64_t>(rows_.size());
    scratch_[0] = prefix.end;
    step(prefixes_[prefix.parent], prefix.arc, scratch_.data());
    rows_.insert(rows_.end(), scratch_.begin(), scratch_.end());
}

bool Prefixes::same_future(std::int64_t one, std::int64_t other) const {
    const auto* row = rows_.data() + prefixes_[one].row;
    return std::equal(row, row + width_, rows_.data() + prefixes_[other].row);
}

std::size_t Prefixes::hash_future(std::int64_t id) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    const auto* row = rows_.data() + prefixes_[id].row;
    for (const auto* value = row; value < row + width_; ++value) {
        hash = (hash ^ static_cast<std::uint64_t>(*value)) * 0x100000001b3ULL;
    }
    return static_cast<std::size_t>(hash ^ (hash >> 29));
}

void Prefixes::expand(std::int64_t id) {
    const Prefix from = prefixes_[id];
    const auto t = static_cast<std::int64_t>(from.end);
    const auto n_states = static_cast<std::int64_t>(automaton_.n_states);
    const auto state = rows_[from.row + 1];
    const auto longest = std::min<std::int64_t>(scores_.n_durations, length() - t);
    for (auto k = tables_.out_offsets[state]; k < tables_.out_offsets[state + 1]; ++k) {
        const auto arc = tables_.out_arcs[k];
        const double weight = arc_weight(t, arc);
        if (weight == kNegativeInfinity) continue;
        const double paid = from.paid + step(from, arc, scratch_.data());
        for (std::int64_t d = 1; d <= longest; ++d) {
            const double phi =
                scores_.phi[((t + d - 1) * scores_.n_durations + d - 1) * automaton_.n_labels +
                            automaton_.label[arc]];
            const double rest = best_rest_[(t + d) * n_states + automaton_.target[arc]];
            if (phi == kNegativeInfinity || rest == kNegativeInfinity) continue;
            const double least = least_charge(t + d, scratch_.data());
            if (least == kInfinity) continue;
            const double score = from.score + weight + phi;
            prefixes_.push_back({score + rest - (paid + least) - from.charged, score, paid,
                                 from.charged, -1, -1, static_cast<std::int32_t>(t + d),
                                 static_cast<std::int32_t>(id), static_cast<std::int32_t>(arc),
                                 static_cast<std::int32_t>(d)});
        }
    }
}

Labelling Prefixes::labelling(std::int64_t id) const {
    Labelling found;
    found.labels.assign(static_cast<std::size_t>(prefixes_[id].end), -1);
    found.begins.assign(found.labels.size(), 0);
    for (auto at = id; prefixes_[at].parent >= 0; at = prefixes_[at].parent) {
        const Prefix& prefix = prefixes_[at];
        write_segment(prefix.end, prefix.duration, automaton_.label[prefix.arc],
                      found.labels.data(), found.begins.data());
    }
    return found;
}

bool is_settled(const PrefixAnswer& answer, double tolerance) {
    return answer.bound <= answer.score + tolerance * (1.0 + std::abs(answer.score));
}

void search_prefixes(const Batch& batch, const std::vector<SearchTerm>& terms,
                     const Predicates& predicates, const PrefixOptions& options,
                     std::vector<PrefixAnswer>& answers) {
    answers.assign(static_cast<std::size_t>(batch.n_sequences), {});
    const PrefixTables tables(batch, terms);
    const int n_workers = predicates.penalty.empty() ? batch.n_workers : 1;
    std::vector<std::unique_ptr<Prefixes>> workers;
    for (int i = 0; i < n_workers; ++i) {
        workers.push_back(std::make_unique<Prefixes>(tables, predicates));
    }
    parallel_for(n_workers, batch.n_sequences, 1, [&](int worker, std::ptrdiff_t b) {
        auto& mine = *workers[static_cast<std::size_t>(worker)];
        auto& answer = answers[static_cast<std::size_t>(b)];
        const Deadline deadline(options.seconds);
        mine.read(b);
        if (options.method == PrefixMethod::beam) {
            search_beam(mine, options.width, options.tolerance, deadline, answer);
            return;
        }
        search_best_first(mine, options, deadline, answer);
        if (answer.status != Status::unsolved) return;
        // Too far to go: some labelling, with the bound that was proven.
        const double bound = answer.bound;
        const auto n_expanded = answer.n_expanded;
        mine.read(b);
        search_beam(mine, options.width, options.tolerance, deadline, answer);
        answer.n_expanded += n_expanded;
        answer.bound = std::max(std::min(answer.bound, bound), answer.score);
        if (answer.status == Status::feasible && is_settled(answer, options.tolerance)) {
            answer.status = Status::optimal;
        }
    });
}

}  // namespace trelliswork
