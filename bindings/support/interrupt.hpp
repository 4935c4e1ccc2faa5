// Ctrl-C while the core works: asked for now and then, without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace trelliswork {

class Interrupt {
  public:
    // True: stop. Python handles signals on its main thread alone; the others hear of it here.
    bool asked() {
        const auto now = Clock::now().time_since_epoch().count();
        if (!seen_ && now >= next_) {
            next_ = now + kPause;
            const nanobind::gil_scoped_acquire acquire;
            if (PyErr_CheckSignals() != 0) {
                PyErr_Clear();
                seen_ = true;
            }
        }
        return seen_;
    }
    // With Python's lock, after the work: raises the pending interrupt.
    void raise() const {
        if (!seen_) return;
        PyErr_SetNone(PyExc_KeyboardInterrupt);
        throw nanobind::python_error();
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::int64_t kPause =
        std::chrono::duration_cast<Clock::duration>(std::chrono::milliseconds(50)).count();
    std::atomic<bool> seen_{false};
    std::atomic<std::int64_t> next_{0};
};

}  // namespace trelliswork
