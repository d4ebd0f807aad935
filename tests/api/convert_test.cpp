// Conversion between related FP8 formats: all codes against their definitions in double; scales, rejections, statistics.
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

using Bytes = std::vector<uint8_t>;

// Properties of an element format from the published tables. None of them is read from the library.
struct Definition {
  const char *name;
  int mantissa_bits, bias;
  double largest;
  bool has_infinity, is_fnuz;
  int power;  // a code is 2^-power times the value of the code in the first format of the family
};
constexpr Definition kE4m3fn = {"e4m3fn", 3, 7, 448, false, false, 0};
constexpr Definition kE4m3 = {"e4m3", 3, 7, 240, true, false, 0};
constexpr Definition kE4m3fnuz = {"e4m3fnuz", 3, 8, 240, false, true, 1};
constexpr Definition kE4m3b11 = {"e4m3b11fnuz", 3, 11, 30, false, true, 4};
constexpr Definition kE5m2 = {"e5m2", 2, 15, 57344, true, false, 0};
constexpr Definition kE5m2fnuz = {"e5m2fnuz", 2, 16, 57344, false, true, 1};

struct Pair {
  Definition from, to;
};
const std::vector<Pair> &pairs() {
  static const std::vector<Pair> list = [] {
    std::vector<Pair> result;
    const std::vector<std::vector<Definition>> families = {{kE4m3fn, kE4m3, kE4m3fnuz, kE4m3b11}, {kE5m2, kE5m2fnuz}};
    for (const std::vector<Definition> &family : families) {
      for (const Definition &from : family) {
        for (const Definition &to : family) {
          if (from.name != to.name) result.push_back({from, to});
        }
      }
    }
    return result;
  }();
  return list;
}

double meaning(const Definition &of, int code) {
  const int magnitude = code & 0x7F;
  const int exponent = magnitude >> of.mantissa_bits;
  const int steps = 1 << of.mantissa_bits;
  const int top = (1 << (7 - of.mantissa_bits)) - 1;
  const double fraction = static_cast<double>(magnitude % steps) / steps;
  const double sign = code >= 0x80 ? -1 : 1;
  if (of.is_fnuz && code == 0x80) return std::nan("");
  if (of.has_infinity && exponent == top) return fraction == 0 ? sign * INFINITY : std::nan("");
  if (!of.is_fnuz && magnitude == 0x7F) return std::nan("");
  return sign * (exponent == 0 ? std::ldexp(fraction, 1 - of.bias) : std::ldexp(1 + fraction, exponent - of.bias));
}

lpt_format scaled(const Definition &of, const char *blocks_and_scales) {
  return format_named((std::string(of.name) + blocks_and_scales).c_str());
}

uint8_t *codes_of(lpt_context *context, const lpt_tensor *tensor) {
  return part_data<uint8_t>(context, tensor, LPT_TENSOR_PART_PAYLOAD);
}

Tensor with_all_codes(lpt_context *context, lpt_format format) {
  Tensor tensor = make_tensor(context, format, 1, 256);
  for (int code = 0; code < 256; ++code) codes_of(context, tensor.get())[code] = static_cast<uint8_t>(code);
  return tensor;
}

// Codes.

