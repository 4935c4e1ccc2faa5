// Data-parallel loops. Threads live for one call: there is no global pool, so nothing survives a
// fork and nothing is shared between callers. Starting a thread costs tens of microseconds; callers
// ask for more than one only when the work is worth it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
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

}  // namespace trelliswork
