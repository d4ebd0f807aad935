// Every kernel that sums over pairs, bit for bit against the specified order.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/monitor/monitor.hpp"
#include "tests/kernels/quantize_case.hpp"
#include "tests/support/shapes.hpp"

namespace lpt::test {
namespace {

// Eight lanes, pair i in lane i modulo 8; then the upper half of the lanes is added to the lower half until one remains.
template <typename Term>
double expected_sum(const Matrix &first, const Matrix &second, const Term &term) {
  double lanes[8] = {};
  for (int64_t i = 0; i < first.columns(); ++i) {
    const double a = first.get(0, i), b = second.get(0, i);
    if (std::isfinite(a) && std::isfinite(b)) lanes[i % 8] += term(a, b);
  }
  double four[4];
  for (int i = 0; i < 4; ++i) four[i] = lanes[i] + lanes[i + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

class PairSumsKernel : public KernelTest<PairSumsRequest> {
 protected:
  static PairSumsRequest request_of(Matrix &first, Matrix &second, PairSums *sums) {
    const MatrixView a = first.view(), b = second.view();
    return {first.columns(), a.data, a.format.element, b.data, b.format.element, sums};
  }
  PairSums sums_of(Matrix &first, Matrix &second) {
    PairSums sums = {1.0, 2.0, 3.0, 4.0, 5};
    GetParam()->run(request_of(first, second, &sums));
    EXPECT_TRUE(first.is_intact() && second.is_intact());
    return sums;
  }
};

TEST_P(PairSumsKernel, AddsInTheOrderOfEightLanes) {
  constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};
  Random random(131);
  int taken = 0;
  for (const lpt_format first_format : kFormats) {
    for (const lpt_format second_format : kFormats) {
      for (const int64_t count : kSimdEdges) {
        for (const Values values : kAllValues) {
          Matrix first(first_format, 1, count, 0, static_cast<std::size_t>(8 * random.below(8)));
          Matrix second(second_format, 1, count, 0, static_cast<std::size_t>(8 * random.below(8)));
          first.fill(random, values);
          second.fill(random, values);
          if (!takes(request_of(first, second, nullptr))) continue;
          ++taken;
          int64_t nonfinite_count = 0;
          for (int64_t i = 0; i < count; ++i) {
            nonfinite_count += std::isfinite(first.get(0, i)) && std::isfinite(second.get(0, i)) ? 0 : 1;
          }
          const PairSums sums = sums_of(first, second);
          const auto expected = [&](const auto &term) { return expected_sum(first, second, term); };
          const bool is_right =
              sums.first_squares == expected([](double a, double) { return a * a; }) &&
              sums.second_squares == expected([](double, double b) { return b * b; }) &&
              sums.dots == expected([](double a, double b) { return a * b; }) &&
              sums.squared_differences == expected([](double a, double b) { return (a - b) * (a - b); });
          ASSERT_TRUE(is_right) << format_name(first_format) << " and " << format_name(second_format) << ", " << count
                                << " of " << name_of(values);
          ASSERT_EQ(sums.nonfinite_count, nonfinite_count);
        }
      }
    }
  }
  EXPECT_GT(taken, 100) << "the row rejects nearly everything";
}

// Hand-computed: added to 2^54, a square of 1.5625 is lost, and the sum of two is not.
TEST_P(PairSumsKernel, ShowsItsOrderWhereSquaresAreLost) {
  const struct {
    int64_t places[2];
    double sum;
  } cases[] = {{{8, 16}, 0x1p54},      // both follow it in its lane: lost one at a time
               {{4, 12}, 0x1p54 + 4},  // both in another lane
               {{2, 6}, 0x1p54 + 4},   // lane 6 is added to lane 2 before lane 2 is added to lane 0
               {{4, 2}, 0x1p54},       // lane 4 is added to lane 0, then lane 2: lost one at a time
               {{1, 7}, 0x1p54 + 4}};  // lane 7 is added to lane 1 before the last addition
  for (const auto &[places, sum] : cases) {
    Matrix first(LPT_FORMAT_F32, 1, 21), second(LPT_FORMAT_F32, 1, 21);
    for (int64_t i = 0; i < 21; ++i) {
      const bool is_one = i == places[0] || i == places[1];
      const float number = i == 0 ? 0x1p27f : is_one ? 1.25f : 0.0f;
      first.set(0, i, number);
      second.set(0, i, -number);
    }
    second.set(0, 20, INFINITY);
    const PairSums sums = sums_of(first, second);
    EXPECT_EQ(sums.first_squares, sum) << places[0] << " and " << places[1];
    EXPECT_EQ(sums.second_squares, sum);
    EXPECT_EQ(sums.dots, -sum);
    EXPECT_EQ(sums.squared_differences, 4 * sum);
    EXPECT_EQ(sums.nonfinite_count, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, PairSumsKernel, testing::ValuesIn(all_kernels(pair_sums_kernels())),
                         kernel_name<PairSumsRequest>);

}  // namespace
}  // namespace lpt::test
