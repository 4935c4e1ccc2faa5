// Compiled several times, with TRELLISWORK_ISA naming the instruction set. Only plain loops over
// raw pointers and vector types: nothing here may be shared with code compiled for another set.
#include <cstdint>

#include "simd/block_kernels.hpp"
#include "simd/lanes_isa.hpp"
#include "simd/row_sums_isa.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

// out[0 … 8V) = Σ_m α[source m] · table[row m, 0 … 8V)
template <int V>
inline void weighted_table_rows(const double* alpha, const std::int32_t* sources,
                                const std::int32_t* rows, int n, const double* table, Vec* out) {
    Vec even[V] = {};
    Vec odd[V] = {};
    int m = 0;
    for (; m + 1 < n; m += 2) {
        const double* first = table + rows[m];
        const double* second = table + rows[m + 1];
        const double a = alpha[sources[m]];
        const double b = alpha[sources[m + 1]];
        for (int v = 0; v < V; ++v) even[v] += a * load(first + kLanes * v);
        for (int v = 0; v < V; ++v) odd[v] += b * load(second + kLanes * v);
    }
    if (m < n) {
        const double a = alpha[sources[m]];
        for (int v = 0; v < V; ++v) even[v] += a * load(table + rows[m] + kLanes * v);
    }
    for (int v = 0; v < V; ++v) out[v] = even[v] + odd[v];
}

// out[0 … 8V) = Σ_n ahead[column n] · transposed[column n, 0 … 8V)
template <int V>
inline void weighted_columns(const double* ahead, const std::int32_t* columns, int n,
                             const double* transposed, std::int64_t stride, Vec* out) {
    Vec sums[V] = {};
    for (int k = 0; k < n; ++k) {
        const double a = ahead[columns[k]];
        const double* row = transposed + columns[k] * stride;
        for (int v = 0; v < V; ++v) sums[v] += a * load(row + kLanes * v);
    }
    for (int v = 0; v < V; ++v) out[v] = sums[v];
}

// As over_columns, in pieces of up to six vectors: as many sums as hide the latency of an addition.
template <class Piece>
inline void over_rows(int n_rows, Piece&& piece) {
    int row = 0;
    for (; row + 6 * kLanes <= n_rows; row += 6 * kLanes) piece.template operator()<6>(row);
    if (row + 4 * kLanes <= n_rows) {
        piece.template operator()<4>(row);
        row += 4 * kLanes;
    }
    for (; row < n_rows; row += kLanes) piece.template operator()<1>(row);
}

// out[0 … 8V) = max_m (α[source m] + table[row m, 0 … 8V))
template <int V>
inline void best_table_rows(const double* alpha, const std::int32_t* sources,
                            const std::int32_t* rows, int n, const double* table, Vec* out) {
    for (int v = 0; v < V; ++v) out[v] = Vec{} - __builtin_inf();
    for (int m = 0; m < n; ++m) {
        const double a = alpha[sources[m]];
        for (int v = 0; v < V; ++v) {
            out[v] = larger(out[v], a + load(table + rows[m] + kLanes * v));
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
                                   weights + block.table + n, sums);
            for (int v = 0; v < V; ++v) store(out + block.first_port + n + kLanes * v, sums[v]);
        });
    }
    for (std::int64_t r = 0; r < blocks.n_runs; ++r) {
        const Run& run = blocks.runs[r];
        const std::int32_t* sources = blocks.run_sources + run.first_source;
        const double* w = weights + run.first_slot;
        double* to = out + run.first_port;
        if (run.n_steps == 1) {
            double sum = 0.0;
            for (int i = 0; i < run.n_sources; ++i) sum += alpha[sources[i]] * w[i];
            to[0] = sum;
            continue;
        }
        for (int k = 0; k < run.n_steps; ++k) to[k] = alpha[sources[0] + k] * w[k];
        for (int i = 1; i < run.n_sources; ++i) {
            const double* from = alpha + sources[i];
            const double* row = w + std::int64_t{i} * run.n_steps;
            for (int k = 0; k < run.n_steps; ++k) to[k] += from[k] * row[k];
        }
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
                               weights + block.table + n, best);
            for (int v = 0; v < V; ++v) store(out + block.first_port + n + kLanes * v, best[v]);
        });
    }
    for (std::int64_t r = 0; r < blocks.n_runs; ++r) {
        const Run& run = blocks.runs[r];
        double* to = out + run.first_port;
        for (int k = 0; k < run.n_steps; ++k) to[k] = -__builtin_inf();
        for (int i = 0; i < run.n_sources; ++i) {
            const double* from = alpha + blocks.run_sources[run.first_source + i];
            const double* row = weights + run.first_slot + std::int64_t{i} * run.n_steps;
            for (int k = 0; k < run.n_steps; ++k) {
                const double value = from[k] + row[k];
                to[k] = value > to[k] ? value : to[k];
            }
        }
    }
}

