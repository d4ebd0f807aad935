// Elements against ml_dtypes (golden files) and against an independent definition in double.
#include "src/formats/element.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "src/base/philox.hpp"
#include "tests/formats/golden.hpp"

namespace lpt {
namespace {

constexpr lpt_rounding kRoundings[] = {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_TOWARD_ZERO,
                                       LPT_ROUNDING_NEAREST_AWAY, LPT_ROUNDING_STOCHASTIC_UNDERFLOW};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The definition: the finite magnitudes in code order, and the next one after the largest.
struct Definition {
  const char *name;
  Element element;
  int mantissa_bits;
  int exponent_bias;
  int finite_codes;
};

// e8m0fnu has 0 mantissa bits and no subnormals. Integers have one exponent: a code is the value in units, or in
// fractions given by the bias.
constexpr Definition kDefinitions[] = {
    {"f16", kElementF16, 10, 15, 0x7C00},
    {"bf16", kElementBf16, 7, 127, 0x7F80},
    {"e4m3fn", kElementE4m3fn, 3, 7, 0x7F},
    {"e4m3", kElementE4m3, 3, 7, 0x78},
    {"e5m2", kElementE5m2, 2, 15, 0x7C},
    {"e2m1fn", kElementE2m1fn, 1, 1, 8},
    {"e8m0fnu", kElementE8m0fnu, 0, 127, 255},
    {"int8", kElementInt8, 0, 0, 128},
    {"e4m3fnuz", kElementE4m3fnuz, 3, 8, 0x80},
    {"e5m2fnuz", kElementE5m2fnuz, 2, 16, 0x80},
    {"e4m3b11fnuz", kElementE4m3b11fnuz, 3, 11, 0x80},
    {"e3m4", kElementE3m4, 4, 3, 0x70},
    {"e3m2fn", kElementE3m2fn, 2, 3, 0x20},
    {"e2m3fn", kElementE2m3fn, 3, 1, 0x20},
    {"e3m0", kElementE3m0, 0, 3, 8},
    {"int16", kElementInt16, 0, 0, 32768},
    {"q1_6", kElementQ16, 0, 6, 128},
    {"int4", kElementInt4, 0, 0, 8},
    {"uint4", kElementUint4, 0, 0, 16},
    {"int3", kElementInt3, 0, 0, 4},
    {"int2", kElementInt2, 0, 0, 2},
};

void PrintTo(const Definition &definition, std::ostream *stream) { *stream << definition.name; }

double magnitude_of(const Definition &definition, int code) {
  if (definition.element.is_integer) return std::ldexp(code, -definition.exponent_bias);
  if (definition.element.has_no_zero) return std::ldexp(1.0, code - definition.exponent_bias);
  const int exponent = code >> definition.mantissa_bits;
  const int fraction = code & ((1 << definition.mantissa_bits) - 1);
  const int hidden = exponent == 0 ? 0 : 1 << definition.mantissa_bits;
  return std::ldexp(hidden + fraction, std::max(exponent, 1) - definition.exponent_bias - definition.mantissa_bits);
}

// Returns the finite magnitudes and the next one.
std::vector<double> magnitudes_of(const Definition &definition) {
  std::vector<double> magnitudes;
  for (int code = 0; code <= definition.finite_codes; ++code) magnitudes.push_back(magnitude_of(definition, code));
  return magnitudes;
}

// Returns the last code at or below a finite magnitude; finite_codes if it is a full step too large.
uint32_t code_below(const std::vector<double> &magnitudes, double magnitude) {
  const auto above = std::upper_bound(magnitudes.begin(), magnitudes.end(), magnitude);
  return above == magnitudes.begin() ? 0 : static_cast<uint32_t>(above - magnitudes.begin() - 1);
}

// Returns the nearest of two adjacent codes. A tie rounds to the even code, or away from zero.
uint32_t code_nearest(const std::vector<double> &magnitudes, double magnitude, bool is_away) {
  const uint32_t below = code_below(magnitudes, magnitude);
  if (below + 1 == magnitudes.size()) return below;
  const double down = magnitude - magnitudes[below];
  const double up = magnitudes[below + 1] - magnitude;
  return up < down || (up == down && (is_away || below % 2 == 1)) ? below + 1 : below;
}

bool is_same(float a, float b) { return a == b || (golden::is_nan(a) && golden::is_nan(b)); }

uint32_t signed_code(const Definition &definition, uint32_t magnitude, bool is_negative) {
  if (!is_negative) return magnitude;
  if (definition.element.is_fnuz && (magnitude == 0 || magnitude == 0x80)) return magnitude;
  const uint32_t codes = 1u << definition.element.bits;
  return definition.element.is_integer ? (codes - magnitude) % codes : codes / 2 + magnitude;
}

std::vector<float> bf16_values() {
  std::vector<float> values;
  for (uint32_t code = 0; code < 65536; ++code) values.push_back(bits_float(code << 16));
  return values;
}

std::vector<float> f16_values() {
  std::vector<float> values;
  for (uint32_t code = 0; code < 65536; ++code) values.push_back(decode(kElementF16, code));
  return values;
}

std::vector<float> random_values(int count) {
  std::vector<float> values;
  golden::SplitMix64 random(1);
  for (int i = 0; i < count; ++i) values.push_back(bits_float(random.next_high()));
  return values;
}

std::vector<float> midpoints(const Definition &definition) {
  const std::vector<double> magnitudes = magnitudes_of(definition);
  std::vector<float> values;
  for (size_t code = 0; code + 1 < magnitudes.size(); ++code) {
    const uint32_t bits = float_bits(static_cast<float>((magnitudes[code] + magnitudes[code + 1]) / 2));
    for (uint32_t near : {bits - 1, bits, bits + 1}) values.push_back(bits_float(near));
  }
  const size_t positive_count = values.size();
  for (size_t i = 0; i < positive_count; ++i) values.push_back(-values[i]);
  return values;
}

// Returns values for all elements, and every boundary of this element.
std::vector<float> telling_values(const Definition &definition) {
  std::vector<float> values = bf16_values();
  for (float value : midpoints(definition)) values.push_back(value);
  for (float value : random_values(300000)) values.push_back(value);
  return values;
}

std::string digest_of(const Element &element, const std::vector<float> &values) {
  golden::Digest digest(element.bits == 16 ? 2 : 1);
  for (float value : values) digest.add(golden::encode_nearest(element, value));
  return digest.text();
}

class EveryElement : public testing::TestWithParam<Definition> {
 protected:
  const Definition &definition() const { return GetParam(); }
  const Element &element() const { return GetParam().element; }
  // ml_dtypes has no e3m0: the digests of gfloat are used.
  std::string golden_digest(const char *set) const {
    const std::string digest = golden::digest("digests", set, definition().name);
    return !digest.empty() ? digest : golden::digest("roundings", set, definition().name);
  }
};

INSTANTIATE_TEST_SUITE_P(Elements, EveryElement, testing::ValuesIn(kDefinitions),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(EveryElement, DecodesEveryCodeAsMlDtypes) {
  if (element().bits == 16) {
    golden::Digest digest(4);
    for (uint32_t code = 0; code < 65536; ++code) digest.add(float_bits(decode(element(), code)));
    EXPECT_EQ(golden_digest("codes"), digest.text());
    return;
  }
  const std::vector<golden::Row> rows = golden::read(definition().name);
  ASSERT_EQ(size_t{1} << element().bits, rows.size());
  for (const golden::Row &row : rows) {
    const uint32_t code = static_cast<uint32_t>(std::stoul(row[0]));
    EXPECT_EQ(std::stoul(row[1], nullptr, 16), float_bits(decode(element(), code))) << "code " << code;
  }
}

TEST_P(EveryElement, EncodesBf16ValuesAsMlDtypes) {
  EXPECT_EQ(golden_digest("bf16"), digest_of(element(), bf16_values()));
}

TEST_P(EveryElement, EncodesF16ValuesAsMlDtypes) {
  EXPECT_EQ(golden_digest("f16"), digest_of(element(), f16_values()));
}

TEST_P(EveryElement, EncodesMidpointsAsMlDtypes) {
  EXPECT_EQ(golden_digest("midpoints"), digest_of(element(), midpoints(definition())));
}

TEST_P(EveryElement, EncodesRandomFloatsAsMlDtypes) {
  EXPECT_EQ(golden_digest("random"), digest_of(element(), random_values(10000000)));
}

TEST_P(EveryElement, GivesEveryFiniteCodeBack) {
  for (lpt_rounding rounding : kRoundings) {
    for (int code = 0; code < definition().finite_codes; ++code) {
      for (bool is_negative : {false, element().is_signed}) {
        const uint32_t oracle = signed_code(definition(), static_cast<uint32_t>(code), is_negative);
        const float value = decode(element(), oracle);
        EXPECT_EQ(oracle, encode(element(), value, rounding, LPT_OVERFLOW_SATURATE, 0xFFFF, 16)) << value;
        EXPECT_EQ(oracle, encode(element(), value, rounding, LPT_OVERFLOW_SATURATE, 0, 16)) << value;
      }
    }
  }
}

TEST_P(EveryElement, RoundsToTheCodeOfTheDefinition) {
  const std::vector<double> magnitudes = magnitudes_of(definition());
  const uint32_t too_large = static_cast<uint32_t>(definition().finite_codes);
  for (float value : telling_values(definition())) {
    if (!std::isfinite(value) || (std::signbit(value) && !element().is_signed)) continue;
    const double magnitude = std::fabs(static_cast<double>(value));
    for (lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_NEAREST_AWAY, LPT_ROUNDING_TOWARD_ZERO,
                                  LPT_ROUNDING_STOCHASTIC_UNDERFLOW}) {
      const bool is_nearest = rounding != LPT_ROUNDING_TOWARD_ZERO;
      // As in ml_dtypes, ties of e8m0fnu round up, and so do all values between its two smallest ones.
      if (is_nearest && element().has_no_zero) continue;
      if (rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW && magnitude < magnitudes[1]) continue;
      const bool is_away = rounding == LPT_ROUNDING_NEAREST_AWAY;
      const uint32_t code =
          is_nearest ? code_nearest(magnitudes, magnitude, is_away) : code_below(magnitudes, magnitude);
      const uint32_t saturated = std::min(code, too_large - 1);
      const uint32_t infinite = code == too_large ? element().infinity_code : code;
      ASSERT_EQ(signed_code(definition(), saturated, std::signbit(value)),
                encode(element(), value, rounding, LPT_OVERFLOW_SATURATE, 0, 16))
          << value << " rounding " << rounding;
      ASSERT_EQ(signed_code(definition(), infinite, std::signbit(value)),
                encode(element(), value, rounding, LPT_OVERFLOW_INFINITE, 0, 16))
          << value << " rounding " << rounding;
    }
  }
}

TEST_P(EveryElement, SaturatesToTheLargestWithItsSign) {
  const uint32_t largest = element().max_code;
  for (lpt_rounding rounding : kRoundings) {
    for (float value : {kInfinity, std::numeric_limits<float>::max()}) {
      EXPECT_EQ(largest, encode(element(), value, rounding, LPT_OVERFLOW_SATURATE, 0xFFFF, 16)) << value;
      if (!element().is_signed) continue;
      EXPECT_EQ(signed_code(definition(), largest, true),
                encode(element(), -value, rounding, LPT_OVERFLOW_SATURATE, 0xFFFF, 16));
    }
  }
}

TEST_P(EveryElement, OverflowsToInfinityOrNanWhereItHasThem) {
  const uint32_t code = encode(element(), kInfinity, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16);
  const std::string name = definition().name;
  const bool has_infinity = name == "f16" || name == "bf16" || name == "e4m3" || name == "e5m2" || name == "e3m4";
  const bool has_nan = has_infinity || name == "e4m3fn" || name == "e8m0fnu" || element().is_fnuz;
  const float largest = static_cast<float>(magnitude_of(definition(), definition().finite_codes - 1));
  const float oracle = has_infinity ? kInfinity : has_nan ? kNan : largest;
  EXPECT_TRUE(is_same(oracle, decode(element(), code))) << decode(element(), code) << ", not " << oracle;
}

TEST_P(EveryElement, KeepsNanWhereItHasOneAndElseGivesZero) {
  for (lpt_overflow overflow : {LPT_OVERFLOW_SATURATE, LPT_OVERFLOW_INFINITE}) {
    for (float nan : {kNan, -kNan, bits_float(0x7F800001u), bits_float(0xFFFFFFFFu)}) {
      const float decoded = decode(element(), encode(element(), nan, LPT_ROUNDING_STOCHASTIC, overflow, 0xFFFF, 16));
      EXPECT_TRUE(is_same(element().nan_code != 0 ? kNan : 0.0f, decoded)) << decoded;
    }
  }
}

// Returns the number of random words that round `value` up from `below`. All others must give `below`.
int count_ups(const Element &element, float value, uint32_t below, uint32_t above, int random_bits,
              lpt_rounding rounding = LPT_ROUNDING_STOCHASTIC) {
  int ups = 0;
  int others = 0;
  for (uint32_t random = 0; random < 1u << random_bits; ++random) {
    const uint32_t code = encode(element, value, rounding, LPT_OVERFLOW_INFINITE, random, random_bits);
    ups += code == above;
    others += code != above && code != below;
  }
  EXPECT_EQ(0, others) << value << " gives codes beside " << below << " and " << above;
  return ups;
}

// The elements with stochastic rounding. e8m0fnu is a scale.
class StochasticElement : public EveryElement {};

INSTANTIATE_TEST_SUITE_P(Elements, StochasticElement, testing::ValuesIn([] {
                           std::vector<Definition> definitions;
                           for (const Definition &definition : kDefinitions) {
                             if (!definition.element.has_no_zero) definitions.push_back(definition);
                           }
                           return definitions;
                         }()),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(StochasticElement, RoundsUpWithExactlyTheFractionOfUpToAsManyBitsAsAreDrawn) {
  const std::vector<double> magnitudes = magnitudes_of(definition());
  golden::SplitMix64 random(2);
  // Subnormals, the first normals, a carry into the next exponent, the last step, and random codes.
  const uint32_t normal = 1u << definition().mantissa_bits;
  const uint32_t last = static_cast<uint32_t>(definition().finite_codes) - 2;
  std::vector<uint32_t> codes = {0, normal - 1, std::min(normal, last), std::min(2 * normal - 1, last), last};
  for (int i = 0; i < 5; ++i) codes.push_back(random.below(last));
  for (int random_bits : {16, 8}) {
    // The bits of f32 below the last place of the element.
    const int used_bits = element().is_integer ? std::bit_width(element().max_code) - 1 : definition().mantissa_bits;
    const int fraction_bits = std::min(random_bits, 23 - used_bits);
    for (uint32_t code : codes) {
      for (uint32_t units : {0u, 1u, (1u << fraction_bits) - 1, random.below(1u << fraction_bits)}) {
        const double fraction = std::ldexp(units, -fraction_bits);
        const double magnitude = magnitudes[code] + fraction * (magnitudes[code + 1] - magnitudes[code]);
        const bool is_negative = element().is_signed && random.below(2) == 1;
        const float value = static_cast<float>(is_negative ? -magnitude : magnitude);
        ASSERT_EQ(magnitude, std::fabs(static_cast<double>(value)));
        const uint32_t below = signed_code(definition(), code, is_negative);
        const uint32_t above = signed_code(definition(), code + 1, is_negative);
        EXPECT_EQ(units << (random_bits - fraction_bits), count_ups(element(), value, below, above, random_bits))
            << value << " with " << random_bits << " bits";
      }
    }
  }
}

TEST_P(StochasticElement, RoundsAnyFractionToTheBitsThatAreDrawnHalvesUp) {
  const std::vector<double> magnitudes = magnitudes_of(definition());
  golden::SplitMix64 random(3);
  for (int random_bits : {16, 8}) {
    for (int i = 0; i < 24; ++i) {
      const uint32_t code = random.below(static_cast<uint32_t>(definition().finite_codes) - 1);
      const double step = magnitudes[code + 1] - magnitudes[code];
      const float value = static_cast<float>(magnitudes[code] + step * std::ldexp(random.next_high() >> 8, -24));
      const uint32_t below = code_below(magnitudes, value);
      if (below + 1 == static_cast<uint32_t>(definition().finite_codes)) continue;
      const double fraction = (value - magnitudes[below]) / (magnitudes[below + 1] - magnitudes[below]);
      EXPECT_EQ(std::floor(std::ldexp(fraction, random_bits) + 0.5),
                count_ups(element(), value, below, below + 1, random_bits))
          << value << " with " << random_bits << " bits";
    }
  }
}

TEST_P(StochasticElement, HasTheMeanOfTheValue) {
  const std::vector<double> magnitudes = magnitudes_of(definition());
  golden::SplitMix64 random(4);
  constexpr int64_t kRows = 1024;
  constexpr int64_t kColumns = 1024;
  for (int32_t random_bits_per_element : {16, 8}) {
    const RandomSource source = {.seed = 5,
                                 .offset = 0,
                                 .row_stride = kColumns,
                                 .stream = random_stream(RandomDomain::kQuantize, 6, 7),
                                 .step = 8,
                                 .rounds = 7,
                                 .bits = random_bits_per_element};
    for (uint32_t code : {0u, random.below(static_cast<uint32_t>(definition().finite_codes) - 1)}) {
      // With 8 bits only fractions of 8 bits are exact.
      const double fraction = std::ldexp(1 + random.below(255), -8);
      const double step = magnitudes[code + 1] - magnitudes[code];
      const float value = static_cast<float>(magnitudes[code] + fraction * step);
      double sum = 0;
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t column = 0; column < kColumns; ++column) {
          const uint32_t drawn = random_bits(source, row, column);
          const uint32_t rounded =
              encode(element(), value, LPT_ROUNDING_STOCHASTIC, LPT_OVERFLOW_SATURATE, drawn, random_bits_per_element);
          sum += magnitudes[rounded] - magnitudes[code];
        }
      }
      const double count = kRows * kColumns;
      const double sigma = std::sqrt(fraction * (1 - fraction) / count);
      EXPECT_NEAR(fraction, sum / step / count, 4 * sigma) << value << " with " << random_bits_per_element << " bits";
    }
  }
}

TEST_P(StochasticElement, LosesWhatLiesBelowTheBitsThatAreDrawn) {
  const double smallest = magnitudes_of(definition())[1];
  for (int random_bits : {16, 8}) {
    // Rounding examines one more bit than it draws, so that half of the last bit is counted once.
    const float seen = static_cast<float>(std::ldexp(smallest, -random_bits - 1));
    if (seen == 0) continue;  // below all f32
    const float lost = bits_float(float_bits(seen) - 1);
    EXPECT_EQ(1, count_ups(element(), seen, 0, 1, random_bits));
    EXPECT_EQ(0, count_ups(element(), lost, 0, 1, random_bits));
  }
}

// Below the smallest code: stochastic rounding to 0 or to that code, with the sign.
TEST_P(StochasticElement, UnderflowsToZeroOrTheSmallestWithTheMeanOfTheValue) {
  const double smallest = magnitudes_of(definition())[1];
  for (int random_bits : {16, 8}) {
    for (const double fraction : {0.0, 0x1p-8, 0.25, 0.5, 0.75, 1 - 0x1p-8}) {
      for (const bool is_negative : {false, element().is_signed}) {
        const float value = static_cast<float>((is_negative ? -1 : 1) * fraction * smallest);
        const uint32_t below = signed_code(definition(), 0, is_negative);
        const uint32_t above = signed_code(definition(), 1, is_negative);
        const int ups = count_ups(element(), value, below, above, random_bits, LPT_ROUNDING_STOCHASTIC_UNDERFLOW);
        EXPECT_EQ(std::ldexp(fraction, random_bits), ups) << value << " with " << random_bits << " bits";
      }
    }
  }
}

TEST_P(StochasticElement, OverflowsFromTheLargestWithTheFraction) {
  const std::vector<double> magnitudes = magnitudes_of(definition());
  const size_t last = magnitudes.size() - 2;
  const float value = static_cast<float>(magnitudes[last] + 0.25 * (magnitudes[last + 1] - magnitudes[last]));
  for (int random_bits : {16, 8}) {
    const uint32_t largest = element().max_code;
    const uint32_t beyond = element().infinity_code;
    if (beyond != largest) {
      EXPECT_EQ(1 << (random_bits - 2), count_ups(element(), value, largest, beyond, random_bits));
    }
    for (uint32_t random = 0; random < 1u << random_bits; ++random) {
      ASSERT_EQ(largest, encode(element(), value, LPT_ROUNDING_STOCHASTIC, LPT_OVERFLOW_SATURATE, random, random_bits));
    }
  }
}

uint32_t nearest(const Element &element, float value) {
  return encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16);
}

