// What became of numbers, with AVX-512. Included by an ISA file only.
#pragma once

#include "kernels/quantize/avx512_decode.hpp"
#include "kernels/quantize/sums_walk.hpp"

namespace lpt {
namespace {

// Sixteen numbers of a source as f32, zero where the mask has none.
template <lpt_format kPlain>
[[gnu::always_inline]] inline __m512 load_source(const uint8_t *from, __mmask16 mask) {
  if constexpr (kPlain == LPT_FORMAT_F32) {
    return _mm512_maskz_loadu_ps(mask, from);
  } else {
    const __m256i codes = _mm256_maskz_loadu_epi16(mask, from);
    if constexpr (kPlain == LPT_FORMAT_F16) return _mm512_cvtph_ps(codes);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
  }
}

// Finds what a block has for each of sixteen lanes.
struct PlacesInBlocks {
  __m512i block_of_lane;
  int32_t log2_columns;

  explicit PlacesInBlocks(const ScaleStrip &strip) : log2_columns(strip.log2_columns) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    block_of_lane = _mm512_srl_epi32(lane, _mm_cvtsi32_si128(log2_columns));
  }
  [[gnu::always_inline]] __m512 of(const float *blocks, int64_t column) const {
    return _mm512_permutexvar_ps(block_of_lane, _mm512_loadu_ps(blocks + (column >> log2_columns)));
  }
};

// A stretch, in registers.
struct SumView {
  const uint8_t *source;
  const float *decoded, *inverse, *zero;
  __m512 limit;
};

// Sixteen lanes of the sums: they begin anew with each row. Counts go on.
template <lpt_format kPlain>
class SumLanes {
 public:
  void add(const SumStretch &stretch) {
    if (stretch.scales.has_zeros) {
      add_numbers<true>(stretch);
    } else {
      add_numbers<false>(stretch);
    }
  }

  void end_row(CastSums &sums) {
    sums.squares += taken(squares_);
    sums.squared_errors += taken(errors_);
  }

  void end(CastSums &sums) const {
    sums.nans = nans_;
    sums.clipped = clipped_;
    sums.underflows = underflows_;
    sums.amax = bits_float(_mm512_reduce_max_epu32(amax_));
  }

 private:
  template <bool kHasZeros>
  void add_numbers(const SumStretch &stretch) {
    const PlacesInBlocks places(stretch.scales);
    const SumView view = {stretch.source, stretch.decoded, stretch.inverse, stretch.scales.zero,
                          _mm512_set1_ps(stretch.limit)};
    const int64_t count = stretch.count;
    SumLanes lanes = *this;  // a copy that stays in registers
    int64_t at = 0;
    for (; at + 16 <= count; at += 16) lanes.template add_sixteen<kHasZeros>(view, places, at, 0xFFFF);
    if (at < count) {
      lanes.template add_sixteen<kHasZeros>(view, places, at, static_cast<__mmask16>(lane_mask(0, count - at)));
    }
    *this = lanes;
  }

  template <bool kHasZeros>
  [[gnu::always_inline]] void add_sixteen(const SumView &view, const PlacesInBlocks &places, int64_t at,
                                          __mmask16 mask) {
    const __m512 value = load_source<kPlain>(view.source + at * source_bytes(kPlain), mask);
    const __m512 decoded = _mm512_maskz_loadu_ps(mask, view.decoded + at);
    const __m512 product = _mm512_mul_ps(value, places.of(view.inverse, at));
    __mmask16 is_clipped;
    if constexpr (kHasZeros) {
      is_clipped = leaves_range(value, product, places.of(view.zero, at), view.limit) & mask;
    } else {
      is_clipped = _mm512_cmp_ps_mask(magnitude_f32x16(product), view.limit, _CMP_GT_OQ);
    }
    const __m512i magnitude = _mm512_castps_si512(magnitude_f32x16(value));
    if (_mm512_cmpge_epu32_mask(magnitude, set1(kFloatInfinityBits)) != 0) [[unlikely]] {
      const __mmask16 is_nan = _mm512_cmpgt_epu32_mask(magnitude, set1(kFloatInfinityBits));
      const __mmask16 is_finite = _mm512_cmplt_epu32_mask(magnitude, set1(kFloatInfinityBits));
      nans_ += __builtin_popcount(is_nan);
      is_clipped = static_cast<__mmask16>(is_clipped & ~is_nan);
      // Zeros that decode to zero take the place of the others.
      add_finite(_mm512_maskz_mov_ps(is_finite, value), _mm512_maskz_mov_ps(is_finite, decoded));
    } else {
      add_finite(value, decoded);
    }
    clipped_ += __builtin_popcount(is_clipped);
  }

