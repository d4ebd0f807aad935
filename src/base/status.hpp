// A status with its text. Exceptions do not cross layers; LPT_TRY returns an error to the caller.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include "lpt.h"

namespace lpt {

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(lpt_status code, std::string message) : code_(code), message_(std::move(message)) {}

  bool is_ok() const { return code_ == LPT_OK; }
  lpt_status code() const { return code_; }
  const std::string &message() const { return message_; }

 private:
  lpt_status code_ = LPT_OK;
  std::string message_;
};

// Formats like printf, for messages only.
template <typename... Arguments>
std::string text(const char *format, Arguments... arguments) {
  const int length = std::snprintf(nullptr, 0, format, arguments...);
  if (length <= 0) return {};
  std::string result(static_cast<size_t>(length), '\0');
  std::snprintf(result.data(), result.size() + 1, format, arguments...);
  return result;
}
inline std::string text(const char *plain) { return plain; }

template <typename... Arguments>
Status invalid(const char *format, Arguments... arguments) {
  return Status(LPT_INVALID_ARGUMENT, text(format, arguments...));
}

template <typename... Arguments>
Status unsupported(const char *format, Arguments... arguments) {
  return Status(LPT_UNSUPPORTED, text(format, arguments...));
}

}  // namespace lpt

#define LPT_TRY(expression)                             \
  do {                                                  \
    ::lpt::Status lpt_try_status = (expression);        \
    if (!lpt_try_status.is_ok()) return lpt_try_status; \
  } while (0)
