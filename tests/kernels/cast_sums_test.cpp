// Kernels of cast statistics and of the squared errors of several casts: against the reference kernel bit for bit. The
// reference kernel is tested against counts in double, or against casts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/quantize_case.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfiniteSum = std::numeric_limits<float>::infinity();

// All presets that casts support, and block shapes without a preset.
std::vector<lpt_format> targets() {
  std::vector<lpt_format> result;
  for (int64_t i = 0; i < format_count(); ++i) {
    const lpt_format id = format_at(i);
    Format format;
    if (check_holds_numbers(id, "").is_ok() && id != LPT_FORMAT_E8M0FNU && find_format(id, format))
      result.push_back(id);
  }
  for (const char *name : {"e4m3fn/4x8/f32", "int8/1x1/f32", "e5m2/1x2/e8m0fnu/f32", "e2m1fn/2x16/e4m3fn",
                           "e3m2fn/1x4/e8m0fnu", "e4m3fn/1x4096/f32", "uint4/2x8/f32/uint8", "uint8/1x64/f32/uint8"}) {
    result.push_back(named(name));
  }
  return result;
}

bool is_same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

void expect_same(const CastStatistics &found, const CastStatistics &expected, const std::string &where) {
  EXPECT_EQ(found.elements, expected.elements) << where;
  EXPECT_EQ(found.nans, expected.nans) << where;
  EXPECT_EQ(found.clipped, expected.clipped) << where;
  EXPECT_EQ(found.underflows, expected.underflows) << where;
  EXPECT_EQ(found.amax, expected.amax) << where;
  EXPECT_PRED2(is_same, found.squares, expected.squares) << where;
  EXPECT_PRED2(is_same, found.squared_errors, expected.squared_errors) << where;
}

CastStatistics sums_of(const KernelEntry<CastStatisticsRequest> &kernel, Matrix &source, Matrix &quantized) {
  CastStatistics sums;
  sums.nans = 77;  // the kernel overwrites it
  kernel.run({source.view(), quantized.view(), &sums});
  return sums;
}

const KernelEntry<CastStatisticsRequest> &reference() { return cast_statistics_kernels().back(); }

std::string text_of(const QuantizeCase &c, Values values) { return text_of(c) + ' ' + name_of(values); }

// Fills codes and scales with bits that casts do not write, including NaN, infinity, zero and negative scales.
void scramble(Matrix &matrix, Random &random) {
  for (std::size_t i = 0; i < matrix.data.bytes(); ++i) matrix.data.data()[i] = static_cast<uint8_t>(random.bits());
  for (std::size_t i = 0; i < matrix.scales.bytes(); ++i) matrix.scales.data()[i] = static_cast<uint8_t>(random.bits());
  for (std::size_t i = 0; i < matrix.zero_points.bytes(); ++i) {
    matrix.zero_points.data()[i] = static_cast<uint8_t>(random.bits());
  }
}

// Ternary bytes end at 242; larger bytes are invalid.
bool may_scramble(const Matrix &matrix) { return matrix.format().element != LPT_FORMAT_TERNARY; }

void compare(const QuantizeCase &c, Values values, Random &random, std::vector<int64_t> &taken) {
  Matrix source = source_of(c);
  source.fill(random, values);
  QuantizeRun run(c, source);
  if (may_scramble(run.target) && random.chance(0.3)) {
    scramble(run.target, random);
  } else {
    run_reference(run.request);
  }
  const CastStatistics expected = sums_of(reference(), source, run.target);
  const auto rows = cast_statistics_kernels();
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const CastStatisticsRequest request{source.view(), run.target.view(), nullptr};
    if (!is_here(rows[i]) || !takes(rows[i], request)) continue;
    ++taken[i];
    expect_same(sums_of(rows[i], source, run.target), expected, std::string(rows[i].name) + ' ' + text_of(c, values));
    EXPECT_TRUE(source.is_intact() && run.target.is_intact()) << rows[i].name << ' ' << text_of(c, values);
  }
}

