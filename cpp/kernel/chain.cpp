#include "kernel/chain.hpp"

#include <algorithm>
#include <cmath>

namespace trelliswork {

template <class S>
bool Chain<S>::forward(const SequenceScores& scores) {
    scores_ = scores;
    if (S::scaled && !is_exact(scores, scores.survey_positional().largest, false)) return false;
    rows_.plan(scores.length, 1, stride_,
               sizeof(double) * static_cast<std::size_t>(stride_) * (S::scaled ? 2 : 1),
               memory_limit_);
    std::fill_n(rows_[0], stride_, S::zero);  // nothing comes before the first token
    if constexpr (S::scaled) {
        emissions_.resize(static_cast<std::size_t>(rows_.block_length() * stride_));
        best_.resize(static_cast<std::size_t>(scores.length));
        rescale_.resize(static_cast<std::size_t>(scores.length));
        shift_.resize(static_cast<std::size_t>(scores.length));
    }
    return rows_.run([this] { return fill_block(); }) && finish_total();
}

template <class S>
const std::vector<double>& Chain<S>::own_arc_weights(std::int64_t u) {
    local_arcs_.load(automaton_, weights_.patterns, positional_row(u), automaton_.n_patterns, 0);
    scale_apart_from_start(automaton_, local_arcs_);
    return local_arcs_.weight;
}

template <class S>
void Chain<S>::posteriors(double* labels, double* pattern_counts, double* position_counts,
                          double* entropy) {
    const std::int64_t n_patterns = automaton_.n_patterns;
    if (position_counts != nullptr) {
        std::fill_n(position_counts, scores_.length * n_patterns, 0.0);
    }
    if (log_total_ == kNegativeInfinity || scores_.length == 0) {
        std::fill_n(labels, scores_.length * n_labels_, 0.0);
        return;
    }
    const bool one_by_one = scores_.positional != nullptr || position_counts != nullptr;
    expected_pairs_ = 0.0;
    pair_counts_.assign(static_cast<std::size_t>(n_labels_ * stride_), 0.0);
    beta_.assign(static_cast<std::size_t>(stride_), 0.0);
    std::fill_n(beta_.begin(), n_labels_, 1.0 / total_);
    for (auto end = scores_.length; end > 0; end = rows_.block_start()) {
        seek(end);
        const auto start = rows_.block_start();
        // Token 0 follows the empty state: it has no pair and nothing before it.
        const auto first = std::max<std::int64_t>(start, 1);
        if (one_by_one) {
            walk_back_one_by_one(first, end, labels, pattern_counts, position_counts);
        } else if (end > first) {
            walk_back(first, end, labels);
        }
        if (start == 0) {
            for (int y = 0; y < n_labels_; ++y) labels[y] = rows_[1][y] * beta_[y];
        }
    }
    for (int p = 0; p < n_labels_ && !one_by_one; ++p) {
        for (int y = 0; y < n_labels_; ++y) {
            const double count = pair_counts_[p * stride_ + y] * weights_.matrix[p * stride_ + y];
            pattern_counts[p * n_labels_ + y] += count;
            if (count > 0.0) expected_pairs_ += count * (log_weight(0, p, y) - weights_.shift);
        }
    }
    if (entropy != nullptr) *entropy = find_entropy(labels);
}

template <class S>
const double* Chain<S>::matrix_at(std::int64_t u, double* shift) {
    *shift = weights_.shift;
    if (scores_.positional == nullptr) {
        return weights_.of_class(class_of(u)).matrix.data();
    }
    local_.resize(static_cast<std::size_t>(n_labels_ * stride_), S::zero);
    if constexpr (S::scaled) {
        *shift = chain_kernels().exponentiate_pairs(n_labels_, weights_.patterns, positional_row(u),
                                                    local_.data());
    } else {
        for (int p = 0; p < n_labels_; ++p) {
            for (int y = 0; y < n_labels_; ++y) local_[p * stride_ + y] = log_weight(u, p, y);
        }
    }
    return local_.data();
}

template <class S>
void Chain<S>::walk_back(std::int64_t first, std::int64_t end, double* labels) {
    const auto& kernels = chain_kernels();
    kernels.backward(end - first, n_labels_, weights_.transposed.data(), rows_[first + 1],
                     rescale_.data() + first, emission_row(first + 1), beta_.data(),
                     labels + first * n_labels_);
    kernels.count_pairs(end - first, n_labels_, rows_[first + 1], emission_row(first + 1),
                        pair_counts_.data());
}

template <class S>
void Chain<S>::walk_back_one_by_one(std::int64_t first, std::int64_t end, double* labels,
                                    double* pattern_counts, double* position_counts) {
    const std::int64_t n_patterns = automaton_.n_patterns;
    local_pairs_.resize(static_cast<std::size_t>(n_patterns));
    for (auto u = end - 1; u >= first; --u) {
        const double* row = rows_[u + 1];
        double* v = emission_row(u + 1);
        for (int y = 0; y < n_labels_; ++y) labels[u * n_labels_ + y] = row[y] * beta_[y];
        for (int y = 0; y < stride_; ++y) v[y] *= beta_[y] * rescale_[u];
        double shift = 0.0;
        double* pairs =
            position_counts == nullptr ? local_pairs_.data() : position_counts + u * n_patterns;
        chain_kernels().backward_pairs(n_labels_, matrix_at(u, &shift), rows_[u], v, beta_.data(),
                                       pairs);
        for (std::int64_t z = 0; z < n_patterns; ++z) {
            pattern_counts[z] += pairs[z];
            if (pairs[z] > 0.0) {
                const auto p = static_cast<int>(z / n_labels_);
                const auto y = static_cast<int>(z % n_labels_);
                expected_pairs_ += pairs[z] * (log_weight(u, p, y) - shift);
            }
        }
    }
}

template <class S>
double Chain<S>::find_entropy(const double* labels) const {
    double expected = expected_pairs_;
    for (std::int64_t i = 0; i < scores_.length; ++i) {
        for (int y = 0; y < n_labels_; ++y) {
            const double p = labels[i * n_labels_ + y];
            if (p > 0.0) expected += p * (scores_.phi[i * n_labels_ + y] - best_[i]);
        }
        if (rescale_[i] != 1.0) expected += std::log(rescale_[i]);
    }
    return std::max(std::log(total_) - expected, 0.0);
}

template <class S>
bool Chain<S>::fill_block() {
    const auto& kernels = chain_kernels();
    const auto start = rows_.block_start();
    const auto end = rows_.block_end();
    if (end == start) return true;
    const double* phi = scores_.phi + start * n_labels_;
    auto next = start + 1;
    if constexpr (S::scaled) {
        kernels.exponentiate(end - start, n_labels_, phi, emissions_.data(), best_.data() + start);
        if (start == 0) {
            std::copy_n(emissions_.data(), stride_, rows_[1]);
            rescale_[0] = 1.0;
            if (!small_values_are_structural(1)) return false;
            ++next;
        }
        while (next <= end) {
            const double* matrix = matrix_at(next - 1, &shift_[next - 1]);
            const auto count = scores_.positional != nullptr ? 1 : end - next + 1;
            next += kernels.forward(count, n_labels_, matrix, emission_row(next), rows_[next],
                                    rescale_.data() + next - 1);
            if (!small_values_are_structural(next - 1)) return false;
        }
    } else {
        if (start == 0) {
            std::copy_n(phi, n_labels_, rows_[1]);
            ++next;
        }
        while (next <= end) {
            double shift = 0.0;
            const double* matrix = matrix_at(next - 1, &shift);
            const auto count = scores_.positional != nullptr ? 1 : run_of_class(next - 1, end);
            kernels.best_forward(count, n_labels_, matrix, scores_.phi + (next - 1) * n_labels_,
                                 rows_[next]);
            next += count;
        }
    }
    return true;
}

template <class S>
bool Chain<S>::small_values_are_structural(std::int64_t t) const {
    const double* row = rows_[t];
    for (int y = 0; y < n_labels_; ++y) {
        const double unscaled = row[y] / rescale_[t - 1];
        if (unscaled >= kSmallestSafe) continue;
        if (unscaled > 0.0) return false;
        if (scores_.phi[(t - 1) * n_labels_ + y] == kNegativeInfinity) continue;
        if (t == 1) return false;
        for (int p = 0; p < n_labels_; ++p) {
            if (rows_[t - 1][p] > 0.0 && log_weight(t - 1, p, y) > kNegativeInfinity) {
                return false;
            }
        }
    }
    return true;
}

template <class S>
bool Chain<S>::finish_total() {
    log_total_ = S::scaled ? 0.0 : S::zero;
    if (scores_.length == 0) {
        log_total_ = 0.0;
        return true;
    }
    typename S::Sum sum;
    for (int y = 0; y < n_labels_; ++y) sum.add(rows_[scores_.length][y]);
    total_ = sum.value();
    if constexpr (S::scaled) {
        const bool own = scores_.positional != nullptr;
        ScaleSum scale;
        for (std::int64_t i = 0; i < scores_.length; ++i) {
            scale.add(best_[i]);
            if (i > 0) scale.add(own ? shift_[i] : weights_.shift);
            if (rescale_[i] != 1.0) scale.add(-std::log2(rescale_[i]) * M_LN2);
        }
        log_total_ = total_ > 0.0 ? scale.plus(std::log(total_)) : kNegativeInfinity;
        return scale.is_exact(1);
    } else {
        log_total_ = total_;
    }
    return true;
}

template bool Chain<Real>::forward(const SequenceScores& scores);
template bool Chain<Max>::forward(const SequenceScores& scores);

template void Chain<Real>::posteriors(double* labels, double* pattern_counts,
                                      double* position_counts, double* entropy);

// Called by inline members.
template const std::vector<double>& Chain<Real>::own_arc_weights(std::int64_t u);
template const std::vector<double>& Chain<Max>::own_arc_weights(std::int64_t u);
template bool Chain<Real>::fill_block();
template bool Chain<Max>::fill_block();

}  // namespace trelliswork
