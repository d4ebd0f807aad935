// Decodes codes with AVX-512, 64 per step: a source loads them as f32, the scales of their blocks multiply them, a target
// stores them. Included by an ISA file only.
#pragma once

#include "kernels/common/prefetcher.hpp"
#include "kernels/common/simd_avx512.hpp"
#include "kernels/quantize/decode_loop.hpp"

namespace lpt {
namespace {

[[gnu::always_inline]] inline __m512i set1(uint32_t value) { return _mm512_set1_epi32(static_cast<int>(value)); }

// Computes decode() of sixteen codes of at most 8 bits, except lists.
[[gnu::always_inline]] inline __m512 decoded(const Element &element, __m512i codes) {
  if (element.is_integer) {
    const __m128i unused = _mm_cvtsi32_si128(element.is_signed ? 32 - element.bits : 0);
    const __m512i integers = _mm512_sra_epi32(_mm512_sll_epi32(codes, unused), unused);
    return _mm512_mul_ps(_mm512_cvtepi32_ps(integers),
                         _mm512_castsi512_ps(set1(static_cast<uint32_t>(127 - element.mantissa_bits) << 23)));
  }
  const uint32_t sign_bit = element.is_signed ? 1u << (element.bits - 1) : 0;
  const __m512i magnitude = _mm512_and_si512(codes, set1(((1u << element.bits) - 1) & ~sign_bit));
  const __m512i shifted = _mm512_sll_epi32(magnitude, _mm_cvtsi32_si128(23 - element.mantissa_bits));
  const __m512i normal = _mm512_add_epi32(shifted, set1(static_cast<uint32_t>(element.min_exponent + 126) << 23));
  const int32_t unit_field = element.has_no_zero ? 0 : element.min_exponent - element.mantissa_bits + 127;
  const __m512 unit = _mm512_castsi512_ps(set1(static_cast<uint32_t>(unit_field) << 23));
  const __m512i small =
      element.has_no_zero ? set1(0x00400000) : _mm512_castps_si512(_mm512_mul_ps(_mm512_cvtepi32_ps(magnitude), unit));
  const __mmask16 is_small = _mm512_cmplt_epu32_mask(magnitude, set1(1u << element.mantissa_bits));
  __m512i bits = _mm512_mask_mov_epi32(normal, is_small, small);
  bits = _mm512_mask_mov_epi32(bits, _mm512_cmpgt_epu32_mask(magnitude, set1(element.max_code)), set1(kFloatNanBits));
  if (element.infinity_code != element.nan_code && element.infinity_code > element.max_code) {
    bits = _mm512_mask_mov_epi32(bits, _mm512_cmpeq_epu32_mask(magnitude, set1(element.infinity_code)),
                                 set1(kFloatInfinityBits));
  }
  bits = _mm512_mask_or_epi32(bits, _mm512_test_epi32_mask(codes, set1(sign_bit)), bits, set1(0x80000000));
  if (element.is_fnuz) {
    bits = _mm512_mask_mov_epi32(bits, _mm512_cmpeq_epu32_mask(codes, set1(element.nan_code)), set1(kFloatNanBits));
  }
  return _mm512_castsi512_ps(bits);
}

// Tables of the values of codes. The upper bytes of an f32 are its bf16, which holds every element of at most 8 bits except
// lists: one table per byte.
struct CodeTables {
  alignas(64) uint8_t low[256];
  alignas(64) uint8_t high[256];
  alignas(64) float value[16];
  alignas(64) uint8_t spread[64];  // eight codes take `bits` bytes; moves them to one 64-bit lane
  alignas(64) uint8_t shift[64];   // bit position of each code in the lane
  int32_t bits;
  Prefetcher prefetcher = {nullptr, 0};
};

inline void fill_tables(const Element &element, CodeTables &tables) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  if (element.bits <= 4) {
    _mm512_store_ps(tables.value,
                    element.levels != nullptr ? _mm512_loadu_ps(element.levels->value) : decoded(element, lane));
  } else {
    for (int first = 0; first < 256; first += 16) {
      const __m512i bits = _mm512_castps_si512(decoded(element, _mm512_add_epi32(lane, _mm512_set1_epi32(first))));
      _mm_store_si128(reinterpret_cast<__m128i *>(tables.low + first),
                      _mm512_cvtepi32_epi8(_mm512_srli_epi32(bits, 16)));
      _mm_store_si128(reinterpret_cast<__m128i *>(tables.high + first),
                      _mm512_cvtepi32_epi8(_mm512_srli_epi32(bits, 24)));
    }
  }
  for (int i = 0; i < 64; ++i) {
    tables.spread[i] = static_cast<uint8_t>(i / 8 * element.bits + i % 8);
    tables.shift[i] = static_cast<uint8_t>(i % 8 * element.bits);
  }
}

// Spreads bytes 16i to 16i + 15 of `low` and `high` over the two upper bytes of the lanes.
[[gnu::always_inline]] inline __m512 joined(__m512i low, __m512i high, int part) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i number = _mm512_add_epi32(lane, _mm512_set1_epi32(16 * part));
  // Byte 2 of a lane is from `low`, byte 3 from `high` (index 64 and up); bytes 0 and 1 are zero.
  const __m512i index = _mm512_or_si512(_mm512_slli_epi32(number, 16),
                                        _mm512_slli_epi32(_mm512_add_epi32(number, _mm512_set1_epi32(64)), 24));
  return _mm512_castsi512_ps(_mm512_maskz_permutex2var_epi8(0xCCCCCCCCCCCCCCCC, low, index, high));
}

