// A small element as vectors of constants, so that one code path casts to all of them. Included by an ISA file only.
//
// The path for a magnitude m, clamped to the largest element: let E be the exponent of m, or that of the smallest normal if
// larger. Adding 2^(E + 23 - M - x) rounds m to M + x mantissa bits, in the lowest bits of the sum. The mantissa of the addend
// already holds the code of the first value of exponent E. Therefore the lowest bits of the sum are the full code with x
// fraction bits. An integer is the case of one exponent.
#pragma once

#include "kernels/common/simd_avx512.hpp"
#include "src/formats/element.hpp"

namespace lpt {
namespace {

// Rounding of a path. Fraction bits of the code: none, or 16 or 9 for random rounding.
enum class Kind { kEven, kAway, kZero, kRandom16, kRandom16OfIntegers, kRandom8 };

constexpr int bits_below(Kind kind) { return kind == Kind::kRandom16 ? 16 : kind == Kind::kRandom8 ? 9 : 0; }

struct ElementLanes {
  __m512 largest;
  __m512i smallest;    // bits of the smallest normal; integers: 0
  __m512 addends[2];   // by the low five bits of the exponent field
  __m512 units;        // of an integer: 2^17 in units of its last place
  __m512i sign;        // sign bit of a code in a byte
  __m512i nan;         // magnitude code of NaN, or its only code
  __m512i all;         // the bits of a code
  __m128i sign_shift;  // from the top of a byte
  int32_t bits;
  bool is_integer;
  bool is_fnuz;
};

inline ElementLanes element_lanes(const Element &element, Kind kind) {
  ElementLanes lanes = {};
  lanes.largest = _mm512_set1_ps(decode(element, element.max_code));
  lanes.bits = element.bits;
  lanes.is_integer = element.is_integer;
  lanes.is_fnuz = element.is_fnuz;
  lanes.sign = _mm512_set1_epi8(static_cast<char>(1 << (element.bits - 1)));
  lanes.nan = _mm512_set1_epi8(static_cast<char>(element.nan_code));
  lanes.all = _mm512_set1_epi8(static_cast<char>((1 << element.bits) - 1));
  lanes.sign_shift = _mm_cvtsi32_si128(8 - element.bits);
  const uint32_t smallest = static_cast<uint32_t>(element.min_exponent + 127);
  const uint32_t kept = static_cast<uint32_t>(element.mantissa_bits + bits_below(kind));
  lanes.units = _mm512_set1_ps(bits_float(static_cast<uint32_t>(127 + 17 + element.mantissa_bits) << 23));
  lanes.smallest = _mm512_set1_epi32(element.is_integer ? 0 : static_cast<int>(smallest << 23));
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (int half = 0; half < 2; ++half) {
    const __m512i first = _mm512_set1_epi32(16 * half - static_cast<int>(smallest));
    const __m512i mask = _mm512_set1_epi32(element.is_integer ? 0 : 31);
    const __m512i above = _mm512_and_si512(_mm512_add_epi32(lane, first), mask);
    const __m512i exponent = _mm512_add_epi32(above, _mm512_set1_epi32(static_cast<int>(smallest + 23 - kept)));
    lanes.addends[half] = _mm512_castsi512_ps(_mm512_or_si512(
        _mm512_slli_epi32(exponent, 23), _mm512_sll_epi32(above, _mm_cvtsi32_si128(static_cast<int>(kept)))));
  }
  return lanes;
}

constexpr int kSmallerMagnitude = 10;  // vrangeps: the smaller magnitude, without sign
constexpr int kLargerMagnitude = 11;

// Returns the magnitude of a scaled value, at most that of the largest element. A NaN becomes the largest element.
template <Kind kKind>
[[gnu::always_inline]] inline __m512 held_magnitude(__m512 scaled_value, const ElementLanes &element) {
  if constexpr (kKind == Kind::kAway || kKind == Kind::kRandom16) {
    // A set lowest bit removes ties: a tie becomes larger than the midpoint. No element keeps that bit.
    const __m512i odd = _mm512_ternarylogic_epi32(_mm512_castps_si512(scaled_value), _mm512_set1_epi32(0x7FFFFFFF),
                                                  _mm512_set1_epi32(1), 0xEA);
    return _mm512_min_ps(_mm512_castsi512_ps(odd), element.largest);
  }
  return _mm512_range_ps(scaled_value, element.largest, kSmallerMagnitude);
}

// Returns the magnitude code with the fraction bits of kKind in the lowest bits of each lane, with undefined bits above.
template <Kind kKind>
[[gnu::always_inline]] inline __m512i rounded(__m512 scaled_value, const ElementLanes &element) {
  const __m512 held = held_magnitude<kKind>(scaled_value, element);
  if constexpr (kKind == Kind::kRandom16OfIntegers) {
    const __m512i units = _mm512_cvttps_epi32(_mm512_mul_ps(held, element.units));
    return _mm512_srli_epi32(_mm512_add_epi32(units, _mm512_set1_epi32(1)), 1);
  }
  const __m512i field = _mm512_srli_epi32(_mm512_max_epu32(_mm512_castps_si512(held), element.smallest), 23);
  const __m512 addend = _mm512_permutex2var_ps(element.addends[0], field, element.addends[1]);
  if constexpr (kKind == Kind::kZero || kKind == Kind::kRandom8) {
    return _mm512_castps_si512(_mm512_add_round_ps(held, addend, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
  }
  return _mm512_castps_si512(_mm512_add_ps(held, addend));
}

alignas(64) constexpr uint8_t kByteOfLane[64] = {0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
                                                 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124,
                                                 0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
                                                 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};

// Returns byte `byte` of each lane of four vectors, in order.
[[gnu::always_inline]] inline __m512i bytes_of_lanes(const __m512i (&lanes)[4], int byte) {
  const __m512i index = _mm512_add_epi8(_mm512_load_si512(kByteOfLane), _mm512_set1_epi8(static_cast<char>(byte)));
  return _mm512_mask_blend_epi64(0xF0, _mm512_permutex2var_epi8(lanes[0], index, lanes[1]),
                                 _mm512_permutex2var_epi8(lanes[2], index, lanes[3]));
}

// Adds 16 random bits to the 16 fraction bits; only the carry of the sum is used.
[[gnu::always_inline]] inline __m512i carried16(__m512i (&sums)[4], const RandomU16x64 &random) {
  const __m512i lane = _mm512_set_epi16(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4,
                                        4, 3, 3, 2, 2, 1, 1, 0, 0);
  const __m512i upper = _mm512_add_epi16(lane, _mm512_set1_epi16(16));
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m512i drawn =
        _mm512_maskz_permutexvar_epi16(0x55555555, i % 2 == 0 ? lane : upper, i < 2 ? random.low : random.high);
    sums[i] = _mm512_add_epi32(sums[i], drawn);
  }
  return _mm512_and_si512(bytes_of_lanes(sums, 2), _mm512_set1_epi8(0x7F));
}

alignas(64) constexpr uint8_t kOfBothHalves[64] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                                                   8,  40, 9,  41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47,
                                                   16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
                                                   24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63};
alignas(64) constexpr uint8_t kUpperOfWord[64] = {
    1,  3,  5,  7,  9,  11, 13,  15,  17,  19,  21,  23,  25,  27,  29,  31,  33,  35,  37,  39, 41, 43,
    45, 47, 49, 51, 53, 55, 57,  59,  61,  63,  65,  67,  69,  71,  73,  75,  77,  79,  81,  83, 85, 87,
    89, 91, 93, 95, 97, 99, 101, 103, 105, 107, 109, 111, 113, 115, 117, 119, 121, 123, 125, 127};
alignas(64) constexpr uint16_t kLowerOfLane[32] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                                   32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};

// psi + 2R + 1 >= 2^9 of encode() is a carry out of nine bits; vpavgw adds the one and drops the last bit.
[[gnu::always_inline]] inline __m512i carried8(const __m512i (&sums)[4], __m512i random) {
  const __m512i index = _mm512_load_si512(kLowerOfLane);
  const __m512i low = _mm512_permutex2var_epi16(sums[0], index, sums[1]);
  const __m512i high = _mm512_permutex2var_epi16(sums[2], index, sums[3]);
  const __m512i halves = _mm512_permutexvar_epi8(_mm512_load_si512(kOfBothHalves), random);
  const __m512i low_twice = _mm512_maddubs_epi16(halves, _mm512_set1_epi16(2));
  const __m512i high_twice = _mm512_maddubs_epi16(halves, _mm512_set1_epi16(2 << 8));
  return _mm512_permutex2var_epi8(_mm512_avg_epu16(low, low_twice), _mm512_load_si512(kUpperOfWord),
                                  _mm512_avg_epu16(high, high_twice));
}

// Returns the magnitude codes of 64 scaled values, one per byte.
template <Kind kKind>
[[gnu::always_inline]] inline __m512i magnitudes_of(const __m512 (&scaled_values)[4], const ElementLanes &element,
                                                    const RandomU16x64 &random) {
  __m512i sums[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) sums[i] = rounded<kKind>(scaled_values[i], element);
  if constexpr (kKind == Kind::kRandom16 || kKind == Kind::kRandom16OfIntegers) return carried16(sums, random);
  if constexpr (kKind == Kind::kRandom8) return carried8(sums, random.low);
  return bytes_of_lanes(sums, 0);
}

// Returns codes from magnitude codes and bytes that have the signs of the elements in their top bits.
[[gnu::always_inline]] inline __m512i signed_codes(__m512i magnitudes, __m512i signs, const ElementLanes &element) {
  if (element.is_integer) {
    const __mmask64 is_negative = _mm512_movepi8_mask(signs);
    const __m512i codes = _mm512_mask_sub_epi8(magnitudes, is_negative, _mm512_setzero_si512(), magnitudes);
    return element.bits == 8 ? codes : _mm512_and_si512(codes, element.all);
  }
  if (element.is_fnuz) [[unlikely]]
    signs = _mm512_maskz_mov_epi8(_mm512_test_epi8_mask(magnitudes, magnitudes), signs);
  if (element.bits != 8) signs = _mm512_srl_epi16(signs, element.sign_shift);
  return _mm512_ternarylogic_epi32(element.sign, signs, magnitudes, 0xCA);
}

// Returns the code of NaN with the given signs, if the element has signed NaN.
inline __m512i nan_codes(__m512i signs, const ElementLanes &element) {
  if (element.is_integer || element.is_fnuz) return element.nan;
  return _mm512_ternarylogic_epi32(element.sign, _mm512_srl_epi16(signs, element.sign_shift), element.nan, 0xCA);
}

// Packs the codes of 64 elements from the lowest byte on.
[[gnu::always_inline]] inline __m512i packed(__m512i codes, int32_t bits) {
  if (bits == 8) return codes;
  if (bits == 4) {
    const __m512i pairs = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x1001));
    return _mm512_castsi256_si512(_mm512_cvtepi16_epi8(pairs));
  }
  if (bits == 6) {
    const __m512i pairs = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x4001));
    const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x10000001));
    const __m128i three = _mm_set_epi8(-1, -1, -1, -1, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0);
    const __m512i quarters = _mm512_shuffle_epi8(fours, _mm512_broadcast_i32x4(three));
    return _mm512_permutexvar_epi32(_mm512_set_epi32(3, 3, 3, 3, 14, 13, 12, 10, 9, 8, 6, 5, 4, 2, 1, 0), quarters);
  }
  const __m512i pairs = _mm512_maddubs_epi16(codes, _mm512_set1_epi16(0x0401));
  const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00100001));
  return _mm512_castsi128_si512(_mm512_cvtepi32_epi8(fours));
}

