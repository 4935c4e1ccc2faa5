#include "kernel/layer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "kernel/engine.hpp"

namespace trelliswork {

namespace {

constexpr int kSharesAWorker = 4;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// False for NaN and +inf.
template <class Float>
bool all_scores(const Float* values, std::int64_t n) {
    bool good = true;
    for (std::int64_t i = 0; i < n; ++i) good &= values[i] < std::numeric_limits<Float>::infinity();
    return good;
}

// The rows of every sequence, one sequence after the other, without those that are left out.
struct KeptRows {
    std::vector<std::int64_t> row;      // (N,)
    std::vector<std::int64_t> offsets;  // (B + 1,)

    explicit KeptRows(const PaddedBatch& batch) : offsets{0} {
        row.reserve(static_cast<std::size_t>(batch.n_sequences * batch.n_positions));
        for (std::int64_t b = 0; b < batch.n_sequences; ++b) {
            for (std::int64_t t = 0; t < batch.n_positions; ++t) {
                const auto r = b * batch.sequence_stride + t * batch.position_stride;
                if (batch.mask != nullptr && !batch.mask[r]) continue;
                if (batch.tags != nullptr) {
                    if (batch.tags[r] == batch.ignored_tag) continue;
                    check(batch, b, t, batch.tags[r]);
                }
                row.push_back(r);
            }
            offsets.push_back(static_cast<std::int64_t>(row.size()));
        }
    }

  private:
    static void check(const PaddedBatch& batch, std::int64_t b, std::int64_t t, std::int64_t tag) {
        if (tag >= 0 && tag < batch.automaton->n_labels) return;
        throw std::out_of_range(
            "tags: expected ids from 0 to " + std::to_string(batch.automaton->n_labels - 1) +
            " or " + std::to_string(batch.ignored_tag) + " (left out), got " + std::to_string(tag) +
            " in sequence " + std::to_string(b) + " at position " + std::to_string(t) + ".");
    }
};

// One worker: scores are read into a block of doubles that stays in the cache, and gradients are
// written from one.
template <class Float>
class LayerWorker {
  public:
    LayerWorker(const PaddedBatch& batch, const Weights& weights, const Float* emissions,
                const LayerGradient<Float>* gradient)
        : batch_(batch),
          n_labels_(batch.automaton->n_labels),
          engine_(weights, batch.memory_limit),
          emissions_(emissions),
          gradient_(gradient) {
        if (gradient == nullptr) return;
        const auto n_labels = static_cast<std::size_t>(n_labels_);
        start_.assign(n_labels, 0.0);
        end_.assign(n_labels, 0.0);
        transitions_.assign(n_labels * n_labels, 0.0);
    }

    void run(std::int64_t b, const std::int64_t* rows, std::int64_t length, double* log_z,
             double* gold) {
        *log_z = *gold = 0.0;
        if (length == 0) return;  // nothing is asked of it
        if (batch_.tags != nullptr) *gold = read_gold(rows, length);
        if (!read_scores(rows, length)) {
            *log_z = *gold = kNaN;
            if (gradient_ != nullptr) fill_with_nan(rows, length);
            return;
        }
        SequenceScores scores;
        scores.length = length;
        scores.phi = phi_.data();
        if (gradient_ == nullptr) {
            *log_z = engine_.with_sums(scores, [](const auto& chart) { return chart.log_total(); });
            return;
        }
        const double weight = gradient_->weights == nullptr ? 1.0 : gradient_->weights[b];
        const double sign = batch_.tags == nullptr ? 1.0 : -1.0;
        posterior_.resize(phi_.size());
        *log_z =
            engine_.posteriors(scores, sign * weight, posterior_.data(), nullptr, nullptr, nullptr);
        for (double& p : posterior_) p *= sign * weight;
        if (batch_.tags != nullptr) add_gold(rows, length, weight);
        write_gradient(rows, length);
    }

    // Adds the sums of this worker; called one worker at a time.
    void collect() {
        engine_.collect(gradient_->transitions);
        for (int y = 0; y < n_labels_; ++y) gradient_->start[y] += start_[y];
        for (int y = 0; y < n_labels_; ++y) gradient_->end[y] += end_[y];
        for (std::size_t i = 0; i < transitions_.size(); ++i) {
            gradient_->transitions[i] += transitions_[i];
        }
    }

  private:
    double read_gold(const std::int64_t* rows, std::int64_t length) const {
        double score = batch_.start[tag(rows[0])] + batch_.end[tag(rows[length - 1])];
        for (std::int64_t t = 0; t < length; ++t) {
            score += static_cast<double>(emissions_[rows[t] * n_labels_ + tag(rows[t])]);
            if (t > 0) score += batch_.transitions[tag(rows[t - 1]) * n_labels_ + tag(rows[t])];
        }
        return score;
    }

