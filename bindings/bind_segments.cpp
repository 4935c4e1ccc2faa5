#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>

#include "arrays.hpp"
#include "segments.hpp"
#include "semiring.hpp"
#include "threads.hpp"

namespace trelliswork {

void bind_segments(nb::module_& m) {
    // φ (N, D, L) of a ragged batch from its parts; `own` (nnz, L) are the scores of single
    // segments, by their last token.
    m.def(
        "segment_scores",
        [](const In<std::int64_t, 1>& offsets, const In<double, 2>& token,
           const std::optional<In<double, 2>>& begin, const std::optional<In<double, 2>>& end,
           const std::optional<In<double, 2>>& by_length, const In<std::int32_t, 1>& longest,
           const std::optional<In<std::int64_t, 1>>& segment_offsets,
           const std::optional<In<std::int32_t, 1>>& durations,
           const std::optional<In<double, 2>>& own, Out<double, 3> out, int n_jobs) {
            const auto n_tokens = token.shape(0);
            const auto n_labels = static_cast<std::int64_t>(token.shape(1));
            const auto n_durations = static_cast<std::int64_t>(out.shape(1));
            const auto fits = [&](const std::optional<In<double, 2>>& part, std::size_t n_rows) {
                return !part || (part->shape(0) == n_rows && part->shape(1) == token.shape(1));
            };
            require(out.shape(0) == n_tokens && out.shape(2) == token.shape(1) &&
                        fits(begin, n_tokens) && fits(end, n_tokens) &&
                        fits(by_length, out.shape(1)) && longest.size() == token.shape(1),
                    "segment_scores: wrong shape");
            check_offsets(offsets, n_tokens, "offsets");
            if (own) {
                require(segment_offsets && durations && fits(own, durations->size()) &&
                            segment_offsets->size() == n_tokens + 1,
                        "segment_scores: wrong shape of the features of segments");
                check_offsets(*segment_offsets, durations->size(), "segment_offsets");
            }
            nb::gil_scoped_release release;
            std::fill_n(out.data(), out.size(), kNegativeInfinity);
            const auto n_sequences = static_cast<std::ptrdiff_t>(offsets.size()) - 1;
            parallel_for(std::max(1, n_jobs), n_sequences, 8, [&](int, std::ptrdiff_t b) {
                const auto first = offsets(static_cast<std::size_t>(b));
                const auto last = offsets(static_cast<std::size_t>(b) + 1);
                SegmentParts parts;
                parts.length = last - first;
                parts.n_durations = n_durations;
                parts.n_labels = n_labels;
                parts.token = token.data() + first * n_labels;
                if (begin) parts.begin = begin->data() + first * n_labels;
                if (end) parts.end = end->data() + first * n_labels;
                parts.by_length = data_or_null(by_length);
                parts.longest = longest.data();
                double* phi = out.data() + first * n_durations * n_labels;
                compose_segments(parts, phi);
                for (auto t = first; own && t < last; ++t) {
                    const auto row = static_cast<std::size_t>(t);
                    for (auto k = (*segment_offsets)(row); k < (*segment_offsets)(row + 1); ++k) {
                        const auto d = (*durations)(static_cast<std::size_t>(k)) - 1;
                        if (d < 0 || d >= n_durations || d > t - first) continue;
                        double* to = phi + ((t - first) * n_durations + d) * n_labels;
                        const double* from = own->data() + k * n_labels;
                        for (std::int64_t y = 0; y < n_labels; ++y) to[y] += from[y];
                    }
                }
            });
        },
        nb::arg("offsets"), nb::arg("token"), nb::arg("begin").none(), nb::arg("end").none(),
        nb::arg("by_length").none(), nb::arg("longest"), nb::arg("segment_offsets").none(),
        nb::arg("durations").none(), nb::arg("own").none(), nb::arg("out"), nb::arg("n_jobs"));
}

}  // namespace trelliswork
