// Best-first search (A*): f never rises along a path, so the first complete hypothesis is the best.
#include <algorithm>
#include <queue>
#include <unordered_set>
#include <vector>

#include "decoding/prefixes.hpp"

namespace trelliswork {

namespace {

constexpr std::int64_t kMostPrefixes = std::int64_t{1} << 23;  // half a gigabyte

}  // namespace

void search_best_first(Prefixes& prefixes, const PrefixOptions& options, const Deadline& deadline,
                       PrefixAnswer& answer) {
    answer.method = PrefixMethod::best_first;
    // The largest f first, among equals the longest.
    const auto is_worse = [&](std::int64_t a, std::int64_t b) {
        const Prefix &one = prefixes[a], &other = prefixes[b];
        if (one.optimistic != other.optimistic) return one.optimistic < other.optimistic;
        return one.end != other.end ? one.end < other.end : a > b;
    };
    const auto hash = [&](std::int64_t id) { return prefixes.hash_future(id); };
    const auto same = [&](std::int64_t a, std::int64_t b) { return prefixes.same_future(a, b); };
    std::unordered_set<std::int64_t, decltype(hash), decltype(same)> expanded(1024, hash, same);
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, decltype(is_worse)> queue(
        is_worse);
    for (std::int64_t id = 0; id < prefixes.size(); ++id) queue.push(id);
    while (!queue.empty()) {
        const auto id = queue.top();
        if (answer.n_expanded >= options.max_states || prefixes.size() > kMostPrefixes ||
            deadline.passed()) {
            answer.bound = prefixes[id].optimistic;
            return;  // unsolved
        }
        queue.pop();
        if (prefixes.is_open(id)) {
            prefixes.ask(id);
            if (prefixes[id].optimistic > kNegativeInfinity) queue.push(id);
            continue;
        }
        if (prefixes[id].end == prefixes.length()) {
            answer.path = prefixes.labelling(id);
            answer.score = answer.bound = prefixes[id].optimistic;
            answer.status = Status::optimal;
            return;
        }
        prefixes.settle(id);
        if (!prefixes.has_predicates() && !expanded.insert(id).second) continue;
        ++answer.n_expanded;
        const auto first = prefixes.size();
        prefixes.expand(id);
        for (auto child = first; child < prefixes.size(); ++child) queue.push(child);
    }
    answer.bound = kNegativeInfinity;
    answer.status = Status::infeasible;
}

}  // namespace trelliswork
