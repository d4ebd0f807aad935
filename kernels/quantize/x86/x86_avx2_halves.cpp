// Casts f32, bf16 and f16 to f16 and bf16 with AVX2, with one inverse or none; see x86_avx512_halves.cpp.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx2_decode.hpp"
#include "kernels/quantize/x86/avx2_scales.hpp"
#include "kernels/quantize/x86/avx2_words.hpp"

namespace lpt {
namespace {

struct HalfCast {
  __m256 inverse;
  __m256 limit;    // the largest element if overflow saturates, else infinity
  uint16_t added;  // for kAdded
  bool may_stream;
  bool has_facts;                    // `largest` and `finite` are needed
  uint32_t largest = 0, finite = 0;  // magnitudes of the source as bits: of all elements, of finite ones
};

// Returns the clamped scaled value with the sign of the source. minps returns its second operand for a NaN, so that a NaN is
// kept.
[[gnu::always_inline]] inline __m256 held_product(__m256 source, __m256 inverse, __m256 limit) {
  const __m256 scaled_value = _mm256_and_ps(_mm256_mul_ps(source, inverse), all_floats(0x7FFFFFFF));
  const __m256 held = with_plain_nan(_mm256_min_ps(limit, scaled_value), source);
  return _mm256_or_ps(held, _mm256_and_ps(source, all_floats(0x80000000)));
}

// Scaled values and their added words to codes, one per lane.

// A word has as many bits as bf16 drops. A carry reaches at most infinity, and NaN has none.
struct AddedBf16 {
  template <WordRounding kRounding>
  [[gnu::always_inline]] static inline __m256i codes(__m256 held, __m256i words) {
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_castps_si256(held), words), 16);
  }
};

// Subnormals are counted in units of 2^-24.
struct AddedF16 {
  template <WordRounding kRounding>
  [[gnu::always_inline]] static inline __m256i codes(__m256 held, __m256i words) {
    const __m256i bits = magnitude_bits(held);
    const __m256i moved = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_srli_epi32(words, 3)), 13);
    const __m256i normal = _mm256_sub_epi32(moved, all_lanes(112 << 10));
    const __m256 small = _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p41f));
    const __m256i subnormal = cut_at_17<kRounding>(_mm256_cvttps_epi32(small), words);
    const __m256i is_small = _mm256_cmpgt_epi32(all_lanes((127 - 14) << 23), bits);
    const __m256i code = _mm256_blendv_epi8(normal, subnormal, is_small);
    const __m256i most = _mm256_min_epi32(code, all_lanes(kElementF16.infinity_code));
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(held, held, _CMP_UNORD_Q));
    const __m256i signs = _mm256_and_si256(_mm256_srli_epi32(_mm256_castps_si256(held), 16), all_lanes(0x8000));
    return _mm256_or_si256(_mm256_or_si256(most, signs), _mm256_and_si256(is_nan, all_lanes(kElementF16.nan_code)));
  }
};

// Stores 32 clamped scaled values with their words added; `random` points to the random bits of the first.
template <typename Added, WordRounding kRounding>
[[gnu::always_inline]] inline void store_added(uint8_t *to, const __m256 (&held)[4], __m256i added,
                                               const uint8_t *random, bool is_streamed) {
  __m256i codes[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256i words = words_at<kRounding>(random + 8 * i * random_bytes(kRounding), added);
    codes[i] = Added::template codes<kRounding>(held[i], words);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m256i pair = _mm256_packus_epi32(codes[2 * i], codes[2 * i + 1]);
    store_vector(to + 32 * i, _mm256_permute4x64_epi64(pair, 0xD8), is_streamed);
  }
}

// Casts `count` adjacent elements; `random` points to the random bits of the first.
template <typename Source, typename Target, typename Added, WordRounding kRounding>
void half_span(HalfCast &cast, int64_t source_bytes, const uint8_t *from, uint8_t *to, int64_t count,
               const uint8_t *random) {
  const Source source(CodeFacts{});
  const __m256 inverse = cast.inverse;
  const __m256 limit = cast.limit;
  const __m256i added = all_lanes(cast.added);
  const bool has_facts = cast.has_facts;
  const bool is_streamed = cast.may_stream && reinterpret_cast<uintptr_t>(to) % 32 == 0;
  constexpr int64_t kRandomBytes = random_bytes(kRounding);
  __m256i largest = _mm256_setzero_si256();
  __m256i finite = _mm256_setzero_si256();
  const auto cast_32 = [&](const uint8_t *numbers, const uint8_t *bits, uint8_t *codes, bool past_caches) {
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
    if constexpr (kRounding == WordRounding::kEven) {
      Target::store(codes, value, past_caches);
    } else {
      store_added<Added, kRounding>(codes, value, added, bits, past_caches);
    }
  };
  int64_t at = 0;
  for (; at + 32 <= count; at += 32) {
    cast_32(from + at * source_bytes, random + at * kRandomBytes, to + at * Target::kBytes, is_streamed);
  }
  if (at < count) {
    alignas(32) uint8_t numbers[32 * 4] = {};
    alignas(32) uint8_t codes[32 * 2];
    memcpy(numbers, from + at * source_bytes, static_cast<size_t>((count - at) * source_bytes));
    cast_32(numbers, random + at * kRandomBytes, codes, false);
    memcpy(to + at * Target::kBytes, codes, static_cast<size_t>((count - at) * Target::kBytes));
  }
  const uint32_t most = largest_lane(largest);
  const uint32_t most_finite = largest_lane(finite);
  cast.largest = most > cast.largest ? most : cast.largest;
  cast.finite = most_finite > cast.finite ? most_finite : cast.finite;
}

