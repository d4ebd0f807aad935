// Results of calls of a vendor's library: 0 is success.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "lpt.h"

namespace lpt {

// Records the first failure of several calls, with the name of the call.
class Calls {
 public:
  using StatusName = const char *(*)(int32_t status);
  explicit Calls(StatusName status_name) : status_name_(status_name) {}

  void add(const char *name, int32_t status) {
    if (status_ != 0 || status == 0) return;
    status_ = status;
    name_ = name;
  }
  bool are_good() const { return status_ == 0; }
  int32_t status() const { return status_; }
  std::string words() const { return std::string(name_) + ": " + status_name_(status_); }

 private:
  const StatusName status_name_;
  int32_t status_ = 0;
  const char *name_ = "";
};

inline int32_t tell(lpt_status status, const std::string &words, char *error, size_t error_bytes) {
  std::snprintf(error, error_bytes, "%s", words.c_str());
  return status;
}

}  // namespace lpt
