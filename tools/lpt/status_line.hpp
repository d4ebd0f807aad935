// A line on stderr: it redraws itself on a terminal, and is a line every few seconds elsewhere.
#pragma once

#include <string>

namespace tool {

class StatusLine {
 public:
  explicit StatusLine(bool is_quiet);
  ~StatusLine();
  StatusLine(const StatusLine &) = delete;
  StatusLine &operator=(const StatusLine &) = delete;

  void tell(double part, const std::string &note);  // unless it reported a moment ago
  void clear() const;

 private:
  bool is_quiet_, is_terminal_;
  double reported_ = 0;
};

}  // namespace tool
