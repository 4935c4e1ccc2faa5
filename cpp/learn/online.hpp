// Online proximal gradient on an objective with a penalty that is not smooth, lazily.
//
//   Σ_b loss_b(w) + R(w),   R(w) = l2 ‖w‖² + Σ_g λ_g ‖w_g‖₂
//
// over B sequences, with groups g of parameters that do not overlap; a group of one is the l1
// penalty. A step on sequence b with rate τ (forward-backward splitting, Duchi and Singer 2009):
//
//   v = w − τ ∇loss_b(w),   w ← argmin_u ½‖u − v‖² + τ R(u) / B
//
// The second half shortens every group and keeps its direction. With l = l2 / B and λ = λ_g / B,
//
//   n_t = (n_{t−1} − τ_t λ)₊ / (1 + 2 τ_t l)   for the norm n, and thus from step s to step t,
//   where M_t = M_{t−1} (1 + 2 τ_t l),   S_t = S_{t−1} + τ_t M_{t−1}   (multiply by M_t and sum
//   up), n_t = (n_s M_s − λ (S_t − S_s))₊ / M_t
//
// Weights outside the sequence are updated lazily, in closed form, when next read. The cost of a
// step is that of the features of its sequence, and of the patterns, which are few.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "learn/objective.hpp"

namespace trelliswork {

// M and S by step. A weight that is read at time `now` has been updated for all steps before.
class PenaltyClock {
  public:
    // A norm n that was right at a time is max(0, n · kept − λ · owed) now.
    struct Dues {
        double kept, owed;
    };

    PenaltyClock() { reset(); }
    // Weights of stamp 0 then need no update, and yet are not of time `now`.
    void reset() {
        products_.assign(2, 1.0);
        sums_.assign(2, 0.0);
    }
    std::int32_t now() const { return static_cast<std::int32_t>(products_.size()) - 1; }
    double product() const { return products_.back(); }
    Dues since(std::int32_t stamp) const {
        return {products_[stamp] / product(), (sums_.back() - sums_[stamp]) / product()};
    }
    void advance(double rate, double l2) {
        const double before = product();
        sums_.push_back(sums_.back() + rate * before);
        products_.push_back(before * (1.0 + 2.0 * rate * l2));
    }

  private:
    std::vector<double> products_, sums_;  // M, S
};

// While a pass runs, its objective must not be used by anything else: they share the weights.
class OnlinePass {
  public:
    // groups (n_parameters,): −1 for none. strengths (G,): λ. l2 of all parameters.
    OnlinePass(Objective& objective, const std::int32_t* groups, std::vector<double> strengths,
               double l2);
    ~OnlinePass();

    // begin, run as often as wanted, end; parameters (n_parameters,) are read and written.
    void begin(const double* parameters);
    // Steps on sequences order[i] with rates[i]; returns the sum of the losses, each before its
    // step. A rate of 0 changes nothing. Ends early when `stop` says so.
    double run(const std::int64_t* order, const double* rates, std::int64_t n_steps,
               const std::function<bool()>& stop);
    void end(double* parameters);

    const Objective& objective() const { return objective_; }
    bool is_running() const { return is_running_; }

  private:
    // Weights of one kind, by slots. A row, the slots of a feature, is always read as a whole.
    struct Block {
        const FeaturePart* part = nullptr;  // null: patterns, which are one row
        double* weights = nullptr;          // (slots,)
        double* gradients = nullptr;        // (slots,), zero between steps
        std::vector<std::int64_t> places;   // slots of the parameters
        // λ / B of weights in a group of one, 0 of those in none. Infinite where a slot belongs to
        // no parameter: it is 0 whenever it is read.
        std::vector<double> strengths;          // (slots,)
        std::vector<std::int32_t> groups;       // (slots,), −1 for the above; empty: all are
        std::vector<std::int32_t> generations;  // (slots,) or empty; of the group, when written
        std::vector<std::int32_t> stamps;       // (slots,), of a row at its first slot
    };
    // A group of several weights. Between steps a slot holds weight / scale, so that shortening
    // costs one product; where its generation is not the group's, the weight is 0.
    struct Group {
        double strength;      // λ / B
        double square = 0.0;  // of the norm; kept up by differences, and exact after `settle`
        double scale = 1.0;
        std::int32_t stamp = 0;
        std::int32_t generation = 0;
    };
    struct Row {
        Block* block;
        std::int64_t first;
        int count;
    };

    void add_block(const FeaturePart* part, double* weights, std::vector<double>& gradients,
                   std::vector<std::int64_t> places);
    void assign_groups(const std::int32_t* groups, const std::vector<double>& strengths);
    double step(std::int64_t sequence, double rate);
    void read_sequence(std::int64_t sequence);
    void read_features(Block& block, std::int64_t first_row, std::int64_t last_row);
    bool read_row(Block& block, std::int64_t first, int count);
    Group& read_group(std::int32_t number);
    void write_row(const Row& row, double rate);
    void settle();
    void restart();
    template <class Use>
    void for_each_row(Block& block, Use&& use);

    Objective& objective_;
    double l2_;  // l2 / B
    std::unique_ptr<Objective::Worker> worker_;
    Objective::GoldSignals signals_;
    std::vector<Block> blocks_;  // in the order of the parameters
    std::vector<Group> groups_;
    std::vector<Row> touched_;  // by this step, each row once
    PenaltyClock clock_;
    bool is_running_ = false;
    bool is_worn_ = false;  // numbers are about to leave the range of a double: settle
};

}  // namespace trelliswork
