// Isa of SumLanes for AVX2. Included by an ISA file only.
#pragma once

#include "kernels/quantize/sums_lanes.hpp"
#include "kernels/quantize/x86/avx2_decode.hpp"

namespace lpt {
namespace {

struct Avx2Sums {
  static constexpr int kLanes = 8;
  using Floats = __m256;
  using Doubles = __m256d;
  using Flags = __m256;

  // Counts lanes with all bits set, over at most 2^31 vectors.
  struct Count {
    __m256i lanes = _mm256_setzero_si256();
    [[gnu::always_inline]] void add(__m256 flags) { lanes = _mm256_sub_epi32(lanes, _mm256_castps_si256(flags)); }
    [[gnu::always_inline]] int64_t total() const {
      uint32_t lane[8];
      memcpy(lane, &lanes, sizeof lane);
      int64_t sum = 0;
      for (const uint32_t count : lane) sum += count;
      return sum;
    }
  };

  // Returns the value of each lane's block, for eight lanes. Narrow blocks have fewer than 16 columns.
  struct Places {
    __m256i block_of_lane;
    int32_t log2_columns;

    explicit Places(int32_t log2) : log2_columns(log2) {
      block_of_lane = _mm256_srl_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm_cvtsi32_si128(log2));
    }
    template <bool kIsNarrow>
    [[gnu::always_inline]] __m256 of(const float *blocks, int64_t column) const {
      const float *from = blocks + (column >> log2_columns);
      return kIsNarrow ? _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), block_of_lane) : _mm256_broadcast_ss(from);
    }
  };

  template <lpt_format kPlain>
  [[gnu::always_inline]] static __m256 load(const uint8_t *from) {
    if constexpr (kPlain == LPT_FORMAT_F32) {
      return _mm256_castsi256_ps(load_bytes(from));
    } else {
      const __m128i codes = load_half_bytes(from);
      if constexpr (kPlain == LPT_FORMAT_F16) return _mm256_cvtph_ps(codes);
      return f32_of_bf16(codes);
    }
  }
  [[gnu::always_inline]] static __m256 load_floats(const float *from) { return _mm256_loadu_ps(from); }
  [[gnu::always_inline]] static void store_floats(float *to, __m256 value) { _mm256_storeu_ps(to, value); }
  [[gnu::always_inline]] static __m256d load_doubles(const double *from) { return _mm256_load_pd(from); }
  [[gnu::always_inline]] static void store_doubles(double *to, __m256d value) { _mm256_store_pd(to, value); }
  [[gnu::always_inline]] static __m256 all(float value) { return _mm256_set1_ps(value); }

  [[gnu::always_inline]] static __m256 magnitude(__m256 value) { return _mm256_and_ps(value, all_floats(0x7FFFFFFF)); }
  [[gnu::always_inline]] static __m256 scaled(__m256 a, __m256 b) { return _mm256_mul_ps(a, b); }
  [[gnu::always_inline]] static __m256 difference(__m256 a, __m256 b) { return _mm256_sub_ps(a, b); }

  // Returns the larger magnitude. For a NaN operand, the result may be either operand.
  [[gnu::always_inline]] static __m256 larger_magnitude(__m256 largest, __m256 value) {
    return _mm256_max_ps(largest, magnitude(value));
  }
  static float largest_of(__m256 values) {
    float lane[8];
    memcpy(lane, &values, sizeof lane);
    float largest = 0.0f;
    for (const float value : lane) largest = value > largest ? value : largest;
    return largest;
  }
  [[gnu::always_inline]] static bool are_below(__m256d values, double limit) {
    return _mm256_movemask_pd(_mm256_cmp_pd(values, _mm256_set1_pd(limit), _CMP_LT_OQ)) == 0xF;
  }

  [[gnu::always_inline]] static __m256 is_above(__m256 value, __m256 limit) {
    return _mm256_cmp_ps(value, limit, _CMP_GT_OQ);
  }

  // Returns true for a nonzero value that decodes to zero.
  [[gnu::always_inline]] static __m256 is_lost(__m256 value, __m256 decoded) {
    const __m256 zero = _mm256_setzero_ps();
    return _mm256_andnot_ps(_mm256_cmp_ps(value, zero, _CMP_EQ_OQ), _mm256_cmp_ps(decoded, zero, _CMP_EQ_OQ));
  }

  // leaves_range() of a magnitude with the sign of `value`.
  [[gnu::always_inline]] static __m256 leaves_range(__m256 scaled_value, __m256 value, __m256 zero, __m256 limit) {
    const __m256 with_sign = _mm256_or_ps(scaled_value, _mm256_and_ps(value, all_floats(0x80000000)));
    const __m256 held = _mm256_min_ps(_mm256_max_ps(with_sign, _mm256_set1_ps(-32767.0f)), _mm256_set1_ps(32767.0f));
    const __m256 rounded = _mm256_round_ps(held, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m256 is_number = _mm256_cmp_ps(scaled_value, scaled_value, _CMP_ORD_Q);
    const __m256 moved = _mm256_add_ps(_mm256_and_ps(rounded, is_number), zero);
    return _mm256_or_ps(_mm256_cmp_ps(moved, _mm256_setzero_ps(), _CMP_LT_OQ), is_above(moved, limit));
  }

  // Adds squares of even elements to the first vector and of odd elements to the second, as f64 scaled by kSumSize.
  [[gnu::always_inline]] static void add_squares(__m256d *sums, __m256 value) {
    const __m256i bits = _mm256_castps_si256(_mm256_mul_ps(value, value));
    const __m256i mask = _mm256_set1_epi64x(int64_t{0xFFFFFFFF} << 29);
    const __m256i even = _mm256_mul_epu32(bits, _mm256_set1_epi64x(1 << 29));
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi64(bits, 3), mask);
    sums[0] = _mm256_add_pd(sums[0], _mm256_castsi256_pd(even));
    sums[1] = _mm256_add_pd(sums[1], _mm256_castsi256_pd(odd));
  }
};

}  // namespace
}  // namespace lpt
