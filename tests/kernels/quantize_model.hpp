// Model of the casts by their definitions: tables of magnitudes in double, rounding by search, scales by formulas.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "tests/kernels/quantize_case.hpp"

namespace lpt::test::model {

enum class Special { kNone, kNanOnly, kIeee, kFnuz };

// An element as described in its standard.
struct FloatModel {
  lpt_format id;
  int exponent_bits, mantissa_bits, bias;
  Special special;
};

inline constexpr FloatModel kFloats[] = {
    {LPT_FORMAT_F16, 5, 10, 15, Special::kIeee},        {LPT_FORMAT_BF16, 8, 7, 127, Special::kIeee},
    {LPT_FORMAT_E4M3FN, 4, 3, 7, Special::kNanOnly},    {LPT_FORMAT_E4M3, 4, 3, 7, Special::kIeee},
    {LPT_FORMAT_E5M2, 5, 2, 15, Special::kIeee},        {LPT_FORMAT_E2M1FN, 2, 1, 1, Special::kNone},
    {LPT_FORMAT_E4M3FNUZ, 4, 3, 8, Special::kFnuz},     {LPT_FORMAT_E5M2FNUZ, 5, 2, 16, Special::kFnuz},
    {LPT_FORMAT_E4M3B11FNUZ, 4, 3, 11, Special::kFnuz}, {LPT_FORMAT_E3M4, 3, 4, 3, Special::kIeee},
    {LPT_FORMAT_E3M2FN, 3, 2, 3, Special::kNone},       {LPT_FORMAT_E2M3FN, 2, 3, 1, Special::kNone},
    {LPT_FORMAT_E3M0, 3, 0, 3, Special::kNone},
};

struct IntegerModel {
  lpt_format id;
  int bits, largest;
  double unit;
  bool is_signed;
};

inline constexpr IntegerModel kIntegers[] = {
    {LPT_FORMAT_INT8, 8, 127, 1, true}, {LPT_FORMAT_INT16, 16, 32767, 1, true}, {LPT_FORMAT_INT4, 4, 7, 1, true},
    {LPT_FORMAT_INT2, 2, 1, 1, true},   {LPT_FORMAT_TERNARY, 2, 1, 1, true},    {LPT_FORMAT_Q1_6, 8, 127, 0x1p-6, true},
    {LPT_FORMAT_INT3, 3, 3, 1, true},   {LPT_FORMAT_UINT4, 4, 15, 1, false},    {LPT_FORMAT_UINT8, 8, 255, 1, false},
};

struct ElementModel {
  std::vector<double> magnitudes;  // finite magnitudes by code; for a list, values by code
  double step_beyond = 0;          // from the largest to the next magnitude, if it existed
  // Codes. infinity: the result of overflow without saturation. nan 0: no NaN.
  uint32_t infinity = 0, nan = 0;
  int bits = 0;
  bool is_integer = false, is_signed = true, is_fnuz = false, is_list = false, is_power = false;

