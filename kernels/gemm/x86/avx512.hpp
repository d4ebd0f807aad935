// Code that the AVX-512 GEMM kernels share. Included by ISA files: all functions have internal linkage.
#pragma once

#include "kernels/common/simd_avx512.hpp"
#include "kernels/gemm/operand.hpp"

namespace lpt {
namespace {

inline __mmask16 first16(int64_t count) {
  return count >= 16 ? static_cast<__mmask16>(0xFFFF) : static_cast<__mmask16>((1u << count) - 1);
}

inline __mmask32 first32(int64_t count) {
  return count >= 32 ? static_cast<__mmask32>(0xFFFFFFFF) : static_cast<__mmask32>((1u << count) - 1);
}

// Moves 32 adjacent codes of `bits` bits to one byte each: eight codes fill the lowest bytes of a qword, and are then shifted to
// their bytes.
struct SpreadOrder {
  alignas(32) uint8_t byte[32];
  alignas(32) uint8_t shift[32];
};

constexpr SpreadOrder spread_order(int bits) {
  SpreadOrder order = {};
  for (int i = 0; i < 32; ++i) {
    order.byte[i] = static_cast<uint8_t>(i / 8 * bits + i % 8);
    order.shift[i] = static_cast<uint8_t>(i % 8 * bits);
  }
  return order;
}

constexpr SpreadOrder kSpreadOrders[9] = {spread_order(0), spread_order(1), spread_order(2),
                                          spread_order(3), spread_order(4), spread_order(5),
                                          spread_order(6), spread_order(7), spread_order(8)};

// The digits of 32 adjacent ternary elements: byte · factor / 2^16 is the byte without the digits before an element.
struct DigitOrder {
  alignas(64) uint16_t byte[32];
  alignas(64) uint16_t factor[32];
  __mmask32 is_first;  // elements without digits before them
};

constexpr DigitOrder digit_order(int first) {
  constexpr uint16_t kFactors[5] = {0, 21846, 7282, 2428, 810};  // 2^16 / 3^digit, rounded up: exact for all bytes
  DigitOrder order = {};
  for (int i = 0; i < 32; ++i) {
    order.byte[i] = static_cast<uint16_t>((first + i) / 5);
    order.factor[i] = kFactors[(first + i) % 5];
    if ((first + i) % 5 == 0) order.is_first |= 1u << i;
  }
  return order;
}

constexpr DigitOrder kDigitOrders[5] = {digit_order(0), digit_order(1), digit_order(2), digit_order(3), digit_order(4)};

// Loads the codes of up to 32 adjacent ternary elements from element `index` on.
inline __m256i load_digits32(const uint8_t *data, int64_t index, int64_t count) {
  const DigitOrder &order = kDigitOrders[index % 5];
  const __mmask16 mask = first16((index % 5 + (count < 32 ? count : 32) + 4) / 5);
  const __m128i packed = _mm_maskz_loadu_epi8(mask, data + index / 5);
  const __m512i words = _mm512_castsi256_si512(_mm256_cvtepu8_epi16(packed));
  const __m512i bytes = _mm512_permutexvar_epi16(_mm512_load_si512(order.byte), words);
  const __m512i above = _mm512_mulhi_epu16(bytes, _mm512_load_si512(order.factor));
  const __m512i digits = _mm512_mask_mov_epi16(above, order.is_first, bytes);
  const __m512i thirds = _mm512_mulhi_epu16(digits, _mm512_set1_epi16(21846));
  const __m512i digit = _mm512_sub_epi16(digits, _mm512_add_epi16(thirds, _mm512_add_epi16(thirds, thirds)));
  return _mm512_cvtepi16_epi8(_mm512_add_epi16(digit, _mm512_srli_epi16(digit, 1)));  // digit 2 is code 3
}

// Loads up to 32 adjacent codes of at most 8 bits, one per byte, from element `index` on. Without ternary elements, the first
// code begins on a byte. Codes after `count` are undefined.
inline __m256i load_codes32(const Element &element, const uint8_t *data, int64_t index, int64_t count) {
  if (element.is_ternary) return load_digits32(data, index, count);
  const SpreadOrder &order = kSpreadOrders[element.bits];
  const uint8_t *const from = data + index * element.bits / 8;
  const __m256i packed = _mm256_maskz_loadu_epi8(first32(((count < 32 ? count : 32) * element.bits + 7) / 8), from);
  const __m256i eights =
      _mm256_permutexvar_epi8(_mm256_load_si256(reinterpret_cast<const __m256i *>(order.byte)), packed);
  const __m256i bytes =
      _mm256_multishift_epi64_epi8(_mm256_load_si256(reinterpret_cast<const __m256i *>(order.shift)), eights);
  return _mm256_and_si256(bytes, _mm256_set1_epi8(static_cast<char>((1 << element.bits) - 1)));
}

// Returns a constant in all lanes. A hidden constant is not kept in a register outside the loop that uses it.
template <bool kIsHidden>
__m512i constant(int32_t value) {
  if constexpr (kIsHidden) asm volatile("" : "+r"(value));
  return _mm512_set1_epi32(value);
}

// Looks up the low and the high bytes of the bf16 of 64 magnitudes.
struct ByteLookUp {
  explicit ByteLookUp(const ByteTable &table)
      : low0(_mm512_load_si512(table.low)),
        low1(_mm512_load_si512(table.low + 64)),
        high0(_mm512_load_si512(table.high)),
        high1(_mm512_load_si512(table.high + 64)) {}

