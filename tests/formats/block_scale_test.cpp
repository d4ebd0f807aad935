// Scale rules based on amax, against exact arithmetic. Powers of two are found by comparing products in double, which
// represents products of 24 by 24 bits exactly. Codes of e4m3fn are found by search.
#include "src/formats/block_scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/random.hpp"

namespace lpt {
namespace {

using test::Random;

constexpr double kLargest = std::numeric_limits<float>::max();

constexpr lpt_format kElements[] = {
    LPT_FORMAT_E4M3FN, LPT_FORMAT_E4M3,  LPT_FORMAT_E5M2, LPT_FORMAT_E2M1FN, LPT_FORMAT_E3M2FN,   LPT_FORMAT_E2M3FN,
    LPT_FORMAT_INT8,   LPT_FORMAT_INT4,  LPT_FORMAT_INT2, LPT_FORMAT_Q1_6,   LPT_FORMAT_E3M0,     LPT_FORMAT_F16,
    LPT_FORMAT_E3M4,   LPT_FORMAT_INT16, LPT_FORMAT_NF4,  LPT_FORMAT_BF16,   LPT_FORMAT_E4M3FNUZ, LPT_FORMAT_TERNARY,
};

ScaleSpec spec_of(lpt_format element, lpt_format kind, lpt_scale_rule rule, float inverse) {
  Format format;
  format.element = element;
  format.block_scale = kind;
  return scale_spec(format, rule, inverse);
}

float product(float a, float b) { return static_cast<float>(static_cast<double>(a) * static_cast<double>(b)); }
float quotient(float a, float b) { return static_cast<float>(static_cast<double>(a) / static_cast<double>(b)); }

// Amax values at both ends of f32, around multiples of M by powers of two, around their square roots, and random ones.
std::vector<float> telling_amaxes(float largest, Random &random) {
  std::vector<float> amaxes = {
      0.0f,  0x1p-149f, 0x1.8p-148f, 0x1p-127f, 0x1.fffffcp-127f, 0x1p-126f, std::numeric_limits<float>::max(),
      1e-8f, 0x1p127f};
  for (int power = -149; power < 128; power += 3) {
    for (const double factor : {1.0, std::sqrt(2.0), std::sqrt(0.5), 1.5, 1.9375}) {
      const auto middle = static_cast<float>(std::ldexp(factor * static_cast<double>(largest), power));
      if (!std::isfinite(middle)) continue;
      for (const float amax : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, INFINITY)}) {
        if (std::isfinite(amax)) amaxes.push_back(amax);
      }
    }
  }
  for (int i = 0; i < 2000; ++i) {
    const float any = bits_float(static_cast<uint32_t>(random.bits()) & 0x7FFFFFFFu);
    if (std::isfinite(any)) amaxes.push_back(any);
  }
  return amaxes;
}

constexpr float kInverses[] = {1.0f, 0x1p-30f, 3.0f, 0x1.555556p-2f, 1e30f, 1e-37f, 0x1p126f};

// Returns the exact exponent of the power of two next to units / largest.
int power_below(double units, double largest) {
  int power = std::ilogb(units) - std::ilogb(largest) + 2;
  while (std::ldexp(largest, power) > units) --power;
  return power;
}
int power_above(double units, double largest) {
  const int power = power_below(units, largest);
  return std::ldexp(largest, power) == units ? power : power + 1;
}
int power_nearest(double units, double largest) {
  const int power = power_below(units, largest);
  const double rest = std::ldexp(units, -power);  // in [largest, 2 · largest); 24 bits, so its square is exact
  return rest * rest > 2 * largest * largest ? power + 1 : power;
}

int clamped(int power, int least) { return std::min(std::max(power, least), 127); }

template <typename Body>
void for_each_case(const Body &body) {
  Random random(710);
  for (const lpt_format element : kElements) {
    const float largest = largest_of(element);
    for (const float inverse : kInverses) {
      for (const float amax : telling_amaxes(largest, random)) {
        SCOPED_TRACE(text("%s amax %a inverse %a", format_name(element).c_str(), static_cast<double>(amax),
                          static_cast<double>(inverse)));
        body(element, largest, inverse, amax);
        if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) return;
      }
    }
  }
}

