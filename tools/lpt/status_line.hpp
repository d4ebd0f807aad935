// A status line on stderr: it is redrawn on a terminal, otherwise it is printed every few seconds.
#pragma once

#include <string>

namespace tool {

class StatusLine {
 public:
  explicit StatusLine(bool is_quiet);
  ~StatusLine();
  StatusLine(const StatusLine &) = delete;
  StatusLine &operator=(const StatusLine &) = delete;

  void tell(double part, const std::string &note);  // prints at a limited rate
  void clear() const;

 private:
  bool is_quiet_, is_terminal_;
  double reported_ = 0;
};

}  // namespace tool
