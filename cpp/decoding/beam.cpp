// Beam search: of all hypotheses of one length, those with the largest f go on.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "decoding/prefixes.hpp"

namespace trelliswork {

namespace {

// After its time: narrow, but not so narrow that hard constraints leave nothing.
constexpr std::size_t kLateWidth = 10;

}  // namespace

void search_beam(Prefixes& prefixes, std::int64_t width, double tolerance, const Deadline& deadline,
                 PrefixAnswer& answer) {
    answer.method = PrefixMethod::beam;
    const auto length = prefixes.length();
    std::vector<std::vector<std::int64_t>> waiting(static_cast<std::size_t>(length) + 1);
    for (std::int64_t id = 0; id < prefixes.size(); ++id) waiting[0].push_back(id);
    // The largest f first, among equals the one that was made first.
    const auto is_worse = [&](std::int64_t a, std::int64_t b) {
        const double one = prefixes[a].optimistic, other = prefixes[b].optimistic;
        return one != other ? one < other : a > b;
    };
    const auto hash = [&](std::int64_t id) { return prefixes.hash_future(id); };
    const auto same = [&](std::int64_t a, std::int64_t b) { return prefixes.same_future(a, b); };
    double cut = kNegativeInfinity;  // no labelling that was cut off has more
    std::int64_t best = -1;
    for (std::int64_t t = 0; t <= length; ++t) {
        auto& queue = waiting[t];
        std::make_heap(queue.begin(), queue.end(), is_worse);
        std::unordered_set<std::int64_t, decltype(hash), decltype(same)> kept(16, hash, same);
        auto most = static_cast<std::size_t>(width);
        if (deadline.passed()) most = most == 0 ? kLateWidth : std::min(most, kLateWidth);
        if (t == length) most = 1;
        std::size_t n_kept = 0;
        while (!queue.empty()) {
            const auto id = queue.front();
            if (most > 0 && n_kept == most) {
                if (t < length) cut = std::max(cut, prefixes[id].optimistic);
                break;
            }
            std::pop_heap(queue.begin(), queue.end(), is_worse);
            queue.pop_back();
            if (prefixes.is_open(id)) {
                prefixes.ask(id);
                if (prefixes[id].optimistic == kNegativeInfinity) continue;
                queue.push_back(id);
                std::push_heap(queue.begin(), queue.end(), is_worse);
                continue;
            }
            if (t == length) {
                best = id;
                ++n_kept;
                continue;
            }
            prefixes.settle(id);
            // One with the same future that scores more is kept already.
            if (!prefixes.has_predicates() && !kept.insert(id).second) continue;
            ++n_kept;
            ++answer.n_expanded;
            const auto first = prefixes.size();
            prefixes.expand(id);
            for (auto child = first; child < prefixes.size(); ++child) {
                waiting[prefixes[child].end].push_back(child);
            }
        }
        queue = {};
    }
    if (best < 0) {
        answer.bound = cut;
        answer.status = cut == kNegativeInfinity ? Status::infeasible : Status::unsolved;
        return;
    }
    answer.path = prefixes.labelling(best);
    answer.score = prefixes[best].optimistic;
    answer.bound = std::max(cut, answer.score);
    answer.status = is_settled(answer, tolerance) ? Status::optimal : Status::feasible;
}

}  // namespace trelliswork
