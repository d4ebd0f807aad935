// The QUEST rules: e8m0fnu scales from the standard deviations of sixteen blocks along rows at a time, and the row sums for
// rules of whole tensors. Sums have the order of striped_sum(). Included by an ISA file only.
#pragma once

#include "kernels/quantize/x86/avx512_candidates.hpp"

namespace lpt {
namespace {

// Returns finite elements, 0 for others.
[[gnu::always_inline]] inline __m512 finite_numbers(__m512 numbers) {
  const __mmask16 is_finite = _mm512_cmp_ps_mask(abs(numbers), _mm512_set1_ps(kLargestFloat), _CMP_LE_OQ);
  return _mm512_maskz_mov_ps(is_finite, numbers);
}

struct BlockSums {
  __m512 sum, squares, count;
};

template <Source kSource>
[[gnu::noinline]] BlockSums slab_sums(const RowSlab &slab) {
  const bool is_whole = slab.columns >= 16 * slab.block;
  BlockSums total = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
  for (int64_t row = 0; row < slab.rows; ++row) {
    const char *from = slab.from + row * slab.stride;
    __m512 sums[16], squares[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      sums[i] = squares[i] = _mm512_setzero_ps();
      for (int64_t at = i * slab.block; at < (i + 1) * slab.block; at += 16) {
        const auto mask = static_cast<__mmask16>(is_whole ? 0xFFFF : lane_mask(0, slab.columns - at) & 0xFFFF);
        const __m512 numbers = finite_numbers(load16<kSource>(from + at * bytes_of(kSource), mask));
        sums[i] = _mm512_add_ps(sums[i], numbers);
        squares[i] = _mm512_add_ps(squares[i], _mm512_mul_ps(numbers, numbers));
      }
    }
    total.sum = _mm512_add_ps(total.sum, sum_of_each(sums));
    total.squares = _mm512_add_ps(total.squares, sum_of_each(squares));
  }
  alignas(64) float count[16];
  for (int64_t i = 0; i < 16; ++i) {
    const int64_t left = slab.columns - i * slab.block;
    count[i] = static_cast<float>(slab.rows * (left < slab.block ? (left < 1 ? 1 : left) : slab.block));
  }
  total.count = _mm512_load_ps(count);
  return total;
}

// quest_scale() of sixteen blocks.
template <Source kSource>
FoundScales quest_scales(const RowSlab &slab, __m512 amax, const ScaleLanes &lanes) {
  const BlockSums sums = slab_sums<kSource>(slab);
  const __m512 largest = _mm512_set1_ps(kLargestFloat);
  const __m512 mean = _mm512_div_ps(sums.sum, sums.count);
  __m512 variance = _mm512_sub_ps(_mm512_div_ps(sums.squares, sums.count), _mm512_mul_ps(mean, mean));
  // If the sums exceed f32, the variance is NaN; max replaces it by 0.
  variance = _mm512_min_ps(_mm512_max_ps(variance, _mm512_setzero_ps()), largest);
  const __m512 clip = _mm512_mul_ps(_mm512_sqrt_ps(variance), _mm512_set1_ps(2.92247856f / 6.0f));
  const __m512 ideal = _mm512_add_ps(_mm512_mul_ps(clip, lanes.tensor_inverse), _mm512_set1_ps(1e-8f));
  const __m512i power = powers(_mm512_min_ps(ideal, largest), lanes);
  const __m512i least = _mm512_set1_epi32(-127);
  __m512i codes = _mm512_sub_epi32(_mm512_min_epi32(_mm512_max_epi32(power, least), _mm512_set1_epi32(127)), least);
  const __mmask16 is_zero = _mm512_cmp_ps_mask(amax, _mm512_setzero_ps(), _CMP_EQ_OQ);
  codes = _mm512_mask_mov_epi32(codes, is_zero, _mm512_setzero_si512());
  return {codes, inverses_of(codes, lanes)};
}

// Adds the upper half of the lanes to the lower half until one lane remains.
inline float lanes_sum(__m512 lanes) {
  alignas(64) float lane[16];
  _mm512_store_ps(lane, lanes);
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  }
  return lane[0];
}

// Computes the sums of magnitudes of each row and of their squares. The order of the additions is fixed, so that one row is
// bound by their latency: four rows run concurrently.
template <Source kSource>
void sum_rows(const MagnitudeSumRequest &request) {
  const MatrixView &source = request.source;
  const int64_t stride = source.row_stride * bytes_of(kSource);
  for (int64_t row = 0; row < source.rows; row += 4) {
    __m512 sums[4], squares[4];
    const char *lines[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      sums[i] = squares[i] = _mm512_setzero_ps();
      lines[i] = static_cast<const char *>(source.data) + least(row + i, source.rows - 1) * stride;
    }
    for (int64_t at = 0; at < source.columns; at += 16) {
      const auto mask = static_cast<__mmask16>(lane_mask(0, source.columns - at) & 0xFFFF);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const __m512 numbers = abs(finite_numbers(load16<kSource>(lines[i] + at * bytes_of(kSource), mask)));
        sums[i] = _mm512_add_ps(sums[i], numbers);
        squares[i] = _mm512_add_ps(squares[i], _mm512_mul_ps(numbers, numbers));
      }
    }
    for (int i = 0; i < 4 && row + i < source.rows; ++i) {
      request.sums[row + i] = lanes_sum(sums[i]);
      if (request.squares != nullptr) request.squares[row + i] = lanes_sum(squares[i]);
    }
  }
}

}  // namespace
}  // namespace lpt
