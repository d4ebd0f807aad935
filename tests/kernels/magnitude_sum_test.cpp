// Every kernel that sums magnitudes and their squares, bit for bit against the specified order.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/kernels/quantize_case.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

// Returns the sum of two f32, rounded once: the sum in double is exact enough for the same result.
float added(float a, float b) { return static_cast<float>(static_cast<double>(a) + static_cast<double>(b)); }

float squared(float number) { return static_cast<float>(static_cast<double>(number) * static_cast<double>(number)); }

// Sixteen lanes, element i in lane i modulo 16; then the upper half of the lanes is added to the lower half until one remains.
float expected_sum(const Matrix &source, int64_t row, bool has_squares) {
  float lanes[16] = {};
  for (int64_t column = 0; column < source.columns(); ++column) {
    const float magnitude = std::fabs(source.get(row, column));
    if (!std::isfinite(magnitude)) continue;
    lanes[column % 16] = added(lanes[column % 16], has_squares ? squared(magnitude) : magnitude);
  }
  float eight[8], four[4];
  for (int i = 0; i < 8; ++i) eight[i] = added(lanes[i], lanes[i + 8]);
  for (int i = 0; i < 4; ++i) four[i] = added(eight[i], eight[i + 4]);
  return added(added(four[0], four[2]), added(four[1], four[3]));
}

class MagnitudeSumKernel : public KernelTest<MagnitudeSumRequest> {
 protected:
  // Returns the sums of all rows of a source, then those of the squares if requested, in guarded memory of exact size.
  std::vector<float> sums_of(Matrix &source, bool has_squares = false) {
    Guarded sums(static_cast<std::size_t>(source.rows()) * sizeof(float));
    Guarded squares(static_cast<std::size_t>(source.rows()) * sizeof(float));
    auto *numbers = reinterpret_cast<float *>(sums.data());
    auto *more = reinterpret_cast<float *>(squares.data());
    GetParam()->run({source.view(), numbers, has_squares ? more : nullptr});
    EXPECT_TRUE(sums.is_intact() && squares.is_intact() && source.is_intact());
    std::vector<float> result(numbers, numbers + source.rows());
    if (has_squares) result.insert(result.end(), more, more + source.rows());
    return result;
  }
};

TEST_P(MagnitudeSumKernel, AddsInTheOrderOfSixteenLanes) {
  Random random(120);
  int taken = 0;
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_F64, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const bool is_transposed : {false, true}) {
      for (const int64_t columns : kSimdEdges) {
        for (const Values values : kAllValues) {
          const auto shift = static_cast<std::size_t>(8 * random.below(8));
          Matrix source(format, random.of(kFewRows), columns, random.below(2) * random.below(9), shift, is_transposed);
          source.fill(random, values);
          if (!takes({source.view(), nullptr})) continue;
          ++taken;
          const std::vector<float> sums = sums_of(source, true);
          for (int64_t row = 0; row < 2 * source.rows(); ++row) {
            const bool is_square = row >= source.rows();
            ASSERT_EQ(float_bits(sums[static_cast<std::size_t>(row)]),
                      float_bits(expected_sum(source, row % source.rows(), is_square)))
                << format_name(format) << (is_transposed ? " transposed, row " : " row ") << row << " of " << columns
                << " columns of " << name_of(values);
          }
        }
      }
    }
  }
  EXPECT_GT(taken, 100) << "the row rejects nearly everything";
}

// Hand-computed cases in which the order of additions changes the result.
TEST_P(MagnitudeSumKernel, ShowsItsOrderWhereOnesAreLost) {
  const struct {
    int64_t ones[2];  // columns of two ones; element 0 is 2^24
    float sum;
  } cases[] = {{{16, 32}, 0x1p24f},      // both follow it in its lane: lost one at a time
               {{8, 24}, 0x1p24f + 2},   // both in another lane
               {{4, 12}, 0x1p24f + 2},   // lane 12 is added to lane 4 before lane 4 is added to lane 0
               {{8, 4}, 0x1p24f},        // lane 8 is added to lane 0, then lane 4: lost one at a time
               {{1, 15}, 0x1p24f + 2}};  // lane 15 is added to lane 1 before the last addition
  for (const auto &[ones, sum] : cases) {
    Matrix source(LPT_FORMAT_F32, 1, 40);
    for (int64_t column = 0; column < 40; ++column) source.set(0, column, 0.0f);
    source.set(0, 0, -0x1p24f);
    for (const int64_t column : ones) source.set(0, column, column % 8 == 0 ? 1.0f : -1.0f);
    source.set(0, 17, NAN);
    source.set(0, 39, -INFINITY);
    EXPECT_EQ(sums_of(source), std::vector<float>{sum}) << ones[0] << " and " << ones[1];
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, MagnitudeSumKernel, testing::ValuesIn(all_kernels(magnitude_sum_kernels())),
                         kernel_name<MagnitudeSumRequest>);

}  // namespace
}  // namespace lpt::test
