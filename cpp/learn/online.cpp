#include "learn/online.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "learn/objective_worker.hpp"

namespace trelliswork {

namespace {

constexpr double kLargest = 1e100;
// As in the kernels: a list is seldom in cache the first time.
constexpr std::int64_t kAhead = 12;

}  // namespace

OnlinePass::OnlinePass(Objective& objective, const std::int32_t* groups,
                       std::vector<double> strengths, double l2)
    : objective_(objective),
      worker_(std::make_unique<Objective::Worker>(objective, *objective.weights_)),
      signals_(objective) {
    const auto share =
        1.0 / static_cast<double>(std::max<std::int64_t>(1, objective.n_sequences()));
    l2_ = l2 * share;
    for (double& strength : strengths) strength *= share;
    auto& parts = objective.parts_;
    auto& gradients = worker_->gradients;
    for (std::size_t k = 0; k < kKinds; ++k) {
        if (const auto& part = parts.features[k]) {
            add_block(part.get(), part->slots.data(), gradients.kinds[k],
                      part->layout.slots_of_pairs());
        }
    }
    add_block(nullptr, objective.patterns_.data(), gradients.patterns,
              {parts.patterns.begin(), parts.patterns.end()});
    if (parts.edge) {
        add_block(parts.edge.get(), parts.edge->slots.data(), gradients.edge,
                  parts.edge->layout.slots_of_pairs());
    }
    assign_groups(groups, strengths);
}

OnlinePass::~OnlinePass() = default;  // here, where Worker is complete

void OnlinePass::add_block(const FeaturePart* part, double* weights, std::vector<double>& gradients,
                           std::vector<std::int64_t> places) {
    auto& block = blocks_.emplace_back();
    block.part = part;
    block.weights = weights;
    block.gradients = gradients.data();
    block.places = std::move(places);
    block.strengths.assign(gradients.size(), std::numeric_limits<double>::infinity());
    block.stamps.assign(gradients.size(), 0);
}

void OnlinePass::assign_groups(const std::int32_t* groups, const std::vector<double>& strengths) {
    std::vector<std::int64_t> sizes(strengths.size(), 0);
    const auto n_parameters = objective_.n_parameters();
    for (std::int64_t k = 0; k < n_parameters; ++k) {
        if (groups[k] >= 0) ++sizes[groups[k]];
    }
    for (const double strength : strengths) groups_.push_back({strength});
    for (auto& block : blocks_) {
        const auto n = static_cast<std::int64_t>(block.places.size());
        const bool any =
            std::any_of(groups, groups + n, [&](std::int32_t g) { return g >= 0 && sizes[g] > 1; });
        if (any) {
            block.groups.assign(block.strengths.size(), -1);
            block.generations.assign(block.strengths.size(), 0);
        }
        for (std::int64_t k = 0; k < n; ++k) {
            const auto slot = block.places[k];
            const auto g = groups[k];
            block.strengths[slot] = g >= 0 ? strengths[g] : 0.0;
            if (g >= 0 && sizes[g] > 1) block.groups[slot] = g;
        }
        groups += n;
    }
}

template <class Use>
void OnlinePass::for_each_row(Block& block, Use&& use) {
    if (block.part != nullptr) {
        block.part->layout.for_each_feature(use);
    } else if (!block.places.empty()) {
        use(std::int64_t{0}, static_cast<int>(block.strengths.size()));
    }
}

void OnlinePass::begin(const double* parameters) {
    for (auto& block : blocks_) std::fill_n(block.weights, block.strengths.size(), 0.0);
    objective_.load_parameters(parameters);
    worker_->clear(objective_);
    restart();
    is_running_ = true;
}

void OnlinePass::end(double* parameters) {
    settle();
    for (const auto& block : blocks_) {
        for (const auto place : block.places) *parameters++ = block.weights[place];
    }
    is_running_ = false;
}

// Pays all that is owed.
void OnlinePass::settle() {
    for (auto& block : blocks_) {
        for_each_row(block, [&](std::int64_t first, int count) { read_row(block, first, count); });
    }
    restart();
}

// Time begins anew with weights that owe nothing; norms are exact again.
void OnlinePass::restart() {
    clock_.reset();
    is_worn_ = false;
    for (auto& group : groups_) group = {group.strength};
    for (auto& block : blocks_) {
        std::fill(block.stamps.begin(), block.stamps.end(), 0);
        std::fill(block.generations.begin(), block.generations.end(), 0);
        for (std::size_t slot = 0; slot < block.groups.size(); ++slot) {
            if (block.groups[slot] < 0) continue;
            groups_[block.groups[slot]].square += block.weights[slot] * block.weights[slot];
        }
    }
}

double OnlinePass::run(const std::int64_t* order, const double* rates, std::int64_t n_steps,
                       const std::function<bool()>& stop) {
    double loss = 0.0;
    for (std::int64_t i = 0; i < n_steps && !stop(); ++i) loss += step(order[i], rates[i]);
    return loss;
}

double OnlinePass::step(std::int64_t b, double rate) {
    const auto& data = objective_.data_;
    const double weight = data.weights.empty() ? 1.0 : data.weights[b];
    double loss = 0.0;
    if (data.offsets[b] < data.offsets[b + 1] && weight != 0.0) {
        read_sequence(b);
        worker_->loss = 0.0;
        objective_.add_sequence(b, *worker_);
        objective_.gather(*worker_);
        objective_.add_gold_sequence(b, -1.0, signals_, worker_->gradients);
        loss = worker_->loss - weight * objective_.gold_score(b, *worker_);
        for (const auto& row : touched_) write_row(row, rate);
    }
    clock_.advance(rate, l2_);
    if (is_worn_ || clock_.product() > kLargest) settle();
    return loss;
}

// Brings up to date all that the scores of a sequence are made of, and lists it.
void OnlinePass::read_sequence(std::int64_t b) {
    const auto& data = objective_.data_;
    const auto first = data.offsets[b];
    const auto last = data.offsets[b + 1];
    const auto& parts = objective_.parts_;
    touched_.clear();
    for (auto& block : blocks_) {
        if (block.part == nullptr) {
            for_each_row(block, [&](std::int64_t begin, int count) {
                if (read_row(block, begin, count)) touched_.push_back({&block, begin, count});
                objective_.weights_->forget();
            });
        } else if (block.part == objective_.part(Kind::segment)) {
            read_features(block, parts.segment_offsets[first], parts.segment_offsets[last]);
        } else if (block.part == objective_.part(Kind::length)) {
            read_features(block, 0, data.n_durations);
            block.part->score(0, data.n_durations, objective_.length_scores_);
        } else {
            read_features(block, first, last);
        }
    }
}

void OnlinePass::read_features(Block& block, std::int64_t first_row, std::int64_t last_row) {
    const auto& rows = block.part->rows;
    const auto& layout = block.part->layout;
    const auto add = [&](std::int64_t first, int count) {
        if (read_row(block, first, count)) touched_.push_back({&block, first, count});
    };
    for (auto j = rows.dense_offsets[first_row]; j < rows.dense_offsets[last_row]; ++j) {
        add(static_cast<std::int64_t>(rows.dense_rows[j]) * layout.stride(), layout.n_outputs());
    }
    const auto last = rows.sparse_offsets[last_row];
    for (auto j = rows.sparse_offsets[first_row]; j < last; ++j) {
        if (j + kAhead < last) {
            const auto slot = layout.n_dense_slots() + rows.sparse_starts[j + kAhead];
            __builtin_prefetch(block.stamps.data() + slot, 1);
            __builtin_prefetch(block.weights + slot, 1);
            __builtin_prefetch(block.strengths.data() + slot);
            __builtin_prefetch(block.gradients + slot, 1);
        }
        add(layout.n_dense_slots() + rows.sparse_starts[j], rows.sparse_counts[j]);
    }
}

// Makes the slots of a row the weights that they stand for; false: they have been read already.
bool OnlinePass::read_row(Block& block, std::int64_t first, int count) {
    auto& stamp = block.stamps[first];
    if (stamp == clock_.now()) return false;
    const auto [kept, owed] = clock_.since(stamp);
    stamp = clock_.now();
    double* w = block.weights + first;
    const double* strength = block.strengths.data() + first;
    const auto paid = [&](int i) {  // nothing is left of 0 · ∞ either
        const double left = std::abs(w[i]) * kept - strength[i] * owed;
        return left > 0.0 ? std::copysign(left, w[i]) : 0.0;
    };
    if (block.groups.empty()) {
        for (int i = 0; i < count; ++i) w[i] = paid(i);
        return true;
    }
    for (int i = 0; i < count; ++i) {
        const auto number = block.groups[first + i];
        if (number < 0) {
            w[i] = paid(i);
            continue;
        }
        const auto& group = read_group(number);
        w[i] = block.generations[first + i] == group.generation ? w[i] * group.scale : 0.0;
    }
    return true;
}

OnlinePass::Group& OnlinePass::read_group(std::int32_t number) {
    auto& group = groups_[number];
    if (group.stamp == clock_.now()) return group;
    const auto [kept, owed] = clock_.since(group.stamp);
    group.stamp = clock_.now();
    double factor = kept;
    if (group.strength > 0.0) {
        const double norm = std::sqrt(std::max(group.square, 0.0));
        const double left = norm * kept - group.strength * owed;
        factor = left > 0.0 ? left / norm : 0.0;
    }
    if (factor > 0.0) {
        group.scale *= factor;
        group.square *= factor * factor;
        is_worn_ |= group.scale < 1.0 / kLargest;
    } else {  // all its weights are 0 from here on, wherever they are
        ++group.generation;
        group.scale = 1.0;
        group.square = 0.0;
    }
    return group;
}

// v = w − τ ∇loss, and no gradient is left behind.
void OnlinePass::write_row(const Row& row, double rate) {
    auto& block = *row.block;
    double* w = block.weights + row.first;
    double* gradient = block.gradients + row.first;
    if (block.groups.empty()) {
        for (int i = 0; i < row.count; ++i) w[i] -= rate * gradient[i];
        std::fill_n(gradient, row.count, 0.0);
        return;
    }
    for (int i = 0; i < row.count; ++i) {
        const auto number = block.groups[row.first + i];
        const double v = w[i] - rate * gradient[i];
        gradient[i] = 0.0;
        if (number < 0) {
            w[i] = v;
            continue;
        }
        auto& group = groups_[number];
        group.square += (v - w[i]) * (v + w[i]);
        w[i] = v / group.scale;
        block.generations[row.first + i] = group.generation;
    }
}

}  // namespace trelliswork
