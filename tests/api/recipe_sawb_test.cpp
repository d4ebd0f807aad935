// The scale rule for the integers of LUQ, through lpt_quantize().
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

lpt_format int4_tensor() { return format_named("int4/tensor/f32"); }

Tensor cast_by(lpt_context *c, lpt_scale_rule rule, const Tensor &source, int64_t rows, int64_t columns) {
  Tensor target = make_tensor(c, int4_tensor(), rows, columns);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = rule;
  EXPECT_TRUE(ok(c, lpt_quantize(c, source.get(), &options, target.get(), nullptr)));
  return target;
}

float scale_of(lpt_context *c, const std::vector<double> &numbers, int64_t rows, int64_t columns,
               lpt_format format = LPT_FORMAT_F64) {
  const Tensor source = tensor_of(c, format, rows, columns, numbers);
  return tensor_scale_of(c, cast_by(c, LPT_SCALE_RULE_SAWB, source, rows, columns).get());
}

double clip_of(const std::vector<double> &numbers) {
  double squares = 0.0, magnitudes = 0.0;
  for (const double number : numbers) {
    squares += number * number;
    magnitudes += std::abs(number);
  }
  const auto count = static_cast<double>(numbers.size());
  return 12.1 * std::sqrt(squares / count) - 12.2 * magnitudes / count;
}

TEST(Sawb, ClipsAsItsFormulaSays) {
  const Context context = make_context(2);
  constexpr Shape kSizes[] = {{64, 300}, {1, 2000}, {2000, 1}, {301, 257}};
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const auto &[rows, columns] : kSizes) {
      const Tensor held = tensor_of(context.get(), format, rows, columns, draw_normal(5000, rows * columns, 3.0));
      const std::vector<double> numbers = numbers_of(context.get(), held.get());
      // The difference of two f32 sums of 16 lanes each cancels to a fifth.
      EXPECT_NEAR(1.0,
                  7.0 * static_cast<double>(scale_of(context.get(), numbers, rows, columns, format)) / clip_of(numbers),
                  2e-5)
          << name_of(format) << " " << rows << " by " << columns;
    }
  }
}

TEST(Sawb, IsBetterThanTheAmaxForNormalNumbers) {
  const Context context = make_context();
  const std::vector<double> numbers = draw_normal(5010, 256 * 256);
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 256, 256, numbers);
  const auto error_by = [&](lpt_scale_rule rule) {
    return relative_error(numbers_of(context.get(), cast_by(context.get(), rule, source, 256, 256).get()), numbers);
  };
  EXPECT_LT(error_by(LPT_SCALE_RULE_SAWB), 0.7 * error_by(LPT_SCALE_RULE_AMAX));
}

TEST(Sawb, KeepsTheAmaxWhereTheFormulaIsNoClip) {
  const Context context = make_context();
  // Values of equal magnitude: (12.1 - 12.2) times the magnitude is negative.
  EXPECT_EQ(3.0f / 7.0f, scale_of(context.get(), std::vector<double>(100, -3.0), 10, 10));
  // One nonzero value among many zeros: the clip of the formula exceeds it.
  std::vector<double> one(16, 0.0);
  one[5] = 2.0;
  EXPECT_GT(clip_of(one), 2.0);
  EXPECT_EQ(2.0f / 7.0f, scale_of(context.get(), one, 4, 4));
  EXPECT_EQ(1.0f, scale_of(context.get(), std::vector<double>(16, 0.0), 4, 4));
}

TEST(Sawb, LeavesInfinitiesOutAndTellsOfNaN) {
  const Context context = make_context();
  std::vector<double> numbers = draw_normal(5020, 400);
  const float before = scale_of(context.get(), numbers, 20, 20);
  numbers[7] = 0.0;
  const float expected = scale_of(context.get(), numbers, 20, 20);
  numbers[7] = INFINITY;
  EXPECT_EQ(expected, scale_of(context.get(), numbers, 20, 20));
  EXPECT_NE(before, expected);
  numbers[7] = std::nan("");
  EXPECT_TRUE(std::isnan(scale_of(context.get(), numbers, 20, 20)));
}

TEST(Sawb, IsTheSameForAnyNumberOfThreads) {
  const std::vector<double> numbers = draw_normal(5030, 700 * 130);
  const Context one = make_context(1), three = make_context(3);
  EXPECT_EQ(scale_of(one.get(), numbers, 700, 130), scale_of(three.get(), numbers, 700, 130));
}

TEST(Sawb, TakesTheSourceAsItIs) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 16, 32, draw_normal(5040, 512));
  const Tensor target = make_tensor(context.get(), int4_tensor(), 16, 32);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_SAWB;
  options.hadamard_size = 16;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr));
  expect_words({"LPT_SCALE_RULE_SAWB", "rotation"}, lpt_context_error(context.get()));
}

}  // namespace
}  // namespace lpt::test
