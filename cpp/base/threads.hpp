// Data-parallel loops. Threads live for one call: there is no global pool, so nothing survives a
// fork and nothing is shared between callers. Starting a thread costs tens of microseconds; callers
// ask for more than one only when the work is worth it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace trelliswork {

// Calls body(worker) for worker = 0 … n_workers − 1, worker 0 on the calling thread. The first
// exception is rethrown here after all workers have finished.
template <class Body>
void run_workers(int n_workers, Body&& body) {
    if (n_workers <= 1) {
        body(0);
        return;
    }
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto guarded = [&](int worker) {
        try {
            body(worker);
        } catch (...) {
            std::scoped_lock lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> workers;
        workers.reserve(static_cast<std::size_t>(n_workers - 1));
        for (int worker = 1; worker < n_workers; ++worker) {
            workers.emplace_back([&guarded, worker] { guarded(worker); });
        }
        guarded(0);
    }
    if (failure) std::rethrow_exception(failure);
}

// Calls body(worker, item) for every item in [0, n_items), handing out blocks as workers come free.
template <class Body>
void parallel_for(int n_workers, std::ptrdiff_t n_items, std::ptrdiff_t block, Body&& body) {
    const auto n_blocks = (n_items + block - 1) / block;
    const int workers = static_cast<int>(
        std::max<std::ptrdiff_t>(1, std::min<std::ptrdiff_t>(n_workers, n_blocks)));
    std::atomic<std::ptrdiff_t> next{0};
    run_workers(workers, [&](int worker) {
        for (;;) {
            const auto begin = next.fetch_add(block);
            if (begin >= n_items) return;
            const auto end = std::min(begin + block, n_items);
            for (auto item = begin; item < end; ++item) body(worker, item);
        }
    });
}

// Cuts B sequences into at most n_shares runs of about equal numbers of tokens, the same way every
// time: bounds (shares + 1,) with bounds[0] = 0 and bounds[shares] = B.
inline std::vector<std::int64_t> split_evenly(const std::int64_t* offsets, std::int64_t n_sequences,
                                              int n_shares) {
    std::vector<std::int64_t> bounds{0};
    const auto n_tokens = offsets[n_sequences] - offsets[0];
    for (int share = 1; share < n_shares; ++share) {
        const auto wanted = offsets[0] + n_tokens * share / n_shares;
        const auto* cut = std::lower_bound(offsets, offsets + n_sequences, wanted);
        const auto bound = static_cast<std::int64_t>(cut - offsets);
        if (bound > bounds.back() && bound < n_sequences) bounds.push_back(bound);
    }
    bounds.push_back(n_sequences);
    return bounds;
}

}  // namespace trelliswork
