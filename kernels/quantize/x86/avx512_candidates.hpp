// The rule FOUR_OVER_SIX: selects from two scales the one with the smaller squared error, for sixteen blocks of e2m1fn at a
// time. Included by an ISA file only.
#pragma once

#include "kernels/quantize/x86/avx512_rows.hpp"
#include "kernels/quantize/x86/avx512_scales.hpp"

namespace lpt {
namespace {

struct ErrorLanes {
  ElementLanes element;
  __m512 levels;  // by magnitude code
};

inline ErrorLanes error_lanes() {
  return {element_lanes(kElementE2m1fn, Kind::kEven),
          _mm512_set_ps(0, 0, 0, 0, 0, 0, 0, 0, 6.0f, 4.0f, 3.0f, 2.0f, 1.5f, 1.0f, 0.5f, 0)};
}

// Returns the squared rounding errors of finite elements, 0 for others.
[[gnu::always_inline]] inline __m512 lost_squares(__m512 numbers, __m512 scale, __m512 inverse,
                                                  const ErrorLanes &lanes) {
  const __m512 magnitude = abs(numbers);
  const __m512i code = rounded<Kind::kEven>(_mm512_mul_ps(magnitude, inverse), lanes.element);
  const __m512 decoded = _mm512_mul_ps(_mm512_permutexvar_ps(code, lanes.levels), scale);
  const __m512 error = _mm512_sub_ps(magnitude, decoded);
  const __mmask16 is_finite = _mm512_cmp_ps_mask(magnitude, _mm512_set1_ps(kLargestFloat), _CMP_LE_OQ);
  return _mm512_maskz_mul_ps(is_finite, error, error);
}

// Returns the sum of vector i in lane i, in the order of striped_sum(): adds the upper half of the lanes to the lower half.
[[gnu::always_inline]] inline __m512 sum_of_each(__m512 (&v)[16]) {
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    v[i] = _mm512_add_ps(_mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0x44),
                         _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0xEE));
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm512_add_ps(_mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0x88),
                         _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0xDD));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m512d a = _mm512_castps_pd(v[2 * i]);
    const __m512d b = _mm512_castps_pd(v[2 * i + 1]);
    v[i] = _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
  }
  const __m512 transposed_copy =
      _mm512_add_ps(_mm512_shuffle_ps(v[0], v[1], 0x88), _mm512_shuffle_ps(v[0], v[1], 0xDD));
  return _mm512_permutexvar_ps(_mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0), transposed_copy);
}

// One candidate code of sixteen blocks, with its scale and inverse.
struct Candidate {
  __m512i codes;
  alignas(64) float scale[16];
  alignas(64) float inverse[16];
};

inline Candidate candidate_of(__m512 amax, float factor, const ScaleLanes &lanes) {
  Candidate candidate;
  candidate.codes = e4m3fn_codes(amax, factor, lanes);
  _mm512_store_ps(candidate.scale, _mm512_mul_ps(e4m3fn_values(candidate.codes), lanes.tensor_scale));
  _mm512_store_ps(candidate.inverse, inverses_of(candidate.codes, lanes));
  return candidate;
}

// Returns the squared errors of sixteen blocks along rows, or of the first blocks of `slab`.
template <Source kSource>
[[gnu::noinline]] __m512 slab_errors(const RowSlab &slab, const Candidate &candidate, const ErrorLanes &lanes) {
  const bool is_whole = slab.columns >= 16 * slab.block;
  __m512 total = _mm512_setzero_ps();
  for (int64_t row = 0; row < slab.rows; ++row) {
    const char *from = slab.from + row * slab.stride;
    __m512 sums[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      const __m512 scale = _mm512_set1_ps(candidate.scale[i]);
      const __m512 inverse = _mm512_set1_ps(candidate.inverse[i]);
      sums[i] = _mm512_setzero_ps();
      for (int64_t at = i * slab.block; at < (i + 1) * slab.block; at += 16) {
        const auto mask = static_cast<__mmask16>(is_whole ? 0xFFFF : lane_mask(0, slab.columns - at) & 0xFFFF);
        const __m512 numbers = load16<kSource>(from + at * bytes_of(kSource), mask);
        sums[i] = _mm512_add_ps(sums[i], lost_squares(numbers, scale, inverse, lanes));
      }
    }
    total = _mm512_add_ps(total, sum_of_each(sums));
  }
  return total;
}

template <Source kSource>
FoundScales four_over_six(const RowSlab &slab, __m512 amax, const ScaleLanes &scales, const ErrorLanes &lanes) {
  const Candidate six = candidate_of(amax, 1.0f, scales);
  const Candidate four = candidate_of(amax, 1.5f, scales);
  const __mmask16 is_four =
      _mm512_cmp_ps_mask(slab_errors<kSource>(slab, four, lanes), slab_errors<kSource>(slab, six, lanes), _CMP_LT_OQ);
  return {_mm512_mask_mov_epi32(six.codes, is_four, four.codes),
          _mm512_mask_mov_ps(_mm512_load_ps(six.inverse), is_four, _mm512_load_ps(four.inverse))};
}

// Returns the squared errors of blocks that span lines [0, lines) of memory, for sixteen elements per line; `mask` selects
// valid elements.
template <Source kSource>
[[gnu::noinline]] __m512 line_errors(const char *from, int64_t stride, int64_t lines, __mmask16 mask,
                                     const Candidate &candidate, const ErrorLanes &lanes) {
  const __m512 scale = _mm512_load_ps(candidate.scale);
  const __m512 inverse = _mm512_load_ps(candidate.inverse);
  __m512 sums[16] = {};
  for (int64_t line = 0; line < lines; ++line, from += stride) {
    sums[line % 16] = _mm512_add_ps(sums[line % 16], lost_squares(load16<kSource>(from, mask), scale, inverse, lanes));
  }
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) sums[i] = _mm512_add_ps(sums[i], sums[i + width]);
  }
  return sums[0];
}

}  // namespace
}  // namespace lpt