TEST(Element, RoundsSubnormalsOnTheirOwnGrid) {
  const float smallest = 0x1p-9f;
  EXPECT_EQ(0u, nearest(kElementE4m3fn, 0.5f * smallest));
  EXPECT_EQ(1u, nearest(kElementE4m3fn, 0.50001f * smallest));
  EXPECT_EQ(2u, nearest(kElementE4m3fn, 1.5f * smallest));
  EXPECT_EQ(2u, nearest(kElementE4m3fn, 2.5f * smallest));
  EXPECT_EQ(8u, nearest(kElementE4m3fn, 7.5f * smallest));
  EXPECT_EQ(0x80u, nearest(kElementE4m3fn, -0.5f * smallest));
  EXPECT_EQ(1u, nearest(kElementBf16, 0x1p-133f));
  EXPECT_EQ(0u, nearest(kElementBf16, 0x1p-134f));
}

TEST(Element, ClampsTheScaleOfZero) {
  // ml_dtypes encodes zero as NaN. In LPT a block of zeros has the smallest scale.
  for (lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_TOWARD_ZERO}) {
    for (float value : {0.0f, -0.0f, 0x1p-149f, 0x1p-128f}) {
      EXPECT_EQ(0u, encode(kElementE8m0fnu, value, rounding, LPT_OVERFLOW_SATURATE, 0, 16));
    }
  }
  EXPECT_EQ(0x1p-127f, decode(kElementE8m0fnu, 0));
}

