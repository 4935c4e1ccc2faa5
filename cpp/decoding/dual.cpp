#include "decoding/dual.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trelliswork {

namespace {

constexpr int kPatience = 3;        // iterations without a lower D before steps get shorter
constexpr double kFirstStep = 1.0;  // of hard rows, while no labelling is known
constexpr double kSmallestFactor = 1e-6;

// Whether the price of a row can go where an excess pushes it.
bool can_move(const CountRows& rows, int row, double price, double excess) {
    return excess < 0.0 ? price > 0.0 : price < rows.penalty[row];
}

// ‖r‖² over the rows whose price can move.
double squared_norm(const CountRows& rows, const std::vector<double>& prices,
                    const std::vector<double>& excess) {
    double total = 0.0;
    for (int i = 0; i < rows.n_rows; ++i) {
        if (can_move(rows, i, prices[i], excess[i])) total += excess[i] * excess[i];
    }
    return total;
}

}  // namespace

DualResult lower_dual(Lagrangian& lagrangian, std::vector<double> prices,
                      std::int64_t max_iterations, const SolverOptions& options,
                      const Deadline& deadline, Answer& answer) {
    const CountRows& rows = lagrangian.rows();
    DualResult result;
    Evaluation found;
    double factor = 1.0;
    int since_better = 0;
    for (std::int64_t iteration = 1;; ++iteration) {
        lagrangian.evaluate(prices, found);
        if (found.value == kNegativeInfinity) {
            result.bound = kNegativeInfinity;
            result.prices = prices;
            result.has_path = false;
            return result;
        }
        offer(answer, found);
        if (found.value < result.bound) {
            const bool much = found.value < result.bound - allowance(options, found.value);
            since_better = much ? 0 : since_better + 1;
            result.bound = found.value;
            result.prices = prices;
            if (found.path != result.at_best) {
                result.other = std::exchange(result.at_best, found.path);
            }
        } else {
            ++since_better;
            if (found.path != result.at_best) result.other = found.path;
        }
        const double gap = result.bound - answer.payoff;
        if (gap <= allowance(options, answer.payoff)) return result;
        if (iteration >= max_iterations || deadline.passed()) return result;
        const double norm = squared_norm(rows, prices, found.excess);
        if (norm == 0.0) return result;
        double step = options.step / std::sqrt(static_cast<double>(iteration));
        if (options.step == 0.0) {
            if (since_better >= kPatience) {
                factor *= 0.5;
                since_better = 0;
                if (factor < kSmallestFactor) return result;
            }
            const bool bounded = std::isfinite(answer.payoff);
            step = bounded ? factor * (found.value - answer.payoff) / norm : factor * kFirstStep;
        }
        for (int i = 0; i < rows.n_rows; ++i) {
            prices[i] = std::clamp(prices[i] + step * found.excess[i], 0.0, rows.penalty[i]);
        }
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
            if (answer.excess[i] == 0.0 && can_move(rows, i, prices[i], found.excess[i])) {
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
