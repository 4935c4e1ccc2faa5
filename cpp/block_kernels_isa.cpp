// Compiled several times, with TRELLISWORK_ISA naming the instruction set. Only plain loops over
// raw pointers and vector types: nothing here may be shared with code compiled for another set.
#include "block_kernels.hpp"

#include <cstdint>

#include "lanes_isa.hpp"
#include "row_sums_isa.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

inline void gather(const Block& block, const std::int32_t* sources, const double* alpha,
                   double* out) {
    for (int m = 0; m < block.n_sources; ++m) out[m] = alpha[sources[m]];
}

void sum_forward(const BlockView& blocks, const double* __restrict weights,
                 const double* __restrict alpha, double* __restrict scratch,
                 double* __restrict out) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        gather(block, blocks.sources + block.first_source, alpha, scratch);
        const double* w = weights + block.first_slot;
        double* to = out + block.first_port;
        over_columns(block.stride, [&]<int V>(int n) {
            Vec sums[V];
            weighted_rows<V>(scratch, block.n_sources, w + n, block.stride, sums);
            for (int v = 0; v < V; ++v) store(to + n + kLanes * v, sums[v]);
        });
    }
    const double* w = weights + blocks.first_narrow_slot;
    double* to = out + blocks.first_narrow_port;
    for (std::int64_t g = 0; g < blocks.n_narrow; ++g) {
        double even = 0.0;
        double odd = 0.0;
        auto k = blocks.narrow_offsets[g];
        const auto end = blocks.narrow_offsets[g + 1];
        for (; k + 1 < end; k += 2) {
            even += alpha[blocks.narrow_sources[k]] * w[k];
            odd += alpha[blocks.narrow_sources[k + 1]] * w[k + 1];
        }
        if (k < end) even += alpha[blocks.narrow_sources[k]] * w[k];
        to[g] = even + odd;
    }
}

void best_forward(const BlockView& blocks, const double* __restrict weights,
                  const double* __restrict alpha, double* __restrict scratch,
                  double* __restrict out) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        gather(block, blocks.sources + block.first_source, alpha, scratch);
        const double* w = weights + block.first_slot;
        double* to = out + block.first_port;
        over_columns(block.stride, [&]<int V>(int n) {
            Vec sums[V];
            best_rows<V>(scratch, block.n_sources, w + n, block.stride, sums);
            for (int v = 0; v < V; ++v) store(to + n + kLanes * v, sums[v]);
        });
    }
    const double* w = weights + blocks.first_narrow_slot;
    double* to = out + blocks.first_narrow_port;
    for (std::int64_t g = 0; g < blocks.n_narrow; ++g) {
        double best = -__builtin_inf();
        for (auto k = blocks.narrow_offsets[g]; k < blocks.narrow_offsets[g + 1]; ++k) {
            const double value = alpha[blocks.narrow_sources[k]] + w[k];
            best = value > best ? value : best;
        }
        to[g] = best;
    }
}

inline double total(Vec v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

void sum_backward(const BlockView& blocks, const double* __restrict weights,
                  const double* __restrict ahead, double* __restrict beta) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        const double* from = ahead + block.first_port;
        const std::int32_t* sources = blocks.sources + block.first_source;
        const double* w = weights + block.first_slot;
        over_columns(block.stride, [&]<int V>(int n) {
            Vec values[V];
            for (int v = 0; v < V; ++v) values[v] = load(from + n + kLanes * v);
            for (int m = 0; m < block.n_sources; ++m) {
                const double* row = w + static_cast<std::int64_t>(m) * block.stride + n;
                Vec sum = load(row) * values[0];
                for (int v = 1; v < V; ++v) sum += load(row + kLanes * v) * values[v];
                beta[sources[m]] += total(sum);
            }
        });
    }
    const double* w = weights + blocks.first_narrow_slot;
    const double* from = ahead + blocks.first_narrow_port;
    for (std::int64_t g = 0; g < blocks.n_narrow; ++g) {
        const double value = from[g];
        for (auto k = blocks.narrow_offsets[g]; k < blocks.narrow_offsets[g + 1]; ++k) {
            beta[blocks.narrow_sources[k]] += w[k] * value;
        }
    }
}

