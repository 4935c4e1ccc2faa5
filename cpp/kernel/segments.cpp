#include "kernel/segments.hpp"

#include <algorithm>
#include <vector>

#include "simd/semiring.hpp"

namespace trelliswork {

void compose_segments(const SegmentParts& p, double* phi) {
    const auto n = p.n_labels;
    std::vector<double> inside(static_cast<std::size_t>(n));
    for (std::int64_t t = 0; t < p.length; ++t) {
        const auto longest = std::min(p.n_durations, t + 1);
        if (p.end != nullptr) {
            std::copy_n(p.end + t * n, n, inside.begin());
        } else {
            std::fill(inside.begin(), inside.end(), 0.0);
        }
        for (std::int64_t d = 0; d < longest; ++d) {
            const auto first = t - d;
            double* out = phi + (t * p.n_durations + d) * n;
            for (std::int64_t y = 0; y < n; ++y) out[y] = inside[y] += p.token[first * n + y];
            if (p.begin != nullptr) {
                for (std::int64_t y = 0; y < n; ++y) out[y] += p.begin[first * n + y];
            }
            if (p.by_length != nullptr) {
                for (std::int64_t y = 0; y < n; ++y) out[y] += p.by_length[d * n + y];
            }
            for (std::int64_t y = 0; y < n && p.longest != nullptr; ++y) {
                if (d >= p.longest[y]) out[y] = kNegativeInfinity;
            }
        }
    }
}

void decompose_segments(std::int64_t length, std::int64_t n_durations, std::int64_t n_labels,
                        const double* d_phi, double* token, double* begin, double* end,
                        double* by_length) {
    const auto n = n_labels;
    std::fill_n(begin, length * n, 0.0);
    std::fill_n(end, length * n, 0.0);
    for (std::int64_t t = 0; t < length; ++t) {
        double* ends = end + t * n;
        for (std::int64_t d = 0; d < std::min(n_durations, t + 1); ++d) {
            const double* from = d_phi + (t * n_durations + d) * n;
            double* begins = begin + (t - d) * n;
            for (std::int64_t y = 0; y < n; ++y) {
                begins[y] += from[y];
                ends[y] += from[y];
            }
            if (by_length == nullptr) continue;
            for (std::int64_t y = 0; y < n; ++y) by_length[d * n + y] += from[y];
        }
    }
    // A token is inside the segments that have begun and not ended before it.
    for (std::int64_t t = 0; t < length; ++t) {
        for (std::int64_t y = 0; y < n; ++y) {
            const double before = t == 0 ? 0.0 : token[(t - 1) * n + y] - end[(t - 1) * n + y];
            token[t * n + y] = before + begin[t * n + y];
        }
    }
}

void forbid_segments(std::int64_t length, std::int64_t n_durations, std::int64_t n_labels,
                     const std::uint8_t* allowed, int n_masks, double* phi) {
    const auto mask = [&](std::int64_t t, int which) {
        return allowed + (t * n_masks + which) * n_labels;
    };
    for (std::int64_t t = 0; t < length; ++t) {
        const auto longest = std::min(n_durations, t + 1);
        for (std::int64_t y = 0; y < n_labels; ++y) {
            bool goes_on = true;  // label y on all tokens behind the first
            for (std::int64_t d = 1; d <= longest; ++d) {
                const auto first = t - d + 1;
                if (!goes_on || !mask(first, 0)[y]) {
                    phi[(t * n_durations + d - 1) * n_labels + y] = kNegativeInfinity;
                }
                goes_on = goes_on && mask(first, n_masks - 1)[y];
            }
        }
    }
}

}  // namespace trelliswork
