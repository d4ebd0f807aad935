// lpt verify: replays the conformance vectors, which independent programs have made, with the library.
#pragma once

#include <string>

namespace tool {

// Returns the folder where `cmake --install` installs the vectors, relative to this program.
std::string installed_vectors();

struct VerifyOptions {
  std::string folder = installed_vectors();
  std::string isa = "auto";  // or one of kIsas
};

// Prints a line for each kind of vectors and returns the number of wrong ones. Throws Error if the folder has none, or if the
// CPU lacks the instruction set.
int64_t verify(const VerifyOptions &options);

}  // namespace tool