TEST(ConvertCodes, MeanTheSameOrTheNearestInEveryPair) {
  const Context context = make_context();
  for (const auto &[from, to] : pairs()) {
    const Tensor source = with_all_codes(context.get(), scaled(from, "/tensor/f32"));
    *part_data<float>(context.get(), source.get(), LPT_TENSOR_PART_TENSOR_SCALE) = 0.75f;
    const Tensor output = make_tensor(context.get(), scaled(to, "/tensor/f32"), 1, 256);
    ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
    const double scale = std::ldexp(0.75, to.power - from.power);
    ASSERT_EQ(scale, static_cast<double>(tensor_scale_of(context.get(), output.get())));
    for (int code = 0; code < 256; ++code) {
      const int given = codes_of(context.get(), output.get())[code];
      const double value = meaning(from, code) * 0.75;
      const double result = meaning(to, given) * scale;
      const std::string which = std::string(from.name) + " to " + to.name + ", code " + std::to_string(code);
      if (std::isnan(value) || (std::isinf(value) && !to.has_infinity)) {
        ASSERT_TRUE(std::isnan(result)) << which;
      } else if (std::isinf(value)) {
        ASSERT_EQ(value, result) << which;
      } else if (std::abs(value) > to.largest * scale) {
        ASSERT_EQ(std::copysign(to.largest * scale, value), result) << which;
      } else {
        ASSERT_EQ(value, result) << which;
        ASSERT_EQ(to.is_fnuz && code == 0x80 ? 0 : code, given) << which;
        ASSERT_EQ(std::signbit(value) && !(to.is_fnuz && value == 0), std::signbit(result)) << which;
      }
    }
  }
}

TEST(ConvertCodes, HaveTheseSpecials) {
  const Context context = make_context();
  const struct {
    Definition from, to;
    uint8_t code, expected;
  } cases[] = {{kE4m3fn, kE4m3fnuz, 0x7F, 0x80}, {kE4m3fn, kE4m3fnuz, 0xFF, 0x80}, {kE4m3fn, kE4m3fnuz, 0x80, 0x00},
               {kE4m3fn, kE4m3fnuz, 0x7E, 0x7E}, {kE4m3fnuz, kE4m3fn, 0x7F, 0x7E}, {kE4m3fnuz, kE4m3fn, 0xFF, 0xFE},
               {kE4m3fnuz, kE4m3, 0x78, 0x77},   {kE4m3, kE4m3fn, 0x78, 0x7F},     {kE4m3, kE4m3fn, 0xF8, 0xFF},
               {kE4m3fn, kE4m3, 0x7E, 0x77},     {kE5m2, kE5m2fnuz, 0x7C, 0x80},   {kE5m2, kE5m2fnuz, 0xFC, 0x80},
               {kE5m2fnuz, kE5m2, 0x7C, 0x7B},   {kE5m2fnuz, kE5m2, 0x7F, 0x7B},   {kE5m2fnuz, kE5m2, 0xFF, 0xFB}};
  for (const auto &[from, to, code, expected] : cases) {
    const Tensor source = with_all_codes(context.get(), scaled(from, "/tensor/f32"));
    const Tensor output = make_tensor(context.get(), scaled(to, "/tensor/f32"), 1, 256);
    ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
    EXPECT_EQ(expected, codes_of(context.get(), output.get())[code]) << from.name << " to " << to.name << " " << +code;
  }
}

TEST(ConvertCodes, StayInTheSameElementWithTheirNans) {
  const Context context = make_context();
  for (const Definition &of : {kE4m3, kE5m2, kE5m2fnuz}) {
    const Tensor source = with_all_codes(context.get(), format_named(of.name));
    const Tensor output = make_tensor(context.get(), format_named(of.name), 1, 256);
    ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
    EXPECT_EQ(bytes_of(context.get(), source.get()), bytes_of(context.get(), output.get()));
  }
}

TEST(ConvertCodes, NeedNoScaleWhereTheBiasIsTheSame) {
  const Context context = make_context();
  for (const char *scales : {"", "/1x32/e8m0fnu", "/1x16/e4m3fn/f32", "/1x16/e4m3fn"}) {
    const Tensor source = with_all_codes(context.get(), scaled(kE4m3fn, scales));
    const Tensor output = make_tensor(context.get(), scaled(kE4m3, scales), 1, 256);
    ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
    for (int code = 0; code < 0x78; ++code) EXPECT_EQ(code, codes_of(context.get(), output.get())[code]);
    EXPECT_EQ(0x77, codes_of(context.get(), output.get())[0x78]);
  }
}

