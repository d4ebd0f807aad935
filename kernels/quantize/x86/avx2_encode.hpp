// Encodes f32 to codes of at most 8 bits with AVX2, 32 per step. Included by an ISA file only.
//
// Vectors encode only finite scaled values. A group with another scaled value is rejected, and the reference kernel casts it.
#pragma once

#include "kernels/quantize/x86/avx2_lanes.hpp"

namespace lpt {
namespace {

enum class Rounding { kNearest, kDown, kDrawn16, kDrawn8 };

constexpr bool is_drawn(Rounding rounding) { return rounding == Rounding::kDrawn16 || rounding == Rounding::kDrawn8; }

// Fraction bits of a code before truncation: one more than the random bits.
constexpr int32_t bits_behind(Rounding rounding) {
  return rounding == Rounding::kDrawn16 ? 17 : rounding == Rounding::kDrawn8 ? 9 : 0;
}

constexpr int64_t random_bytes(Rounding rounding) { return rounding == Rounding::kDrawn16 ? 2 : 1; }

// Kind of element. kUnsigned is a float without sign; kList is a table of levels, which rounds to nearest only.
enum class Elements { kFloat, kInteger, kUnsigned, kList };

inline Elements elements_of(const Element &element) {
  if (element.levels != nullptr) return Elements::kList;
  if (element.is_integer) return Elements::kInteger;
  return element.is_signed ? Elements::kFloat : Elements::kUnsigned;
}

// An element and a rounding mode.
struct Coder {
  Element element;
  Rounding rounding;
  float limit;  // magnitudes are clamped to this value before rounding
};

// Returns the value of the code after the largest one, with the exponent range extended.
inline float next_number(const Element &element) {
  const uint32_t code = element.infinity_code;
  const uint32_t field = (code >> element.mantissa_bits) + static_cast<uint32_t>(element.min_exponent + 126);
  const uint32_t fraction = code & ((1u << element.mantissa_bits) - 1);
  return bits_float(field << 23 | fraction << (23 - element.mantissa_bits));
}

inline Coder coder_of(const QuantizeRequest &request) {
  const Element element = element_of(request.target.format.element);
  Rounding rounding = request.rounding == LPT_ROUNDING_TOWARD_ZERO ? Rounding::kDown : Rounding::kNearest;
  if (request.rounding == LPT_ROUNDING_STOCHASTIC) {
    rounding = request.random.bits == 16 ? Rounding::kDrawn16 : Rounding::kDrawn8;
  }
  if (element.levels != nullptr) return {element, Rounding::kNearest, 0};
  const bool goes_on = request.overflow == LPT_OVERFLOW_INFINITE && element.infinity_code > element.max_code;
  float limit = goes_on ? next_number(element) : decode(element, element.max_code);
  if (element.is_integer) limit = static_cast<float>(element.max_code);
  return {element, rounding, limit};
}

// Full vectors, because gcc otherwise broadcasts a half vector for each use.
alignas(32) constexpr int8_t kLowBytes[4][32] = {{0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                  0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
                                                 {-1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1,
                                                  -1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1},
                                                 {-1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1,
                                                  -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1, -1, -1, -1},
                                                 {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                                                  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12}};
alignas(32) constexpr int8_t kBytePairs[32] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,
                                               0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};

// Collects byte 0 of the lanes: dword i of each half holds four of vector i.
[[gnu::always_inline]] inline __m256i low_bytes(const __m256i (&lanes)[4]) {
  const __m256i first = _mm256_shuffle_epi8(lanes[0], load_bytes(kLowBytes[0]));
  const __m256i second = _mm256_shuffle_epi8(lanes[1], load_bytes(kLowBytes[1]));
  const __m256i third = _mm256_shuffle_epi8(lanes[2], load_bytes(kLowBytes[2]));
  const __m256i fourth = _mm256_shuffle_epi8(lanes[3], load_bytes(kLowBytes[3]));
  return _mm256_or_si256(_mm256_or_si256(first, second), _mm256_or_si256(third, fourth));
}

// Returns the bytes of low_bytes() in element order.
[[gnu::always_inline]] inline __m256i in_order(__m256i bytes) {
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// Returns a magnitude with the sign of the source, because a FIXED scale may be negative.
[[gnu::always_inline]] inline __m256 signed_as(__m256 magnitude, __m256 source) {
  return _mm256_or_ps(magnitude, _mm256_and_ps(source, all_floats(0x80000000)));
}

// Adding the complement of the exponent of infinity sets the sign bit for infinities and NaN.
[[gnu::always_inline]] inline bool are_finite(__m256i magnitudes) {
  const __m256i raised = _mm256_add_epi32(magnitudes, all_lanes(0x80000000 - kFloatInfinityBits));
  return _mm256_movemask_ps(_mm256_castsi256_ps(raised)) == 0;
}

// Constants of a level list in eight lanes.
struct LevelLanes {
  __m256 first;          // threshold 7
  __m256 second[2];      // 3 and 11
  __m256 third, fourth;  // 1, 5, 9, 13 in both halves; and 0, 2, … 14
  __m256 evens, odds;    // levels
  __m256i codes;         // by index, in both halves

  explicit LevelLanes(const LevelList &list) {
    const float *const at = list.threshold;
    const float *const level = list.level;
    first = _mm256_set1_ps(at[7]);
    second[0] = _mm256_set1_ps(at[3]);
    second[1] = _mm256_set1_ps(at[11]);
    third = _mm256_setr_ps(at[1], at[5], at[9], at[13], at[1], at[5], at[9], at[13]);
    fourth = _mm256_setr_ps(at[0], at[2], at[4], at[6], at[8], at[10], at[12], at[14]);
    evens = _mm256_setr_ps(level[0], level[2], level[4], level[6], level[8], level[10], level[12], level[14]);
    odds = _mm256_setr_ps(level[1], level[3], level[5], level[7], level[9], level[11], level[13], level[15]);
    codes = _mm256_broadcastsi128_si256(load_half_bytes(list.code));
  }

  // Returns how many pairs of thresholds each value exceeds, by binary search.
  [[gnu::always_inline]] inline __m256i pairs(__m256 value) const {
    const __m256 is_high = exceeds(value, first);
    const __m256i eights = _mm256_castps_si256(is_high);
    const __m256i fours = _mm256_castps_si256(exceeds(value, _mm256_blendv_ps(second[0], second[1], is_high)));
    const __m256i high = _mm256_sub_epi32(_mm256_slli_epi32(_mm256_srli_epi32(eights, 31), 1), fours);
    const __m256i twos = _mm256_castps_si256(exceeds(value, _mm256_permutevar_ps(third, high)));
    return _mm256_sub_epi32(_mm256_add_epi32(high, high), twos);
  }

  // Returns how many thresholds each value exceeds.
  [[gnu::always_inline]] inline __m256i places(__m256 value) const {
    const __m256i pair = pairs(value);
    const __m256i is_odd = _mm256_castps_si256(exceeds(value, _mm256_permutevar8x32_ps(fourth, pair)));
    return _mm256_sub_epi32(_mm256_add_epi32(pair, pair), is_odd);
  }

  // Returns the nearest level.
  [[gnu::always_inline]] inline __m256 nearest(__m256 value) const {
    const __m256i pair = pairs(value);
    const __m256 is_odd = exceeds(value, _mm256_permutevar8x32_ps(fourth, pair));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(evens, pair), _mm256_permutevar8x32_ps(odds, pair), is_odd);
  }

  [[gnu::always_inline]] static inline __m256 exceeds(__m256 value, __m256 threshold) {
    return _mm256_cmp_ps(value, threshold, _CMP_GT_OQ);
  }
};

// Codes of a list; see CoderLanes.
struct ListLanes {
  LevelLanes list;

