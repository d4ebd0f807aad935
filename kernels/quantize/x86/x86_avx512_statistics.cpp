// Statistics of a cast, with AVX-512.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/sums_lanes.hpp"
#include "kernels/quantize/x86/avx512_decode.hpp"

namespace lpt {
namespace {

struct Avx512Sums {
  static constexpr int kLanes = 16;
  using Floats = __m512;
  using Doubles = __m512d;
  using Flags = __mmask16;

  struct Count {
    int64_t flags = 0;
    [[gnu::always_inline]] void add(__mmask16 mask) { flags += __builtin_popcount(mask); }
    [[gnu::always_inline]] int64_t total() const { return flags; }
  };

  // Returns the value of each lane's block, for sixteen lanes. Narrow blocks have fewer than 16 columns.
  struct Places {
    __m512i block_of_lane;
    int32_t log2_columns;

    explicit Places(int32_t log2) : log2_columns(log2) {
      const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
      block_of_lane = _mm512_srl_epi32(lane, _mm_cvtsi32_si128(log2));
    }
    template <bool kIsNarrow>
    [[gnu::always_inline]] __m512 of(const float *blocks, int64_t column) const {
      const float *from = blocks + (column >> log2_columns);
      return kIsNarrow ? _mm512_permutexvar_ps(block_of_lane, _mm512_loadu_ps(from)) : _mm512_set1_ps(*from);
    }
  };

  template <lpt_format kPlain>
  [[gnu::always_inline]] static __m512 load(const uint8_t *from) {
    if constexpr (kPlain == LPT_FORMAT_F32) {
      return _mm512_loadu_ps(from);
    } else {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
      if constexpr (kPlain == LPT_FORMAT_F16) return _mm512_cvtph_ps(codes);
      return f32_of_bf16(codes);
    }
  }
  [[gnu::always_inline]] static __m512 load_floats(const float *from) { return _mm512_loadu_ps(from); }
  [[gnu::always_inline]] static void store_floats(float *to, __m512 value) { _mm512_storeu_ps(to, value); }
  [[gnu::always_inline]] static __m512d load_doubles(const double *from) { return _mm512_load_pd(from); }
  [[gnu::always_inline]] static void store_doubles(double *to, __m512d value) { _mm512_store_pd(to, value); }
  [[gnu::always_inline]] static __m512 all(float value) { return _mm512_set1_ps(value); }

  [[gnu::always_inline]] static __m512 magnitude(__m512 value) { return abs(value); }
  [[gnu::always_inline]] static __m512 scaled(__m512 a, __m512 b) { return _mm512_mul_ps(a, b); }
  [[gnu::always_inline]] static __m512 difference(__m512 a, __m512 b) { return _mm512_sub_ps(a, b); }

  // Returns the larger magnitude. For a NaN operand, the result may be either operand.
  [[gnu::always_inline]] static __m512 larger_magnitude(__m512 largest, __m512 value) {
    constexpr int kMagnitude = 11;  // vrangeps: the larger magnitude, without sign
    return _mm512_range_ps(largest, value, kMagnitude);
  }
  static float largest_of(__m512 values) { return _mm512_reduce_max_ps(values); }
  [[gnu::always_inline]] static bool are_below(__m512d values, double limit) {
    return _mm512_cmp_pd_mask(values, _mm512_set1_pd(limit), _CMP_LT_OQ) == 0xFF;
  }

  [[gnu::always_inline]] static __mmask16 is_above(__m512 value, __m512 limit) {
    return _mm512_cmp_ps_mask(value, limit, _CMP_GT_OQ);
  }

  // Returns true for a nonzero value that decodes to zero.
  [[gnu::always_inline]] static __mmask16 is_lost(__m512 value, __m512 decoded) {
    const __mmask16 is_zero = _mm512_cmp_ps_mask(decoded, _mm512_setzero_ps(), _CMP_EQ_OQ);
    return _mm512_mask_cmp_ps_mask(is_zero, value, _mm512_setzero_ps(), _CMP_NEQ_OQ);
  }

  // leaves_range() of a magnitude with the sign of `value`.
  [[gnu::always_inline]] static __mmask16 leaves_range(__m512 scaled_value, __m512 value, __m512 zero, __m512 limit) {
    const __m512i with_sign = _mm512_ternarylogic_epi32(set1(0x80000000), _mm512_castps_si512(value),
                                                        _mm512_castps_si512(scaled_value), 0xCA);
    const __m512 held = _mm512_min_ps(_mm512_max_ps(_mm512_castsi512_ps(with_sign), _mm512_set1_ps(-32767.0f)),
                                      _mm512_set1_ps(32767.0f));
    const __mmask16 is_number = _mm512_cmp_ps_mask(scaled_value, scaled_value, _CMP_ORD_Q);
    const __m512 rounded = _mm512_maskz_roundscale_ps(is_number, held, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 moved = _mm512_add_ps(rounded, zero);
    return static_cast<__mmask16>(_mm512_cmp_ps_mask(moved, _mm512_setzero_ps(), _CMP_LT_OQ) | is_above(moved, limit));
  }

  // Adds squares of even elements to the first vector and of odd elements to the second, as f64 scaled by kSumSize.
  [[gnu::always_inline]] static void add_squares(__m512d *sums, __m512 value) {
    const __m512i even = _mm512_castps_si512(_mm512_maskz_mul_ps(0x5555, value, value));
    const __m512i odd = _mm512_castps_si512(_mm512_maskz_mul_ps(0xAAAA, value, value));
    sums[0] = _mm512_add_pd(sums[0], _mm512_castsi512_pd(_mm512_slli_epi64(even, 29)));
    sums[1] = _mm512_add_pd(sums[1], _mm512_castsi512_pd(_mm512_srli_epi64(odd, 3)));
  }
};

}  // namespace

void cast_statistics_x86_avx512(const CastStatisticsRequest &request) {
  const lpt_format plain = request.quantized.format.element;
  CodeTables tables;
  tables.bits = 32;
  if (plain != LPT_FORMAT_F32) {
    const Element element = element_of(plain);
    tables.bits = element.bits;
    if (element.bits <= 8) fill_tables(element, tables);
  }
  const DecodeSpan decode_one = decode_span_of(plain, tables.bits, LPT_FORMAT_F32);
  const auto fill = [&](ScaleSlab &slab, float tensor_scale, int64_t first, int64_t count) {
    fill_slab(request.quantized, slab, tensor_scale, first, count);
  };
  const auto decode = [&](const ScaleSlab &slab, const uint8_t *from, uint8_t *to, int64_t count) {
    decode_one(tables, slab, from, to, count, false);
  };
  sum_cast_with<Avx512Sums>(request, tables.bits, fill, decode);
}

}  // namespace lpt