TEST(CastStatisticsKernels, EqualTheReference) {
  Random random(1);
  static constexpr lpt_format sources[] = {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16,
                                           LPT_FORMAT_F64};
  static constexpr float odd_scales[] = {0x1p-126f, 0x1p127f, 1e-30f, 3.0f, 0.0117f};
  std::vector<int64_t> taken(cast_statistics_kernels().size());
  for (const lpt_format target : targets()) {
    for (int i = 0; i < (kIsSanitized ? 15 : 60); ++i) {
      QuantizeCase c;
      c.source = random.of(sources);
      c.target = target;
      c.rows = random.of(kFewRows);
      c.columns = random.chance(0.7) ? random.of(kSimdEdges) : random.below(2500);
      c.is_transposed = random.chance(0.1);
      if (random.chance(0.5)) {
        c.source_padding = random.below(70);
        c.target_padding = random.below(70);
      }
      c.source_shift = static_cast<std::size_t>(random.chance(0.5) ? 0 : 8 * random.below(8));
      if (random.chance(0.3)) c.tensor_scale = random.of(odd_scales);
      if (random.chance(0.3)) c.overflow = LPT_OVERFLOW_INFINITE;
      compare(c, random.of(kAllValues), random, taken);
      ASSERT_FALSE(HasFailure());
    }
  }
  for (std::size_t i = 0; i + 1 < taken.size(); ++i) {
    const KernelEntry<CastStatisticsRequest> &kernel = cast_statistics_kernels()[i];
    if (can_run(kernel)) {
      EXPECT_GT(taken[i], kIsSanitized ? 300 : 1500) << kernel.name << " rejected nearly everything";
    }
  }
}

TEST(CastStatisticsKernels, TakeTheCommonFormats) {
  for (const char *name : {"e4m3fn", "e4m3fn_tensor", "e4m3fn_row", "e4m3fn_1x128", "e4m3fn_128x128", "e5m2_tensor",
                           "e4m3_row", "mxfp8_e4m3", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "nvfp4", "mxint8", "int8_row",
                           "int4_1x32", "uint4_1x64", "nf4_1x64", "e4m3fnuz_tensor"}) {
    Matrix source(LPT_FORMAT_F32, 3, 64), quantized(named(name), 3, 64);
    for (const KernelEntry<CastStatisticsRequest> &kernel : cast_statistics_kernels()) {
      if (kernel.unsupported_reason == nullptr) continue;
      const char *reason = kernel.unsupported_reason({source.view(), quantized.view(), nullptr});
      EXPECT_EQ(reason, nullptr) << kernel.name << ' ' << name << ": " << reason;
    }
  }
}

// Squared errors of casts with several scales.

std::vector<double> errors_of(const KernelEntry<CastErrorsRequest> &row, CastErrorsRequest request) {
  std::vector<double> errors(static_cast<std::size_t>(request.scale_count) + 1, -7.0);
  request.errors = errors.data();
  row.run(request);
  EXPECT_EQ(errors.back(), -7.0) << row.name << " wrote past the errors";
  errors.pop_back();
  return errors;
}

// Elements of casts with one scale, including lists and custom floats.
constexpr const char *kOneScale[] = {"e4m3fn_tensor",
                                     "e5m2_tensor",
                                     "e4m3fnuz_tensor",
                                     "e3m4/tensor/f32",
                                     "e2m3fn/tensor/f32",
                                     "e2m1fn/tensor/f32",
                                     "e3m0_tensor",
                                     "int8_tensor",
                                     "int4/tensor/f32",
                                     "int2/tensor/f32",
                                     "q1_6/tensor/f32",
                                     "ternary_tensor",
                                     "nf4/tensor/f32",
                                     "bnb_fp4/tensor/f32",
                                     "ue3m4b7-ieee/tensor/f32",
                                     "e2m0b1-finite/tensor/f32",
                                     "f16_tensor",
                                     "bf16/tensor/f32"};

struct ErrorCase {
  Matrix source;
  std::vector<float> scales;
  CastErrorsRequest request;

  ErrorCase(const char *target, const QuantizeCase &c, Random &random, Values values) : source(source_of(c)) {
    source.fill(random, values);
    Format format;
    EXPECT_TRUE(find_format(named(target), format)) << target;
    const float amax = finite_amax(source);
    for (int i = 0; i < kMaxCastScales; ++i) {
      scales.push_back(
          clamp_scale(amax / largest_of(format.element) * static_cast<float>(0.02 + 1.3 * random.uniform())));
    }
    request = {source.view(), format.element, c.overflow, scales.data(), random.chance(0.5) ? 16 : 3, nullptr};
  }
};

