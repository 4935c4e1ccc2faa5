#include "graphs/answer.hpp"

namespace trelliswork {

void offer_start(const Graph& graph, const GraphStart& start, Incumbent& incumbent) {
    if (start.values == nullptr) return;
    for (std::size_t j = 0; j < graph.fixed.size(); ++j) {
        if (graph.fixed[j] >= 0 && (start.values[j] != 0) != (graph.fixed[j] != 0)) return;
    }
    GraphFactors factors(graph);
    const double score = factors.score(start.values);
    if (score <= incumbent.score) return;
    incumbent.score = score;
    incumbent.values.assign(start.values, start.values + graph.scores.size());
}

GraphAnswer infeasible_answer() {
    GraphAnswer answer;
    answer.status = Status::infeasible;
    answer.bound = kNegativeInfinity;
    answer.nodes = 1;
    answer.leaves.emplace_back();
    return answer;
}

std::vector<double> shares_at(const Reduced& reduced, const double* shares) {
    std::vector<double> out;
    out.reserve(reduced.link_of.size());
    for (const auto k : reduced.link_of) out.push_back(shares[k]);
    return out;
}

std::vector<double> relaxed_values(const Reduced& reduced, const std::vector<double>& u,
                                   const std::vector<std::int8_t>& fixed) {
    std::vector<double> out(fixed.begin(), fixed.end());
    for (std::size_t i = 0; i < u.size(); ++i) {
        out[static_cast<std::size_t>(reduced.variable_of[i])] = u[i];
    }
    return out;
}

}  // namespace trelliswork
