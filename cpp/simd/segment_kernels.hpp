// The inner loops over durations, for automata whose ports lie side by side by label
// (automata/forest.hpp), compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace trelliswork {

// Ports first … last, all of one label; `last` − `first` is a multiple of kLanes.
struct PortRun {
    std::int32_t first, last, label;
};

struct SegmentKernels {
    // out[p] = Σ_d enter_d[p] e[d, label(p)] over d = 1 … longest[label];
    // enter[d − 1] is the row of the segments that began d tokens ago, e (D, L).
    void (*enter_segments)(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                           const std::int32_t* longest, const double* const* enter, const double* e,
                           double* out);
    void (*best_segments)(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                          const std::int32_t* longest, const double* const* enter, const double* e,
                          double* out);
    // With v[p] the β of the state that port p leads to, times the rescaling of the row:
    //   pending_d[p] += e[d, y] v[p],   posterior[d, y] += e[d, y] Σ_p enter_d[p] v[p]
    void (*leave_segments)(std::int64_t n_runs, const PortRun* runs, int n_durations, int n_labels,
                           const std::int32_t* longest, const double* const* enter, const double* e,
                           const double* v, double* const* pending, double* posterior);
};

const SegmentKernels& segment_kernels();

}  // namespace trelliswork
