// Statistics of casts, compared with independent counts.
#include <cmath>
#include <limits>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

struct DestroyStatistics {
  void operator()(lpt_statistics *handle) const { lpt_statistics_destroy(handle); }
};
using Statistics = std::unique_ptr<lpt_statistics, DestroyStatistics>;

Statistics make_statistics(lpt_context *context) {
  lpt_statistics *handle = nullptr;
  EXPECT_TRUE(ok(context, lpt_statistics_create(context, &handle)));
  return Statistics(handle);
}

lpt_statistics_info read(lpt_context *context, const Statistics &statistics) {
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  EXPECT_TRUE(ok(context, lpt_statistics_read(context, statistics.get(), &values)));
  return values;
}

lpt_quantize_options counting(const Statistics &statistics) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.statistics = statistics.get();
  return options;
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void expect_same(const lpt_statistics_info &found, const lpt_statistics_info &expected, const std::string &where) {
  EXPECT_EQ(found.element_count, expected.element_count) << where;
  EXPECT_EQ(found.nan_count, expected.nan_count) << where;
  EXPECT_EQ(found.clipped_count, expected.clipped_count) << where;
  EXPECT_EQ(found.underflow_count, expected.underflow_count) << where;
  EXPECT_EQ(found.amax, expected.amax) << where;
  EXPECT_PRED2(is_same, found.squared_sum, expected.squared_sum) << where;
  EXPECT_PRED2(is_same, found.squared_error, expected.squared_error) << where;
}

// Counts everything except saturation from the values and their decoded values.
lpt_statistics_info counted(const std::vector<double> &numbers, const std::vector<double> &decoded) {
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  values.element_count = static_cast<int64_t>(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double y = numbers[i];
    if (std::isnan(y)) ++values.nan_count;
    if (!std::isfinite(y)) continue;
    values.amax = std::max(values.amax, std::fabs(y));
    values.underflow_count += y != 0 && decoded[i] == 0;
    values.squared_sum += y * y;
    values.squared_error += (y - decoded[i]) * (y - decoded[i]);
  }
  return values;
}

void expect_counted(const lpt_statistics_info &found, const std::vector<double> &numbers,
                    const std::vector<double> &decoded, const std::string &where) {
  const lpt_statistics_info expected = counted(numbers, decoded);
  EXPECT_EQ(found.element_count, expected.element_count) << where;
  EXPECT_EQ(found.nan_count, expected.nan_count) << where;
  EXPECT_EQ(found.underflow_count, expected.underflow_count) << where;
  EXPECT_EQ(found.amax, expected.amax) << where;
  EXPECT_NEAR(found.squared_sum, expected.squared_sum, 0x1p-23 * expected.squared_sum) << where;
  if (std::isnan(expected.squared_error)) {
    EXPECT_TRUE(std::isnan(found.squared_error)) << where;
  } else {
    EXPECT_NEAR(found.squared_error, expected.squared_error, 0x1p-22 * expected.squared_error) << where;
  }
}

constexpr lpt_format kCountedFormats[] = {LPT_FORMAT_E4M3FN,       LPT_FORMAT_BF16,         LPT_FORMAT_E4M3FN_TENSOR,
                                          LPT_FORMAT_E5M2_ROW,     LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_INT8,
                                          LPT_FORMAT_E5M2_128X128, LPT_FORMAT_MXFP8_E4M3,   LPT_FORMAT_MXFP6_E2M3,
                                          LPT_FORMAT_MXFP4,        LPT_FORMAT_NVFP4,        LPT_FORMAT_INT8_ROW,
                                          LPT_FORMAT_INT4_1X32,    LPT_FORMAT_UINT4_1X64,   LPT_FORMAT_NF4_1X64,
                                          LPT_FORMAT_MXINT8,       LPT_FORMAT_E3M0_TENSOR,  LPT_FORMAT_TERNARY_TENSOR,
                                          LPT_FORMAT_F32};

