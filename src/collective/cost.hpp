// Cost model of collectives on links with a latency and a bandwidth. It transfers nothing.
#pragma once

#include "lpt/research/cost.h"
#include "src/call/context.hpp"

namespace lpt {

Status collective_cost(lpt_cost_collective collective, lpt_cost_algorithm algorithm, int32_t ranks, int64_t elements,
                       lpt_format payload, const lpt_cost_link &link, lpt_cost_info &out_info);

struct BreakEven {
  lpt_cost_collective collective;
  lpt_cost_algorithm algorithm;
  int32_t ranks;
  lpt_format plain, payload;
};
Status break_even(const BreakEven &question, const lpt_cost_cast_rates &rates, const lpt_cost_link &link,
                  int64_t &out_elements);

Status fit_link(const double *bytes, const double *seconds, int64_t count, lpt_cost_link &out_link);

}  // namespace lpt