  __m512i low(__m512i magnitudes) const { return _mm512_permutex2var_epi8(low0, magnitudes, low1); }
  __m512i high(__m512i magnitudes, __m512i codes, __m512i sign) const {
    const __m512i bytes = _mm512_permutex2var_epi8(high0, magnitudes, high1);
    return _mm512_ternarylogic_epi32(bytes, codes, sign, 0xF8);  // bytes | (codes & sign)
  }

  __m512i low0, low1, high0, high1;
};

// Converts 16 floats of 8 bits to f32. The upper half of the f32 is a bf16: one look-up per byte, and the sign.
template <bool kIsHidden = false>
__m512 decode_bytes_f32(__m128i codes, const ByteTable &bf16) {
  const ByteTable *table = &bf16;
  if constexpr (kIsHidden) asm volatile("" : "+r"(table));
  const __m512i wide = _mm512_cvtepu8_epi32(codes);
  const __m512i index = _mm512_or_si512(_mm512_slli_epi32(wide, 24), _mm512_slli_epi32(wide, 16));
  const __m512i low = _mm512_maskz_permutex2var_epi8(0x4444444444444444, _mm512_load_si512(table->low), index,
                                                     _mm512_load_si512(table->low + 64));
  const __m512i high = _mm512_maskz_permutex2var_epi8(0x8888888888888888, _mm512_load_si512(table->high), index,
                                                      _mm512_load_si512(table->high + 64));
  const __m512i sign = constant<kIsHidden>(INT32_MIN);
  const __m512i magnitude = _mm512_or_si512(low, high);
  return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(magnitude, index, sign, 0xF8));  // magnitude | (index & sign)
}

// Decodes e8m0fnu. The code is the exponent of an f32, except for 2^-127, which is subnormal, and NaN.
template <bool kIsHidden = false>
__m512 decode_e8m0fnu(__m128i codes) {
  const __m512i wide = _mm512_cvtepu8_epi32(codes);
  __m512i bits = _mm512_slli_epi32(wide, 23);
  bits = _mm512_mask_mov_epi32(bits, _mm512_testn_epi32_mask(wide, wide), constant<kIsHidden>(0x00400000));
  const __mmask16 is_nan = _mm512_cmpeq_epi32_mask(wide, constant<kIsHidden>(0xFF));
  return _mm512_castsi512_ps(_mm512_mask_mov_epi32(bits, is_nan, constant<kIsHidden>(0x7FC00000)));
}

// Decodes 8-bit scales.
template <bool kIsHidden = false>
__m512 decode_scales(lpt_format format, __m128i codes) {
  return format == LPT_FORMAT_E8M0FNU ? decode_e8m0fnu<kIsHidden>(codes)
                                      : decode_bytes_f32<kIsHidden>(codes, kTableE4m3fn);
}

// Loads 16 adjacent scales.
template <bool kIsHidden = false>
__m512 load_scales(lpt_format format, const uint8_t *from) {
  if (format == LPT_FORMAT_F32) return _mm512_loadu_ps(from);
  return decode_scales<kIsHidden>(format, _mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
}

// Loads the adjacent scales that the mask selects.
inline __m512 load_scales(lpt_format format, const uint8_t *from, __mmask16 mask) {
  if (format == LPT_FORMAT_F32) return _mm512_maskz_loadu_ps(mask, from);
  return decode_scales(format, _mm_maskz_loadu_epi8(mask, from));
}

// Returns the scales of `count` elements with blocks shorter than 16, each repeated for the elements of its block.
[[gnu::noinline]] inline __m512 short_block_scales(lpt_format format, const uint8_t *from, int32_t shift,
                                                   int64_t count) {
  const __mmask16 mask = first16(((count < 16 ? count : 16) + (1 << shift) - 1) >> shift);
  const __m512 scales = load_scales(format, from, mask);
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_permutexvar_ps(_mm512_srlv_epi32(lanes, _mm512_set1_epi32(shift)), scales);
}

// Returns the block scales of 16 adjacent elements, the first at a multiple of 16.
inline __m512 load_scales(const Operand &operand, int64_t row, int64_t column, int64_t count) {
  const int32_t shift = operand.column_shift;
  if (shift >= 4) return _mm512_set1_ps(scale_at(operand, row, column));
  const int64_t index = (row >> operand.row_shift) * operand.scale_stride + (column >> shift);
  const uint8_t *const from = operand.scales + index * scale_bytes(operand.scale_format);
  return short_block_scales(operand.scale_format, from, shift, count);
}

// Rounds to nearest, ties to even. Subnormals are preserved (vcvtneps2bf16 flushes them), and NaN is preserved.
inline __m256i round_to_bf16(__m512 value) {
  const __m512i bits = _mm512_castps_si512(value);
  const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x00400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(bf16_rounded(value), is_nan, quiet), 16));
}

