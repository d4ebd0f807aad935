// AVX2 functions for the loops of a step: 8-bit codes, tables of f32 and random bits.
#pragma once

#include "kernels/common/simd_avx2.hpp"
#include "src/formats/element.hpp"

namespace lpt {

// Constants for decoding 8-bit codes through f16. `special` is ORed to values above last_finite: the bits of infinity, or of
// NaN if the element has no infinity.
struct ByteNumbers {
  bool is_e5m2;
  __m128i last_finite;
  __m256i special;
};

// Constants for encoding an 8-bit element: see store_nearest().
struct ByteCodes {
  __m256 largest;
  __m256i least, raise;
  __m128i dropped;
};

// 8-bit codes, four vectors at a time.

// Returns byte 0 of each lane. Dword i of each 128-bit half holds the bytes of four lanes of vector i.
static inline __m256i first_bytes(const __m256i (&lanes)[4]) {
  const __m256i mask = _mm256_set1_epi32(0xFF);
  const __m256i low = _mm256_packus_epi32(_mm256_and_si256(lanes[0], mask), _mm256_and_si256(lanes[1], mask));
  const __m256i high = _mm256_packus_epi32(_mm256_and_si256(lanes[2], mask), _mm256_and_si256(lanes[3], mask));
  return _mm256_packus_epi16(low, high);
}
// Changes the order of first_bytes() to the order of the elements.
static inline __m256i in_order(__m256i bytes) {
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline void store_u8(uint8_t *to, const I32 (&codes)[4]) {
  const __m256i lanes[4] = {bits_of(codes[0]), bits_of(codes[1]), bits_of(codes[2]), bits_of(codes[3])};
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), in_order(first_bytes(lanes)));
}
static inline void store_u16(uint8_t *to, const I32 (&codes)[4]) {
  for (int i = 0; i < 4; i += 2) {
    const __m256i halves = _mm256_packus_epi32(bits_of(codes[i]), bits_of(codes[i + 1]));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 16 * i), _mm256_permute4x64_epi64(halves, 0xD8));
  }
}

static inline ByteNumbers byte_numbers(const Element &layout) {
  const bool is_infinite = layout.infinity_code != layout.nan_code;
  return {layout.mantissa_bits == 2, _mm_set1_epi16(static_cast<int16_t>(layout.max_code)),
          _mm256_set1_epi32(is_infinite ? 0x7F800000 : 0x7FC00000)};
}

// Decodes by the f16 conversion of the CPU. e5m2 is the upper half of f16. The other elements have fewer exponents than f16, so
// that no f16 is infinite.
[[gnu::always_inline]] static inline void decode(const ByteNumbers &numbers, const uint8_t *from, F32 (&out)[4]) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m128i codes = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from + 8 * i)));
    if (numbers.is_e5m2) {
      out[i] = _mm256_cvtph_ps(_mm_slli_epi16(codes, 8));
      continue;
    }
    const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi16(0x7F));
    const __m128i sign = _mm_slli_epi16(_mm_xor_si128(codes, magnitude), 8);
    const __m256 value = _mm256_cvtph_ps(_mm_or_si128(sign, _mm_slli_epi16(magnitude, 7))) * _mm256_set1_ps(256.0f);
    const __m256i is_special = _mm256_cvtepi16_epi32(_mm_cmpgt_epi16(magnitude, numbers.last_finite));
    out[i] = _mm256_or_ps(value, _mm256_castsi256_ps(_mm256_and_si256(is_special, numbers.special)));
  }
}

static inline ByteCodes byte_codes(const Element &layout) {
  const int32_t field = layout.min_exponent + 127, dropped = 23 - layout.mantissa_bits;
  return {_mm256_set1_ps(decode(layout, layout.max_code)), _mm256_set1_epi32(field << 23),
          _mm256_set1_epi32((dropped << 23) - (field << layout.mantissa_bits)), _mm_cvtsi32_si128(dropped)};
}

