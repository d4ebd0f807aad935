// Environment variables, and the files that they name.
#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <string>

namespace lpt {

// Returns the value of a variable. NULL if it is not set or empty, or if the program has more privileges than its caller.
inline const char *variable(const char *name) {
  const char *const value = secure_getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// Returns true if a path with a slash exists and is not a regular file. Opening a FIFO blocks until its other end is opened.
// dlopen() searches for names without a slash, and reports missing files.
inline bool is_no_regular_file(const std::string &path) {
  struct stat facts;
  return path.find('/') != std::string::npos && stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
}

}  // namespace lpt
