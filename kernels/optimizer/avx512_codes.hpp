// AVX-512 functions for the loops of a step: 8-bit codes, tables of f32 and random bits.
#pragma once

#include "kernels/common/simd_avx512.hpp"
#include "src/formats/element.hpp"

namespace lpt {

// The f32 values of the 128 magnitude codes, whose lower 16 bits are zero: `high` has bits 24 to 31, `low` bits 16 to 23.
// places[i] are the vpermi2b indices that combine both to vector i of four.
struct ByteNumbers {
  __m512i high[2], low[2], places[4];
};

// Constants for encoding an 8-bit element: see store_nearest().
struct ByteCodes {
  __m512 largest;
  __m512i smallest;   // bits of the smallest normal value
  __m512 addends[2];  // indexed by the low five bits of the exponent field
};

alignas(64) constexpr uint8_t kFirstBytes[64] = {0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
                                                 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124,
                                                 0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
                                                 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};

// 8-bit codes, four vectors at a time.

// Returns byte `byte` of the 64 lanes of four vectors.
static inline __m512i bytes_of_lanes(const __m512i (&lanes)[4], int byte) {
  const __m512i index = _mm512_add_epi8(_mm512_load_si512(kFirstBytes), _mm512_set1_epi8(static_cast<char>(byte)));
  return _mm512_mask_blend_epi64(0xF0, _mm512_permutex2var_epi8(lanes[0], index, lanes[1]),
                                 _mm512_permutex2var_epi8(lanes[2], index, lanes[3]));
}

static inline void store_u8(uint8_t *to, const I32 (&codes)[4]) {
  const __m512i lanes[4] = {bits_of(codes[0]), bits_of(codes[1]), bits_of(codes[2]), bits_of(codes[3])};
  _mm512_storeu_si512(to, bytes_of_lanes(lanes, 0));
}
static inline void store_u16(uint8_t *to, const I32 (&codes)[4]) {
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to) + i, _mm512_cvtepi32_epi16(bits_of(codes[i])));
  }
}

static inline F32 number_of_bytes(const Element &layout, __m128i codes) {
  const __m256i halves = _mm256_cvtepu8_epi16(codes);
  if (layout.mantissa_bits == 2) return _mm512_cvtph_ps(_mm256_slli_epi16(halves, 8));
  const __m512 values = _mm512_cvtph_ps(_mm256_slli_epi16(halves, 7)) * _mm512_set1_ps(256.0f);
  const auto above = [&](uint32_t code) {
    return _mm256_cmpgt_epi16_mask(halves, _mm256_set1_epi16(static_cast<int16_t>(code)));
  };
  const __m512 infinities = _mm512_mask_mov_ps(values, above(layout.max_code), _mm512_set1_ps(__builtin_inff()));
  const uint32_t last = layout.infinity_code == layout.nan_code ? layout.max_code : layout.infinity_code;
  return _mm512_mask_mov_ps(infinities, above(last), _mm512_set1_ps(__builtin_nanf("")));
}

static inline ByteNumbers byte_numbers(const Element &layout) {
  ByteNumbers numbers;
  alignas(64) uint8_t bytes[2][128];
  for (int code = 0; code < 128; code += 16) {
    const __m128i codes = _mm_add_epi8(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                       _mm_set1_epi8(static_cast<char>(code)));
    const __m512i values = _mm512_castps_si512(number_of_bytes(layout, codes));
    _mm_store_si128(reinterpret_cast<__m128i *>(bytes[0] + code), _mm512_cvtepi32_epi8(_mm512_srli_epi32(values, 24)));
    _mm_store_si128(reinterpret_cast<__m128i *>(bytes[1] + code), _mm512_cvtepi32_epi8(_mm512_srli_epi32(values, 16)));
  }
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int i = 0; i < 4; ++i) {
    if (i < 2) {
      numbers.high[i] = _mm512_load_si512(bytes[0] + 64 * i);
      numbers.low[i] = _mm512_load_si512(bytes[1] + 64 * i);
    }
    const __m512i place = _mm512_add_epi32(lane, _mm512_set1_epi32(16 * i));
    numbers.places[i] = _mm512_or_si512(_mm512_slli_epi32(place, 24),
                                        _mm512_slli_epi32(_mm512_add_epi32(place, _mm512_set1_epi32(64)), 16));
  }
  return numbers;
}

