// lpt_fake_quantize() against two calls, two outputs of one read against two reads, and random bits of the caller.
#include <cmath>
#include <cstring>

#include "src/base/philox.hpp"
#include "tests/api/support.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

std::vector<lpt_format> targets() {
  std::vector<lpt_format> formats;
  for (int64_t i = 0; i < lpt_format_count(); ++i) {
    const lpt_format id = lpt_format_at(i);
    const bool is_target = id >= LPT_FORMAT_F16 && id != LPT_FORMAT_UINT8 && id != LPT_FORMAT_E8M0FNU &&
                           id != LPT_FORMAT_INT32 && id != LPT_FORMAT_INT64;
    if (is_target) formats.push_back(id);
  }
  return formats;
}

std::string text_of(lpt_format format, const lpt_quantize_options &options) {
  return name_of(format) + " rounding " + std::to_string(options.rounding) + " rotation " +
         std::to_string(options.hadamard_size);
}

lpt_quantize_options stochastic(int32_t bits = 16) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.rounding = LPT_ROUNDING_STOCHASTIC;
  options.stochastic_bits = bits;
  options.random = {77, 5, 0, 9, 3};
  return options;
}

// Returns the source after quantize and dequantize, in the format of the output.
std::vector<uint8_t> there_and_back(lpt_context *context, const lpt_tensor *source, lpt_format format,
                                    const lpt_quantize_options *options, lpt_format output, int64_t rows,
                                    int64_t columns) {
  const Tensor codes = make_tensor(context, format, rows, columns);
  const Tensor numbers = make_tensor(context, output, rows, columns);
  EXPECT_TRUE(ok(context, lpt_quantize(context, source, options, codes.get(), nullptr))) << name_of(format);
  EXPECT_TRUE(ok(context, lpt_dequantize(context, codes.get(), nullptr, numbers.get()))) << name_of(format);
  return plain_bytes(context, numbers.get());
}

void expect_equal_calls(lpt_context *context, lpt_format format, const lpt_quantize_options *options, Shape shape,
                        lpt_format wide) {
  const Tensor source =
      tensor_of(context, wide, shape.rows, shape.columns, draw_normal(60, shape.rows * shape.columns));
  const Tensor output = make_tensor(context, wide, shape.rows, shape.columns);
  ASSERT_TRUE(ok(context, lpt_fake_quantize(context, source.get(), format, options, output.get())));
  const std::vector<uint8_t> expected =
      there_and_back(context, source.get(), format, options, wide, shape.rows, shape.columns);
  EXPECT_EQ(expected, plain_bytes(context, output.get()));
  // In-place.
  ASSERT_TRUE(ok(context, lpt_fake_quantize(context, source.get(), format, options, source.get())));
  EXPECT_EQ(expected, plain_bytes(context, source.get()));
}

TEST(FakeQuantize, EqualsQuantizeAndDequantizeForEveryFormat) {
  Random random(65);
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    for (const lpt_format format : targets()) {
      for (const lpt_quantize_options &options :
           {lpt_quantize_options(LPT_QUANTIZE_OPTIONS_INIT), stochastic(), stochastic(8)}) {
        for (const Shape shape : {Shape{1, 1}, Shape{3, 77}, Shape{130, 600}}) {
          if (!is_taken(random, 4)) continue;
          SCOPED_TRACE(text_of(format, options));
          expect_equal_calls(context.get(), format, &options, shape, LPT_FORMAT_F32);
        }
      }
    }
  }
}

// Tasks begin at block boundaries, even if a block spans all rows or all columns.
TEST(FakeQuantize, EqualsTheTwoCallsForBlocksAsLongAsTheMatrix) {
  const Context context = make_context();
  for (const char *name : {"e4m3fn/16xwhole/f32", "int8/4xwhole/f32", "e2m1fn/32xwhole/e4m3fn/f32",
                           "e4m3fn/wholex16/f32", "int4/wholex128/f32"}) {
    lpt_format format = LPT_FORMAT_NONE;
    ASSERT_EQ(LPT_OK, lpt_format_from_name(nullptr, name, &format)) << name;
    for (const Shape shape : {Shape{300, 600}, Shape{100, 5000}, Shape{1000, 2000}, Shape{200, 3}}) {
      SCOPED_TRACE(name);
      const lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
      expect_equal_calls(context.get(), format, &options, shape, LPT_FORMAT_F32);
    }
  }
}

