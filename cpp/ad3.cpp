#include "ad3.hpp"

#include <algorithm>
#include <cmath>

namespace trelliswork {

namespace {

constexpr std::int64_t kLookEvery = 10;   // iterations between evaluations of the dual
constexpr std::int64_t kAdaptEvery = 10;  // iterations between changes of η
constexpr double kUnbalanced = 10.0;      // residuals that differ by this factor change η
constexpr double kEtaFactor = 2.0;
constexpr double kEtaRange = 1e6;         // how far η may get from where it began
constexpr double kSame = 1e-12;           // differences that do not wake a factor
constexpr double kIntegral = 1e-3;        // closer than that to 0 or 1 is no fraction
constexpr std::int64_t kStallWindow = 3;  // looks
constexpr double kStallShrink = 0.9;      // of the gap, in a window

double largest_score(const Graph& graph) {
    double largest = 0.0;
    for (const double score : graph.scores) largest = std::max(largest, std::abs(score));
    return largest > 0.0 ? largest : 1.0;
}

}  // namespace

AD3::AD3(const Reduced& reduced, const AD3Options& options)
    : reduced_(reduced),
      options_(options),
      factors_(reduced.graph),
      incidence_(reduced.graph),
      dual_(factors_, incidence_),
      eta_(options.eta * largest_score(reduced.graph)),
      u_(factors_.n_variables(), 0.5),
      z_(factors_.n_links(), 0.0),
      active_(factors_.n_factors(), 1),
      moved_(factors_.n_variables(), 0),
      rounded_(factors_.n_variables(), 0) {
    for (std::size_t j = 0; j < u_.size(); ++j) {
        if (!factors_.is_free(j)) u_[j] = reduced.graph.fixed[j];
        if (incidence_.offsets[j] == incidence_.offsets[j + 1] && factors_.is_free(j)) {
            u_[j] = reduced.graph.scores[j] > 0.0 ? 1.0 : 0.0;
        }
    }
}

void AD3::start_from(const double* shares, const double* u, double eta) {
    dual_.start_from(shares);
    if (eta > 0.0) eta_ = eta;
    if (u == nullptr) return;
    for (std::size_t j = 0; j < u_.size(); ++j) {
        if (factors_.is_free(j) && incidence_.offsets[j] < incidence_.offsets[j + 1]) u_[j] = u[j];
    }
}

void AD3::solve_factors() {
    const Graph& graph = factors_.graph();
    for (std::size_t m = 0; m < active_.size(); ++m) {
        if (active_[m] == 0) {
            ++n_cached_;
            continue;
        }
        ++n_solved_;
        factors_.project(m, dual_.shares.data(), u_.data(), eta_, z_.data());
        for (auto k = graph.offsets[m]; k < graph.offsets[m + 1]; ++k) {
            moved_[static_cast<std::size_t>(graph.variables[k])] = 1;
        }
        active_[m] = options_.caching ? 0 : 1;
    }
}

void AD3::agree() {
    double primal = 0.0, dual = 0.0;
    for (std::size_t j = 0; j < u_.size(); ++j) {
        if (moved_[j] == 0) continue;
        moved_[j] = 0;
        if (!factors_.is_free(j)) continue;
        const auto* link = incidence_.links.data() + incidence_.offsets[j];
        const auto* end = incidence_.links.data() + incidence_.offsets[j + 1];
        const auto n = static_cast<double>(end - link);
        double total = 0.0;
        for (const auto* k = link; k < end; ++k) total += z_[*k];
        const double mean = total / n;
        const double change = mean - u_[j];
        u_[j] = mean;
        dual += n * change * change;
        const bool is_awake = std::abs(change) > kSame;
        for (const auto* k = link; k < end; ++k) {
            const double difference = z_[*k] - mean;
            if (!is_awake && std::abs(difference) <= kSame) continue;
            primal += difference * difference;
            dual_.shares[*k] -= eta_ * difference;
            const auto m = static_cast<std::size_t>(incidence_.factors[*k]);
            active_[m] = 1;
            dual_.stale[m] = 1;
        }
    }
    const auto n_links = static_cast<double>(std::max<std::size_t>(1, z_.size()));
    primal_residual_ = std::sqrt(primal / n_links);
    dual_residual_ = std::sqrt(dual / n_links);
}

void AD3::adapt() {
    if (primal_residual_ > kUnbalanced * dual_residual_) {
        eta_ *= kEtaFactor;
    } else if (dual_residual_ > kUnbalanced * primal_residual_) {
        eta_ /= kEtaFactor;
    }
}

AD3Stop AD3::look(Incumbent& incumbent, GraphWatch& watch, bool& goes_on) {
    goes_on = false;
    dual_.evaluate();
    if (incumbent.rules_out(bound())) return AD3Stop::infeasible;
    if (incumbent.closes(bound())) return AD3Stop::closed;
    bool is_integral = true;
    for (std::size_t j = 0; j < u_.size(); ++j) {
        rounded_[j] = u_[j] > 0.5 ? 1 : 0;
        is_integral = is_integral && std::abs(u_[j] - rounded_[j]) < kIntegral;
    }
    const bool is_solution = incumbent.offer(factors_, rounded_.data());
    if (!(is_solution && is_integral) && n_iterations_ >= next_rounding_) {
        incumbent.round(factors_, u_.data(), dual_.shares.data());
        next_rounding_ = 2 * n_iterations_;
    }
    if (incumbent.closes(bound())) return AD3Stop::closed;
    if (watch.stops(incumbent.score, bound(), primal_residual_, dual_residual_)) {
        return AD3Stop::interrupted;
    }
    goes_on = true;
    return AD3Stop::exhausted;
}

AD3Stop AD3::run(std::int64_t max_iterations, bool may_stall, Incumbent& incumbent,
                 GraphWatch& watch) {
    bool goes_on = true;
    AD3Stop stop = look(incumbent, watch, goes_on);
    if (!goes_on) return stop;
    double gap_before = bound() - incumbent.score;
    std::int64_t n_looks = 0;
    for (std::int64_t t = 1; t <= max_iterations; ++t) {
        ++n_iterations_;
        ++watch.iterations;
        solve_factors();
        agree();
        const bool is_settled =
            primal_residual_ < options_.tolerance && dual_residual_ < options_.tolerance;
        if (is_settled || t % kLookEvery == 0 || t == max_iterations) {
            if (is_settled) next_rounding_ = 0;
            stop = look(incumbent, watch, goes_on);
            if (!goes_on) return stop;
            if (is_settled) return AD3Stop::converged;
            if (may_stall && ++n_looks % kStallWindow == 0) {
                const double gap = bound() - incumbent.score;
                if (gap > kStallShrink * gap_before) return AD3Stop::stalled;
                gap_before = gap;
            }
        }
        if (options_.adapt && t % kAdaptEvery == 0) adapt();
    }
    return AD3Stop::exhausted;
}

}  // namespace trelliswork
