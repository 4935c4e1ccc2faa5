#include "blocks.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "chain_kernels.hpp"

namespace trelliswork {

namespace {

// Below these a block is no faster than its arcs one by one.
constexpr std::size_t kFewestSteps = 3;
constexpr std::int64_t kFewestSources = 2;

std::uint64_t hash_of(const std::int32_t* first, const std::int32_t* last) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (; first != last; ++first) {
        hash = (hash ^ static_cast<std::uint32_t>(*first)) * 0x100000001b3ULL;
    }
    return hash;
}

}  // namespace

Blocks::Blocks(const std::vector<std::int64_t>& step_offsets,
               const std::vector<std::int32_t>& source) {
    const auto n_steps = step_offsets.size() - 1;
    const auto* arcs = source.data();
    const auto same_sources = [&](std::size_t g, std::size_t h) {
        return std::equal(arcs + step_offsets[g], arcs + step_offsets[g + 1],
                          arcs + step_offsets[h], arcs + step_offsets[h + 1]);
    };
    // Groups in the order of their first step; equal hashes are told apart by comparison.
    std::vector<std::vector<std::size_t>> groups;
    std::unordered_multimap<std::uint64_t, std::size_t> found;
    for (std::size_t g = 0; g < n_steps; ++g) {
        const auto hash = hash_of(arcs + step_offsets[g], arcs + step_offsets[g + 1]);
        const auto [first, last] = found.equal_range(hash);
        const auto match = std::find_if(first, last, [&](const auto& entry) {
            return same_sources(groups[entry.second].front(), g);
        });
        if (match != last) {
            groups[match->second].push_back(g);
        } else {
            found.emplace(hash, groups.size());
            groups.push_back({g});
        }
    }

    port.resize(n_steps);
    slot.resize(source.size());
    std::vector<std::size_t> narrow;
    for (const auto& group : groups) {
        const auto begin = step_offsets[group.front()];
        const auto n_sources = step_offsets[group.front() + 1] - begin;
        if (group.size() < kFewestSteps || n_sources < kFewestSources) {
            narrow.insert(narrow.end(), group.begin(), group.end());
            continue;
        }
        const auto stride = padded(static_cast<int>(group.size()));
        wide.push_back({static_cast<std::int64_t>(sources.size()), n_ports, n_slots,
                        static_cast<std::int32_t>(n_sources), stride});
        sources.insert(sources.end(), arcs + begin, arcs + begin + n_sources);
        for (std::size_t column = 0; column < group.size(); ++column) {
            port[group[column]] = static_cast<std::int32_t>(n_ports) +
                                  static_cast<std::int32_t>(column);
            for (std::int64_t row = 0; row < n_sources; ++row) {
                slot[step_offsets[group[column]] + row] =
                    n_slots + row * stride + static_cast<std::int64_t>(column);
            }
        }
        most_sources = std::max(most_sources, static_cast<std::int32_t>(n_sources));
        n_ports += stride;
        n_slots += n_sources * stride;
    }
    std::sort(narrow.begin(), narrow.end());
    first_narrow_port = n_ports;
    first_narrow_slot = n_slots;
    narrow_offsets.push_back(0);
    for (const auto g : narrow) {
        port[g] = static_cast<std::int32_t>(n_ports++);
        for (auto a = step_offsets[g]; a < step_offsets[g + 1]; ++a) {
            slot[a] = n_slots++;
            narrow_sources.push_back(source[a]);
        }
        narrow_offsets.push_back(static_cast<std::int64_t>(narrow_sources.size()));
    }
}

}  // namespace trelliswork
