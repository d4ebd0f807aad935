// Casts f32, bf16 and f16 to f16 and bf16 with AVX-512, with one inverse or none.
#include "kernels/quantize/kernels.hpp"
#include "kernels/quantize/x86/avx512_amax.hpp"
#include "kernels/quantize/x86/avx512_words.hpp"

namespace lpt {
namespace {

struct HalfCast {
  __m512 inverse;
  __m512 limit;  // the largest element if overflow saturates, else infinity
  WordSource words;
  __m512 amax;   // largest magnitude including infinity; a NaN may hide others
  bool has_nan;  // a NaN occurred
  bool is_streamed;
  Prefetcher prefetcher;
};

// Returns f32 whose upper halves are bf16, rounded to nearest even.
[[gnu::always_inline]] inline __m512i rounded_bf16(__m512 held) {
  const __m512i bits = _mm512_castps_si512(held);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
}

alignas(64) constexpr uint16_t kUpperOfLane[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                   33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};

// Returns the codes of 32 scaled values rounded to nearest even, in order; those of NaN are undefined.
template <bool kIsF16>
[[gnu::always_inline]] inline __m512i half_codes(__m512 low, __m512 high, __m512 limit) {
  low = _mm512_range_ps(low, limit, kSmallerMagnitudeSigned);
  high = _mm512_range_ps(high, limit, kSmallerMagnitudeSigned);
  if constexpr (kIsF16) {
    const __m256i codes = _mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_inserti64x4(_mm512_castsi256_si512(codes),
                              _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), 1);
  }
  return _mm512_permutex2var_epi16(rounded_bf16(low), _mm512_load_si512(kUpperOfLane), rounded_bf16(high));
}

// Returns the f16 code of each scaled value with its word added. Subnormals are counted in units of 2^-24.
template <WordRounding kRounding>
[[gnu::always_inline]] inline __m512i added_f16(__m512 scaled_value, __m512i words, __m512 limit) {
  const __m512 held = _mm512_range_ps(scaled_value, limit, kSmallerMagnitude);
  const __m512i bits = _mm512_castps_si512(held);
  const __m512i moved = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_srli_epi32(words, 3)), 13);
  const __m512i normal = _mm512_sub_epi32(moved, _mm512_set1_epi32(112 << 10));
  const __mmask16 is_small = _mm512_cmplt_epu32_mask(bits, _mm512_set1_epi32((127 - 14) << 23));
  const __m512i small = _mm512_maskz_cvttps_epi32(is_small, _mm512_mul_ps(held, _mm512_set1_ps(0x1p41f)));
  const __m512i code = _mm512_mask_mov_epi32(normal, is_small, cut_at_17<kRounding>(small, words));
  const __m512i most = _mm512_min_epu32(code, _mm512_set1_epi32(static_cast<int>(kElementF16.infinity_code)));
  const __m512i signs = _mm512_srli_epi32(_mm512_castps_si512(scaled_value), 16);
  return _mm512_ternarylogic_epi32(most, signs, _mm512_set1_epi32(0x8000), 0xF8);  // most | (signs & 0x8000)
}

// Returns the codes of 32 scaled values with their words added, in order; those of NaN are undefined.
template <bool kIsF16, WordRounding kRounding>
[[gnu::always_inline]] inline __m512i added_codes(__m512 low, __m512 high, __m512i words, __m512 limit) {
  const __m512i low_words = words_in_lanes(words, 0);
  const __m512i high_words = words_in_lanes(words, 1);
  if constexpr (kIsF16) {
    return _mm512_permutex2var_epi16(added_f16<kRounding>(low, low_words, limit), _mm512_load_si512(kLowerOfLane),
                                     added_f16<kRounding>(high, high_words, limit));
  }
  // A word has as many bits as bf16 drops. A carry reaches at most infinity.
  const __m512i low_bits = _mm512_castps_si512(_mm512_range_ps(low, limit, kSmallerMagnitudeSigned));
  const __m512i high_bits = _mm512_castps_si512(_mm512_range_ps(high, limit, kSmallerMagnitudeSigned));
  return _mm512_permutex2var_epi16(_mm512_add_epi32(low_bits, low_words), _mm512_load_si512(kUpperOfLane),
                                   _mm512_add_epi32(high_bits, high_words));
}

