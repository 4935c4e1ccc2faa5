#include "graphs/subgradient.hpp"

#include <algorithm>
#include <cmath>

#include "base/polyak.hpp"

namespace trelliswork {

namespace {

constexpr int kPatience = 5;              // iterations without a lower bound before steps shorten
constexpr double kShortest = 1e-8;        // factor of steps at which to give up
constexpr std::int64_t kRoundEvery = 20;  // iterations

class Subgradient {
  public:
    Subgradient(const Reduced& reduced, const GraphOptions& options)
        : options_(options),
          reduced_(reduced),
          factors_(reduced.graph),
          incidence_(reduced.graph),
          dual_(factors_, incidence_),
          u_(factors_.n_variables(), 0.0),
          values_(factors_.n_variables(), 0) {}

    void start_from(const double* shares) { dual_.start_from(shares); }

    // True: closed, or infeasible.
    bool run(Incumbent& incumbent, GraphWatch& watch) {
        PolyakSteps steps(kPatience, kShortest);
        double lowest = -kNegativeInfinity;
        for (std::int64_t t = 1; t <= options_.max_iterations; ++t) {
            ++watch.iterations;
            const double value = dual_.evaluate();
            const double norm = average();
            if (incumbent.rules_out(bound(), magnitude())) return true;
            offer(t, norm, incumbent);
            if (incumbent.closes(bound(), magnitude())) return true;
            if (watch.stops(incumbent.score, bound(), std::sqrt(norm), steps.factor())) {
                return false;
            }
            const bool goes_on = steps.go_on(value < lowest);
            lowest = std::min(lowest, value);
            if (norm == 0.0 || !goes_on) return false;
            const double above = value + reduced_.constant - incumbent.score;
            step(std::isfinite(above) ? steps.length(above, norm)
                                      : options_.ad3.eta / std::sqrt(static_cast<double>(t)));
        }
        return false;
    }

    double bound() const { return dual_.best_bound() + reduced_.constant; }
    double magnitude() const { return dual_.best_magnitude() + reduced_.magnitude; }
    const std::vector<double>& u() const { return u_; }
    const std::vector<double>& shares() const { return dual_.best_shares(); }

  private:
    // u = the mean of z; returns ‖z − u‖².
    double average() {
        double norm = 0.0;
        for (std::size_t j = 0; j < u_.size(); ++j) {
            const auto first = incidence_.offsets[j], end = incidence_.offsets[j + 1];
            if (!factors_.is_free(j)) {
                u_[j] = factors_.graph().fixed[j];
            } else if (first == end) {
                u_[j] = factors_.graph().scores[j] > 0.0 ? 1.0 : 0.0;
            } else {
                double n_on = 0.0;
                for (auto i = first; i < end; ++i) n_on += dual_.on[incidence_.links[i]];
                u_[j] = n_on / static_cast<double>(end - first);
                norm += n_on * (1.0 - u_[j]);  // Σ (z − u)² of values 0 and 1
            }
        }
        return norm;
    }

    void offer(std::int64_t t, double norm, Incumbent& incumbent) {
        for (std::size_t j = 0; j < u_.size(); ++j) values_[j] = u_[j] > 0.5 ? 1 : 0;
        if (incumbent.offer(factors_, values_.data())) return;
        if (t % kRoundEvery == 1 || norm == 0.0) {
            incumbent.round(factors_, u_.data(), dual_.shares.data());
        }
    }

    void step(double length) {
        for (std::size_t j = 0; j < u_.size(); ++j) {
            if (u_[j] == 0.0 || u_[j] == 1.0) continue;  // all agree
            for (auto i = incidence_.offsets[j]; i < incidence_.offsets[j + 1]; ++i) {
                const auto k = incidence_.links[i];
                dual_.shares[k] -= length * (dual_.on[k] - u_[j]);
                dual_.stale[static_cast<std::size_t>(incidence_.factors[k])] = 1;
            }
        }
    }

    const GraphOptions& options_;
    const Reduced& reduced_;
    GraphFactors factors_;
    Incidence incidence_;
    GraphDual dual_;
    std::vector<double> u_;             // (N',)
    std::vector<std::uint8_t> values_;  // (N',)
};

}  // namespace

GraphAnswer solve_by_subgradient(const Graph& graph, const GraphStart& start,
                                 const GraphOptions& options, GraphWatch& watch) {
    Incumbent incumbent(graph, options.gap);
    offer_start(graph, start, incumbent);
    watch.nodes = 1;
    if (!incumbent.propagator.start()) return infeasible_answer();
    const Reduced reduced = incumbent.remainder();
    if (reduced.constant == kNegativeInfinity) return infeasible_answer();
    incumbent.enter(reduced);
    Subgradient subgradient(reduced, options);
    if (start.shares != nullptr) subgradient.start_from(shares_at(reduced, start.shares).data());
    const bool is_done = subgradient.run(incumbent, watch);
    GraphAnswer answer;
    answer.nodes = 1;
    answer.iterations = watch.iterations;
    answer.relaxed = relaxed_values(reduced, subgradient.u(), incumbent.propagator.values());
    answer.score = incumbent.score;
    answer.values = std::move(incumbent.values);
    answer.bound = std::max(subgradient.bound(), answer.score);
    answer.leaves.push_back({{}, reduced.link_of, subgradient.shares()});
    if (incumbent.rules_out(subgradient.bound(), subgradient.magnitude())) {
        answer.status = Status::infeasible;
        answer.bound = kNegativeInfinity;
    } else if (is_done) {
        answer.status = Status::optimal;
    } else if (answer.score > kNegativeInfinity) {
        answer.status = Status::feasible;
    }
    return answer;
}

}  // namespace trelliswork