  explicit ListLanes(const Coder &coder) : list(*coder.element.levels) {}

  [[gnu::always_inline]] inline bool codes_of(const __m256 (&source)[4], const __m256 (&inverse)[4], const uint8_t *,
                                              __m256i &codes) const {
    __m256i place[4];
    __m256i largest = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256 scaled_value = _mm256_and_ps(_mm256_mul_ps(source[i], inverse[i]), all_floats(0x7FFFFFFF));
      largest = _mm256_max_epi32(largest, _mm256_castps_si256(scaled_value));
      place[i] = list.places(signed_as(scaled_value, source[i]));
    }
    if (!are_finite(largest)) [[unlikely]]
      return false;
    codes = in_order(_mm256_shuffle_epi8(list.codes, low_bytes(place)));
    return true;
  }
};

// The constants of a coder, in registers or on the stack, because a byte store may alias any other memory.
template <Elements kElements, Rounding kRounding>
struct CoderLanes {
  static constexpr bool kIsInteger = kElements == Elements::kInteger;
  __m256 limit, unit, smallest;
  __m256i min_field, raise, sign_bytes, code_bytes, base, nan_bytes;
  __m256i dropped, below;
  __m128i sign_shift;
  bool is_fnuz;

  explicit CoderLanes(const Coder &coder) {
    const Element &element = coder.element;
    const int32_t mantissa_bits = element.mantissa_bits;
    limit = _mm256_set1_ps(coder.limit);
    is_fnuz = element.is_fnuz;
    sign_shift = _mm_cvtsi32_si128(8 - element.bits);
    sign_bytes = _mm256_set1_epi8(static_cast<char>(0x80));
    code_bytes = _mm256_set1_epi8(static_cast<char>((1 << element.bits) - 1));
    nan_bytes = _mm256_set1_epi8(static_cast<char>(element.nan_code));
    constexpr int32_t kBehind = bits_behind(kRounding);
    if constexpr (kIsInteger) {
      unit = all_floats(static_cast<uint32_t>(127 + mantissa_bits) << 23);
      smallest = all_floats(static_cast<uint32_t>(127 + kBehind) << 23);
      return;
    }
    const auto field = static_cast<uint32_t>(element.min_exponent + 127);
    dropped = _mm256_set1_epi32(23 - mantissa_bits);
    raise = all_lanes((static_cast<uint32_t>(23 - mantissa_bits) << 23) - (field << mantissa_bits));
    min_field = all_lanes(field << 23);
    unit = all_floats(static_cast<uint32_t>(kBehind + mantissa_bits - element.min_exponent + 127) << 23);
    below = _mm256_set1_epi32(23 - kBehind - mantissa_bits);
    base = all_lanes((field - 1) << (kBehind + mantissa_bits));
  }