TEST(BlockScale, OfF32FollowsEveryRule) {
  for_each_case([](lpt_format element, float largest, float inverse, float amax) {
    const auto scale = [&](lpt_scale_rule rule) {
      return bits_float(block_scale_code(spec_of(element, LPT_FORMAT_F32, rule, inverse), amax));
    };
    const float plain = product(quotient(amax, largest), inverse);
    double in_list = 16;
    for (const double listed : {0x1p4, 1.0, 0x1p-4, 0x1p-8})
      in_list = listed >= static_cast<double>(plain) ? listed : in_list;
    EXPECT_EQ(in_list, static_cast<double>(scale(LPT_SCALE_RULE_LIST)));
    if (amax == 0) {
      for (const lpt_scale_rule rule : {LPT_SCALE_RULE_AMAX, LPT_SCALE_RULE_POWER_OF_TWO,
                                        LPT_SCALE_RULE_POWER_OF_TWO_DOWN, LPT_SCALE_RULE_POWER_OF_TWO_NEAREST}) {
        EXPECT_EQ(1.0f, scale(rule));
      }
      return;
    }
    EXPECT_EQ(std::min(std::max(static_cast<double>(plain), 0x1p-126), kLargest),
              static_cast<double>(scale(LPT_SCALE_RULE_AMAX)));
    const double units = std::min(std::max(static_cast<double>(product(amax, inverse)), 0x1p-126), kLargest);
    const auto m = static_cast<double>(largest);
    const auto power_of_two = [](int power) { return std::ldexp(1.0f, clamped(power, -126)); };
    EXPECT_EQ(power_of_two(power_above(units, m)), scale(LPT_SCALE_RULE_POWER_OF_TWO));
    EXPECT_EQ(power_of_two(power_below(units, m)), scale(LPT_SCALE_RULE_POWER_OF_TWO_DOWN));
    EXPECT_EQ(power_of_two(power_nearest(units, m)), scale(LPT_SCALE_RULE_POWER_OF_TWO_NEAREST));
  });
}

TEST(BlockScale, OfE8m0fnuFollowsEveryRule) {
  for_each_case([](lpt_format element, float largest, float inverse, float amax) {
    const auto code = [&](lpt_scale_rule rule) {
      return static_cast<int>(block_scale_code(spec_of(element, LPT_FORMAT_E8M0FNU, rule, inverse), amax));
    };
    const double units = std::min(static_cast<double>(product(amax, inverse)), kLargest);
    const auto m = static_cast<double>(largest);
    if (units == 0) {
      for (const lpt_scale_rule rule : {LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_FLOOR, LPT_SCALE_RULE_CEIL,
                                        LPT_SCALE_RULE_EVEN, LPT_SCALE_RULE_THREE_QUARTERS}) {
        EXPECT_EQ(0, code(rule));
      }
      return;
    }
    const int floor = std::ilogb(units), most = std::ilogb(m);
    const auto kept = [](int power) { return clamped(power, -127) + 127; };
    EXPECT_EQ(kept(power_above(units, m)), code(LPT_SCALE_RULE_ROUND_UP));
    EXPECT_EQ(kept(floor - most), code(LPT_SCALE_RULE_FLOOR));
    // The rule uses amax itself if the tensor scale is 4/3.
    const double with_space = std::min(static_cast<double>(product(amax, product(inverse, 4.0f / 3))), kLargest);
    EXPECT_EQ(kept(with_space == 0 ? -127 : std::ilogb(with_space) - most), code(LPT_SCALE_RULE_THREE_QUARTERS));
    EXPECT_EQ(kept((std::ldexp(1.0, floor) == units ? floor : floor + 1) - most), code(LPT_SCALE_RULE_CEIL));
    // Rounds to the mantissa of the element, ties away from zero.
    const int mantissa_bits = element_of(element).mantissa_bits;
    const double rounded = std::floor(std::ldexp(units, mantissa_bits - floor) + 0.5);
    EXPECT_EQ(kept(std::ilogb(rounded) - mantissa_bits + floor - most), code(LPT_SCALE_RULE_EVEN));
  });
}