  uint32_t largest() const { return static_cast<uint32_t>(magnitudes.size() - 1); }
  double largest_value() const { return is_list ? 1.0 : magnitudes.back(); }
  uint32_t signed_code(uint32_t magnitude, bool is_negative) const {
    if (!is_negative || !is_signed) return magnitude;
    if (is_integer) return ((1u << bits) - magnitude) % (1u << bits);
    if (is_fnuz && (magnitude == 0 || magnitude == nan)) return magnitude;
    return magnitude | 1u << (bits - 1);
  }
};

inline ElementModel model_of_float(const FloatModel &d) {
  ElementModel result;
  const int exponents = (1 << d.exponent_bits) - (d.special == Special::kIeee ? 1 : 0);
  for (int exponent = 0; exponent < exponents; ++exponent) {
    for (int mantissa = 0; mantissa < 1 << d.mantissa_bits; ++mantissa) {
      const double fraction = std::ldexp(mantissa, -d.mantissa_bits);
      result.magnitudes.push_back(exponent == 0 ? std::ldexp(fraction, 1 - d.bias)
                                                : std::ldexp(1 + fraction, exponent - d.bias));
    }
  }
  if (d.special == Special::kNanOnly) result.magnitudes.pop_back();
  result.bits = 1 + d.exponent_bits + d.mantissa_bits;
  result.is_fnuz = d.special == Special::kFnuz;
  result.is_power = d.mantissa_bits == 0;
  result.infinity = result.largest();
  if (d.special == Special::kIeee || d.special == Special::kNanOnly) result.infinity = result.largest() + 1;
  if (d.special == Special::kNanOnly) result.nan = result.infinity;
  if (d.special == Special::kIeee) result.nan = result.infinity + (1u << (d.mantissa_bits - 1));
  if (result.is_fnuz) result.infinity = result.nan = 1u << (result.bits - 1);
  // The step of the last binade; a step of e3m0 is as large as its value.
  result.step_beyond = result.magnitudes.back() - result.magnitudes[result.magnitudes.size() - 2];
  if (result.is_power) result.step_beyond = result.magnitudes.back();
  return result;
}

inline ElementModel model_of_integer(const IntegerModel &d) {
  ElementModel result;
  for (int i = 0; i <= d.largest; ++i) result.magnitudes.push_back(i * d.unit);
  result.bits = d.bits;
  result.infinity = result.largest();
  result.is_integer = true;
  result.is_signed = d.is_signed;
  result.step_beyond = d.unit;
  return result;
}

// The values of lists are not recomputed: golden files check them.
inline ElementModel model_of_list(lpt_format id) {
  ElementModel result;
  for (uint32_t code = 0; code < 16; ++code)
    result.magnitudes.push_back(static_cast<double>(decode(element_of(id), code)));
  result.bits = 4;
  result.is_list = true;
  return result;
}

inline const ElementModel &model_of(lpt_format id) {
  static std::map<lpt_format, ElementModel> models;
  const auto found = models.find(id);
  if (found != models.end()) return found->second;
  for (const FloatModel &d : kFloats) {
    if (d.id == id) return models[id] = model_of_float(d);
  }
  for (const IntegerModel &d : kIntegers) {
    if (d.id == id) return models[id] = model_of_integer(d);
  }
  return models[id] = model_of_list(id);
}

// Rounds a finite magnitude by search; the code after the largest means overflow.
inline uint32_t rounded(const ElementModel &element, double magnitude, lpt_rounding rounding, uint32_t random,
                        int random_bits) {
  const std::vector<double> &magnitudes = element.magnitudes;
  const auto above = std::upper_bound(magnitudes.begin(), magnitudes.end(), magnitude);
  const auto lower = static_cast<uint32_t>(above - magnitudes.begin()) - 1;
  const double high = above == magnitudes.end() ? magnitudes.back() + element.step_beyond : *above;
  const double fraction = (magnitude - magnitudes[lower]) / (high - magnitudes[lower]);
  if (fraction >= 1) return lower + 1;
  const bool is_drawn =
      rounding == LPT_ROUNDING_STOCHASTIC || (rounding == LPT_ROUNDING_STOCHASTIC_UNDERFLOW && lower == 0);
  if (is_drawn) {
    const double cut = std::floor(std::ldexp(fraction, random_bits + 1));
    return lower + (cut + 2.0 * random + 1 >= std::ldexp(1.0, random_bits + 1));
  }
  if (rounding == LPT_ROUNDING_TOWARD_ZERO) return lower;
  const bool is_tie_up = rounding == LPT_ROUNDING_NEAREST_AWAY || lower % 2 == 1;
  return lower + (fraction > 0.5 || (fraction == 0.5 && is_tie_up));
}

inline uint32_t rounded_to_even(const ElementModel &element, double magnitude) {
  return rounded(element, magnitude, LPT_ROUNDING_NEAREST_EVEN, 0, 0);
}

// Returns true if `code` is a nearest level; of two levels that are equally near within f32 accuracy, either is accepted.
inline bool is_nearest_level(const ElementModel &list, uint32_t code, float scaled_value) {
  const double value = std::isnan(scaled_value) ? 0.0 : std::clamp(static_cast<double>(scaled_value), -1.0, 1.0);
  double nearest = 2;
  for (const double level : list.magnitudes) nearest = std::min(nearest, std::fabs(level - value));
  return std::fabs(list.magnitudes[code] - value) <= nearest + 1e-6;
}

inline float gemm_of(float source, float inverse) {
  return static_cast<float>(static_cast<double>(source) * static_cast<double>(inverse));
}

// Returns the expected code of an element from its source value and the inverse scale.
inline uint32_t expected_code(const ElementModel &element, float source, float inverse, const QuantizeRequest &request,
                              uint32_t random) {
  const bool is_negative = std::signbit(source);
  const float scaled_value = gemm_of(source, inverse);
  const bool saturates = request.overflow == LPT_OVERFLOW_SATURATE;
  if (std::isnan(scaled_value)) return element.signed_code(element.nan, is_negative);
  if (is_negative && !element.is_signed) return 0;
  if (std::isinf(scaled_value)) {
    return element.signed_code(saturates ? element.largest() : element.nan == 0 ? 0 : element.infinity, is_negative);
  }
  const double magnitude = std::fabs(static_cast<double>(scaled_value));
  const uint32_t code = rounded(element, magnitude, request.rounding, random, request.random.bits);
  const uint32_t beyond = saturates ? element.largest() : element.infinity;
  return element.signed_code(code > element.largest() ? beyond : code, is_negative);
}

// Scales.

// Elements and statistics of a block.
struct BlockModel {
  std::vector<float> values;  // row by row
  float amax = 0, low = 0, high = 0;
  bool has_nan = false, has_infinity = false;

