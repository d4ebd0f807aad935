// A reduction with a wire format, from its definition: lpt_quantize() casts single shards, and sums are in rank order. Random
// bits are computed in this file.
#pragma once

#include <algorithm>
#include <functional>

#include "tests/comm/suite.hpp"

namespace lpt::test {

struct Plan {
  lpt_format wire = LPT_FORMAT_NONE;
  lpt_reduce_algorithm algorithm = LPT_REDUCE_ALGORITHM_TWO_SHOT;
  lpt_reduction reduction = LPT_REDUCTION_SUM;
  double factor = 1.0;
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_random random = LPT_RANDOM_INIT;
};

inline lpt_reduce_options options_of(const Plan &plan) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.wire = plan.wire;
  options.algorithm = plan.algorithm;
  options.reduction = plan.reduction;
  options.factor = plan.factor;
  options.rounding = plan.rounding;
  options.random = plan.random;
  return options;
}

using Numbers = std::vector<float>;

// Philox4x32 of seven rounds: 16 bits of element `index`, domain of collectives, stream of the caller, role.
uint32_t drawn_bits(const lpt_random &random, uint64_t seed, uint32_t role, uint64_t index);

// Casts values to the wire format and back. `first` is the index of the first value.
Numbers there_and_back(lpt_context *context, const Plan &plan, const Numbers &numbers, uint64_t seed, uint32_t role,
                       int64_t first);

// Returns where shards begin, and the end: multiples of 512 except for the last.
std::vector<int64_t> share_edges(int64_t elements, int32_t ranks);

// Returns the reduction of one shard before its second cast.
Numbers reduced_share(lpt_context *context, const Plan &plan, const std::vector<Numbers> &all, int64_t begin,
                      int64_t end);

// Returns the result of every rank.
Numbers reduced(lpt_context *context, const Plan &plan, const std::vector<Numbers> &all);

// Returns the bytes of `count` elements in a wire format, in shards that begin and end at share_edges().
int64_t bytes_on_wire(lpt_format wire, int64_t count);

}  // namespace lpt::test