void sum_backward(const BlockView& blocks, const double* __restrict weights,
                  const double* __restrict transposed, const double* __restrict ahead,
                  double* __restrict scratch, double* __restrict beta) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        over_rows(block.padded_rows, [&]<int V>(int row) {
            Vec sums[V];
            weighted_columns<V>(ahead + block.first_port, blocks.columns + block.first_column,
                                block.n_columns, transposed + block.transposed + row,
                                block.padded_rows, sums);
            for (int v = 0; v < V; ++v) store(scratch + row + kLanes * v, sums[v]);
        });
        const std::int32_t* sources = blocks.sources + block.first_source;
        const std::int32_t* rows = blocks.row_numbers + block.first_source;
        for (int m = 0; m < block.n_sources; ++m) beta[sources[m]] += scratch[rows[m]];
    }
    for (std::int64_t r = 0; r < blocks.n_runs; ++r) {
        const Run& run = blocks.runs[r];
        const double* from = ahead + run.first_port;
        for (int i = 0; i < run.n_sources; ++i) {
            double* to = beta + blocks.run_sources[run.first_source + i];
            const double* row = weights + run.first_slot + std::int64_t{i} * run.n_steps;
            for (int k = 0; k < run.n_steps; ++k) to[k] += row[k] * from[k];
        }
    }
}

// R rows of a table stay in registers while the pairs of rows pass by.
template <int V, int R>
inline void add_outer_rows(std::int64_t n_rows, const double* const* alpha,
                           const std::int32_t* sources, const double* const* ahead,
                           std::int64_t port, double* table, const std::int32_t* rows) {
    Vec outer[R][V];
    for (int r = 0; r < R; ++r) {
        for (int v = 0; v < V; ++v) outer[r][v] = load(table + rows[r] + kLanes * v);
    }
    for (std::int64_t k = 0; k < n_rows; ++k) {
        Vec values[V];
        for (int v = 0; v < V; ++v) values[v] = load(ahead[k] + port + kLanes * v);
        for (int r = 0; r < R; ++r) {
            const double a = alpha[k][sources[r]];
            for (int v = 0; v < V; ++v) outer[r][v] += a * values[v];
        }
    }
    for (int r = 0; r < R; ++r) {
        for (int v = 0; v < V; ++v) store(table + rows[r] + kLanes * v, outer[r][v]);
    }
}

void add_outer(const BlockView& blocks, std::int64_t n_rows, const double* const* alpha,
               const double* const* ahead, double* __restrict sums) {
    for (std::int64_t b = 0; b < blocks.n_wide; ++b) {
        const Block& block = blocks.wide[b];
        const std::int32_t* sources = blocks.sources + block.first_source;
        const std::int32_t* rows = blocks.rows + block.first_source;
        over_columns(block.stride, [&]<int V>(int n) {
            const auto port = block.first_port + n;
            double* table = sums + block.table + n;
            int m = 0;
            while (m < block.n_sources) {
                // Two sources of one context share their row: one after the other.
                if (m + 1 < block.n_sources && rows[m] != rows[m + 1]) {
                    add_outer_rows<V, 2>(n_rows, alpha, sources + m, ahead, port, table, rows + m);
                    m += 2;
                } else {
                    add_outer_rows<V, 1>(n_rows, alpha, sources + m, ahead, port, table, rows + m);
                    m += 1;
                }
            }
        });
    }
    for (std::int64_t r = 0; r < blocks.n_runs; ++r) {
        const Run& run = blocks.runs[r];
        for (int i = 0; i < run.n_sources; ++i) {
            const auto source = blocks.run_sources[run.first_source + i];
            double* to = sums + run.first_slot + std::int64_t{i} * run.n_steps;
            for (std::int64_t row = 0; row < n_rows; ++row) {
                const double* before = alpha[row] + source;
                const double* from = ahead[row] + run.first_port;
                for (int k = 0; k < run.n_steps; ++k) to[k] += before[k] * from[k];
            }
        }
    }
}

