// Custom elements: every description of at most 8 bits, its values by pow(), its name and its id.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/formats/format.hpp"

namespace lpt {
namespace {

struct Own {
  int exponent_bits, mantissa_bits, bias;
  lpt_element_special special;
  bool is_signed;

  int bits() const { return exponent_bits + mantissa_bits + (is_signed ? 1 : 0); }
};

std::string text_of(const Own &own) {
  return text("e%dm%db%d special %d%s", own.exponent_bits, own.mantissa_bits, own.bias, own.special,
              own.is_signed ? "" : " unsigned");
}

// Returns the value of a magnitude code by the definition; nothing for infinity and NaN.
std::optional<double> value_of(const Own &own, int code) {
  const int exponent = code >> own.mantissa_bits;
  const int mantissa = code & ((1 << own.mantissa_bits) - 1);
  const int top = (1 << (own.exponent_bits + own.mantissa_bits)) - 1;
  if (own.special == LPT_ELEMENT_SPECIAL_IEEE && exponent == (1 << own.exponent_bits) - 1) return {};
  if (own.special == LPT_ELEMENT_SPECIAL_NAN_ONES && code == top) return {};
  const double fraction = mantissa * std::pow(2.0, -own.mantissa_bits);
  return exponent == 0 ? fraction * std::pow(2.0, 1 - own.bias) : (1 + fraction) * std::pow(2.0, exponent - own.bias);
}

std::vector<double> magnitudes_of(const Own &own) {
  std::vector<double> magnitudes;
  for (int code = 0; code < 1 << (own.exponent_bits + own.mantissa_bits); ++code) {
    if (const std::optional<double> value = value_of(own, code)) magnitudes.push_back(*value);
  }
  return magnitudes;
}

// Returns whether the header allows the description.
bool is_legal(const Own &own) {
  if (own.exponent_bits < 1 || own.exponent_bits > 7 || own.mantissa_bits < 0 || own.bits() > 8) return false;
  if (own.special == LPT_ELEMENT_SPECIAL_INTEGER || own.special == LPT_ELEMENT_SPECIAL_LIST) return false;
  if (own.special == LPT_ELEMENT_SPECIAL_IEEE && own.mantissa_bits == 0) return false;
  if (own.special == LPT_ELEMENT_SPECIAL_FNUZ && !own.is_signed) return false;
  const std::vector<double> magnitudes = magnitudes_of(own);
  return magnitudes.size() > 1 && magnitudes.back() < 0x1p127 &&
         std::ldexp(1.0, 1 - own.bias - own.mantissa_bits) >= 0x1p-126;
}

template <typename Body>
void for_each_description(const Body &body) {
  for (int exponent_bits = 1; exponent_bits <= 8; ++exponent_bits) {
    for (int mantissa_bits = 0; mantissa_bits <= 8 - exponent_bits; ++mantissa_bits) {
      for (const bool is_signed : {true, false}) {
        for (lpt_element_special special = LPT_ELEMENT_SPECIAL_NONE; special <= LPT_ELEMENT_SPECIAL_LIST; ++special) {
          for (int bias = -130; bias <= 130; ++bias) body(Own{exponent_bits, mantissa_bits, bias, special, is_signed});
        }
      }
    }
  }
}

lpt_format_description description_of(const Own &own) {
  lpt_format_description description = LPT_FORMAT_DESCRIPTION_INIT;
  description.element_bits = own.bits();
  description.exponent_bits = own.exponent_bits;
  description.mantissa_bits = own.mantissa_bits;
  description.exponent_bias = own.bias;
  description.special = own.special;
  return description;
}

TEST(CustomElement, IsMadeOfEveryLegalDescriptionAndOfNoOther) {
  std::set<lpt_format> ids;
  int legal = 0;
  for_each_description([&](const Own &own) {
    lpt_format id = 7;
    const Status status = format_from_description(description_of(own), id);
    ASSERT_EQ(is_legal(own), status.is_ok()) << text_of(own) << ": " << status.message();
    if (!status.is_ok()) {
      ASSERT_EQ(LPT_INVALID_ARGUMENT, status.code());
      ASSERT_EQ(7, id);
      return;
    }
    ++legal;
    ids.insert(id);
  });
  EXPECT_EQ(static_cast<size_t>(legal), ids.size()) << "two descriptions share a number";
  EXPECT_GT(legal, 10000);
}

TEST(CustomElement, GoesFromNumberToNameToDescriptionAndBack) {
  for_each_description([&](const Own &own) {
    lpt_format id = LPT_FORMAT_NONE;
    if (!format_from_description(description_of(own), id).is_ok()) return;
    const std::string name = format_name(id);
    lpt_format read = LPT_FORMAT_NONE;
    ASSERT_TRUE(format_from_name(name.c_str(), read).is_ok()) << name;
    ASSERT_EQ(id, read) << name;
    lpt_format_description reported = LPT_FORMAT_DESCRIPTION_INIT;
    ASSERT_TRUE(describe_format(id, reported).is_ok()) << name;
    ASSERT_EQ(id, reported.element) << name;
    ASSERT_EQ(own.bits(), reported.element_bits) << name;
    ASSERT_EQ(own.exponent_bits, reported.exponent_bits) << name;
    ASSERT_EQ(own.mantissa_bits, reported.mantissa_bits) << name;
    ASSERT_EQ(own.bias, reported.exponent_bias) << name;
    ASSERT_EQ(own.special, reported.special) << name;
    ASSERT_EQ(magnitudes_of(own).back(), reported.largest) << name;
    ASSERT_TRUE(format_from_description(reported, read).is_ok());
    ASSERT_EQ(id, read) << name;
    reported.element = LPT_FORMAT_NONE;
    reported.struct_size = sizeof reported;
    ASSERT_TRUE(format_from_description(reported, read).is_ok()) << name;
    ASSERT_EQ(id, read) << name;
  });
}

TEST(CustomElement, IsThePresetWhereItEqualsOne) {
  const std::map<std::string, lpt_format> presets = {
      {"e4m3b7-nan", LPT_FORMAT_E4M3FN},        {"e4m3b7-ieee", LPT_FORMAT_E4M3},
      {"e5m2b15-ieee", LPT_FORMAT_E5M2},        {"e2m1b1-finite", LPT_FORMAT_E2M1FN},
      {"e4m3b8-fnuz", LPT_FORMAT_E4M3FNUZ},     {"e5m2b16-fnuz", LPT_FORMAT_E5M2FNUZ},
      {"e4m3b11-fnuz", LPT_FORMAT_E4M3B11FNUZ}, {"e3m4b3-ieee", LPT_FORMAT_E3M4},
      {"e3m2b3-finite", LPT_FORMAT_E3M2FN},     {"e2m3b1-finite", LPT_FORMAT_E2M3FN},
      {"e3m0b3-finite", LPT_FORMAT_E3M0},
  };
  size_t found = 0;
  for_each_description([&](const Own &own) {
    lpt_format id = LPT_FORMAT_NONE;
    if (!format_from_description(description_of(own), id).is_ok()) return;
    if (id >= 0 && id < 64) ++found;
  });
  EXPECT_EQ(presets.size(), found);
  for (const auto &[name, preset] : presets) {
    lpt_format id = LPT_FORMAT_NONE;
    EXPECT_TRUE(format_from_name(name.c_str(), id).is_ok()) << name;
    EXPECT_EQ(preset, id) << name;
  }
}

TEST(CustomElement, DecodesEveryCodeToItsPower) {
  for_each_description([&](const Own &own) {
    lpt_format id = LPT_FORMAT_NONE;
    if (own.bias % 7 != 0 && std::abs(own.bias) < 120) return;  // the limits, and some values between them
    if (!format_from_description(description_of(own), id).is_ok()) return;
    const Element element = element_of(id);
    const int magnitudes = 1 << (own.exponent_bits + own.mantissa_bits);
    for (int code = 0; code < 1 << own.bits(); ++code) {
      const bool is_negative = code >= magnitudes;
      const float found = decode(element, static_cast<uint32_t>(code));
      const std::optional<double> value = value_of(own, code % magnitudes);
      const bool is_lone_nan = own.special == LPT_ELEMENT_SPECIAL_FNUZ && code == magnitudes;
      if (value && !is_lone_nan) {
        ASSERT_EQ(is_negative ? -*value : *value, static_cast<double>(found)) << text_of(own) << " code " << code;
        ASSERT_EQ(is_negative, std::signbit(found)) << text_of(own) << " code " << code;
      } else {
        const bool is_infinity = own.special == LPT_ELEMENT_SPECIAL_IEEE && code % (1 << own.mantissa_bits) == 0;
        ASSERT_TRUE(is_infinity ? std::isinf(found) : std::isnan(found)) << text_of(own) << " code " << code;
      }
    }
  });
}

// Returns the nearer of two adjacent codes, the even one for a tie. A value one step above the largest overflows.
uint32_t nearest_code(const std::vector<double> &magnitudes, double magnitude) {
  const auto above = std::upper_bound(magnitudes.begin(), magnitudes.end(), magnitude);
  const auto below = static_cast<uint32_t>(above - magnitudes.begin() - 1);
  if (above == magnitudes.end()) return below;
  const double down = magnitude - magnitudes[below], up = *above - magnitude;
  return below + (up < down || (up == down && below % 2 == 1) ? 1 : 0);
}

TEST(CustomElement, EncodesToTheNearestAndAroundEveryMidpoint) {
  for_each_description([&](const Own &own) {
    lpt_format id = LPT_FORMAT_NONE;
    if (own.bias % 9 != 0 && std::abs(own.bias) < 120) return;
    if (!format_from_description(description_of(own), id).is_ok()) return;
    const Element element = element_of(id);
    const std::vector<double> magnitudes = magnitudes_of(own);
    for (size_t code = 0; code + 1 < magnitudes.size(); ++code) {
      const auto middle = static_cast<float>((magnitudes[code] + magnitudes[code + 1]) / 2);
      for (const float value : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, INFINITY)}) {
        const uint32_t oracle = nearest_code(magnitudes, static_cast<double>(value));
        ASSERT_EQ(oracle, encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16))
            << text_of(own) << " value " << value;
        ASSERT_EQ(value < middle ? code : code + 1,
                  encode(element, value, LPT_ROUNDING_NEAREST_AWAY, LPT_OVERFLOW_SATURATE, 0, 16))
            << text_of(own) << " value " << value;
        ASSERT_EQ(code, encode(element, value, LPT_ROUNDING_TOWARD_ZERO, LPT_OVERFLOW_SATURATE, 0, 16));
        if (!own.is_signed) continue;
        const uint32_t sign = own.special == LPT_ELEMENT_SPECIAL_FNUZ && oracle == 0 ? 0 : 1u << (own.bits() - 1);
        ASSERT_EQ(oracle | sign, encode(element, -value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16));
      }
    }
    const auto last = static_cast<uint32_t>(magnitudes.size() - 1);
    ASSERT_EQ(last, encode(element, INFINITY, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_SATURATE, 0, 16)) << text_of(own);
    const float beyond =
        decode(element, encode(element, INFINITY, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16));
    const bool is_right = own.special == LPT_ELEMENT_SPECIAL_IEEE   ? std::isinf(beyond)
                          : own.special == LPT_ELEMENT_SPECIAL_NONE ? beyond == static_cast<float>(magnitudes.back())
                                                                    : std::isnan(beyond);
    ASSERT_TRUE(is_right) << text_of(own) << " " << beyond;
  });
}

