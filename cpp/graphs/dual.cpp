#include "graphs/dual.hpp"

#include <algorithm>
#include <cmath>

#include "simd/semiring.hpp"

namespace trelliswork {

GraphDual::GraphDual(GraphFactors& factors, const Incidence& incidence)
    : shares(factors.n_links(), 0.0),
      stale(factors.n_factors(), 1),
      on(factors.n_links(), 0),
      factors_(factors),
      incidence_(incidence),
      maxima_(factors.n_factors(), 0.0),
      magnitudes_(factors.n_factors(), 0.0),
      best_bound_(-kNegativeInfinity),
      best_shares_(factors.n_links(), 0.0) {
    const auto& scores = factors.graph().scores;
    for (std::size_t j = 0; j < scores.size(); ++j) {
        const bool is_linked = incidence.offsets[j] < incidence.offsets[j + 1];
        if (!is_linked && factors.is_free(j)) unlinked_ += std::max(scores[j], 0.0);
    }
    start_from(shares.data());
}

void GraphDual::start_from(const double* given) {
    const auto& scores = factors_.graph().scores;
    std::vector<double> taken(given, given + shares.size());
    shares.swap(taken);
    for (std::size_t j = 0; j < scores.size(); ++j) {
        const auto first = incidence_.offsets[j], end = incidence_.offsets[j + 1];
        double missing = scores[j];
        for (auto i = first; i < end; ++i) missing -= shares[incidence_.links[i]];
        const auto degree = static_cast<double>(end - first);
        const bool fits = std::isfinite(missing);  // or else begin anew
        for (auto i = first; i < end; ++i) {
            double& share = shares[incidence_.links[i]];
            share = fits ? share + missing / degree : scores[j] / degree;
            if (!factors_.is_free(j)) share = 0.0;
        }
    }
    std::fill(stale.begin(), stale.end(), std::uint8_t{1});
}

double GraphDual::evaluate(const std::int64_t* links) {
    double bound = unlinked_, magnitude = unlinked_;
    for (std::size_t m = 0; m < maxima_.size(); ++m) {
        if (stale[m] != 0) {
            maxima_[m] = factors_.maximize(m, shares.data(), on.data());
            magnitudes_[m] = std::abs(maxima_[m]);
            const auto& offsets = factors_.graph().offsets;
            for (auto k = offsets[m]; k < offsets[m + 1]; ++k)
                magnitudes_[m] += std::abs(shares[k]);
            stale[m] = 0;
        }
        bound += maxima_[m];
        magnitude += magnitudes_[m];
    }
    if (bound < best_bound_) {
        best_bound_ = bound;
        best_magnitude_ = magnitude;
        for (std::size_t k = 0; k < shares.size(); ++k) {
            best_shares_[links != nullptr ? static_cast<std::size_t>(links[k]) : k] = shares[k];
        }
    }
    return bound;
}

}  // namespace trelliswork
