// Projected subgradients: Polyak's steps, and prices that stay in [0, ρ].
//
//   λ ← clamp(λ + η r, 0, ρ),   η = factor · (D − target) / ‖r‖²
//
// The factor is halved where D has stopped falling.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace trelliswork {

class PolyakSteps {
  public:
    // patience: iterations without a lower D before steps get shorter; smallest: factor at which to
    // give up.
    PolyakSteps(int patience, double smallest) : patience_(patience), smallest_(smallest) {}

    // After an iteration: whether D was lower. False: give up.
    bool go_on(bool is_lower) {
        since_lower_ = is_lower ? 0 : since_lower_ + 1;
        if (since_lower_ >= patience_) {
            factor_ *= 0.5;
            since_lower_ = 0;
        }
        return factor_ >= smallest_;
    }
    double factor() const { return factor_; }
    // above: D − target; norm: ‖r‖².
    double length(double above, double norm) const { return factor_ * above / norm; }

  private:
    int patience_;
    double smallest_;
    double factor_ = 1.0;
    int since_lower_ = 0;
};

// Whether a price can go where an excess pushes it.
inline bool can_move(double price, double excess, double penalty) {
    return excess < 0.0 ? price > 0.0 : price < penalty;
}

// ‖r‖² over the prices that can move.
inline double squared_norm(const std::vector<double>& prices, const std::vector<double>& excess,
                           const std::vector<double>& penalties) {
    double total = 0.0;
    for (std::size_t i = 0; i < prices.size(); ++i) {
        if (can_move(prices[i], excess[i], penalties[i])) total += excess[i] * excess[i];
    }
    return total;
}

inline void move_prices(std::vector<double>& prices, const std::vector<double>& excess,
                        const std::vector<double>& penalties, double step) {
    for (std::size_t i = 0; i < prices.size(); ++i) {
        prices[i] = std::clamp(prices[i] + step * excess[i], 0.0, penalties[i]);
    }
}

}  // namespace trelliswork