// Replaces the codes of NaN values by codes of NaN with the signs of the sources.
template <bool kIsF16>
inline __m512i with_half_nan(__m512i codes, __m512 low, __m512 high, uint32_t is_nan) {
  const __m512i signs =
      _mm512_permutex2var_epi16(_mm512_castps_si512(low), _mm512_load_si512(kUpperOfLane), _mm512_castps_si512(high));
  const Element element = kIsF16 ? kElementF16 : kElementBf16;
  const __m512i nan = _mm512_ternarylogic_epi32(_mm512_set1_epi16(INT16_MIN), signs,
                                                _mm512_set1_epi16(static_cast<int16_t>(element.nan_code)), 0xCA);
  return _mm512_mask_mov_epi16(codes, is_nan, nan);
}

// The state of a loop over groups, in registers.
struct HalfGroup {
  __m512 inverse, limit, amax;
  bool has_nan, is_streamed;
};

// Casts one group of 32 elements with their words. Lanes outside `mask` are neither read nor written.
template <Source kSource, bool kIsF16, WordRounding kRounding, bool kIsWhole>
[[gnu::always_inline]] inline void half_group(HalfGroup &cast, const char *from, uint16_t *to, __mmask32 mask,
                                              __m512i words) {
  constexpr int64_t kVector = 16 * bytes_of(kSource);
  __m512 sources[2];
  __m512 scaled_values[2];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const auto lanes = static_cast<__mmask16>(mask >> (16 * i));
    sources[i] = kIsWhole ? load16<kSource>(from + i * kVector) : load16<kSource>(from + i * kVector, lanes);
    cast.amax = _mm512_range_ps(cast.amax, sources[i], kLargerMagnitude);
    scaled_values[i] = _mm512_mul_ps(sources[i], cast.inverse);
  }
  __m512i codes;
  if constexpr (kRounding == WordRounding::kEven) {
    codes = half_codes<kIsF16>(scaled_values[0], scaled_values[1], cast.limit);
  } else {
    codes = added_codes<kIsF16, kRounding>(scaled_values[0], scaled_values[1], words, cast.limit);
  }
  if (_mm512_cmp_ps_mask(scaled_values[0], scaled_values[1], _CMP_UNORD_Q) != 0) [[unlikely]] {
    const uint32_t low = _mm512_cmp_ps_mask(scaled_values[0], scaled_values[0], _CMP_UNORD_Q);
    const uint32_t high = _mm512_cmp_ps_mask(scaled_values[1], scaled_values[1], _CMP_UNORD_Q);
    codes = with_half_nan<kIsF16>(codes, sources[0], sources[1], low | high << 16);
    cast.has_nan = true;
  }
  if (!kIsWhole) {
    _mm512_mask_storeu_epi16(to, mask, codes);
  } else if (cast.is_streamed) {
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), codes);
  } else {
    _mm512_storeu_si512(to, codes);
  }
}

