#include "graphs/solver.hpp"

#include <algorithm>

#include "base/threads.hpp"

namespace trelliswork {

GraphAnswer solve_by_ad3(const Graph& graph, const GraphStart& start, const GraphOptions& options,
                         GraphWatch& watch) {
    GraphAnswer answer;
    Incumbent incumbent(graph, options.gap);
    offer_start(graph, start, incumbent);
    answer.nodes = watch.nodes = 1;
    if (!incumbent.propagator.start()) return infeasible_answer();
    const Reduced reduced = incumbent.remainder();
    if (reduced.constant == kNegativeInfinity) return infeasible_answer();
    incumbent.enter(reduced);
    AD3 ad3(reduced, options.ad3);
    if (start.shares != nullptr) {
        ad3.start_from(shares_at(reduced, start.shares).data(), nullptr, 0.0);
    }
    const AD3Stop stop = ad3.run(options.max_iterations, false, incumbent, watch);
    answer.relaxed = relaxed_values(reduced, ad3.u(), incumbent.propagator.values());
    answer.bound = ad3.bound();
    answer.score = incumbent.score;
    answer.values = std::move(incumbent.values);
    answer.n_solved = ad3.n_solved();
    answer.n_cached = ad3.n_cached();
    answer.iterations = watch.iterations;
    answer.leaves.push_back({{}, reduced.link_of, ad3.dual().best_shares()});
    switch (stop) {
        case AD3Stop::closed:
            answer.status = Status::optimal;
            answer.bound = std::max(answer.bound, answer.score);
            break;
        case AD3Stop::converged:
            answer.status = Status::fractional;
            break;
        case AD3Stop::infeasible:
            answer.status = Status::infeasible;
            answer.bound = kNegativeInfinity;
            break;
        case AD3Stop::stalled:
        case AD3Stop::exhausted:
        case AD3Stop::interrupted:
            answer.status = Status::unsolved;
            break;
    }
    return answer;
}

std::vector<GraphAnswer> solve_graphs(const std::vector<const Graph*>& graphs,
                                      const std::vector<GraphStart>& starts, GraphMethod method,
                                      const GraphOptions& options, int n_workers,
                                      const GraphCallback& callback) {
    std::vector<GraphAnswer> answers(graphs.size());
    const auto n_graphs = static_cast<std::ptrdiff_t>(graphs.size());
    parallel_for(n_workers, n_graphs, 1, [&](int, std::ptrdiff_t b) {
        const auto i = static_cast<std::size_t>(b);
        GraphWatch watch(b, options.seconds, callback);
        const auto solve = method == GraphMethod::ad3      ? solve_by_ad3
                           : method == GraphMethod::branch ? solve_by_branching
                                                           : solve_by_subgradient;
        answers[i] = solve(*graphs[i], starts[i], options, watch);
    });
    return answers;
}

}  // namespace trelliswork
