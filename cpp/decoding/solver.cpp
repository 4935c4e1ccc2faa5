#include "decoding/solver.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/threads.hpp"
#include "decoding/branch.hpp"
#include "decoding/dual.hpp"
#include "decoding/search.hpp"

namespace trelliswork {

namespace {

// The dual is stopped early before a search, which closes the rest of the gap for less.
constexpr std::int64_t kIterationsBeforeSearch = 4;
constexpr std::int64_t kIterationsToComplement = 3;
constexpr std::int64_t kStatesOfBriefSearch = 300;
constexpr std::int64_t kIterationsAfterSearch = 20;

// Adjusts prices, then closes the remaining gap. True if optimal, or infeasible.
bool solve_by_prices(Lagrangian& lagrangian, const SolverOptions& options, const Deadline& deadline,
                     std::vector<double> prices, Answer& answer) {
    const bool then_search =
        options.method == SolverMethod::best || options.method == SolverMethod::search;
    const auto most = then_search ? std::min(options.max_iterations, kIterationsBeforeSearch)
                                  : options.max_iterations;
    const DualResult root =
        lower_dual(lagrangian, std::move(prices), most, options, deadline, answer);
    answer.method = SolverMethod::dual;
    answer.bound = std::min(answer.bound, root.bound);
    answer.prices = root.prices;
    std::fill(answer.counted.begin(), answer.counted.end(), std::uint8_t{0});
    if (!root.has_path) return true;
    if (root.bound - answer.payoff <= allowance(options, answer.payoff)) return true;
    if (then_search) {
        if (std::isfinite(answer.payoff) &&
            complement(lagrangian, kIterationsToComplement, options, deadline, answer)) {
            return true;
        }
        answer.method = SolverMethod::search;
        SolverOptions brief = options;
        brief.max_states = std::min(options.max_states, kStatesOfBriefSearch);
        if (search(lagrangian, brief, deadline, answer)) return true;
        // Better prices may leave less to search.
        const DualResult more = lower_dual(lagrangian, answer.prices,
                                           std::min(options.max_iterations, kIterationsAfterSearch),
                                           options, deadline, answer);
        if (more.bound < answer.bound) answer.bound = more.bound;
        answer.prices = more.prices;
        std::fill(answer.counted.begin(), answer.counted.end(), std::uint8_t{0});
        if (more.bound - answer.payoff <= allowance(options, answer.payoff)) return true;
        if (search(lagrangian, options, deadline, answer)) return true;
    }
    if (options.method == SolverMethod::dual || deadline.passed()) return false;
    answer.method = SolverMethod::branch;
    std::fill(answer.counted.begin(), answer.counted.end(), std::uint8_t{0});
    return branch(lagrangian, root, options, deadline, answer);
}

void solve_one(Lagrangian& lagrangian, const SolverOptions& options, std::vector<double> prices,
               Answer& answer) {
    const Deadline deadline(options.seconds);
    const auto n_rows = static_cast<std::size_t>(lagrangian.rows().n_rows);
    answer.prices.assign(n_rows, 0.0);
    answer.counted.assign(n_rows, 0);
    bool proven = false;
    if (options.method == SolverMethod::search) {
        answer.method = SolverMethod::search;
        proven = search(lagrangian, options, deadline, answer);
    }
    // One pass at least, so that there is an answer under any limit.
    if (!proven && (options.method != SolverMethod::search || !deadline.passed())) {
        proven = solve_by_prices(lagrangian, options, deadline, std::move(prices), answer);
    }
    const bool has_answer = std::isfinite(answer.payoff);
    answer.status = status_of(proven, has_answer);
    if (proven) answer.bound = std::min(answer.bound, answer.payoff);
    answer.iterations = lagrangian.n_evaluations();
}

}  // namespace

void offer(Answer& answer, const Evaluation& found) {
    if (found.payoff > answer.payoff) {
        answer.payoff = found.payoff;
        answer.path = found.path;
        answer.excess = found.excess;
    } else if (answer.payoff == kNegativeInfinity) {
        answer.path = found.path;
    }
}

void solve(const Batch& batch, const CountRows& rows, const SolverOptions& options,
           const double* warm_prices, std::vector<Answer>& answers) {
    const Weights plain(*batch.automaton, batch.patterns, batch.n_durations, false,
                        batch.class_patterns);
    answers.assign(static_cast<std::size_t>(batch.n_sequences), {});
    const ArcEvents events(*batch.automaton, rows, batch.patterns);
    std::vector<std::unique_ptr<Lagrangian>> workers;
    for (int i = 0; i < batch.n_workers; ++i) {
        workers.push_back(std::make_unique<Lagrangian>(batch, rows, events, plain));
    }
    const auto n_rows = static_cast<std::size_t>(rows.n_rows);
    parallel_for(batch.n_workers, batch.n_sequences, 1, [&](int worker, std::ptrdiff_t b) {
        auto& mine = *workers[static_cast<std::size_t>(worker)];
        mine.read(b);
        std::vector<double> prices(n_rows, 0.0);
        if (warm_prices != nullptr) {
            const double* own = warm_prices + static_cast<std::size_t>(b) * n_rows;
            for (std::size_t i = 0; i < n_rows; ++i) {
                prices[i] = std::clamp(own[i], 0.0, rows.penalty[i]);
            }
        }
        solve_one(mine, options, std::move(prices), answers[static_cast<std::size_t>(b)]);
    });
}

}  // namespace trelliswork
