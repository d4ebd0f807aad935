// Casts through the C interface: scales, smoothing, checks. Other files test random numbers and scalers.
#include <cfloat>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

// Returns the bytes of the elements of a tensor.
std::vector<uint8_t> payload(lpt_context *context, const lpt_tensor *tensor) {
  return plain_bytes(context, part_of(context, tensor, LPT_TENSOR_PART_PAYLOAD).get());
}

constexpr lpt_format kScaledPresets[] = {LPT_FORMAT_E4M3FN_TENSOR,  LPT_FORMAT_E4M3FN_ROW,  LPT_FORMAT_E4M3FN_1X128,
                                         LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E4M3_TENSOR, LPT_FORMAT_E4M3_ROW,
                                         LPT_FORMAT_E5M2_TENSOR,    LPT_FORMAT_E5M2_ROW,    LPT_FORMAT_E5M2_1X128,
                                         LPT_FORMAT_E5M2_128X128,   LPT_FORMAT_MXFP8_E4M3,  LPT_FORMAT_MXFP8_E5M2,
                                         LPT_FORMAT_MXFP4,          LPT_FORMAT_NVFP4,       LPT_FORMAT_INT8_TENSOR,
                                         LPT_FORMAT_INT8_ROW,       LPT_FORMAT_F16_TENSOR};

double amax_of(const std::vector<double> &numbers) {
  double amax = 0.0;
  for (const double number : numbers) amax = std::max(amax, std::abs(number));
  return amax;
}

float tensor_scale(lpt_context *context, lpt_format format, lpt_scale_rule rule, const std::vector<double> &numbers) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = rule;
  const auto count = static_cast<int64_t>(numbers.size());
  const Tensor source = wrap(context, numbers, 1, count);
  const Tensor target = make_tensor(context, format, 1, count);
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), &options, target.get(), nullptr)));
  return tensor_scale_of(context, target.get());
}

// Scales of tensors.

TEST(QuantizeScale, IsAmaxByTheLargestElement) {
  const Context context = make_context();
  const struct {
    lpt_format format;
    float largest;
  } cases[] = {{LPT_FORMAT_E4M3FN_TENSOR, 448.0f},
               {LPT_FORMAT_E4M3_TENSOR, 240.0f},
               {LPT_FORMAT_E5M2_TENSOR, 57344.0f},
               {LPT_FORMAT_INT8_TENSOR, 127.0f},
               {LPT_FORMAT_F16_TENSOR, 65504.0f}};
  for (const auto &[format, largest] : cases) {
    for (const double deviation : {1e-30, 1e-3, 1.0, 1e5, 1e30}) {
      const std::vector<double> numbers = draw_normal(21, 777, deviation);
      const float expected = static_cast<float>(amax_of(numbers)) / largest;
      EXPECT_EQ(expected, tensor_scale(context.get(), format, LPT_SCALE_RULE_DEFAULT, numbers)) << name_of(format);
      EXPECT_EQ(expected, tensor_scale(context.get(), format, LPT_SCALE_RULE_AMAX, numbers)) << name_of(format);
    }
  }
}

TEST(QuantizeScale, OfPowersOfTwoIsTheSmallestThatDoesNotClip) {
  const Context context = make_context();
  for (const double amax : {448.0, 447.0, 449.0, 896.0, 1.0, 1e-20, 3e30}) {
    int power = -126;
    while (std::ldexp(448.0, power) < static_cast<double>(static_cast<float>(amax))) ++power;
    EXPECT_EQ(std::ldexp(1.0f, power),
              tensor_scale(context.get(), LPT_FORMAT_E4M3FN_TENSOR, LPT_SCALE_RULE_POWER_OF_TWO, {amax, -amax / 3}))
        << amax;
  }
}

TEST(QuantizeScale, OfAllZerosIsOne) {
  const Context context = make_context();
  EXPECT_EQ(1.0f, tensor_scale(context.get(), LPT_FORMAT_E4M3FN_TENSOR, LPT_SCALE_RULE_DEFAULT, {0, -0.0, 0}));
}

TEST(QuantizeScale, ComesFromFiniteValues) {
  const Context context = make_context();
  const std::vector<double> numbers = {1.0, -2.0, INFINITY, std::nan("")};
  EXPECT_EQ(2.0f / 448.0f, tensor_scale(context.get(), LPT_FORMAT_E4M3FN_TENSOR, LPT_SCALE_RULE_DEFAULT, numbers));
}