TEST(FakeQuantize, TakesAndGivesEveryWideFormat) {
  const Context context = make_context();
  for (const lpt_format wide : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const lpt_format format : {LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_UINT4_1X64,
                                    LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_E5M2}) {
      SCOPED_TRACE(name_of(wide) + " by " + name_of(format));
      expect_equal_calls(context.get(), format, nullptr, {19, 140}, wide);
      const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 4, 100, draw_normal(61, 400));
      const Tensor output = make_tensor(context.get(), wide, 4, 100);
      ASSERT_TRUE(ok(context.get(), lpt_fake_quantize(context.get(), source.get(), format, nullptr, output.get())));
      EXPECT_EQ(there_and_back(context.get(), source.get(), format, nullptr, wide, 4, 100),
                plain_bytes(context.get(), output.get()));
    }
  }
}

TEST(FakeQuantize, EqualsTheTwoCallsWithRotationAndSmoothing) {
  Random cases(66);
  const Context context = make_context();
  std::vector<double> factors;
  for (int i = 0; i < 300; ++i) factors.push_back(std::exp2(i % 7 - 3) * 1.25);
  const Tensor smoothing = vector_of(context.get(), LPT_FORMAT_F32, factors);
  const Tensor signs = make_tensor(context.get(), LPT_FORMAT_INT8, {300});
  const lpt_random random = {5, 0, 0, 1, 1};
  ASSERT_TRUE(ok(context.get(), lpt_hadamard_draw_signs(context.get(), &random, signs.get())));
  for (const lpt_format format : targets()) {
    for (const int32_t size : {0, 16, 64}) {
      for (const bool is_smooth : {false, true}) {
        if (!is_taken(cases, 4)) continue;
        lpt_quantize_options options = stochastic();
        options.hadamard_size = size;
        if (size != 0) options.hadamard_signs = signs.get();
        if (is_smooth) options.smoothing = smoothing.get();
        SCOPED_TRACE(text_of(format, options));
        expect_equal_calls(context.get(), format, &options, {37, 300}, LPT_FORMAT_F32);
      }
    }
  }
}

TEST(FakeQuantize, LeavesAStrideAlone) {
  const Context context = make_context();
  std::vector<float> numbers(3 * 50, 1.1f);
  const Tensor matrix = wrap(context.get(), LPT_FORMAT_F32, numbers.data(), 3, 40, 50);
  ASSERT_TRUE(
      ok(context.get(), lpt_fake_quantize(context.get(), matrix.get(), LPT_FORMAT_E4M3FN, nullptr, matrix.get())));
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(i % 50 < 40 ? 1.125f : 1.1f, numbers[i]) << i;
}

TEST(FakeQuantize, HasScalesOfOneWhereTheyAreGiven) {
  const Context context = make_context();
  const std::vector<double> numbers = {1000.0, 3.3, -0.1, 7.9};
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_FIXED;
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 4, numbers);
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_F32, 1, 4);
  ASSERT_TRUE(ok(context.get(),
                 lpt_fake_quantize(context.get(), source.get(), LPT_FORMAT_INT8_TENSOR, &options, output.get())));
  EXPECT_EQ((std::vector<double>{127, 3, 0, 8}), numbers_of(context.get(), output.get()));
  ASSERT_TRUE(
      ok(context.get(), lpt_fake_quantize(context.get(), source.get(), LPT_FORMAT_MXFP4, &options, output.get())));
  EXPECT_EQ((std::vector<double>{6, 3, 0, 6}), numbers_of(context.get(), output.get()));
}

