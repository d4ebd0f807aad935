// A minimal test framework for the samples.
#pragma once

#include <fmt/format.h>

#include <string>

#include "../handles.hpp"

namespace lm {

// Counts and prints failed expectations.
class Expect {
 public:
  void that(bool holds, const std::string &what) {
    if (!holds) {
      fmt::print(stderr, "does not hold: {}\n", what);
      ++failures_;
    }
  }

  // Runs `act` and expects an Error whose text contains `part`.
  template <typename Act>
  void rejects(Act &&act, const std::string &part) {
    try {
      act();
      that(false, fmt::format("an error that says \"{}\"", part));
    } catch (const Error &error) {
      that(std::string(error.what()).find(part) != std::string::npos,
           fmt::format("\"{}\" says \"{}\"", error.what(), part));
    }
  }

  int exit_code() const { return failures_ == 0 ? 0 : 1; }

 private:
  int failures_ = 0;
};

}  // namespace lm