TEST(Statistics, CountWhatEveryKindOfOutputMadeOfTheNumbers) {
  const int64_t rows = 70;
  const int64_t columns = 530;
  const Context context = make_context(2);
  for (const lpt_format from : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F64}) {
    const Tensor source = tensor_of(context.get(), from, rows, columns, draw_normal(81, rows * columns, 3.0));
    const std::vector<double> numbers = numbers_of(context.get(), source.get());
    for (const lpt_format format : kCountedFormats) {
      const Statistics statistics = make_statistics(context.get());
      const lpt_quantize_options options = counting(statistics);
      const std::string where = name_of(from) + " to " + name_of(format);
      const Tensor quantized = make_tensor(context.get(), format, rows, columns);
      ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, quantized.get(), nullptr)));
      const lpt_statistics_info straight = read(context.get(), statistics);
      expect_counted(straight, numbers, numbers_of(context.get(), quantized.get()), where);

      ASSERT_TRUE(ok(context.get(), lpt_statistics_reset(context.get(), statistics.get())));
      const Tensor transposed_copy = make_tensor(context.get(), format, columns, rows);
      ASSERT_TRUE(
          ok(context.get(), lpt_quantize(context.get(), source.get(), &options, nullptr, transposed_copy.get())));
      expect_counted(read(context.get(), statistics), transposed(numbers, rows, columns),
                     numbers_of(context.get(), transposed_copy.get()), where + " transposed");

      // With both outputs the statistics are those of `quantized`.
      ASSERT_TRUE(ok(context.get(), lpt_statistics_reset(context.get(), statistics.get())));
      ASSERT_TRUE(ok(context.get(),
                     lpt_quantize(context.get(), source.get(), &options, quantized.get(), transposed_copy.get())));
      const lpt_statistics_info both = read(context.get(), statistics);
      EXPECT_EQ(both.element_count, rows * columns) << where;
      EXPECT_EQ(both.underflow_count, straight.underflow_count) << where;

      // lpt_fake_quantize() has the same statistics.
      ASSERT_TRUE(ok(context.get(), lpt_statistics_reset(context.get(), statistics.get())));
      const Tensor back = make_tensor(context.get(), LPT_FORMAT_F32, rows, columns);
      ASSERT_TRUE(ok(context.get(), lpt_fake_quantize(context.get(), source.get(), format, &options, back.get())));
      expect_same(read(context.get(), statistics), straight, where + " and back");
    }
  }
}

TEST(Statistics, DoNotChangeTheCast) {
  const Context context = make_context(2);
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 130, 700, draw_normal(82, 130 * 700));
  const Statistics statistics = make_statistics(context.get());
  for (const lpt_format format : kCountedFormats) {
    lpt_quantize_options options = counting(statistics);
    if (format != LPT_FORMAT_NF4_1X64) options.rounding = LPT_ROUNDING_STOCHASTIC;
    const Tensor counted_cast = make_tensor(context.get(), format, 130, 700);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, counted_cast.get(), nullptr)));
    options.statistics = nullptr;
    const Tensor plain = make_tensor(context.get(), format, 130, 700);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, plain.get(), nullptr)));
    EXPECT_TRUE(bytes_of(context.get(), plain.get()) == bytes_of(context.get(), counted_cast.get())) << name_of(format);
  }
}

TEST(Statistics, AreTheSameForAnyNumberOfThreads) {
  const int64_t rows = 333;
  const int64_t columns = 1501;
  const std::vector<double> numbers = draw_normal(83, rows * columns);
  for (const lpt_format format : kCountedFormats) {
    lpt_statistics_info first{};
    for (const int32_t threads : {1, 3}) {
      const Context context = make_context(threads);
      const Tensor source = wrap(context.get(), numbers, rows, columns);
      const Statistics statistics = make_statistics(context.get());
      const lpt_quantize_options options = counting(statistics);
      const Tensor target = make_tensor(context.get(), format, rows, columns);
      ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
      if (threads == 1) first = read(context.get(), statistics);
      expect_same(read(context.get(), statistics), first, name_of(format));
    }
  }
}

TEST(Statistics, CountClippedAndLostNumbersAndNan) {
  const Context context = make_context();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers = {1, 500, -500, 448, kInfinity, -kInfinity, NAN, 0, 0x1p-12, 2};
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 10, numbers);
  const Statistics statistics = make_statistics(context.get());
  const lpt_quantize_options options = counting(statistics);
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 1, 10);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  lpt_statistics_info values = read(context.get(), statistics);
  EXPECT_EQ(values.element_count, 10);
  EXPECT_EQ(values.nan_count, 1);
  EXPECT_EQ(values.clipped_count, 4);
  EXPECT_EQ(values.underflow_count, 1);
  EXPECT_EQ(values.amax, 500.0);
  EXPECT_EQ(values.squared_sum, 1 + 2 * 250000.0 + 448.0 * 448 + 0x1p-24 + 4);
  EXPECT_EQ(values.squared_error, 2 * 52.0 * 52 + 0x1p-24);

  // Casts accumulate until the reset.
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  values = read(context.get(), statistics);
  EXPECT_EQ(values.element_count, 20);
  EXPECT_EQ(values.clipped_count, 8);
  EXPECT_EQ(values.amax, 500.0);
  EXPECT_EQ(values.squared_error, 2 * (2 * 52.0 * 52 + 0x1p-24));
  ASSERT_TRUE(ok(context.get(), lpt_statistics_reset(context.get(), statistics.get())));
  expect_same(read(context.get(), statistics), LPT_STATISTICS_INFO_INIT, "after the reset");
}

