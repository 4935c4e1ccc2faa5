// Scores of segments: from the parts they are made of, and back to the gradients of the parts.
//
//   φ(u, v, y) = Σ_{t = u … v} token[t, y] + begin[u, y] + end[v, y] + length[v − u, y] + whole
#pragma once

#include <cstdint>

namespace trelliswork {

// φ[t, d, y] = −inf for the segments (T, D, L) that `allowed` (T, n_masks, L) forbids: row 0 of a
// token says which labels may begin there, the last row which may go on.
void forbid_segments(std::int64_t length, std::int64_t n_durations, std::int64_t n_labels,
                     const std::uint8_t* allowed, int n_masks, double* phi);

}  // namespace trelliswork
