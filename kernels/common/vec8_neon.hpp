// Eight values as f64 with Advanced SIMD.
#pragma once

#include <cstdint>

#include "kernels/common/simd_neon.hpp"

namespace lpt {
namespace {

struct Vec8 {
  struct Mask {
    uint64x2_t pairs[4];
  };
  F64 pairs[4] = {};

  [[gnu::always_inline]] static Vec8 of(F32 low, F32 high) {
    return {{lower_f64(low), upper_f64(low), lower_f64(high), upper_f64(high)}};
  }
  [[gnu::always_inline]] static Vec8 of_f32(const uint8_t *from) {
    const auto *const numbers = reinterpret_cast<const float *>(from);
    return of(load(numbers), load(numbers + kLanes));
  }
  [[gnu::always_inline]] static Vec8 of_bf16(const uint8_t *from) {
    return of(f32_of_bf16(load_u16(from, kLanes)), f32_of_bf16(load_u16(from + 8, kLanes)));
  }
  [[gnu::always_inline]] static Vec8 of_f16(const uint8_t *from) {
    return of(f32_of_f16(load_u16(from, kLanes)), f32_of_f16(load_u16(from + 8, kLanes)));
  }

  // Returns the lanes that are finite: x - x is NaN for other values.
  [[gnu::always_inline]] Mask finite() const {
    Mask mask;
    for (int i = 0; i < 4; ++i) mask.pairs[i] = vceqzq_f64(pairs[i] - pairs[i]);
    return mask;
  }
  [[gnu::always_inline]] static Mask both(Mask a, const Mask &b) {
    for (int i = 0; i < 4; ++i) a.pairs[i] = vandq_u64(a.pairs[i], b.pairs[i]);
    return a;
  }
  [[gnu::always_inline]] static uint32_t bits(const Mask &mask) {
    uint64_t bits = 0;
    for (int i = 0; i < 4; ++i) {
      bits |= (mask.pairs[i][0] & 1) << 2 * i | (mask.pairs[i][1] & 1) << (2 * i + 1);
    }
    return static_cast<uint32_t>(bits);
  }
  // Returns the lanes of the mask; other lanes are 0.
  [[gnu::always_inline]] Vec8 only(const Mask &mask) const {
    Vec8 result;
    for (int i = 0; i < 4; ++i) {
      result.pairs[i] = vreinterpretq_f64_u64(vandq_u64(vreinterpretq_u64_f64(pairs[i]), mask.pairs[i]));
    }
    return result;
  }

  [[gnu::always_inline]] Vec8 operator+(const Vec8 &other) const {
    return {
        {pairs[0] + other.pairs[0], pairs[1] + other.pairs[1], pairs[2] + other.pairs[2], pairs[3] + other.pairs[3]}};
  }
  [[gnu::always_inline]] Vec8 operator-(const Vec8 &other) const {
    return {
        {pairs[0] - other.pairs[0], pairs[1] - other.pairs[1], pairs[2] - other.pairs[2], pairs[3] - other.pairs[3]}};
  }
  [[gnu::always_inline]] Vec8 operator*(const Vec8 &other) const {
    return {
        {pairs[0] * other.pairs[0], pairs[1] * other.pairs[1], pairs[2] * other.pairs[2], pairs[3] * other.pairs[3]}};
  }

  void store(double *to) const {
    for (int i = 0; i < 4; ++i) vst1q_f64(to + 2 * i, pairs[i]);
  }
};

}  // namespace
}  // namespace lpt
