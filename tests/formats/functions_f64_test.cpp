// exp, log, sin and cos in f64 against long double.
#include "src/formats/functions_f64.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/random.hpp"

namespace lpt::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the error in units in the last place of the exact value.
double error_of(double found, long double exact) {
  const double nearest = static_cast<double>(exact);
  const double unit = std::max(std::nextafter(std::fabs(nearest), kInfinity) - std::fabs(nearest), 0x1p-1074);
  return static_cast<double>(std::fabs(static_cast<long double>(found) - exact) / static_cast<long double>(unit));
}

TEST(FunctionsF64, ExpIsNearTheFunction) {
  Random random(1);
  double worst = 0.0;
  for (int i = 0; i < 400000; ++i) {
    const double spread[] = {1e-9, 1.0, 40.0, 740.0};
    const double x = spread[i % 4] * (2.0 * random.uniform() - 1.0);
    if (x > 709.7) continue;
    worst = std::max(worst, error_of(exp_f64(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LE(worst, 2.5);
  std::printf("exp: %.3f units\n", worst);
}

TEST(FunctionsF64, LogIsNearTheFunction) {
  Random random(2);
  double worst = 0.0;
  for (int i = 0; i < 400000; ++i) {
    const double x = i % 2 == 0 ? 1.0 + 0.5 * (2.0 * random.uniform() - 1.0)
                                : std::ldexp(1.0 + random.uniform(), static_cast<int>(random.below(2000)) - 1000);
    worst = std::max(worst, error_of(log_f64(x), std::log(static_cast<long double>(x))));
  }
  EXPECT_LE(worst, 2.5);
  std::printf("log: %.3f units\n", worst);
}

TEST(FunctionsF64, EndsAreThoseOfTheFunctions) {
  EXPECT_EQ(1.0, exp_f64(0.0));
  EXPECT_EQ(0.0, exp_f64(-kInfinity));
  EXPECT_EQ(0.0, exp_f64(-745.2));
  EXPECT_EQ(0x1p-1074, exp_f64(-744.4));
  EXPECT_EQ(kInfinity, exp_f64(709.8));
  EXPECT_EQ(kInfinity, exp_f64(kInfinity));
  EXPECT_TRUE(std::isnan(exp_f64(std::nan(""))));
  EXPECT_EQ(0.0, log_f64(1.0));
  EXPECT_EQ(-kInfinity, log_f64(0.0));
  EXPECT_EQ(kInfinity, log_f64(kInfinity));
  EXPECT_TRUE(std::isnan(log_f64(-1.0)));
  EXPECT_TRUE(std::isnan(log_f64(std::nan(""))));
  EXPECT_NEAR(-1074 * std::log(2.0), log_f64(0x1p-1074), 1e-12);
}

// A quarter of the arguments is next to multiples of pi / 4, where sin or cos is nearly zero or uses another formula.
TEST(FunctionsF64, SineAndCosineAreNearTheFunctions) {
  Random random(3);
  double worst_sine = 0.0, worst_cosine = 0.0;
  for (int i = 0; i < 400000; ++i) {
    const double spread[] = {1e-9, 4.0, 1e6, 0x1p30};
    double x = spread[i / 4 % 4] * (2.0 * random.uniform() - 1.0);
    if (i % 4 == 0) {
      const long double multiple = std::floor(x / 0.785398163397448309616L) * 0.785398163397448309616L;
      x = std::nextafter(static_cast<double>(multiple), random.of({-kInfinity, 0.0, kInfinity}));
    }
    const SineCosine found = sine_cosine_f64(x);
    worst_sine = std::max(worst_sine, error_of(found.sine, std::sin(static_cast<long double>(x))));
    worst_cosine = std::max(worst_cosine, error_of(found.cosine, std::cos(static_cast<long double>(x))));
  }
  EXPECT_LE(worst_sine, 1.0);
  EXPECT_LE(worst_cosine, 1.0);
  std::printf("sin: %.3f units, cos: %.3f units\n", worst_sine, worst_cosine);
}

TEST(FunctionsF64, SineAndCosineTakeSpecials) {
  for (const double zero : {0.0, -0.0}) {
    EXPECT_EQ(0.0, sine_cosine_f64(zero).sine);
    EXPECT_EQ(1.0, sine_cosine_f64(zero).cosine);
  }
  EXPECT_TRUE(std::isfinite(sine_cosine_f64(-0x1p30).sine));
  for (const double x : {0x1.0000000000001p30, -0x1.0000000000001p30, kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_TRUE(std::isnan(sine_cosine_f64(x).sine)) << x;
    EXPECT_TRUE(std::isnan(sine_cosine_f64(x).cosine)) << x;
  }
}

}  // namespace
}  // namespace lpt::test
