// Every cast kernel against the reference kernel, bit for bit.
#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/quantize_case.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

// Custom elements of every bit width.
const std::vector<lpt_format> &own_elements() {
  static const std::vector<lpt_format> own = {
      named("ue1m0b1-finite"), named("e1m0b1-finite"),  named("e1m1b1-finite"), named("ue2m1b1-nan"),
      named("ue2m2b1-ieee"),   named("e2m1b1-nan"),     named("e2m2b1-nan"),    named("ue3m3b3-finite"),
      named("e4m2b9-finite"),  named("ue4m3b7-nan"),    named("e5m1b15-ieee"),  named("e3m3b4-fnuz"),
      named("ue4m4b7-ieee"),   named("ue5m3b15-nan"),   named("e6m1b31-ieee"),  named("e2m5b1-finite"),
      named("e7m0b63-finite"), named("e7m0b100-finite")};
  return own;
}

// Returns a preset element or a custom one.
lpt_format draw_element(Random &random) {
  static constexpr lpt_format common[] = {LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3, LPT_FORMAT_E5M2, LPT_FORMAT_E2M1FN,
                                          LPT_FORMAT_INT8,   LPT_FORMAT_F16,  LPT_FORMAT_BF16, LPT_FORMAT_F32};
  if (random.chance(0.4)) return random.of(common);
  if (random.chance(0.2)) {
    return own_elements()[static_cast<size_t>(random.below(static_cast<int64_t>(own_elements().size())))];
  }
  lpt_format element = LPT_FORMAT_F16;
  do {
    element = LPT_FORMAT_F16 + random.below(LPT_FORMAT_BNB_FP4 - LPT_FORMAT_F16 + 1);
  } while (element == LPT_FORMAT_E8M0FNU || element == LPT_FORMAT_UINT8);
  return element;
}

// Returns NONE if the drawn components are not a valid format.
lpt_format draw_target(Random &random) {
  static constexpr lpt_format scales[] = {LPT_FORMAT_F32, LPT_FORMAT_E8M0FNU, LPT_FORMAT_E4M3FN};
  static constexpr int32_t blocks[][2] = {
      {1, 16},  {1, 32},    {1, 64}, {1, 128}, {1, LPT_BLOCK_EXTENT_FULL}, {1, 8}, {1, 256}, {1, 512}, {4, 8},
      {16, 16}, {128, 128}, {2, 2},  {32, 1},  {LPT_BLOCK_EXTENT_FULL, 1}};
  Format parts;
  parts.element = draw_element(random);
  if (random.chance(0.5)) parts.tensor_scale = LPT_FORMAT_F32;
  if (random.chance(0.3)) {
    return format_at(plain_count() + random.below(format_count() - plain_count()));
  }
  if (random.chance(0.7)) {
    const auto &block = blocks[random.below(static_cast<int64_t>(std::size(blocks)))];
    parts.block_scale = random.of(scales);
    parts.block_rows = block[0];
    parts.block_columns = block[1];
    if (random.chance(0.08)) {
      parts.zero_point = LPT_FORMAT_UINT8;
      parts.element = random.chance(0.5) ? LPT_FORMAT_UINT4 : LPT_FORMAT_UINT8;
      parts.block_scale = LPT_FORMAT_F32;
      parts.tensor_scale = LPT_FORMAT_NONE;
    }
  }
  lpt_format id = LPT_FORMAT_NONE;
  return make_format(parts, id).is_ok() ? id : lpt_format{LPT_FORMAT_NONE};
}

