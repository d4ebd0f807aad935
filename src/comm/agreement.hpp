// Comparison of the calls of all ranks, and the subgroups of a split.
#pragma once

#include <string>
#include <vector>

#include "src/comm/engine.hpp"

namespace lpt {

// Returns the error text for two signatures that differ, from the view of `rank`; empty if they agree.
std::string describe_mismatch(int32_t rank, const Signature &mine, int32_t peer, const Signature &theirs);

// Returns the error text if `peer` sends `sent` bytes to `rank`, which expects `expected` bytes; empty if the counts agree.
std::string describe_mismatch(int32_t rank, const char *operation, int64_t expected, int32_t peer, int64_t sent);

// Byte counts between all ranks. Row r: the bytes that rank r sends to ranks 0, 1, ..., then those that it expects from them.
using CountTable = std::vector<std::vector<int64_t>>;

// Returns the table with the row of `rank`, where its own entries are 0; the other rows are 0.
CountTable make_count_table(int32_t rank, int32_t ranks, const Bytes *outgoing, const Bytes *incoming);

// Returns the error text for the first two ranks that disagree, the same on all ranks; empty if all agree.
std::string describe_mismatch(const char *operation, const CountTable &table);

// Exchanges signatures and rows with all ranks over `control` and fills the table. Returns LPT_MISMATCH if ranks disagree.
Status compare_calls(Engine &control, const Signature &signature, CountTable &table);

// Returns true if at least one rank sends at least one byte.
bool has_bytes(const CountTable &table);

struct SplitKey {
  int32_t color, key;
};

// subgroup_ranks() returns the ranks of one color, ordered by (key, rank). rank_in_subgroup() returns the index of `rank` in it.
std::vector<int32_t> subgroup_ranks(const std::vector<SplitKey> &keys, int32_t color);
int32_t rank_in_subgroup(const std::vector<int32_t> &part, int32_t rank);

}  // namespace lpt