// Casts `count` adjacent elements, of which the first has random index `index`. The first group starts at an aligned address of
// the target before them, if the random index permits it.
template <Source kSource, bool kIsF16, WordRounding kRounding>
void half_span(HalfCast &shared, const char *from, uint16_t *to, int64_t count, uint64_t index) {
  constexpr int64_t kBytes = bytes_of(kSource);
  constexpr int kGroups = is_drawn(kRounding) ? 4 : 1;
  const auto misfit = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 64 / 2);
  const int64_t head = is_drawn(kRounding) && index < static_cast<uint64_t>(misfit) ? 0 : misfit;
  HalfGroup cast = {shared.inverse, shared.limit, shared.amax, shared.has_nan, shared.is_streamed && head == misfit};
  for (int64_t first = -head; first < count; first += 32 * kGroups) {
    const WordUnit words = words_at<kRounding>(shared.words, index + static_cast<uint64_t>(first));
    if (first >= 0 && first + 32 * kGroups <= count) [[likely]] {
      if (shared.prefetcher.is_spread()) shared.prefetcher.prefetch<kGroups * kBytes / 2>(from + first * kBytes);
#pragma GCC unroll 4
      for (int group = 0; group < kGroups; ++group) {
        const int64_t at = first + 32 * group;
        half_group<kSource, kIsF16, kRounding, true>(cast, from + at * kBytes, to + at, ~__mmask32{0},
                                                     words.group[group]);
      }
      continue;
    }
#pragma GCC unroll 1
    for (int group = 0; group < kGroups; ++group) {
      const int64_t at = first + 32 * group;
      const auto mask = static_cast<__mmask32>(lane_mask(-at, count - at));
      half_group<kSource, kIsF16, kRounding, false>(cast, from + at * kBytes, to + at, mask, words.group[group]);
    }
  }
  shared.amax = cast.amax;
  shared.has_nan = cast.has_nan;
}

using HalfSpan = void (*)(HalfCast &, const char *, uint16_t *, int64_t, uint64_t);

template <Source kSource, bool kIsF16>
HalfSpan half_span_of(WordRounding rounding) {
  switch (rounding) {
    case WordRounding::kEven:
      return half_span<kSource, kIsF16, WordRounding::kEven>;
    case WordRounding::kAdded:
      return half_span<kSource, kIsF16, WordRounding::kAdded>;
    case WordRounding::kDrawn16:
      return half_span<kSource, kIsF16, WordRounding::kDrawn16>;
    default:
      return half_span<kSource, kIsF16, WordRounding::kDrawn8>;
  }
}

template <bool kIsF16>
HalfSpan half_span_of(Source source, WordRounding rounding) {
  if (source == Source::kF32) return half_span_of<Source::kF32, kIsF16>(rounding);
  return source == Source::kBf16 ? half_span_of<Source::kBf16, kIsF16>(rounding)
                                 : half_span_of<Source::kF16, kIsF16>(rounding);
}

inline HalfCast half_cast(const QuantizeRequest &request) {
  HalfCast cast = {};
  const bool saturates = request.overflow == LPT_OVERFLOW_SATURATE;
  const float largest = largest_of(request.target.format.element);
  cast.inverse = _mm512_set1_ps(__builtin_fabsf(request.tensor_inverse));
  cast.limit = _mm512_set1_ps(saturates ? largest : bits_float(kFloatInfinityBits));
  cast.words = word_source(request);
  cast.amax = _mm512_setzero_ps();
  cast.is_streamed = request.is_streamed;
  cast.prefetcher = prefetcher_of(request, 0);
  return cast;
}

}  // namespace

// Casts to f16 and bf16, with one inverse or none.
void quantize_halves_x86_avx512(const QuantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const WordRounding rounding = word_rounding(request);
  const Extent extent = folded(source, target, !is_drawn(rounding) || request.random.row_stride == source.columns);
  const Source from = source_of(source.format.element);
  const HalfSpan span = target.format.element == LPT_FORMAT_F16 ? half_span_of<true>(from, rounding)
                                                                : half_span_of<false>(from, rounding);
  HalfCast cast = half_cast(request);
  for (int64_t row = 0; row < extent.rows; ++row) {
    span(cast, static_cast<const char *>(source.data) + row * source.row_stride * bytes_of(from),
         static_cast<uint16_t *>(target.data) + row * target.row_stride, extent.columns,
         random_index(request.random, row, 0));
  }
  if (cast.is_streamed) _mm_sfence();
  finish(request, cast.amax, cast.has_nan);
}

}  // namespace lpt