  // Adding 2^(E + 23 - M) to a magnitude of exponent E rounds it to M bits, in the lowest bits of the sum. With E at least the
  // exponent of the smallest normal, the same sum rounds subnormals. The lowest bits of the addend hold the code of the first
  // value of exponent E. Therefore the lowest byte of the sum is the full code, and ties round to even codes.
  [[gnu::always_inline]] inline __m256i nearest(__m256 magnitude) const {
    return _mm256_castps_si256(_mm256_add_ps(magnitude, addend_of(magnitude)));
  }

  [[gnu::always_inline]] inline __m256 addend_of(__m256 magnitude) const {
    const __m256i exponent = _mm256_and_si256(_mm256_castps_si256(magnitude), all_lanes(0x7F800000));
    const __m256i field = _mm256_max_epi32(exponent, min_field);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_add_epi32(field, raise), _mm256_srlv_epi32(field, dropped)));
  }

  // Returns the value of the code. The difference is exact.
  [[gnu::always_inline]] inline __m256 nearest_number(__m256 magnitude) const {
    const __m256 addend = addend_of(magnitude);
    return _mm256_sub_ps(_mm256_add_ps(magnitude, addend), addend);
  }

  // Returns the truncated code with the fraction bits of the rounding mode. Subnormals are equally spaced; the code of a normal
  // is in its bits.
  [[gnu::always_inline]] inline __m256i fixed(__m256 magnitude) const {
    const __m256i bits = _mm256_castps_si256(magnitude);
    const __m256i small = _mm256_cvttps_epi32(_mm256_mul_ps(magnitude, unit));
    const __m256i normal = _mm256_sub_epi32(_mm256_srlv_epi32(bits, below), base);
    return _mm256_blendv_epi8(normal, small, _mm256_cmpgt_epi32(min_field, bits));
  }

  // Integers are equally spaced; the code is a magnitude.
  [[gnu::always_inline]] inline __m256i integer(__m256 scaled_value) const {
    const __m256 held = _mm256_min_ps(_mm256_mul_ps(scaled_value, unit), limit);
    if constexpr (kRounding == Rounding::kNearest) return _mm256_cvtps_epi32(held);
    return _mm256_cvttps_epi32(_mm256_mul_ps(held, smallest));
  }

  // Returns the code of a magnitude in the lowest bits of each lane, with undefined bits above; if random bits are added, with
  // fraction bits.
  [[gnu::always_inline]] inline __m256i rounded(__m256 scaled_value) const {
    if constexpr (kIsInteger) return integer(scaled_value);
    const __m256 held = _mm256_min_ps(scaled_value, limit);
    return kRounding == Rounding::kNearest ? nearest(held) : fixed(held);
  }

  // Computes the codes of 32 elements. Returns false if a scaled value is not finite.
  [[gnu::always_inline]] inline bool codes_of(const __m256 (&source)[4], const __m256 (&inverse)[4],
                                              const uint8_t *random, __m256i &codes) const {
    __m256i code[4];
    __m256i largest;
    [[maybe_unused]] __m256 below_zero[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256 scaled_value = _mm256_and_ps(_mm256_mul_ps(source[i], inverse[i]), all_floats(0x7FFFFFFF));
      const __m256i magnitude = _mm256_castps_si256(scaled_value);
      largest = i == 0 ? magnitude : _mm256_max_epi32(largest, magnitude);
      code[i] = rounded(scaled_value);
      if constexpr (kElements == Elements::kUnsigned) {
        below_zero[i] = _mm256_cmp_ps(signed_as(scaled_value, source[i]), _mm256_setzero_ps(), _CMP_LT_OQ);
      }
    }
    if (!are_finite(largest)) [[unlikely]]
      return false;
    if constexpr (kRounding == Rounding::kDrawn16) carry16(code, random);
    const __m256i magnitudes = kRounding == Rounding::kDrawn8 ? carried8(code, random) : low_bytes(code);
    if constexpr (kElements == Elements::kUnsigned) {
      codes = in_order(_mm256_blendv_epi8(magnitudes, nan_bytes, sign_packed(below_zero)));
    } else {
      codes = in_order(with_signs(magnitudes, source));
    }
    return true;
  }

  // Adds 2 R + 1 to the fraction bits and truncates.
  [[gnu::always_inline]] static inline void carry16(__m256i (&fixed)[4], const uint8_t *random) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const __m256i bits = dwords_of_words(load_half_bytes(random + 16 * i));
      const __m256i addend = _mm256_add_epi32(_mm256_add_epi32(bits, bits), all_lanes(1));
      fixed[i] = _mm256_srli_epi32(_mm256_add_epi32(fixed[i], addend), 17);
    }
  }

  // Does the same with 8 random bits, and returns bytes in the order of low_bytes(). A code has at most 7 bits, so that 16 bits
  // hold code and fraction; vpavgw adds the one and drops the last bit.
  [[gnu::always_inline]] static inline __m256i carried8(const __m256i (&fixed)[4], const uint8_t *random) {
    const __m256i low = _mm256_packus_epi32(fixed[0], fixed[1]);
    const __m256i high = _mm256_packus_epi32(fixed[2], fixed[3]);
    const __m256i fours = _mm256_permutevar8x32_epi32(load_bytes(random), _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    const __m256i of_both = _mm256_shuffle_epi8(fours, load_bytes(kBytePairs));
    const __m256i low_sums = _mm256_avg_epu16(low, _mm256_maddubs_epi16(of_both, _mm256_set1_epi16(2)));
    const __m256i high_sums = _mm256_avg_epu16(high, _mm256_maddubs_epi16(of_both, _mm256_set1_epi16(2 << 8)));
    return _mm256_packus_epi16(_mm256_srli_epi16(low_sums, 8), _mm256_srli_epi16(high_sums, 8));
  }

  // Signed saturating packs keep the sign bits, and only 0 becomes 0. The result is in the order of low_bytes().
  [[gnu::always_inline]] static inline __m256i sign_packed(const __m256 (&source)[4]) {
    const __m256i low = _mm256_packs_epi32(_mm256_castps_si256(source[0]), _mm256_castps_si256(source[1]));
    const __m256i high = _mm256_packs_epi32(_mm256_castps_si256(source[2]), _mm256_castps_si256(source[3]));
    return _mm256_packs_epi16(low, high);
  }

  [[gnu::always_inline]] inline __m256i with_signs(__m256i magnitudes, const __m256 (&source)[4]) const {
    const __m256i bytes = sign_packed(source);
    if constexpr (kIsInteger) return _mm256_and_si256(_mm256_sign_epi8(magnitudes, bytes), code_bytes);
    const __m256i top = _mm256_and_si256(bytes, sign_bytes);
    __m256i signs = _mm256_srl_epi16(top, sign_shift);
    if (is_fnuz) signs = _mm256_andnot_si256(_mm256_cmpeq_epi8(magnitudes, _mm256_setzero_si256()), signs);
    return _mm256_or_si256(magnitudes, signs);
  }
};

