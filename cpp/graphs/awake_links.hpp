// The links that AD³ still has to look at.
//
// A variable sleeps while u and all its z are 0: its shares θ do not change then. Its links in an
// "exactly one" or "at most one" stay at 0 as long as θ/η is not above the threshold τ of the
// projection, z = max(0, p − τ), which the largest share asleep tells for all of them. Most
// variables of most graphs sleep most of the time, and only the others cost time.
//
// Links lie in an order of their own, those awake before the others in each factor; the data of a
// link move with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graphs/factors.hpp"
#include "graphs/propagation.hpp"

namespace trelliswork {

class AwakeLinks {
  public:
    // shares, z and on (K,) are kept in the order of places from here on. All links are awake.
    AwakeLinks(const GraphFactors& factors, const Incidence& incidence, std::vector<double>& shares,
               std::vector<double>& z, std::vector<std::uint8_t>& on);

    // (K,) of places.
    const std::vector<std::int32_t>& variables() const { return variables_; }
    const std::vector<std::int64_t>& links() const { return links_; }
    // The place of a link.
    std::int64_t place(std::int64_t link) const { return places_[link]; }
    // Links of factor m that are awake: the first ones.
    std::int64_t n_awake(std::size_t m) const { return n_awake_[m]; }
    // No share of a link of factor m that sleeps is larger.
    double ceiling(std::size_t m) const { return ceilings_[m]; }
    // Variables that are awake, in no order.
    const std::vector<std::int32_t>& awake() const { return awake_; }

    // Sends variables to sleep that can be: u and z are 0, and u did not move.
    void doze(const std::vector<double>& u, const std::vector<std::uint8_t>& moved);
    // Wakes the variables of sleeping links of factor m whose share is above `least`, all the links
    // of these, and makes the ceiling exact.
    void wake_above(std::size_t m, double least);
    // Wakes the one with the largest share.
    void wake_largest(std::size_t m);

  private:
    bool is_at_rest(std::int32_t variable) const;
    void wake(std::int32_t variable);
    void swap(std::int64_t a, std::int64_t b);

    const Graph& graph_;
    const Incidence& incidence_;
    std::vector<double>& shares_;
    std::vector<double>& z_;
    std::vector<std::uint8_t>& on_;
    std::vector<std::int32_t> variables_;
    std::vector<std::int64_t> links_, places_;
    std::vector<std::int64_t> n_awake_;
    std::vector<double> ceilings_;
    std::vector<std::uint8_t> may_sleep_;  // (N,)
    std::vector<std::int32_t> awake_;
};

}  // namespace trelliswork
