// lpt verify: replays the conformance vectors, which independent programs have made, through the library at hand.
#pragma once

#include <string>

namespace tool {

// The folder where `cmake --install` puts the vectors, seen from this program.
std::string installed_vectors();

struct VerifyOptions {
  std::string folder = installed_vectors();
  std::string isa = "auto";  // or one of kIsas
};

// Prints a line for each kind of vectors and returns how many are wrong; throws when the folder has none, or when the
// CPU lacks the instruction set.
int64_t verify(const VerifyOptions &options);

}  // namespace tool