    // phi = the emissions of the kept rows, with start and end scores; false if one is no score.
    bool read_scores(const std::int64_t* rows, std::int64_t length) {
        phi_.resize(static_cast<std::size_t>(length * n_labels_));
        bool good = true;
        for (std::int64_t t = 0; t < length; ++t) {
            const Float* from = emissions_ + rows[t] * n_labels_;
            std::copy_n(from, n_labels_, phi_.data() + t * n_labels_);
            good &= all_scores(from, n_labels_);
        }
        double* last = phi_.data() + (length - 1) * n_labels_;
        for (int y = 0; y < n_labels_; ++y) phi_[static_cast<std::size_t>(y)] += batch_.start[y];
        for (int y = 0; y < n_labels_; ++y) last[y] += batch_.end[y];
        return good;
    }

    void add_gold(const std::int64_t* rows, std::int64_t length, double weight) {
        for (std::int64_t t = 0; t < length; ++t) {
            posterior_[static_cast<std::size_t>(t * n_labels_ + tag(rows[t]))] += weight;
            if (t > 0) {
                transitions_[static_cast<std::size_t>(tag(rows[t - 1]) * n_labels_ +
                                                      tag(rows[t]))] += weight;
            }
        }
    }

    void write_gradient(const std::int64_t* rows, std::int64_t length) {
        for (std::int64_t t = 0; t < length; ++t) {
            const double* from = posterior_.data() + t * n_labels_;
            Float* to = gradient_->emissions + rows[t] * n_labels_;
            for (int y = 0; y < n_labels_; ++y) to[y] = static_cast<Float>(from[y]);
        }
        const double* last = posterior_.data() + (length - 1) * n_labels_;
        for (int y = 0; y < n_labels_; ++y) start_[y] += posterior_[static_cast<std::size_t>(y)];
        for (int y = 0; y < n_labels_; ++y) end_[y] += last[y];
    }

    void fill_with_nan(const std::int64_t* rows, std::int64_t length) {
        posterior_.assign(phi_.size(), kNaN);
        std::fill(transitions_.begin(), transitions_.end(), kNaN);
        write_gradient(rows, length);
    }

    std::int64_t tag(std::int64_t row) const { return batch_.tags[row]; }

    const PaddedBatch& batch_;
    std::int64_t n_labels_;
    Engine engine_;
    const Float* emissions_;
    const LayerGradient<Float>* gradient_;
    std::vector<double> phi_, posterior_;  // (length, L)
    std::vector<double> start_, end_,
        transitions_;  // (L,), (L,), (L, L): gradients, without expected transitions
};

}  // namespace

template <class Float>
void log_likelihood(const PaddedBatch& batch, const Float* emissions, double* log_z, double* gold,
                    const LayerGradient<Float>* gradient) {
    const std::int64_t n_labels = batch.automaton->n_labels;
    const auto n_rows = batch.n_sequences * batch.n_positions;
    if (gradient != nullptr) {
        std::fill_n(gradient->emissions, n_rows * n_labels, Float{0});
        std::fill_n(gradient->start, n_labels, 0.0);
        std::fill_n(gradient->end, n_labels, 0.0);
        std::fill_n(gradient->transitions, n_labels * n_labels, 0.0);
    }
    const KeptRows kept(batch);
    if (!all_scores(batch.start, n_labels) || !all_scores(batch.end, n_labels) ||
        !all_scores(batch.transitions, n_labels * n_labels)) {
        std::fill_n(log_z, batch.n_sequences, kNaN);
        std::fill_n(gold, batch.n_sequences, kNaN);
        if (gradient != nullptr) {
            std::fill_n(gradient->emissions, n_rows * n_labels, static_cast<Float>(kNaN));
            std::fill_n(gradient->start, n_labels, kNaN);
            std::fill_n(gradient->end, n_labels, kNaN);
            std::fill_n(gradient->transitions, n_labels * n_labels, kNaN);
        }
        return;
    }
    const Weights weights(*batch.automaton, batch.transitions, 1);
    // More shares than workers, handed out as workers come free: other threads of the program may
    // hold a core. The sums of a share do not depend on the worker that runs it.
    const auto wanted = batch.n_workers > 1 ? kSharesAWorker * batch.n_workers : 1;
    const auto bounds = split_evenly(kept.offsets.data(), batch.n_sequences, wanted);
    const auto n_shares = bounds.size() - 1;
    std::vector<LayerWorker<Float>> workers;
    workers.reserve(n_shares);
    for (std::size_t i = 0; i < n_shares; ++i) {
        workers.emplace_back(batch, weights, emissions, gradient);
    }
    parallel_for(
        batch.n_workers, static_cast<std::ptrdiff_t>(n_shares), 1, [&](int, std::ptrdiff_t share) {
            for (auto b = bounds[share]; b < bounds[share + 1]; ++b) {
                workers[static_cast<std::size_t>(share)].run(b, kept.row.data() + kept.offsets[b],
                                                             kept.offsets[b + 1] - kept.offsets[b],
                                                             log_z + b, gold + b);
            }
        });
    if (gradient == nullptr) return;
    for (auto& worker : workers) worker.collect();
}

template void log_likelihood<float>(const PaddedBatch&, const float*, double*, double*,
                                    const LayerGradient<float>*);
template void log_likelihood<double>(const PaddedBatch&, const double*, double*, double*,
                                     const LayerGradient<double>*);

}  // namespace trelliswork
