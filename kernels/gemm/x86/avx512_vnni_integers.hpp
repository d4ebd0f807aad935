// Scales of lanes and codes of 6 bits. Included by ISA files: all functions have internal linkage.
#pragma once

#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/integers.hpp"
#include "kernels/gemm/x86/avx512.hpp"

namespace lpt {
namespace {

// vpdpbusd multiplies unsigned by signed bytes: elements of b are stored as value + 128.
constexpr int32_t kColumnOffsetBits = 7;

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
