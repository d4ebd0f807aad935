// Decodes codes with AVX2, 32 per step, in the steps of avx512_decode.hpp. Ends of rows are copied through a small buffer.
// Included by an ISA file only.
#pragma once

#include "kernels/quantize/decode_loop.hpp"
#include "kernels/quantize/x86/avx2_lanes.hpp"

namespace lpt {
namespace {

template <typename Number>
[[gnu::always_inline]] inline Number load_number(const uint8_t *from) {
  Number number;
  memcpy(&number, from, sizeof number);
  return number;
}

// Properties of the codes of a source.
struct CodeFacts {
  Element element;
  alignas(32) float value[256];  // by code, for codes of at most 8 bits
  int32_t bits;
};

// Returns true for floats of 6 or 8 bits that become f16 by a shift of their bits.
inline bool are_small_floats(const Element &element) {
  const int32_t exponent_bits = element.bits - element.mantissa_bits - (element.is_signed ? 1 : 0);
  const bool is_known = !element.is_integer && (element.bits == 6 || element.bits == 8);
  return is_known && exponent_bits <= 5 && element.min_exponent <= 100;
}

// Fills the table of values only if the source of the element reads it.
inline void set_facts(lpt_format plain, CodeFacts &facts) {
  facts.element = {};
  facts.bits = 32;
  if (plain == LPT_FORMAT_F32) return;
  facts.element = element_of(plain);
  facts.bits = facts.element.bits;
  const bool is_byte_integer = facts.element.is_integer && facts.bits == 8;
  if (facts.bits > 8 || is_byte_integer || are_small_floats(facts.element)) return;
  const uint32_t count = 1u << facts.bits;
  for (uint32_t code = 0; code < count; ++code) facts.value[code] = decode(facts.element, code);
  for (uint32_t code = count; code < 16; ++code) facts.value[code] = 0;
}

// Returns 32 codes of 6 bits, one per byte: each dword of four codes takes 24 bits.
[[gnu::always_inline]] inline __m256i codes_of_6(const uint8_t *from) {
  // The second load begins 4 bytes early, so that it ends with the 24th byte.
  const __m256i bytes =
      _mm256_inserti128_si256(_mm256_castsi128_si256(load_half_bytes(from)), load_half_bytes(from + 8), 1);
  const __m256i spread =
      _mm256_shuffle_epi8(bytes, _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,  //
                                                  4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1));
  const __m256i first = _mm256_and_si256(spread, all_lanes(0x3F));
  const __m256i second = _mm256_and_si256(_mm256_slli_epi32(spread, 2), all_lanes(0x3F00));
  const __m256i third = _mm256_and_si256(_mm256_slli_epi32(spread, 4), all_lanes(0x3F0000));
  const __m256i fourth = _mm256_and_si256(_mm256_slli_epi32(spread, 6), all_lanes(0x3F000000));
  return _mm256_or_si256(_mm256_or_si256(first, second), _mm256_or_si256(third, fourth));
}

// Sources: each loads 32 elements. kKeepsNan: any NaN may occur, else only the quiet NaN. Sources copy their constants to
// registers, because a byte store may alias any other memory.

// Floats of 6 or 8 bits with at most 5 exponent bits. A shifted magnitude is an f16 that is too small by a power of two. Codes
// without an f16 value are rare, and are decoded one at a time.
struct SmallFloatSource {
  static constexpr bool kKeepsNan = false;
  const Element &element;
  bool is_packed, is_fnuz;
  __m256i magnitude_bytes, most, nan;
  __m256i magnitude_words, sign_words;
  __m128i shift, sign_shift;
  __m256 factor;