// Sizes and operations that the kernels share. A tile of 8 × 32 has 16 sums, enough for a latency of 6 cycles at two fused
// multiply-adds per cycle.
struct Avx512 {
  using Dwords = __m512i;
  using Floats = __m512;
  using Sums = Floats;
  static constexpr int64_t kVector = 16;
  static constexpr bool kHasStarts = false;
  static constexpr int64_t kTileRows = 8;
  static constexpr int64_t kTileVectors = 2;

  static Dwords no_dwords() { return _mm512_setzero_si512(); }
  static Floats all(float value) { return _mm512_set1_ps(value); }
  static Dwords load(const uint32_t *from) { return _mm512_loadu_si512(from); }
  static Floats load_floats(const float *from) { return _mm512_loadu_ps(from); }
  static Floats start(const int32_t *) { return _mm512_setzero_ps(); }
  static Floats floats(Floats sum) { return sum; }
  static Dwords repeat(const uint32_t *from) { return _mm512_set1_epi32(static_cast<int32_t>(*from)); }
  static void store(Dwords lanes, uint32_t *to) { _mm512_storeu_si512(to, lanes); }
  static void store_floats(Floats value, float *to) { _mm512_storeu_ps(to, value); }

  static void store_halves(Dwords lanes, uint32_t *low, uint32_t *high) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(low), _mm512_castsi512_si256(lanes));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(high), _mm512_extracti64x4_epi64(lanes, 1));
  }

  static void transpose(Dwords (&rows)[16]) { lpt::transpose(rows); }

  static Floats read(lpt_format format, const uint8_t *from, int64_t count) {
    const __mmask16 mask = first16(count);
    if (format == LPT_FORMAT_F32) return _mm512_maskz_loadu_ps(mask, from);
    const __m256i halves = _mm256_maskz_loadu_epi16(mask, from);
    return format == LPT_FORMAT_BF16 ? f32_of_bf16(halves) : _mm512_cvtph_ps(halves);
  }

  static void write(lpt_format format, uint8_t *to, Floats value, int64_t count) {
    const __mmask16 mask = first16(count);
    if (format == LPT_FORMAT_F32) return _mm512_mask_storeu_ps(to, mask, value);
    const __m256i halves =
        format == LPT_FORMAT_BF16 ? round_to_bf16(value) : _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
    _mm256_mask_storeu_epi16(to, mask, halves);
  }
};

}  // namespace
}  // namespace lpt
