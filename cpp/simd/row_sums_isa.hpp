// A row vector times a matrix, in the sum and the max algebra: the core of all forward passes.
// Everything has internal linkage: code for one instruction set must never be linked into another.
#pragma once

#include <cstdint>

#include "simd/lanes_isa.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

inline Vec larger(Vec a, Vec b) {
    return a > b ? a : b;
}

// out[0 … 8V) = Σ_p a[p] · w[p, 0 … 8V); two sets of sums hide the latency of the addition.
template <int V>
inline void weighted_rows(const double* a, int n, const double* w, std::int64_t stride, Vec* out) {
    Vec even[V] = {};
    Vec odd[V] = {};
    int p = 0;
    for (; p + 1 < n; p += 2) {
        for (int v = 0; v < V; ++v) even[v] += a[p] * load(w + p * stride + kLanes * v);
        for (int v = 0; v < V; ++v) odd[v] += a[p + 1] * load(w + (p + 1) * stride + kLanes * v);
    }
    if (p < n) {
        for (int v = 0; v < V; ++v) even[v] += a[p] * load(w + p * stride + kLanes * v);
    }
    for (int v = 0; v < V; ++v) out[v] = even[v] + odd[v];
}

template <int V>
inline void best_rows(const double* a, int n, const double* w, std::int64_t stride, Vec* out) {
    Vec even[V], odd[V];
    for (int v = 0; v < V; ++v) even[v] = odd[v] = Vec{} - __builtin_inf();
    int p = 0;
    for (; p + 1 < n; p += 2) {
        for (int v = 0; v < V; ++v) {
            even[v] = larger(even[v], a[p] + load(w + p * stride + kLanes * v));
            odd[v] = larger(odd[v], a[p + 1] + load(w + (p + 1) * stride + kLanes * v));
        }
    }
    if (p < n) {
        for (int v = 0; v < V; ++v) {
            even[v] = larger(even[v], a[p] + load(w + p * stride + kLanes * v));
        }
    }
    for (int v = 0; v < V; ++v) out[v] = larger(even[v], odd[v]);
}

}  // namespace

}  // namespace trelliswork::TRELLISWORK_ISA
