// Ranks with different options for the wire format.
#include "tests/comm/codecs.hpp"
#include "tests/comm/local.hpp"
#include "tests/support/sanitized.hpp"

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
    *part_data<float>(self.context, part.get(), LPT_TENSOR_PART_TENSOR_SCALE) = self.rank == 2 ? 0.25f : 0.5f;
    *part_data<float>(self.context, whole.get(), LPT_TENSOR_PART_TENSOR_SCALE) = 7.0f;
    EXPECT_EQ(LPT_MISMATCH,
              lpt_all_gather(self.context, self.comm, part.get(), nullptr, nullptr, whole.get(), nullptr));
    expect_words({"tensor scale", "rank 0 is 0.5", "rank 2 is 0.25"}, lpt_context_error(self.context));
    EXPECT_EQ(7.0f, *part_data<float>(self.context, whole.get(), LPT_TENSOR_PART_TENSOR_SCALE)) << "untouched";
  });
}

// Codecs.

class CodecFaults : public testing::TestWithParam<uint64_t> {
 protected:
  static lpt_comm_options way() {
    lpt_comm_options options = patient();
    options.flags = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Way, CodecFaults, testing::Values(0, LPT_COMM_MESSAGES));

lpt_status sum_by(const Rank &self, const lpt_comm_codec &codec, std::vector<float> &numbers) {
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.codec = &codec;
  const auto count = static_cast<int64_t>(numbers.size());
  const Tensor both = wrap(self.context, numbers, 1, count);
  return lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr);
}

TEST_P(CodecFaults, AnotherNameIsFound) {
  run_ranks(3, way(), [](const Rank &self, Comm &) {
    CodecCalls calls;
    lpt_comm_codec codec = cut_codec(calls);
    if (self.rank == 1) std::strcpy(codec.name, "float11");
    std::vector<float> numbers(5000, 1.0f);
    EXPECT_EQ(LPT_MISMATCH, sum_by(self, codec, numbers));
    expect_words({"ranks disagree", "float12", "float11"}, lpt_context_error(self.context));
  });
}

TEST_P(CodecFaults, AnotherSizeIsFound) {
  run_ranks(3, way(), [](const Rank &self, Comm &) {
    CodecCalls calls;
    lpt_comm_codec codec = cut_codec(calls);
    if (self.rank == 1) codec.bytes_for = [](void *, int64_t count) { return count * 3; };
    std::vector<float> numbers(5000, 1.0f);
    EXPECT_EQ(LPT_MISMATCH, sum_by(self, codec, numbers));
    expect_words({"ranks disagree", "bytes"}, lpt_context_error(self.context));
  });
}

// The encode call of rank 1 that fails: the first one, or that of its reduced shard.
TEST_P(CodecFaults, WhatOneRankCannotEncodeEndsIt) {
  for (const int32_t failing : {1, 4}) {
    run_ranks(3, way(), [&](const Rank &self, Comm &) {
      CodecCalls calls;
      if (self.rank == 1) calls.failing_encode = failing;
      std::vector<float> numbers(5000, 1.0f);
      EXPECT_EQ(LPT_ABORTED, sum_by(self, cut_codec(calls), numbers));
      expect_words({"rank 1"}, std::string("rank ") + (self.rank == 1 ? "1" : lpt_context_error(self.context)));
      if (self.rank == 1) expect_words({"codec float12", "encode gives 7"}, lpt_context_error(self.context));
      EXPECT_EQ(LPT_ABORTED, lpt_barrier(self.context, self.comm)) << "the comm stays broken";
    });
  }
}

TEST_P(CodecFaults, WhatOneRankCannotDecodeEndsItAndStaysUnwritten) {
  for (const int32_t failing : {1, 2, 4}) {
    run_ranks(3, way(), [&](const Rank &self, Comm &) {
      CodecCalls calls;
      if (self.rank == 1) calls.failing_decode = failing;
      std::vector<float> numbers(5000, 1.0f);
      const lpt_status status = sum_by(self, cut_codec(calls), numbers);
      // Messages: a rank that has received all of its data does not wait for the other ranks.
      const bool is_found_by_all = failing == 1 || GetParam() == 0;
      EXPECT_TRUE(status == LPT_ABORTED || (status == LPT_OK && self.rank != 1 && !is_found_by_all)) << failing;
      if (status == LPT_OK) return;
      EXPECT_EQ(std::vector<float>(5000, 1.0f), numbers) << failing;
      if (self.rank == 1) expect_words({"codec float12", "decode gives 7"}, lpt_context_error(self.context));
    });
  }
}

// A rank reads the memory of the others for longer than their timeout. They wait, because it would read freed memory.
TEST(SlowRanks, NoRankLeavesMemoryThatASlowRankReads) {
  lpt_comm_options options = patient();
  options.timeout_seconds = 0.2;
  run_ranks(3, options, [](const Rank &self, Comm &) {
    CodecCalls calls;
    lpt_comm_codec codec = cut_codec(calls);
    if (self.rank == 1) {
      codec.decode_add = [](void *user, const void *bytes, int64_t count, float *sum) {
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        return cut_decode_add(user, bytes, count, sum);
      };
    }
    std::vector<float> numbers(5000, 1.0f);
    lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
    reduce.codec = &codec;
    std::vector<float> part(static_cast<size_t>(self.rank == 1 ? 3000 : 1000));
    const std::vector<int64_t> counts = {1000, 3000, 1000};
    const Tensor from = wrap(self.context, numbers, 5000, 1);
    const Tensor to = wrap(self.context, part, static_cast<int64_t>(part.size()), 1);
    EXPECT_TRUE(
        self.ok(lpt_reduce_scatter(self.context, self.comm, from.get(), counts.data(), &reduce, to.get(), nullptr)));
    EXPECT_EQ(std::vector<float>(part.size(), 3.0f), part);
  });
}

// Different random bits change the errors, but all ranks decode the same bytes.
TEST(WireFaults, OtherRandomBitsLeaveRanksTheSame) {
  for (const lpt_reduce_algorithm algorithm : {LPT_REDUCE_ALGORITHM_ONE_SHOT, LPT_REDUCE_ALGORITHM_TWO_SHOT}) {
    std::vector<std::vector<float>> found(3);
    run_ranks(3, patient(), [&](const Rank &self, Comm &) {
      std::vector<float> numbers = numbers_of(self.rank, 401, 5000);
      const Tensor both = wrap(self.context, numbers, 1, 5000);
      lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
      options.wire = LPT_FORMAT_INT4_1X32;
      options.algorithm = algorithm;
      options.rounding = LPT_ROUNDING_STOCHASTIC;
      options.random.seed = 7 + static_cast<uint64_t>(self.rank);
      options.random.step = static_cast<uint32_t>(self.rank);
      EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr)));
      found[static_cast<size_t>(self.rank)] = numbers;
    });
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(found[0], found[2]);
  }
}

// Several threads with many chunks each give the same bits. One rank, so that its threads have the cores.
TEST(WireThreads, ChangeNoBit) {
  run_ranks(1, patient(), [](const Rank &self, Comm &) {
    const int64_t kCount = kIsSanitized ? 600001 : 3000001;
    for (const char *name : {"int8_1x32", "nvfp4", "int8_row", "e4m3fn_tensor"}) {
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