[[gnu::always_inline]] static inline void decode(const ByteNumbers &numbers, const uint8_t *from, F32 (&out)[4]) {
  const __m512i codes = _mm512_loadu_si512(from);
  const __m512i magnitudes = _mm512_permutex2var_epi8(numbers.high[0], codes, numbers.high[1]);
  const __m512i high = _mm512_ternarylogic_epi32(magnitudes, codes, _mm512_set1_epi8(-128), 0xF8);
  const __m512i low = _mm512_permutex2var_epi8(numbers.low[0], codes, numbers.low[1]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm512_castsi512_ps(_mm512_maskz_permutex2var_epi8(0xCCCCCCCCCCCCCCCC, high, numbers.places[i], low));
  }
}

static inline ByteCodes byte_codes(const Element &layout) {
  ByteCodes codes;
  const int32_t smallest = layout.min_exponent + 127;
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int half = 0; half < 2; ++half) {
    const __m512i above =
        _mm512_and_si512(_mm512_add_epi32(lane, _mm512_set1_epi32(16 * half - smallest)), _mm512_set1_epi32(31));
    const __m512i exponent = _mm512_add_epi32(above, _mm512_set1_epi32(smallest + 23 - layout.mantissa_bits));
    codes.addends[half] = _mm512_castsi512_ps(_mm512_or_si512(
        _mm512_slli_epi32(exponent, 23), _mm512_sll_epi32(above, _mm_cvtsi32_si128(layout.mantissa_bits))));
  }
  codes.largest = _mm512_set1_ps(decode(layout, layout.max_code));
  codes.smallest = _mm512_set1_epi32(smallest << 23);
  return codes;
}

static inline __mmask64 nonzero_of(const float *from) {
  __mmask64 mask = 0;
  const __m512i all_but_sign = _mm512_set1_epi32(0x7FFFFFFF);
  for (int i = 0; i < 4; ++i) {
    mask |= uint64_t{_mm512_test_epi32_mask(bits_of(i32_of(load(from + 16 * i))), all_but_sign)} << (16 * i);
  }
  return mask;
}

// Returns 64 bytes. The highest bit of each is the sign of an element.
[[gnu::always_inline]] static inline __m512i sign_bytes(const float *from) {
  const __m512i numbers[4] = {bits_of(i32_of(load(from))), bits_of(i32_of(load(from + 16))),
                              bits_of(i32_of(load(from + 32))), bits_of(i32_of(load(from + 48)))};
  return bytes_of_lanes(numbers, 3);
}

// Stores the codes of four vectors, rounded to nearest even. E is the larger of the exponent of a magnitude and that of the
// smallest normal value, Emin. M is the number of mantissa bits. Adding 2^(E + 23 - M) rounds the magnitude to M mantissa bits
// and moves them to the low bits of the sum. The addend also holds (E - Emin) · 2^M, so that the lowest byte of the sum is the
// code.
//
// kIsSigned: elements can be negative. kIsClamped: nonzero elements get a nonzero code. kSaturates: magnitudes above the largest
// value are saturated.
template <bool kIsSigned, bool kIsClamped, bool kSaturates = false>
[[gnu::always_inline]] static inline void store_nearest(const ByteCodes &element, const float *from, F32 inverse,
                                                        uint8_t *to) {
  __m512i sums[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    __m512 scaled = load(from + 16 * i) * inverse;
    if (kIsSigned) scaled = _mm512_abs_ps(scaled);
    if (kSaturates) scaled = _mm512_min_ps(scaled, element.largest);
    const __m512i field = _mm512_srli_epi32(_mm512_max_epu32(_mm512_castps_si512(scaled), element.smallest), 23);
    sums[i] = _mm512_castps_si512(scaled + _mm512_permutex2var_ps(element.addends[0], field, element.addends[1]));
  }
  __m512i codes = bytes_of_lanes(sums, 0);
  // Makes the compiler reload the elements from memory instead of spilling them to the stack.
  asm("" : "+r"(from));
  if (kIsClamped) {
    const __mmask64 is_zero = _mm512_testn_epi8_mask(codes, codes);
    if (is_zero != 0) [[unlikely]]
      codes = _mm512_mask_mov_epi8(codes, is_zero & nonzero_of(from), _mm512_set1_epi8(1));
  }
  if (kIsSigned) codes = _mm512_ternarylogic_epi32(codes, sign_bytes(from), _mm512_set1_epi8(-128), 0xF8);
  _mm512_storeu_si512(to, codes);
}

