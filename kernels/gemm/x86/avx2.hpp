// AVX2 code that the GEMM kernel and its panels share, for vectors of eight f32. Included by ISA files: all functions have
// internal linkage.
#pragma once

#include "kernels/common/simd_avx2.hpp"
#include "kernels/gemm/operand.hpp"
#include "kernels/gemm/panels.hpp"

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

// Converts such floats.
struct HalfConversion {
  int32_t bits, shift;
  bool has_infinity;
  __m256i magnitude_mask, sign_mask, largest, infinity;
  __m256 unit;

  [[gnu::always_inline]] explicit HalfConversion(const Element &element)
      : bits(element.bits),
        shift(10 - element.mantissa_bits),
        has_infinity(element.infinity_code != element.nan_code),
        magnitude_mask(every((1u << (element.bits - 1)) - 1)),
        sign_mask(every(0x8000)),
        largest(every(element.max_code)),
        infinity(every(element.infinity_code)),
        unit(_mm256_set1_ps(bits_float(static_cast<uint32_t>(element.min_exponent + 14 + 127) << 23))) {}

  // Converts codes in words to f16 with the bias of the element.
  [[gnu::always_inline]] __m256i halves(__m256i codes) const {
    const __m256i magnitude = _mm256_and_si256(codes, magnitude_mask);
    const __m256i sign = _mm256_and_si256(_mm256_sll_epi16(codes, _mm_cvtsi32_si128(16 - bits)), sign_mask);
    const __m256i number = _mm256_sll_epi16(magnitude, _mm_cvtsi32_si128(shift));
    __m256i special = every(0x7E00);
    if (has_infinity) {
      special = _mm256_blendv_epi8(special, every(0x7C00), _mm256_cmpeq_epi16(magnitude, infinity));
    }
    const __m256i is_special = _mm256_cmpgt_epi16(magnitude, largest);
    return _mm256_or_si256(_mm256_blendv_epi8(number, special, is_special), sign);
  }

  // Converts such f16 to f32. Subnormals of f16 are converted exactly.
  [[gnu::always_inline]] __m256 floats(__m128i halves) const { return _mm256_mul_ps(_mm256_cvtph_ps(halves), unit); }

  static __m256i every(uint32_t value) { return _mm256_set1_epi16(static_cast<int16_t>(value)); }
};

// Decodes eight such floats, one per word.
[[gnu::always_inline]] inline __m256 decode_floats(__m128i codes, const Element &element) {
  const HalfConversion conversion(element);
  return conversion.floats(_mm256_castsi256_si128(conversion.halves(_mm256_castsi128_si256(codes))));
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
inline __m256 look_up16(__m256 low, __m256 high, __m256i codes) {
  const __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(codes, 28));
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, codes), _mm256_permutevar8x32_ps(high, codes), is_high);
}

// Decodes e8m0fnu. The code is the exponent of an f32, except for 2^-127, which is subnormal, and NaN.
inline __m256 decode_e8m0fnu(__m256i codes) {
  const __m256i is_smallest = _mm256_cmpeq_epi32(codes, _mm256_setzero_si256());
  const __m256i is_nan = _mm256_cmpeq_epi32(codes, _mm256_set1_epi32(0xFF));
  __m256i bits = _mm256_slli_epi32(codes, 23);
  bits = _mm256_blendv_epi8(bits, _mm256_set1_epi32(0x00400000), is_smallest);
  return _mm256_castsi256_ps(_mm256_blendv_epi8(bits, _mm256_set1_epi32(0x7FC00000), is_nan));
}

// Loads the zero points of eight lanes.
inline __m256i load_zeros(const uint8_t *from) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from)));
}

