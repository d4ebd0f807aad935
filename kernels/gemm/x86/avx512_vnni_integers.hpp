// Operands whose elements are small integers times a power of two, and the cutting of k into groups of one scale. Included by
// ISA files: all functions have internal linkage.
#pragma once

#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/panels.hpp"
#include "kernels/gemm/x86/avx512.hpp"

namespace lpt {
namespace {

// Sums of that many products of bytes fit int32.
constexpr int32_t kLargestGroupShift = 16;
constexpr int64_t kLargestWholeGroup = (int64_t{1} << 17) - 1;

// vpdpbusd multiplies unsigned by signed bytes: elements of b are stored as value + 128.
constexpr int32_t kColumnOffsetBits = 7;

// The integers that the codes represent: value · 2^fraction_bits.
struct Integers {
  int32_t bits;
  int32_t fraction_bits;
  bool is_ternary;
  alignas(64) int8_t value[64];  // by code of less than 8 bits, without zero points; int8 codes are the values
};

inline Integers integers_of(lpt_format format) {
  const Element element = element_of(format);
  Integers integers = {};
  integers.bits = element.bits;
  integers.is_ternary = element.is_ternary;
  integers.fraction_bits = element.mantissa_bits - (element.is_integer ? 0 : element.min_exponent);
  const auto unit = static_cast<float>(1 << integers.fraction_bits);
  for (uint32_t code = 0; element.bits < 8 && code < 1u << element.bits; ++code) {
    integers.value[code] = static_cast<int8_t>(decode(element, code) * unit);
  }
  return integers;
}

// Scales of one operand along k. A scale for all of k is applied to the lane, not to a group.
struct GroupScales {
  const uint8_t *data;
  lpt_format format;
  int32_t shift;  // the block of p is p >> shift
  bool is_along_k;
};

inline GroupScales group_scales_of(const MatrixView &view, int64_t k) {
  GroupScales scales = {};
  if (!view.format.has_block_scale()) return scales;
  scales.data = static_cast<const uint8_t *>(view.block_scales);
  scales.format = view.format.block_scale;
  scales.shift = shift_of(view.format.block_columns);
  scales.is_along_k = ((k - 1) >> scales.shift) > 0;
  return scales;
}

struct Groups {
  int32_t shift;  // the group of p is p >> shift
  int64_t count;
  int64_t steps;        // of four elements of k
  int64_t group_steps;  // of each group except the last
};

// Cuts k into groups. A group has one scale of a, one scale of b, and one zero point.
inline Groups groups_of(const MatrixView &a, const MatrixView &b, int64_t k) {
  const GroupScales a_scales = group_scales_of(a, k), b_scales = group_scales_of(b, k);
  int32_t shift = k > kLargestWholeGroup ? kLargestGroupShift : kLargestGroupShift + 1;
  if (a_scales.is_along_k && a_scales.shift < shift) shift = a_scales.shift;
  if (b_scales.is_along_k && b_scales.shift < shift) shift = b_scales.shift;
  while (shift > 3 && int64_t{1} << (shift - 1) >= k) --shift;
  const int64_t count = ((k - 1) >> shift) + 1;
  return {.shift = shift, .count = count, .steps = (k + 3) / 4, .group_steps = int64_t{1} << (shift - 2)};
}

// Writes the factors of the sums of `count` lanes, times `unit`: lane_factor() of many lanes.
inline void write_lane_factors(const MatrixView &view, int64_t lane, int64_t count, int64_t k, float unit, float *to) {
  const Format &format = view.format;
  const bool is_adjacent = view.layout == Layout::kPanels || (format.block_rows == 1 && view.block_scale_stride == 1);
  if (!format.has_block_scale() || format.block_scale != LPT_FORMAT_F32 || !is_adjacent ||
      is_scaled_along_k(view, true, k)) {
    for (int64_t i = 0; i < count; ++i) to[i] = lane_factor(view, lane + i, k) * unit;
    return;
  }
  const __m512 tensor_scale = _mm512_set1_ps(format.has_tensor_scale() ? *view.tensor_scale : 1.0f);
  const auto *const scales = static_cast<const float *>(view.block_scales) + lane;
  for (int64_t i = 0; i < count; i += 16) {
    const __mmask16 mask = first16(count - i);
    const __m512 scale = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, scales + i), tensor_scale);
    _mm512_mask_storeu_ps(to + i, mask, _mm512_mul_ps(scale, _mm512_set1_ps(unit)));
  }
}

// Converts up to 64 codes of 6 bits, four packed in three bytes, to bytes.
inline __m512i load_sixes(const uint8_t *from, int64_t count) {
  alignas(64) static constexpr uint8_t kSixBytes[64] = {0,  1,  2,  3,  4,  5,  0, 0, 6,  7,  8,  9,  10, 11, 0, 0,
                                                        12, 13, 14, 15, 16, 17, 0, 0, 18, 19, 20, 21, 22, 23, 0, 0,
                                                        24, 25, 26, 27, 28, 29, 0, 0, 30, 31, 32, 33, 34, 35, 0, 0,
                                                        36, 37, 38, 39, 40, 41, 0, 0, 42, 43, 44, 45, 46, 47, 0, 0};
  const __m512i packed = _mm512_maskz_loadu_epi8(lane_mask(0, (count * 6 + 7) / 8), from);
  const __m512i eights = _mm512_permutexvar_epi8(_mm512_load_si512(kSixBytes), packed);
  const __m512i shifts = _mm512_set1_epi64(0x2A241E18120C0600);
  return _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, eights), _mm512_set1_epi8(0x3F));
}

}  // namespace
}  // namespace lpt
