#include "graphs/ad3.hpp"

#include <algorithm>
#include <cmath>

namespace trelliswork {

namespace {

constexpr std::int64_t kLookEvery = 10;  // iterations between evaluations of the dual
constexpr std::int64_t kDozeEvery = 3;   // iterations between looks for variables at rest
constexpr std::int64_t kAdaptEvery = 5;  // iterations between changes of η
constexpr double kUnbalanced = 1.5;      // residuals that differ by this factor change η
constexpr double kEtaFactor = 1.4;
constexpr double kLeastEta = 1e-305, kMostEta = 1e290;  // neither η nor 1/η overflows
constexpr double kSame = 1e-12;                         // differences that do not wake a factor
constexpr double kIntegral = 1e-3;                      // closer than that to 0 or 1 is no fraction
// The bound stalls where looks so far apart have closed less of the gap than this leaves.
constexpr std::int64_t kStallWindow = 3;
constexpr double kStallShrink = 0.8;

// The unit of scores, so that η means the same for all graphs.
double spread(const Graph& graph) {
    double least = -kNegativeInfinity, most = kNegativeInfinity;
    for (std::size_t j = 0; j < graph.scores.size(); ++j) {
        if (graph.fixed[j] >= 0) continue;
        least = std::min(least, graph.scores[j]);
        most = std::max(most, graph.scores[j]);
    }
    if (most > least) return most - least;
    return std::isfinite(most) && most != 0.0 ? std::abs(most) : 1.0;
}

double within_range(double eta) {
    return std::clamp(eta, kLeastEta, kMostEta);
}

}  // namespace

AD3::AD3(const Reduced& reduced, const AD3Options& options)
    : reduced_(reduced),
      options_(options),
      factors_(reduced.graph),
      incidence_(reduced.graph),
      dual_(factors_, incidence_),
      eta_(within_range(options.eta * spread(reduced.graph))),
      u_(factors_.n_variables(), 0.5),
      z_(factors_.n_links(), 0.0),
      links_(factors_, incidence_, dual_.shares, z_, dual_.on),
      sums_(factors_.n_variables(), 0.0),
      degrees_(factors_.n_variables(), 0.0),
      moved_(factors_.n_variables(), 0),
      rounded_(factors_.n_variables(), 0) {
    for (std::size_t j = 0; j < u_.size(); ++j) {
        degrees_[j] = static_cast<double>(incidence_.offsets[j + 1] - incidence_.offsets[j]);
        if (!factors_.is_free(j)) {
            u_[j] = reduced.graph.fixed[j];
        } else if (degrees_[j] == 0.0) {
            u_[j] = reduced.graph.scores[j] > 0.0 ? 1.0 : 0.0;
        }
    }
    std::int64_t widest = 0;
    for (std::size_t m = 0; m < factors_.n_factors(); ++m) {
        widest = std::max(widest, reduced.graph.offsets[m + 1] - reduced.graph.offsets[m]);
    }
    raw_.resize(static_cast<std::size_t>(widest));
    point_.resize(static_cast<std::size_t>(widest));
    agree_with_u();
}

void AD3::start_from(const double* shares, const double* u, double eta) {
    dual_.start_from(shares);
    if (eta > 0.0) eta_ = eta;
    if (u == nullptr) return;
    next_rounding_ = kLookEvery;  // this u was already rounded at the parent
    for (std::size_t j = 0; j < u_.size(); ++j) {
        if (factors_.is_free(j) && incidence_.offsets[j] < incidence_.offsets[j + 1]) u_[j] = u[j];
    }
    agree_with_u();
}

// z = u, so that the first pass has no step of λ to take.
void AD3::agree_with_u() {
    for (std::size_t p = 0; p < z_.size(); ++p) z_[p] = u_[links_.variables()[p]];
    sum_up();
}

// Anew, now and then: differences that are added up drift.
void AD3::sum_up() {
    for (const auto j : links_.awake()) {
        double total = 0.0;
        for (auto i = incidence_.offsets[j]; i < incidence_.offsets[j + 1]; ++i) {
            total += z_[links_.place(incidence_.links[i])];
        }
        sums_[j] = total;
    }
}

bool AD3::is_asleep(std::size_t m) const {
    const auto first = reduced_.graph.offsets[m], end = first + links_.n_awake(m);
    const auto* variables = links_.variables().data();
    for (auto p = first; p < end; ++p) {
        const auto j = variables[p];
        if (moved_[j] != 0 || std::abs(z_[p] - u_[j]) > kSame) return false;
    }
    return !is_new_;
}

// Returns ‖z − u‖² as it was before.
double AD3::solve(std::size_t m) {
    const auto first = reduced_.graph.offsets[m];
    auto n = links_.n_awake(m);
    const auto* variables = links_.variables().data() + first;
    double* z = z_.data() + first;
    double* shares = dual_.shares.data() + first;
    const double eta = eta_, inverse = 1.0 / eta_;
    double apart = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        const double u = u_[variables[i]];
        const double difference = z[i] - u;
        apart += difference * difference;
        shares[i] -= eta * difference;
        point_[i] = u + inverse * shares[i];
    }
    if (n < reduced_.graph.offsets[m + 1] - first) {
        n = project(m, n);
    } else {
        factors_.project(m, eta, point_.data());
    }
    for (std::int64_t i = 0; i < n; ++i) {
        sums_[variables[i]] += point_[i] - z[i];
        z[i] = point_[i];
    }
    dual_.stale[m] = 1;
    return apart;
}

