// exp, log, sin and cos in f64. IEEE operations in a fixed order give ranks on different machines the same bits, which C
// libraries do not guarantee. Largest errors found: 1.1, 2.0, 0.8 and 0.8 units of the last place (ULP).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "src/base/host_device.hpp"

namespace lpt {

// Returns 2^n for n in [-1022, 1023].
LPT_HOST_DEVICE static inline double power_of_two_f64(int64_t n) {
  const uint64_t bits = static_cast<uint64_t>(n + 1023) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// exp(x) = 2^n · e^r,  n = round(x / ln 2),  |r| <= ln 2 / 2. The series of e^r ends with r^13 / 13!; its relative truncation
// error is below 2^-57. The result is zero below -745.2, infinity above 709.8, and NaN for a NaN.
LPT_HOST_DEVICE static inline double exp_f64(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42feep-1;  // 31 bits: n · high is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  if (x != x) return x;
  if (x > 710.0) return HUGE_VAL;
  if (x < -746.0) return 0.0;
  constexpr double kRoundBias = 0x1.8p+52;  // adding it rounds to an integer in the low bits
  const double n = (x * kLog2E + kRoundBias) - kRoundBias;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double sum = 1.0 / 6227020800.0;
  constexpr double kFactors[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                 1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1.0};
  for (const double factor : kFactors) sum = sum * r + factor;
  const auto exponent = static_cast<int64_t>(n),
             half = exponent >> 1;  // 2^n can exceed f64: only the last multiplication rounds
  return (1.0 + sum * r) * power_of_two_f64(half) * power_of_two_f64(exponent - half);
}

// log(x) = n · ln 2 + 2 · artanh(s),  x = 2^n · f with f in [sqrt(1/2), sqrt(2)),  s = (f - 1) / (f + 1), |s| <= 0.1716. The
// series ends with s^21; its relative truncation error is below 2^-58. The result is minus infinity for zero and NaN for
// negative x.
LPT_HOST_DEVICE static inline double log_f64(double x) {
  constexpr double kLn2High = 0x1.62e42feep-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  if (!(x > 0.0)) return x == 0.0 ? -HUGE_VAL : nan("");
  if (x == HUGE_VAL) return x;
  int exponent = 0;
  double fraction = frexp(x, &exponent);
  if (fraction < 0x1.6a09e667f3bcdp-1) {
    fraction *= 2.0;
    --exponent;
  }
  const double n = exponent, s = (fraction - 1.0) / (fraction + 1.0), square = s * s;
  double sum = 1.0 / 21.0;
  constexpr double kFactors[] = {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3};
  for (const double factor : kFactors) sum = sum * square + factor;
  return n * kLn2High + (2.0 * s + (2.0 * s * square * sum + n * kLn2Low));
}

// V is double or a vector of double.
template <typename V>
struct SineCosineOf {
  V sine, cosine;
};
using SineCosine = SineCosineOf<double>;

constexpr double kMostAngle = 0x1p+30;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kAngleRoundBias = 0x1.8p+52;  // adding it rounds to an integer in the low bits

// sin and cos of r = x - n · pi / 2, |r| <= pi / 4, for |x| <= 2^30. n has 30 bits and the parts of pi / 2 have 23 bits, so
// that their products are exact. r has two parts, so that sin is accurate next to multiples of pi. The series end with r^17
// and r^16; the truncation error is below 2^-58 of the result.
template <typename V>
LPT_HOST_DEVICE static inline SineCosineOf<V> reduced_sine_cosine_f64(V x, V n) {
  const V exact = (x - n * 0x1.921fb4p+0) - n * 0x1.4442dp-24;  // exact: multiples of 2^-53 at least, and below 1
  const V third = n * 0x1.846988p-48, fourth = n * 0x1.8cc514p-72;
  const V sum = exact - third, sum_rest = (exact - (sum + third)) - ((sum - (sum + third)) + third);
  const V next = sum - fourth, next_rest = (sum - (next + fourth)) - ((next - (next + fourth)) + fourth);
  const V rest = (sum_rest + next_rest) - n * 0x1.80dc1cd129025p-95;
  const V r = next + rest, low = rest - (r - next), square = r * r;
  constexpr double kOdd[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                             -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  constexpr double kEven[] = {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24};
  V odd = square * (1.0 / 355687428096000) + kOdd[0], even = square * (1.0 / 20922789888000) + kEven[0];
  for (int i = 1; i < 7; ++i) odd = odd * square + kOdd[i];
  for (int i = 1; i < 6; ++i) even = even * square + kEven[i];
  const V half = square * 0.5, one = 1.0 - half;
  return {r + (r * square * odd + low * one), one + (((1.0 - one) - half) + (square * square * even - r * low))};
}

// Returns sin and cos of x; both are NaN for a NaN and beyond ±2^30.
LPT_HOST_DEVICE static inline SineCosine sine_cosine_f64(double x) {
  if (!(x >= -kMostAngle && x <= kMostAngle)) return {nan(""), nan("")};
  const double biased = x * kTwoOverPi + kAngleRoundBias;
  const SineCosine reduced = reduced_sine_cosine_f64(x, biased - kAngleRoundBias);
  uint64_t quadrant;  // its low bits are n modulo 4
  std::memcpy(&quadrant, &biased, sizeof quadrant);
  const bool is_odd = (quadrant & 1) != 0;
  const double sine = is_odd ? reduced.cosine : reduced.sine, cosine = is_odd ? reduced.sine : reduced.cosine;
  return {(quadrant & 2) != 0 ? -sine : sine, ((quadrant + 1) & 2) != 0 ? -cosine : cosine};
}

}  // namespace lpt
