// What became of numbers, with AVX2. Included by an ISA file only.
#pragma once

#include <cstring>

#include "kernels/quantize/avx2_decode.hpp"
#include "kernels/quantize/sums_walk.hpp"

namespace lpt {
namespace {

template <lpt_format kPlain>
[[gnu::always_inline]] inline __m256 load_source(const uint8_t *from) {
  if constexpr (kPlain == LPT_FORMAT_F32) {
    return _mm256_castsi256_ps(load_bytes(from));
  } else {
    const __m128i codes = load_half_bytes(from);
    if constexpr (kPlain == LPT_FORMAT_F16) return _mm256_cvtph_ps(codes);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
  }
}

// Finds what a block has for each of eight lanes.
struct PlacesInBlocks {
  __m256i block_of_lane;
  int32_t log2_columns;

  explicit PlacesInBlocks(const ScaleStrip &strip) : log2_columns(strip.log2_columns) {
    block_of_lane = _mm256_srl_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm_cvtsi32_si128(log2_columns));
  }
  [[gnu::always_inline]] __m256 of(const float *blocks, int64_t column) const {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(blocks + (column >> log2_columns)), block_of_lane);
  }
};

// Sixteen lanes of the sums in two halves: they begin anew with each row. Counts go on.
template <lpt_format kPlain>
class SumLanes {
 public:
  void add(SumStretch &stretch) {
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
    alignas(32) uint32_t lane[8];
    _mm256_store_si256(reinterpret_cast<__m256i *>(lane), amax_);
    uint32_t amax = 0;
    for (const uint32_t magnitude : lane) amax = magnitude > amax ? magnitude : amax;
    sums.nans = nans_;
    sums.clipped = clipped_;
    sums.underflows = underflows_;
    sums.amax = bits_float(amax);
  }

 private:
  // The last numbers go through a buffer, with zeros behind them that decode to zero.
  template <bool kHasZeros>
  void add_numbers(SumStretch &stretch) {
    const PlacesInBlocks blocks(stretch.scales);
    SumLanes lanes = *this;  // a copy that stays in registers
    int64_t at = 0;
    for (; at + 16 <= stretch.count; at += 16) {
      lanes.template add_sixteen<kHasZeros>(stretch, blocks, at, stretch.source + at * source_bytes(kPlain), 16);
    }
    if (at < stretch.count) {
      uint8_t rest[16 * 4] = {};
      memcpy(rest, stretch.source + at * source_bytes(kPlain),
             static_cast<size_t>((stretch.count - at) * source_bytes(kPlain)));
      for (int64_t i = stretch.count; i < at + 16; ++i) stretch.decoded[i] = 0.0f;
      lanes.template add_sixteen<kHasZeros>(stretch, blocks, at, rest, stretch.count - at);
    }
    *this = lanes;
  }