// Values of e4m3fn codes by the definition.
const std::vector<double> &scale_values() {
  static const std::vector<double> values = [] {
    std::vector<double> result;
    for (int code = 0; code <= 0x7E; ++code) {
      result.push_back(code < 8 ? std::ldexp(code, -9) : std::ldexp(8 + code % 8, code / 8 - 10));
    }
    return result;
  }();
  return values;
}

// Returns the first code that is not below, or the nearest code with ties to even. Neither is 0.
uint32_t scale_above(double units) {
  const auto first = std::lower_bound(scale_values().begin() + 1, scale_values().end() - 1, units);
  return static_cast<uint32_t>(first - scale_values().begin());
}
uint32_t nearest_scale(double units) {
  const uint32_t above = scale_above(units);
  if (above == 1) return 1;
  const double up = scale_values()[above] - units, down = units - scale_values()[above - 1];
  return down < up || (down == up && above % 2 == 1) ? above - 1 : above;
}

TEST(BlockScale, OfE4m3fnFollowsEveryRule) {
  for_each_case([](lpt_format element, float largest, float inverse, float amax) {
    const auto spec = [&](lpt_scale_rule rule) { return spec_of(element, LPT_FORMAT_E4M3FN, rule, inverse); };
    const float units = product(quotient(amax, largest), inverse);
    const auto held = [](float oracle) { return std::min(static_cast<double>(oracle), 448.0); };
    EXPECT_EQ(nearest_scale(held(units)), block_scale_code(spec(LPT_SCALE_RULE_NEAREST), amax));
    EXPECT_EQ(scale_above(held(units)), block_scale_code(spec(LPT_SCALE_RULE_ROUND_UP), amax));
    EXPECT_EQ(nearest_scale(held(product(units, 1.0625f))), block_scale_code(spec(LPT_SCALE_RULE_HEADROOM), amax));
    const ScaleSpec four_over_six = spec(LPT_SCALE_RULE_FOUR_OVER_SIX);
    EXPECT_EQ(2, candidate_count(four_over_six));
    EXPECT_EQ(nearest_scale(held(units)), candidate_code(four_over_six, amax, 0));
    EXPECT_EQ(nearest_scale(held(product(units, 1.5f))), candidate_code(four_over_six, amax, 1));
    EXPECT_EQ(16, candidate_count(spec(LPT_SCALE_RULE_MSE)));
    for (int32_t i = 0; i < 16; i += 5) {
      const float factor = static_cast<float>(32 - i) / 32;
      EXPECT_EQ(nearest_scale(held(product(units, factor))), candidate_code(spec(LPT_SCALE_RULE_MSE), amax, i));
    }
  });
}

TEST(BlockScale, NeverClipsWhereTheRuleSaysSo) {
  Random random(711);
  for (int i = 0; i < 20000; ++i) {
    const auto amax = static_cast<float>(std::exp(8 * random.normal()));
    for (const lpt_scale_rule rule : {LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_CEIL}) {
      const ScaleSpec spec = spec_of(LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU, rule, 1.0f);
      ASSERT_LE(amax, 6 * decode(kElementE8m0fnu, block_scale_code(spec, amax))) << amax;
    }
    const ScaleSpec spec =
        spec_of(LPT_FORMAT_E2M1FN, LPT_FORMAT_E8M0FNU, LPT_SCALE_RULE_THREE_QUARTERS, 1.0f / (4.0f / 3));
    const double scale = static_cast<double>(decode(kElementE8m0fnu, e8m0fnu_scale(spec, amax))) * (4.0 / 3);
    ASSERT_LE(static_cast<double>(amax), 6 * scale * (1 + 1e-6)) << amax;
  }
}

