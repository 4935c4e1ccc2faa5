#include "kernel/chart.hpp"

#include "kernel/forward.hpp"
#include "kernel/node_weights.hpp"
#include "kernel/posteriors.hpp"

namespace trelliswork {

template bool Chart<Real>::forward(const SequenceScores& scores);
template bool Chart<Max>::forward(const SequenceScores& scores);

template void Chart<Real>::posteriors(const PosteriorSink& sink);

// Called by inline members.
template bool Chart<Real>::fill_block();
template bool Chart<Max>::fill_block();

}  // namespace trelliswork