// Returns 1 for each nonzero element, in the order of first_bytes().
static inline __m256i nonzero_of(const __m256 (&numbers)[4]) {
  __m256i flags[4];
  for (int i = 0; i < 4; ++i) flags[i] = bits_of(_mm256_cmp_ps(numbers[i], _mm256_setzero_ps(), _CMP_NEQ_UQ));
  const __m256i bytes =
      _mm256_packs_epi16(_mm256_packs_epi32(flags[0], flags[1]), _mm256_packs_epi32(flags[2], flags[3]));
  return _mm256_abs_epi8(bytes);
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
  __m256i sums[4];
  __m256 numbers[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    numbers[i] = _mm256_loadu_ps(from + 8 * i);
    __m256 scaled = numbers[i] * inverse;
    if (kIsSigned) scaled = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), scaled);
    if (kSaturates) scaled = _mm256_min_ps(scaled, element.largest);
    const __m256i exponent = _mm256_and_si256(_mm256_castps_si256(scaled), _mm256_set1_epi32(0x7F800000));
    const __m256i field = _mm256_max_epi32(exponent, element.least);
    const __m256i addend =
        _mm256_add_epi32(_mm256_add_epi32(field, element.raise), _mm256_srl_epi32(field, element.dropped));
    sums[i] = _mm256_castps_si256(scaled + _mm256_castsi256_ps(addend));
  }
  __m256i codes = first_bytes(sums);
  // Packing with signed saturation keeps the signs.
  const __m256i signs = _mm256_packs_epi16(_mm256_packs_epi32(bits_of(numbers[0]), bits_of(numbers[1])),
                                           _mm256_packs_epi32(bits_of(numbers[2]), bits_of(numbers[3])));
  if (kIsClamped) codes = _mm256_max_epu8(codes, nonzero_of(numbers));
  if (kIsSigned) codes = _mm256_or_si256(codes, _mm256_and_si256(signs, _mm256_set1_epi8(-128)));
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), in_order(codes));
}

// Tables of f32. The low bits of an index select the entry.

using Table8 = __m256;
struct Table256 {
  const float *from;
};
static inline Table8 numbers8(const float *from) { return _mm256_loadu_ps(from); }
static inline Table256 numbers256(const float *from) { return {from}; }

static inline F32 gathered(const float *from, I32 index, int32_t mask) {
  return _mm256_i32gather_ps(from, bits_of(index & mask), 4);
}
static inline F32 look_up(const Table8 &numbers, I32 index) {
  return _mm256_permutevar8x32_ps(numbers, bits_of(index));
}
static inline void look_up(const Table256 &numbers, const uint8_t *index, F32 (&out)[4]) {
  for (int i = 0; i < 4; ++i) out[i] = gathered(numbers.from, load_u8_as_i32(index + 8 * i), 255);
}

// Decade of a dynamic tree: the number of decades, of the first seven, that end below a key. Seven comparisons are faster than
// gathers.
struct Decades {
  I32 ends[7];
};
static inline Decades decades(const int32_t *ends, const int32_t *, const int32_t *) {
  Decades result;
  for (int i = 0; i < 7; ++i) result.ends[i] = broadcast_i32(ends[i]);
  return result;
}
[[gnu::always_inline]] static inline I32 look_up(const Decades &numbers, I32, I32 key) {
  I32 decade = i32_of(_mm256_setzero_si256());
#pragma GCC unroll 7
  for (int i = 0; i < 7; ++i) decade -= key > numbers.ends[i];
  return decade;
}

// Fixed-point codes with 16 fraction bits.

