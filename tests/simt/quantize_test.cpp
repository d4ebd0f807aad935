// CUDA casts on the CPU against the reference kernels: every format, odd sizes, unaligned addresses, all kinds of values.
#include <gtest/gtest.h>

#include "kernels/quantize/cuda/cuda_draw.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"
#include "tests/kernels/quantize_case.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kSources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr lpt_format kTargets[] = {LPT_FORMAT_E4M3FN,       LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR,
                                   LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E5M2_1X128,    LPT_FORMAT_E4M3FN_128X128,
                                   LPT_FORMAT_E5M2_128X128, LPT_FORMAT_MXFP8_E4M3,    LPT_FORMAT_MXFP8_E5M2,
                                   LPT_FORMAT_MXFP6_E3M2,   LPT_FORMAT_MXFP6_E2M3,    LPT_FORMAT_MXFP4,
                                   LPT_FORMAT_NVFP4,        LPT_FORMAT_E4M3FN_ROW,    LPT_FORMAT_E5M2_ROW,
                                   LPT_FORMAT_INT8_ROW,     LPT_FORMAT_INT8_1X32,     LPT_FORMAT_INT4_1X32,
                                   LPT_FORMAT_INT4_1X128,   LPT_FORMAT_NVFP4_16X16,   LPT_FORMAT_INT8_TENSOR};
// Formats that only the last kernel supports: zero points, lists of levels, other element kinds, other block shapes.
const char *const kOthers[] = {
    "uint4_1x32",     "uint8/1x64/f32/uint8", "nf4_1x64",   "bnb_fp4_1x64", "mxint8", "e3m0_tensor", "int16_tensor",
    "ternary_tensor", "e5m2fnuz_tensor",      "f16_tensor", "e3m2fn",       "int2",   "int3",        "e4m3_row",
    "int4/16x32/f32", "e2m3fn/column/f32"};
constexpr lpt_rounding kRoundings[] = {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_TOWARD_ZERO,
                                       LPT_ROUNDING_NEAREST_AWAY, LPT_ROUNDING_STOCHASTIC_UNDERFLOW};
struct Size {
  int64_t rows, columns;
};
constexpr Size kSizes[] = {{1, 1}, {3, 16}, {2, 130}, {5, 37}, {1, 300}, {9, 64}, {33, 40}, {0, 7}, {4, 0}};
constexpr Values kValues[] = {Values::kNormal,     Values::kOutliers, Values::kZeroRuns, Values::kSpecials,
                              Values::kSubnormals, Values::kExtremes, Values::kTies,     Values::kBits};

lpt_scale_rule any_rule(Random &random, const Format &format, lpt_rounding rounding) {
  if (random.chance(0.5) || format.block_scale == LPT_FORMAT_NONE)
    return resolved(format, LPT_SCALE_RULE_DEFAULT, rounding);
  static constexpr lpt_scale_rule of_f32[] = {LPT_SCALE_RULE_POWER_OF_TWO,
                                              LPT_SCALE_RULE_POWER_OF_TWO_DOWN,
                                              LPT_SCALE_RULE_POWER_OF_TWO_NEAREST,
                                              LPT_SCALE_RULE_MSE,
                                              LPT_SCALE_RULE_MEAN,
                                              LPT_SCALE_RULE_LIST,
                                              LPT_SCALE_RULE_FIXED};
  static constexpr lpt_scale_rule of_e8m0[] = {
      LPT_SCALE_RULE_FLOOR,       LPT_SCALE_RULE_CEIL,          LPT_SCALE_RULE_EVEN,       LPT_SCALE_RULE_MSE,
      LPT_SCALE_RULE_QUEST_FLOOR, LPT_SCALE_RULE_QUEST_NEAREST, LPT_SCALE_RULE_QUEST_CEIL, LPT_SCALE_RULE_FIXED};
  static constexpr lpt_scale_rule of_e4m3[] = {LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_HEADROOM,
                                               LPT_SCALE_RULE_FOUR_OVER_SIX, LPT_SCALE_RULE_MSE, LPT_SCALE_RULE_FIXED};
  if (format.has_zero_point()) return LPT_SCALE_RULE_FIXED;
  if (format.block_scale == LPT_FORMAT_F32) return random.of(of_f32);
  return format.block_scale == LPT_FORMAT_E8M0FNU ? random.of(of_e8m0) : random.of(of_e4m3);
}

