// A progress line on stderr: a bar that redraws itself on a terminal, a plain line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tool {

class Progress {
 public:
  // In bytes. With `is_quiet` nothing is written.
  Progress(uint64_t total, bool is_quiet);
  ~Progress();

  // What was done before: it counts for the bar, not for the speed.
  void skip(uint64_t bytes) { done_ += bytes, first_ += bytes; }
  // Draws, unless it drew a moment ago. `note` stands behind the bar.
  void add(uint64_t bytes, const std::string &note);

 private:
  using Clock = std::chrono::steady_clock;

  uint64_t total_;
  uint64_t done_ = 0;
  uint64_t first_ = 0;
  bool is_quiet_;
  bool is_terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = Clock::now();
};

}  // namespace tool