TEST(QuantizeScale, MakesTheLargestElementExact) {
  const Context context = make_context();
  const std::vector<double> source = draw_normal(22, 64 * 256);
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_INT8_TENSOR}) {
    const Tensor target = tensor_of(context.get(), format, 64, 256, source);
    EXPECT_NEAR(amax_of(source), amax_of(numbers_of(context.get(), target.get())), 1e-6 * amax_of(source));
  }
}

TEST(Quantize, KeepsEveryFormatNearItsSource) {
  const Context context = make_context();
  const std::vector<double> source = draw_normal(23, 96 * 200);
  for (const lpt_format format : kScaledPresets) {
    const Tensor target = tensor_of(context.get(), format, 96, 200, source);
    const int32_t mantissa_bits = describe(format).mantissa_bits;
    // The bound is half a step of the mantissa. A 4-bit element has a separate bound.
    const double bound = describe(format).element_bits == 4 ? 0.15 : std::ldexp(1.0, -mantissa_bits - 1);
    const double error = relative_error(numbers_of(context.get(), target.get()), source);
    EXPECT_LT(error, format == LPT_FORMAT_INT8_TENSOR || format == LPT_FORMAT_INT8_ROW ? 0.02 : bound)
        << name_of(format);
    EXPECT_GT(error, 0.0) << name_of(format);
  }
}

// Transposed outputs.

TEST(QuantizeTransposed, EqualsTheCastOfTheTransposedSourceInEveryFormat) {
  const Context context = make_context(3);
  const std::vector<double> source = draw_normal(24, 130 * 260);
  const Tensor straight = wrap(context.get(), source, 130, 260);
  const std::vector<double> transposed_numbers = transposed(source, 130, 260);
  const Tensor transposed_copy = wrap(context.get(), transposed_numbers, 260, 130);
  for (const lpt_format format : kScaledPresets) {
    const Tensor output = make_tensor(context.get(), format, 260, 130);
    const Tensor expected = make_tensor(context.get(), format, 260, 130);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), straight.get(), nullptr, nullptr, output.get())));
    ASSERT_TRUE(
        ok(context.get(), lpt_quantize(context.get(), transposed_copy.get(), nullptr, expected.get(), nullptr)));
    EXPECT_EQ(bytes_of(context.get(), expected.get()), bytes_of(context.get(), output.get())) << name_of(format);
  }
}

TEST(QuantizeTransposed, MayComeWithTheStraightOneInAnotherFormat) {
  const Context context = make_context(2);
  const std::vector<double> source = draw_normal(25, 70 * 90);
  const Tensor input = wrap(context.get(), source, 70, 90);
  const Tensor straight = make_tensor(context.get(), LPT_FORMAT_NVFP4, 70, 90);
  const Tensor transposed_copy = make_tensor(context.get(), LPT_FORMAT_E5M2_TENSOR, 90, 70);
  const Tensor straight_alone = make_tensor(context.get(), LPT_FORMAT_NVFP4, 70, 90);
  const Tensor transposed_alone = make_tensor(context.get(), LPT_FORMAT_E5M2_TENSOR, 90, 70);
  ASSERT_TRUE(
      ok(context.get(), lpt_quantize(context.get(), input.get(), nullptr, straight.get(), transposed_copy.get())));
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), input.get(), nullptr, straight_alone.get(), nullptr)));
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), input.get(), nullptr, nullptr, transposed_alone.get())));
  EXPECT_EQ(bytes_of(context.get(), straight_alone.get()), bytes_of(context.get(), straight.get()));
  EXPECT_EQ(bytes_of(context.get(), transposed_alone.get()), bytes_of(context.get(), transposed_copy.get()));
}

// Smoothing.

