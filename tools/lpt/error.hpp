// What a user can cause: a missing file, a damaged file, a bad option. The text is one line.
#pragma once

#include <stdexcept>

namespace tool {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tool