TEST(ConvertCodes, GoToElementsOfTheCallersOwn) {
  const Context context = make_context();
  const Tensor source = with_all_codes(context.get(), LPT_FORMAT_E4M3FN_TENSOR);
  const Tensor output = make_tensor(context.get(), format_named("e4m3b-20-nan/tensor/f32"), 1, 256);
  ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
  EXPECT_EQ(0x1p-27f, tensor_scale_of(context.get(), output.get()));
  for (int code = 0; code < 256; ++code) EXPECT_EQ(code, codes_of(context.get(), output.get())[code]);
}

// Scales and shapes.

// Fills the tensor with random codes that both elements of a pair have, and with random positive scales.
void fill_common(lpt_context *context, lpt_tensor *tensor, uint64_t place) {
  Random random(place);
  const Shape shape = shape_of(context, tensor);
  for (int64_t i = 0; i < shape.rows * shape.columns; ++i) {
    const auto code = static_cast<uint8_t>(random.below(0x78));
    codes_of(context, tensor)[i] = static_cast<uint8_t>(code | (code != 0 && random.chance(0.5) ? 0x80 : 0));
  }
  if (describe(describe(context, tensor).format).block_scale != LPT_FORMAT_F32) return;
  const Tensor scales = part_of(context, tensor, LPT_TENSOR_PART_BLOCK_SCALES);
  const Shape grid = shape_of(context, scales.get());
  for (int64_t i = 0; i < grid.rows * grid.columns; ++i) {
    static_cast<float *>(describe(context, scales.get()).data)[i] = static_cast<float>(std::exp(random.normal()));
  }
}

TEST(Convert, KeepsTheNumbersInEveryShapeAndScale) {
  const Context context = make_context(4);
  for (const auto &[from, to] : pairs()) {
    for (const char *scales : {"/tensor/f32", "/row/f32", "/column/f32", "/1x128/f32", "/128x128/f32", "/2x4/f32/f32",
                               "/column/e8m0fnu/f32", "/1x16/e4m3fn/f32"}) {
      for (const Shape shape : {Shape{1, 1}, Shape{3, 129}, Shape{130, 7}, Shape{131, 257}}) {
        const Tensor source = make_tensor(context.get(), scaled(from, scales), shape.rows, shape.columns);
        fill_common(context.get(), source.get(), 401);
        const Tensor output = make_tensor(context.get(), scaled(to, scales), shape.rows, shape.columns);
        ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
        ASSERT_EQ(plain_bytes(context.get(), part_of(context.get(), source.get(), LPT_TENSOR_PART_PAYLOAD).get()),
                  plain_bytes(context.get(), part_of(context.get(), output.get(), LPT_TENSOR_PART_PAYLOAD).get()));
        ASSERT_EQ(numbers_of(context.get(), source.get()), numbers_of(context.get(), output.get()))
            << from.name << " to " << to.name << scales << " " << shape.rows << "×" << shape.columns;
      }
    }
  }
}

TEST(Convert, MovesTheTensorScaleAloneWhereThereAreBoth) {
  const Context context = make_context();
  const Tensor source = make_tensor(context.get(), format_named("e4m3fn/1x4/f32/f32"), 2, 8);
  part_data<float>(context.get(), source.get(), LPT_TENSOR_PART_BLOCK_SCALES)[3] = 5.0f;
  *part_data<float>(context.get(), source.get(), LPT_TENSOR_PART_TENSOR_SCALE) = 3.0f;
  const Tensor output = make_tensor(context.get(), format_named("e4m3fnuz/1x4/f32/f32"), 2, 8);
  ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
  EXPECT_EQ(5.0f, part_data<float>(context.get(), output.get(), LPT_TENSOR_PART_BLOCK_SCALES)[3]);
  EXPECT_EQ(6.0f, tensor_scale_of(context.get(), output.get()));
}

