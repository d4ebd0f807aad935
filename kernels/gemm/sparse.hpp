// GEMM of few rows by a 2:4 matrix: code that all its kernels share. ISA files include it as well: all functions have internal
// linkage.
//
// c(i, j) = (sum over p of a(i, p) · b(j, p)) · row factor · column factor + beta · c + bias. Elements of b that are not stored
// are zero. Integers are summed exactly. Floats are summed in 32 lanes by f32 fused multiply-adds. A row of b stores two
// elements per group. Stored element s is multiplied by the element of a at its column and added to lane s mod 32, in the order
// of s. Then lane l + 16 is added to lane l, lane l + 8 to lane l, and so on to l + 1. If an element of a is not finite and the
// corresponding element of b is not stored, the sum is NaN. A product by zero has the same result.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/operand.hpp"

namespace lpt {
namespace {

constexpr int64_t kSparseLanes = 32;

inline float load_float(const MatrixView &view, int64_t index) {
  float value;
  if (view.format.element == LPT_FORMAT_F32) {
    memcpy(&value, static_cast<const uint8_t *>(view.data) + 4 * index, sizeof value);
    return value;
  }
  const Element element = element_of(view.format.element);
  return decode(element, load_code(element, view.data, index));
}

inline void store_float(const MatrixView &view, int64_t index, float value) {
  if (view.format.element == LPT_FORMAT_F32) {
    memcpy(static_cast<uint8_t *>(view.data) + 4 * index, &value, sizeof value);
    return;
  }
  const Element element = element_of(view.format.element);
  store_code(element, view.data, index, encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 0));
}

inline int places_of(const uint8_t *indices, int64_t group) {
  return indices[group / 2] >> (group % 2 == 0 ? 0 : 4) & 15;
}

inline float bf16_of(uint16_t code) {
  const uint32_t bits = static_cast<uint32_t>(code) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

inline bool is_finite(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits >> 23 & 0xFF) != 0xFF;
}

inline bool is_finite(uint16_t bf16) { return is_finite(bf16_of(bf16)); }

// Returns whether a row of a has an element that is not finite at a column that b does not store.
template <typename Number>
inline bool has_unstored_nonfinite(const Number *a, const uint8_t *indices, int64_t k) {
  for (int64_t p = 0; p < k; ++p) {
    const int places = places_of(indices, p / 4);
    if (!is_finite(a[p]) && (places & 3) != p % 4 && places >> 2 != p % 4) return true;
  }
  return false;
}

// Applies the epilogue to a sum and stores the result in c.
inline void store_sum(const GemmRequest &request, int64_t row, int64_t column, float sum) {
  const float row_factor = lane_factor(request.a, row, request.k);
  const float column_factor = lane_factor(request.b, column, request.k) * static_cast<float>(request.alpha);
  const int64_t index = row * request.c.row_stride + column * request.c.column_stride;
  float value = sum * row_factor * column_factor;
  if (request.beta != 0.0) value += static_cast<float>(request.beta) * load_float(request.c, index);
  if (request.bias != nullptr) value += static_cast<const float *>(request.bias)[column];
  store_float(request.c, index, value);
}

// Adds the upper half of the lanes to the lower half until one lane remains.
inline float add_up_lanes(float (&lanes)[kSparseLanes]) {
  for (int64_t half = kSparseLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

}  // namespace
}  // namespace lpt