using HalfSpan = void (*)(HalfCast &, int64_t, const uint8_t *, uint8_t *, int64_t, const uint8_t *);

template <typename Source, typename Target, typename Added>
HalfSpan half_span_of(WordRounding rounding) {
  switch (rounding) {
    case WordRounding::kEven:
      return half_span<Source, Target, Added, WordRounding::kEven>;
    case WordRounding::kAdded:
      return half_span<Source, Target, Added, WordRounding::kAdded>;
    case WordRounding::kDrawn16:
      return half_span<Source, Target, Added, WordRounding::kDrawn16>;
    default:
      return half_span<Source, Target, Added, WordRounding::kDrawn8>;
  }
}

template <typename Source>
HalfSpan half_span_of(lpt_format target, WordRounding rounding) {
  return target == LPT_FORMAT_F16 ? half_span_of<Source, F16Target, AddedF16>(rounding)
                                  : half_span_of<Source, Bf16Target, AddedBf16>(rounding);
}

inline HalfSpan half_span_of(lpt_format source, lpt_format target, WordRounding rounding) {
  if (source == LPT_FORMAT_F32) return half_span_of<FloatSource>(target, rounding);
  if (source == LPT_FORMAT_F16) return half_span_of<HalfSource<LPT_FORMAT_F16>>(target, rounding);
  return half_span_of<HalfSource<LPT_FORMAT_BF16>>(target, rounding);
}

inline HalfCast half_cast(const QuantizeRequest &request) {
  const bool saturates = request.overflow == LPT_OVERFLOW_SATURATE;
  const float largest = largest_of(request.target.format.element);
  HalfCast cast;
  cast.inverse = _mm256_set1_ps(request.tensor_inverse);
  cast.limit = _mm256_set1_ps(saturates ? largest : bits_float(kFloatInfinityBits));
  cast.added = added_word(request);
  cast.may_stream = request.is_streamed;
  cast.has_facts = request.amax != nullptr || request.has_nan != nullptr;
  return cast;
}

}  // namespace

void quantize_halves_x86_avx2(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const WordRounding rounding = word_rounding(request);
  const bool has_draws = is_drawn(rounding);
  const HalfSpan span = half_span_of(source.format.element, target.format.element, rounding);
  HalfCast cast = half_cast(request);
  PhiloxLanes philox;
  RandomSlab slab;
  if (has_draws) philox = philox_lanes(request.random);
  const int64_t bytes = source.format.element == LPT_FORMAT_F32 ? 4 : 2;
  const bool is_dense = source.row_stride == source.columns && target.row_stride == target.columns &&
                        (!has_draws || request.random.row_stride == source.columns);
  const int64_t rows = is_dense ? 1 : source.rows;
  const int64_t columns = is_dense ? source.rows * source.columns : source.columns;
  const int64_t width = has_draws ? kRandomColumns : columns;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t at = 0; at < columns; at += width) {
      const int64_t count = columns - at < width ? columns - at : width;
      const uint8_t *random = slab.bytes;
      if (has_draws) {
        random = fill_random(request.random, philox, random_index(request.random, row, at), count, slab);
      }
      span(cast, bytes, static_cast<const uint8_t *>(source.data) + (row * source.row_stride + at) * bytes,
           static_cast<uint8_t *>(target.data) + (row * target.row_stride + at) * 2, count, random);
    }
  }
  if (cast.may_stream) _mm_sfence();
  if (request.amax != nullptr && bits_float(cast.finite) > *request.amax) *request.amax = bits_float(cast.finite);
  if (request.has_nan != nullptr && cast.largest > kFloatInfinityBits) *request.has_nan = true;
}

}  // namespace lpt
