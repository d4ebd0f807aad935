#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace lm {

namespace {

constexpr int64_t kBarWidth = 24;
constexpr auto kTerminalPause = std::chrono::milliseconds(100);
constexpr auto kFilePause = std::chrono::seconds(5);

}  // namespace

Progress::Progress(int64_t total, int64_t done, bool is_quiet)
    : total_(total),
      first_(done),
      is_quiet_(is_quiet),
      is_terminal_(isatty(fileno(stderr)) != 0),
      drawn_(start_ - kFilePause) {}

Progress::~Progress() {
  if (!is_quiet_ && is_terminal_) {
    std::fputs("\r\x1b[K", stderr);
  }
}

void Progress::show(int64_t done, const std::string &note) {
  const auto now = Clock::now();
  const bool is_early = now - drawn_ < (is_terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kFilePause));
  if (is_quiet_ || (is_early && done < total_)) {
    return;
  }
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double per_step = done > first_ ? seconds / static_cast<double>(done - first_) : 0.0;
  const auto left = static_cast<int64_t>(per_step * static_cast<double>(total_ - done) + 0.5);
  const std::string eta = done > first_ ? fmt::format("{}:{:02} left", left / 60, left % 60) : "      ";
  const std::string bar(static_cast<size_t>(kBarWidth * done / total_), '#');
  const std::string line = is_terminal_
                               ? fmt::format("\r\x1b[K[{:-<{}}] {}/{}  {}  {}", bar, kBarWidth, done, total_, eta, note)
                               : fmt::format("step {}/{}  {}  {}\n", done, total_, eta, note);
  std::fputs(line.c_str(), stderr);  // a failure cannot be reported
  std::fflush(stderr);
}

}  // namespace lm
