// Compiled several times, with TRELLISWORK_ISA naming the instruction set; see
// chain_kernels_isa.cpp.
#include <cstdint>

#include "simd/chain_kernels.hpp"
#include "simd/feature_kernels.hpp"
#include "simd/lanes_isa.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

// A feature's list is seldom in cache the first time; ask for it this many features ahead.
constexpr std::int64_t kAhead = 12;

void score(const FeatureRun& run, const double* __restrict dense, const double* __restrict listed,
           double* __restrict rows, double* __restrict out) {
    const int stride = padded(run.n_outputs);
    const std::int64_t n_sparse = run.sparse_offsets[run.n_tokens];
    const std::uint16_t* outputs = run.outputs;
    for (std::int64_t i = 0; i < run.n_tokens; ++i) {
        over_columns(stride, [&]<int V>(int y) {
            Vec sums[V] = {};
            for (auto j = run.dense_offsets[i]; j < run.dense_offsets[i + 1]; ++j) {
                const double* w = dense + static_cast<std::int64_t>(run.dense_rows[j]) * stride + y;
                const double x = run.dense_values == nullptr ? 1.0 : run.dense_values[j];
                for (int v = 0; v < V; ++v) sums[v] += x * load(w + kLanes * v);
            }
            for (int v = 0; v < V; ++v) {
                store(rows + y + kLanes * v, sums[v]);
                for (int r = 1; r < kScoreRows; ++r) {
                    store(rows + r * stride + y + kLanes * v, Vec{});
                }
            }
        });
        // Features of one token tend to add to one label: by turns into several rows, so that an
        // addition need not wait for the one before it.
        for (auto j = run.sparse_offsets[i]; j < run.sparse_offsets[i + 1]; ++j) {
            if (j + kAhead < n_sparse) {
                __builtin_prefetch(listed + run.sparse_starts[j + kAhead]);
            }
            const int count = run.sparse_counts[j];
            const double x = run.sparse_values == nullptr ? 1.0 : run.sparse_values[j];
            double* row = rows + (j % kScoreRows) * stride;
            const double* w = listed + run.sparse_starts[j];
            for (int k = 0; k < count; ++k) row[outputs[k]] += x * w[k];
            outputs += count;
        }
        for (int y = 0; y < run.n_outputs; ++y) {
            double sum = rows[y];
            for (int r = 1; r < kScoreRows; ++r) sum += rows[r * stride + y];
            out[i * run.n_outputs + y] = sum;
        }
    }
}

void scatter(const FeatureRun& run, const double* __restrict signal, double* __restrict row,
             double* __restrict dense, double* __restrict listed) {
    const int stride = padded(run.n_outputs);
    const std::int64_t n_sparse = run.sparse_offsets[run.n_tokens];
    const std::uint16_t* outputs = run.outputs;
    for (int y = run.n_outputs; y < stride; ++y) row[y] = 0.0;
    for (std::int64_t i = 0; i < run.n_tokens; ++i) {
        for (int y = 0; y < run.n_outputs; ++y) row[y] = signal[i * run.n_outputs + y];
        over_columns(stride, [&]<int V>(int y) {
            Vec add[V];
            for (int v = 0; v < V; ++v) add[v] = load(row + y + kLanes * v);
            for (auto j = run.dense_offsets[i]; j < run.dense_offsets[i + 1]; ++j) {
                double* g = dense + static_cast<std::int64_t>(run.dense_rows[j]) * stride + y;
                const double x = run.dense_values == nullptr ? 1.0 : run.dense_values[j];
                for (int v = 0; v < V; ++v) {
                    store(g + kLanes * v, load(g + kLanes * v) + x * add[v]);
                }
            }
        });
        for (auto j = run.sparse_offsets[i]; j < run.sparse_offsets[i + 1]; ++j) {
            if (j + kAhead < n_sparse) {
                __builtin_prefetch(listed + run.sparse_starts[j + kAhead], 1);
            }
            const int count = run.sparse_counts[j];
            const double x = run.sparse_values == nullptr ? 1.0 : run.sparse_values[j];
            double* g = listed + run.sparse_starts[j];
            for (int k = 0; k < count; ++k) g[k] += x * row[outputs[k]];
            outputs += count;
        }
    }
}

}  // namespace

extern const FeatureKernels feature_kernels;
const FeatureKernels feature_kernels = {score, scatter};

}  // namespace trelliswork::TRELLISWORK_ISA
