// Every kernel that sums the squares of gradients, bit for bit against the specified order.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/optimizer/optimizer.hpp"
#include "tests/kernels/quantize_case.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kCounts[] = {0, 1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 79, 127, 129, 4095, 4096, 4097, 8192, 12345};

// The square of an f32 is exact in f64: only sums are rounded.
double expected_sum(const Matrix &gradient, int64_t begin, int64_t count) {
  double lanes[16] = {};
  for (int64_t i = 0; i < count; ++i) {
    const double number = gradient.get(0, begin + i);
    if (std::isfinite(number)) lanes[i % 16] += number * number;
  }
  double eight[8], four[4];
  for (int i = 0; i < 8; ++i) eight[i] = lanes[i] + lanes[i + 8];
  for (int i = 0; i < 4; ++i) four[i] = eight[i] + eight[i + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

class NormKernel : public KernelTest<NormRequest> {
 protected:
  // Returns the sums of the blocks from element `begin` on, in guarded memory of exact size, and the number of nonfinite
  // elements.
  std::vector<double> sums_of(Matrix &gradient, int64_t begin, int64_t &nonfinite_count) {
    const int64_t count = gradient.columns() - begin;
    const auto blocks = static_cast<std::size_t>((count + kNormBlock - 1) / kNormBlock);
    Guarded memory(blocks * sizeof(double));
    auto *sums = reinterpret_cast<double *>(memory.data());
    NormRequest request = {gradient.view().data, gradient.view().format.element, begin, count, sums, &nonfinite_count};
    request.sums -= begin / kNormBlock;
    EXPECT_TRUE(takes(request));
    GetParam()->run(request);
    EXPECT_TRUE(memory.is_intact() && gradient.is_intact());
    return {sums, sums + blocks};
  }
};

TEST_P(NormKernel, AddsInTheOrderOfSixteenLanes) {
  Random random(130);
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    for (const int64_t begin : {int64_t{0}, 2 * kNormBlock}) {
      for (const int64_t count : kCounts) {
        for (const Values values : kAllValues) {
          Matrix gradient(format, 1, begin + count, 0, static_cast<std::size_t>(8 * random.below(8)));
          gradient.fill(random, values);
          int64_t nonfinite_count = 5, expected_count = 5;
          for (int64_t i = begin; i < begin + count; ++i) expected_count += std::isfinite(gradient.get(0, i)) ? 0 : 1;
          const std::vector<double> sums = sums_of(gradient, begin, nonfinite_count);
          EXPECT_EQ(nonfinite_count, expected_count);
          for (std::size_t block = 0; block < sums.size(); ++block) {
            const auto first = static_cast<int64_t>(block) * kNormBlock;
            ASSERT_EQ(sums[block], expected_sum(gradient, begin + first, std::min(kNormBlock, count - first)))
                << format_name(format) << " block " << block << " of " << count << " of " << name_of(values);
          }
        }
      }
    }
  }
}

// Hand-computed: added to 2^54, a square of 1.5625 is lost, and the sum of two is not.
TEST_P(NormKernel, ShowsItsOrderWhereSquaresAreLost) {
  const struct {
    int64_t places[2];
    double sum;
  } cases[] = {{{16, 32}, 0x1p54},      // both follow it in its lane: lost one at a time
               {{8, 24}, 0x1p54 + 4},   // both in another lane
               {{4, 12}, 0x1p54 + 4},   // lane 12 is added to lane 4 before lane 4 is added to lane 0
               {{8, 4}, 0x1p54},        // lane 8 is added to lane 0, then lane 4: lost one at a time
               {{1, 15}, 0x1p54 + 4}};  // lane 15 is added to lane 1 before the last addition
  for (const auto &[places, sum] : cases) {
    Matrix gradient(LPT_FORMAT_F32, 1, 40);
    for (int64_t i = 0; i < 40; ++i) gradient.set(0, i, 0.0f);
    gradient.set(0, 0, -0x1p27f);
    for (const int64_t place : places) gradient.set(0, place, 1.25f);
    int64_t nonfinite_count = 0;
    EXPECT_EQ(sums_of(gradient, 0, nonfinite_count), std::vector<double>{sum}) << places[0] << " and " << places[1];
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, NormKernel, testing::ValuesIn(all_kernels(norm_kernels())), kernel_name<NormRequest>);

}  // namespace
}  // namespace lpt::test