// Stores the first `count` of 64 elements and clears the remaining bits of the last byte.
[[gnu::noinline]] inline void store_some(uint8_t *to, __m512i codes, int32_t bits, int64_t count) {
  const __m512i kept = _mm512_maskz_mov_epi8(lane_mask(0, count), codes);
  _mm512_mask_storeu_epi8(to, lane_mask(0, (count * bits + 7) / 8), packed(kept, bits));
}

// Bypasses the caches if `is_streamed`, which requires alignment to full vectors.
[[gnu::always_inline]] inline void store_codes(uint8_t *to, __m512i codes, int32_t bits, int64_t count,
                                               bool is_streamed) {
  if (count < 64) [[unlikely]]
    return store_some(to, codes, bits, count);
  const __m512i bytes = packed(codes, bits);
  if (bits == 8) {
    if (is_streamed) {
      _mm512_stream_si512(reinterpret_cast<__m512i *>(to), bytes);
    } else {
      _mm512_storeu_si512(to, bytes);
    }
  } else if (bits == 4 && is_streamed) {
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to), _mm512_castsi512_si256(bytes));
  } else if (bits == 4) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm512_castsi512_si256(bytes));
  } else if (bits == 6) {
    _mm512_mask_storeu_epi8(to, 0xFFFFFFFFFFFF, bytes);
  } else {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm512_castsi512_si128(bytes));
  }
}

}  // namespace
}  // namespace lpt
