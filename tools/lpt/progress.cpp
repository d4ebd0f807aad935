#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "text.hpp"

namespace tool {

namespace {

constexpr uint64_t kBarWidth = 24;
constexpr auto kTerminalPause = std::chrono::milliseconds(100);
constexpr auto kFilePause = std::chrono::seconds(5);

}  // namespace

Progress::Progress(uint64_t total, bool is_quiet)
    : total_(std::max<uint64_t>(total, 1)), is_quiet_(is_quiet), is_terminal_(isatty(fileno(stderr)) != 0) {}

Progress::~Progress() {
  if (!is_quiet_ && is_terminal_) print_error("\r\x1b[K");
}

void Progress::add(uint64_t bytes, const std::string &note) {
  done_ = std::min(done_ + bytes, total_);
  const auto now = Clock::now();
  if (is_quiet_ || now - drawn_ < (is_terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kFilePause))) {
    return;
  }
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double speed = static_cast<double>(done_ - first_) / seconds;
  const auto left = static_cast<int64_t>(static_cast<double>(total_ - done_) / std::max(speed, 1.0) + 0.5);
  const std::string bar(kBarWidth * done_ / total_, '#');
  const std::string rest = fmt::format("{} of {}  {}/s  {}:{:02} left  {}", size_text(done_), size_text(total_),
                                       size_text(static_cast<uint64_t>(speed)), left / 60, left % 60, note);
  if (is_terminal_) {
    print_error("\r\x1b[K[{:-<{}}] {}", bar, kBarWidth, rest);
  } else {
    print_error("{}\n", rest);
  }
}

}  // namespace tool