TEST(Element, HasNoNegativeScale) {
  for (float value : {-0x1p-149f, -1.0f, -kInfinity}) EXPECT_EQ(0xFFu, nearest(kElementE8m0fnu, value));
}

TEST(Element, WithoutASignGivesZeroForWhatIsNegative) {
  for (float value : {-0.3f, -1.0f, -100.0f, -kInfinity}) EXPECT_EQ(0u, nearest(kElementUint4, value));
}

TEST(Element, OfFnuzHasNoNegativeZero) {
  for (const Element &element : {kElementE4m3fnuz, kElementE5m2fnuz, kElementE4m3b11fnuz}) {
    for (float value : {-0.0f, -0x1p-149f, -0x1p-40f}) EXPECT_EQ(0u, nearest(element, value));
    EXPECT_EQ(0x80u, encode(element, -kInfinity, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16));
    EXPECT_EQ(0xFFu, nearest(element, -kInfinity));
  }
}

TEST(Element, OfTernaryIsThatOfTwoBitIntegers) {
  for (float value : bf16_values()) {
    for (lpt_rounding rounding : kRoundings) {
      const uint32_t code = encode(kElementInt2, value, rounding, LPT_OVERFLOW_SATURATE, 0x8000, 16);
      ASSERT_EQ(code, encode(kElementTernary, value, rounding, LPT_OVERFLOW_SATURATE, 0x8000, 16)) << value;
      ASSERT_TRUE(code == 0 || code == 1 || code == 3) << value;
    }
  }
}

