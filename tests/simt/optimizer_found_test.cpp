// Statistics of gradients and moments on the device, run on the CPU: the norm against the reference kernel, derived values
// against their formulas in f64.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "kernels/optimizer/cuda_found.hpp"
#include "kernels/optimizer/cuda_kernels.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {
namespace {

void compare_norm(Random &random, lpt_format format, int64_t count, Values values) {
  const int64_t begin = kNormBlock * random.below(3);
  Matrix gradient(format, 1, begin + count, 0, random.chance(0.5) ? 0 : 4);
  gradient.fill(random, values);
  const auto blocks = static_cast<size_t>((begin + count + kNormBlock - 1) / kNormBlock);
  std::vector<double> found(blocks, -1.0), expected(blocks, -1.0);
  int64_t found_count = 3, expected_count = 3;
  take_next_order();
  norm_device_kernels().front().queue({gradient.data.data(), format, begin, count, found.data(), &found_count},
                                      nullptr);
  reference_of(norm_kernels()).run({gradient.data.data(), format, begin, count, expected.data(), &expected_count});
  EXPECT_EQ(expected, found) << count << " from " << begin << ", " << name_of(values);
  EXPECT_EQ(expected_count, found_count);
}

TEST(SimtNorm, GivesTheBitsOfTheReference) {
  Random random(61);
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    for (const int64_t count : {0, 1, 15, 16, 17, 100, 4095, 4096, 4097, 70001}) {
      for (const Values values : kAllValues) compare_norm(random, format, count, values);
    }
  }
}

TEST(SimtNorm, WhatTheRowDoesNotTakeIsRejected) {
  const NormRequest request = {nullptr, LPT_FORMAT_F16, 0, 1, nullptr, nullptr};
  EXPECT_STREQ("the gradient is neither f32 nor bf16", norm_device_kernels().front().unsupported_reason(request));
}

GradientStats facts_of(const std::vector<double> &sums, int64_t nonfinite_count, double scale, double largest_norm) {
  GradientStats facts = {-1.0, nonfinite_count, -1.0, -1.0, -1.0f};
  take_next_order();
  clip_device_kernels().front().queue({sums.data(), static_cast<int64_t>(sums.size()), scale, largest_norm, &facts},
                                      nullptr);
  return facts;
}

// Adds in block order: other orders have other bits.
TEST(SimtClip, AddsInTheOrderOfBlocks) {
  Random random(62);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{4095}, size_t{4097}, size_t{9000}}) {
    std::vector<double> sums(count);
    for (double &sum : sums) sum = std::ldexp(1.0 + static_cast<double>(random.below(1 << 30)) / 7.0, -30);
    double expected = 0.0;
    for (const double sum : sums) expected += sum;
    EXPECT_EQ(expected, facts_of(sums, 0, 1.0, 0.0).sum_of_squares) << count;
  }
}

TEST(SimtClip, FollowsItsFormula) {
  const GradientStats free = facts_of({9.0, 16.0}, 0, -2.0, 0.0), under = facts_of({9.0, 16.0}, 0, -2.0, 10.1);
  EXPECT_EQ(10.0, free.norm);
  EXPECT_EQ(1.0, free.clip_factor);
  EXPECT_EQ(-2.0f, free.gradient_scale);
  EXPECT_EQ(1.0, under.clip_factor);
  const GradientStats clipped = facts_of({9.0, 16.0}, 0, -2.0, 0.3);
  EXPECT_EQ(0.3 / (10.0 + 1e-6), clipped.clip_factor);
  EXPECT_EQ(static_cast<float>(-2.0 * clipped.clip_factor), clipped.gradient_scale);
  const GradientStats broken = facts_of({9.0, 16.0}, 1, 1.0, 0.3);
  EXPECT_EQ(std::numeric_limits<double>::infinity(), broken.norm);
  EXPECT_EQ(0.0f, broken.gradient_scale);
}

TEST(SimtClip, CountsWhatAllRanksHaveFound) {
  const std::vector<double> sums = {9.0, 16.0};
  const int64_t none[] = {0, 0, 0}, some[] = {0, 2, 3};
  for (const int64_t *counts : {none, some}) {
    GradientStats facts = {-1.0, 77, -1.0, -1.0, -1.0f};  // of no preceding step
    take_next_order();
    clip_device_kernels().front().queue({sums.data(), 2, 1.0, 0.0, &facts, counts, 3}, nullptr);
    EXPECT_EQ(counts == none ? 0 : 5, facts.nonfinite_count);
    EXPECT_EQ(counts == none ? 5.0 : std::numeric_limits<double>::infinity(), facts.norm);
  }
}

struct ScaleCase {
  float largest;
  bool is_delayed;
  float stored, found, scale;
};

TEST(SimtStepScales, FollowTheirFormula) {
  constexpr ScaleCase cases[] = {{448.0f, false, 7.0f, 896.0f, 2.0f},     {448.0f, true, 448.0f, 1.0f, 2.0f},
                                 {448.0f, true, 0.0f, 896.0f, 2.0f},      {448.0f, false, 1.0f, 0.0f, 1.0f},
                                 {57344.0f, true, FLT_MAX, 1.0f, 0.0f},   {0.0f, false, 5.0f, 6.0f, 1.0f},
                                 {57344.0f, false, 1.0f, 1e-44f, FLT_MIN}};
  for (const ScaleCase &c : cases) {
    for (const int k : {0, 1}) {
      StepScales stored = {}, oracle = {};
      StepScalesRequest request = {{0.0f, 0.0f}, {false, false}, &stored, &oracle};
      request.largest[k] = c.largest;
      request.is_delayed[k] = c.is_delayed;
      stored.amax[k] = c.stored;
      oracle.amax[k] = c.found;
      step_scales_device_kernels().front().queue(request, nullptr);
      const float expected = c.scale != 0.0f ? c.scale : FLT_MAX / c.largest;
      EXPECT_EQ(expected, oracle.scale[k]);
      EXPECT_EQ(1.0f / expected, oracle.inverse[k]);
      EXPECT_EQ(1.0f, oracle.scale[1 - k]);
    }
  }
}

}  // namespace
}  // namespace lpt::test
