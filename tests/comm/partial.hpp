// Partial plans, and helpers for their calls.
#pragma once

#include "tests/comm/suite.hpp"

namespace lpt::test {

struct DestroyPartialPlan {
  void operator()(lpt_partial_plan *plan) const { lpt_partial_plan_destroy(plan); }
};
using PartialPlan = std::unique_ptr<lpt_partial_plan, DestroyPartialPlan>;

inline lpt_partial_plan_options options_of(const Rank &self, int64_t hidden, int64_t shared) {
  lpt_partial_plan_options options = LPT_PARTIAL_PLAN_OPTIONS_INIT;
  options.hidden_columns = hidden;
  options.shared_columns = shared;
  options.rank_count = self.ranks;
  return options;
}

inline PartialPlan make_plan(const Rank &self, const lpt_partial_plan_options &options) {
  lpt_partial_plan *plan = nullptr;
  EXPECT_TRUE(self.ok(lpt_partial_plan_create(self.context, &options, &plan)));
  return PartialPlan(plan);
}

inline PartialPlan make_plan(const Rank &self, int64_t hidden, int64_t shared) {
  return make_plan(self, options_of(self, hidden, shared));
}

inline lpt_status partial(const Rank &self, const PartialPlan &plan, lpt_partial_pass pass, const Tensor &input,
                          const Tensor &output) {
  return lpt_partial_all_reduce(self.context, self.comm, plan.get(), pass, input.get(), output.get(), nullptr);
}

inline bool is_same(const Rank &self, const Tensor &tensor) {
  int32_t is_same = -1;
  EXPECT_TRUE(self.ok(lpt_comm_compare(self.context, self.comm, tensor.get(), &is_same)));
  EXPECT_TRUE(is_same == 0 || is_same == 1);
  return is_same == 1;
}

}  // namespace lpt::test