// Sources: each loads `count` elements, at most 64. kKeepsNan: any NaN may occur, else only the quiet NaN. Sources copy their
// constants to registers, because a byte store may alias any other memory.

// Codes of at most 8 bits, one per byte.
struct PackedCodes {
  __m512i spread, shift, mask;
  int64_t bits;

  explicit PackedCodes(const CodeTables &tables) {
    spread = _mm512_load_si512(tables.spread);
    shift = _mm512_load_si512(tables.shift);
    bits = tables.bits;
    mask = _mm512_set1_epi8(static_cast<char>((1 << tables.bits) - 1));
  }
  [[gnu::always_inline]] inline __m512i load(const uint8_t *from, int64_t count) const {
    const __m512i bytes = _mm512_maskz_loadu_epi8(lane_mask(0, (count * bits + 7) / 8), from);
    if (bits == 8) return bytes;
    const __m512i lanes = _mm512_permutexvar_epi8(spread, bytes);
    return _mm512_and_si512(_mm512_multishift_epi64_epi8(shift, lanes), mask);
  }
};

struct ByteTable {
  __m512i part[4];

  explicit ByteTable(const uint8_t (&table)[256]) {
    for (int i = 0; i < 4; ++i) part[i] = _mm512_load_si512(table + 64 * i);
  }
  [[gnu::always_inline]] inline __m512i at(__m512i codes) const {
    const __m512i lower = _mm512_permutex2var_epi8(part[0], codes, part[1]);
    const __m512i upper = _mm512_permutex2var_epi8(part[2], codes, part[3]);
    return _mm512_mask_mov_epi8(lower, _mm512_movepi8_mask(codes), upper);
  }
};

// Indices for permutex2var that interleave the first 32 bytes of two vectors: bytes 0, then bytes 1, and so on.
struct PairsOfBytes {
  alignas(64) uint8_t place[64];
  constexpr PairsOfBytes() : place() {
    for (int i = 0; i < 64; ++i) place[i] = static_cast<uint8_t>(i / 2 + i % 2 * 64);
  }
};
constexpr PairsOfBytes kPairsOfBytes;

struct ByteSource {
  static constexpr bool kKeepsNan = false;
  PackedCodes packed;
  ByteTable low_table, high_table;

  explicit ByteSource(const CodeTables &tables) : packed(tables), low_table(tables.low), high_table(tables.high) {}
  [[gnu::always_inline]] inline void load(const uint8_t *from, int64_t count, __m512 (&value)[4]) const {
    const __m512i codes = packed.load(from, count);
    const __m512i low = low_table.at(codes);
    const __m512i high = high_table.at(codes);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) value[i] = joined(low, high, i);
  }
  // Loads the bf16 values of the codes.
  [[gnu::always_inline]] inline void load_bf16(const uint8_t *from, __m512i (&value)[2]) const {
    const __m512i codes = packed.load(from, 64);
    const __m512i low = low_table.at(codes);
    const __m512i high = high_table.at(codes);
    const __m512i place = _mm512_load_si512(kPairsOfBytes.place);
    value[0] = _mm512_permutex2var_epi8(low, place, high);
    value[1] = _mm512_permutex2var_epi8(low, _mm512_add_epi8(place, _mm512_set1_epi8(32)), high);
  }
};

