// Scores of segments: from the parts they are made of, and back to the gradients of the parts.
//
//   φ(u, v, y) = Σ_{t = u … v} token[t, y] + begin[u, y] + end[v, y] + length[v − u, y]
//
// plus the scores of single segments. T tokens, D durations, L labels; φ is (T, D, L), with
// the segment of d + 1 tokens that ends at t in row (t, d). Rows with d > t are never read.
#pragma once

#include <cstdint>

namespace trelliswork {

// The parts: token (T, L); begin, end (T, L) or null; length (D, L) or null; longest (L,) or null:
// φ is −inf for longer segments.
struct SegmentParts {
    std::int64_t length = 0;
    std::int64_t n_durations = 1;
    std::int64_t n_labels = 0;
    const double* token = nullptr;
    const double* begin = nullptr;
    const double* end = nullptr;
    const double* by_length = nullptr;
    const std::int32_t* longest = nullptr;
};

void compose_segments(const SegmentParts& parts, double* phi);

// The gradients of the parts, from ∂φ: token, begin, end (T, L) are written, by_length (D, L) or
// null is added to.
void decompose_segments(std::int64_t length, std::int64_t n_durations, std::int64_t n_labels,
                        const double* d_phi, double* token, double* begin, double* end,
                        double* by_length);

// φ[t, d, y] = −inf for the segments that `allowed` (T, n_masks, L) forbids: row 0 of a token says
// which labels may begin there, the last row which may go on.
void forbid_segments(std::int64_t length, std::int64_t n_durations, std::int64_t n_labels,
                     const std::uint8_t* allowed, int n_masks, double* phi);

}  // namespace trelliswork