TEST(CastErrorsKernels, EqualTheReference) {
  Random random(3);
  static constexpr lpt_format sources[] = {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16,
                                           LPT_FORMAT_F64};
  std::vector<int64_t> taken(cast_errors_kernels().size());
  for (const char *target : kOneScale) {
    for (int i = 0; i < 60; ++i) {
      QuantizeCase c;
      c.source = random.of(sources);
      c.rows = random.of(kFewRows);
      c.columns = random.chance(0.7) ? random.of(kSimdEdges) : random.below(1200);
      c.is_transposed = random.chance(0.1);
      c.source_padding = random.chance(0.5) ? random.below(70) : 0;
      if (random.chance(0.3)) c.overflow = LPT_OVERFLOW_INFINITE;
      const Values values = random.of(kAllValues);
      const ErrorCase one(target, c, random, values);
      const std::vector<double> expected = errors_of(reference_of(cast_errors_kernels()), one.request);
      for (std::size_t k = 0; k + 1 < taken.size(); ++k) {
        const KernelEntry<CastErrorsRequest> &row = cast_errors_kernels()[k];
        if (!is_here(row) || !takes(row, one.request)) continue;
        ++taken[k];
        ASSERT_EQ(errors_of(row, one.request), expected) << row.name << ' ' << target << ' ' << text_of(c, values);
        ASSERT_TRUE(one.source.is_intact()) << row.name << ' ' << target;
      }
    }
  }
  for (std::size_t k = 0; k + 1 < taken.size(); ++k) {
    if (can_run(cast_errors_kernels()[k])) {
      EXPECT_GT(taken[k], 500) << cast_errors_kernels()[k].name << " rejected nearly everything";
    }
  }
}

// Casts with each scale, and adds the squared errors.
TEST(CastErrorsReference, EqualsTheSumsOfCasts) {
  Random random(4);
  int64_t infinite = 0;
  for (const char *target : kOneScale) {
    for (const Values values : kAllValues) {
      QuantizeCase c;
      c.target = named(target);
      c.rows = 3;
      c.columns = 70;
      if (random.chance(0.5)) c.overflow = LPT_OVERFLOW_INFINITE;
      ErrorCase one(target, c, random, values);
      const std::vector<double> errors = errors_of(reference_of(cast_errors_kernels()), one.request);
      for (std::size_t i = 0; i < errors.size(); ++i) {
        c.tensor_scale = one.scales[i];
        QuantizeRun run(c, one.source);
        run_reference(run.request);
        const double expected = sums_of(reference(), one.source, run.target).squared_errors;
        const std::string where = text_of(c, values);
        ASSERT_EQ(errors[i], std::isfinite(expected) ? expected : HUGE_VAL) << where;
        infinite += std::isinf(errors[i]);
      }
    }
  }
  EXPECT_GT(infinite, 50);
}

// Reference kernel.

// Counts in double. If rounding decides whether an element is clipped, both counts are accepted.
struct Counted {
  int64_t nans = 0, least_clipped = 0, most_clipped = 0, underflows = 0;
  double amax = 0, squares = 0, squared_errors = 0;
};

double scale_of(const Matrix &matrix, int64_t row, int64_t column) {
  const double tensor_scale = matrix.format().has_tensor_scale() ? static_cast<double>(matrix.tensor_scale) : 1.0;
  if (!matrix.format().has_block_scale()) return tensor_scale;
  const BlockGrid grid = matrix.grid();
  const uint32_t code = matrix.scale_code(row / grid.block_rows, column / grid.block_columns);
  if (matrix.format().block_scale == LPT_FORMAT_F32) return tensor_scale * static_cast<double>(float_of_bits(code));
  if (matrix.format().block_scale == LPT_FORMAT_E8M0FNU) {
    return code == 255 ? static_cast<double>(kNan) : tensor_scale * std::ldexp(1.0, static_cast<int>(code) - 127);
  }
  return tensor_scale * static_cast<double>(decode(kElementE4m3fn, code));
}

double zero_of(const Matrix &matrix, int64_t row, int64_t column) {
  const BlockGrid grid = matrix.grid();
  return matrix.zero_point(row / grid.block_rows, column / grid.block_columns);
}