TEST(FakeQuantize, RejectsWhatIsWrongByName) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 32, draw_normal(62, 64));
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_F32, 2, 32);
  const Tensor other = make_tensor(context.get(), LPT_FORMAT_F32, 2, 31);
  const Tensor codes = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 2, 32);
  const auto expect = [&](lpt_status status, const char *words, lpt_status found) {
    EXPECT_EQ(status, found) << words;
    EXPECT_NE(nullptr, std::strstr(lpt_context_error(context.get()), words)) << lpt_context_error(context.get());
  };
  lpt_context *const c = context.get();
  expect(LPT_INVALID_ARGUMENT, "source is NULL",
         lpt_fake_quantize(c, nullptr, LPT_FORMAT_MXFP4, nullptr, output.get()));
  expect(LPT_INVALID_ARGUMENT, "output is NULL",
         lpt_fake_quantize(c, source.get(), LPT_FORMAT_MXFP4, nullptr, nullptr));
  expect(LPT_INVALID_ARGUMENT, "format is 4711", lpt_fake_quantize(c, source.get(), 4711, nullptr, output.get()));
  expect(LPT_UNSUPPORTED, "format is uint8",
         lpt_fake_quantize(c, source.get(), LPT_FORMAT_UINT8, nullptr, output.get()));
  expect(LPT_INVALID_ARGUMENT, "output is 2 x 31",
         lpt_fake_quantize(c, source.get(), LPT_FORMAT_MXFP4, nullptr, other.get()));
  expect(LPT_UNSUPPORTED, "output is e4m3fn",
         lpt_fake_quantize(c, source.get(), LPT_FORMAT_MXFP4, nullptr, codes.get()));
  expect(LPT_UNSUPPORTED, "source is e4m3fn",
         lpt_fake_quantize(c, codes.get(), LPT_FORMAT_MXFP4, nullptr, output.get()));
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_NEAREST;
  expect(LPT_UNSUPPORTED, "scale_rule is 5",
         lpt_fake_quantize(c, source.get(), LPT_FORMAT_MXFP4, &options, output.get()));
  const Tensor shifted = view(c, output.get(), {0, 0}, {2, 32});
  ASSERT_TRUE(ok(c, lpt_fake_quantize(c, output.get(), LPT_FORMAT_MXFP4, nullptr, shifted.get())));
  const Tensor long_one = make_tensor(c, LPT_FORMAT_F32, 3, 32);
  const Tensor first = view(c, long_one.get(), {0, 0}, {2, 32}), second = view(c, long_one.get(), {1, 0}, {2, 32});
  expect(LPT_INVALID_ARGUMENT, "overlaps", lpt_fake_quantize(c, first.get(), LPT_FORMAT_MXFP4, nullptr, second.get()));
}

TEST(FakeQuantize, RejectsANanThatNothingCanTell) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 2, {1.0, std::nan("")});
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_F32, 1, 2);
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_fake_quantize(context.get(), source.get(), LPT_FORMAT_INT8, nullptr, output.get()));
  ASSERT_TRUE(
      ok(context.get(), lpt_fake_quantize(context.get(), source.get(), LPT_FORMAT_E4M3FN, nullptr, output.get())));
  EXPECT_TRUE(std::isnan(numbers_of(context.get(), output.get())[1]));
}

// Two outputs from one read.

void expect_same_as_two_calls(lpt_context *context, const lpt_tensor *source, Shape shape, lpt_format format,
                              lpt_format transposed, const lpt_quantize_options &options) {
  const Tensor both[2] = {make_tensor(context, format, shape.rows, shape.columns),
                          make_tensor(context, transposed, shape.columns, shape.rows)};
  const Tensor alone[2] = {make_tensor(context, format, shape.rows, shape.columns),
                           make_tensor(context, transposed, shape.columns, shape.rows)};
  ASSERT_TRUE(ok(context, lpt_quantize(context, source, &options, both[0].get(), both[1].get())));
  ASSERT_TRUE(ok(context, lpt_quantize(context, source, &options, alone[0].get(), nullptr)));
  ASSERT_TRUE(ok(context, lpt_quantize(context, source, &options, nullptr, alone[1].get())));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bytes_of(context, alone[i].get()), bytes_of(context, both[i].get())) << i;
}

