// Fails every allocation of every part of the interface once (with a sanitizer every fourth), alone and together with all later
// allocations.
// The call returns LPT_OUT_OF_MEMORY, leaks nothing, and the context runs the next call. State that must be unchanged is
// compared.
#include "tests/api/allocation_walk.hpp"

#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

class AllocationWalk : public testing::TestWithParam<Walk> {};

// Runs the walk with allocation `number` failing. Returns whether an allocation failed.
bool fails_well(const Walk &walk, int64_t number, bool is_lasting) {
  bool has_failed = false;
  AllocationCounter counter;
  {
    WalkWorld world(counter);
    failing_memory() = {number, is_lasting};
    const lpt_status status = walk.run(world);
    has_failed = std::exchange(failing_memory(), FailingMemory()).has_failed;
    EXPECT_TRUE(status == LPT_OK || (has_failed && status == LPT_OUT_OF_MEMORY))
        << lpt_status_string(status) << ": " << lpt_context_error(world.c);
    const Tensor result = make_tensor(world.c, LPT_FORMAT_F32, kSide, kSide);
    EXPECT_TRUE(ok(world.c, lpt_gemm(world.c, world.x.get(), world.y.get(), nullptr, result.get()))) << "afterwards";
  }
  EXPECT_EQ(0, counter.live) << "blocks of the allocator";
  return has_failed;
}

TEST_P(AllocationWalk, SurvivesTheFailureOfEveryAllocation) {
  const Walk &walk = GetParam();
  constexpr int64_t kNone = int64_t{1} << 40;
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(fails_well(walk, kNone, false));  // creates allocations of process lifetime
  for (const bool is_lasting : {false, true}) {
    bool has_failed = walk.has_lasting || !is_lasting;
    const int64_t step = kIsSanitized ? 4 : 1;
    for (int64_t number = kIsSanitized && is_lasting ? 2 : 0; has_failed; number += step) {
      SCOPED_TRACE(std::string(is_lasting ? "all from allocation " : "allocation ") + std::to_string(number));
      const int64_t before = live_blocks();
      has_failed = fails_well(walk, number, is_lasting);
      EXPECT_EQ(before, live_blocks()) << "blocks of operator new";
      if (HasFailure()) return;
      ASSERT_LT(number, 100000);
    }
  }
}

std::string name_of_walk(const testing::TestParamInfo<Walk> &walk) { return walk.param.name; }

INSTANTIATE_TEST_SUITE_P(OfTensors, AllocationWalk, testing::ValuesIn(kTensorWalks), name_of_walk);
INSTANTIATE_TEST_SUITE_P(OfTraining, AllocationWalk, testing::ValuesIn(kTrainingWalks), name_of_walk);
INSTANTIATE_TEST_SUITE_P(OfRanks, AllocationWalk, testing::ValuesIn(kRankWalks), name_of_walk);

}  // namespace
}  // namespace lpt::test