  // round(product) + zero, to nearest even in 16 bits, is below 0 or above the largest code. A NaN rounds to 0.
  [[gnu::always_inline]] static __mmask16 leaves_range(__m512 value, __m512 product, __m512 zero, __m512 limit) {
    const __m512i with_sign =
        _mm512_ternarylogic_epi32(set1(0x80000000), _mm512_castps_si512(value), _mm512_castps_si512(product), 0xCA);
    const __m512 held = _mm512_min_ps(_mm512_max_ps(_mm512_castsi512_ps(with_sign), _mm512_set1_ps(-32767.0f)),
                                      _mm512_set1_ps(32767.0f));
    const __mmask16 is_number = _mm512_cmp_ps_mask(product, product, _CMP_ORD_Q);
    const __m512 rounded = _mm512_maskz_roundscale_ps(is_number, held, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 moved = _mm512_add_ps(rounded, zero);
    return static_cast<__mmask16>(_mm512_cmp_ps_mask(moved, _mm512_setzero_ps(), _CMP_LT_OQ) |
                                  _mm512_cmp_ps_mask(moved, limit, _CMP_GT_OQ));
  }

  [[gnu::always_inline]] void add_finite(__m512 value, __m512 decoded) {
    const __m512i magnitude = _mm512_castps_si512(magnitude_f32x16(value));
    const __mmask16 is_zero = _mm512_cmp_ps_mask(decoded, _mm512_setzero_ps(), _CMP_EQ_OQ);
    underflows_ += __builtin_popcount(_mm512_mask_test_epi32_mask(is_zero, magnitude, magnitude));
    amax_ = _mm512_max_epu32(amax_, magnitude);
    const __m512 error = _mm512_sub_ps(value, decoded);
    add_wide(squares_, _mm512_mul_ps(value, value));
    add_wide(errors_, _mm512_mul_ps(error, error));
  }

  [[gnu::always_inline]] static void add_wide(__m512d (&sums)[2], __m512 value) {
    const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(value), 1));
    sums[0] = _mm512_add_pd(sums[0], _mm512_cvtps_pd(_mm512_castps512_ps256(value)));
    sums[1] = _mm512_add_pd(sums[1], _mm512_cvtps_pd(upper));
  }

  static double taken(__m512d (&sums)[2]) {
    double lane[16];
    for (int i = 0; i < 2; ++i) {
      _mm512_storeu_pd(lane + 8 * i, sums[i]);
      sums[i] = _mm512_setzero_pd();
    }
    return sum_of_lanes(lane);
  }

  __m512d squares_[2] = {_mm512_setzero_pd(), _mm512_setzero_pd()};
  __m512d errors_[2] = {_mm512_setzero_pd(), _mm512_setzero_pd()};
  __m512i amax_ = _mm512_setzero_si512();
  int64_t nans_ = 0, clipped_ = 0, underflows_ = 0;
};

inline void sum_cast(const CastSumsRequest &request) {
  const lpt_format plain = request.quantized.format.element;
  CodeTables tables;
  tables.bits = 32;
  if (plain != LPT_FORMAT_F32) {
    const Element element = element_of(plain);
    tables.bits = element.bits;
    if (element.bits <= 8) fill_tables(element, tables);
  }
  const DecodeSpan decode_one = decode_span_of(plain, tables.bits, LPT_FORMAT_F32);
  const auto fill = [&](ScaleStrip &strip, float tensor_scale, int64_t first, int64_t count) {
    fill_strip(request.quantized, strip, tensor_scale, first, count);
  };
  const auto decode = [&](const ScaleStrip &strip, const uint8_t *from, uint8_t *to, int64_t count) {
    decode_one(tables, strip, from, to, count, false);
  };
  switch (request.source.format.element) {
    case LPT_FORMAT_BF16:
      return walk_sums<SumLanes<LPT_FORMAT_BF16>>(request, tables.bits, fill, decode);
    case LPT_FORMAT_F16:
      return walk_sums<SumLanes<LPT_FORMAT_F16>>(request, tables.bits, fill, decode);
    default:
      return walk_sums<SumLanes<LPT_FORMAT_F32>>(request, tables.bits, fill, decode);
  }
}

}  // namespace

void cast_sums_x86_avx512(const CastSumsRequest &request) { sum_cast(request); }

}  // namespace lpt
