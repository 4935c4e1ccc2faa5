// Compiled several times, with TRELLISWORK_ISA naming the instruction set. Only plain loops over
// raw pointers and vector types: nothing here may be shared with code compiled for another set.
#include <cstdint>

#include "block_kernels.hpp"
#include "lanes_isa.hpp"
#include "row_sums_isa.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

// out[0 … 8V) = Σ_m α[source m] · table[row m, 0 … 8V)
template <int V>
inline void weighted_table_rows(const double* alpha, const std::int32_t* sources,
                                const std::int32_t* rows, int n, const double* table,
                                std::int64_t stride, Vec* out) {
    Vec even[V] = {};
    Vec odd[V] = {};
    int m = 0;
    for (; m + 1 < n; m += 2) {
        const double* first = table + rows[m] * stride;
        const double* second = table + rows[m + 1] * stride;
        const double a = alpha[sources[m]];
        const double b = alpha[sources[m + 1]];
        for (int v = 0; v < V; ++v) even[v] += a * load(first + kLanes * v);
        for (int v = 0; v < V; ++v) odd[v] += b * load(second + kLanes * v);
    }
    if (m < n) {
        const double a = alpha[sources[m]];
        for (int v = 0; v < V; ++v) even[v] += a * load(table + rows[m] * stride + kLanes * v);
    }
    for (int v = 0; v < V; ++v) out[v] = even[v] + odd[v];
}

template <int V>
inline void best_table_rows(const double* alpha, const std::int32_t* sources,
                            const std::int32_t* rows, int n, const double* table,
                            std::int64_t stride, Vec* out) {
    for (int v = 0; v < V; ++v) out[v] = Vec{} - __builtin_inf();
    for (int m = 0; m < n; ++m) {
        const double a = alpha[sources[m]];
        for (int v = 0; v < V; ++v) {
            out[v] = larger(out[v], a + load(table + rows[m] * stride + kLanes * v));
        }
    }
}

void sum_forward(const BlockView& blocks, const double* __restrict weights,
                 const double* __restrict alpha, double* __restrict out) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        over_columns(block.stride, [&]<int V>(int n) {
            Vec sums[V];
            weighted_table_rows<V>(alpha, blocks.sources + block.first_source,
                                   blocks.rows + block.first_source, block.n_sources,
                                   weights + block.table + n, block.stride, sums);
            for (int v = 0; v < V; ++v) store(out + block.first_port + n + kLanes * v, sums[v]);
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
                  const double* __restrict alpha, double* __restrict out) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        over_columns(block.stride, [&]<int V>(int n) {
            Vec best[V];
            best_table_rows<V>(alpha, blocks.sources + block.first_source,
                               blocks.rows + block.first_source, block.n_sources,
                               weights + block.table + n, block.stride, best);
            for (int v = 0; v < V; ++v) store(out + block.first_port + n + kLanes * v, best[v]);
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

void sum_backward(const BlockView& blocks, const double* __restrict weights,
                  const double* __restrict transposed, const double* __restrict ahead,
                  double* __restrict scratch, double* __restrict beta) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        over_columns(block.padded_rows, [&]<int V>(int row) {
            Vec sums[V];
            weighted_rows<V>(ahead + block.first_port, block.stride,
                             transposed + block.transposed + row, block.padded_rows, sums);
            for (int v = 0; v < V; ++v) store(scratch + row + kLanes * v, sums[v]);
        });
        const std::int32_t* sources = blocks.sources + block.first_source;
        const std::int32_t* rows = blocks.rows + block.first_source;
        for (int m = 0; m < block.n_sources; ++m) beta[sources[m]] += scratch[rows[m]];
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

void add_outer(const BlockView& blocks, std::int64_t n_rows, const double* const* alpha,
               const double* const* ahead, double* __restrict scratch, double* __restrict sums) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        const std::int32_t* sources = blocks.sources + block.first_source;
        const std::int32_t* rows = blocks.rows + block.first_source;
        for (int m = 0; m < block.n_sources; ++m) {
            for (std::int64_t k = 0; k < n_rows; ++k)
                scratch[m * n_rows + k] = alpha[k][sources[m]];
        }
        over_columns(block.stride, [&]<int V>(int n) {
            const auto port = block.first_port + n;
            for (int m = 0; m < block.n_sources; ++m) {
                double* to = sums + block.table + rows[m] * std::int64_t{block.stride} + n;
                Vec outer[V];
                for (int v = 0; v < V; ++v) outer[v] = load(to + kLanes * v);
                for (std::int64_t k = 0; k < n_rows; ++k) {
                    const double a = scratch[m * n_rows + k];
                    for (int v = 0; v < V; ++v) outer[v] += a * load(ahead[k] + port + kLanes * v);
                }
                for (int v = 0; v < V; ++v) store(to + kLanes * v, outer[v]);
            }
        });
    }
    double* to = sums + blocks.first_narrow_slot;
    for (std::int64_t g = 0; g < blocks.n_narrow; ++g) {
        const auto port = blocks.first_narrow_port + g;
        for (auto k = blocks.narrow_offsets[g]; k < blocks.narrow_offsets[g + 1]; ++k) {
            const auto source = blocks.narrow_sources[k];
            double sum = 0.0;
            for (std::int64_t r = 0; r < n_rows; ++r) sum += alpha[r][source] * ahead[r][port];
            to[k] += sum;
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
const BlockKernels block_kernels = {sum_forward, best_forward, sum_backward, add_outer, range};

}  // namespace trelliswork::TRELLISWORK_ISA