  void add(float value) {
    values.push_back(value);
    has_nan |= std::isnan(value);
    has_infinity |= std::isinf(value);
    if (!std::isfinite(value)) return;
    amax = std::max(amax, std::fabs(value));
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Returns the largest k with 2^k · largest <= units. The operands have 24 bits, so that no step rounds.
inline int power_below(double units, double largest) {
  int power = std::ilogb(units) - std::ilogb(largest) + 2;
  while (std::ldexp(largest, power) > units) --power;
  return power;
}
inline int power_above(double units, double largest) {
  const int power = power_below(units, largest);
  return std::ldexp(largest, power) == units ? power : power + 1;
}
inline int power_nearest(double units, double largest) {
  const int power = power_below(units, largest);
  const double rest = std::ldexp(units, -power);
  return rest * rest > 2 * largest * largest ? power + 1 : power;
}

struct Scale {
  uint32_t code;
  double value;
};

inline Scale e8m0fnu_scale(int power) {
  const int kept = std::clamp(power, -127, 127);
  return {static_cast<uint32_t>(kept + 127), std::ldexp(1.0, kept)};
}

inline Scale e4m3fn_scale(float oracle) {
  const ElementModel &element = model_of(LPT_FORMAT_E4M3FN);
  const double held = std::clamp(static_cast<double>(oracle), element.magnitudes[1], element.magnitudes.back());
  const uint32_t code = rounded_to_even(element, held);
  return {code, element.magnitudes[code]};
}

inline Scale f32_scale(double oracle) {
  const double smallest = std::numeric_limits<float>::min(), largest = std::numeric_limits<float>::max();
  const auto scale = static_cast<float>(std::clamp(oracle, smallest, largest));
  return {float_bits(scale), static_cast<double>(scale)};
}

inline Scale expected_e8m0fnu(lpt_scale_rule rule, float amax, double largest, int mantissa_bits,
                              float tensor_inverse) {
  if (rule == LPT_SCALE_RULE_THREE_QUARTERS) tensor_inverse = gemm_of(tensor_inverse, 4.0f / 3);
  const double units = std::min(static_cast<double>(gemm_of(amax, tensor_inverse)),
                                static_cast<double>(std::numeric_limits<float>::max()));
  if (units == 0) return e8m0fnu_scale(-127);
  const int floor = std::ilogb(units), most = std::ilogb(largest);
  switch (rule) {
    case LPT_SCALE_RULE_FLOOR:
    case LPT_SCALE_RULE_THREE_QUARTERS:
      return e8m0fnu_scale(floor - most);
    case LPT_SCALE_RULE_CEIL:
      return e8m0fnu_scale((std::ldexp(1.0, floor) == units ? floor : floor + 1) - most);
    case LPT_SCALE_RULE_EVEN: {
      const double half_up = std::floor(std::ldexp(units, mantissa_bits - floor) + 0.5);
      return e8m0fnu_scale(std::ilogb(half_up) - mantissa_bits + floor - most);
    }
    default:
      return e8m0fnu_scale(power_above(units, largest));
  }
}

inline Scale expected_e4m3fn(lpt_scale_rule rule, float amax, float largest, float tensor_inverse) {
  const auto ratio = static_cast<float>(static_cast<double>(amax) / static_cast<double>(largest));
  const float oracle = gemm_of(ratio, tensor_inverse);
  if (rule == LPT_SCALE_RULE_HEADROOM) return e4m3fn_scale(gemm_of(oracle, 1.0625f));
  Scale scale = e4m3fn_scale(oracle);
  const ElementModel &element = model_of(LPT_FORMAT_E4M3FN);
  const bool is_below = scale.value < static_cast<double>(oracle) && scale.code < element.largest();
  if (rule == LPT_SCALE_RULE_ROUND_UP && is_below) scale = {scale.code + 1, element.magnitudes[scale.code + 1]};
  return scale;
}

inline Scale expected_f32(lpt_scale_rule rule, float amax, float largest, float tensor_inverse) {
  const auto ratio = static_cast<float>(static_cast<double>(amax) / static_cast<double>(largest));
  const double oracle = static_cast<double>(gemm_of(ratio, tensor_inverse));
  if (rule == LPT_SCALE_RULE_LIST) {
    for (const double listed : {0x1p-8, 0x1p-4, 1.0}) {
      if (listed >= oracle) return f32_scale(listed);
    }
    return f32_scale(0x1p4);
  }
  if (amax == 0) return f32_scale(1);
  const double units = f32_scale(static_cast<double>(gemm_of(amax, tensor_inverse))).value;
  const auto m = static_cast<double>(largest);
  switch (rule) {
    case LPT_SCALE_RULE_POWER_OF_TWO:
      return f32_scale(std::ldexp(1.0, std::min(power_above(units, m), 127)));
    case LPT_SCALE_RULE_POWER_OF_TWO_DOWN:
      return f32_scale(std::ldexp(1.0, power_below(units, m)));
    case LPT_SCALE_RULE_POWER_OF_TWO_NEAREST:
      return f32_scale(std::ldexp(1.0, std::min(power_nearest(units, m), 127)));
    default:
      return f32_scale(oracle);
  }
}

// Returns the scale by a rule that depends on the amax only.
inline Scale expected_scale(const Format &format, lpt_scale_rule rule, float amax, float tensor_inverse) {
  const ElementModel &element = model_of(format.element);
  const auto largest = static_cast<float>(element.largest_value());
  const int mantissa_bits = element_of(format.element).mantissa_bits;
  if (format.block_scale == LPT_FORMAT_E8M0FNU) {
    return expected_e8m0fnu(rule, amax, element.largest_value(), mantissa_bits, tensor_inverse);
  }
  if (format.block_scale == LPT_FORMAT_E4M3FN) return expected_e4m3fn(rule, amax, largest, tensor_inverse);
  return expected_f32(rule, amax, largest, tensor_inverse);
}

// Returns the scales that a rule compares, in order.
inline std::vector<Scale> candidates(const Format &format, lpt_scale_rule rule, float amax, float tensor_inverse) {
  const auto largest = static_cast<float>(model_of(format.element).largest_value());
  const auto ratio = static_cast<float>(static_cast<double>(amax) / static_cast<double>(largest));
  const float plain = gemm_of(ratio, tensor_inverse);
  std::vector<Scale> result;
  if (rule == LPT_SCALE_RULE_FOUR_OVER_SIX) return {e4m3fn_scale(plain), e4m3fn_scale(gemm_of(plain, 1.5f))};
  if (format.block_scale == LPT_FORMAT_E8M0FNU) {
    const auto most = static_cast<int>(expected_scale(format, LPT_SCALE_RULE_ROUND_UP, amax, tensor_inverse).code);
    for (int less = 0; less < 4; ++less) result.push_back(e8m0fnu_scale(most - less - 127));
    return result;
  }
  for (int i = 0; i < 16; ++i) {
    const float part = gemm_of(plain, static_cast<float>(32 - i) / 32);
    if (format.block_scale == LPT_FORMAT_E4M3FN)
      result.push_back(e4m3fn_scale(part));
    else
      result.push_back(f32_scale(amax == 0 ? 1.0 : static_cast<double>(part)));
  }
  return result;
}

// Returns the value of the nearest code.
inline double decoded(const ElementModel &element, float scaled_value) {
  if (element.is_list) {
    double best = element.magnitudes[0];
    for (const double level : element.magnitudes) {
      if (std::fabs(level - static_cast<double>(scaled_value)) < std::fabs(best - static_cast<double>(scaled_value)))
        best = level;
    }
    return best;
  }
  const uint32_t code =
      std::min(rounded_to_even(element, std::fabs(static_cast<double>(scaled_value))), element.largest());
  return std::copysign(element.magnitudes[code], static_cast<double>(scaled_value));
}

inline float inverse_of(double scale) {
  const auto inverse = static_cast<float>(1.0 / static_cast<double>(static_cast<float>(scale)));
  return std::isinf(inverse) ? std::numeric_limits<float>::max() : inverse;
}

inline double squared_error(const ElementModel &element, const BlockModel &block, double scale) {
  double sum = 0;
  for (const float value : block.values) {
    if (!std::isfinite(value) || value == 0) continue;
    const double error = static_cast<double>(value) - decoded(element, gemm_of(value, inverse_of(scale))) * scale;
    sum += error * error;
  }
  return sum;
}

// Returns true if `code` is one of the candidates with the smallest error, within the accuracy of f32 sums.
inline bool is_best_candidate(const Format &format, lpt_scale_rule rule, const BlockModel &block, float tensor_inverse,
                              double tensor_scale, uint32_t code) {
  const ElementModel &element = model_of(format.element);
  double least = std::numeric_limits<double>::infinity(), most = 0, mine = -1;
  for (const Scale &scale : candidates(format, rule, block.amax, tensor_inverse)) {
    const double error = squared_error(element, block, scale.value * tensor_scale);
    least = std::min(least, error);
    most = std::max(most, error);
    if (scale.code == code) mine = error;
  }
  if (mine < 0) return false;
  const bool fits_f32 = most < 1e37 && least > 1e-30;
  return !fits_f32 || mine <= least * (1 + 1e-4);
}

// Returns true if `code` is the power of two of QuEST, within the accuracy of f32 sums.
inline bool is_quest_power(lpt_scale_rule rule, const BlockModel &block, float tensor_inverse, uint32_t code) {
  if (block.amax == 0) return code == 0;
  double sum = 0, squares = 0;
  for (const float value : block.values) {
    if (!std::isfinite(value)) continue;
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto count = static_cast<double>(block.values.size());
  const double mean = sum / count, variance = squares / count - mean * mean;
  if (squares > 1e38 || squares < 1e-30) return true;  // squares out of the range of f32
  const double doubt = 1e-6 * squares / count;
  int powers[2];
  for (int i = 0; i < 2; ++i) {
    const double deviation = std::sqrt(std::max(0.0, variance + (i == 0 ? -doubt : doubt)));
    const double oracle = deviation * 2.92247856 / 6 * static_cast<double>(tensor_inverse) + 1e-8;
    const double held = std::min(oracle, static_cast<double>(std::numeric_limits<float>::max()));
    const double log = std::log2(held) + (i == 0 ? -1e-6 : 1e-6);
    const double power = rule == LPT_SCALE_RULE_QUEST_FLOOR  ? std::floor(log)
                         : rule == LPT_SCALE_RULE_QUEST_CEIL ? std::ceil(log)
                                                             : std::floor(log + 0.5);
    powers[i] = static_cast<int>(e8m0fnu_scale(static_cast<int>(power)).code);
  }
  return static_cast<int>(code) >= powers[0] && static_cast<int>(code) <= powers[1];
}

inline bool is_mean(const BlockModel &block, float tensor_inverse, uint32_t code) {
  double sum = 0;
  for (const float value : block.values) sum += std::isfinite(value) ? std::fabs(static_cast<double>(value)) : 0;
  if (sum > 1e37) return true;  // beyond f32
  const double oracle =
      block.amax == 0 ? 1.0 : sum / static_cast<double>(block.values.size()) * static_cast<double>(tensor_inverse);
  return std::fabs(static_cast<double>(bits_float(code)) / f32_scale(oracle).value - 1) < 1e-5;
}

// Scale and zero point of a block whose codes begin at its smallest element.
struct ZeroPoint {
  float scale, inverse;
  int zero;
};

inline ZeroPoint expected_zero_point(const ElementModel &element, const BlockModel &block) {
  const float half = block.high * 0.5f - block.low * 0.5f;
  ZeroPoint result = {1.0f, 1.0f, 0};
  if (half != 0)
    result.scale =
        static_cast<float>(f32_scale(static_cast<double>(half / (static_cast<float>(element.largest()) * 0.5f))).value);
  result.inverse = inverse_of(static_cast<double>(result.scale));
  const double begin = static_cast<double>(gemm_of(-block.low, result.inverse));
  result.zero = static_cast<int>(std::min(rounded_to_even(element, begin), element.largest()));
  return result;
}

// Returns the code of a value with a zero point: rounds, adds the zero point, clamps.
inline uint32_t expected_moved_code(const ElementModel &element, float source, const ZeroPoint &grid,
                                    const QuantizeRequest &request, uint32_t random) {
  const ElementModel &wide = model_of(LPT_FORMAT_INT16);
  const uint32_t code = expected_code(wide, source, grid.inverse, request, random);
  const int moved = static_cast<int16_t>(code) + grid.zero;
  return static_cast<uint32_t>(std::clamp(moved, 0, static_cast<int>(element.largest())));
}

}  // namespace lpt::test::model