// Tables of f32. The low bits of an index select the entry.

using Table8 = __m512;
struct Table256 {
  __m512i bytes[4][4];  // bytes[i]: byte i of all 256 values
};

static inline Table8 numbers8(const float *from) {
  return _mm512_castsi512_ps(_mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
}

// Reads 64 values. planes[i] has byte i of each value.
static inline void byte_planes(const float *from, __m512i (&planes)[4]) {
  __m512i numbers[4];
  for (int i = 0; i < 4; ++i) numbers[i] = bits_of(i32_of(load(from + 16 * i)));
  for (int byte = 0; byte < 4; ++byte) planes[byte] = bytes_of_lanes(numbers, byte);
}
static inline Table256 numbers256(const float *from) {
  Table256 numbers;
  for (int i = 0; i < 4; ++i) {
    __m512i planes[4];
    byte_planes(from + 64 * i, planes);
    for (int byte = 0; byte < 4; ++byte) numbers.bytes[byte][i] = planes[byte];
  }
  return numbers;
}

// Combines planes of bytes, in the order of transposed(), to 64 dwords in the order of the elements.
[[gnu::always_inline]] static inline void interleave(const __m512i (&planes)[4], F32 (&out)[4]) {
  const __m512i low[2] = {_mm512_unpacklo_epi8(planes[0], planes[1]), _mm512_unpackhi_epi8(planes[0], planes[1])};
  const __m512i high[2] = {_mm512_unpacklo_epi8(planes[2], planes[3]), _mm512_unpackhi_epi8(planes[2], planes[3])};
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    out[2 * i] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(low[i], high[i]));
    out[2 * i + 1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(low[i], high[i]));
  }
}
// Transposes a matrix of 4 × 4 dwords, which is the order that interleave() requires.
[[gnu::always_inline]] static inline __m512i transposed(__m512i bytes) {
  return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), bytes);
}

static inline F32 look_up(const Table8 &numbers, I32 index) { return _mm512_permutexvar_ps(bits_of(index), numbers); }
[[gnu::always_inline]] static inline void look_up(const Table256 &numbers, const uint8_t *codes, F32 (&out)[4]) {
  const __m512i index = transposed(_mm512_loadu_si512(codes));
  const __mmask64 is_upper = _mm512_movepi8_mask(index);
  __m512i found[4];
#pragma GCC unroll 4
  for (int byte = 0; byte < 4; ++byte) {
    const __m512i(&table)[4] = numbers.bytes[byte];
    found[byte] = _mm512_mask_mov_epi8(_mm512_permutex2var_epi8(table[0], index, table[1]), is_upper,
                                       _mm512_permutex2var_epi8(table[2], index, table[3]));
  }
  interleave(found, out);
}

// Decade of a dynamic tree, by the low five bits of an exponent field: the decade of the smallest value with this field, and
// the key above which the next decade begins.
struct Decades {
  __m512i first[2], ends[2];
};
static inline Decades decades(const int32_t *, const int32_t *first_of_fields, const int32_t *ends_of_fields) {
  return {{_mm512_loadu_si512(first_of_fields), _mm512_loadu_si512(first_of_fields + 16)},
          {_mm512_loadu_si512(ends_of_fields), _mm512_loadu_si512(ends_of_fields + 16)}};
}
[[gnu::always_inline]] static inline I32 look_up(const Decades &numbers, I32 field, I32 key) {
  const auto found = [&](const __m512i(&table)[2]) {
    return i32_of(_mm512_permutex2var_epi32(table[0], bits_of(field), table[1]));
  };
  return found(numbers.first) - (key > found(numbers.ends));
}

// Fixed-point codes with 16 fraction bits.