// Stores 32 codes of any width: joins neighbors to pairs, fours and eights; eight codes take `bits` bytes.
[[gnu::noinline]] inline void store_odd_codes(__m256i codes, int64_t bits, uint8_t *to) {
  const auto count = [](int64_t shift) { return _mm_cvtsi64_si128(shift); };
  const __m256i pairs = _mm256_or_si256(_mm256_and_si256(codes, _mm256_set1_epi16(0xFF)),
                                        _mm256_sll_epi16(_mm256_srli_epi16(codes, 8), count(bits)));
  const __m256i fours = _mm256_or_si256(_mm256_and_si256(pairs, all_lanes(0xFFFF)),
                                        _mm256_sll_epi32(_mm256_srli_epi32(pairs, 16), count(2 * bits)));
  const __m256i eights = _mm256_or_si256(_mm256_and_si256(fours, _mm256_set1_epi64x(0xFFFFFFFF)),
                                         _mm256_sll_epi64(_mm256_srli_epi64(fours, 32), count(4 * bits)));
  uint64_t eight[4];
  memcpy(eight, &eights, sizeof eight);
  for (int64_t i = 0; i < 4; ++i) memcpy(to + i * bits, eight + i, static_cast<size_t>(bits));
}

// Stores 32 codes.
[[gnu::always_inline]] inline void store_codes(__m256i codes, int64_t bits, uint8_t *to) {
  if (bits == 8) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), codes);
  } else if (bits == 4) {
    const __m256i pairs = _mm256_maddubs_epi16(codes, _mm256_set1_epi16(0x1001));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to),
                     _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1)));
  } else if (bits == 6) {
    const __m256i pairs = _mm256_maddubs_epi16(codes, _mm256_set1_epi16(0x4001));
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x10000001));
    const __m128i low = _mm_shuffle_epi8(_mm256_castsi256_si128(fours),
                                         _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m128i high = _mm_shuffle_epi8(_mm256_extracti128_si256(fours, 1),
                                          _mm_setr_epi8(-1, -1, -1, -1, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14));
    // The second store begins with the last four of the first twelve bytes.
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), low);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + 8), _mm_or_si128(high, _mm_srli_si128(low, 8)));
  } else {
    store_odd_codes(codes, bits, to);
  }
}

}  // namespace
}  // namespace lpt
