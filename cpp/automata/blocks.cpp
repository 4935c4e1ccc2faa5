#include "automata/blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>

#include "simd/chain_kernels.hpp"

namespace trelliswork {

namespace {

// Below these a block is no faster than its arcs one by one.
constexpr std::size_t kFewestSteps = 3;
constexpr std::int64_t kFewestSources = 2;
// A shared table has a column for every label: worth this much more arithmetic, not more.
constexpr std::int64_t kMostWaste = 2;

// Steps of one block, or of none.
using Steps = std::vector<std::size_t>;

std::uint64_t hash_of(const std::int32_t* first, const std::int32_t* last) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (; first != last; ++first) {
        hash = (hash ^ static_cast<std::uint32_t>(*first)) * 0x100000001b3ULL;
    }
    return hash;
}

// Steps with the same sources and different labels, in the order of their first step: of the steps
// that agree in sources and label, the n-th is in the n-th group of these sources.
std::vector<Steps> group_steps(const std::vector<std::int64_t>& step_offsets,
                               const std::vector<std::int32_t>& step_label,
                               const std::vector<std::int32_t>& source) {
    const auto* arcs = source.data();
    const auto same_sources = [&](std::size_t g, std::size_t h) {
        return std::equal(arcs + step_offsets[g], arcs + step_offsets[g + 1],
                          arcs + step_offsets[h], arcs + step_offsets[h + 1]);
    };
    std::vector<Steps> groups;
    std::vector<std::vector<std::size_t>> groups_of;                 // by sources
    std::unordered_multimap<std::uint64_t, std::size_t> sources_of;  // by hash
    std::unordered_map<std::uint64_t, std::size_t> n_met;            // by (sources, label)
    for (std::size_t g = 0; g + 1 < step_offsets.size(); ++g) {
        const auto hash = hash_of(arcs + step_offsets[g], arcs + step_offsets[g + 1]);
        const auto [first, last] = sources_of.equal_range(hash);
        auto known = std::find_if(first, last, [&](const auto& entry) {
            return same_sources(groups[groups_of[entry.second].front()].front(), g);
        });
        if (known == last) {
            known = sources_of.emplace(hash, groups_of.size());
            groups_of.emplace_back();
        }
        const auto label = static_cast<std::uint32_t>(step_label[g]);
        auto& of_these = groups_of[known->second];
        const auto n_before = n_met[std::uint64_t{known->second} << 32 | label]++;
        if (n_before == of_these.size()) {
            of_these.push_back(groups.size());
            groups.emplace_back();
        }
        groups[of_these[n_before]].push_back(g);
    }
    return groups;
}

}  // namespace

Blocks::Blocks(const std::vector<std::int64_t>& step_offsets,
               const std::vector<std::int32_t>& step_label, const std::vector<std::int32_t>& source,
               const std::vector<std::int32_t>& contexts) {
    port.resize(step_offsets.size() - 1);
    slot.resize(source.size());
    Steps narrow;
    std::vector<Steps> groups;
    for (auto& group : group_steps(step_offsets, step_label, source)) {
        const auto m = step_offsets[group.front() + 1] - step_offsets[group.front()];
        if (group.size() < kFewestSteps || m < kFewestSources) {
            narrow.insert(narrow.end(), group.begin(), group.end());
        } else {
            groups.push_back(std::move(group));
        }
    }
    add_blocks(groups, step_offsets, step_label, source, contexts);
    std::sort(narrow.begin(), narrow.end());
    add_runs(narrow, step_offsets, source);
    slot_arc.assign(static_cast<std::size_t>(n_slots), -1);
    transpose.resize(slot_arc.size(), -1);
    for (std::size_t a = 0; a < slot.size(); ++a) slot_arc[slot[a]] = static_cast<std::int64_t>(a);
}

