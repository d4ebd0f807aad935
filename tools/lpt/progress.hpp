// A progress line on stderr: a bar that is redrawn on a terminal, otherwise a line every few seconds.
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

  // Adds work of an earlier run: it counts for the bar, not for the speed.
  void skip(uint64_t bytes) { done_ += bytes, first_ += bytes; }
  // Draws the bar at a limited rate. `note` is printed after the bar.
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
