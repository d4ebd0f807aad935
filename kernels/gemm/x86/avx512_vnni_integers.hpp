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

}  // namespace
}  // namespace lpt