// Returns any rule that is valid for the scales of a format.
lpt_scale_rule draw_rule(Random &random, const Format &format) {
  static constexpr lpt_scale_rule of_e8m0fnu[] = {
      LPT_SCALE_RULE_ROUND_UP,      LPT_SCALE_RULE_ROUND_UP,   LPT_SCALE_RULE_FLOOR,
      LPT_SCALE_RULE_FLOOR,         LPT_SCALE_RULE_CEIL,       LPT_SCALE_RULE_EVEN,
      LPT_SCALE_RULE_MSE,           LPT_SCALE_RULE_FIXED,      LPT_SCALE_RULE_QUEST_FLOOR,
      LPT_SCALE_RULE_QUEST_NEAREST, LPT_SCALE_RULE_QUEST_CEIL, LPT_SCALE_RULE_THREE_QUARTERS};
  static constexpr lpt_scale_rule of_e4m3fn[] = {
      LPT_SCALE_RULE_NEAREST,  LPT_SCALE_RULE_NEAREST, LPT_SCALE_RULE_HEADROOM, LPT_SCALE_RULE_HEADROOM,
      LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_MSE,     LPT_SCALE_RULE_FIXED,    LPT_SCALE_RULE_FOUR_OVER_SIX};
  static constexpr lpt_scale_rule of_f32[] = {
      LPT_SCALE_RULE_AMAX, LPT_SCALE_RULE_AMAX,  LPT_SCALE_RULE_POWER_OF_TWO,         LPT_SCALE_RULE_POWER_OF_TWO_DOWN,
      LPT_SCALE_RULE_LIST, LPT_SCALE_RULE_FIXED, LPT_SCALE_RULE_POWER_OF_TWO_NEAREST, LPT_SCALE_RULE_MEAN,
      LPT_SCALE_RULE_MSE};
  if (format.has_zero_point()) return random.chance(0.8) ? LPT_SCALE_RULE_AMAX : LPT_SCALE_RULE_FIXED;
  if (format.block_scale == LPT_FORMAT_E8M0FNU) {
    const lpt_scale_rule rule = random.of(of_e8m0fnu);
    const bool is_quest = rule >= LPT_SCALE_RULE_QUEST_FLOOR && rule <= LPT_SCALE_RULE_QUEST_CEIL;
    const bool lacks_space = rule == LPT_SCALE_RULE_THREE_QUARTERS && !format.has_tensor_scale();
    return (is_quest && format.element != LPT_FORMAT_E2M1FN) || lacks_space ? lpt_scale_rule{LPT_SCALE_RULE_CEIL}
                                                                            : rule;
  }
  if (format.block_scale == LPT_FORMAT_E4M3FN) {
    const lpt_scale_rule rule = random.of(of_e4m3fn);
    const bool has_six = format.element == LPT_FORMAT_E2M1FN && format.has_tensor_scale();
    return rule == LPT_SCALE_RULE_FOUR_OVER_SIX && !has_six ? lpt_scale_rule{LPT_SCALE_RULE_ROUND_UP} : rule;
  }
  const lpt_scale_rule rule = random.of(of_f32);
  // If only a tensor scale exists, the operation resolves these two rules before it calls a kernel.
  const bool is_settled = rule == LPT_SCALE_RULE_MSE || rule == LPT_SCALE_RULE_MEAN;
  return is_settled && !format.has_block_scale() ? lpt_scale_rule{LPT_SCALE_RULE_AMAX} : rule;
}

