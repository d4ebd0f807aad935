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

// What all ranks send to and expect from each other: for each rank its bytes to rank 0, 1, ..., then those it expects from them.
using CountTable = std::vector<std::vector<int64_t>>;

// The table with the row of the own rank, with zeros for the others.
CountTable make_count_table(int32_t rank, int32_t ranks, const Bytes *outgoing, const Bytes *incoming);

// The phrase for the first two ranks that disagree, the same on all ranks; empty if all agree.
std::string describe_mismatch(const char *operation, const CountTable &table);

// Sends the own call and its row to all ranks over `control`, which compares the calls, and receives theirs.
Status compare_calls(Engine &control, const Signature &signature, CountTable &table);

// Whether any rank sends any byte.
bool has_bytes(const CountTable &table);

struct SplitKey {
  int32_t color, key;
};

// The ranks that gave the same color, ordered by (key, rank): place of each in its part.
std::vector<int32_t> ranks_of_part(const std::vector<SplitKey> &keys, int32_t color);
int32_t place_in_part(const std::vector<int32_t> &part, int32_t rank);

}  // namespace lpt
