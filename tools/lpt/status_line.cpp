#include "status_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "bench/peaks.hpp"
#include "text.hpp"

namespace tool {
namespace {

constexpr int kWidth = 24;
constexpr double kTerminalPause = 0.1, kFilePause = 5;

}  // namespace

StatusLine::StatusLine(bool is_quiet) : is_quiet_(is_quiet), is_terminal_(isatty(fileno(stderr)) != 0) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::tell(double part, const std::string &note) {
  if (is_quiet_) return;
  const double now = lpt::bench::now();
  if (now - reported_ < (is_terminal_ ? kTerminalPause : kFilePause)) return;
  reported_ = now;
  const auto width = static_cast<size_t>(part * kWidth);
  print_error("{}[{:-<{}}] {:3.0f} %  {}{}", is_terminal_ ? "\r\x1b[K" : "", std::string(width, '#'), kWidth,
              100 * part, note, is_terminal_ ? "" : "\n");
}

void StatusLine::clear() const {
  if (!is_quiet_ && is_terminal_) print_error("\r\x1b[K");
}

}  // namespace tool
