// The time left of a limit.
#pragma once

#include <chrono>

namespace trelliswork {

class Deadline {
  public:
    // 0: no limit. Longer than a month is none either, and would not fit the clock.
    explicit Deadline(double seconds) : limited_(seconds > 0.0 && seconds < 3e6) {
        if (limited_) {
            end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
        }
    }
    bool passed() const { return limited_ && Clock::now() >= end_; }

  private:
    using Clock = std::chrono::steady_clock;
    bool limited_;
    Clock::time_point end_;
};

}  // namespace trelliswork