// A tensor scale of another tensor: half of the values exceed the largest element.
TEST(Statistics, CountWhatAStaleScaleClips) {
  const Context context = make_context(2);
  std::vector<double> numbers(100 * 600);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 2 == 0 ? 3.0 : 1000.0;
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 100, 600, numbers);
  const Statistics statistics = make_statistics(context.get());
  lpt_quantize_options options = counting(statistics);
  options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;  // of a new tensor: 1
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN_TENSOR, 100, 600);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  const lpt_statistics_info values = read(context.get(), statistics);
  EXPECT_EQ(values.clipped_count, 30000);
  EXPECT_EQ(values.underflow_count, 0);
  EXPECT_EQ(values.squared_error, 30000 * (1000.0 - 448) * (1000.0 - 448));
}

TEST(Statistics, CountNumbersAfterTheRotation) {
  const Context context = make_context(2);
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 64, 256, draw_normal(84, 64 * 256));
  const Tensor rotated = make_tensor(context.get(), LPT_FORMAT_F32, 64, 256);
  lpt_hadamard_options rotation = LPT_HADAMARD_OPTIONS_INIT;
  rotation.size = 64;
  ASSERT_TRUE(ok(context.get(), lpt_hadamard(context.get(), source.get(), &rotation, rotated.get())));
  const Statistics statistics = make_statistics(context.get());
  lpt_quantize_options options = counting(statistics);
  options.hadamard_size = 64;
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_MXFP4, 64, 256);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  expect_counted(read(context.get(), statistics), numbers_of(context.get(), rotated.get()),
                 numbers_of(context.get(), target.get()), "rotated");
}

// Returns the MSE scale of a tensor: the first of i/32 of amax / M, i = 32 .. 17, whose cast has the smallest squared error.
float best_scale(lpt_context *context, const lpt_tensor *source, lpt_format format, lpt_overflow overflow,
                 float largest_scale) {
  const auto extents = describe(context, source).extents;
  const Tensor target = make_tensor(context, format, extents[0], extents[1]);
  double least = std::numeric_limits<double>::infinity();
  float best = largest_scale;
  for (int share = 32; share >= 17; --share) {
    const float scale = largest_scale * static_cast<float>(share) / 32.0f;
    *part_data<float>(context, target.get(), LPT_TENSOR_PART_TENSOR_SCALE) = scale;
    const Statistics statistics = make_statistics(context);
    lpt_quantize_options options = counting(statistics);
    options.scale_rule = LPT_SCALE_RULE_FIXED;
    options.overflow = overflow;
    EXPECT_TRUE(ok(context, lpt_quantize(context, source, &options, target.get(), nullptr)));
    const double error = read(context, statistics).squared_error;
    if (!(error < least)) continue;
    least = error;
    best = scale;
  }
  return best;
}