// Projects the first n of `point_`, and as many links after them as have to wake; returns how many
// it were.
std::int64_t AD3::project(std::size_t m, std::int64_t n) {
    const auto first = reduced_.graph.offsets[m];
    const bool is_xor = reduced_.graph.kinds[m] == FactorKind::xor_one;
    if (n == 0 && is_xor) {
        links_.wake_largest(m);
        point_[n++] = dual_.shares[first] / eta_;
    }
    std::copy_n(point_.begin(), n, raw_.begin());
    while (true) {
        factors_.project_some(m, n, point_.data());
        double threshold = is_xor ? kNegativeInfinity : 0.0;
        for (std::int64_t i = 0; i < n; ++i) {
            if (point_[i] > 0.0) threshold = std::max(threshold, raw_[i] - point_[i]);
        }
        if (links_.ceiling(m) <= threshold * eta_) return n;
        links_.wake_above(m, threshold * eta_);
        const auto n_awake = links_.n_awake(m);
        if (n_awake == n) return n;
        for (; n < n_awake; ++n) raw_[n] = dual_.shares[first + n] / eta_;
        std::copy_n(raw_.begin(), n, point_.begin());
    }
}

void AD3::iterate() {
    double primal = 0.0, dual = 0.0;
    for (std::size_t m = 0; m < factors_.n_factors(); ++m) {
        if (options_.caching && is_asleep(m)) {
            ++n_cached_;
        } else {
            primal += solve(m);
            ++n_solved_;
        }
    }
    for (const auto j : links_.awake()) {
        const double mean = sums_[j] / degrees_[j];
        const double change = mean - u_[j];
        u_[j] = mean;
        dual += degrees_[j] * change * change;
        moved_[j] = std::abs(change) > kSame ? 1 : 0;
    }
    is_new_ = false;
    const auto n_links = static_cast<double>(std::max<std::size_t>(1, z_.size()));
    primal_residual_ = std::sqrt(primal / n_links);
    dual_residual_ = std::sqrt(dual / n_links);
}

void AD3::adapt() {
    if (primal_residual_ > kUnbalanced * dual_residual_) {
        eta_ = within_range(eta_ * kEtaFactor);
    } else if (dual_residual_ > kUnbalanced * primal_residual_) {
        eta_ = within_range(eta_ / kEtaFactor);
    }
}

AD3Stop AD3::look(Incumbent& incumbent, GraphWatch& watch, bool& goes_on) {
    goes_on = false;
    sum_up();
    if (options_.caching && is_new_) links_.doze(u_, moved_);
    dual_.evaluate(links_.links().data());
    if (incumbent.rules_out(bound(), magnitude())) return AD3Stop::infeasible;
    if (incumbent.closes(bound(), magnitude())) return AD3Stop::closed;
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
    if (incumbent.closes(bound(), magnitude())) return AD3Stop::closed;
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
        iterate();
        if (watch.late()) return AD3Stop::interrupted;
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
        if (options_.caching && t % kDozeEvery == 0) links_.doze(u_, moved_);
        if (options_.adapt && t % kAdaptEvery == 0) adapt();
    }
    return AD3Stop::exhausted;
}

}  // namespace trelliswork