TEST(Convert, SeesPartsOfATensor) {
  const Context context = make_context();
  const Tensor source = make_tensor(context.get(), scaled(kE4m3fn, "/2x4/f32"), 10, 20);
  fill_common(context.get(), source.get(), 402);
  const Tensor output = make_tensor(context.get(), scaled(kE4m3fnuz, "/2x4/f32"), 8, 24);
  std::memset(codes_of(context.get(), output.get()), 0x11, 8 * 24);
  const Tensor from = view(context.get(), source.get(), {2, 8}, {6, 12});
  const Tensor to = view(context.get(), output.get(), {0, 4}, {6, 12});
  ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), from.get(), nullptr, to.get())));
  EXPECT_EQ(numbers_of(context.get(), from.get()), numbers_of(context.get(), to.get()));
  for (int64_t row = 0; row < 8; ++row) {
    for (int64_t column = 0; column < 24; ++column) {
      if (row < 6 && column >= 4 && column < 16) continue;
      EXPECT_EQ(0x11, codes_of(context.get(), output.get())[row * 24 + column]);
      EXPECT_EQ(1.0f,
                part_data<float>(context.get(), output.get(), LPT_TENSOR_PART_BLOCK_SCALES)[row / 2 * 6 + column / 4]);
    }
  }
}

TEST(ConvertScale, KeepsZeroInfinityAndNan) {
  const Context context = make_context();
  for (const float scale : {0.0f, INFINITY, -INFINITY, NAN, 0x1p126f, -0x1p-126f, 0x1p-140f}) {
    const Tensor source = make_tensor(context.get(), scaled(kE4m3fn, "/tensor/f32"), 1, 1);
    *part_data<float>(context.get(), source.get(), LPT_TENSOR_PART_TENSOR_SCALE) = scale;
    const Tensor output = make_tensor(context.get(), scaled(kE4m3fnuz, "/tensor/f32"), 1, 1);
    if (scale == 0x1p-140f) {
      EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_convert(context.get(), source.get(), nullptr, output.get()));
      continue;
    }
    ASSERT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
    const float given = tensor_scale_of(context.get(), output.get());
    EXPECT_TRUE(std::isnan(scale) ? std::isnan(given) : given == 2 * scale) << scale;
  }
}

TEST(ConvertScale, IsRejectedWhereItLeavesTheNormalRange) {
  const Context context = make_context();
  const struct {
    Definition from, to;
    float scale;
    const char *word;
  } cases[] = {{kE4m3fn, kE4m3fnuz, 0x1p127f, "1.70141183e+38: times 2^1"},
               {kE4m3fnuz, kE4m3fn, -0x1p-126f, "-1.17549435e-38: times 2^-1"},
               {kE5m2fnuz, kE5m2, 0x1.8p-126f, "times 2^-1"},
               {kE4m3b11, kE4m3fn, 0x1p-123f, "times 2^-4"}};
  for (const auto &[from, to, scale, word] : cases) {
    for (const char *scales : {"/tensor/f32", "/1x2/f32"}) {
      const bool is_tensor = std::string(scales) == "/tensor/f32";
      const Tensor source = make_tensor(context.get(), scaled(from, scales), 3, 6);
      fill_common(context.get(), source.get(), 403);
      part_data<float>(context.get(), source.get(),
                       is_tensor ? LPT_TENSOR_PART_TENSOR_SCALE : LPT_TENSOR_PART_BLOCK_SCALES)[is_tensor ? 0 : 5] =
          scale;
      const Tensor output = make_tensor(context.get(), scaled(to, scales), 3, 6);
      const Bytes before = bytes_of(context.get(), output.get());
      EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_convert(context.get(), source.get(), nullptr, output.get()));
      const std::string text = lpt_context_error(context.get());
      EXPECT_NE(std::string::npos, text.find(word)) << text;
      EXPECT_NE(std::string::npos, text.find(is_tensor ? "tensor scale" : "block scale (1, 2)")) << text;
      EXPECT_EQ(before, bytes_of(context.get(), output.get()));
    }
  }
}

// Statistics.

