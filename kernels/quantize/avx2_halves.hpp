// f32, bf16 and f16 → f16 and bf16 to nearest even with AVX2, with one inverse or none. Included by an ISA file only.
#pragma once

#include "kernels/quantize/avx2_decode.hpp"
#include "kernels/quantize/avx2_scales.hpp"

namespace lpt {
namespace {

struct HalfCast {
  __m256 inverse;
  __m256 limit;  // the largest element where overflow saturates, else infinity
  bool may_stream;
  bool has_facts;                    // those below are wanted
  uint32_t largest = 0, finite = 0;  // magnitudes of the source so far, as bits: of all, and of finite numbers
};

// Raises `amax` to the magnitudes below infinity; all of them are positive integers.
[[gnu::always_inline]] inline __m256i raise_finite(__m256i amax, __m256i magnitude) {
  const __m256i is_finite = _mm256_cmpgt_epi32(all_lanes(kFloatInfinityBits), magnitude);
  return _mm256_max_epi32(amax, _mm256_and_si256(is_finite, magnitude));
}

// The product with the source's sign, held; a NaN stays one, as minps gives its second operand then.
[[gnu::always_inline]] inline __m256 held_product(__m256 source, __m256 inverse, __m256 limit) {
  const __m256 product = _mm256_and_ps(_mm256_mul_ps(source, inverse), all_floats(0x7FFFFFFF));
  const __m256 held = with_plain_nan(_mm256_min_ps(limit, product), source);
  return _mm256_or_ps(held, _mm256_and_ps(source, all_floats(0x80000000)));
}

// `count` adjacent numbers.
template <typename Source, typename Target>
void half_span(HalfCast &cast, int64_t source_bytes, const uint8_t *from, uint8_t *to, int64_t count) {
  const Source source(CodeFacts{});
  const __m256 inverse = cast.inverse;
  const __m256 limit = cast.limit;
  const bool has_facts = cast.has_facts;
  const bool is_streamed = cast.may_stream && reinterpret_cast<uintptr_t>(to) % 32 == 0;
  __m256i largest = _mm256_setzero_si256();
  __m256i finite = _mm256_setzero_si256();
  const auto cast_32 = [&](const uint8_t *numbers, uint8_t *codes, bool past_caches) {
    __m256 value[4];
    source.load(numbers, value);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (has_facts) {
        largest = _mm256_max_epi32(largest, magnitude_bits(value[i]));
        finite = raise_finite(finite, magnitude_bits(value[i]));
      }
      value[i] = held_product(value[i], inverse, limit);
    }
    Target::store(codes, value, past_caches);
  };
  int64_t at = 0;
  for (; at + 32 <= count; at += 32) cast_32(from + at * source_bytes, to + at * Target::kBytes, is_streamed);
  if (at < count) {
    alignas(32) uint8_t numbers[32 * 4] = {};
    alignas(32) uint8_t codes[32 * 2];
    memcpy(numbers, from + at * source_bytes, static_cast<size_t>((count - at) * source_bytes));
    cast_32(numbers, codes, false);
    memcpy(to + at * Target::kBytes, codes, static_cast<size_t>((count - at) * Target::kBytes));
  }
  const uint32_t most = largest_lane(largest);
  const uint32_t most_finite = largest_lane(finite);
  cast.largest = most > cast.largest ? most : cast.largest;
  cast.finite = most_finite > cast.finite ? most_finite : cast.finite;
}

using HalfSpan = void (*)(HalfCast &, int64_t, const uint8_t *, uint8_t *, int64_t);

template <typename Source>
HalfSpan half_span_of(lpt_format target) {
  return target == LPT_FORMAT_F16 ? half_span<Source, F16Target> : half_span<Source, Bf16Target>;
}

inline HalfSpan half_span_of(lpt_format source, lpt_format target) {
  if (source == LPT_FORMAT_F32) return half_span_of<FloatSource>(target);
  if (source == LPT_FORMAT_F16) return half_span_of<HalfSource<LPT_FORMAT_F16>>(target);
  return half_span_of<HalfSource<LPT_FORMAT_BF16>>(target);
}

inline void cast_halves(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const bool saturates = request.overflow == LPT_OVERFLOW_SATURATE;
  HalfCast cast;
  cast.inverse = _mm256_set1_ps(request.tensor_inverse);
  cast.limit = _mm256_set1_ps(saturates ? largest_of(target.format.element) : bits_float(kFloatInfinityBits));
  cast.may_stream = 2 * target.rows * target.columns >= kStreamedDecode;
  cast.has_facts = request.amax != nullptr || request.has_nan != nullptr;
  const HalfSpan span = half_span_of(source.format.element, target.format.element);
  const int64_t bytes = source.format.element == LPT_FORMAT_F32 ? 4 : 2;
  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns;
  const int64_t rows = is_dense ? 1 : source.rows;
  const int64_t columns = is_dense ? source.rows * source.columns : source.columns;
  for (int64_t row = 0; row < rows; ++row) {
    span(cast, bytes, static_cast<const uint8_t *>(source.data) + row * source.row_stride * bytes,
         static_cast<uint8_t *>(target.data) + row * target.row_stride * 2, columns);
  }
  _mm_sfence();
  if (request.amax != nullptr && bits_float(cast.finite) > *request.amax) *request.amax = bits_float(cast.finite);
  if (request.has_nan != nullptr && cast.largest > kFloatInfinityBits) *request.has_nan = true;
}

}  // namespace
}  // namespace lpt
