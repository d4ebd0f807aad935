// A progress line: a bar that redraws itself on a terminal, a plain line every few seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace lm {

class Progress {
 public:
  // Writes to stderr. `done` is where the work stands already; with `is_quiet` nothing is written.
  Progress(int64_t total, int64_t done, bool is_quiet);
  ~Progress();

  // Draws, unless it drew a moment ago. `note` stands behind the bar.
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