TEST(Statistics, FindTheScaleOfTheSmallestSquaredError) {
  const Context context = make_context(2);
  int beside_amax = 0;
  for (const char *name : {"e4m3fn_tensor", "e5m2_tensor", "e4m3fnuz_tensor", "int8_tensor", "f16_tensor",
                           "int4/tensor/f32", "e2m1fn/tensor/f32", "ternary_tensor", "bf16/tensor/f32"}) {
    for (const auto &[rows, columns] : {Shape{1, 5000}, Shape{20, 2100}}) {
      for (const lpt_format from : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
        for (const lpt_overflow overflow : {LPT_OVERFLOW_SATURATE, LPT_OVERFLOW_INFINITE}) {
          const lpt_format format = format_named(name);
          std::vector<double> numbers = draw_normal(95, rows * columns, 3.0);
          if (overflow == LPT_OVERFLOW_SATURATE && from == LPT_FORMAT_F32) numbers[17] = INFINITY;
          const Tensor source = tensor_of(context.get(), from, rows, columns, numbers);
          lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
          options.overflow = overflow;
          const Tensor target = make_tensor(context.get(), format, rows, columns);
          const lpt_status status = lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr);
          if (status == LPT_UNSUPPORTED) continue;  // the format has no code for an infinity
          ASSERT_TRUE(ok(context.get(), status));
          const float by_amax = tensor_scale_of(context.get(), target.get());
          options.scale_rule = LPT_SCALE_RULE_MSE;
          ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
          const float found = tensor_scale_of(context.get(), target.get());
          EXPECT_EQ(best_scale(context.get(), source.get(), format, overflow, by_amax), found)
              << name << ' ' << rows << 'x' << columns << " from " << name_of(from) << " overflow " << overflow;
          beside_amax += found != by_amax;
        }
      }
    }
  }
  EXPECT_GT(beside_amax, 20);
}

TEST(Statistics, AreNotTouchedByACheck) {
  const Context context = make_context();
  const Tensor source = wrap(context.get(), LPT_FORMAT_F32, nullptr, 4, 32);
  const Tensor target = wrap(context.get(), LPT_FORMAT_E4M3FN, nullptr, 4, 32);
  const Statistics statistics = make_statistics(context.get());
  lpt_quantize_options options = counting(statistics);
  options.flags = LPT_CHECK_ONLY;
  EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  expect_same(read(context.get(), statistics), LPT_STATISTICS_INFO_INIT, "checked");
}

// Invalid calls.

void expect_rejected(lpt_context *context, lpt_status expected, const std::vector<const char *> &words,
                     lpt_status found) {
  const std::string text = lpt_context_error(context);
  EXPECT_EQ(expected, found) << text;
  expect_words(words, text);
}

TEST(Statistics, SayWhatIsWrong) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Statistics statistics = make_statistics(c);
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  const Tensor tensor = tensor_of(c, LPT_FORMAT_F32, 2, 16, draw_normal(85, 32));
  auto *stranger = reinterpret_cast<lpt_statistics *>(tensor.get());

  expect_rejected(c, LPT_INVALID_ARGUMENT, {"out_statistics is NULL"}, lpt_statistics_create(c, nullptr));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_statistics_create(nullptr, nullptr));
  expect_rejected(c, LPT_INVALID_ARGUMENT, {"statistics is NULL"}, lpt_statistics_read(c, nullptr, &values));
  expect_rejected(c, LPT_INVALID_ARGUMENT, {"out_info is NULL"}, lpt_statistics_read(c, statistics.get(), nullptr));
  expect_rejected(c, LPT_INVALID_ARGUMENT, {"statistics is not a live"}, lpt_statistics_read(c, stranger, &values));
  expect_rejected(c, LPT_INVALID_ARGUMENT, {"statistics is NULL"}, lpt_statistics_reset(c, nullptr));
  expect_rejected(c, LPT_INVALID_ARGUMENT, {"statistics is not a live"}, lpt_statistics_reset(c, stranger));
  lpt_statistics_destroy(nullptr);

  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.statistics = stranger;
  const Tensor target = make_tensor(c, LPT_FORMAT_E4M3FN, 2, 16);
  expect_rejected(c, LPT_INVALID_ARGUMENT, {"statistics is not a live"},
                  lpt_quantize(c, tensor.get(), &options, target.get(), nullptr));
  // lpt_statistics_destroy() does not destroy a tensor that is passed as statistics.
  lpt_statistics_destroy(stranger);
  EXPECT_EQ(2, shape_of(c, tensor.get()).rows);
}

TEST(Statistics, WriteNoMoreThanTheCallerKnows) {
  const Context context = make_context();
  const Statistics statistics = make_statistics(context.get());
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 16, draw_normal(86, 32));
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 2, 16);
  const lpt_quantize_options options = counting(statistics);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
  values.struct_size = offsetof(lpt_statistics_info, nan_count);
  values.nan_count = 77;
  values.amax = -1;
  ASSERT_TRUE(ok(context.get(), lpt_statistics_read(context.get(), statistics.get(), &values)));
  EXPECT_EQ(values.element_count, 32);
  EXPECT_EQ(values.nan_count, 77);
  EXPECT_EQ(values.amax, -1);
}

}  // namespace
}  // namespace lpt::test