QuantizeCase draw_case(Random &random) {
  static constexpr lpt_rounding roundings[] = {
      LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC,          LPT_ROUNDING_STOCHASTIC,
      LPT_ROUNDING_TOWARD_ZERO,  LPT_ROUNDING_NEAREST_AWAY, LPT_ROUNDING_STOCHASTIC_UNDERFLOW};
  static constexpr float odd_scales[] = {0x1p-126f, 0x1p127f, 1e-30f, 3.0f, 1.0f, 0.0117f};
  QuantizeCase c;
  if (random.chance(0.2)) c.source = random.chance(0.5) ? LPT_FORMAT_BF16 : LPT_FORMAT_F16;
  do {
    c.target = draw_target(random);
  } while (c.target == LPT_FORMAT_NONE);
  c.rows = random.of(kFewRows);
  c.columns = random.chance(0.8) ? random.of(kSimdEdges) : random.below(random.chance(0.9) ? 1500 : 6000);
  c.is_transposed = random.chance(0.3);
  if (c.is_transposed && random.chance(0.5)) c.rows = random.of(kSimdEdges);
  if (random.chance(0.5)) c.source_padding = random.below(70);
  if (random.chance(0.5)) c.target_padding = random.below(70);
  c.target_shift = static_cast<std::size_t>(random.chance(0.5) ? 0 : 4 * random.below(16));
  Format format;
  find_format(c.target, format);
  if (random.chance(0.3) && element_bits(format.element) <= 8 && format.block_scale != LPT_FORMAT_F32)
    c.target_shift += 1;
  c.rounding = random.of(roundings);
  c.overflow = random.chance(0.7) ? LPT_OVERFLOW_SATURATE : LPT_OVERFLOW_INFINITE;
  c.rule = draw_rule(random, format);
  c.wants_amax = random.chance(0.5);
  // Requested if the target cannot represent a NaN.
  const bool hides_nan =
      !format.has_block_scale() && (!has_element(format.element) || element_of(format.element).nan_code == 0);
  c.wants_nan = hides_nan && random.chance(0.5);
  c.has_words = random.chance(0.1);
  if (random.chance(0.3)) c.tensor_scale = random.of(odd_scales);
  c.random.seed = random.bits();
  c.random.offset = random.chance(0.3) ? 0 : random.below(1000) + (random.chance(0.3) ? int64_t{1} << 40 : 0);
  c.random.row_stride = random.chance(0.5) ? 0 : c.columns + random.below(40);
  if (random.chance(0.5)) {
    c.random.offset &= ~int64_t{7};
    c.random.row_stride = ((c.is_transposed ? c.rows : c.columns) + 7) & ~int64_t{7};
  }
  c.random.step = static_cast<uint32_t>(random.bits());
  c.random.stream = static_cast<uint32_t>(random.bits());
  c.random.rounds = random.chance(0.5) ? 7 : 10;
  c.random.bits = random.chance(0.8) ? 16 : 8;
  c.is_streamed = random.chance(0.3);
  return c;
}

void expect_equal(const QuantizeCase &c, const QuantizeRun &found, const QuantizeRun &expected) {
  if (found.target.equals(expected.target) && found.amax == expected.amax && found.has_nan == expected.has_nan &&
      found.target.is_intact()) {
    return;
  }
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t column = 0; column < c.columns; ++column) {
      ASSERT_EQ(found.target.code(row, column), expected.target.code(row, column))
          << text_of(c) << " at " << row << "," << column;
    }
  }
  EXPECT_EQ(found.amax, expected.amax) << text_of(c);
  EXPECT_EQ(found.has_nan, expected.has_nan) << text_of(c);
  EXPECT_TRUE(found.target.is_intact()) << text_of(c) << ": wrote past the target";
  FAIL() << text_of(c) << ": scales or padding differ";
}

void fill_scales(Matrix &matrix, Random &random) {
  for (std::size_t i = 0; i < matrix.zero_points.bytes(); ++i) {
    matrix.zero_points.data()[i] = static_cast<uint8_t>(random.bits());
  }
  const bool is_in_range = random.chance(0.7);
  for (std::size_t i = 0; i < matrix.scales.bytes(); ++i) {
    matrix.scales.data()[i] = static_cast<uint8_t>(is_in_range ? 120 + random.below(14) : random.bits());
  }
  if (matrix.format().block_scale != LPT_FORMAT_F32) return;
  for (std::size_t i = 0; i + 4 <= matrix.scales.bytes(); i += 4) {
    static constexpr float odd[] = {0.0f, -0.0f, -1.5f, 1e-40f, 1e38f, INFINITY, -INFINITY, NAN};
    const float scale = random.chance(0.05) ? random.of(odd) : static_cast<float>(std::exp(3 * random.normal()));
    std::memcpy(matrix.scales.data() + i, &scale, 4);
  }
}

class QuantizeKernel : public KernelTest<QuantizeRequest> {
 protected:
  // Returns true if the kernel supports the case.
  bool compare(const QuantizeCase &c, Values values, Random &random) {
    QuantizeCase small = c;  // most cases are rejected: check with little memory first
    small.tensor_scale = 1;
    if (small.random.row_stride == 0) small.random.row_stride = c.is_transposed ? c.rows : c.columns;
    small.columns = c.columns < 64 ? c.columns : 64;
    Matrix sample = source_of(small);
    if (!takes(QuantizeRun(small, sample).request)) return false;
    Matrix source = source_of(c);
    source.fill(random, values);
    QuantizeRun expected(c, source), found(c, source);
    EXPECT_TRUE(takes(found.request)) << text_of(c);
    if (c.rule == LPT_SCALE_RULE_FIXED) {
      fill_scales(expected.target, random);
      found.target.copy_scales(expected.target);
    }
    run_reference(expected.request);
    GetParam()->run(found.request);
    SCOPED_TRACE(name_of(values));
    expect_equal(c, found, expected);
    return true;
  }
};

