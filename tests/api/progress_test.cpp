// Reports of long casts: who gets them, what they say, and how they end a call.
#include <thread>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows = 2000;
constexpr int64_t kColumns = 3000;

// All reports of a call; asks to stop at the one numbered `stop_at`.
struct Reports {
  std::vector<int64_t> done;
  std::vector<int64_t> whole;
  bool is_elsewhere = false;
  size_t stop_at = SIZE_MAX;
  std::thread::id caller = std::this_thread::get_id();

  static int32_t note(void *user, int64_t done, int64_t whole) {
    auto &self = *static_cast<Reports *>(user);
    self.is_elsewhere = self.is_elsewhere || std::this_thread::get_id() != self.caller;
    self.done.push_back(done);
    self.whole.push_back(whole);
    return self.done.size() > self.stop_at ? 1 : 0;
  }
};

const std::vector<float> &numbers() {
  static const std::vector<float> drawn = [] {
    Random random(91);
    return draw(random, Values::kNormal, kRows * kColumns);
  }();
  return drawn;
}

// The ways that a cast may run: as lines, in tiles, and there and back.
struct Way {
  const char *name;
  lpt_format format;
  bool has_transposed, has_rotation, goes_back;
  int64_t rows = kRows, columns = kColumns;
};

constexpr Way kWays[] = {
    {"lines", LPT_FORMAT_E4M3FN_ROW, false, false, false},
    {"lines of blocks", LPT_FORMAT_E5M2_128X128, false, false, false},
    {"tensor scale", LPT_FORMAT_E4M3FN_TENSOR, false, false, false},
    {"one row", LPT_FORMAT_MXFP8_E4M3, false, false, false, 1, kRows *kColumns},
    {"one ternary row", LPT_FORMAT_TERNARY_TENSOR, false, false, false, 1, kRows *kColumns},
    {"one row of 6 bits", LPT_FORMAT_MXFP6_E2M3, false, false, false, 1, kRows *kColumns},
    {"both outputs", LPT_FORMAT_MXFP8_E4M3, true, false, false},
    {"rotated", LPT_FORMAT_MXFP4, false, true, false},
    {"there and back", LPT_FORMAT_NVFP4, false, false, true},
};

struct Outputs {
  Outputs(lpt_context *context, const Way &way) {
    const lpt_format format = way.goes_back ? lpt_format{LPT_FORMAT_F32} : way.format;
    first = make_tensor(context, format, way.rows, way.columns);
    if (way.has_transposed) second = make_tensor(context, format, way.columns, way.rows);
  }
  std::vector<uint8_t> bytes(lpt_context *context) const {
    std::vector<uint8_t> result = bytes_of(context, first.get());
    if (second == nullptr) return result;
    const std::vector<uint8_t> more = bytes_of(context, second.get());
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }
  Tensor first, second;
};

lpt_status run(lpt_context *context, const Way &way, const Outputs &outputs) {
  const Tensor source = wrap(context, numbers(), way.rows, way.columns);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = LPT_ROUNDING_STOCHASTIC;  // a part that drew the bits of another would show
  if (way.has_rotation) options.hadamard_size = 32;
  if (way.goes_back) return lpt_fake_quantize(context, source.get(), way.format, &options, outputs.first.get());
  return lpt_quantize(context, source.get(), &options, outputs.first.get(), outputs.second.get());
}

TEST(Progress, GrowsToTheWholeOnTheCallingThread) {
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    for (const Way &way : kWays) {
      const std::string where = std::string(way.name) + ", " + std::to_string(threads) + " threads";
      const Outputs silent(context.get(), way);
      ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), nullptr, nullptr)));
      ASSERT_TRUE(ok(context.get(), run(context.get(), way, silent))) << where;

      Reports reports;
      const Outputs outputs(context.get(), way);
      ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), Reports::note, &reports)));
      ASSERT_TRUE(ok(context.get(), run(context.get(), way, outputs))) << where;
      EXPECT_TRUE(silent.bytes(context.get()) == outputs.bytes(context.get())) << where << ": the results differ";

      ASSERT_GE(reports.done.size(), 2u) << where << ": six million numbers in one step";
      EXPECT_LE(reports.done.size(), 110u) << where;
      EXPECT_FALSE(reports.is_elsewhere) << where;
      for (size_t i = 0; i < reports.done.size(); ++i) {
        EXPECT_EQ(reports.whole[i], kRows * kColumns) << where;
        EXPECT_GT(reports.done[i], i == 0 ? 0 : reports.done[i - 1]) << where << ", report " << i;
      }
      EXPECT_EQ(reports.done.back(), kRows * kColumns) << where;
    }
  }
}

TEST(Progress, EndsACallThatIsAskedToStop) {
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    for (const Way &way : kWays) {
      const std::string where = std::string(way.name) + ", " + std::to_string(threads) + " threads";
      const Outputs expected(context.get(), way);
      ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), nullptr, nullptr)));
      ASSERT_TRUE(ok(context.get(), run(context.get(), way, expected))) << where;

      Reports reports;
      reports.stop_at = 1;  // the second one
      ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), Reports::note, &reports)));
      const Outputs outputs(context.get(), way);
      EXPECT_EQ(LPT_CANCELLED, run(context.get(), way, outputs)) << where;
      EXPECT_EQ(reports.done.size(), 2u) << where << ": reports went on";
      const std::string text = lpt_context_error(context.get());
      EXPECT_NE(std::string::npos, text.find("cancelled after " + std::to_string(reports.done.back()))) << text;

      // The next call does all of its work.
      reports = Reports();
      ASSERT_TRUE(ok(context.get(), run(context.get(), way, outputs))) << where;
      EXPECT_TRUE(expected.bytes(context.get()) == outputs.bytes(context.get())) << where << ": the results differ";
      EXPECT_EQ(reports.done.back(), kRows * kColumns) << where;
    }
  }
}

TEST(Progress, ReportsAShortCastOnceAndAnEmptyOneNever) {
  const Context context = make_context(2);
  Reports reports;
  ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), Reports::note, &reports)));
  const Tensor source = wrap(context.get(), numbers(), 4, 32);
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 4, 32);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, target.get(), nullptr)));
  EXPECT_EQ(reports.done, std::vector<int64_t>{128});
  EXPECT_EQ(reports.whole, std::vector<int64_t>{128});
  reports = Reports();
  const Tensor none = wrap(context.get(), numbers(), 0, 32);
  const Tensor empty = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 0, 32);
  EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), none.get(), nullptr, empty.get(), nullptr)));
  EXPECT_TRUE(reports.done.empty());
}

TEST(Progress, IsNotReportedByAnotherContextNorAfterItIsTakenBack) {
  const Context context = make_context();
  const Context other = make_context();
  Reports reports;
  ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), Reports::note, &reports)));
  const Outputs outputs(other.get(), kWays[0]);
  EXPECT_TRUE(ok(other.get(), run(other.get(), kWays[0], outputs)));
  ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), nullptr, &reports)));
  EXPECT_TRUE(ok(context.get(), run(context.get(), kWays[0], outputs)));
  EXPECT_TRUE(reports.done.empty());
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_context_set_progress(nullptr, Reports::note, &reports));
}

}  // namespace
}  // namespace lpt::test