// Loads `count` adjacent scales.
inline __m256 load_scales(lpt_format format, const uint8_t *from, int64_t count) {
  if (format == LPT_FORMAT_F32) return _mm256_maskload_ps(reinterpret_cast<const float *>(from), first8(count));
  const __m128i codes = load_bytes(from, count);
  if (format == LPT_FORMAT_E8M0FNU) return decode_e8m0fnu(_mm256_cvtepu8_epi32(codes));
  const __m128i is_nan = _mm_cmpeq_epi8(codes, _mm_set1_epi8(0x7F));
  if (_mm_movemask_epi8(_mm_or_si128(codes, is_nan)) != 0)
    return decode_floats(_mm_cvtepu8_epi16(codes), kElementE4m3fn);
  // The bits of positive numbers are those of an f32 whose exponent is 120 too small.
  const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu8_epi32(codes), 20);
  return _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0x1p120f));
}

// Rounds to nearest, ties to even. NaN is preserved.
inline __m128i round_to_bf16(__m256 value) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  const __m256i halves = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
  const __m256i packed = _mm256_packus_epi32(halves, halves);  // packs within each 128-bit half
  return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}

// Writes the factors of the sums of the lanes of a panel, times `unit`: lane_factor() of `count` lanes, 0 for the others.
inline void write_panel_factors(const MatrixView &view, int64_t lane, int64_t count, int64_t k, float unit,
                                float (&to)[kPanelLanes]) {
  const bool differ = view.format.has_block_scale() && !is_scaled_along_k(view, true, k);
  const float first = lane_factor(view, lane, k) * unit;
  for (int64_t l = 0; l < kPanelLanes; ++l) {
    to[l] = l >= count ? 0.0f : differ ? lane_factor(view, lane + l, k) * unit : first;
  }
}

// Operations on vectors that the kernels share.
struct Avx2 {
  using Dwords = __m256i;
  using Floats = __m256;
  using Sums = Floats;
  static constexpr int64_t kVector = 8;

  static Dwords no_dwords() { return _mm256_setzero_si256(); }
  static Floats all(float value) { return _mm256_set1_ps(value); }
  static Dwords load(const uint32_t *from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from)); }
  static Floats load_floats(const float *from) { return _mm256_loadu_ps(from); }
  static Floats floats(Floats sum) { return sum; }
  static Dwords repeat(const uint32_t *from) { return _mm256_set1_epi32(static_cast<int32_t>(*from)); }
  static void store(Dwords lanes, uint32_t *to) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), lanes); }
  static void store_floats(Floats value, float *to) { _mm256_storeu_ps(to, value); }

  static void store_halves(Dwords lanes, uint32_t *low, uint32_t *high) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(low), _mm256_castsi256_si128(lanes));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(high), _mm256_extracti128_si256(lanes, 1));
  }

  // Transposes 8 × 8 dwords: within 2 × 2, then 4 × 4, then 128-bit halves.
  static void transpose(Dwords (&rows)[8]) { lpt::transpose(rows); }

  static Floats read(lpt_format format, const uint8_t *from, int64_t count) {
    if (format == LPT_FORMAT_F32) return _mm256_maskload_ps(reinterpret_cast<const float *>(from), first8(count));
    const __m128i halves = load_bytes(from, 2 * count);
    return format == LPT_FORMAT_BF16 ? f32_of_bf16(halves) : _mm256_cvtph_ps(halves);
  }

  static void write(lpt_format format, uint8_t *to, Floats value, int64_t count) {
    if (format == LPT_FORMAT_F32) {
      if (count == 8) return _mm256_storeu_ps(reinterpret_cast<float *>(to), value);
      return _mm256_maskstore_ps(reinterpret_cast<float *>(to), first8(count), value);
    }
    const __m128i halves =
        format == LPT_FORMAT_BF16 ? round_to_bf16(value) : _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
    if (count == 8) return _mm_storeu_si128(reinterpret_cast<__m128i *>(to), halves);
    uint8_t staged[16];
    _mm_storeu_si128(reinterpret_cast<__m128i *>(staged), halves);
    memcpy(to, staged, static_cast<size_t>(2 * count));
  }
};

}  // namespace
}  // namespace lpt