QuantizeCase any_case(Random &random, lpt_format target) {
  QuantizeCase c;
  c.source = random.of(kSources);
  c.target = target;
  const Size size = random.of(kSizes);
  c.rows = size.rows;
  c.columns = size.columns;
  const bool is_even = random.chance(0.5);  // rows aligned to 16 bytes
  c.source_padding = is_even ? (16 - c.columns % 16) % 16 : random.below(5);
  c.target_padding = is_even ? (32 - c.columns % 32) % 32 : random.below(5);
  c.source_shift = is_even || random.chance(0.5) ? 0 : 4;
  c.target_shift = is_even ? 0 : static_cast<std::size_t>(random.below(3)) * 4;
  c.rounding = random.chance(0.5) ? LPT_ROUNDING_STOCHASTIC : LPT_ROUNDING_NEAREST_EVEN;
  c.wants_amax = random.chance(0.5);
  c.wants_nan = random.chance(0.5);
  c.random.bits = random.chance(0.5) ? 16 : 8;
  c.random.rounds = random.chance(0.5) ? 7 : 10;
  c.random.offset = random.chance(0.5) ? 0 : random.below(1000);
  c.random.row_stride = random.chance(0.5) ? 0 : c.columns + random.below(40);
  c.has_words = random.chance(0.2);
  return c;
}

// Cases of casts to 16 bits, which have a separate kernel.
QuantizeCase half_case(Random &random) {
  QuantizeCase c = any_case(random, random.of({LPT_FORMAT_BF16, LPT_FORMAT_F16}));
  c.rounding = LPT_ROUNDING_NEAREST_EVEN;
  c.wants_amax = c.wants_nan = false;
  return c;
}

void expect_equal(QuantizeRun &run, QuantizeRun &reference, const std::string &what) {
  EXPECT_TRUE(run.target.is_intact()) << what;
  EXPECT_TRUE(run.target.equals(reference.target)) << what;
  EXPECT_EQ(float_bits(run.amax), float_bits(reference.amax)) << what;
  EXPECT_EQ(run.has_nan, reference.has_nan) << what;
}

// Fills the caller's scales of rule FIXED with any bits.
void fill_scales(uint64_t place, Matrix &target) {
  Random random(place);
  for (std::size_t i = 0; i < target.scales.bytes(); ++i) {
    target.scales.data()[i] = static_cast<uint8_t>(random.bits());
  }
  for (std::size_t i = 0; i < target.zero_points.bytes(); ++i) {
    target.zero_points.data()[i] = static_cast<uint8_t>(random.below(16));
  }
}

void check(QuantizeCase c, Random &random, Tally &tally) {
  Format format;
  find_format(c.target, format);
  if (c.rule == LPT_SCALE_RULE_DEFAULT) c.rule = any_rule(random, format, c.rounding);
  Matrix source = source_of(c);
  source.fill(random, random.of(kValues));
  bool is_known = false;
  for (const KernelEntry<QuantizeRequest> &kernel : quantize_device_kernels()) {
    QuantizeRun run(c, source);
    if (kernel.unsupported_reason(run.request) != nullptr) continue;
    if (is_known && !random.chance(0.1)) continue;  // the last kernel supports all formats, and is slow
    is_known = true;
    tally.add(kernel.name);
    QuantizeRun reference(c, source);
    fill_scales(7, run.target);
    fill_scales(7, reference.target);
    run_reference(reference.request);
    take_next_order();
    kernel.queue(run.request, nullptr);
    expect_equal(run, reference, std::string(kernel.name) + ": " + text_of(c));
  }
}

TEST(SimtQuantize, EveryRowEqualsTheReference) {
  Random random(41);
  Tally tally(quantize_device_kernels());
  for (const lpt_format target : kTargets) {
    for (int i = 0; i < 60; ++i) {
      if (is_taken(random, 4)) check(any_case(random, target), random, tally);
    }
  }
  for (int i = 0; i < 60; ++i) {
    QuantizeCase c =
        any_case(random, random.of({LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_INT8_TENSOR}));
    c.is_transposed = true;
    if (c.random.row_stride != 0) c.random.row_stride = c.rows + random.below(9);
    check(c, random, tally);
  }
  for (int i = 0; i < 80; ++i) check(half_case(random), random, tally);
  tally.expect_all_at_least(kIsSanitized ? 10 : 50);
}

// All rows of a square block affect its scale.
TEST(SimtQuantize, SquaresAreSearchedAsTheReferenceDoes) {
  Random random(47);
  Tally tally(quantize_device_kernels());
  for (int i = 0; i < 24; ++i) {
    QuantizeCase c = any_case(random, LPT_FORMAT_NVFP4_16X16);
    c.rows = 32;
    c.columns = 48;
    c.rule = i % 2 == 0 ? LPT_SCALE_RULE_MSE : LPT_SCALE_RULE_FOUR_OVER_SIX;
    check(c, random, tally);
  }
}