struct NibbleSource {
  static constexpr bool kKeepsNan = false;
  PackedCodes packed;
  __m512 table;

  explicit NibbleSource(const CodeTables &tables) : packed(tables), table(_mm512_load_ps(tables.value)) {}
  [[gnu::always_inline]] inline void load(const uint8_t *from, int64_t count, __m512 (&value)[4]) const {
    const __m512i codes = packed.load(from, count);
    value[0] = _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(_mm512_castsi512_si128(codes)), table);
    value[1] = _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 1)), table);
    value[2] = _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 2)), table);
    value[3] = _mm512_permutexvar_ps(_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(codes, 3)), table);
  }
};

template <lpt_format kFormat>
struct HalfSource {
  static constexpr bool kKeepsNan = true;
  explicit HalfSource(const CodeTables &) {}
  [[gnu::always_inline]] inline void load(const uint8_t *from, int64_t count, __m512 (&value)[4]) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const auto mask = static_cast<__mmask16>(lane_mask(0, count - 16 * i) & 0xFFFF);
      const __m256i codes = _mm256_maskz_loadu_epi16(mask, from + 32 * i);
      if constexpr (kFormat == LPT_FORMAT_F16) {
        value[i] = _mm512_cvtph_ps(codes);
      } else if constexpr (kFormat == LPT_FORMAT_BF16) {
        value[i] = f32_of_bf16(codes);
      } else {
        value[i] = _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(codes));
      }
    }
  }
};

struct FloatSource {
  static constexpr bool kKeepsNan = true;
  explicit FloatSource(const CodeTables &) {}
  [[gnu::always_inline]] inline void load(const uint8_t *from, int64_t count, __m512 (&value)[4]) const {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      value[i] = _mm512_maskz_loadu_ps(static_cast<__mmask16>(lane_mask(0, count - 16 * i) & 0xFFFF), from + 64 * i);
    }
  }
};

// Targets: each stores `count` elements, at most 64. Streaming stores of full vectors bypass the caches and require 64-byte
// alignment.

[[gnu::always_inline]] inline void store_vector(uint8_t *to, __m512i value, int64_t count_bytes, bool is_streamed) {
  if (count_bytes < 64) {
    _mm512_mask_storeu_epi8(to, lane_mask(0, count_bytes), value);
  } else if (is_streamed) {
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), value);
  } else {
    _mm512_storeu_si512(to, value);
  }
}

struct FloatTarget {
  static constexpr int64_t kBytes = 4;
  [[gnu::always_inline]] static inline void store(uint8_t *to, const __m512 (&value)[4], int64_t count,
                                                  bool is_streamed) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      store_vector(to + 64 * i, _mm512_castps_si512(value[i]), 4 * (count - 16 * i), is_streamed);
    }
  }
};

// Rounds to nearest even; values that are too large carry into infinity. The quiet NaN does not change, because its lower half
// is zero.
struct Bf16Target {
  static constexpr int64_t kBytes = 2;
  [[gnu::always_inline]] static inline void store(uint8_t *to, const __m512 (&value)[4], int64_t count,
                                                  bool is_streamed) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i pair = _mm512_or_si512(_mm512_slli_epi32(lane, 2), _mm512_slli_epi32(lane, 18));
    const __m512i upper_halves = _mm512_add_epi32(pair, set1(0x00030001));  // words 1, 3, 5, ...
    __m512i sum[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m512i bits = _mm512_castps_si512(value[i]);
      const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), set1(1));
      sum[i] = _mm512_add_epi32(_mm512_add_epi32(bits, set1(0x7FFF)), odd);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      store_vector(to + 64 * i, _mm512_permutex2var_epi16(sum[2 * i], upper_halves, sum[2 * i + 1]),
                   2 * (count - 32 * i), is_streamed);
    }
  }
};

struct F16Target {
  static constexpr int64_t kBytes = 2;
  [[gnu::always_inline]] static inline void store(uint8_t *to, const __m512 (&value)[4], int64_t count,
                                                  bool is_streamed) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
      const __m256i low = _mm512_cvtps_ph(value[2 * i], kNearest);
      const __m256i high = _mm512_cvtps_ph(value[2 * i + 1], kNearest);
      store_vector(to + 64 * i, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), 2 * (count - 32 * i),
                   is_streamed);
    }
  }
};

