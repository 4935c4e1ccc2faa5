// Expected counts of arcs, several tokens at a time.
//
//   counts[a] += w[a] Σ_u α[u, source(a)] ahead[u, step(a)]
//
// over tokens u that share their arc weights: those of one class, or a single one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blocks.hpp"

namespace trelliswork {

class ArcCounter {
  public:
    explicit ArcCounter(const Blocks& blocks)
        : blocks_(blocks),
          rows_(static_cast<std::size_t>(kRows * blocks.n_ports)),
          sums_(static_cast<std::size_t>(blocks.n_slots), 0.0) {}

    // α must stay readable until `flush`.
    void add(const double* alpha, const std::vector<double>& ahead) {
        alpha_[n_rows_] = alpha;
        std::copy_n(ahead.begin(), blocks_.n_ports, rows_.begin() + n_rows_ * blocks_.n_ports);
        if (++n_rows_ == kRows) flush();
    }

    void flush() {
        if (n_rows_ == 0) return;
        const double* ahead[kRows] = {};
        for (std::int64_t k = 0; k < n_rows_; ++k) ahead[k] = rows_.data() + k * blocks_.n_ports;
        block_kernels().add_outer(blocks_.view(), n_rows_, alpha_, ahead, sums_.data());
        n_rows_ = 0;
        pending_ = true;
    }

    // Adds what has been counted, times `factor`, to counts (slots,).
    void settle(const double* weights, double factor, double* counts) {
        flush();
        if (!pending_) return;
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            counts[i] += factor * weights[i] * sums_[i];
            sums_[i] = 0.0;
        }
        pending_ = false;
    }

  private:
    static constexpr std::int64_t kRows = 8;  // enough to make the pass over the arcs cheap

    const Blocks& blocks_;
    std::vector<double> rows_;  // (kRows, ports): ahead
    std::vector<double> sums_;  // (slots,)
    const double* alpha_[kRows] = {};
    std::int64_t n_rows_ = 0;
    bool pending_ = false;
};

}  // namespace trelliswork