// R source states and V vectors of steps stay in registers over all rows.
template <int V, int R>
inline void count_piece(std::int64_t n_rows, const double* alpha, int n_sources,
                        const double* const* ahead, std::int64_t port, const double* w, int stride,
                        double* counts) {
    Vec sums[R][V] = {};
    for (std::int64_t k = 0; k < n_rows; ++k) {
        Vec values[V];
        for (int v = 0; v < V; ++v) values[v] = load(ahead[k] + port + kLanes * v);
        for (int r = 0; r < R; ++r) {
            for (int v = 0; v < V; ++v) sums[r][v] += alpha[k * n_sources + r] * values[v];
        }
    }
    for (int r = 0; r < R; ++r) {
        for (int v = 0; v < V; ++v) {
            const auto at = static_cast<std::int64_t>(r) * stride + kLanes * v;
            store(counts + at, load(counts + at) + load(w + at) * sums[r][v]);
        }
    }
}

void count(const BlockView& blocks, const double* __restrict weights, std::int64_t n_rows,
           const double* const* alpha, const double* const* ahead, double* __restrict scratch,
           double* __restrict counts) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        for (std::int64_t k = 0; k < n_rows; ++k) {
            gather(block, blocks.sources + block.first_source, alpha[k],
                   scratch + k * block.n_sources);
        }
        over_columns(block.stride, [&]<int V>(int n) {
            const double* w = weights + block.first_slot + n;
            double* to = counts + block.first_slot + n;
            int m = 0;
            for (; m + 4 <= block.n_sources; m += 4) {
                const auto at = static_cast<std::int64_t>(m) * block.stride;
                count_piece<V, 4>(n_rows, scratch + m, block.n_sources, ahead, block.first_port + n,
                                  w + at, block.stride, to + at);
            }
            for (; m < block.n_sources; ++m) {
                const auto at = static_cast<std::int64_t>(m) * block.stride;
                count_piece<V, 1>(n_rows, scratch + m, block.n_sources, ahead, block.first_port + n,
                                  w + at, block.stride, to + at);
            }
        });
    }
    const double* w = weights + blocks.first_narrow_slot;
    double* to = counts + blocks.first_narrow_slot;
    for (std::int64_t g = 0; g < blocks.n_narrow; ++g) {
        const auto port = blocks.first_narrow_port + g;
        for (auto k = blocks.narrow_offsets[g]; k < blocks.narrow_offsets[g + 1]; ++k) {
            const auto source = blocks.narrow_sources[k];
            double sum = 0.0;
            for (std::int64_t r = 0; r < n_rows; ++r) sum += alpha[r][source] * ahead[r][port];
            to[k] += w[k] * sum;
        }
    }
}

void range(const double* values, std::int64_t n, double* smallest, double* largest) {
    double low = values[0];
    double high = values[0];
    std::int64_t i = 0;
    if (n >= kLanes) {
        Vec lows = load(values);
        Vec highs = lows;
        for (; i + kLanes <= n; i += kLanes) {
            const Vec row = load(values + i);
            lows = row < lows ? row : lows;
            highs = larger(highs, row);
        }
        for (int k = 0; k < kLanes; ++k) {
            low = lows[k] < low ? lows[k] : low;
            high = highs[k] > high ? highs[k] : high;
        }
    }
    for (; i < n; ++i) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    *smallest = low;
    *largest = high;
}

}  // namespace

extern const BlockKernels block_kernels;
const BlockKernels block_kernels = {sum_forward, best_forward, sum_backward, count, range};

}  // namespace trelliswork::TRELLISWORK_ISA
