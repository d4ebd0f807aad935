// Ranks that do not agree on how numbers travel.
#include "tests/comm/local.hpp"

namespace lpt::test {
namespace {

lpt_comm_options patient() {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = 100.0;
  return options;
}

lpt_status sum_by(const Rank &self, lpt_reduce_options options) {
  std::vector<float> numbers(5000, 1.0f);
  const Tensor both = wrap(self.context, numbers, 1, 5000);
  return lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr);
}

TEST(WireFaults, AnotherWireIsFound) {
  run_ranks(3, patient(), [](const Rank &self, Comm &) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.wire = self.rank == 1 ? LPT_FORMAT_INT4_1X32 : LPT_FORMAT_INT8_1X32;
    EXPECT_EQ(LPT_MISMATCH, sum_by(self, options));
    expect_words({"ranks disagree", "int8_1x32", "int4_1x32"}, lpt_context_error(self.context));
  });
}

TEST(WireFaults, NoWireIsFound) {
  run_ranks(2, patient(), [](const Rank &self, Comm &) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    if (self.rank == 1) options.wire = LPT_FORMAT_INT8_1X32;
    EXPECT_EQ(LPT_MISMATCH, sum_by(self, options));
    expect_words({"ranks disagree", "int8_1x32", "f32"}, lpt_context_error(self.context));
  });
}

TEST(WireFaults, AnotherAlgorithmIsFound) {
  run_ranks(2, patient(), [](const Rank &self, Comm &) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.wire = LPT_FORMAT_INT8_1X32;
    options.algorithm = self.rank == 1 ? LPT_REDUCE_ALGORITHM_ONE_SHOT : LPT_REDUCE_ALGORITHM_TWO_SHOT;
    EXPECT_EQ(LPT_MISMATCH, sum_by(self, options));
    expect_words({"ranks disagree", "one shot", "two shots"}, lpt_context_error(self.context));
  });
}

TEST(WireFaults, AnotherTensorScaleIsFound) {
  run_ranks(3, patient(), [](const Rank &self, Comm &) {
    const Tensor part = make_tensor(self.context, LPT_FORMAT_E4M3FN_TENSOR, 2, 8);
    const Tensor whole = make_tensor(self.context, LPT_FORMAT_E4M3FN_TENSOR, 6, 8);
    *part_data<float>(self.context, part.get(), LPT_PART_TENSOR_SCALE) = self.rank == 2 ? 0.25f : 0.5f;
    *part_data<float>(self.context, whole.get(), LPT_PART_TENSOR_SCALE) = 7.0f;
    EXPECT_EQ(LPT_MISMATCH, lpt_all_gather(self.context, self.comm, part.get(), nullptr, whole.get(), nullptr));
    expect_words({"tensor scale", "rank 0 is 0.5", "rank 2 is 0.25"}, lpt_context_error(self.context));
    EXPECT_EQ(7.0f, *part_data<float>(self.context, whole.get(), LPT_PART_TENSOR_SCALE)) << "untouched";
  });
}

// More threads than one, and many pieces for each: the same bits. One rank, so that its threads have the cores.
TEST(WireThreads, ChangeNoBit) {
  run_ranks(1, patient(), [](const Rank &self, Comm &) {
    constexpr int64_t kCount = 3000001;
    for (const char *name : {"int8_1x32", "nvfp4", "int8_row"}) {
      std::vector<float> expected;
      for (const int32_t threads : {1, 2, 2, 4}) {
        ASSERT_TRUE(self.ok(lpt_context_set_threads(self.context, threads)));
        std::vector<float> numbers = numbers_of(0, 400, kCount);
        const Tensor both = wrap(self.context, numbers, 1, kCount);
        lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
        options.wire = format_named(name);
        options.algorithm = LPT_REDUCE_ALGORITHM_TWO_SHOT;
        ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr)));
        if (threads == 1) expected = numbers;
        EXPECT_TRUE(expected == numbers) << name << " on " << threads;
      }
    }
  });
}

}  // namespace
}  // namespace lpt::test
