// lpt verify: replays the conformance vectors, which independent programs have made, through the library at hand.
#pragma once

#include <string>

namespace tool {

// The folder where `cmake --install` puts the vectors, seen from this program.
std::string installed_vectors();

// Prints a line per file and returns how many checks failed; throws when the folder has no vectors.
int verify(const std::string &folder);

}  // namespace tool