struct Counted {
  lpt_status status = LPT_INTERNAL;
  lpt_statistics_info values = LPT_STATISTICS_INFO_INIT;
};

Counted converted_with_statistics(lpt_context *context, const lpt_tensor *source, lpt_tensor *output, int times = 1) {
  lpt_statistics *statistics = nullptr;
  EXPECT_TRUE(ok(context, lpt_statistics_create(context, &statistics)));
  lpt_convert_options options = LPT_CONVERT_OPTIONS_INIT;
  options.statistics = statistics;
  Counted counted;
  for (int i = 0; i < times; ++i) counted.status = lpt_convert(context, source, &options, output);
  EXPECT_TRUE(ok(context, lpt_statistics_read(context, statistics, &counted.values)));
  lpt_statistics_destroy(statistics);
  return counted;
}

TEST(ConvertStatistics, CountWhatBecomesOfTheElements) {
  const Context context = make_context();
  for (const auto &[from, to] : pairs()) {
    const Tensor source = with_all_codes(context.get(), scaled(from, "/tensor/f32"));
    *part_data<float>(context.get(), source.get(), LPT_TENSOR_PART_TENSOR_SCALE) = 0.7f;
    const double scale = static_cast<double>(0.7f);
    const Tensor output = make_tensor(context.get(), scaled(to, "/tensor/f32"), 1, 256);
    const Counted counted = converted_with_statistics(context.get(), source.get(), output.get(), 2);
    ASSERT_EQ(LPT_OK, counted.status);
    int64_t nans = 0;
    int64_t clipped = 0;
    double amax = 0, squares = 0, errors = 0;
    for (int code = 0; code < 256; ++code) {
      const double value = meaning(from, code);
      const double most = std::ldexp(to.largest, to.power - from.power);
      nans += std::isnan(value);
      clipped += std::abs(value) > most;
      if (!std::isfinite(value)) continue;
      amax = std::max(amax, std::abs(value));
      squares += value * value * scale * scale;
      const double lost = std::max(std::abs(value) - most, 0.0) * scale;
      errors += lost * lost;
    }
    const lpt_statistics_info &values = counted.values;
    EXPECT_EQ(2 * 256, values.element_count);
    EXPECT_EQ(2 * nans, values.nan_count) << from.name << " to " << to.name;
    EXPECT_EQ(2 * clipped, values.clipped_count) << from.name << " to " << to.name;
    EXPECT_EQ(0, values.underflow_count);
    EXPECT_EQ(static_cast<double>(static_cast<float>(amax) * 0.7f), values.amax);
    // The products are computed in f32: three roundings each.
    EXPECT_NEAR(2 * squares, values.squared_sum, 3 * 0x1p-24 * 2 * squares);
    EXPECT_NEAR(2 * errors, values.squared_error, 8 * 0x1p-24 * 2 * errors + 4 * 0x1p-24 * 2 * squares);
  }
}

TEST(ConvertStatistics, SeeEveryBlock) {
  const Context context = make_context(2);
  for (const char *scales : {"/row/f32", "/128x128/f32", "/column/f32", "/tensor/f32"}) {
    const Tensor source = make_tensor(context.get(), scaled(kE4m3fn, scales), 301, 140);
    fill_common(context.get(), source.get(), 405);
    int64_t clipped = 0;
    for (int64_t i = 0; i < 301 * 140; i += 7) {  // 448 saturates to 240
      codes_of(context.get(), source.get())[i] = 0x7E;
      ++clipped;
    }
    const Tensor output = make_tensor(context.get(), scaled(kE4m3, scales), 301, 140);
    const Counted counted = converted_with_statistics(context.get(), source.get(), output.get());
    ASSERT_EQ(LPT_OK, counted.status);
    const std::vector<double> before = numbers_of(context.get(), source.get());
    const std::vector<double> after = numbers_of(context.get(), output.get());
    double amax = 0, squares = 0, errors = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      amax = std::max(amax, std::abs(before[i]));
      squares += before[i] * before[i];
      errors += (before[i] - after[i]) * (before[i] - after[i]);
    }
    EXPECT_EQ(301 * 140, counted.values.element_count) << scales;
    EXPECT_EQ(clipped, counted.values.clipped_count) << scales;
    EXPECT_EQ(amax, counted.values.amax) << scales;
    // The difference and the square round in f32: two roundings for each term. All terms are positive.
    EXPECT_NEAR(squares, counted.values.squared_sum, 3 * 0x1p-24 * squares) << scales;
    EXPECT_NEAR(errors, counted.values.squared_error, 3 * 0x1p-24 * errors) << scales;
  }
}

