// What a reduction by a wire is, written from its definition: casts of single shares by lpt_quantize() and back, sums in the
// order of ranks. Random bits are reckoned here.
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

// Philox4x32 of seven rounds: 16 bits of element `index`, domain of collectives, caller's stream, role.
uint32_t drawn_bits(const lpt_random &random, uint64_t seed, uint32_t role, uint64_t index);

// Numbers cast to the plan's wire and back; `first` is the index of the first one.
Numbers there_and_back(lpt_context *context, const Plan &plan, const Numbers &numbers, uint64_t seed, uint32_t role,
                       int64_t first);

// Where shares begin, and the end: multiples of 512 but for the last.
std::vector<int64_t> share_edges(int64_t elements, int32_t ranks);

// What comes of one share before it is cast again.
Numbers reduced_share(lpt_context *context, const Plan &plan, const std::vector<Numbers> &all, int64_t begin,
                      int64_t end);

// What every rank gets.
Numbers reduced(lpt_context *context, const Plan &plan, const std::vector<Numbers> &all);

// Bytes of `count` numbers on a wire, in shares that begin and end at the edges.
int64_t bytes_on_wire(lpt_format wire, int64_t count);

}  // namespace lpt::test