// Scales.

// Loads sixteen block scales from block `index` on; `mask` selects existing blocks.
[[gnu::always_inline]] inline __m512 load_scales(const MatrixView &view, int64_t index, __mmask16 mask) {
  if (view.format.block_scale == LPT_FORMAT_F32) {
    return _mm512_maskz_loadu_ps(mask, static_cast<const float *>(view.block_scales) + index);
  }
  const __m512i codes =
      _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, static_cast<const uint8_t *>(view.block_scales) + index));
  if (view.format.block_scale == LPT_FORMAT_E8M0FNU) return decoded(kElementE8m0fnu, codes);
  return decoded(kElementE4m3fn, codes);
}

// Loads the scales of blocks `first` to `first + count - 1`, in order of memory.
inline void fill_slab(const MatrixView &view, ScaleSlab &slab, float tensor_scale, int64_t first, int64_t count) {
  constexpr int kNanZeroInfinity = 0x80 | 0x10 | 0x08 | 0x04 | 0x02 | 0x01;
  slab.is_in_range = true;
  for (int64_t i = 0; i < count; i += 16) {
    const auto mask = static_cast<__mmask16>(lane_mask(0, count - i) & 0xFFFF);
    const __m512 scale = _mm512_mul_ps(load_scales(view, first + i, mask), _mm512_set1_ps(tensor_scale));
    slab.is_in_range &= _mm512_mask_fpclass_ps_mask(mask, scale, kNanZeroInfinity) == 0;
    _mm512_store_ps(slab.scale + i, scale);
    if (!slab.has_zeros) continue;
    _mm512_store_ps(slab.zero + i,
                    _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, view.zero_points + first + i))));
  }
}

// Replaces a NaN by the NaN of all kernels: quiet, with the sign of the element.
[[gnu::always_inline]] inline __m512 with_plain_nan(__m512 scaled_value, __m512 element) {
  const __m512i nan =
      _mm512_ternarylogic_epi32(set1(0x80000000), _mm512_castps_si512(element), set1(kFloatNanBits), 0xCA);
  return _mm512_mask_mov_ps(scaled_value, _mm512_cmp_ps_mask(scaled_value, scaled_value, _CMP_UNORD_Q),
                            _mm512_castsi512_ps(nan));
}

// Spans.

// The scales of a span, in registers.
struct SlabLanes {
  const float *scale, *zero;
  __m512i block_of_lane;
  int32_t log2_columns;
  bool has_zeros, is_in_range;

  explicit SlabLanes(const ScaleSlab &slab) : scale(slab.scale), zero(slab.zero) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    log2_columns = slab.log2_columns;
    block_of_lane = _mm512_srl_epi32(lane, _mm_cvtsi32_si128(log2_columns));
    has_zeros = slab.has_zeros;
    is_in_range = slab.is_in_range;
  }
  [[gnu::always_inline]] inline __m512 of(const float *blocks, int64_t column) const {
    return _mm512_permutexvar_ps(block_of_lane, _mm512_loadu_ps(blocks + (column >> log2_columns)));
  }
};

// Decodes `count` elements, at most 64, of which the first is in column `column` of the slab.
template <typename Source, typename Target>
[[gnu::always_inline]] inline void decode_group(const Source &source, const SlabLanes &slab, int64_t column,
                                                const uint8_t *from, uint8_t *to, int64_t count, bool is_streamed) {
  __m512 value[4];
  source.load(from, count, value);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    if (slab.has_zeros) value[i] = _mm512_sub_ps(value[i], slab.of(slab.zero, column + 16 * i));
    const __m512 scaled_value = _mm512_mul_ps(value[i], slab.of(slab.scale, column + 16 * i));
    value[i] = Source::kKeepsNan || !slab.is_in_range ? with_plain_nan(scaled_value, value[i]) : scaled_value;
  }
  Target::store(to, value, count, is_streamed);
}