TEST(QuantizeSmoothing, EqualsTheCastOfTheDividedSource) {
  const Context context = make_context();
  const int64_t rows = 33;
  const int64_t columns = 40;
  std::vector<double> source = draw_normal(26, rows * columns);
  std::vector<double> factors(static_cast<size_t>(columns));
  std::vector<double> divided(source.size());
  for (int64_t c = 0; c < columns; ++c) factors[static_cast<size_t>(c)] = std::ldexp(1.0, static_cast<int>(c % 13) - 6);
  for (size_t i = 0; i < source.size(); ++i) {
    source[i] *= factors[i % static_cast<size_t>(columns)];
    divided[i] = source[i] / factors[i % static_cast<size_t>(columns)];
  }
  const Tensor smoothing = vector_of(context.get(), LPT_FORMAT_E8M0FNU, factors);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.smoothing = smoothing.get();
  const Tensor input = wrap(context.get(), source, rows, columns);
  const Tensor output = make_tensor(context.get(), format_named("e4m3fn/column/e8m0fnu/f32"), rows, columns);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), input.get(), &options, output.get(), nullptr)));

  const Tensor plain = tensor_of(context.get(), LPT_FORMAT_E4M3FN_TENSOR, rows, columns, divided);
  EXPECT_EQ(tensor_scale_of(context.get(), plain.get()), tensor_scale_of(context.get(), output.get()));
  std::vector<double> expected = numbers_of(context.get(), plain.get());
  for (size_t i = 0; i < expected.size(); ++i) expected[i] *= factors[i % static_cast<size_t>(columns)];
  EXPECT_EQ(expected, numbers_of(context.get(), output.get()));
  const Tensor scales = part_of(context.get(), output.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  EXPECT_EQ(factors, numbers_of(context.get(), scales.get()));
}

TEST(QuantizeSmoothing, WithFactorsOfOneIsThePlainCast) {
  const Context context = make_context();
  const std::vector<double> source = draw_normal(27, 9 * 12);
  const Tensor smoothing = vector_of(context.get(), LPT_FORMAT_E8M0FNU, std::vector<double>(12, 1.0));
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.smoothing = smoothing.get();
  const Tensor input = wrap(context.get(), source, 9, 12);
  const Tensor output = make_tensor(context.get(), format_named("e5m2/column/e8m0fnu/f32"), 9, 12);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), input.get(), &options, output.get(), nullptr)));
  const Tensor plain = tensor_of(context.get(), LPT_FORMAT_E5M2_TENSOR, 9, 12, source);
  EXPECT_EQ(numbers_of(context.get(), plain.get()), numbers_of(context.get(), output.get()));
}

// Check-only calls.

TEST(QuantizeCheckOnly, TakesTensorsWithoutData) {
  const Context context = make_context();
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  const Tensor source = wrap(context.get(), LPT_FORMAT_F32, nullptr, 10, 20);
  const Tensor target = wrap(context.get(), LPT_FORMAT_E4M3FN, nullptr, 10, 20);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  EXPECT_EQ(0u, std::string(lpt_context_explanation(context.get())).find("quantize: "));
}

TEST(QuantizeCheckOnly, RunsNothing) {
  const Context context = make_context();
  Scaler scaler;
  ASSERT_TRUE(ok(context.get(), lpt_scaler_create(context.get(), nullptr, out(scaler))));
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  options.scaler = scaler.get();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 2, {1, 2, 3, 4});
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN_TENSOR, 2, 2);
  const std::vector<uint8_t> before = bytes_of(context.get(), target.get());
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  int64_t calls = -1;
  ASSERT_TRUE(ok(context.get(), lpt_context_profile_count(context.get(), &calls)));
  EXPECT_EQ(0, calls);
  EXPECT_EQ(before, bytes_of(context.get(), target.get()));
  lpt_scaler_info values = LPT_SCALER_INFO_INIT;
  ASSERT_TRUE(ok(context.get(), lpt_scaler_read(context.get(), scaler.get(), &values)));
  EXPECT_EQ(0.0f, values.running_amax);
}

TEST(QuantizeCheckOnly, FindsWhatACallWouldFind) {
  const Context context = make_context();
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  const Tensor source = wrap(context.get(), LPT_FORMAT_F32, nullptr, 10, 20);
  const Tensor target = wrap(context.get(), LPT_FORMAT_E4M3FN, nullptr, 10, 21);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr));
}

TEST(QuantizeEmpty, DoesNothing) {
  const Context context = make_context();
  for (const lpt_format format : kScaledPresets) {
    for (const Shape shape : {Shape{0, 7}, Shape{7, 0}}) {
      const Tensor source = wrap(context.get(), LPT_FORMAT_F32, nullptr, shape.rows, shape.columns);
      const Tensor target = make_tensor(context.get(), format, shape.rows, shape.columns);
      EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, target.get(), nullptr)))
          << name_of(format);
    }
  }
}