TEST(Element, RoundsTiesOfScalesUp) {
  EXPECT_EQ(127u, nearest(kElementE8m0fnu, 1.49f));
  EXPECT_EQ(128u, nearest(kElementE8m0fnu, 1.5f));
  EXPECT_EQ(129u, nearest(kElementE8m0fnu, 3.0f));
  EXPECT_EQ(1u, nearest(kElementE8m0fnu, 0x1.8p-127f));
}

TEST(Element, RoundsIntegersToEvenAndKeepsThemSymmetric) {
  EXPECT_EQ(0u, nearest(kElementInt8, 0.5f));
  EXPECT_EQ(0u, nearest(kElementInt8, -0.5f));
  EXPECT_EQ(2u, nearest(kElementInt8, 1.5f));
  EXPECT_EQ(2u, nearest(kElementInt8, 2.5f));
  EXPECT_EQ(0xFEu, nearest(kElementInt8, -1.5f));
  EXPECT_EQ(127u, nearest(kElementInt8, 127.5f));
  EXPECT_EQ(0x81u, nearest(kElementInt8, -128.0f));
  EXPECT_EQ(-128.0f, decode(kElementInt8, 0x80));
}

TEST(Element, SaturatesIntegersOfAnySize) {
  // From 2^23 no bit is dropped. From 2^24 bits would have to be added.
  for (int exponent = 7; exponent < 128; ++exponent) {
    const float value = std::ldexp(1.0f, exponent);
    for (lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC, LPT_ROUNDING_TOWARD_ZERO}) {
      EXPECT_EQ(127u, encode(kElementInt8, value, rounding, LPT_OVERFLOW_SATURATE, 0, 16)) << value;
      EXPECT_EQ(0x81u, encode(kElementInt8, -value, rounding, LPT_OVERFLOW_INFINITE, 0xFFFF, 16)) << value;
    }
  }
}

}  // namespace
}  // namespace lpt