TEST(QuantizeBoth, EqualsTwoCallsForEveryPairOfFormats) {
  Random random(67);
  constexpr Shape kShape = {70, 67};
  const std::vector<double> numbers = draw_normal(63, kShape.rows * kShape.columns);
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, kShape.rows, kShape.columns, numbers);
    for (const lpt_format format : targets()) {
      for (const lpt_format transposed : targets()) {
        if (!is_taken(random, 6)) continue;
        SCOPED_TRACE(name_of(format) + " and " + name_of(transposed) + " by " + std::to_string(threads));
        expect_same_as_two_calls(context.get(), source.get(), kShape, format, transposed, stochastic());
        if (HasFailure()) return;
      }
    }
  }
}

TEST(QuantizeBoth, EqualsTwoCallsWithRotationSmoothingAndShape) {
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    for (const Shape shape : {Shape{0, 5}, Shape{1, 1}, Shape{1, 700}, Shape{700, 1}, Shape{300, 1100}}) {
      const std::vector<double> numbers = draw_normal(64, shape.rows * shape.columns);
      const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, shape.rows, shape.columns, numbers);
      const Tensor smoothing =
          vector_of(context.get(), LPT_FORMAT_F32, std::vector<double>(static_cast<size_t>(shape.columns), 1.5));
      for (const lpt_format format : {LPT_FORMAT_NVFP4, LPT_FORMAT_NVFP4_16X16, LPT_FORMAT_E4M3FN_ROW,
                                      LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_UINT4_1X128, LPT_FORMAT_E5M2_TENSOR}) {
        for (const int32_t size : {0, 32}) {
          lpt_quantize_options options = stochastic(8);
          options.hadamard_size = size;
          if (shape.columns != 1 || size != 0) options.smoothing = smoothing.get();
          SCOPED_TRACE(text_of(format, options) + " " + std::to_string(shape.rows) + "x" +
                       std::to_string(shape.columns));
          expect_same_as_two_calls(context.get(), source.get(), shape, format, format, options);
        }
      }
    }
  }
}

// A 16 × 16 block has the same elements in the matrix and in its transpose, so both have the same codes.
TEST(QuantizeBoth, GivesTheSameCodesAndScalesForSquareBlocks) {
  const Context context = make_context();
  constexpr int64_t kRows = 48, kColumns = 80;
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, kRows, kColumns, draw_normal(65, kRows * kColumns));
  for (const lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC}) {
    lpt_quantize_options options = stochastic();
    options.rounding = rounding;
    const Tensor straight = make_tensor(context.get(), LPT_FORMAT_NVFP4_16X16, kRows, kColumns);
    const Tensor transposed_copy = make_tensor(context.get(), LPT_FORMAT_NVFP4_16X16, kColumns, kRows);
    ASSERT_TRUE(
        ok(context.get(), lpt_quantize(context.get(), source.get(), &options, straight.get(), transposed_copy.get())));
    EXPECT_EQ(transposed(numbers_of(context.get(), straight.get()), kRows, kColumns),
              numbers_of(context.get(), transposed_copy.get()));
    EXPECT_EQ(tensor_scale_of(context.get(), straight.get()), tensor_scale_of(context.get(), transposed_copy.get()));
    for (const lpt_tensor_part part : {LPT_TENSOR_PART_PAYLOAD, LPT_TENSOR_PART_BLOCK_SCALES}) {
      const Tensor ours = part_of(context.get(), straight.get(), part),
                   theirs = part_of(context.get(), transposed_copy.get(), part);
      const Shape shape = shape_of(context.get(), ours.get());
      EXPECT_EQ(transposed(numbers_of(context.get(), ours.get()), shape.rows, shape.columns),
                numbers_of(context.get(), theirs.get()));
    }
  }
}

// Random bits of the caller.

std::vector<uint8_t> philox_bytes(const lpt_random &random, int64_t rows, int64_t columns, int32_t bits,
                                  int32_t rounds) {
  const RandomSource source = {.seed = random.seed,
                               .offset = random.offset,
                               .row_stride = columns,
                               .stream = random_stream(RandomDomain::kQuantize, random.stream, 0),
                               .step = random.step,
                               .rounds = rounds,
                               .bits = bits};
  std::vector<uint8_t> bytes;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const uint32_t word = random_bits(source, row, column);
      bytes.push_back(static_cast<uint8_t>(word));
      if (bits == 16) bytes.push_back(static_cast<uint8_t>(word >> 8));
    }
  }
  return bytes;
}