TEST(SimtQuantize, TheLastRowTakesEveryFormatRoundingAndOverflow) {
  Random random(46);
  Tally tally(std::span(&quantize_device_kernels().back(), 1));
  for (const char *const name : kOthers) {
    for (int i = 0; i < 12; ++i) {
      if (!is_taken(random, 4)) continue;
      QuantizeCase c = any_case(random, named(name));
      c.rounding = random.of(kRoundings);
      c.overflow = random.chance(0.3) ? LPT_OVERFLOW_INFINITE : LPT_OVERFLOW_SATURATE;
      c.is_transposed = random.chance(0.2);
      if (c.is_transposed && c.random.row_stride != 0) c.random.row_stride = c.rows + random.below(9);
      check(c, random, tally);
    }
  }
  tally.expect_all_at_least(kIsSanitized ? 20 : 150);
}

// More than a tile, and more than a thread block.
TEST(SimtQuantize, LargeMatricesEqualTheReference) {
  Random random(42);
  Tally tally(quantize_device_kernels());
  for (const lpt_format target : kTargets) {
    QuantizeCase c = any_case(random, target);
    c.rows = kIsSanitized ? 67 : 131;
    c.columns = 290;
    check(c, random, tally);
    c.is_transposed = true;
    c.random.row_stride = 0;
    if (is_taken(random, 4)) check(c, random, tally);
  }
  QuantizeCase tile = any_case(random, LPT_FORMAT_E4M3FN_128X128);  // its kernel supports rules of amax only
  tile.rule = LPT_SCALE_RULE_AMAX;
  tile.rows = 131;
  tile.columns = 290;
  check(tile, random, tally);
  for (int i = 0; i < 4; ++i) {
    QuantizeCase c = half_case(random);
    c.rows = 131;
    c.columns = 290;
    c.is_transposed = false;
    check(c, random, tally);
  }
  tally.expect_all_at_least(kIsSanitized ? 0 : 1);
}

TEST(SimtQuantize, WhatTheRowsDoNotTakeIsRejected) {
  struct Rejected {
    void (*change)(QuantizeRequest &);
    const char *why;
  };
  static constexpr Rejected rejected[] = {
      {[](QuantizeRequest &r) { r.source.format.element = LPT_FORMAT_F64; }, "takes f32, bf16 and f16 only"},
      {[](QuantizeRequest &r) { r.target.format.element = LPT_FORMAT_INT16; },
       "gives e4m3fn, e5m2, e3m2fn, e2m3fn, e2m1fn, int8 and int4 only"},
      {[](QuantizeRequest &r) { r.rounding = LPT_ROUNDING_TOWARD_ZERO; },
       "rounds to nearest even or stochastically only"},
      {[](QuantizeRequest &r) { r.overflow = LPT_OVERFLOW_INFINITE; }, "saturates only"},
      {[](QuantizeRequest &r) { r.source.column_stride = 2; }, "takes adjacent columns only"},
      {[](QuantizeRequest &r) { r.rule = LPT_SCALE_RULE_FOUR_OVER_SIX; }, "does not take this scale rule"},
      {[](QuantizeRequest &r) { r.target.format.block_columns = LPT_BLOCK_EXTENT_FULL; },
       "takes blocks of 16 to 512 columns only"},
  };
  QuantizeCase c;
  c.target = LPT_FORMAT_MXFP8_E4M3;
  c.rows = 2;
  c.columns = 64;
  Matrix source = source_of(c);
  for (const Rejected &one : rejected) {
    QuantizeRun run(c, source);
    const KernelEntry<QuantizeRequest> &kernel = quantize_device_kernels().front();
    EXPECT_EQ(kernel.unsupported_reason(run.request), nullptr);
    one.change(run.request);
    EXPECT_STREQ(kernel.unsupported_reason(run.request), one.why);
  }
}

