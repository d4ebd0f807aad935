// AVX2 code that the GEMM kernel and its panels share, for vectors of eight f32. Included by ISA files: all functions have
// internal linkage.
#pragma once

#include "kernels/common/simd_avx2.hpp"
#include "kernels/gemm/operand.hpp"

namespace lpt {
namespace {

// Returns a mask with all bits set in the first `count` of eight dwords.
inline __m256i first8(int64_t count) {
  alignas(32) static constexpr int32_t kOnes[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(kOnes + 8 - (count < 8 ? count : 8)));
}

// Loads at most 16 bytes. Bytes past `bytes` are 0.
inline __m128i load_bytes(const uint8_t *from, int64_t bytes) {
  if (bytes == 16) return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  if (bytes == 8) return _mm_loadl_epi64(reinterpret_cast<const __m128i *>(from));
  uint8_t staged[16] = {};
  memcpy(staged, from, static_cast<size_t>(bytes));
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(staged));
}

// Returns whether an f16 with a different exponent bias represents the sign and the exponents of a float of at most 8 bits.
inline bool is_small_half(const Element &element) {
  return element.is_signed && !element.is_fnuz && element.bits - element.mantissa_bits <= 6 &&
         element.min_exponent <= 100;
}

// Decodes eight such floats, one per word, as f16. Subnormals of f16 are converted exactly.
[[gnu::always_inline]] inline __m256 decode_floats(__m128i codes, const Element &element) {
  const auto every = [](uint32_t value) { return _mm_set1_epi16(static_cast<int16_t>(value)); };
  const __m128i magnitude = _mm_and_si128(codes, every((1u << (element.bits - 1)) - 1));
  const __m128i sign = _mm_and_si128(_mm_sll_epi16(codes, _mm_cvtsi32_si128(16 - element.bits)), every(0x8000));
  const __m128i number = _mm_sll_epi16(magnitude, _mm_cvtsi32_si128(10 - element.mantissa_bits));
  const __m128i is_special = _mm_cmpgt_epi16(magnitude, every(element.max_code));
  const __m128i is_infinity = element.infinity_code == element.nan_code
                                  ? _mm_setzero_si128()
                                  : _mm_cmpeq_epi16(magnitude, every(element.infinity_code));
  const __m128i special = _mm_blendv_epi8(every(0x7E00), every(0x7C00), is_infinity);
  const __m128i half = _mm_or_si128(_mm_blendv_epi8(number, special, is_special), sign);
  const float unit = bits_float(static_cast<uint32_t>(element.min_exponent + 14 + 127) << 23);
  return _mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(unit));
}

// Returns the first `count` of eight adjacent codes in dwords. Bytes of other codes are not read.
inline __m256i load_codes(const uint8_t *from, int32_t bits, int64_t count) {
  const uint64_t eight = load_some_codes(from, bits, count);
  const auto low = static_cast<int32_t>(eight), high = static_cast<int32_t>(eight >> 4 * bits);
  const __m256i fours = _mm256_setr_epi32(low, low, low, low, high, high, high, high);
  const __m256i place = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3), _mm256_set1_epi32(bits));
  return _mm256_and_si256(_mm256_srlv_epi32(fours, place), _mm256_set1_epi32((1 << bits) - 1));
}

// Looks up values by 4-bit codes.
inline __m256 look_up16(const float *values, __m256i codes) {
  const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(codes, 28));
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_loadu_ps(values), codes),
                          _mm256_permutevar8x32_ps(_mm256_loadu_ps(values + 8), codes), is_high);
}

// Decodes e8m0fnu. The code is the exponent of an f32, except for 2^-127, which is subnormal, and NaN.
inline __m256 decode_e8m0fnu(__m256i codes) {
  const __m256i is_smallest = _mm256_cmpeq_epi32(codes, _mm256_setzero_si256());
  const __m256i is_nan = _mm256_cmpeq_epi32(codes, _mm256_set1_epi32(0xFF));
  __m256i bits = _mm256_slli_epi32(codes, 23);
  bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32(0x00400000), is_smallest);
  return _mm256_castsi256_ps(_mm256_blendv_epi8(bits, _mm256_set1_epi32(0x7FC00000), is_nan));
}

// Loads `count` adjacent scales.
inline __m256 load_scales(lpt_format format, const uint8_t *from, int64_t count) {
  if (format == LPT_FORMAT_F32) return _mm256_maskload_ps(reinterpret_cast<const float *>(from), first8(count));
  const __m128i codes = load_bytes(from, count);
  return format == LPT_FORMAT_E8M0FNU ? decode_e8m0fnu(_mm256_cvtepu8_epi32(codes))
                                      : decode_floats(_mm_cvtepu8_epi16(codes), kElementE4m3fn);
}

}  // namespace
}  // namespace lpt
