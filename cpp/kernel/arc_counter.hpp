// Expected counts of arcs, several tokens at a time.
//
//   counts[a] += w[a] Σ_u α[u, source(a)] ahead[u, step(a)]
//
// over tokens u that share their arc weights: those of one class, or a single one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "automata/blocks.hpp"
#include "base/aligned.hpp"
#include "simd/chain_kernels.hpp"

namespace trelliswork {

class ArcCounter {
  public:
    explicit ArcCounter(const Blocks& blocks)
        : blocks_(blocks),
          stride_((blocks.n_ports + kLanes - 1) / kLanes * kLanes),
          rows_(static_cast<std::size_t>(kRows * stride_)),
          sums_(static_cast<std::size_t>(blocks.n_slots), 0.0) {}

    // α must stay readable until `flush`.
    void add(const double* alpha, const double* ahead) {
        alpha_[n_rows_] = alpha;
        std::copy_n(ahead, blocks_.n_ports, rows_.begin() + n_rows_ * stride_);
        if (++n_rows_ == kRows) flush();
    }

    void flush() {
        if (n_rows_ == 0) return;
        const double* ahead[kRows] = {};
        for (std::int64_t k = 0; k < n_rows_; ++k) ahead[k] = rows_.data() + k * stride_;
        block_kernels().add_outer(blocks_.view(), n_rows_, alpha_, ahead, sums_.data());
        n_rows_ = 0;
        pending_ = true;
    }

    // Adds the counts so far, times `factor`, to counts (slots,).
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
    std::int64_t stride_;  // ports, padded
    AlignedDoubles rows_;  // (kRows, ports): ahead
    AlignedDoubles sums_;  // (slots,)
    const double* alpha_[kRows] = {};
    std::int64_t n_rows_ = 0;
    bool pending_ = false;
};

}  // namespace trelliswork
