// A progress line: a bar that is redrawn on a terminal, otherwise a line every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lm {

class Progress {
 public:
  // Writes to stderr. `done` is the initial progress. With `is_quiet` nothing is written.
  Progress(int64_t total, int64_t done, bool is_quiet);
  ~Progress();

  // Draws the bar at a limited rate. `note` is printed after the bar.
  void show(int64_t done, const std::string &note);

 private:
  using Clock = std::chrono::steady_clock;

  int64_t total_;
  int64_t first_;
  bool is_quiet_;
  bool is_terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_;
};

}  // namespace lm
