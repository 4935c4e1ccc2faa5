#include "graphs/awake_links.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "simd/semiring.hpp"

namespace trelliswork {

AwakeLinks::AwakeLinks(const GraphFactors& factors, const Incidence& incidence,
                       std::vector<double>& shares, std::vector<double>& z,
                       std::vector<std::uint8_t>& on)
    : graph_(factors.graph()),
      incidence_(incidence),
      shares_(shares),
      z_(z),
      on_(on),
      variables_(graph_.variables),
      links_(graph_.variables.size()),
      n_awake_(graph_.kinds.size()),
      ceilings_(graph_.kinds.size(), kNegativeInfinity),
      may_sleep_(graph_.scores.size(), 1) {
    std::iota(links_.begin(), links_.end(), std::int64_t{0});
    places_ = links_;
    for (std::size_t m = 0; m < graph_.kinds.size(); ++m) {
        const auto first = graph_.offsets[m], end = graph_.offsets[m + 1];
        n_awake_[m] = end - first;
        const bool is_simple = (graph_.kinds[m] == FactorKind::xor_one ||
                                graph_.kinds[m] == FactorKind::at_most_one) &&
                               !factors.has_negated(m);
        for (auto k = first; !is_simple && k < end; ++k) may_sleep_[graph_.variables[k]] = 0;
    }
    for (std::size_t j = 0; j < may_sleep_.size(); ++j) {
        if (incidence.offsets[j] == incidence.offsets[j + 1]) continue;
        awake_.push_back(static_cast<std::int32_t>(j));
    }
}

void AwakeLinks::swap(std::int64_t a, std::int64_t b) {
    if (a == b) return;
    std::swap(variables_[a], variables_[b]);
    std::swap(links_[a], links_[b]);
    places_[links_[a]] = a;
    places_[links_[b]] = b;
    std::swap(shares_[a], shares_[b]);
    std::swap(z_[a], z_[b]);
    std::swap(on_[a], on_[b]);
}

bool AwakeLinks::is_at_rest(std::int32_t variable) const {
    for (auto i = incidence_.offsets[variable]; i < incidence_.offsets[variable + 1]; ++i) {
        if (z_[places_[incidence_.links[i]]] != 0.0) return false;
    }
    return true;
}

void AwakeLinks::doze(const std::vector<double>& u, const std::vector<std::uint8_t>& moved) {
    std::size_t kept = 0;
    for (const auto j : awake_) {
        if (may_sleep_[j] == 0 || u[j] != 0.0 || moved[j] != 0 || !is_at_rest(j)) {
            awake_[kept++] = j;
            continue;
        }
        for (auto i = incidence_.offsets[j]; i < incidence_.offsets[j + 1]; ++i) {
            const auto link = incidence_.links[i];
            const auto m = incidence_.factors[link];
            const auto place = places_[link];
            ceilings_[m] = std::max(ceilings_[m], shares_[place]);
            swap(place, graph_.offsets[m] + --n_awake_[m]);
        }
    }
    awake_.resize(kept);
}

void AwakeLinks::wake(std::int32_t variable) {
    awake_.push_back(variable);
    for (auto i = incidence_.offsets[variable]; i < incidence_.offsets[variable + 1]; ++i) {
        const auto link = incidence_.links[i];
        const auto m = incidence_.factors[link];
        swap(places_[link], graph_.offsets[m] + n_awake_[m]++);
    }
}

void AwakeLinks::wake_above(std::size_t m, double least) {
    const auto end = graph_.offsets[m + 1];
    double ceiling = kNegativeInfinity;
    for (auto p = graph_.offsets[m] + n_awake_[m]; p < end; ++p) {
        if (shares_[p] > least) {
            wake(variables_[p]);  // the first link asleep is at p now, and was seen
        } else {
            ceiling = std::max(ceiling, shares_[p]);
        }
    }
    ceilings_[m] = ceiling;
}

void AwakeLinks::wake_largest(std::size_t m) {
    const auto first = graph_.offsets[m] + n_awake_[m], end = graph_.offsets[m + 1];
    if (first == end) return;
    wake(variables_[std::max_element(shares_.begin() + first, shares_.begin() + end) -
                    shares_.begin()]);
}

}  // namespace trelliswork
