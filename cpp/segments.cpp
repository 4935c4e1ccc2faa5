#include "segments.hpp"

#include <algorithm>

#include "semiring.hpp"

namespace trelliswork {

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
