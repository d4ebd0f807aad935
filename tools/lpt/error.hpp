// An error that a user can cause: a missing or damaged file, an invalid option. The text is one line.
#pragma once

#include <stdexcept>

namespace tool {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tool
