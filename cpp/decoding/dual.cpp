#include "decoding/dual.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/polyak.hpp"

namespace trelliswork {

namespace {

constexpr int kPatience = 3;        // iterations without a lower D before steps get shorter
constexpr double kFirstStep = 1.0;  // of hard rows, while no labelling is known
constexpr double kSmallestFactor = 1e-6;

}  // namespace

DualResult lower_dual(Lagrangian& lagrangian, std::vector<double> prices,
                      std::int64_t max_iterations, const SolverOptions& options,
                      const Deadline& deadline, Answer& answer) {
    const CountRows& rows = lagrangian.rows();
    DualResult result;
    Evaluation found;
    PolyakSteps steps(kPatience, kSmallestFactor);
    for (std::int64_t iteration = 1;; ++iteration) {
        lagrangian.evaluate(prices, found);
        if (found.value == kNegativeInfinity) {
            result.bound = kNegativeInfinity;
            result.prices = prices;
            result.has_path = false;
            return result;
        }
        offer(answer, found);
        const bool is_lower = found.value < result.bound - allowance(options, found.value);
        if (found.value < result.bound) {
            result.bound = found.value;
            result.prices = prices;
            if (found.path != result.at_best) {
                result.other = std::exchange(result.at_best, found.path);
            }
        } else if (found.path != result.at_best) {
            result.other = found.path;
        }
        const double gap = result.bound - answer.payoff;
        if (gap <= allowance(options, answer.payoff)) return result;
        if (iteration >= max_iterations || deadline.passed()) return result;
        const double norm = squared_norm(prices, found.excess, rows.penalty);
        if (norm == 0.0) return result;
        double step = options.step / std::sqrt(static_cast<double>(iteration));
        if (options.step == 0.0) {
            if (!steps.go_on(is_lower)) return result;
            const bool bounded = std::isfinite(answer.payoff);
            step = bounded ? steps.length(found.value - answer.payoff, norm)
                           : steps.factor() * kFirstStep;
        }
        move_prices(prices, found.excess, rows.penalty, step);
    }
}

bool complement(Lagrangian& lagrangian, std::int64_t max_iterations, const SolverOptions& options,
                const Deadline& deadline, Answer& answer) {
    const CountRows& rows = lagrangian.rows();
    std::vector<double> prices = answer.prices;
    Evaluation found;
    double factor = 1.0;
    double least = answer.bound;
    for (std::int64_t iteration = 0; iteration < max_iterations && !deadline.passed();
         ++iteration) {
        for (int i = 0; i < rows.n_rows; ++i) {
            if (answer.excess[i] < 0.0) prices[i] = 0.0;
            if (answer.excess[i] > 0.0) prices[i] = rows.penalty[i];
        }
        lagrangian.evaluate(prices, found);
        const double payoff = answer.payoff;
        offer(answer, found);
        if (found.value - answer.payoff <= allowance(options, answer.payoff)) {
            answer.prices = prices;
            answer.bound = found.value;
            return true;
        }
        if (answer.payoff > payoff) continue;  // a better labelling: begin again with its prices
        double norm = 0.0;
        for (int i = 0; i < rows.n_rows; ++i) {
            if (answer.excess[i] == 0.0 && can_move(prices[i], found.excess[i], rows.penalty[i])) {
                norm += found.excess[i] * found.excess[i];
            }
        }
        if (norm == 0.0) return false;
        factor = found.value < least ? factor : 0.7 * factor;
        least = std::min(least, found.value);
        const double step = factor * (found.value - answer.payoff) / norm;
        for (int i = 0; i < rows.n_rows; ++i) {
            if (answer.excess[i] == 0.0) {
                prices[i] = std::clamp(prices[i] + step * found.excess[i], 0.0, rows.penalty[i]);
            }
        }
    }
    return false;
}

}  // namespace trelliswork
