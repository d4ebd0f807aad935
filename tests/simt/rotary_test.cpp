// CUDA kernels of the rotary embedding on the CPU against the reference kernel, bit for bit.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "tests/kernels/rotary_problem.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr int64_t kColumns[] = {1, 2, 15, 16, 31, 32, 40, 64, 128, 130, 256};

TEST(SimtRotary, RotationEqualsTheReference) {
  Random random(86);
  for (int i = 0; i < (kIsSanitized ? 40 : 200); ++i) {
    const Values values = kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)];
    RotaryProblem problem(random, random.of(kFormats), random.of(kFormats), random.of(kColumns), values);
    Matrix expected(problem.output.format().id, problem.output.rows(), problem.columns, problem.padding, problem.shift);
    RotaryRequest request = problem.request();
    ASSERT_EQ(rotary_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    rotary_device_kernels().front().queue(request, nullptr);
    request.output = expected.view();
    reference_of(rotary_kernels()).run(request);
    ASSERT_TRUE(problem.output.is_intact() && problem.output.data.equals(expected.data)) << text_of(problem);
  }
}

TEST(SimtRotary, TableEqualsTheReference) {
  Random random(87);
  for (int i = 0; i < 20; ++i) {
    const int64_t rows = 1 + random.below(9), count = random.below(40), stride = 80 + random.below(3);
    const bool is_wide = random.chance(0.5);
    std::vector<double> frequencies;
    std::vector<int64_t> positions;
    for (int64_t k = 0; k < count; ++k) frequencies.push_back(random.uniform());
    for (int64_t k = 0; k < rows; ++k) positions.push_back(random.below(1 << 30));
    std::vector<float> found(static_cast<std::size_t>(2 * rows * stride), 7.0f), expected = found;
    RotaryTableRequest request{.frequencies = frequencies.data(),
                               .is_frequency_f64 = random.chance(0.5),
                               .count = count,
                               .positions = random.chance(0.5) ? positions.data() : nullptr,
                               .is_position_wide = is_wide,
                               .first_position = random.below(1 << 30),
                               .first_row = 0,
                               .rows = rows,
                               .layout = random.chance(0.5) ? LPT_ROTARY_LAYOUT_HALVES : LPT_ROTARY_LAYOUT_INTERLEAVED,
                               .scale = 1.1,
                               .is_inverse = random.chance(0.5),
                               .cosines = found.data(),
                               .sines = found.data() + rows * stride,
                               .stride = stride,
                               .is_f64 = false};
    ASSERT_EQ(rotary_table_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    rotary_table_device_kernels().front().queue(request, nullptr);
    request.cosines = expected.data();
    request.sines = expected.data() + rows * stride;
    reference_of(rotary_table_kernels()).run(request);
    ASSERT_EQ(0, std::memcmp(found.data(), expected.data(), found.size() * sizeof(float))) << rows << " x " << count;
    request.is_f64 = true;
    ASSERT_STREQ("gives a table of f32 only", rotary_table_device_kernels().front().unsupported_reason(request));
  }
}

}  // namespace
}  // namespace lpt::test