  explicit SmallFloatSource(const CodeFacts &facts) : element(facts.element) {
    is_packed = facts.bits == 6;
    is_fnuz = element.is_fnuz;
    const int32_t sign_bit = element.is_signed ? 1 << (element.bits - 1) : 0;
    const int32_t magnitude_bits = ((1 << element.bits) - 1) & ~sign_bit;
    const auto infinite = static_cast<uint32_t>(31 << element.mantissa_bits);
    magnitude_bytes = _mm256_set1_epi8(static_cast<char>(magnitude_bits));
    most = _mm256_set1_epi8(static_cast<char>(element.max_code < infinite ? element.max_code : infinite - 1));
    nan = _mm256_set1_epi8(static_cast<char>(element.nan_code));
    magnitude_words = _mm256_set1_epi16(static_cast<int16_t>(magnitude_bits));
    sign_words = _mm256_set1_epi16(static_cast<int16_t>(element.is_signed ? 0x8000 : 0));
    shift = _mm_cvtsi32_si128(10 - element.mantissa_bits);
    sign_shift = _mm_cvtsi32_si128(16 - element.bits);
    factor = all_floats(static_cast<uint32_t>(element.min_exponent + 14 + 127) << 23);
  }
  [[gnu::always_inline]] inline void load(const uint8_t *from, __m256 (&value)[4]) const {
    const __m256i codes = is_packed ? codes_of_6(from) : load_bytes(from);
    const __m256i magnitudes = _mm256_and_si256(codes, magnitude_bytes);
    int is_number = _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(magnitudes, most), most));
    if (is_fnuz) is_number &= ~_mm256_movemask_epi8(_mm256_cmpeq_epi8(codes, nan));
    if (is_number != -1) [[unlikely]] {
      float numbers[32];
      decode_each(element, codes, numbers);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) value[i] = _mm256_loadu_ps(numbers + 8 * i);
      return;
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const __m256i wide =
          _mm256_cvtepu8_epi16(i == 0 ? _mm256_castsi256_si128(codes) : _mm256_extracti128_si256(codes, 1));
      const __m256i magnitude = _mm256_and_si256(wide, magnitude_words);
      const __m256i sign = _mm256_and_si256(_mm256_sll_epi16(wide, sign_shift), sign_words);
      const __m256i halves = _mm256_or_si256(_mm256_sll_epi16(magnitude, shift), sign);
      value[2 * i] = _mm256_mul_ps(_mm256_cvtph_ps(_mm256_castsi256_si128(halves)), factor);
      value[2 * i + 1] = _mm256_mul_ps(_mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)), factor);
    }
  }
  [[gnu::noinline]] static void decode_each(const Element &element, __m256i codes, float (&numbers)[32]) {
    uint8_t code[32];
    memcpy(code, &codes, sizeof code);
    for (int i = 0; i < 32; ++i) numbers[i] = decode(element, code[i]);
  }
};

struct ByteIntegerSource {
  static constexpr bool kKeepsNan = false;
  bool is_signed;
  __m256 unit;

  explicit ByteIntegerSource(const CodeFacts &facts) {
    is_signed = facts.element.is_signed;
    unit = all_floats(static_cast<uint32_t>(127 - facts.element.mantissa_bits) << 23);
  }
  [[gnu::always_inline]] inline void load(const uint8_t *from, __m256 (&value)[4]) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m128i codes = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from + 8 * i));
      const __m256i integers = is_signed ? _mm256_cvtepi8_epi32(codes) : _mm256_cvtepu8_epi32(codes);
      value[i] = _mm256_mul_ps(_mm256_cvtepi32_ps(integers), unit);
    }
  }
};

// Codes of 4 or 2 bits. Each lane holds the bytes of its code, shifted so that the code is in the lowest bits.
struct NibbleSource {
  static constexpr bool kKeepsNan = false;
  bool is_nibble;
  __m256 lower, upper;
  __m256i place, mask;

  explicit NibbleSource(const CodeFacts &facts) {
    is_nibble = facts.bits == 4;
    lower = _mm256_load_ps(facts.value);
    upper = _mm256_load_ps(facts.value + 8);
    place = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(facts.bits));
    mask = _mm256_set1_epi32((1 << facts.bits) - 1);
  }
  [[gnu::always_inline]] inline void load(const uint8_t *from, __m256 (&value)[4]) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const uint32_t eight = is_nibble ? load_number<uint32_t>(from + 4 * i) : load_number<uint16_t>(from + 2 * i);
      const __m256i code = _mm256_and_si256(_mm256_srlv_epi32(all_lanes(eight), place), mask);
      const __m256 is_upper = _mm256_castsi256_ps(_mm256_slli_epi32(code, 28));
      value[i] =
          _mm256_blendv_ps(_mm256_permutevar8x32_ps(lower, code), _mm256_permutevar8x32_ps(upper, code), is_upper);
    }
  }
};

// Codes of any width, decoded by a table of their values. Eight codes take `bits` bytes.
struct TableSource {
  static constexpr bool kKeepsNan = false;
  const float *values;
  int64_t bits;
  __m256i place, mask;

  explicit TableSource(const CodeFacts &facts) : values(facts.value), bits(facts.bits) {
    place = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3), _mm256_set1_epi32(facts.bits));
    mask = _mm256_set1_epi32((1 << facts.bits) - 1);
  }
  [[gnu::always_inline]] inline void load(const uint8_t *from, __m256 (&value)[4]) const {
    uint8_t bytes[32 + 8];
    memcpy(bytes, from, static_cast<size_t>(4 * bits));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const auto eight = load_number<uint64_t>(bytes + i * bits);
      const auto low = static_cast<uint32_t>(eight), high = static_cast<uint32_t>(eight >> 4 * bits);
      const __m256i fours = _mm256_blend_epi32(all_lanes(low), all_lanes(high), 0xF0);
      value[i] = _mm256_i32gather_ps(values, _mm256_and_si256(_mm256_srlv_epi32(fours, place), mask), 4);
    }
  }
};

