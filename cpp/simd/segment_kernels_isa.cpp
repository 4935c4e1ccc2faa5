// Compiled several times, with TRELLISWORK_ISA naming the instruction set. Only plain loops over
// raw pointers and vector types: nothing here may be shared with code compiled for another set.
#include <cstdint>

#include "simd/lanes_isa.hpp"
#include "simd/row_sums_isa.hpp"
#include "simd/segment_kernels.hpp"

namespace trelliswork::TRELLISWORK_ISA {

namespace {

// Calls piece<V>(run, first port) over the ports of every run.
template <class Piece>
inline void over_runs(std::int64_t n_runs, const PortRun* runs, Piece&& piece) {
    for (std::int64_t r = 0; r < n_runs; ++r) {
        const PortRun& run = runs[r];
        over_columns(run.last - run.first,
                     [&]<int V>(int p) { piece.template operator()<V>(run, run.first + p); });
    }
}

void enter_segments(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                    const std::int32_t* longest, const double* const* enter,
                    const double* __restrict e, double* __restrict out) {
    over_runs(n_runs, runs, [&]<int V>(const PortRun& run, int first) {
        Vec sums[V] = {};
        const int last = longest[run.label] < n_durations ? longest[run.label] : n_durations;
        for (int d = 0; d < last; ++d) {
            const double gain = e[d * n_labels + run.label];
            for (int v = 0; v < V; ++v) sums[v] += gain * load(enter[d] + first + kLanes * v);
        }
        for (int v = 0; v < V; ++v) store(out + first + kLanes * v, sums[v]);
    });
}

void best_segments(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                   const std::int32_t* longest, const double* const* enter,
                   const double* __restrict e, double* __restrict out) {
    over_runs(n_runs, runs, [&]<int V>(const PortRun& run, int first) {
        Vec best[V];
        for (int v = 0; v < V; ++v) best[v] = Vec{} - __builtin_inf();
        const int last = longest[run.label] < n_durations ? longest[run.label] : n_durations;
        for (int d = 0; d < last; ++d) {
            const double gain = e[d * n_labels + run.label];
            for (int v = 0; v < V; ++v) {
                best[v] = larger(best[v], gain + load(enter[d] + first + kLanes * v));
            }
        }
        for (int v = 0; v < V; ++v) store(out + first + kLanes * v, best[v]);
    });
}

void leave_segments(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                    const std::int32_t* longest, const double* const* enter,
                    const double* __restrict e, const double* __restrict v, double* const* pending,
                    double* __restrict posterior) {
    over_runs(n_runs, runs, [&]<int V>(const PortRun& run, int first) {
        Vec after[V];
        for (int k = 0; k < V; ++k) after[k] = load(v + first + kLanes * k);
        const int last = longest[run.label] < n_durations ? longest[run.label] : n_durations;
        for (int d = 0; d < last; ++d) {
            const double gain = e[d * n_labels + run.label];
            if (gain == 0.0) continue;
            Vec dot = {};
            double* into = pending[d] + first;
            for (int k = 0; k < V; ++k) {
                dot += after[k] * load(enter[d] + first + kLanes * k);
                store(into + kLanes * k, load(into + kLanes * k) + gain * after[k]);
            }
            double total = 0.0;
            for (int k = 0; k < kLanes; ++k) total += dot[k];
            posterior[d * n_labels + run.label] += gain * total;
        }
    });
}

}  // namespace

extern const SegmentKernels segment_kernels;
const SegmentKernels segment_kernels = {enter_segments, best_segments, leave_segments};

}  // namespace trelliswork::TRELLISWORK_ISA