TEST(TensorScale, FollowsFromAmaxAndTheRule) {
  Random random(712);
  for (const float amax : telling_amaxes(6.0f, random)) {
    const auto scale = [&](lpt_format kind, lpt_scale_rule rule) {
      return tensor_scale_value(spec_of(LPT_FORMAT_E2M1FN, kind, rule, 1.0f), amax);
    };
    const auto over = [&](float divisor) {
      return amax == 0 ? 1.0 : std::max(static_cast<double>(quotient(amax, divisor)), 0x1p-126);
    };
    for (const lpt_scale_rule rule : {LPT_SCALE_RULE_NEAREST, LPT_SCALE_RULE_ROUND_UP, LPT_SCALE_RULE_MSE}) {
      ASSERT_EQ(over(6 * 448), static_cast<double>(scale(LPT_FORMAT_E4M3FN, rule))) << amax;
    }
    for (const lpt_scale_rule rule : {LPT_SCALE_RULE_HEADROOM, LPT_SCALE_RULE_FOUR_OVER_SIX}) {
      ASSERT_EQ(over(6 * 256), static_cast<double>(scale(LPT_FORMAT_E4M3FN, rule))) << amax;
    }
    ASSERT_EQ(4.0f / 3, scale(LPT_FORMAT_E8M0FNU, LPT_SCALE_RULE_THREE_QUARTERS));
    ASSERT_EQ(over(6), static_cast<double>(scale(LPT_FORMAT_NONE, LPT_SCALE_RULE_AMAX))) << amax;
  }
}

TEST(LaneSum, AddsAsSixteenLanesDo) {
  Random random(713);
  for (int64_t count = 0; count < 100; ++count) {
    std::vector<float> numbers;
    for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<float>(std::exp(random.normal())));
    std::vector<float> lanes(16, 0.0f);
    for (int64_t i = 0; i < count; ++i) lanes[static_cast<size_t>(i % 16)] += numbers[static_cast<size_t>(i)];
    while (lanes.size() > 1) {
      const size_t half = lanes.size() / 2;
      for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
      lanes.resize(half);
    }
    EXPECT_EQ(lanes[0], striped_sum(count, [&](int64_t i) { return numbers[static_cast<size_t>(i)]; })) << count;
  }
}

BlockGrid grid_of(const char *name, int64_t rows, int64_t columns) {
  Format format;
  lpt_format id = LPT_FORMAT_NONE;
  EXPECT_TRUE(format_from_name(name, id).is_ok());
  EXPECT_TRUE(find_format(id, format));
  return block_grid(format, rows, columns);
}

void expect_grid(const BlockGrid &grid, int64_t block_rows, int64_t block_columns, int64_t rows, int64_t columns) {
  EXPECT_EQ(block_rows, grid.block_rows);
  EXPECT_EQ(block_columns, grid.block_columns);
  EXPECT_EQ(rows, grid.rows);
  EXPECT_EQ(columns, grid.columns);
}

TEST(BlockGrid, CoversTheMatrix) {
  expect_grid(grid_of("mxfp4", 3, 64), 1, 32, 3, 2);
  expect_grid(grid_of("mxfp4", 3, 65), 1, 32, 3, 3);
  expect_grid(grid_of("e4m3fn_128x128", 129, 128), 128, 128, 2, 1);
  expect_grid(grid_of("e4m3fn_row", 5, 7), 1, 7, 5, 1);
  expect_grid(grid_of("e4m3fn/column/f32", 5, 7), 5, 1, 1, 7);
}

TEST(BlockGrid, IsOneBlockWithoutBlockScale) {
  expect_grid(grid_of("e4m3fn_tensor", 5, 7), 5, 7, 1, 1);
  expect_grid(grid_of("f32", 5, 7), 5, 7, 1, 1);
}

TEST(BlockGrid, HasNoBlocksWhereThereAreNoElements) {
  expect_grid(grid_of("mxfp4", 0, 64), 1, 32, 0, 2);
  expect_grid(grid_of("e4m3fn_row", 5, 0), 1, 1, 5, 0);
  expect_grid(grid_of("e4m3fn_tensor", 0, 0), 1, 1, 0, 0);
}

TEST(BlockGrid, DoesNotOverflow) { expect_grid(grid_of("mxfp4", 1, INT64_MAX), 1, 32, 1, INT64_MAX / 32 + 1); }

}  // namespace
}  // namespace lpt