TEST(RandomWords, OfPhiloxGiveTheCodesOfPhilox) {
  const Context context = make_context();
  constexpr Shape kShape = {33, 150};
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, kShape.rows, kShape.columns,
                                  draw_normal(66, kShape.rows * kShape.columns));
  for (const int32_t bits : {16, 8}) {
    for (const int32_t rounds : {7, 10}) {
      for (const lpt_rounding rounding : {LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_STOCHASTIC_UNDERFLOW}) {
        lpt_quantize_options options = stochastic(bits);
        options.rounding = rounding;
        options.philox_rounds = rounds;
        const std::vector<uint8_t> bytes = philox_bytes(options.random, kShape.rows, kShape.columns, bits, rounds);
        const Tensor words =
            wrap(context.get(), LPT_FORMAT_UINT8, bytes.data(), kShape.rows, kShape.columns * bits / 8);
        for (const lpt_format format : targets()) {
          SCOPED_TRACE(text_of(format, options));
          const Tensor drawn[2] = {make_tensor(context.get(), format, kShape.rows, kShape.columns),
                                   make_tensor(context.get(), format, kShape.columns, kShape.rows)};
          const Tensor given[2] = {make_tensor(context.get(), format, kShape.rows, kShape.columns),
                                   make_tensor(context.get(), format, kShape.columns, kShape.rows)};
          options.random_words = nullptr;
          ASSERT_TRUE(
              ok(context.get(), lpt_quantize(context.get(), source.get(), &options, drawn[0].get(), drawn[1].get())));
          options.random_words = words.get();
          ASSERT_TRUE(
              ok(context.get(), lpt_quantize(context.get(), source.get(), &options, given[0].get(), given[1].get())));
          for (int i = 0; i < 2; ++i) {
            ASSERT_EQ(bytes_of(context.get(), drawn[i].get()), bytes_of(context.get(), given[i].get())) << i;
          }
        }
      }
    }
  }
}

TEST(RandomWords, OfOnesAndZerosRoundUpAndDown) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 4, {1.01, 1.1, -1.01, 1.0});
  for (const uint8_t fill : {uint8_t{0}, uint8_t{255}}) {
    const std::vector<uint8_t> bytes(8, fill);
    const Tensor words = wrap(context.get(), LPT_FORMAT_UINT8, bytes.data(), 1, 8);
    lpt_quantize_options options = stochastic();
    options.random_words = words.get();
    const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 1, 4);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
    const double up = fill == 0 ? 1.0 : 1.125;
    EXPECT_EQ((std::vector<double>{up, up, -up, 1.0}), numbers_of(context.get(), target.get()));
  }
}

TEST(RandomWords, OfAnotherShapeOrFormatAreRejected) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 4, draw_normal(67, 8));
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN, 2, 4);
  const Tensor wrong[] = {make_tensor(context.get(), LPT_FORMAT_UINT8, 2, 4),
                          make_tensor(context.get(), LPT_FORMAT_UINT8, 8, 2),
                          make_tensor(context.get(), LPT_FORMAT_INT8, 2, 8)};
  for (const Tensor &words : wrong) {
    lpt_quantize_options options = stochastic();
    options.random_words = words.get();
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr));
    EXPECT_NE(nullptr, std::strstr(lpt_context_error(context.get()), "random_words is"));
  }
}

// Fixed scales.

