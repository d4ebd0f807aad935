// The rule FOUR_OVER_SIX: selects from two scales the one with the smaller squared error, for sixteen blocks of e2m1fn at a
// time. Included by an ISA file only.
#pragma once

#include "kernels/quantize/x86/avx512_rows.hpp"
#include "kernels/quantize/x86/avx512_scales.hpp"

namespace lpt {
namespace {

// Returns the nearest value of e2m1fn, ties to even codes, for a number of at least 0; NaN gives 6.
[[gnu::always_inline]] inline __m512 e2m1fn_level(__m512 number) {
  // From a power of two p to 2p, values are p / 2 apart; below 1 they are as far apart as above it. A sum with 2^22 · p is
  // rounded to p / 2.
  const __m512i exponent = _mm512_and_si512(_mm512_castps_si512(_mm512_max_ps(number, _mm512_set1_ps(1.0f))),
                                            _mm512_set1_epi32(static_cast<int>(kFloatInfinityBits)));
  const __m512 addend = _mm512_mul_ps(_mm512_castsi512_ps(exponent), _mm512_set1_ps(0x1p22f));
  return _mm512_min_ps(_mm512_sub_ps(_mm512_add_ps(number, addend), addend), _mm512_set1_ps(6.0f));
}

// Returns the squared rounding errors of magnitudes, 0 where `is_finite` is not set.
[[gnu::always_inline]] inline __m512 squared_errors(__m512 magnitude, __mmask16 is_finite, __m512 scale,
                                                    __m512 inverse) {
  const __m512 decoded = _mm512_mul_ps(e2m1fn_level(_mm512_mul_ps(magnitude, inverse)), scale);
  const __m512 error = _mm512_sub_ps(magnitude, decoded);
  return _mm512_maskz_mul_ps(is_finite, error, error);
}

// Sums of the squared errors of two candidates.
struct PairErrors {
  __m512 six, four;
};

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

// The two candidates of FOUR_OVER_SIX.
struct CandidatePair {
  Candidate six, four;
};

inline void set_candidate(__m512 amax, float factor, const ScaleLanes &lanes, Candidate &candidate) {
  candidate.codes = e4m3fn_codes(amax, factor, lanes);
  _mm512_store_ps(candidate.scale, _mm512_mul_ps(e4m3fn_values(candidate.codes), lanes.tensor_scale));
  _mm512_store_ps(candidate.inverse, inverses_of(candidate.codes, lanes));
}

inline void set_candidates(__m512 amax, const ScaleLanes &lanes, CandidatePair &pair) {
  set_candidate(amax, 1.0f, lanes, pair.six);
  set_candidate(amax, 1.5f, lanes, pair.four);
}

inline FoundScales better_of(const CandidatePair &pair, const PairErrors &errors) {
  const __mmask16 is_four = _mm512_cmp_ps_mask(errors.four, errors.six, _CMP_LT_OQ);
  return {_mm512_mask_mov_epi32(pair.six.codes, is_four, pair.four.codes),
          _mm512_mask_mov_ps(_mm512_load_ps(pair.six.inverse), is_four, _mm512_load_ps(pair.four.inverse))};
}

[[gnu::always_inline]] inline void add_errors(__m512 numbers, const __m512 (&scale)[2], const __m512 (&inverse)[2],
                                              PairErrors &sums) {
  const __m512 magnitude = abs(numbers);
  const __mmask16 is_finite = _mm512_cmp_ps_mask(magnitude, _mm512_set1_ps(kLargestFloat), _CMP_LE_OQ);
  sums.six = _mm512_add_ps(sums.six, squared_errors(magnitude, is_finite, scale[0], inverse[0]));
  sums.four = _mm512_add_ps(sums.four, squared_errors(magnitude, is_finite, scale[1], inverse[1]));
}

// Returns the squared errors of sixteen blocks along rows, or of the first blocks of `slab`. kBlock: columns of each block in a
// whole slab; 0: any slab.
template <Source kSource, int kBlock>
[[gnu::noinline]] PairErrors slab_errors(const RowSlab &slab, const CandidatePair &pair) {
  const int64_t block = kBlock != 0 ? kBlock : slab.block;
  const int64_t blocks = kBlock != 0 ? 16 : least(16, (slab.columns + block - 1) / block);
  PairErrors total = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (int64_t row = 0; row < slab.rows; ++row) {
    const char *from = slab.from + row * slab.stride;
    __m512 six[16], four[16];
    if constexpr (kBlock == 0) {
      for (int i = 0; i < 16; ++i) six[i] = four[i] = _mm512_setzero_ps();
    }
#pragma GCC unroll 4
    for (int64_t i = 0; i < blocks; ++i) {
      const __m512 scale[2] = {_mm512_set1_ps(pair.six.scale[i]), _mm512_set1_ps(pair.four.scale[i])};
      const __m512 inverse[2] = {_mm512_set1_ps(pair.six.inverse[i]), _mm512_set1_ps(pair.four.inverse[i])};
      PairErrors sums = {_mm512_setzero_ps(), _mm512_setzero_ps()};
      for (int64_t at = i * block; at < (i + 1) * block; at += 16) {
        const auto mask = static_cast<__mmask16>(kBlock != 0 ? 0xFFFF : lane_mask(0, slab.columns - at) & 0xFFFF);
        add_errors(load16<kSource>(from + at * bytes_of(kSource), mask), scale, inverse, sums);
      }
      six[i] = sums.six;
      four[i] = sums.four;
    }
    total.six = _mm512_add_ps(total.six, sum_of_each(six));
    total.four = _mm512_add_ps(total.four, sum_of_each(four));
  }
  return total;
}

template <Source kSource>
FoundScales four_over_six(const RowSlab &slab, __m512 amax, const ScaleLanes &scales) {
  CandidatePair pair;
  set_candidates(amax, scales, pair);
  const bool is_whole = slab.block == 16 && slab.columns >= 16 * 16;
  return better_of(pair, is_whole ? slab_errors<kSource, 16>(slab, pair) : slab_errors<kSource, 0>(slab, pair));
}

// Returns the squared errors of blocks that span lines [0, lines) of memory, for sixteen elements per line; `mask` selects
// valid elements.
template <Source kSource>
[[gnu::noinline]] PairErrors line_errors(const char *from, int64_t stride, int64_t lines, __mmask16 mask,
                                         const CandidatePair &pair) {
  const __m512 scale[2] = {_mm512_load_ps(pair.six.scale), _mm512_load_ps(pair.four.scale)};
  const __m512 inverse[2] = {_mm512_load_ps(pair.six.inverse), _mm512_load_ps(pair.four.inverse)};
  PairErrors sums[16] = {};
  for (int64_t line = 0; line < lines; ++line, from += stride) {
    add_errors(load16<kSource>(from, mask), scale, inverse, sums[line % 16]);
  }
  for (int width = 8; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) {
      sums[i].six = _mm512_add_ps(sums[i].six, sums[i + width].six);
      sums[i].four = _mm512_add_ps(sums[i].four, sums[i + width].four);
    }
  }
  return sums[0];
}

}  // namespace
}  // namespace lpt
