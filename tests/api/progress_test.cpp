// Progress reports of long casts and GEMMs: their thread, their values, and cancellation.
#include <functional>
#include <thread>

#include "tests/api/support.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

const int64_t kCastRows = kIsSanitized ? 1650 : 2000;
const int64_t kCastColumns = kIsSanitized ? 2700 : 3000;

// Records all reports of a call. Cancels the call at report number `stop_at`.
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
    return draw(random, Values::kNormal, kCastRows * kCastColumns);
  }();
  return drawn;
}

// Result of a call.
struct Result {
  Result(lpt_context *context, lpt_status code, const Tensor &output)
      : status(code), error(lpt_context_error(context)), bytes(bytes_of(context, output.get())) {}
  lpt_status status;
  std::string error;
  std::vector<uint8_t> bytes;
};

// A long call with `whole` elements that computes its result in each run.
struct Work {
  std::string name;
  int64_t whole;
  std::function<Result(lpt_context *)> run;
};

// Call paths of a cast: by lines, by tiles, and with a decode.
struct Way {
  const char *name;
  lpt_format format;
  bool has_transposed, has_rotation, goes_back;
  int64_t rows = kCastRows, columns = kCastColumns;
};

const Way kWays[] = {
    {"lines", LPT_FORMAT_E4M3FN_ROW, false, false, false},
    {"lines of blocks", LPT_FORMAT_E5M2_128X128, false, false, false},
    {"tensor scale", LPT_FORMAT_E4M3FN_TENSOR, false, false, false},
    {"one row", LPT_FORMAT_MXFP8_E4M3, false, false, false, 1, kCastRows *kCastColumns},
    {"one ternary row", LPT_FORMAT_TERNARY_TENSOR, false, false, false, 1, kCastRows *kCastColumns},
    {"one row of 6 bits", LPT_FORMAT_MXFP6_E2M3, false, false, false, 1, kCastRows *kCastColumns},
    {"both outputs", LPT_FORMAT_MXFP8_E4M3, true, false, false},
    {"rotated", LPT_FORMAT_MXFP4, false, true, false},
    {"there and back", LPT_FORMAT_NVFP4, false, false, true},
};

Result cast(lpt_context *context, const Way &way) {
  const lpt_format format = way.goes_back ? lpt_format{LPT_FORMAT_F32} : way.format;
  const Tensor source = wrap(context, numbers(), way.rows, way.columns);
  const Tensor first = make_tensor(context, format, way.rows, way.columns);
  Tensor second;
  if (way.has_transposed) second = make_tensor(context, format, way.columns, way.rows);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = LPT_ROUNDING_STOCHASTIC;  // random bits differ if a task draws those of another
  if (way.has_rotation) options.hadamard_size = 32;
  const lpt_status status = way.goes_back ? lpt_fake_quantize(context, source.get(), way.format, &options, first.get())
                                          : lpt_quantize(context, source.get(), &options, first.get(), second.get());
  Result result(context, status, first);
  if (second == nullptr) return result;
  const std::vector<uint8_t> more = bytes_of(context, second.get());
  result.bytes.insert(result.bytes.end(), more.begin(), more.end());
  return result;
}

// Formats to decode: by rows, one row, and full packs and blocks.
struct Codes {
  const char *format;
  int64_t rows = kCastRows, columns = kCastColumns;
};

const Codes kCodes[] = {
    {"bf16"},
    {"e4m3fn_row"},
    {"nvfp4_16x16"},
    {"e4m3fn/column/e8m0fnu/f32"},
    {"mxfp6_e2m3", 1, kCastRows *kCastColumns},
    {"ternary_tensor", 1, kCastRows *kCastColumns},
    {"e4m3fn_row", 1, kCastRows *kCastColumns},
};

// A GEMM of m × k and k × n.
struct Gemm {
  const char *name;
  int64_t m, n, k;
  const char *a, *b, *c;
  bool is_b_transposed;
  bool is_added_to = false;
};

constexpr Gemm kGemms[] = {
    {"square GEMM", 1000, 1100, 300, "f32", "f32", "f32", false},
    {"high GEMM", 12000, 90, 100, "e4m3fn_tensor", "bf16", "bf16", false},
    {"wide GEMM", 90, 12000, 100, "mxfp8_e4m3", "nvfp4", "f32", true},
    {"sum of GEMMs", 1100, 1000, 70, "f32", "bf16", "f32", true, true},
};

