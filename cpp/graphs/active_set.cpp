#include "graphs/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "simd/semiring.hpp"

namespace trelliswork {

namespace {

// A squared pivot below this part of its diagonal: the configuration depends on the others. Q has
// whole numbers, so that true pivots are far from it.
constexpr double kDependent = 1e-9;
// The least gain of a new configuration, in parts of η and of the numbers compared.
constexpr double kGain = 1e-12, kRounding = 1e-15;

// Links that two configurations share.
double shared(const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& second) {
    std::int64_t count = 0;
    auto i = first.begin(), j = second.begin();
    while (i != first.end() && j != second.end()) {
        count += *i == *j ? 1 : 0;
        const bool step_i = *i <= *j, step_j = *j <= *i;
        i += step_i ? 1 : 0;
        j += step_j ? 1 : 0;
    }
    return static_cast<double>(count);
}

}  // namespace

double ActiveSet::expected_value() const {
    double total = 0.0;
    for (const auto& y : active_) total += y.probability * y.value;
    return total;
}

// Drops configurations that disagree with `fixed`, if that has changed.
void ActiveSet::agree_with(const std::int8_t* fixed, std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    if (fixed_.size() == size && std::equal(fixed_.begin(), fixed_.end(), fixed)) return;
    if (fixed_.size() != size) active_.clear();
    fixed_.assign(fixed, fixed + n);
    const auto n_on = std::count(fixed_.begin(), fixed_.end(), std::int8_t{1});
    for (auto place = active_.size(); place-- > 0;) {
        const auto& links = active_[place].links;
        const auto has = [&](std::int8_t value) {
            return std::count_if(links.begin(), links.end(),
                                 [&](std::int32_t k) { return fixed[k] == value; });
        };
        if (has(0) > 0 || has(1) < n_on) remove(place);
    }
    double total = 0.0;
    for (const auto& y : active_) total += y.probability;
    for (auto& y : active_) {
        y.probability =
            total > 0.0 ? y.probability / total : 1.0 / static_cast<double>(active_.size());
    }
}

// on_ = the configuration that the objective falls fastest towards, from mean_: the largest
// η (a − z)·y + h(y), which is returned.
double ActiveSet::ask(const Structure& structure, const double* point, double eta) {
    for (std::size_t k = 0; k < fixed_.size(); ++k) {
        scores_[k] = fixed_[k] < 0 ? eta * (point[k] - mean_[k]) : 0.0;
    }
    ++n_oracle_calls_;
    return structure.maximize(scores_.data(), fixed_.data(), on_.data());
}

double ActiveSet::target_of(const Configuration& added, const double* point, double eta) const {
    double total = added.value / eta;
    for (const auto k : added.links) total += fixed_[k] < 0 ? point[k] : 0.0;
    return total;
}

bool ActiveSet::is_active(const Configuration& added) const {
    return std::any_of(active_.begin(), active_.end(),
                       [&](const Configuration& y) { return y.links == added.links; });
}

// The row of the Cholesky factor at `place`; false: it depends on those before.
bool ActiveSet::factorize(std::size_t place) {
    auto& row = active_[place];
    row.factor.resize(place + 1);
    double rest = row.gram[place];
    for (std::size_t i = 0; i < place; ++i) {
        double total = row.gram[i];
        const auto& other = active_[i].factor;
        for (std::size_t j = 0; j < i; ++j) total -= row.factor[j] * other[j];
        row.factor[i] = total / other[i];
        rest -= row.factor[i] * row.factor[i];
    }
    if (rest <= kDependent * row.gram[place]) return false;
    row.factor[place] = std::sqrt(rest);
    return true;
}

bool ActiveSet::add(Configuration added) {
    added.gram.clear();
    for (const auto& y : active_) added.gram.push_back(shared(added.links, y.links) + 1.0);
    added.gram.push_back(static_cast<double>(added.links.size()) + 1.0);
    active_.push_back(std::move(added));
    return factorize(active_.size() - 1);
}

void ActiveSet::remove(std::size_t place) {
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(place));
    for (std::size_t i = place; i < active_.size(); ++i) {
        auto& gram = active_[i].gram;
        gram.erase(gram.begin() + static_cast<std::ptrdiff_t>(place));
        factorize(i);
    }
}

// x becomes Q⁻¹ x.
void ActiveSet::solve_factor(std::vector<double>& x) const {
    const auto n = x.size();
    for (std::size_t i = 0; i < n; ++i) {
        const auto& row = active_[i].factor;
        for (std::size_t j = 0; j < i; ++j) x[i] -= row[j] * x[j];
        x[i] /= row[i];
    }
    for (auto i = n; i-- > 0;) {
        const auto& row = active_[i].factor;
        x[i] /= row[i];
        for (std::size_t j = 0; j < i; ++j) x[j] -= row[j] * x[i];
    }
}

