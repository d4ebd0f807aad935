// f32 vector functions and f64 sums of the SIMD layer kernels. Included by simd_*.cpp.
#pragma once

#include <cstdint>

#include "kernels/activation/kernels.hpp"
#include "kernels/common/row_vectors.hpp"
#include "src/formats/functions.hpp"

namespace lpt {
namespace {

// Functions: the operations of src/formats/functions.hpp.

[[gnu::always_inline]] inline F32 exp_polynomial(F32 r) {
  using K = ExpConstants;
  F32 p = mul_add(broadcast(K::kC6), r, broadcast(K::kC5));
  p = mul_add(p, r, broadcast(K::kC4));
  p = mul_add(p, r, broadcast(K::kC3));
  p = mul_add(p, r, broadcast(K::kC2));
  p = mul_add(p, r, broadcast(1.0f));
  return mul_add(p, r, broadcast(1.0f));
}

// The operand order of min and max keeps NaN.
[[gnu::always_inline]] inline F32 exponential(F32 x) {
  using K = ExpConstants;
  x = max(broadcast(K::kLowest), x);
  x = min(broadcast(K::kHighest), x);
  const F32 bias = broadcast(K::kRoundBias);
  const F32 n = mul_add(x, broadcast(K::kLog2E), bias) - bias;
  F32 r = mul_add(n, broadcast(-K::kLn2High), x);
  r = mul_add(n, broadcast(-K::kLn2Low), r);
  return times_power_of_two(exp_polynomial(r), n);
}

struct Logistic {
  F32 value, complement;
};

[[gnu::always_inline]] inline Logistic logistic(F32 x) {
  const F32 one = broadcast(1.0f);
  const F32 e = exponential(negative_abs(x));
  const F32 larger = one / (one + e);
  const F32 smaller = e * larger;
  return {select(is_negative(x), smaller, larger), select(is_negative(x), larger, smaller)};
}

// Sums in f64 of the lower and the upper lanes.

struct Sum {
  F64 low = {}, high = {};

  // The product is exact.
  [[gnu::always_inline]] void add_products(F32 a, F32 b) {
    low = mul_add(lower_f64(a), lower_f64(b), low);
    high = mul_add(upper_f64(a), upper_f64(b), high);
  }
  [[gnu::always_inline]] void add(F32 value) {
    low += lower_f64(value);
    high += upper_f64(value);
  }
  double total() const { return reduce_add(low + high); }
};

}  // namespace
}  // namespace lpt