  template <bool kHasZeros>
  [[gnu::always_inline]] void add_sixteen(const SumStretch &stretch, const PlacesInBlocks &blocks, int64_t at,
                                          const uint8_t *from, int64_t count) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const int64_t first = at + 8 * half;
      const __m256 value = load_source<kPlain>(from + 8 * half * source_bytes(kPlain));
      const __m256 product = _mm256_mul_ps(value, blocks.of(stretch.inverse, first));
      const __m256 limit = _mm256_set1_ps(stretch.limit);
      __m256 is_clipped;
      if constexpr (kHasZeros) {
        is_clipped = leaves_range(value, product, blocks.of(stretch.scales.zero, first), limit);
      } else {
        is_clipped = _mm256_cmp_ps(magnitude_of(product), limit, _CMP_GT_OQ);
      }
      // A zero point out of range would count what is not there.
      if (kHasZeros && count < 16) is_clipped = _mm256_and_ps(is_clipped, is_below(count - 8 * half));
      add_vector(half, value, _mm256_loadu_ps(stretch.decoded + first), is_clipped);
    }
  }

  [[gnu::always_inline]] static __m256 is_below(int64_t count) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(count)), lane));
  }

  [[gnu::always_inline]] static __m256 magnitude_of(__m256 value) {
    return _mm256_and_ps(value, all_floats(0x7FFFFFFF));
  }

  // round(product) + zero, to nearest even in 16 bits, is below 0 or above the largest code. A NaN rounds to 0.
  [[gnu::always_inline]] static __m256 leaves_range(__m256 value, __m256 product, __m256 zero, __m256 limit) {
    const __m256 sign = _mm256_and_ps(value, all_floats(0x80000000));
    const __m256 with_sign = _mm256_or_ps(magnitude_of(product), sign);
    const __m256 held = _mm256_min_ps(_mm256_max_ps(with_sign, _mm256_set1_ps(-32767.0f)), _mm256_set1_ps(32767.0f));
    const __m256 rounded = _mm256_round_ps(held, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 is_number = _mm256_cmp_ps(product, product, _CMP_ORD_Q);
    const __m256 moved = _mm256_add_ps(_mm256_and_ps(rounded, is_number), zero);
    return _mm256_or_ps(_mm256_cmp_ps(moved, _mm256_setzero_ps(), _CMP_LT_OQ), _mm256_cmp_ps(moved, limit, _CMP_GT_OQ));
  }

  [[gnu::always_inline]] static int64_t count_of(__m256 truths) {
    return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(truths)));
  }

  [[gnu::always_inline]] void add_vector(int half, __m256 value, __m256 decoded, __m256 is_clipped) {
    const __m256 magnitude = magnitude_of(value);
    const __m256 is_nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    const __m256 is_finite = _mm256_cmp_ps(magnitude, all_floats(kFloatInfinityBits), _CMP_LT_OQ);
    const __m256 is_nonzero = _mm256_and_ps(is_finite, _mm256_cmp_ps(value, _mm256_setzero_ps(), _CMP_NEQ_OQ));
    const __m256 is_zero = _mm256_cmp_ps(decoded, _mm256_setzero_ps(), _CMP_EQ_OQ);
    nans_ += count_of(is_nan);
    clipped_ += count_of(_mm256_andnot_ps(is_nan, is_clipped));
    underflows_ += count_of(_mm256_and_ps(is_nonzero, is_zero));
    amax_ = _mm256_max_epu32(amax_, _mm256_castps_si256(_mm256_and_ps(magnitude, is_finite)));
    const __m256 error = _mm256_sub_ps(value, decoded);
    add_wide(squares_ + 2 * half, _mm256_and_ps(_mm256_mul_ps(value, value), is_finite));
    add_wide(errors_ + 2 * half, _mm256_and_ps(_mm256_mul_ps(error, error), is_finite));
  }

  [[gnu::always_inline]] static void add_wide(__m256d *sums, __m256 value) {
    sums[0] = _mm256_add_pd(sums[0], _mm256_cvtps_pd(_mm256_castps256_ps128(value)));
    sums[1] = _mm256_add_pd(sums[1], _mm256_cvtps_pd(_mm256_extractf128_ps(value, 1)));
  }

  static double taken(__m256d (&sums)[4]) {
    double lane[16];
    for (int i = 0; i < 4; ++i) {
      _mm256_storeu_pd(lane + 4 * i, sums[i]);
      sums[i] = _mm256_setzero_pd();
    }
    return sum_of_lanes(lane);
  }

  __m256d squares_[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256d errors_[4] = {_mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256i amax_ = _mm256_setzero_si256();
  int64_t nans_ = 0, clipped_ = 0, underflows_ = 0;
};

inline void sum_cast(const CastSumsRequest &request) {
  const lpt_format plain = request.quantized.format.element;
  CodeFacts facts = {};
  facts.bits = 32;
  if (plain != LPT_FORMAT_F32) {
    facts.element = element_of(plain);
    facts.bits = facts.element.bits;
    for (uint32_t code = 0; code < 16 && facts.bits <= 4; ++code) facts.value[code] = decode(facts.element, code);
  }
  const DecodeSpan decode_one = decode_span_of(plain, facts, LPT_FORMAT_F32);
  const auto fill = [&](ScaleStrip &strip, float tensor_scale, int64_t first, int64_t count) {
    fill_strip(request.quantized, strip, tensor_scale, first, count);
  };
  const auto decode = [&](const ScaleStrip &strip, const uint8_t *from, uint8_t *to, int64_t count) {
    decode_one(facts, strip, from, to, count, false);
  };
  switch (request.source.format.element) {
    case LPT_FORMAT_BF16:
      return walk_sums<SumLanes<LPT_FORMAT_BF16>>(request, facts.bits, fill, decode);
    case LPT_FORMAT_F16:
      return walk_sums<SumLanes<LPT_FORMAT_F16>>(request, facts.bits, fill, decode);
    default:
      return walk_sums<SumLanes<LPT_FORMAT_F32>>(request, facts.bits, fill, decode);
  }
}

}  // namespace

void cast_sums_x86_avx2(const CastSumsRequest &request) { sum_cast(request); }

}  // namespace lpt
