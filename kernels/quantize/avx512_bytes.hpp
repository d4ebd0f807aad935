// f32 → elements of 8 bits with AVX-512, 64 at a time. Included by an ISA file only.
#pragma once

#include "kernels/common/x86_avx512.hpp"
#include "kernels/quantize/quantize.hpp"

namespace lpt {
namespace {

// A float of 8 bits. kMinField is the f32 exponent field of its smallest normal; kNan is the number whose code, if the
// largest exponent went on, is that of NaN.
struct E4m3fn {
  static constexpr bool kIsInteger = false;
  static constexpr int kMantissaBits = 3;
  static constexpr int kMinField = 127 - 6;
  static constexpr float kLargest = 448.0f;
  static constexpr float kNan = 480.0f;  // 0x7F
};
struct E4m3 {
  static constexpr bool kIsInteger = false;
  static constexpr int kMantissaBits = 3;
  static constexpr int kMinField = 127 - 6;
  static constexpr float kLargest = 240.0f;
  static constexpr float kNan = 384.0f;  // 0x7C
};
struct E5m2 {
  static constexpr bool kIsInteger = false;
  static constexpr int kMantissaBits = 2;
  static constexpr int kMinField = 127 - 14;
  static constexpr float kLargest = 57344.0f;
  static constexpr float kNan = 98304.0f;  // 0x7E
};
// The sign stays on top of the byte, the three other bits at its foot; NaN must not come.
struct E2m1fn {
  static constexpr bool kIsInteger = false;
  static constexpr int kMantissaBits = 1;
  static constexpr int kMinField = 127;
  static constexpr float kLargest = 6.0f;
  static constexpr float kNan = 6.0f;
};
struct Int8 {
  static constexpr bool kIsInteger = true;
  static constexpr float kLargest = 127.0f;
};

enum class Mode { kNearest, kPhilox7, kPhilox10 };

// What a span needs beside its ends.
struct ByteCast {
  __m512 inverse;         // of the whole span, or
  const float *inverses;  // of each of its columns
  PhiloxLanes philox;
  __m512i amax;      // largest finite magnitude so far, as bits
  bool is_streamed;  // past the caches, where the target is aligned
};

// Magnitude code + bias in the lowest byte of each lane, for a magnitude of at most kNan.
//
// Adding 2^(E + 23 - M) to a magnitude of exponent E leaves it, rounded to M bits, at the foot of the sum; with E held at
// the smallest normal's exponent the same sum rounds subnormals.
template <typename Element>
[[gnu::always_inline]] inline __m512i nearest_code(__m512 magnitude) {
  constexpr int kDropped = 23 - Element::kMantissaBits;
  const __m512i field =
      _mm512_max_epu32(_mm512_and_si512(_mm512_castps_si512(magnitude), _mm512_set1_epi32(0x7F800000)),
                       _mm512_set1_epi32(Element::kMinField << 23));
  const __m512 magic = _mm512_castsi512_ps(_mm512_add_epi32(field, _mm512_set1_epi32(kDropped << 23)));
  const __m512i sum = _mm512_castps_si512(_mm512_add_ps(magnitude, magic));
  return _mm512_add_epi32(sum, _mm512_srli_epi32(field, kDropped));
}
template <typename Element>
constexpr int kNearestBias = Element::kMinField << Element::kMantissaBits;

// psi + 2R + 1 >= 2^17 of encode() is a carry out of the dropped bits + R · 2^(dropped - 16) + 2^(dropped - 17). Adding
// the smallest normal, toward zero, moves a subnormal onto its grid and cuts what psi does not see.
template <typename Element>
[[gnu::always_inline]] inline __m512i stochastic_code(__m512 magnitude, __m512i random) {
  constexpr int kDropped = 23 - Element::kMantissaBits;
  const __m512 smallest = _mm512_castsi512_ps(_mm512_set1_epi32(Element::kMinField << 23));
  const __mmask16 is_subnormal = _mm512_cmp_ps_mask(magnitude, smallest, _CMP_LT_OQ);
  const __m512 moved =
      _mm512_mask_add_round_ps(magnitude, is_subnormal, magnitude, smallest, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  const __m512i addend =
      _mm512_add_epi32(_mm512_slli_epi32(random, kDropped - 16), _mm512_set1_epi32(1 << (kDropped - 17)));
  const __m512i code = _mm512_srli_epi32(_mm512_add_epi32(_mm512_castps_si512(moved), addend), kDropped);
  return _mm512_mask_sub_epi32(code, is_subnormal, code, _mm512_set1_epi32(1 << Element::kMantissaBits));
}
template <typename Element>
constexpr int kStochasticBias = (Element::kMinField - 1) << Element::kMantissaBits;

template <typename Element, Mode kMode>
[[gnu::always_inline]] inline __m512i float_code(__m512 product, __m512i random) {
  // minps gives its second operand if either is NaN: the first one keeps NaN, the second replaces it.
  const __m512 held = _mm512_min_ps(_mm512_set1_ps(Element::kLargest), magnitude_f32x16(product));
  const __m512 magnitude = _mm512_min_ps(held, _mm512_set1_ps(Element::kNan));
  if constexpr (kMode == Mode::kNearest) return nearest_code<Element>(magnitude);
  return stochastic_code<Element>(magnitude, random);
}

[[gnu::always_inline]] inline __m512i integer_code(__m512 product) {
  const __mmask16 is_number = _mm512_cmp_ps_mask(product, product, _CMP_ORD_Q);
  const __m512 held =
      _mm512_min_ps(_mm512_set1_ps(Int8::kLargest), _mm512_max_ps(_mm512_set1_ps(-Int8::kLargest), product));
  return _mm512_maskz_cvtps_epi32(is_number, held);
}

// Byte 4i of four vectors, in order.
alignas(64) constexpr uint8_t kByteOfLane[64] = {0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
                                                 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124,
                                                 0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
                                                 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};

[[gnu::always_inline]] inline __m512i bytes_of_lanes(const __m512i (&lanes)[4], int byte) {
  const __m512i index = _mm512_add_epi8(_mm512_load_si512(kByteOfLane), _mm512_set1_epi8(static_cast<char>(byte)));
  return _mm512_mask_blend_epi64(0xF0, _mm512_permutex2var_epi8(lanes[0], index, lanes[1]),
                                 _mm512_permutex2var_epi8(lanes[2], index, lanes[3]));
}

// The codes of 64 numbers.
template <typename Element, Mode kMode>
[[gnu::always_inline]] inline __m512i codes_of(const __m512 (&source)[4], const __m512 (&inverse)[4],
                                               const RandomU16x64 &random) {
  __m512i codes[4];
  __m512i signs[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512 product = _mm512_mul_ps(source[i], inverse[i]);
    signs[i] = _mm512_castps_si512(source[i]);
    if constexpr (Element::kIsInteger) {
      codes[i] = integer_code(product);
    } else {
      const __m512i words = i < 2 ? random.low : random.high;
      const __m256i half = i % 2 == 0 ? _mm512_castsi512_si256(words) : _mm512_extracti64x4_epi64(words, 1);
      codes[i] = float_code<Element, kMode>(product, _mm512_cvtepu16_epi32(half));
    }
  }
  const __m512i bytes = bytes_of_lanes(codes, 0);
  if constexpr (Element::kIsInteger) {
    return bytes;
  } else {
    constexpr int kBias = kMode == Mode::kNearest ? kNearestBias<Element> : kStochasticBias<Element>;
    const __m512i magnitudes = _mm512_sub_epi8(bytes, _mm512_set1_epi8(static_cast<char>(kBias)));
    const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
    return _mm512_ternarylogic_epi32(sign, bytes_of_lanes(signs, 3), magnitudes, 0xCA);  // sign bits of signs, the rest
  }
}

[[gnu::always_inline]] inline __m512i raise_amax(__m512i amax, __m512 value) {
  const __m512i magnitude = _mm512_castps_si512(magnitude_f32x16(value));
  const __mmask16 is_finite = _mm512_cmplt_epu32_mask(magnitude, _mm512_set1_epi32(0x7F800000));
  return _mm512_mask_max_epu32(amax, is_finite, amax, magnitude);
}

// One group of 64 at `from`; lanes outside `mask` are neither read nor written. `block` holds the first lane's bits.
template <typename Element, Mode kMode, bool kHasAmax, bool kHasColumns, bool kIsWhole>
[[gnu::always_inline]] inline void cast_group(ByteCast &cast, const float *from, const float *inverses, uint8_t *to,
                                              uint64_t block, __mmask64 mask) {
  __m512 source[4];
  __m512 inverse[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const auto lanes = static_cast<__mmask16>(mask >> (16 * i));
    source[i] = kIsWhole ? _mm512_loadu_ps(from + 16 * i) : _mm512_maskz_loadu_ps(lanes, from + 16 * i);
    inverse[i] = cast.inverse;
    if constexpr (kHasColumns) inverse[i] = _mm512_maskz_loadu_ps(lanes, inverses + 16 * i);
    if constexpr (kHasAmax) cast.amax = raise_amax(cast.amax, source[i]);
  }
  RandomU16x64 random = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  if constexpr (kMode == Mode::kPhilox7) random = random_u16x64<7>(cast.philox, block);
  if constexpr (kMode == Mode::kPhilox10) random = random_u16x64<10>(cast.philox, block);
  const __m512i codes = codes_of<Element, kMode>(source, inverse, random);
  if constexpr (kIsWhole) {
    if (cast.is_streamed) {
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to), codes);
    } else {
      _mm512_storeu_si512(to, codes);
    }
  } else {
    _mm512_mask_storeu_epi8(to, mask, codes);
  }
}

// `count` adjacent numbers; the first one draws at `index`. The first group starts before the span, at a place that is a
// whole number of random blocks and, if possible, aligned in the target.
template <typename Element, Mode kMode, bool kHasAmax, bool kHasColumns>
void cast_span(ByteCast &shared, const float *from, uint8_t *to, int64_t count, uint64_t index) {
  if (count <= 0) return;
  ByteCast cast = shared;
  const uint64_t misfit = reinterpret_cast<uintptr_t>(to) % 64;
  uint64_t head = misfit;
  if (kMode != Mode::kNearest && (misfit > index || (index - misfit) % 8 != 0)) head = index % 8;
  cast.is_streamed = shared.is_streamed && head == misfit;

  const int64_t start = -static_cast<int64_t>(head);
  for (int64_t first = start; first < count; first += 64) {
    const uint64_t block = kMode == Mode::kNearest ? 0 : (index - head + static_cast<uint64_t>(first - start)) / 8;
    const float *inverses = kHasColumns ? cast.inverses + first : nullptr;
    const bool is_whole = first >= 0 && first + 64 <= count;
    if (is_whole) {
      cast_group<Element, kMode, kHasAmax, kHasColumns, true>(cast, from + first, inverses, to + first, block,
                                                              ~__mmask64{0});
    } else {
      cast_group<Element, kMode, kHasAmax, kHasColumns, false>(cast, from + first, inverses, to + first, block,
                                                               lane_mask(-first, count - first));
    }
  }
  shared.amax = cast.amax;
}

using CastSpan = void (*)(ByteCast &, const float *, uint8_t *, int64_t, uint64_t);

// With an inverse per column the amax is known before: then none is found here.
template <typename Element, Mode kMode>
CastSpan span_of(bool has_amax, bool has_columns) {
  if (has_columns) return cast_span<Element, kMode, false, true>;
  return has_amax ? cast_span<Element, kMode, true, false> : cast_span<Element, kMode, false, false>;
}

template <typename Element>
CastSpan span_of(Mode mode, bool has_amax, bool has_columns) {
  if (mode == Mode::kPhilox7) return span_of<Element, Mode::kPhilox7>(has_amax, has_columns);
  if (mode == Mode::kPhilox10) return span_of<Element, Mode::kPhilox10>(has_amax, has_columns);
  return span_of<Element, Mode::kNearest>(has_amax, has_columns);
}

inline CastSpan span_of(lpt_format element, Mode mode, bool has_amax, bool has_columns) {
  switch (element) {
    case LPT_FORMAT_E4M3FN:
      return span_of<E4m3fn>(mode, has_amax, has_columns);
    case LPT_FORMAT_E4M3:
      return span_of<E4m3>(mode, has_amax, has_columns);
    case LPT_FORMAT_E2M1FN:
      return span_of<E2m1fn>(mode, has_amax, has_columns);
    case LPT_FORMAT_E5M2:
      return span_of<E5m2>(mode, has_amax, has_columns);
    default:
      return span_of<Int8, Mode::kNearest>(has_amax, has_columns);
  }
}

}  // namespace
}  // namespace lpt