TEST_P(QuantizeKernel, EqualsTheReferenceOnDrawnCases) {
  Random random(100);
  int taken = 0;
  for (int tries = 0; taken < (kIsSanitized ? 400 : 1000) && tries < 100000; ++tries) {
    taken += compare(draw_case(random), random.of(kAllValues), random);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(taken, 200) << "the row rejects nearly everything";
}

// Streaming stores, from an odd address and from a cache line on.
TEST_P(QuantizeKernel, EqualsTheReferenceOnALargeMatrix) {
  for (const lpt_format target : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F16_TENSOR, LPT_FORMAT_E4M3FN_1X128,
                                  LPT_FORMAT_BF16, LPT_FORMAT_UINT4_1X128}) {
    const bool is_drawn = target == LPT_FORMAT_BF16;
    QuantizeCase c;
    c.target = target;
    c.rows = 2;
    const int64_t columns = (int64_t{1} << 24) / (is_drawn ? 8 : target == LPT_FORMAT_F16_TENSOR ? 4 : 2);
    c.columns = (kIsSanitized ? columns / 16 : columns) + 77;
    c.rounding = is_drawn ? LPT_ROUNDING_STOCHASTIC : LPT_ROUNDING_NEAREST_EVEN;
    c.target_shift = is_drawn ? 0 : 4;
    c.is_streamed = true;
    Random random(101);
    compare(c, Values::kBits, random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(QuantizeKernel, EqualsTheReferenceOnEveryUpperHalf) {
  std::vector<lpt_format> targets = {named("ue1m0b1-finite"), named("e1m1b1-finite"), named("e2m2b1-nan"),
                                     named("e4m2b9-finite"),  named("ue4m4b7-ieee"),  named("e6m1b31-ieee")};
  for (lpt_format target = LPT_FORMAT_F16; target <= LPT_FORMAT_BNB_FP4; ++target) targets.push_back(target);
  for (const lpt_format target : targets) {
    if (target == LPT_FORMAT_E8M0FNU || target == LPT_FORMAT_UINT8) continue;
    for (lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN; rounding <= LPT_ROUNDING_STOCHASTIC_UNDERFLOW; ++rounding) {
      for (const uint32_t low : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
        QuantizeCase c;
        c.target = target;
        c.columns = 65536;
        c.rounding = rounding;
        Matrix source = source_of(c);
        QuantizeRun expected(c, source), found(c, source);
        if (!takes(found.request)) continue;
        for (int64_t column = 0; column < c.columns; ++column) {
          source.set(0, column, bits_float(static_cast<uint32_t>(column) << 16 | low));
        }
        run_reference(expected.request);
        GetParam()->run(found.request);
        expect_equal(c, found, expected);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rules that compare several scales, in blocks along rows and over several rows, that end within a vector.
TEST_P(QuantizeKernel, EqualsTheReferenceWhereScalesAreSearched) {
  Random random(106);
  for (const char *name :
       {"nvfp4", "nvfp4_16x16", "mxfp4", "mxfp8_e4m3", "mxint8", "e4m3fn_1x128", "e4m3fn_128x128", "e4m3fn_row",
        "int4_1x128", "int8_row", "nf4_1x64", "bnb_fp4_1x64", "q1_6/1x32/f32", "e3m0/1x32/e8m0fnu",
        "e2m2b1-nan/1x16/e4m3fn", "e3m3b4-fnuz/1x64/f32", "e4m3fn/1x2048/f32"}) {
    for (const int64_t columns : {1, 16, 31, 130, 1100, 2077}) {
      for (const lpt_format source : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
        QuantizeCase c;
        c.source = source;
        c.target = named(name);
        c.rows = columns < 1000 ? 19 : 3;
        c.columns = columns;
        c.is_transposed = random.chance(0.3);
        c.rounding = random.chance(0.5) ? LPT_ROUNDING_STOCHASTIC : LPT_ROUNDING_NEAREST_EVEN;
        Format format;
        find_format(c.target, format);
        const bool has_six = format.element == LPT_FORMAT_E2M1FN && format.has_tensor_scale();
        c.rule = has_six && random.chance(0.3) ? LPT_SCALE_RULE_FOUR_OVER_SIX : LPT_SCALE_RULE_MSE;
        compare(c, random.chance(0.7) ? Values::kNormal : random.of(kAllValues), random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Values that their random bits just round up, and values just below, among subnormals and normals. Groups with zero points
// contain 0 and 15, so that their scale is 1.
TEST_P(QuantizeKernel, EqualsTheReferenceWhereStochasticRoundingChanges) {
  struct Place {
    lpt_format target;
    double step;
    int first, wholes;  // `wholes` values from `first` on, in steps
  };
  static constexpr Place places[] = {
      {LPT_FORMAT_E4M3FN, 0x1p-9, 0, 7}, {LPT_FORMAT_E4M3FN, 0x1p-3, 8, 1},   {LPT_FORMAT_F16, 0x1p-24, 0, 1023},
      {LPT_FORMAT_F16, 0x1p-7, 1024, 9}, {LPT_FORMAT_BF16, 0x1p-133, 0, 127}, {LPT_FORMAT_BF16, 0x1p-6, 128, 9},
      {LPT_FORMAT_UINT4_1X32, 1, 0, 14},
  };
  for (const Place &place : places) {
    for (const int32_t bits : {16, 8}) {
      QuantizeCase c;
      c.target = place.target;
      c.columns = 4096;
      c.rounding = LPT_ROUNDING_STOCHASTIC;
      c.random.bits = bits;
      Matrix source = source_of(c);
      QuantizeRun expected(c, source), found(c, source);
      if (!takes(found.request)) continue;
      for (int64_t column = 0; column < c.columns; ++column) {
        const double drawn = random_bits(found.request.random, 0, column);
        const double least = 1 - (2 * drawn + 1) * std::ldexp(0.5, -bits);
        const double whole = place.first + static_cast<double>(column % place.wholes);
        auto boundary = static_cast<float>(place.step * (whole + least));
        if (static_cast<double>(boundary) < place.step * (whole + least)) boundary = std::nextafter(boundary, INFINITY);
        source.set(0, column, column % 2 == 0 ? boundary : std::nextafter(boundary, 0.0f));
        if (found.target.format().has_zero_point() && column % 32 < 2) source.set(0, column, column % 2 == 0 ? 0 : 15);
      }
      run_reference(expected.request);
      GetParam()->run(found.request);
      expect_equal(c, found, expected);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(QuantizeKernel, GivesTheSameBitsInPartsAsInWhole) {
  for (const lpt_format target :
       {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_ROW, LPT_FORMAT_BF16, LPT_FORMAT_UINT4_1X32}) {
    QuantizeCase c;
    c.target = target;
    c.rows = 6;
    c.columns = 333;
    c.rounding = LPT_ROUNDING_STOCHASTIC;
    Matrix source = source_of(c);
    Random random(102);
    source.fill(random, Values::kNormal);
    QuantizeRun whole(c, source), parts(c, source);
    if (!takes(whole.request)) continue;
    GetParam()->run(whole.request);
    for (int64_t row = 0; row < c.rows; row += 2) {
      QuantizeRequest part = parts.request;
      const int64_t bits = element_bits(part.target.format.element);
      const int64_t scale = row * part.target.block_scale_stride;
      part.source.rows = part.target.rows = 2;
      part.source.data = static_cast<float *>(part.source.data) + row * part.source.row_stride;
      part.target.data = static_cast<uint8_t *>(part.target.data) + row * part.target.row_stride * bits / 8;
      part.target.block_scales = static_cast<float *>(part.target.block_scales) + scale;
      if (part.target.zero_points != nullptr) part.target.zero_points += scale;
      part.random.offset += row * part.random.row_stride;
      GetParam()->run(part);
    }
    EXPECT_TRUE(parts.target.equals(whole.target)) << format_name(target);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, QuantizeKernel, testing::ValuesIn(fast_kernels(quantize_kernels())),
                         kernel_name<QuantizeRequest>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(QuantizeKernel);

class AmaxKernel : public KernelTest<AmaxRequest> {};

TEST_P(AmaxKernel, EqualsTheReference) {
  Random random(103);
  int taken = 0;
  for (int tries = 0; tries < 3000; ++tries) {
    Matrix source(random.chance(0.7) ? LPT_FORMAT_F32 : LPT_FORMAT_BF16, random.of(kFewRows), random.of(kSimdEdges),
                  random.below(2) * random.below(9), static_cast<std::size_t>(4 * random.below(16)),
                  random.chance(0.1));
    source.fill(random, random.of(kAllValues));
    float expected = -1, found = -2;
    bool expected_nan = false, found_nan = true;
    const AmaxRequest request = {source.view(), &found, &found_nan};
    if (!takes(request)) continue;
    ++taken;
    reference_of(amax_kernels()).run({source.view(), &expected, &expected_nan});
    GetParam()->run(request);
    ASSERT_EQ(found, expected) << source.rows() << "x" << source.columns();
    ASSERT_EQ(found_nan, expected_nan);
  }
  EXPECT_GE(taken, 500);
}

INSTANTIATE_TEST_SUITE_P(Kernels, AmaxKernel, testing::ValuesIn(fast_kernels(amax_kernels())),
                         kernel_name<AmaxRequest>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AmaxKernel);

class DequantizeKernel : public KernelTest<DequantizeRequest> {
 protected:
  bool compare(lpt_format from, lpt_format to, int64_t rows, int64_t columns, Random &random) {
    const int64_t padding = random.below(2) * random.below(70);
    const std::size_t shift = static_cast<std::size_t>(random.below(2) * 8 * random.below(8));
    Matrix source(from, rows, columns, padding, shift);
    Matrix expected(to, rows, columns, padding / 2, shift), found(to, rows, columns, padding / 2, shift);
    const float scales[] = {1.0f, 0x1p-126f, 0.37f, 1e20f, std::nanf(""), 1e-40f};
    source.tensor_scale = random.of(scales);
    const DequantizeRequest request = {source.view(), found.view()};
    if (!takes(request)) return false;
    for (std::size_t i = 0; i < source.data.bytes(); ++i) source.data.data()[i] = static_cast<uint8_t>(random.bits());
    fill_scales(source, random);
    reference_of(dequantize_kernels()).run({source.view(), expected.view()});
    GetParam()->run(request);
    EXPECT_TRUE(found.is_intact());
    EXPECT_TRUE(found.equals(expected)) << format_name(from) << " -> " << format_name(to) << " " << rows << "x"
                                        << columns << " padding " << padding << " shift " << shift << " scale "
                                        << source.tensor_scale;
    return true;
  }
};

TEST_P(DequantizeKernel, EqualsTheReference) {
  static constexpr lpt_format outputs[] = {LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
  Random random(104);
  int taken = 0;
  for (int tries = 0; tries < 20000 && taken < 2000 && !HasFailure(); ++tries) {
    const int64_t columns = random.chance(0.9) ? random.of(kSimdEdges) : random.below(3000);
    const lpt_format from = draw_target(random);
    if (from == LPT_FORMAT_NONE) continue;
    taken += compare(from, random.of(outputs), random.of(kFewRows), columns, random);
  }
  EXPECT_GE(taken, 200);
}

TEST_P(DequantizeKernel, EqualsTheReferenceOnALargeMatrix) {
  Random random(105);
  compare(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F32, 2, (int64_t{1} << 22) / 2 + 99, random);
}

INSTANTIATE_TEST_SUITE_P(Kernels, DequantizeKernel, testing::ValuesIn(fast_kernels(dequantize_kernels())),
                         kernel_name<DequantizeRequest>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DequantizeKernel);

}  // namespace
}  // namespace lpt::test