// Returns the smaller fractions in the low 16 bits of each lane. The high 16 bits are unspecified.
[[gnu::always_inline]] static inline I32 min_fractions(I32 a, I32 b) {
  return i32_of(_mm512_min_epu16(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline bool has_fraction_below(I32 codes, int32_t limit) {
  return _mm512_mask_cmplt_epu16_mask(0x55555555, bits_of(codes), _mm512_set1_epi16(static_cast<int16_t>(limit))) != 0;
}
[[gnu::always_inline]] static inline __m512i integer_bytes(const I32 (&lanes)[4]) {
  const __m512i bits[4] = {bits_of(lanes[0]), bits_of(lanes[1]), bits_of(lanes[2]), bits_of(lanes[3])};
  return bytes_of_lanes(bits, 2);
}
[[gnu::always_inline]] static inline void store_fixed(uint8_t *to, const I32 (&lanes)[4]) {
  _mm512_storeu_si512(to, integer_bytes(lanes));
}
// Stores middle + integer part, or max(middle - integer part, 0) for a negative element of `from`.
[[gnu::always_inline]] static inline void store_fixed_around(uint8_t *to, const I32 (&lanes)[4], const float *from,
                                                             int32_t middle) {
  const __m512i bytes = integer_bytes(lanes), middles = _mm512_set1_epi8(static_cast<char>(middle));
  _mm512_storeu_si512(to, _mm512_mask_subs_epu8(_mm512_add_epi8(middles, bytes), _mm512_movepi8_mask(sign_bytes(from)),
                                                middles, bytes));
}
// Stores integer parts below 128 with the signs of the elements of `from` in bit 7.
[[gnu::always_inline]] static inline void store_fixed_with_signs(uint8_t *to, const I32 (&lanes)[4],
                                                                 const float *from) {
  _mm512_storeu_si512(to,
                      _mm512_ternarylogic_epi32(integer_bytes(lanes), sign_bytes(from), _mm512_set1_epi8(-128), 0xF8));
}

// Tables of 128 magnitudes. The index is an 8-bit code, whose highest bit is the sign.

struct Magnitudes {
  __m512i bytes[4][2];  // bytes[i]: byte i of all 128 values
};
static inline Magnitudes magnitudes(const float *from) {
  Magnitudes numbers;
  for (int i = 0; i < 2; ++i) {
    __m512i planes[4];
    byte_planes(from + 64 * i, planes);
    for (int byte = 0; byte < 4; ++byte) numbers.bytes[byte][i] = planes[byte];
  }
  return numbers;
}
[[gnu::always_inline]] static inline void look_up(const Magnitudes &numbers, const uint8_t *codes, F32 (&out)[4]) {
  const __m512i index = transposed(_mm512_loadu_si512(codes));
  __m512i found[4];
#pragma GCC unroll 4
  for (int byte = 0; byte < 4; ++byte) {
    found[byte] = _mm512_permutex2var_epi8(numbers.bytes[byte][0], index, numbers.bytes[byte][1]);
  }
  found[3] = _mm512_ternarylogic_epi32(found[3], index, _mm512_set1_epi8(-128), 0xF8);
  interleave(found, out);
}

// Codes of expanded magnitudes: see step_expanded.hpp.

// Tables of integers. The low four bits of an index select the entry; negative indices use `negative`.
struct AddendTables {
  __m512i positive, negative;
};
static inline AddendTables additions(const int32_t *positive, const int32_t *negative) {
  return {_mm512_loadu_si512(positive), _mm512_loadu_si512(negative)};
}
[[gnu::always_inline]] static inline I32 look_up(const AddendTables &numbers, I32 index) {
  const __m512i bits = bits_of(index);
  return i32_of(_mm512_mask_permutexvar_epi32(_mm512_permutexvar_epi32(bits, numbers.positive),
                                              _mm512_movepi32_mask(bits), bits, numbers.negative));
}
// |x| = significand · 2^exponent, with 1 <= significand < 2. The exponent of 0 is -infinity.
[[gnu::always_inline]] static inline F32 exponents_of(F32 x) { return _mm512_getexp_ps(x); }
[[gnu::always_inline]] static inline F32 significands_of(F32 x) {
  return _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
}

// Random bits of eight Philox blocks.

static constexpr int64_t kRandomBytes = 128;
static inline void random_bytes(const PhiloxLanes &lanes, uint64_t block, int32_t rounds, uint8_t *to) {
  const RandomU16x64 drawn = random_blocks(lanes, block, rounds);
  _mm512_storeu_si512(to, drawn.low);
  _mm512_storeu_si512(to + 64, drawn.high);
}

}  // namespace lpt