// Returns the first values of numbers() in a format.
std::shared_ptr<lpt_tensor> numbers_in(const char *format, int64_t rows, int64_t columns) {
  const Context context = make_context(2);
  const Tensor source = wrap(context.get(), numbers(), rows, columns);
  Tensor tensor = make_tensor(context.get(), format_named(format), rows, columns);
  EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, tensor.get(), nullptr)));
  return {tensor.release(), lpt_tensor_destroy};
}

Work decoding(const Codes &codes) {
  const std::shared_ptr<lpt_tensor> source = numbers_in(codes.format, codes.rows, codes.columns);
  return {std::to_string(codes.rows) + " rows of " + codes.format, codes.rows * codes.columns,
          [codes, source](lpt_context *context) {
            const Tensor output = make_tensor(context, LPT_FORMAT_F32, codes.rows, codes.columns);
            const lpt_status status = lpt_dequantize(context, source.get(), nullptr, output.get());
            return Result(context, status, output);
          }};
}

Work multiplication(const Gemm &gemm) {
  const auto &[name, m, n, k, a_format, b_format, c_format, is_b_transposed, is_added_to] = gemm;
  const std::shared_ptr<lpt_tensor> a = numbers_in(a_format, m, k);
  const std::shared_ptr<lpt_tensor> b = numbers_in(b_format, is_b_transposed ? n : k, is_b_transposed ? k : n);
  return {name, m * n, [gemm, a, b](lpt_context *context) {
            const Tensor c = make_tensor(context, format_named(gemm.c), gemm.m, gemm.n);
            lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
            options.is_b_transposed = gemm.is_b_transposed ? 1 : 0;
            options.beta = gemm.is_added_to ? 0.5 : 0.0;
            if (gemm.is_added_to) {
              const size_t bytes = static_cast<size_t>(gemm.m * gemm.n) * sizeof(float);
              std::memcpy(describe(context, c.get()).data, numbers().data(), bytes);
            }
            const lpt_status status = lpt_gemm(context, a.get(), b.get(), &options, c.get());
            return Result(context, status, c);
          }};
}

std::vector<Work> all_work() {
  std::vector<Work> result;
  for (const Way &way : kWays) {
    result.push_back({way.name, kCastRows * kCastColumns, [way](lpt_context *context) { return cast(context, way); }});
  }
  for (const Codes &codes : kCodes) result.push_back(decoding(codes));
  for (const Gemm &gemm : kGemms) result.push_back(multiplication(gemm));
  return result;
}

lpt_status report_to(lpt_context *context, Reports &reports) {
  return lpt_context_set_progress(context, Reports::note, &reports);
}

TEST(Progress, GrowsToTheWholeOnTheCallingThread) {
  const std::vector<Work> works = all_work();
  for (const int32_t threads : {1, 3}) {
    if (kIsSanitized && threads == 1) continue;
    const Context context = make_context(threads);
    for (const Work &work : works) {
      const std::string where = work.name + ", " + std::to_string(threads) + " threads";
      ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), nullptr, nullptr)));
      const Result silent = work.run(context.get());
      ASSERT_EQ(LPT_OK, silent.status) << where;

      Reports reports;
      ASSERT_TRUE(ok(context.get(), report_to(context.get(), reports)));
      const Result result = work.run(context.get());
      ASSERT_EQ(LPT_OK, result.status) << where;
      EXPECT_TRUE(silent.bytes == result.bytes) << where << ": the results differ";

      ASSERT_GE(reports.done.size(), 2u) << where << ": all in one step";
      EXPECT_LE(reports.done.size(), 110u) << where;
      EXPECT_FALSE(reports.is_elsewhere) << where;
      for (size_t i = 0; i < reports.done.size(); ++i) {
        EXPECT_EQ(reports.whole[i], work.whole) << where;
        EXPECT_GT(reports.done[i], i == 0 ? 0 : reports.done[i - 1]) << where << ", report " << i;
      }
      EXPECT_EQ(reports.done.back(), work.whole) << where;
    }
  }
}

TEST(Progress, EndsACallThatIsRequestedToStop) {
  const std::vector<Work> works = all_work();
  for (const int32_t threads : {1, 3}) {
    if (kIsSanitized && threads == 1) continue;
    const Context context = make_context(threads);
    for (const Work &work : works) {
      const std::string where = work.name + ", " + std::to_string(threads) + " threads";
      ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), nullptr, nullptr)));
      const Result expected = work.run(context.get());

      Reports reports;
      reports.stop_at = 1;  // the second report
      ASSERT_TRUE(ok(context.get(), report_to(context.get(), reports)));
      const Result part = work.run(context.get());
      EXPECT_EQ(LPT_CANCELLED, part.status) << where;
      ASSERT_EQ(reports.done.size(), 2u) << where << ": reports went on";
      const std::string words = "cancelled after " + std::to_string(reports.done.back());
      EXPECT_NE(std::string::npos, part.error.find(words)) << part.error;

      // The next call runs completely.
      reports = Reports();
      const Result again = work.run(context.get());
      EXPECT_EQ(LPT_OK, again.status) << where;
      EXPECT_TRUE(expected.bytes == again.bytes) << where << ": the results differ";
      EXPECT_EQ(reports.done.back(), work.whole) << where;
    }
  }
}