// Decodes `count` adjacent elements from the first column of the slab on.
template <typename Source, typename Target>
void decode_span(const CodeTables &tables, const ScaleSlab &scales, const uint8_t *from, uint8_t *to, int64_t count,
                 bool may_stream) {
  const bool is_streamed = may_stream && reinterpret_cast<uintptr_t>(to) % 64 == 0;
  const Source source(tables);
  const SlabLanes slab(scales);
  const Prefetcher prefetcher = tables.prefetcher;
  const int64_t bits = tables.bits;
  int64_t at = 0;
  for (; at + 64 <= count; at += 64) {
    if (prefetcher.is_spread()) prefetcher.prefetch<1>(from + at * bits / 8);
    decode_group<Source, Target>(source, slab, at, from + at * bits / 8, to + at * Target::kBytes, 64, is_streamed);
  }
  if (at == count) return;
  decode_group<Source, Target>(source, slab, at, from + at * bits / 8, to + at * Target::kBytes, count - at, false);
}

// Does the same for bf16 targets; if the only scale is 1, copies the bf16 values of the tables.
inline void decode_span_bf16(const CodeTables &tables, const ScaleSlab &scales, const uint8_t *from, uint8_t *to,
                             int64_t count, bool may_stream) {
  if (!scales.is_one) return decode_span<ByteSource, Bf16Target>(tables, scales, from, to, count, may_stream);
  const bool is_streamed = may_stream && reinterpret_cast<uintptr_t>(to) % 64 == 0;
  const ByteSource source(tables);
  const Prefetcher prefetcher = tables.prefetcher;
  const int64_t bits = tables.bits;
  const int64_t whole = count / 64 * 64;
  for (int64_t at = 0; at < whole; at += 64) {
    if (prefetcher.is_spread()) prefetcher.prefetch<1>(from + at * bits / 8);
    __m512i value[2];
    source.load_bf16(from + at * bits / 8, value);
    store_vector(to + 2 * at, value[0], 64, is_streamed);
    store_vector(to + 2 * at + 64, value[1], 64, is_streamed);
  }
  decode_span<ByteSource, Bf16Target>(tables, scales, from + whole * bits / 8, to + 2 * whole, count - whole, false);
}

using DecodeSpan = void (*)(const CodeTables &, const ScaleSlab &, const uint8_t *, uint8_t *, int64_t, bool);

template <typename Source>
DecodeSpan decode_span_of(lpt_format target) {
  if (target == LPT_FORMAT_F32) return decode_span<Source, FloatTarget>;
  return target == LPT_FORMAT_BF16 ? decode_span<Source, Bf16Target> : decode_span<Source, F16Target>;
}

inline DecodeSpan decode_span_of(lpt_format source, int32_t bits, lpt_format target) {
  if (bits <= 4) return decode_span_of<NibbleSource>(target);
  if (bits <= 8 && target == LPT_FORMAT_BF16) return decode_span_bf16;
  if (bits <= 8) return decode_span_of<ByteSource>(target);
  if (bits == 32) return decode_span_of<FloatSource>(target);
  if (source == LPT_FORMAT_F16) return decode_span_of<HalfSource<LPT_FORMAT_F16>>(target);
  if (source == LPT_FORMAT_BF16) return decode_span_of<HalfSource<LPT_FORMAT_BF16>>(target);
  return decode_span_of<HalfSource<LPT_FORMAT_INT16>>(target);
}

inline void decode_matrix(const DequantizeRequest &request) {
  const lpt_format plain = request.source.format.element;
  CodeTables tables;
  const MatrixView &codes = request.source;
  const bool is_large = is_streamed_decode(request.target) && codes.row_stride == codes.columns;
  tables.prefetcher = make_prefetcher(is_large ? codes.data : nullptr, 0);
  tables.bits = 32;
  if (plain != LPT_FORMAT_F32) {
    const Element element = element_of(plain);
    tables.bits = element.bits;
    if (element.bits <= 8) fill_tables(element, tables);
  }
  const DecodeSpan decode = decode_span_of(plain, tables.bits, request.target.format.element);
  const auto fill = [&](ScaleSlab &slab, float tensor_scale, int64_t first, int64_t count) {
    fill_slab(request.source, slab, tensor_scale, first, count);
  };
  const auto span = [&](const ScaleSlab &slab, const uint8_t *from, uint8_t *to, int64_t count, bool may_stream) {
    decode(tables, slab, from, to, count, may_stream);
  };
  walk_codes(request, tables.bits, fill, span);
  _mm_sfence();
}

}  // namespace
}  // namespace lpt
