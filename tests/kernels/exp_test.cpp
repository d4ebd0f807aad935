// The exponential of the activations against the exponential of double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/formats/functions.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {
namespace {

// The slow test of all floats is in tests/formats.
TEST(Exp, IsWithinOneUnitInTheLastPlaceOfDoubleExp) {
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4093) {
    const float x = float_of_bits(static_cast<uint32_t>(bits));
    const float y = exp_f32(x);
    const double expected = std::exp(static_cast<double>(x));
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(y)) << bits;
    } else if (std::isinf(static_cast<float>(expected))) {
      ASSERT_EQ(y, std::numeric_limits<float>::infinity()) << x;
    } else {
      int exponent;
      std::frexp(expected, &exponent);
      const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
      ASSERT_LE(std::fabs(static_cast<double>(y) - expected), 0.91 * unit) << x;
    }
  }
}

TEST(Exp, KnowsItsEdges) {
  EXPECT_EQ(exp_f32(0.0f), 1.0f);
  EXPECT_EQ(exp_f32(-0.0f), 1.0f);
  EXPECT_EQ(exp_f32(-std::numeric_limits<float>::infinity()), 0.0f);
  EXPECT_EQ(exp_f32(std::numeric_limits<float>::infinity()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp_f32(88.72284f), std::numeric_limits<float>::infinity());
  EXPECT_LT(exp_f32(88.72283f), std::numeric_limits<float>::infinity());
  EXPECT_EQ(exp_f32(-103.972f), 0x1p-149f);
  EXPECT_EQ(exp_f32(-103.9722f), 0.0f);
}

}  // namespace
}  // namespace lpt::test
