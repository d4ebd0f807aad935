// CUDA kernels of cross entropy on the CPU against the definition in double, with the bounds of the CPU kernels
// (tests/kernels/cross_entropy_test.cpp).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "kernels/activation/row_loss.hpp"
#include "tests/kernels/activation.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kColumns[] = {1, 15, 16, 17, 130, 4100};

double exponent_error(double exponent) { return 4.0 + std::fabs(exponent); }

TEST(SimtCrossEntropy, SumsAreNearTheDefinition) {
  Random random(91);
  for (int i = 0; i < (kIsSanitized ? 8 : 30); ++i) {
    const int64_t rows = 1 + random.below(3), columns = random.of(kColumns);
    Matrix logits(kFormats[i % 3], rows, columns, random.below(5), random.chance(0.5) ? 0 : 4);
    fill_finite(random, logits, Values::kNormal);
    std::vector<int64_t> places;
    for (int64_t row = 0; row < rows; ++row) places.push_back(random.below(columns + 4) - 2);
    std::vector<RowSums> found(static_cast<std::size_t>(rows));
    take_next_order();
    cross_entropy_sums_device_kernels().front().queue({logits.view(), places.data(), found.data()}, nullptr);
    for (int64_t row = 0; row < rows; ++row) {
      RowSums exact{-kInfinity, 0.0, 0.0, 0.0};
      double size = 0.0, bound = 0.0;
      for (int64_t column = 0; column < columns; ++column) {
        const double x = number(logits, row, column);
        exact.largest = std::max(exact.largest, x);
        exact.all += x;
        size += std::fabs(x);
        if (column == places[static_cast<std::size_t>(row)]) exact.target = x;
      }
      for (int64_t column = 0; column < columns; ++column) {
        const double exponent = number(logits, row, column) - exact.largest;
        exact.exponentials += std::exp(exponent);
        bound += kEps * std::exp(exponent) * exponent_error(exponent);
      }
      const RowSums &sums = found[static_cast<std::size_t>(row)];
      EXPECT_EQ(exact.largest, sums.largest) << i;
      EXPECT_EQ(exact.target, sums.target) << i;
      EXPECT_NEAR(exact.exponentials, sums.exponentials, bound) << i;
      EXPECT_NEAR(exact.all, sums.all, size * 0x1p-44) << i;
    }
  }
}

TEST(SimtCrossEntropy, SumsKeepSpecialsVisible) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float values[][3] = {{1, nan, 2}, {nan, 1, inf}, {-inf, -inf, -inf}, {inf, 1, 1}, {-inf, 0, 0}};
  Matrix logits(LPT_FORMAT_F32, 5, 3), none(LPT_FORMAT_F32, 2, 0);
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t column = 0; column < 3; ++column) logits.set(row, column, values[row][column]);
  }
  const std::vector<int64_t> places(5, 0);
  RowSums found[5];
  const auto &row = cross_entropy_sums_device_kernels().front();
  row.queue({logits.view(), places.data(), found}, nullptr);
  EXPECT_TRUE(std::isnan(found[0].largest) && std::isnan(found[1].largest));
  EXPECT_EQ(-kInfinity, found[2].largest);
  EXPECT_EQ(0.0, found[2].exponentials);
  EXPECT_TRUE(std::isnan(found[3].exponentials));
  EXPECT_EQ(2.0, found[4].exponentials);
  EXPECT_EQ(-kInfinity, found[4].target);
  row.queue({none.view(), places.data(), found}, nullptr);
  EXPECT_EQ(-kInfinity, found[1].largest);
  EXPECT_EQ(0.0, found[1].exponentials);
}

