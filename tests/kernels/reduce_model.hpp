// Model of a reduction by its definition: elements are decoded from their bit fields, computed in double, and rounded
// explicitly. Double has more than twice the bits of f32. Therefore rounding a sum, product or quotient of two f32 to double
// first does not change its f32 result. f64 is computed by the machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/reduce/reduce.hpp"

namespace lpt::test {

struct Fields {
  int bytes, mantissa_bits, exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int min_exponent() const { return 1 - bias(); }
  uint64_t infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  uint64_t plain_nan() const { return infinity() | uint64_t{1} << (mantissa_bits - 1); }
};

inline Fields fields_of(lpt_format format) {
  switch (format) {
    case LPT_FORMAT_F64:
      return {8, 52, 11};
    case LPT_FORMAT_F32:
      return {4, 23, 8};
    case LPT_FORMAT_BF16:
      return {2, 7, 8};
    default:
      return {2, 10, 5};
  }
}

inline double number_of(const Fields &fields, uint64_t code) {
  const uint64_t fraction = code & ((uint64_t{1} << fields.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(code >> fields.mantissa_bits & ((1u << fields.exponent_bits) - 1));
  const bool is_negative = (code >> (8 * fields.bytes - 1)) != 0;
  double magnitude = 0;
  if (exponent == (1 << fields.exponent_bits) - 1) {
    magnitude = fraction == 0 ? INFINITY : std::numeric_limits<double>::quiet_NaN();
  } else {
    const auto significand =
        static_cast<double>(exponent == 0 ? fraction : fraction | uint64_t{1} << fields.mantissa_bits);
    magnitude = std::ldexp(significand, std::max(exponent, 1) - fields.bias() - fields.mantissa_bits);
  }
  return is_negative ? -magnitude : magnitude;
}

// Rounds to nearest even, in units of the last place of the exponent; a carry into the next exponent is the next code.
inline uint64_t code_of(const Fields &fields, double number) {
  if (std::isnan(number)) return fields.plain_nan();
  const uint64_t sign = std::signbit(number) ? uint64_t{1} << (8 * fields.bytes - 1) : 0;
  if (number == 0) return sign;
  if (std::isinf(number)) return sign | fields.infinity();
  const int exponent = std::max(std::ilogb(number), fields.min_exponent());
  if (exponent > fields.bias()) return sign | fields.infinity();
  const double units = std::nearbyint(std::ldexp(std::fabs(number), fields.mantissa_bits - exponent));
  const uint64_t below = static_cast<uint64_t>(exponent - fields.min_exponent()) << fields.mantissa_bits;
  return sign | (below + static_cast<uint64_t>(units));
}

inline double rounded_to(const Fields &fields, double number) { return number_of(fields, code_of(fields, number)); }

// Orders values with -0 below +0.
inline bool is_below(double a, double b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); }

// Returns t(i), as a code of the target's format.
inline uint64_t expected_code(const ReduceRequest &request, const std::vector<double> &numbers) {
  const Fields wide = fields_of(request.format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32);
  double result = numbers[0];
  bool has_nan = std::isnan(result);
  for (std::size_t source = 1; source < numbers.size(); ++source) {
    const double number = numbers[source];
    has_nan = has_nan || std::isnan(number);
    if (request.reduction == Reduction::kMaximum) {
      result = is_below(result, number) ? number : result;
    } else if (request.reduction == Reduction::kMinimum) {
      result = is_below(number, result) ? number : result;
    } else {
      result = rounded_to(wide, result + number);
    }
  }
  if (has_nan) result = std::numeric_limits<double>::quiet_NaN();
  if (request.reduction == Reduction::kAverage) {
    result = rounded_to(wide, result / static_cast<double>(numbers.size()));
  }
  if (request.factor != 1) result = rounded_to(wide, result * rounded_to(wide, request.factor));
  return code_of(fields_of(request.target_format), result);
}

inline uint64_t code_at(const Fields &fields, const uint8_t *data, int64_t index) {
  uint64_t code = 0;
  std::memcpy(&code, data + index * fields.bytes, static_cast<std::size_t>(fields.bytes));
  return code;
}

inline void place_code(const Fields &fields, uint8_t *data, int64_t index, uint64_t code) {
  std::memcpy(data + index * fields.bytes, &code, static_cast<std::size_t>(fields.bytes));
}

}  // namespace lpt::test