TEST(SimtAmax, EqualsTheReference) {
  Random random(43);
  for (int i = 0; i < (kIsSanitized ? 20 : 60); ++i) {
    const Size size = random.of(kSizes);
    Matrix source(random.of(kSources), size.rows, size.columns, random.below(9), random.chance(0.5) ? 0 : 4,
                  random.chance(0.3));
    source.fill(random, random.of(kValues));
    float amax = -1, oracle = -2;
    bool has_nan = i % 2 == 0, expected_nan = true;
    const AmaxRequest request = {source.view(), &amax, &has_nan};
    ASSERT_EQ(amax_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    amax_device_kernels().front().queue(request, nullptr);
    reference_of(amax_kernels()).run({source.view(), &oracle, &expected_nan});
    EXPECT_EQ(float_bits(amax), float_bits(oracle)) << i;
    EXPECT_EQ(has_nan, expected_nan) << i;
  }
}

TEST(SimtDraw, GivesTheBitsOfEveryElement) {
  for (const int32_t bits : {8, 16}) {
    for (const Size size : kSizes) {
      RandomSource random = {77, 5, size.columns + 3, random_stream(RandomDomain::kQuantize, 1, 2), 9, 7, bits};
      Matrix words(bits == 8 ? LPT_FORMAT_UINT8 : LPT_FORMAT_BF16, size.rows, size.columns, 3);
      const DrawRequest request = {random, words.view()};
      ASSERT_EQ(draw_device_kernels().front().unsupported_reason(request), nullptr);
      take_next_order();
      draw_device_kernels().front().queue(request, nullptr);
      for (int64_t row = 0; row < size.rows; ++row) {
        for (int64_t column = 0; column < size.columns; ++column) {
          ASSERT_EQ(words.code(row, column), random_bits(random, row, column)) << bits << ": " << row << ", " << column;
        }
      }
      EXPECT_TRUE(words.is_intact());
    }
  }
  const uint8_t word = 0;
  DrawRequest given = {};
  given.random.words = &word;
  EXPECT_STREQ(draw_device_kernels().front().unsupported_reason(given), "the caller has drawn them");
}

// Fills codes and scales with any bits.
void fill_bytes(Random &random, Guarded &memory) {
  for (std::size_t i = 0; i < memory.bytes(); ++i) memory.data()[i] = static_cast<uint8_t>(random.bits());
}

void check_decoding(Random &random, lpt_format format, Tally &tally) {
  const Size size = random.of(kSizes);
  Matrix source(format, size.rows, size.columns, random.below(9), random.chance(0.5) ? 0 : 4);
  fill_bytes(random, source.data);
  fill_bytes(random, source.scales);
  fill_bytes(random, source.zero_points);
  source.tensor_scale = static_cast<float>(random.normal());
  const lpt_format to = random.of(kSources);
  const int64_t padding = random.below(9);
  Matrix oracle(to, size.rows, size.columns, padding);
  reference_of(dequantize_kernels()).run({source.view(), oracle.view()});
  for (const KernelEntry<DequantizeRequest> &kernel : dequantize_device_kernels()) {
    Matrix target(to, size.rows, size.columns, padding);
    const DequantizeRequest request = {source.view(), target.view()};
    if (kernel.unsupported_reason(request) != nullptr) continue;
    tally.add(kernel.name);
    take_next_order();
    kernel.queue(request, nullptr);
    EXPECT_TRUE(target.is_intact() && target.equals(oracle))
        << kernel.name << ": " << format_name(format) << " to " << format_name(to) << " " << size.rows << "x"
        << size.columns;
  }
}

TEST(SimtDequantize, EqualsTheReference) {
  Random random(44);
  Tally tally(dequantize_device_kernels());
  for (int i = 0; i < 15; ++i) {
    for (const lpt_format format : kTargets) check_decoding(random, format, tally);
    for (const char *const name : kOthers) check_decoding(random, named(name), tally);
  }
  tally.expect_all_at_least(300);
}

TEST(SimtTranspose, EqualsTheReference) {
  Random random(45);
  for (int i = 0; i < 80; ++i) {
    const lpt_format format = random.of(
        {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_128X128, LPT_FORMAT_UINT8, LPT_FORMAT_BF16, LPT_FORMAT_F32});
    const Size size = i < 2 ? Size{131, 290} : random.of(kSizes);
    const int64_t padding = random.below(2) * random.below(9);
    Matrix source(format, size.rows, size.columns, (16 - size.columns % 16) % 16 + padding);
    fill_bytes(random, source.data);
    fill_bytes(random, source.scales);
    const int64_t target_padding = (16 - size.rows % 16) % 16 + padding;
    Matrix target(format, size.columns, size.rows, target_padding),
        oracle(format, size.columns, size.rows, target_padding);
    const TransposeRequest request = {source.view(), target.view()};
    ASSERT_EQ(transpose_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    transpose_device_kernels().front().queue(request, nullptr);
    reference_of(transpose_kernels()).run({source.view(), oracle.view()});
    EXPECT_TRUE(target.is_intact() && target.equals(oracle)) << size.rows << "x" << size.columns;
  }
}

}  // namespace
}  // namespace lpt::test
