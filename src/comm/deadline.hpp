// Deadline of a wait for other ranks.
#pragma once

#include <chrono>

namespace lpt {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  // 0 seconds: no deadline.
  explicit Deadline(double seconds)
      : is_set_(seconds > 0.0),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  bool is_over() const { return is_set_ && Clock::now() >= end_; }

  // Returns the latest time at which a sleeping thread must wake: the deadline, or 1 s from the call if that is earlier.
  Clock::time_point next_wakeup() const {
    const Clock::time_point soon = Clock::now() + std::chrono::seconds(1);
    return is_set_ && end_ < soon ? end_ : soon;
  }

 private:
  bool is_set_;
  Clock::time_point end_;
};

}  // namespace lpt
