// Properties of a partial plan, and the options that it rejects.
#include <cmath>

#include "tests/comm/partial.hpp"

namespace lpt::test {
namespace {

int64_t shared(int64_t hidden, double fraction) {
  int64_t columns = -1;
  EXPECT_EQ(LPT_OK, lpt_partial_shared_columns(nullptr, hidden, fraction, &columns)) << hidden << ", " << fraction;
  return columns;
}

TEST(PartialPlan, SharesAFractionRoundedDown) {
  EXPECT_EQ(384, shared(768, 0.5));
  EXPECT_EQ(1024, shared(4096, 0.25));
  EXPECT_EQ(2, shared(10, 0.25));
  EXPECT_EQ(0, shared(10, 0.0));
  EXPECT_EQ(10, shared(10, 1.0));
  EXPECT_EQ(0, shared(1, 0.999999));
  EXPECT_EQ(1, shared(10, 0.1));
  EXPECT_EQ(29, shared(100, 0.29)) << "a product in doubles is 28.999…";
  EXPECT_EQ(1, shared(3, 1.0 / 3));
  EXPECT_EQ(0, shared(3, std::nextafter(1.0 / 3, 0.0)));
  EXPECT_EQ((1 << 28) - 1, shared(1 << 28, std::nextafter(1.0, 0.0)));
}

// Every fraction k / n with small n and every two-digit decimal gives the exact number of columns.
TEST(PartialPlan, TakesDecimalsAsTheyAreWritten) {
  for (int64_t hidden = 1; hidden <= 300; ++hidden) {
    for (int64_t k = 0; k <= hidden; ++k) {
      ASSERT_EQ(k, shared(hidden, static_cast<double>(k) / static_cast<double>(hidden)));
    }
    for (int64_t hundredths = 0; hundredths <= 100; ++hundredths) {
      ASSERT_EQ(hidden * hundredths / 100, shared(hidden, static_cast<double>(hundredths) / 100.0))
          << hidden << ", " << hundredths;
    }
  }
}

TEST(PartialPlan, RejectsFractionsThatAreNone) {
  int64_t columns = -1;
  for (const double fraction : {-0.01, 1.01, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_shared_columns(nullptr, 10, fraction, &columns)) << fraction;
  }
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_shared_columns(nullptr, 0, 0.5, &columns));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_shared_columns(nullptr, -3, 0.5, &columns));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_shared_columns(nullptr, (1 << 28) + 1, 0.5, &columns));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_shared_columns(nullptr, 10, 0.5, nullptr));
  EXPECT_EQ(-1, columns);
}

class PartialPlanOptions : public testing::Test {
 protected:
  const Context context = make_context();
  const Rank self{context.get(), nullptr, 0, 8};

  void reject(const lpt_partial_plan_options &options, lpt_status status, const std::vector<const char *> &words) {
    lpt_partial_plan *plan = nullptr;
    EXPECT_EQ(status, lpt_partial_plan_create(context.get(), &options, &plan));
    EXPECT_EQ(nullptr, plan);
    expect_words(words, lpt_context_error(context.get()));
  }
};

TEST_F(PartialPlanOptions, AreReportedAgain) {
  lpt_partial_plan_options options = options_of(self, 4096, 1024);
  options.backward_wire = LPT_FORMAT_F32;
  const PartialPlan plan = make_plan(self, options);
  lpt_partial_plan_info values = LPT_PARTIAL_PLAN_INFO_INIT;
  ASSERT_TRUE(self.ok(lpt_partial_plan_read(context.get(), plan.get(), LPT_FORMAT_BF16, &values)));
  EXPECT_EQ(4096, values.hidden_columns);
  EXPECT_EQ(1024, values.shared_columns);
  EXPECT_EQ(8, values.rank_count);
  EXPECT_EQ(std::sqrt(8.0), values.private_scale);
  // 7B: 32768 tokens, 117.4 MB for each rank.
  EXPECT_EQ(117440512.0, 32768 * values.forward_row_bytes);
  EXPECT_EQ(2 * values.forward_row_bytes, values.backward_row_bytes);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_plan_read(context.get(), plan.get(), LPT_FORMAT_NONE, &values));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_plan_read(context.get(), plan.get(), LPT_FORMAT_BF16, nullptr));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_plan_read(context.get(), nullptr, LPT_FORMAT_BF16, &values));
}

TEST_F(PartialPlanOptions, AreRejectedWithASplitSequence) {
  lpt_partial_plan_options options = options_of(self, 4096, 2048);
  options.flags = LPT_PARTIAL_SEQUENCE_PARALLEL;
  reject(options, LPT_UNSUPPORTED, {"SEQUENCE_PARALLEL", "2048 of 4096"});
  options.shared_columns = 4096;
  EXPECT_NE(nullptr, make_plan(self, options)) << "nothing is private";
}

TEST_F(PartialPlanOptions, AreRejectedOutOfTheirRanges) {
  const auto with = [&](auto member, auto value) {
    lpt_partial_plan_options options = options_of(self, 64, 32);
    options.*member = value;
    return options;
  };
  reject(with(&lpt_partial_plan_options::hidden_columns, 0), LPT_INVALID_ARGUMENT, {"hidden_columns is 0"});
  reject(with(&lpt_partial_plan_options::shared_columns, 65), LPT_INVALID_ARGUMENT,
         {"shared_columns is 65", "0 to 64"});
  reject(with(&lpt_partial_plan_options::shared_columns, -1), LPT_INVALID_ARGUMENT, {"shared_columns is -1"});
  reject(with(&lpt_partial_plan_options::rank_count, 0), LPT_INVALID_ARGUMENT, {"rank_count is 0"});
  reject(with(&lpt_partial_plan_options::rank_count, 1025), LPT_INVALID_ARGUMENT, {"rank_count is 1025"});
  reject(with(&lpt_partial_plan_options::chunk_rows, -1), LPT_INVALID_ARGUMENT, {"chunk_rows is -1"});
  reject(with(&lpt_partial_plan_options::link_latency_seconds, -1.0), LPT_INVALID_ARGUMENT,
         {"link_latency_seconds is -1"});
  reject(with(&lpt_partial_plan_options::link_bytes_per_second, -1.0), LPT_INVALID_ARGUMENT,
         {"link_bytes_per_second is -1"});
  reject(with(&lpt_partial_plan_options::private_scale, 3), LPT_INVALID_ARGUMENT, {"private_scale is 3"});
  reject(with(&lpt_partial_plan_options::custom_scale, 2.0), LPT_INVALID_ARGUMENT, {"custom_scale is 2", "CUSTOM"});
  reject(with(&lpt_partial_plan_options::forward_wire, 123456789), LPT_INVALID_ARGUMENT, {"forward_wire is 123456789"});
  reject(with(&lpt_partial_plan_options::flags, uint64_t{1} << 40), LPT_UNSUPPORTED, {"flags"});
  lpt_partial_plan_options options = with(&lpt_partial_plan_options::private_scale, LPT_PARTIAL_SCALE_CUSTOM);
  for (const double scale : {0.0, std::nan(""), HUGE_VAL}) {
    options.custom_scale = scale;
    reject(options, LPT_INVALID_ARGUMENT, {"custom_scale is"});
  }
  lpt_partial_plan *plan = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_plan_create(context.get(), nullptr, &plan));
  options = options_of(self, 64, 32);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_partial_plan_create(context.get(), &options, nullptr));
  lpt_partial_plan_destroy(nullptr);
}

}  // namespace
}  // namespace lpt::test