// Returns the smaller fractions in the low 16 bits of each lane. The high 16 bits are unspecified.
[[gnu::always_inline]] static inline I32 min_fractions(I32 a, I32 b) {
  return i32_of(_mm256_min_epu16(bits_of(a), bits_of(b)));
}
[[gnu::always_inline]] static inline bool has_fraction_below(I32 codes, int32_t limit) {
  return lanes_below(reinterpret_cast<U32>(codes & 0xFFFF), static_cast<uint32_t>(limit)) != 0;
}
[[gnu::always_inline]] static inline void store_fixed(uint8_t *to, const I32 (&lanes)[4]) {
  const I32 codes[4] = {lanes[0] >> 16, lanes[1] >> 16, lanes[2] >> 16, lanes[3] >> 16};
  store_u8(to, codes);
}
// Stores middle + integer part, or max(middle - integer part, 0) for a negative element of `from`.
[[gnu::always_inline]] static inline void store_fixed_around(uint8_t *to, const I32 (&lanes)[4], const float *from,
                                                             int32_t middle) {
  I32 codes[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const I32 sign = i32_of(load(from + 8 * i)) >> 31;
    codes[i] = max(((lanes[i] >> 16) ^ sign) - sign + middle, broadcast_i32(0));
  }
  store_u8(to, codes);
}
// Stores integer parts below 128 with the signs of the elements of `from` in bit 7.
[[gnu::always_inline]] static inline void store_fixed_with_signs(uint8_t *to, const I32 (&lanes)[4],
                                                                 const float *from) {
  I32 codes[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    codes[i] = ((lanes[i] >> 16) & 0x7F) | ((i32_of(load(from + 8 * i)) >> 24) & 0x80);
  }
  store_u8(to, codes);
}

// Tables of 128 magnitudes. The index is an 8-bit code, whose highest bit is the sign.

struct Magnitudes {
  float numbers[128];
};
static inline Magnitudes magnitudes(const float *from) {
  Magnitudes result;
  __builtin_memcpy(result.numbers, from, sizeof result.numbers);
  return result;
}
static inline void look_up(const Magnitudes &numbers, const uint8_t *codes, F32 (&out)[4]) {
  for (int i = 0; i < 4; ++i) {
    const I32 code = load_u8_as_i32(codes + 8 * i);
    out[i] = with_sign_of(gathered(numbers.numbers, code, 127), f32_of(code << 24));
  }
}

// Codes of expanded magnitudes: see step_expanded.hpp.

// Tables of integers. The low three bits of a nonnegative index select the entry of `positive`, the low four bits of a negative
// index that of `negative`.
struct AddendTables {
  __m256i positive, negative[2];
};
static inline AddendTables additions(const int32_t *positive, const int32_t *negative) {
  const auto vector = [](const int32_t *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); };
  return {vector(positive), {vector(negative), vector(negative + 8)}};
}
[[gnu::always_inline]] static inline I32 look_up(const AddendTables &numbers, I32 index) {
  const auto permuted = [&](__m256i table) {
    return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(table, bits_of(index)));
  };
  const F32 negative =
      _mm256_blendv_ps(permuted(numbers.negative[0]), permuted(numbers.negative[1]), f32_of(index << 28));
  return i32_of(_mm256_blendv_ps(permuted(numbers.positive), negative, f32_of(index)));
}
// |x| = significand · 2^exponent, with 1 <= significand < 2, for normal values. The exponent of 0 is -infinity.
[[gnu::always_inline]] static inline F32 exponents_of(F32 x) {
  const F32 exponent = f32_of_i32((i32_of(abs(x)) >> 23) - 127);
  return select(is_equal(x, broadcast(0.0f)), broadcast(-__builtin_inff()), exponent);
}
[[gnu::always_inline]] static inline F32 significands_of(F32 x) {
  return f32_of((i32_of(x) & 0x007FFFFF) | 0x3F800000);
}

// Random bits of four Philox blocks.

static constexpr int64_t kRandomBytes = 64;
static inline void random_bytes(const PhiloxLanes &lanes, uint64_t block, int32_t rounds, uint8_t *to) {
  store_random_blocks(lanes, block, rounds, to);
}

}  // namespace lpt