Counted counted(const Matrix &source, const Matrix &quantized, const Matrix &decoded) {
  constexpr double kNear = 1e-5;
  Counted result;
  // Wide floats represent infinity.
  const lpt_format element = quantized.format().element;
  const bool is_wide = element == LPT_FORMAT_F32 || element == LPT_FORMAT_F64;
  const double largest = is_wide ? HUGE_VAL : static_cast<double>(largest_of(element));
  for (int64_t r = 0; r < source.rows(); ++r) {
    for (int64_t c = 0; c < source.columns(); ++c) {
      const auto y = static_cast<double>(source.get(r, c));
      if (std::isnan(y)) {
        ++result.nans;
        continue;
      }
      const double units = y / scale_of(quantized, r, c);
      if (quantized.format().has_zero_point()) {
        // A value up to half a code outside the range rounds to a code in range.
        const double place = units + zero_of(quantized, r, c);
        result.least_clipped += place < -0.5 - kNear * 16 || place > largest + 0.5 + kNear * 16;
        result.most_clipped += place < -0.5 + kNear * 16 || place > largest + 0.5 - kNear * 16;
      } else {
        result.least_clipped += std::fabs(units) > largest * (1 + kNear);
        result.most_clipped += std::fabs(units) > largest * (1 - kNear);
      }
      if (std::isinf(y)) continue;
      const auto q = static_cast<double>(decoded.get(r, c));
      result.amax = std::max(result.amax, std::fabs(y));
      result.underflows += y != 0 && q == 0;
      result.squares += y * y;
      result.squared_errors += (y - q) * (y - q);
    }
  }
  return result;
}

TEST(CastSumsReference, MatchesACountInDouble) {
  Random random(2);
  int64_t clipped = 0, underflows = 0, nans = 0;
  for (const lpt_format target : targets()) {
    for (const Values values : {Values::kNormal, Values::kOutliers, Values::kZeroRuns, Values::kSpecials}) {
      for (const float factor : {0.0f, 0.25f}) {  // a tensor scale from the source, or one that clips
        QuantizeCase c;
        c.target = target;
        c.rows = 7;
        c.columns = 150;
        c.tensor_scale = factor;
        Matrix source = source_of(c);
        source.fill(random, values);
        QuantizeRun run(c, source);
        run_reference(run.request);
        Matrix decoded(LPT_FORMAT_F32, c.rows, c.columns);
        reference_of(dequantize_kernels()).run({run.target.view(), decoded.view()});
        const CastStatistics found = sums_of(reference(), source, run.target);
        const Counted expected = counted(source, run.target, decoded);
        const std::string where = text_of(c, values);
        ASSERT_EQ(found.elements, c.rows * c.columns) << where;
        ASSERT_EQ(found.nans, expected.nans) << where;
        ASSERT_GE(found.clipped, expected.least_clipped) << where;
        ASSERT_LE(found.clipped, expected.most_clipped) << where;
        ASSERT_EQ(found.underflows, expected.underflows) << where;
        ASSERT_EQ(static_cast<double>(found.amax), expected.amax) << where;
        // Difference and square are rounded to f32: relative errors of 2 · 2^-24 and 2^-24 of each square.
        ASSERT_NEAR(found.squares, expected.squares, 0x1p-23 * expected.squares) << where;
        if (!std::isnan(expected.squared_errors)) {
          ASSERT_NEAR(found.squared_errors, expected.squared_errors, 4 * 0x1p-24 * expected.squared_errors) << where;
        } else {
          ASSERT_TRUE(std::isnan(found.squared_errors)) << where;
        }
        clipped += found.clipped;
        underflows += found.underflows;
        nans += found.nans;
      }
    }
  }
  // The cases cover every count.
  EXPECT_GT(clipped, 1000);
  EXPECT_GT(underflows, 1000);
  EXPECT_GT(nans, 100);
}