TEST(FixedScales, StayAndServeTheCodes) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 40, draw_normal(68, 80, 10.0));
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_FIXED;
  for (const lpt_format format : targets()) {
    const lpt_format_description is = describe(format);
    const bool has_scale = is.block_scale != LPT_FORMAT_NONE || is.tensor_scale != LPT_FORMAT_NONE;
    const Tensor target = make_tensor(context.get(), format, 2, 40);
    const lpt_status status = lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr);
    ASSERT_EQ(has_scale ? LPT_OK : LPT_UNSUPPORTED, status) << name_of(format) << lpt_context_error(context.get());
    if (!has_scale) continue;
    // A new tensor has scales of one, so the codes equal those of the element without scales, and saturate.
    if (is.zero_point != LPT_FORMAT_NONE) continue;
    const Tensor plain = make_tensor(context.get(), is.element, 2, 40);
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), nullptr, plain.get(), nullptr)));
    EXPECT_EQ(numbers_of(context.get(), plain.get()), numbers_of(context.get(), target.get())) << name_of(format);
    if (is.tensor_scale == LPT_FORMAT_NONE) continue;
    EXPECT_EQ(1.0f, tensor_scale_of(context.get(), target.get()));
  }
}

TEST(FixedScales, WithZeroPointsStayToo) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 4, {-3.0, 0.0, 2.4, 100.0});
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_UINT4_1X32, 1, 4);
  const Tensor zeros = part_of(context.get(), target.get(), LPT_TENSOR_PART_ZERO_POINTS);
  const Tensor scales = part_of(context.get(), target.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  *static_cast<uint8_t *>(describe(context.get(), zeros.get()).data) = 5;
  *static_cast<float *>(describe(context.get(), scales.get()).data) = 0.5f;
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_FIXED;
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  EXPECT_EQ((std::vector<double>{-2.5, 0.0, 2.5, 5.0}), numbers_of(context.get(), target.get()));
}

TEST(KeptTensorScale, StaysAndServesTheBlockScales) {
  const Context context = make_context();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 2, 40, draw_normal(69, 80));
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
  const Tensor fp8 = make_tensor(context.get(), LPT_FORMAT_E4M3FN_TENSOR, 2, 40);
  const Tensor fp4 = make_tensor(context.get(), LPT_FORMAT_NVFP4, 2, 40);
  for (const Tensor *target : {&fp8, &fp4}) {
    const Tensor scale = part_of(context.get(), target->get(), LPT_TENSOR_PART_TENSOR_SCALE);
    *static_cast<float *>(describe(context.get(), scale.get()).data) = 0x1p-6f;
    ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target->get(), nullptr)));
    EXPECT_EQ(0x1p-6f, tensor_scale_of(context.get(), target->get()));
    const std::vector<double> oracle = numbers_of(context.get(), source.get());
    const std::vector<double> found = numbers_of(context.get(), target->get());
    EXPECT_LT(relative_error(found, oracle), target == &fp8 ? 0.04 : 0.15);
  }
  const Tensor mx = make_tensor(context.get(), LPT_FORMAT_MXFP4, 2, 40);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_quantize(context.get(), source.get(), &options, mx.get(), nullptr));
  const Tensor scale = part_of(context.get(), fp8.get(), LPT_TENSOR_PART_TENSOR_SCALE);
  for (const float bad : {0.0f, -1.0f, std::nanf(""), INFINITY}) {
    *static_cast<float *>(describe(context.get(), scale.get()).data) = bad;
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(context.get(), source.get(), &options, fp8.get(), nullptr)) << bad;
  }
}

TEST(ScaleList, GivesTheFirstThatIsEnoughOrTheLast) {
  const Context context = make_context();
  const Tensor list = vector_of(context.get(), LPT_FORMAT_F32, {0.25, 1.5, 100.0});
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_LIST;
  const auto scale_of = [&](double amax) {
    const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 2, {amax, -0.1});
    const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN_TENSOR, 1, 2);
    EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
    return static_cast<double>(tensor_scale_of(context.get(), target.get()));
  };
  EXPECT_EQ(0x1p-8, scale_of(1.0));  // 1 / 448 is below it: the scales of Gaudi 2
  EXPECT_EQ(0x1p-4, scale_of(2.0));
  EXPECT_EQ(16.0, scale_of(448 * 16.5));
  options.scale_list = list.get();
  EXPECT_EQ(0.25, scale_of(1.0));
  EXPECT_EQ(0.25, scale_of(0.25 * 448));
  EXPECT_EQ(1.5, scale_of(0.26 * 448));
  EXPECT_EQ(100.0, scale_of(1e9));
}

}  // namespace
}  // namespace lpt::test
