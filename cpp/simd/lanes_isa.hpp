// Vectors of eight doubles, for the files that are compiled once for each instruction set.
// Everything has internal linkage: code for one set must never be linked into another.
#pragma once

#include "simd/chain_kernels.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

typedef double Vec __attribute__((vector_size(64)));
typedef double LooseVec __attribute__((vector_size(64), aligned(8), may_alias));

inline Vec load(const double* p) {
    return *reinterpret_cast<const LooseVec*>(p);
}
inline void store(double* p, Vec v) {
    *reinterpret_cast<LooseVec*>(p) = v;
}

// Calls piece<V>(first column) over `stride` columns, widest pieces first.
template <class Piece>
inline void over_columns(int stride, Piece&& piece) {
    int y = 0;
    for (; y + 4 * kLanes <= stride; y += 4 * kLanes) piece.template operator()<4>(y);
    switch ((stride - y) / kLanes) {
        case 3:
            piece.template operator()<3>(y);
            break;
        case 2:
            piece.template operator()<2>(y);
            break;
        case 1:
            piece.template operator()<1>(y);
            break;
        default:
            break;
    }
}

}  // namespace

}  // namespace trelliswork::TRELLISWORK_ISA