// Expected values are computed by hand. e4m3fn: largest 448, smallest 2^-9.
TEST(CastSumsReference, CountsSpecialNumbers) {
  const float numbers[] = {1, -kNan, kInfiniteSum, -kInfiniteSum, 450,     -448,
                           0, -0.0f, 0x1p-10f,     -0x1p-20f,     0x1p-9f, 1.0625f};
  QuantizeCase c;
  c.target = LPT_FORMAT_E4M3FN;
  c.columns = static_cast<int64_t>(std::size(numbers));
  Matrix source = source_of(c);
  for (int64_t i = 0; i < c.columns; ++i) source.set(0, i, numbers[i]);
  QuantizeRun run(c, source);
  run_reference(run.request);
  for (const KernelEntry<CastStatisticsRequest> &kernel : cast_statistics_kernels()) {
    if (!is_here(kernel)) continue;
    const CastStatistics sums = sums_of(kernel, source, run.target);
    EXPECT_EQ(sums.elements, 12) << kernel.name;
    EXPECT_EQ(sums.nans, 1) << kernel.name;
    EXPECT_EQ(sums.clipped, 3) << kernel.name;     // the infinities and 450
    EXPECT_EQ(sums.underflows, 2) << kernel.name;  // 2^-10, a tie with zero, and 2^-20
    EXPECT_EQ(sums.amax, 450.0f) << kernel.name;
    EXPECT_EQ(sums.squares, 1 + 450.0 * 450 + 448.0 * 448 + 0x1p-20 + 0x1p-40 + 0x1p-18 + 1.0625 * 1.0625)
        << kernel.name;
    // 450 becomes 448, and 1.0625 becomes 1 (a tie).
    EXPECT_EQ(sums.squared_errors, 4 + 0x1p-20 + 0x1p-40 + 0.0625 * 0.0625) << kernel.name;
  }
}

// uint4 over 0 .. 15 with scale 1 and zero point 5: -5 .. 10 fit.
TEST(CastSumsReference, CountsWhatLeavesTheRangeOfAZeroPoint) {
  const float numbers[] = {-5, -5.5f, -5.75f, 10, 10.5f, 10.75f, 0.25f, kInfiniteSum, -1e30f, kNan};
  QuantizeCase c;
  c.target = LPT_FORMAT_UINT4_1X32;
  c.columns = static_cast<int64_t>(std::size(numbers));
  c.rule = LPT_SCALE_RULE_FIXED;
  Matrix source = source_of(c);
  for (int64_t i = 0; i < c.columns; ++i) source.set(0, i, numbers[i]);
  QuantizeRun run(c, source);
  const float scale = 1.0f;
  std::memcpy(run.target.scales.data(), &scale, sizeof scale);
  run.target.zero_points.data()[0] = 5;
  run_reference(run.request);
  for (const KernelEntry<CastStatisticsRequest> &kernel : cast_statistics_kernels()) {
    if (!is_here(kernel)) continue;
    const CastStatistics sums = sums_of(kernel, source, run.target);
    EXPECT_EQ(sums.nans, 1) << kernel.name;
    // -5.5 → -6, -5.75 → -6, 10.75 → 11, infinity, -1e30; 10.5 rounds to the even 10.
    EXPECT_EQ(sums.clipped, 5) << kernel.name;
    EXPECT_EQ(sums.underflows, 1) << kernel.name;  // 0.25
    EXPECT_EQ(sums.amax, 1e30f) << kernel.name;
  }
}

// A block whose scale is NaN decodes to NaN, so that the errors of its elements are NaN.
TEST(CastSumsReference, HandsOnTheNanOfABlock) {
  QuantizeCase c;
  c.target = LPT_FORMAT_MXFP4;
  c.columns = 64;
  Matrix source = source_of(c);
  for (int64_t i = 0; i < c.columns; ++i) source.set(0, i, i == 40 ? kNan : 2.0f);
  QuantizeRun run(c, source);
  run_reference(run.request);
  for (const KernelEntry<CastStatisticsRequest> &kernel : cast_statistics_kernels()) {
    if (!is_here(kernel)) continue;
    const CastStatistics sums = sums_of(kernel, source, run.target);
    EXPECT_EQ(sums.nans, 1) << kernel.name;
    EXPECT_EQ(sums.clipped, 0) << kernel.name;
    EXPECT_EQ(sums.underflows, 0) << kernel.name;
    EXPECT_EQ(sums.squares, 63 * 4.0) << kernel.name;
    EXPECT_TRUE(std::isnan(sums.squared_errors)) << kernel.name;
  }
}

}  // namespace
}  // namespace lpt::test