TEST(Progress, ReportsAShortCallOnceAndAnEmptyOneNever) {
  const Context context = make_context(2);
  Reports reports;
  ASSERT_TRUE(ok(context.get(), report_to(context.get(), reports)));
  for (const auto &[rows, columns] : {Shape{4, 32}, Shape{0, 32}, Shape{4, 0}}) {
    const Tensor source = wrap(context.get(), numbers(), rows, columns);
    const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN, rows, columns);
    const Tensor decoded = make_tensor(context.get(), LPT_FORMAT_F32, rows, columns);
    const Tensor factor = wrap(context.get(), numbers(), columns, 5);
    const Tensor gemm = make_tensor(context.get(), LPT_FORMAT_F32, rows, 5);
    const std::vector<int64_t> of_cast(rows * columns > 0 ? 1 : 0, 128), of_gemm(rows > 0 ? 1 : 0, 20);
    reports = Reports();
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, target.get(), nullptr)));
    if (columns > 0) {
      EXPECT_EQ(reports.done, of_cast);
      EXPECT_EQ(reports.whole, of_cast);
    }
    reports = Reports();
    ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), target.get(), nullptr, decoded.get())));
    EXPECT_EQ(reports.done, of_cast);
    EXPECT_EQ(reports.whole, of_cast);
    reports = Reports();
    ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), source.get(), factor.get(), nullptr, gemm.get())));
    EXPECT_EQ(reports.done, of_gemm);
    EXPECT_EQ(reports.whole, of_gemm);
  }
}

TEST(Progress, OfALayerIsThatOfItsCastsAndGemms) {
  const Context context = make_context(2);
  Recipe recipe;
  ASSERT_TRUE(ok(context.get(), lpt_recipe_create(context.get(), "fp8_trillion", out(recipe))));
  lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
  shape.input_columns = 64;
  shape.output_columns = 32;
  Linear linear;
  ASSERT_TRUE(ok(context.get(), lpt_linear_create(context.get(), recipe.get(), &shape, out(linear))));
  const Tensor weight = wrap(context.get(), numbers(), 32, 64);
  ASSERT_TRUE(ok(context.get(), lpt_linear_prepare(context.get(), linear.get(), weight.get(), nullptr)));
  const Tensor input = wrap(context.get(), numbers(), 8, 64);
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_F32, 8, 32);
  const auto forward = [&] {
    return lpt_linear_forward(context.get(), linear.get(), input.get(), nullptr, nullptr, output.get());
  };
  Reports reports;
  ASSERT_TRUE(ok(context.get(), report_to(context.get(), reports)));
  EXPECT_TRUE(ok(context.get(), forward()));
  EXPECT_EQ(reports.done, (std::vector<int64_t>{8 * 64, 8 * 32}));
  EXPECT_EQ(reports.whole, reports.done);
  for (const size_t stop_at : {0, 1}) {
    reports = Reports();
    reports.stop_at = stop_at;
    EXPECT_EQ(LPT_CANCELLED, forward());
    EXPECT_EQ(reports.done.size(), stop_at + 1);
  }
}

TEST(Progress, IsNotReportedByAnotherContextNorAfterItIsTakenBack) {
  const Context context = make_context();
  const Context other = make_context();
  const Work gemm = multiplication(kGemms[0]);
  Reports reports;
  ASSERT_TRUE(ok(context.get(), report_to(context.get(), reports)));
  EXPECT_EQ(LPT_OK, cast(other.get(), kWays[0]).status);
  EXPECT_EQ(LPT_OK, gemm.run(other.get()).status);
  ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), nullptr, &reports)));
  EXPECT_EQ(LPT_OK, cast(context.get(), kWays[0]).status);
  EXPECT_EQ(LPT_OK, gemm.run(context.get()).status);
  EXPECT_TRUE(reports.done.empty());
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_context_set_progress(nullptr, Reports::note, &reports));
}

}  // namespace
}  // namespace lpt::test
