// Errors of a GEMM with partly shared columns if another rank does not continue.
#include "tests/comm/local.hpp"
#include "tests/comm/partial.hpp"

namespace lpt::test {
namespace {

TEST(PartialFaults, ARankThatLeavesEndsTheGemm) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 100.0;
  run_ranks(3, options, [](const Rank &self, Comm &comm) {
    ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
    if (self.rank == 1) return comm.reset();
    const PartialPlan plan = make_plan(self, 256, 128);
    const Tensor a = make_tensor(self.context, LPT_FORMAT_F32, 4, 32);
    const Tensor b = make_tensor(self.context, LPT_FORMAT_F32, 32, 256);
    const Tensor c = make_tensor(self.context, LPT_FORMAT_F32, 4, 256);
    EXPECT_EQ(LPT_ABORTED, lpt_partial_gemm(self.context, self.comm, plan.get(), a.get(), b.get(), nullptr, c.get()));
    expect_words({"partial_all_reduce", "rank 1", "left"}, lpt_context_error(self.context));
  });
}

// Progress is not reported, because it could stop one rank alone.
TEST(PartialFaults, NoRankStopsAlone) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 100.0;
  run_ranks(2, options, [](const Rank &self, Comm &) {
    const auto stop = [](void *, int64_t, int64_t) -> int32_t { return 1; };
    const PartialPlan plan = make_plan(self, 256, 128);
    const Tensor a = make_tensor(self.context, LPT_FORMAT_F32, 4, 32);
    const Tensor b = make_tensor(self.context, LPT_FORMAT_F32, 32, 256);
    const Tensor c = make_tensor(self.context, LPT_FORMAT_F32, 4, 256);
    ASSERT_TRUE(self.ok(lpt_context_set_progress(self.context, stop, nullptr)));
    EXPECT_TRUE(self.ok(lpt_partial_gemm(self.context, self.comm, plan.get(), a.get(), b.get(), nullptr, c.get())));
    EXPECT_EQ(LPT_CANCELLED, lpt_gemm(self.context, a.get(), b.get(), nullptr, c.get())) << "it is reported again";
  });
}

}  // namespace
}  // namespace lpt::test