// Logits and logarithms are far from zero, so that rounding the logarithm to f32 causes a visible error.
TEST(SimtCrossEntropy, GradientsAreNearTheDefinition) {
  constexpr double kFar = 100.0;
  Random random(92);
  for (int i = 0; i < (kIsSanitized ? 8 : 30); ++i) {
    const int64_t rows = 1 + random.below(4), columns = random.of(kColumns);
    Matrix logits(kFormats[i % 3], rows, columns, random.below(5), random.chance(0.5) ? 0 : 4);
    Matrix gradient(random.of(kFormats), rows, columns, random.below(5), random.chance(0.5) ? 0 : 4);
    fill_finite(random, logits, Values::kNormal);
    std::vector<int64_t> places;
    std::vector<double> log_sums, factors;
    for (int64_t row = 0; row < rows; ++row) {
      places.push_back(random.below(columns + 4) - 2);
      log_sums.push_back(kFar + 1.0 + random.uniform());
      for (int64_t column = 0; column < columns; ++column) put(logits, row, column, kFar + number(logits, row, column));
      factors.push_back(row == 2 ? 0.0 : 3.0 * random.uniform());
    }
    const CrossEntropyGradientRequest request{
        logits.view(), gradient.view(), places.data(), log_sums.data(), factors.data(), 0.9, 0.1 / 7};
    ASSERT_EQ(cross_entropy_gradient_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    cross_entropy_gradient_device_kernels().front().queue(request, nullptr);
    ASSERT_TRUE(gradient.is_intact()) << i;
    for (int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      for (int64_t column = 0; column < columns; ++column) {
        const double exponent = number(logits, row, column) - log_sums[at];
        const double taken = request.off + (column == places[at] ? request.on : 0.0);
        const double size = factors[at] * (std::exp(exponent) * exponent_error(exponent) + taken);
        expect_near(gradient, row, column, factors[at] * (std::exp(exponent) - taken), kEps * size,
                    "case " + std::to_string(i));
      }
    }
  }
}

TEST(SimtCrossEntropy, TheGradientMayTakeThePlaceOfItsLogits) {
  Matrix logits(LPT_FORMAT_F32, 2, 40), apart(LPT_FORMAT_F32, 2, 40);
  Random random(93);
  logits.fill(random, Values::kNormal);
  logits.set(1, 7, NAN);
  const int64_t places[] = {3, -1};
  const double log_sums[] = {4.0, NAN}, factors[] = {1.0, 0.0};
  const auto &row = cross_entropy_gradient_device_kernels().front();
  row.queue({logits.view(), apart.view(), places, log_sums, factors, 1.0, 0.0}, nullptr);
  row.queue({logits.view(), logits.view(), places, log_sums, factors, 1.0, 0.0}, nullptr);
  for (int64_t column = 0; column < 40; ++column) {
    EXPECT_EQ(apart.get(0, column), logits.get(0, column));
    EXPECT_EQ(0.0f, logits.get(1, column));
  }
}

// The rank has classes 10 to 39 of 100; 600 rows are three steps of the threads.
template <typename Index>
void check_places(bool is_wide) {
  constexpr int64_t kRows = 600;
  std::vector<Index> targets;
  for (int64_t row = 0; row < kRows; ++row) targets.push_back(static_cast<Index>(row % 105 - 3));
  int64_t counted = -1;
  std::vector<int64_t> places(kRows);
  take_next_order();
  places_device_kernels().front().queue({targets.data(), is_wide, kRows, -2, 10, 100, &counted, places.data()},
                                        nullptr);
  int64_t expected = 0;
  for (size_t row = 0; row < places.size(); ++row) {
    const int64_t target = targets[row];
    const bool is_class = target >= 0 && target < 100;
    expected += target == -2 ? 0 : 1;
    EXPECT_EQ(target == -2 ? kUncounted : is_class ? target - 10 : kNoClass, places[row]) << row;
  }
  EXPECT_EQ(expected, counted);
}

TEST(SimtCrossEntropy, PlacesAreThoseOfTargets) {
  check_places<int32_t>(false);
  check_places<int64_t>(true);
}

TEST(SimtCrossEntropy, NoRowIsCountedWithoutRows) {
  int64_t counted = -1;
  places_device_kernels().front().queue({nullptr, true, 0, -1, 0, 8, &counted, nullptr}, nullptr);
  EXPECT_EQ(0, counted);
}

TEST(SimtCrossEntropy, RowsWithoutAClassAreNan) {
  const RowSums sums[] = {{0.0, 1.0, -3.0, 0.0}, {0.0, 1.0, -4.0, 0.0}};
  const int64_t places[] = {kNoClass, 2};
  double losses[2], factors[2];
  float out[2];
  losses_device_kernels().front().queue({sums, places, 1, 2, 8, 0.0, nullptr, losses, out, false, true, nullptr},
                                        nullptr);
  loss_factors_device_kernels().front().queue({nullptr, false, true, nullptr, places, 2, factors}, nullptr);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_EQ(4.0f, out[1]);
  EXPECT_TRUE(std::isnan(factors[0]));
  EXPECT_EQ(1.0, factors[1]);
}

// 600 rows are three steps of the adding threads.
TEST(SimtCrossEntropy, LossesAreThoseOfTheDefinitionInTheOrderOfRows) {
  constexpr int64_t kRows = 600, kClasses = 50, kCounted = 500;
  Random random(94);
  std::vector<RowSums> sums;
  std::vector<int64_t> places;
  for (int64_t row = 0; row < kRows; ++row) {
    const double largest = 10.0 * random.uniform();
    sums.push_back({largest, 1.0 + 40.0 * random.uniform(), largest - random.uniform(), 20.0 * random.uniform()});
    places.push_back(row % 7 == 3 ? kUncounted : row % kClasses);
  }
  for (const bool is_f64 : {false, true}) {
    std::vector<double> log_sums(kRows), losses(kRows), out(1);
    LossesRequest request{sums.data(),     places.data(), 1,          kRows,  kClasses, 0.1,
                          log_sums.data(), losses.data(), out.data(), is_f64, false,    &kCounted};
    take_next_order();
    losses_device_kernels().front().queue(request, nullptr);
    double sum = 0.0;
    for (std::size_t row = 0; row < kRows; ++row) {
      const double log_sum = sums[row].largest + std::log(sums[row].exponentials);
      const double loss = log_sum - 0.9 * sums[row].target - 0.1 * (sums[row].all / kClasses);
      ASSERT_NEAR(log_sum, log_sums[row], 0x1p-50 * log_sum) << row;
      ASSERT_NEAR(places[row] < 0 ? 0.0 : loss, losses[row], 0x1p-49 * log_sum) << row;
      sum += losses[row];
    }
    EXPECT_EQ(is_f64 ? sum / 500 : static_cast<double>(static_cast<float>(sum / 500)),
              is_f64 ? out[0] : static_cast<double>(*reinterpret_cast<float *>(out.data())));
  }
}

TEST(SimtCrossEntropy, EveryRowMayKeepItsLoss) {
  const RowSums sums[] = {{0.0, 1.0, -3.0, 0.0}, {0.0, 1.0, -4.0, 0.0}, {0.0, 1.0, -5.0, 0.0}};
  const int64_t places[] = {1, kUncounted, 2};
  double losses[3];
  float out[3];
  losses_device_kernels().front().queue({sums, places, 1, 3, 8, 0.0, nullptr, losses, out, false, true, nullptr},
                                        nullptr);
  EXPECT_EQ(3.0f, out[0]);
  EXPECT_EQ(0.0f, out[1]);
  EXPECT_EQ(5.0f, out[2]);
}

TEST(SimtCrossEntropy, WithoutRowsTheSumIsZero) {
  double out = 5.0;
  losses_device_kernels().front().queue({nullptr, nullptr, 1, 0, 8, 0.0, nullptr, nullptr, &out, true, false, nullptr},
                                        nullptr);
  EXPECT_EQ(0.0, out);
}

TEST(SimtCrossEntropy, FactorsAreOnesOrWhatWasGiven) {
  const int64_t places[] = {1, kUncounted, 2};
  const double doubles[] = {3.0, 4.0, 5.0};
  const float floats[] = {6.0f};
  const int64_t divisor = 2, none = 0;
  double factors[3];
  const auto &row = loss_factors_device_kernels().front();
  row.queue({nullptr, false, false, &divisor, places, 3, factors}, nullptr);
  EXPECT_EQ(std::vector<double>({0.5, 0.0, 0.5}), std::vector<double>(factors, factors + 3));
  row.queue({doubles, true, true, nullptr, places, 3, factors}, nullptr);
  EXPECT_EQ(std::vector<double>({3.0, 0.0, 5.0}), std::vector<double>(factors, factors + 3));
  row.queue({floats, false, false, &none, places, 3, factors}, nullptr);
  EXPECT_EQ(std::vector<double>({6.0, 0.0, 6.0}), std::vector<double>(factors, factors + 3));
}

}  // namespace
}  // namespace lpt::test
