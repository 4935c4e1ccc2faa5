// Where the posteriors of one sequence go.
#pragma once

namespace trelliswork {

// All but `segments` may be null. All are added to, except the entropy, which is set.
struct PosteriorSink {
    double* segments = nullptr;  // (T, D, L): P(a segment of label y and duration d ends at t)
    // Expected number of times each arc is taken, times `weight`: whichever suits the pass.
    double* arc_counts = nullptr;     // (A,)
    double* packed_counts = nullptr;  // (slots,)
    double weight = 1.0;
    double* position_counts =
        nullptr;                // (T, P′): P(pattern z fires on the arc into a segment at t)
    double* arcs = nullptr;     // (T, A): P(arc a is taken into a segment that begins at t)
    double* entropy = nullptr;  // (1,): log Z − E[score], in nats
};

}  // namespace trelliswork
