// What ranks must agree on, and who belongs to which part of a split.
#pragma once

#include <string>
#include <vector>

#include "src/comm/engine.hpp"

namespace lpt {

// The phrase for two signatures that differ, from the view of `rank`; empty if they agree.
std::string describe_mismatch(int32_t rank, const Signature &mine, int32_t peer, const Signature &theirs);

// The same for the bytes that `peer` sends to `rank`, which expects others.
std::string describe_mismatch(int32_t rank, const char *operation, int64_t expected, int32_t peer, int64_t sent);

struct SplitKey {
  int32_t color, key;
};

// The ranks that gave the same color, ordered by (key, rank): place of each in its part.
std::vector<int32_t> ranks_of_part(const std::vector<SplitKey> &keys, int32_t color);
int32_t place_in_part(const std::vector<int32_t> &part, int32_t rank);

}  // namespace lpt
