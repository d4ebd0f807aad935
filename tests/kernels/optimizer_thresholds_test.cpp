// Moments in expanded groups (COAT) and dynamic trees. Kernels compute codes without the powers and searches of the reference
// kernel. The tests therefore decode every code and encode values next to the thresholds between codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/optimizer/optimizer.hpp"
#include "kernels/optimizer/power.hpp"
#include "src/base/status.hpp"
#include "src/formats/format.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/random.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// A step whose momentum is beta1 · momentum + gradient and whose parameter becomes -momentum.
struct MomentumStep {
  MomentumStep(lpt_format element_of_momentum, int64_t blocks)
      : element(element_of_momentum),
        block(is_dynamic(element) ? 256 : 128),
        codes(static_cast<std::size_t>(blocks * block), is_dynamic(element) ? uint8_t{127} : uint8_t{0}),
        exponents(static_cast<std::size_t>(blocks), 16),
        scales(static_cast<std::size_t>(blocks), 1.0f),
        gradient(codes.size()),
        parameter(codes.size()) {}

  void run(const KernelEntry<StepRequest> &kernel, float beta1) {
    StepRequest request = {};
    request.method = LPT_OPTIMIZER_METHOD_SGD;
    request.count = static_cast<int64_t>(codes.size());
    request.gradient = gradient.data();
    request.gradient_format = LPT_FORMAT_F32;
    request.constants.beta1 = beta1;
    request.constants.gradient_scale = request.constants.step_size = 1.0f;
    request.first.data = codes.data();
    request.first.element = element;
    request.first.block = block;
    request.first.block_scales = scales.data();
    request.first.exponents = is_dynamic(element) ? nullptr : exponents.data();
    request.parameter.data = parameter.data();
    ASSERT_TRUE(takes(kernel, request));
    kernel.run(request);
  }

  lpt_format element;
  int64_t block;
  std::vector<uint8_t> codes;
  std::vector<uint16_t> exponents;
  std::vector<float> scales, gradient, parameter;
};

template <typename Value>
int64_t first_difference(const std::vector<Value> &a, const std::vector<Value> &b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(Value)) != 0) return static_cast<int64_t>(i);
  }
  return -1;
}

// Runs the kernel and the reference kernel on the same arrays and compares their results.
void expect_equal_steps(const KernelEntry<StepRequest> &kernel, MomentumStep &found, float beta1) {
  MomentumStep expected = found;
  found.run(kernel, beta1);
  expected.run(reference_of(step_kernels()), beta1);
  SCOPED_TRACE(text("format %lld", static_cast<long long>(found.element)));
  EXPECT_EQ(first_difference(found.parameter, expected.parameter), -1);
  EXPECT_EQ(first_difference(found.codes, expected.codes), -1);
  EXPECT_EQ(first_difference(found.exponents, expected.exponents), -1);
  EXPECT_EQ(first_difference(found.scales, expected.scales), -1);
}

float moved(float value, int64_t steps) {
  return bits_float(float_bits(value) + static_cast<uint32_t>(static_cast<int32_t>(steps)));
}

constexpr lpt_format kExpandedElements[] = {LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3, LPT_FORMAT_E5M2};
constexpr lpt_format kTreeElements[] = {kDynamicSigned, kDynamicUnsigned};

using MomentumKernel = KernelTest<StepRequest>;

TEST_P(MomentumKernel, ReadsEveryCodeOfEveryExponent) {
  constexpr int64_t kExponents = 1024;
  const int64_t stride = kIsSanitized ? 16 : 1;
  for (const lpt_format element : kExpandedElements) {
    for (const float scale : {0x1.8p-10f, 0x1.23456p-40f, 0x1.23456p-100f, 0x1.8p-126f, 0x1p-148f, 0x1.fffffep+127f}) {
      MomentumStep step(element, 2 * kExponents / stride);
      for (std::size_t i = 0; i < step.codes.size(); ++i) step.codes[i] = static_cast<uint8_t>(i);
      for (std::size_t group = 0; group < step.scales.size(); ++group) {
        step.exponents[group] = static_cast<uint16_t>(1 + static_cast<int64_t>(group) / 2 * stride);
        step.scales[group] = scale;
      }
      expect_equal_steps(*GetParam(), step, 1.0f);
      if (HasFailure()) FAIL() << "scale " << scale;
    }
  }
}

// Fills a group with magnitudes from `least` to `amax`. Most are a few f32 steps from a threshold between codes.
void fill_expanded(Random &random, const Element &layout, float amax, float least, float *group) {
  const float largest = decode(layout, layout.max_code);
  const Expansion expansion = make_expansion(largest, amax, expansion_exponent(largest, amax, least));
  for (int64_t i = 0; i < 128; ++i) {
    const auto code = static_cast<uint32_t>(random.below(layout.max_code));
    const float middle = (decode(layout, code) + decode(layout, code + 1)) * 0.5f;
    const float value = moved(compressed(expansion, middle), random.below(9) - 4);
    const float magnitude = i == 0 ? amax : i == 1 ? least : std::min(std::max(value, least), amax);
    group[i] = random.chance(0.05) ? 0.0f : random.chance(0.5) ? magnitude : -magnitude;
  }
}

TEST_P(MomentumKernel, WritesExpandedNumbersNextToThresholds) {
  const int64_t kGroups = kIsSanitized ? 400 : 4000;
  Random random(105);
  for (const lpt_format element : kExpandedElements) {
    MomentumStep step(element, kGroups);
    for (int64_t group = 0; group < kGroups; ++group) {
      const double amax = std::exp2(120 * random.uniform() - 90);
      const double span = std::exp2(7 * random.uniform() - 1);  // log2(amax / least)
      fill_expanded(random, element_of(element), static_cast<float>(amax), static_cast<float>(amax * std::exp2(-span)),
                    step.gradient.data() + group * step.block);
    }
    expect_equal_steps(*GetParam(), step, 0.0f);
    if (HasFailure()) return;
  }
}

TEST_P(MomentumKernel, WritesNumbersOfTreesNextToThresholds) {
  constexpr int64_t kBlocks = 2000;
  Random random(106);
  for (const lpt_format element : kTreeElements) {
    const DynamicTree &tree = element == kDynamicSigned ? kSignedTree : kUnsignedTree;
    MomentumStep step(element, kBlocks);
    for (int64_t block = 0; block < kBlocks; ++block) {
      const float amax = block % 2 == 0 ? 1.0f : static_cast<float>(std::exp2(100 * random.uniform() - 80));
      float *const values = step.gradient.data() + block * step.block;
      values[0] = amax;
      for (int64_t i = 1; i < step.block; ++i) {
        const float value = random.chance(0.5) ? moved(tree.threshold[i - 1], random.below(9) - 4)
                                               : static_cast<float>(std::exp2(-30 * random.uniform()));
        values[i] = std::min(std::max(value * amax, -amax), amax);
      }
    }
    expect_equal_steps(*GetParam(), step, 0.0f);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, MomentumKernel, testing::ValuesIn(fast_kernels(step_kernels())),
                         kernel_name<StepRequest>);

}  // namespace
}  // namespace lpt::test