// p = Q⁻¹ (b − τ 1) with Σ p = 1, b the targets: the minimum over all p that add up to 1, of
// any sign.
void ActiveSet::minimize_on_active() {
    minimum_.clear();
    // Targets may be large where their differences are not.
    for (const auto& y : active_) minimum_.push_back(y.target - active_.front().target);
    multiplier_.assign(active_.size(), 1.0);
    solve_factor(minimum_);
    solve_factor(multiplier_);
    double sum = 0.0, ones = 0.0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        sum += minimum_[i];
        ones += multiplier_[i];
    }
    const double tau = (sum - 1.0) / ones;
    for (std::size_t i = 0; i < active_.size(); ++i) minimum_[i] -= tau * multiplier_[i];
}

// Moves p to the minimum, or as far as it stays a distribution, and drops zeros.
ActiveSet::Step ActiveSet::step_towards_minimum() {
    double length = 1.0;
    std::size_t blocking = active_.size();
    for (std::size_t i = 0; i < active_.size(); ++i) {
        const double p = active_[i].probability;
        if (minimum_[i] > 0.0) continue;
        const double most = p > 0.0 ? p / (p - minimum_[i]) : 0.0;
        if (blocking == active_.size() || most < length) {
            length = most;
            blocking = i;
        }
    }
    if (blocking == active_.size()) {
        for (std::size_t i = 0; i < active_.size(); ++i) active_[i].probability = minimum_[i];
        return Step::reached;
    }
    for (std::size_t i = 0; i < active_.size(); ++i) {
        double& p = active_[i].probability;
        p += length * (minimum_[i] - p);
    }
    active_[blocking].probability = 0.0;
    drop_zeros();
    return length > 0.0 ? Step::blocked : Step::stuck;
}

void ActiveSet::drop_zeros() {
    for (auto i = active_.size(); i-- > 0;) {
        if (!(active_[i].probability > 0.0)) remove(i);
    }
}

// For the last configuration c, which is a combination of the others, c = Σ_y w_y y with Σ w = 1:
// z stays where it is while p moves from them to c, which is worth more, until one of them is 0.
bool ActiveSet::exchange(Configuration added) {
    minimum_.assign(added.gram.begin(), added.gram.end() - 1);
    solve_factor(minimum_);
    double step = -kNegativeInfinity;
    std::size_t blocking = active_.size();
    for (std::size_t i = 0; i < active_.size(); ++i) {
        if (minimum_[i] > 0.0 && active_[i].probability / minimum_[i] < step) {
            step = active_[i].probability / minimum_[i];
            blocking = i;
        }
    }
    if (blocking == active_.size()) return false;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        active_[i].probability = std::max(active_[i].probability - step * minimum_[i], 0.0);
    }
    active_[blocking].probability = 0.0;
    drop_zeros();
    added.probability = step;
    if (add(std::move(added))) return true;
    active_.pop_back();
    return false;
}

void ActiveSet::write_mean(double* out) const {
    std::fill_n(out, fixed_.size(), 0.0);
    for (const auto& y : active_) {
        for (const auto k : y.links) out[k] += y.probability;
    }
}

bool ActiveSet::solve(const Structure& structure, const std::int8_t* fixed, const double* point,
                      double eta, double* out) {
    const auto n = structure.size();
    agree_with(fixed, n);
    mean_.assign(static_cast<std::size_t>(n), 0.0);
    scores_.resize(static_cast<std::size_t>(n));
    on_.resize(static_cast<std::size_t>(n));
    const auto found = [&] {
        Configuration y;
        for (std::int64_t k = 0; k < n; ++k) {
            if (on_[k] != 0) y.links.push_back(static_cast<std::int32_t>(k));
        }
        y.value = structure.value(on_.data());
        y.target = target_of(y, point, eta);
        return y;
    };
    if (active_.empty()) {
        if (ask(structure, point, eta) == kNegativeInfinity) return false;
        add(found());
        active_.front().probability = 1.0;
    }
    for (auto& y : active_) y.target = target_of(y, point, eta);
    Step last = Step::blocked;
    for (std::int64_t i = 0; i < max_steps_; ++i) {
        if (last != Step::reached) {
            minimize_on_active();
            last = step_towards_minimum();
            // The new configuration gains nothing but rounding.
            if (last == Step::stuck) break;
            continue;
        }
        write_mean(mean_.data());
        const double best = ask(structure, point, eta);
        double now = 0.0;
        for (std::int64_t k = 0; k < n; ++k) now += scores_[k] * mean_[k];
        const double worth = expected_value();
        const double rounding =
            kRounding * (std::abs(best) + std::abs(now) + std::abs(worth)) + kGain * eta;
        if (best - now - worth <= rounding) break;
        Configuration y = found();
        if (is_active(y)) break;
        last = Step::blocked;
        if (add(y)) continue;
        y = std::move(active_.back());
        active_.pop_back();
        if (!exchange(std::move(y))) break;
    }
    write_mean(out);
    return true;
}

}  // namespace trelliswork