TEST(ConvertStatistics, AreTheSameForAnyNumberOfThreads) {
  lpt_statistics_info first = LPT_STATISTICS_INFO_INIT;
  for (const int32_t threads : {1, 4}) {
    const Context context = make_context(threads);
    const Tensor source = make_tensor(context.get(), scaled(kE4m3fn, "/row/f32"), 301, 777);
    Random random(404);
    for (int64_t i = 0; i < 301 * 777; ++i) {
      codes_of(context.get(), source.get())[i] = static_cast<uint8_t>(random.bits());
    }
    const Tensor output = make_tensor(context.get(), scaled(kE4m3, "/row/f32"), 301, 777);
    const Counted counted = converted_with_statistics(context.get(), source.get(), output.get());
    ASSERT_EQ(LPT_OK, counted.status);
    if (threads == 1) first = counted.values;
    EXPECT_EQ(0, std::memcmp(&first, &counted.values, sizeof first));
    EXPECT_GT(first.clipped_count, 0);
  }
}

TEST(ConvertStatistics, CountNothingOfARejectedCall) {
  const Context context = make_context();
  const Tensor source = with_all_codes(context.get(), LPT_FORMAT_E4M3FN_TENSOR);
  *part_data<float>(context.get(), source.get(), LPT_TENSOR_PART_TENSOR_SCALE) = 0x1p127f;
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_E4M3FNUZ_TENSOR, 1, 256);
  const Counted counted = converted_with_statistics(context.get(), source.get(), output.get());
  EXPECT_EQ(LPT_INVALID_ARGUMENT, counted.status);
  EXPECT_EQ(0, counted.values.element_count);
}

// Check-only calls and empty tensors.

TEST(ConvertCheckOnly, TakesTensorsWithoutDataAndRunsNothing) {
  const Context context = make_context();
  lpt_convert_options options = LPT_CONVERT_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  const Tensor dataless = wrap(context.get(), LPT_FORMAT_E4M3FN, nullptr, 3, 5);
  const Tensor plain = wrap(context.get(), LPT_FORMAT_E4M3, nullptr, 3, 5);
  EXPECT_TRUE(ok(context.get(), lpt_convert(context.get(), dataless.get(), &options, plain.get())));
  const Tensor source = with_all_codes(context.get(), LPT_FORMAT_E4M3FN_TENSOR);
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_E4M3FNUZ_TENSOR, 1, 256);
  const Bytes before = bytes_of(context.get(), output.get());
  EXPECT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), &options, output.get())));
  EXPECT_EQ(before, bytes_of(context.get(), output.get()));
}

TEST(ConvertEmpty, DoesNothing) {
  const Context context = make_context();
  for (const char *scales : {"/tensor/f32", "/row/f32", "/128x128/f32"}) {
    for (const Shape shape : {Shape{0, 7}, Shape{7, 0}}) {
      const Tensor source = make_tensor(context.get(), scaled(kE5m2, scales), shape.rows, shape.columns);
      const Tensor output = make_tensor(context.get(), scaled(kE5m2fnuz, scales), shape.rows, shape.columns);
      EXPECT_TRUE(ok(context.get(), lpt_convert(context.get(), source.get(), nullptr, output.get())));
    }
  }
}

}  // namespace
}  // namespace lpt::test
