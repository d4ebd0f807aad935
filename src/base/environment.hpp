// What the environment says, and the files that it names.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <string>

namespace lpt {

// A variable's value; NULL if it is not set, or empty, or the program runs with more rights than its caller has.
inline const char *variable(const char *name) {
  const char *const value = secure_getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// Whether a path leads to what is no regular file. To open a FIFO would wait for its other end; dlopen() finds by itself what is
// named without a slash, and reports what is not there.
inline bool is_no_regular_file(const std::string &path) {
  struct stat facts;
  return path.find('/') != std::string::npos && stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
}

}  // namespace lpt