void enter_states(std::int64_t n_runs, const StateRun* runs, const std::int32_t* port,
                  const double* __restrict enter, const double* __restrict e,
                  double* __restrict alpha) {
    for (std::int64_t r = 0; r < n_runs; ++r) {
        const double factor = e[runs[r].label];
        if (runs[r].port >= 0) {
            const double* from = enter + runs[r].port;
            for (auto s = runs[r].first; s < runs[r].last; ++s) {
                alpha[s] = from[s - runs[r].first] * factor;
            }
            continue;
        }
        for (auto s = runs[r].first; s < runs[r].last; ++s) alpha[s] = enter[port[s]] * factor;
    }
}

void leave_states(std::int64_t n_runs, const StateRun* runs, const std::int32_t* port,
                  const double* __restrict e, double factor, const double* __restrict alpha,
                  const double* __restrict beta, double* __restrict ahead,
                  double* __restrict posterior) {
    for (std::int64_t r = 0; r < n_runs; ++r) {
        const double gain = e[runs[r].label] * factor;
        Vec sums = {};
        auto s = runs[r].first;
        for (; s + kLanes <= runs[r].last; s += kLanes) {
            const Vec a = load(alpha + s);
            const Vec b = a > 0.0 ? load(beta + s) : Vec{};
            sums += a * b;
            if (runs[r].port >= 0) {
                store(ahead + runs[r].port + (s - runs[r].first), gain * b);
                continue;
            }
            for (int k = 0; k < kLanes; ++k) ahead[port[s + k]] = gain * b[k];
        }
        double total = 0.0;
        for (; s < runs[r].last; ++s) {
            const double b = alpha[s] > 0.0 ? beta[s] : 0.0;
            total += alpha[s] * b;
            ahead[port[s]] = gain * b;
        }
        for (int k = 0; k < kLanes; ++k) total += sums[k];
        posterior[runs[r].label] += total;
    }
}

void range(const double* values, std::int64_t n, double* smallest, double* largest,
           std::int64_t* n_zeros) {
    double low = __builtin_inf();
    double high = 0.0;
    std::int64_t zeros = 0;
    Vec lows = Vec{} + __builtin_inf();
    Vec highs = {};
    Vec counts = {};
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        const Vec row = load(values + i);
        const Vec positive = row > 0.0 ? row : Vec{} + __builtin_inf();
        counts += row > 0.0 ? Vec{} : Vec{} + 1.0;
        lows = positive < lows ? positive : lows;
        highs = larger(highs, row);
    }
    for (int k = 0; k < kLanes; ++k) {
        low = lows[k] < low ? lows[k] : low;
        high = highs[k] > high ? highs[k] : high;
        zeros += static_cast<std::int64_t>(counts[k]);
    }
    for (; i < n; ++i) {
        if (!(values[i] > 0.0)) ++zeros;
        if (values[i] > 0.0 && values[i] < low) low = values[i];
        high = values[i] > high ? values[i] : high;
    }
    *smallest = low;
    *largest = high;
    *n_zeros = zeros;
}

}  // namespace

extern const BlockKernels block_kernels;
const BlockKernels block_kernels = {sum_forward,  best_forward, sum_backward, add_outer,
                                    enter_states, leave_states, range};

}  // namespace trelliswork::TRELLISWORK_ISA