template <lpt_format kFormat>
struct HalfSource {
  static constexpr bool kKeepsNan = true;
  explicit HalfSource(const CodeFacts &) {}
  [[gnu::always_inline]] inline void load(const uint8_t *from, __m256 (&value)[4]) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m128i codes = load_half_bytes(from + 16 * i);
      if constexpr (kFormat == LPT_FORMAT_F16) {
        value[i] = _mm256_cvtph_ps(codes);
      } else if constexpr (kFormat == LPT_FORMAT_BF16) {
        value[i] = f32_of_bf16(codes);
      } else {
        value[i] = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(codes));
      }
    }
  }
};

struct FloatSource {
  static constexpr bool kKeepsNan = true;
  explicit FloatSource(const CodeFacts &) {}
  [[gnu::always_inline]] inline void load(const uint8_t *from, __m256 (&value)[4]) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) value[i] = _mm256_castsi256_ps(load_bytes(from + 32 * i));
  }
};

// Targets: each stores 32 elements. Streaming stores bypass the caches and require 32-byte alignment.

[[gnu::always_inline]] inline void store_vector(uint8_t *to, __m256i value, bool is_streamed) {
  if (is_streamed) {
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to), value);
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), value);
  }
}

struct FloatTarget {
  static constexpr int64_t kBytes = 4;
  [[gnu::always_inline]] static inline void store(uint8_t *to, const __m256 (&value)[4], bool is_streamed) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) store_vector(to + 32 * i, _mm256_castps_si256(value[i]), is_streamed);
  }
};

// Rounds to nearest even; values that are too large carry into infinity. The quiet NaN does not change, because its lower half
// is zero.
struct Bf16Target {
  static constexpr int64_t kBytes = 2;
  [[gnu::always_inline]] static inline __m256i rounded(__m256 value) {
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), all_lanes(1));
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, all_lanes(0x7FFF)), odd), 16);
  }
  [[gnu::always_inline]] static inline void store(uint8_t *to, const __m256 (&value)[4], bool is_streamed) {
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const __m256i pair = _mm256_packus_epi32(rounded(value[2 * i]), rounded(value[2 * i + 1]));
      store_vector(to + 32 * i, _mm256_permute4x64_epi64(pair, 0xD8), is_streamed);
    }
  }
};

struct F16Target {
  static constexpr int64_t kBytes = 2;
  [[gnu::always_inline]] static inline void store(uint8_t *to, const __m256 (&value)[4], bool is_streamed) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const __m128i low = _mm256_cvtps_ph(value[2 * i], kNearest);
      const __m128i high = _mm256_cvtps_ph(value[2 * i + 1], kNearest);
      store_vector(to + 32 * i, _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), is_streamed);
    }
  }
};

// Scales.

// Loads the scales of blocks `first` to `first + count - 1`, in order of memory.
inline void fill_slab(const MatrixView &view, ScaleSlab &slab, float tensor_scale, int64_t first, int64_t count) {
  __m256i is_in_range = all_lanes(~uint32_t{0});
  for (int64_t i = 0; i < count; i += 8) {
    const __m256 scale = _mm256_mul_ps(load_scales(view, first + i, count - i), _mm256_set1_ps(tensor_scale));
    const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(scale), all_lanes(0x7FFFFFFF));
    is_in_range = _mm256_and_si256(is_in_range, _mm256_cmpgt_epi32(magnitude, _mm256_setzero_si256()));
    is_in_range = _mm256_and_si256(is_in_range, _mm256_cmpgt_epi32(all_lanes(kFloatInfinityBits), magnitude));
    _mm256_store_ps(slab.scale + i, scale);
  }
  slab.is_in_range = _mm256_movemask_epi8(is_in_range) == -1;
  if (!slab.has_zeros) return;
  for (int64_t i = 0; i < count; ++i) slab.zero[i] = static_cast<float>(view.zero_points[first + i]);
}

// Replaces a NaN by the NaN of all kernels: quiet, with the sign of the element.
[[gnu::always_inline]] inline __m256 with_plain_nan(__m256 scaled_value, __m256 element) {
  const __m256 nan = _mm256_or_ps(_mm256_and_ps(element, all_floats(0x80000000)), all_floats(kFloatNanBits));
  return _mm256_blendv_ps(scaled_value, nan, _mm256_cmp_ps(scaled_value, scaled_value, _CMP_UNORD_Q));
}