// Values beyond the f32 range, with more bits than f32, subnormals, and a NaN with a payload.
TEST(Dequantize, CopiesF64) {
  const Context context = make_context();
  uint64_t nan_bits = 0x7FF8000000001234;
  double nan = 0;
  std::memcpy(&nan, &nan_bits, sizeof nan);
  const std::vector<double> numbers = {1e300, -1e-300, 1.0 + 0x1p-52, 0x1p-1074, -0.0, HUGE_VAL, 1.0 / 3, nan};
  std::vector<double> given(numbers.size());
  const auto count = static_cast<int64_t>(numbers.size());
  const Tensor source = wrap(context.get(), numbers, 2, count / 2), output = wrap(context.get(), given, 2, count / 2);
  ASSERT_TRUE(ok(context.get(), lpt_dequantize(context.get(), source.get(), nullptr, output.get())));
  EXPECT_EQ(0, std::memcmp(numbers.data(), given.data(), numbers.size() * sizeof(double)));
}

// Every kernel that casts must detect a NaN.
TEST(QuantizeNan, IsWrittenAsZeroAndRejectedByAPlainElementWithoutNan) {
  const Context context = make_context();
  for (const lpt_format format : {LPT_FORMAT_INT8, LPT_FORMAT_INT16, LPT_FORMAT_INT4, LPT_FORMAT_E2M1FN,
                                  LPT_FORMAT_E3M2FN, LPT_FORMAT_TERNARY, LPT_FORMAT_NF4}) {
    for (const Shape shape : {Shape{1, 2}, Shape{3, 70}, Shape{40, 2000}}) {
      const int64_t count = shape.rows * shape.columns;
      std::vector<double> numbers(static_cast<size_t>(count), 1.0);
      numbers.back() = std::nan("");
      const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, shape.rows, shape.columns, numbers);
      const Tensor target = make_tensor(context.get(), format, shape.rows, shape.columns);
      EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(context.get(), source.get(), nullptr, target.get(), nullptr))
          << name_of(format) << " " << count;
      EXPECT_NE(nullptr, std::strstr(lpt_context_error(context.get()), "source has a NaN"));
      numbers.back() = 0;
      EXPECT_EQ(numbers, numbers_of(context.get(), target.get())) << name_of(format) << " " << count;
    }
  }
}

TEST(QuantizeNan, GoesToTheScaleWhereTheElementHasNone) {
  const Context context = make_context();
  const Tensor target = tensor_of(context.get(), LPT_FORMAT_INT8_TENSOR, 1, 2, {1.0, std::nan("")});
  EXPECT_TRUE(std::isnan(tensor_scale_of(context.get(), target.get())));
}

TEST(QuantizeNan, IsRejectedByOneOfTwoOutputsAfterBothAreWritten) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 2, {1.0, std::nan(""), 2.0, 3.0});
  const Tensor first = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 2, 2);
  const Tensor second = make_tensor(context.get(), LPT_FORMAT_INT8, 2, 2);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(context.get(), source.get(), nullptr, first.get(), second.get()));
  EXPECT_EQ((std::vector<uint8_t>{0x38, 0x7F, 0x40, 0x44}), payload(context.get(), first.get()));
  EXPECT_EQ((std::vector<uint8_t>{1, 2, 0, 3}), payload(context.get(), second.get()));
}

TEST(QuantizeInfinity, IsNotConvertedToANumberWhereItMustNotSaturate) {
  const Context context = make_context();
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.overflow = LPT_OVERFLOW_INFINITE;
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 2, {1.0, INFINITY});
  const Tensor integers = make_tensor(context.get(), LPT_FORMAT_INT8_TENSOR, 1, 2);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_quantize(context.get(), source.get(), &options, integers.get(), nullptr));
  const Tensor floats = make_tensor(context.get(), LPT_FORMAT_E5M2_TENSOR, 1, 2);
  EXPECT_EQ(LPT_OK, lpt_quantize(context.get(), source.get(), &options, floats.get(), nullptr));
  EXPECT_EQ(0x7C, payload(context.get(), floats.get())[1]);
}

}  // namespace
}  // namespace lpt::test
