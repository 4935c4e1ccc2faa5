#include "kernel/inference.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/threads.hpp"
#include "kernel/score_reader.hpp"

namespace trelliswork {

namespace {

constexpr std::int64_t kMostSequencesAtATime = 16;

// Calls body(worker state, sequence, scores), handing sequences out as workers come free.
template <class Body>
void for_each_sequence(const Batch& batch, std::size_t memory_limit, Body&& body) {
    const Weights weights(*batch.automaton, batch.patterns, batch.n_durations);
    struct Worker {
        Engine engine;
        ScoreReader reader;
    };
    std::vector<Worker> workers;
    workers.reserve(static_cast<std::size_t>(batch.n_workers));
    for (int i = 0; i < batch.n_workers; ++i) {
        workers.push_back({Engine(weights, memory_limit), ScoreReader(batch)});
    }
    // A few turns for every worker, so that long sequences even out.
    const auto block = std::clamp<std::int64_t>(batch.n_sequences / (4 * batch.n_workers), 1,
                                                kMostSequencesAtATime);
    parallel_for(batch.n_workers, batch.n_sequences, block,
                 [&](int worker, std::ptrdiff_t sequence) {
                     auto& mine = workers[static_cast<std::size_t>(worker)];
                     body(mine.engine, sequence, mine.reader.read(sequence));
                 });
}

}  // namespace

void log_partition(const Batch& batch, double* log_z, double* rest) {
    for_each_sequence(batch, batch.memory_limit,
                      [&](Engine& engine, std::int64_t b, const SequenceScores& scores) {
                          engine.with_sums(scores, [&](const auto& chart) {
                              log_z[b] = chart.log_total();
                              rest[b] = chart.log_total_rest();
                          });
                      });
}

void posteriors(const Batch& batch, double* log_z, double* segments, double* pattern_counts,
                double* arcs, double* entropy) {
    const Automaton& automaton = *batch.automaton;
    const auto width = static_cast<std::int64_t>(batch.n_durations) * automaton.n_labels;
    const Weights weights(automaton, batch.patterns, batch.n_durations, arcs != nullptr);
    const auto n_patterns = static_cast<std::size_t>(automaton.n_patterns);
    const auto bounds = split_evenly(batch.offsets, batch.n_sequences, batch.n_workers);
    const int n_shares = static_cast<int>(bounds.size()) - 1;
    std::vector<std::vector<double>> counts(static_cast<std::size_t>(n_shares));
    run_workers(n_shares, [&](int worker) {
        Engine engine(weights, batch.memory_limit);
        ScoreReader reader(batch);
        auto& mine = counts[static_cast<std::size_t>(worker)];
        mine.assign(n_patterns, 0.0);
        for (auto b = bounds[worker]; b < bounds[worker + 1]; ++b) {
            const auto first = batch.offsets[b];
            log_z[b] =
                engine.posteriors(reader.read(b), 1.0, segments + first * width, nullptr,
                                  arcs == nullptr ? nullptr : arcs + first * automaton.n_arcs(),
                                  entropy == nullptr ? nullptr : entropy + b);
        }
        engine.collect(mine.data());
    });
    for (const auto& share : counts) {
        for (std::size_t p = 0; p < n_patterns; ++p) pattern_counts[p] += share[p];
    }
}

void best_path(const Batch& batch, std::int32_t* labels, std::uint8_t* begins, double* score) {
    for_each_sequence(batch, batch.memory_limit,
                      [&](Engine& engine, std::int64_t b, const SequenceScores& scores) {
                          const auto first = batch.offsets[b];
                          engine.with_best(scores, [&](auto& chart) {
                              score[b] = chart.log_total();
                              read_best_path(chart, labels + first, begins + first);
                          });
                      });
}

void best_paths(const Batch& batch, std::int64_t k, std::int32_t* labels, std::uint8_t* begins,
                double* scores) {
    const auto n_tokens = batch.offsets[batch.n_sequences];
    for_each_sequence(
        batch, kNoMemoryLimit, [&](Engine& engine, std::int64_t b, const SequenceScores& sequence) {
            const auto first = batch.offsets[b];
            engine.with_best(sequence, [&](auto& chart) {
                read_best_paths(chart, k, n_tokens, scores + b * k, labels + first, begins + first);
            });
        });
}

void sample(const Batch& batch, std::int64_t n, std::uint64_t seed, std::int32_t* labels,
            std::uint8_t* begins, double* log_z) {
    const auto n_tokens = batch.offsets[batch.n_sequences];
    for_each_sequence(batch, batch.memory_limit,
                      [&](Engine& engine, std::int64_t b, const SequenceScores& scores) {
                          const auto first = batch.offsets[b];
                          RandomStream random(seed, static_cast<std::uint64_t>(b));
                          engine.with_sums(scores, [&](auto& chart) {
                              log_z[b] = chart.log_total();
                              if (std::isnan(log_z[b])) return;
                              draw_paths(chart, random, n, n_tokens, labels + first,
                                         begins + first);
                          });
                      });
}

}  // namespace trelliswork