// Spans.

// The scales of a span, in registers.
struct SlabLanes {
  const float *scale, *zero;
  BlockLanes lanes;
  bool has_zeros, is_in_range;

  explicit SlabLanes(const ScaleSlab &slab) : scale(slab.scale), zero(slab.zero), lanes(slab.log2_columns) {
    has_zeros = slab.has_zeros;
    is_in_range = slab.is_in_range;
  }
};

// Decodes 32 elements, of which the first is in column `column` of the slab.
template <typename Source, typename Target>
[[gnu::always_inline]] inline void decode_group(const Source &source, const SlabLanes &slab, int64_t column,
                                                const uint8_t *from, uint8_t *to, bool is_streamed) {
  __m256 value[4];
  source.load(from, value);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    if (slab.has_zeros) value[i] = _mm256_sub_ps(value[i], slab.lanes.of(slab.zero, column + 8 * i));
    const __m256 scaled_value = _mm256_mul_ps(value[i], slab.lanes.of(slab.scale, column + 8 * i));
    value[i] = Source::kKeepsNan || !slab.is_in_range ? with_plain_nan(scaled_value, value[i]) : scaled_value;
  }
  Target::store(to, value, is_streamed);
}

// Decodes `count` adjacent elements from the first column of the slab on.
template <typename Source, typename Target>
void decode_span(const CodeFacts &facts, const ScaleSlab &scales, const uint8_t *from, uint8_t *to, int64_t count,
                 bool may_stream) {
  const bool is_streamed = may_stream && reinterpret_cast<uintptr_t>(to) % 32 == 0;
  const Source source(facts);
  const SlabLanes slab(scales);
  const int64_t bits = facts.bits;
  int64_t at = 0;
  for (; at + 32 <= count; at += 32) {
    decode_group<Source, Target>(source, slab, at, from + at * bits / 8, to + at * Target::kBytes, is_streamed);
  }
  if (at == count) return;
  alignas(32) uint8_t codes[32 * 4] = {};
  alignas(32) uint8_t numbers[32 * 4];
  memcpy(codes, from + at * bits / 8, static_cast<size_t>(((count - at) * bits + 7) / 8));
  decode_group<Source, Target>(source, slab, at, codes, numbers, false);
  memcpy(to + at * Target::kBytes, numbers, static_cast<size_t>((count - at) * Target::kBytes));
}

using DecodeSpan = void (*)(const CodeFacts &, const ScaleSlab &, const uint8_t *, uint8_t *, int64_t, bool);

template <typename Source>
DecodeSpan decode_span_of(lpt_format target) {
  if (target == LPT_FORMAT_F32) return decode_span<Source, FloatTarget>;
  return target == LPT_FORMAT_BF16 ? decode_span<Source, Bf16Target> : decode_span<Source, F16Target>;
}

inline DecodeSpan decode_span_of(lpt_format source, const CodeFacts &facts, lpt_format target) {
  if (facts.bits == 4 || facts.bits == 2) return decode_span_of<NibbleSource>(target);
  if (facts.bits == 32) return decode_span_of<FloatSource>(target);
  if (source == LPT_FORMAT_F16) return decode_span_of<HalfSource<LPT_FORMAT_F16>>(target);
  if (source == LPT_FORMAT_BF16) return decode_span_of<HalfSource<LPT_FORMAT_BF16>>(target);
  if (facts.bits == 16) return decode_span_of<HalfSource<LPT_FORMAT_INT16>>(target);
  if (facts.element.is_integer && facts.bits == 8) return decode_span_of<ByteIntegerSource>(target);
  return are_small_floats(facts.element) ? decode_span_of<SmallFloatSource>(target)
                                         : decode_span_of<TableSource>(target);
}

inline void decode_matrix(const DequantizeRequest &request) {
  const lpt_format plain = request.source.format.element;
  CodeFacts facts;
  set_facts(plain, facts);
  const DecodeSpan decode_one = decode_span_of(plain, facts, request.target.format.element);
  const auto fill = [&](ScaleSlab &slab, float tensor_scale, int64_t first, int64_t count) {
    fill_slab(request.source, slab, tensor_scale, first, count);
  };
  const auto span = [&](const ScaleSlab &slab, const uint8_t *from, uint8_t *to, int64_t count, bool may_stream) {
    decode_one(facts, slab, from, to, count, may_stream);
  };
  walk_codes(request, facts.bits, fill, span);
  _mm_sfence();
}

}  // namespace
}  // namespace lpt