// Makes one member of a valid description invalid. The text names it.
TEST(CustomElement, RejectsEachWrongMemberByName) {
  struct Wrong {
    const char *text;
    void (*corrupt)(lpt_format_description &);
  };
  constexpr Wrong kWrongs[] = {
      {"exponent_bits is 8", [](auto &d) { d.exponent_bits = 8, d.element_bits = 11; }},
      {"exponent_bits is -1", [](auto &d) { d.exponent_bits = -1; }},
      {"exponent_bits is 2147483647", [](auto &d) { d.exponent_bits = INT32_MAX; }},
      {"mantissa_bits is 5", [](auto &d) { d.mantissa_bits = 5; }},
      {"mantissa_bits is -1", [](auto &d) { d.mantissa_bits = -1; }},
      {"mantissa_bits is 2147483647", [](auto &d) { d.mantissa_bits = INT32_MAX; }},
      {"special is 3", [](auto &d) { d.special = LPT_ELEMENT_SPECIAL_INTEGER; }},
      {"special is 5", [](auto &d) { d.special = LPT_ELEMENT_SPECIAL_LIST; }},
      {"special is 6", [](auto &d) { d.special = 6; }},
      {"special is -1", [](auto &d) { d.special = -1; }},
      {"exponent_bias is 128", [](auto &d) { d.exponent_bias = 128; }},
      {"exponent_bias is -129", [](auto &d) { d.exponent_bias = -129; }},
      {"exponent_bias is -2147483648", [](auto &d) { d.exponent_bias = INT32_MIN; }},
      {"exponent_bias is 125: values run from 2^-127", [](auto &d) { d.exponent_bias = 125; }},
      {"exponent_bias is -112: values run from 2^110 to 2^127", [](auto &d) { d.exponent_bias = -112; }},
      {"element_bits is 6, expected 8 with a sign or 7 without", [](auto &d) { d.element_bits = 6; }},
      {"element_bits is 0", [](auto &d) { d.element_bits = 0; }},
      {"largest is 448", [](auto &d) { d.largest = 448; }},
      {"reserved is 3", [](auto &d) { d.reserved = 3; }},
  };
  for (const Wrong &wrong : kWrongs) {
    lpt_format_description description = description_of({4, 3, 9, LPT_ELEMENT_SPECIAL_NONE, true});
    lpt_format id = 7;
    wrong.corrupt(description);
    const Status status = format_from_description(description, id);
    EXPECT_EQ(LPT_INVALID_ARGUMENT, status.code()) << wrong.text;
    EXPECT_NE(std::string::npos, status.message().find(wrong.text)) << wrong.text << ": " << status.message();
    EXPECT_NE(std::string::npos, status.message().find("expected")) << status.message();
    EXPECT_EQ(7, id) << wrong.text << ": wrote an output";
  }
}

// Saved files contain these ids: they must never change.
TEST(CustomElement, SpellsItselfInItsBits) {
  const auto number = [](const char *name) {
    lpt_format id = LPT_FORMAT_NONE;
    EXPECT_TRUE(format_from_name(name, id).is_ok()) << name;
    return id;
  };
  const lpt_format described = lpt_format{1} << 62;
  EXPECT_EQ(described | lpt_format{4} << 42 | lpt_format{2} << 45 | lpt_format{9} << 48, number("e4m2b9-finite"));
  EXPECT_EQ(described | lpt_format{4} << 42 | lpt_format{3} << 45 | lpt_format{7} << 48 | lpt_format{2} << 56 |
                lpt_format{1} << 59,
            number("ue4m3b7-nan"));
  EXPECT_EQ(described | lpt_format{5} << 42 | lpt_format{2} << 45 | lpt_format{0xFF} << 48 | lpt_format{1} << 56 |
                LPT_FORMAT_F32 << 8 | lpt_format{5} << 29,
            number("e5m2b-1-ieee/1x32/f32"));
}

}  // namespace
}  // namespace lpt