void Blocks::add_blocks(const std::vector<Steps>& groups,
                        const std::vector<std::int64_t>& step_offsets,
                        const std::vector<std::int32_t>& step_label,
                        const std::vector<std::int32_t>& source,
                        const std::vector<std::int32_t>& contexts) {
    std::map<std::int32_t, std::int32_t> column_of;  // in a shared table, by label
    std::int64_t own_work = 0;
    std::int64_t n_rows = 0;
    for (const auto& group : groups) {
        const auto m = step_offsets[group.front() + 1] - step_offsets[group.front()];
        own_work += m * padded(static_cast<int>(group.size()));
        n_rows += m;
        for (const auto g : group) column_of.try_emplace(step_label[g], 0);
    }
    std::int32_t n_columns = 0;
    for (auto& entry : column_of) entry.second = n_columns++;
    const int shared_stride = padded(n_columns);
    const bool shared = !contexts.empty() && n_rows * shared_stride <= kMostWaste * own_work;
    const int n_contexts =
        contexts.empty() ? 0 : *std::max_element(contexts.begin(), contexts.end()) + 1;
    if (shared) {
        n_slots = std::int64_t{n_contexts} * shared_stride;
        n_transposed = std::int64_t{padded(n_contexts)} * shared_stride;
    }

    for (const auto& group : groups) {
        const auto begin = step_offsets[group.front()];
        const auto m = static_cast<std::int32_t>(step_offsets[group.front() + 1] - begin);
        Block block{};
        block.first_source = static_cast<std::int64_t>(sources.size());
        block.first_port = n_ports;
        block.n_sources = m;
        block.stride = shared ? shared_stride : padded(static_cast<int>(group.size()));
        block.padded_rows = padded(shared ? n_contexts : m);
        block.table = shared ? 0 : n_slots;
        block.transposed = shared ? 0 : n_transposed;
        block.first_column = static_cast<std::int64_t>(columns.size());
        block.n_columns = static_cast<std::int32_t>(group.size());
        for (std::int32_t i = 0; i < m; ++i) {
            sources.push_back(source[begin + i]);
            row_numbers.push_back(shared ? contexts[source[begin + i]] : i);
            rows.push_back(row_numbers.back() * block.stride);
        }
        for (std::size_t k = 0; k < group.size(); ++k) {
            const auto g = group[k];
            const auto column = shared ? column_of[step_label[g]] : static_cast<std::int32_t>(k);
            columns.push_back(column);
            port[g] = static_cast<std::int32_t>(n_ports) + column;
            for (std::int32_t i = 0; i < m; ++i) {
                const std::int64_t row = row_numbers[block.first_source + i];
                const auto place = block.table + row * block.stride + column;
                slot[step_offsets[g] + i] = place;
                transpose.resize(std::max(transpose.size(), static_cast<std::size_t>(place) + 1),
                                 -1);
                transpose[place] =
                    block.transposed + std::int64_t{column} * block.padded_rows + row;
            }
        }
        most_rows = std::max(most_rows, block.padded_rows);
        n_ports += block.stride;
        if (!shared) {
            n_slots += std::int64_t{m} * block.stride;
            n_transposed += std::int64_t{block.padded_rows} * block.stride;
        }
        wide.push_back(block);
    }
}

void Blocks::add_runs(const Steps& narrow, const std::vector<std::int64_t>& step_offsets,
                      const std::vector<std::int32_t>& source) {
    // Whether the sources of step h are those of step g, one state on.
    const auto follows = [&](std::size_t g, std::size_t h) {
        const auto m = step_offsets[g + 1] - step_offsets[g];
        if (step_offsets[h + 1] - step_offsets[h] != m) return false;
        for (std::int64_t i = 0; i < m; ++i) {
            if (source[step_offsets[h] + i] != source[step_offsets[g] + i] + 1) return false;
        }
        return true;
    };
    for (std::size_t first = 0, last = 0; first < narrow.size(); first = last) {
        last = first + 1;
        while (last < narrow.size() && follows(narrow[last - 1], narrow[last])) ++last;
        const auto begin = step_offsets[narrow[first]];
        const auto m = static_cast<std::int32_t>(step_offsets[narrow[first] + 1] - begin);
        const auto n = static_cast<std::int32_t>(last - first);
        runs.push_back({static_cast<std::int64_t>(run_sources.size()), n_ports, n_slots, m, n});
        run_sources.insert(run_sources.end(), source.begin() + begin, source.begin() + begin + m);
        for (std::int32_t k = 0; k < n; ++k) {
            const auto g = narrow[first + static_cast<std::size_t>(k)];
            port[g] = static_cast<std::int32_t>(n_ports++);
            for (std::int32_t i = 0; i < m; ++i) {
                slot[step_offsets[g] + i] = n_slots + std::int64_t{i} * n + k;
            }
        }
        n_slots += std::int64_t{m} * n;
    }
}

}  // namespace trelliswork
