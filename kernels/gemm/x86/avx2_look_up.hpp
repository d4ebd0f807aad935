// Decoding of codes of at most 8 bits to f32, eight steps of eight lanes at once. Included by ISA files: all functions have
// internal linkage.
//
// The codes are transposed, not the values. 4-bit codes are transposed as bytes, and each of the four bytes of a value has a
// table: a look-up of 32 bytes takes less time than one of eight dwords. Other codes are looked up one by one: on AMD Zen 1 a
// gather takes 21 cycles, eight loads take 8.
#pragma once

#include "kernels/gemm/x86/avx2.hpp"

namespace lpt {
namespace {

class LookUpTiles {
 public:
  // Returns whether eight adjacent codes of a lane share one scale and one zero point.
  static bool takes(const Operand &operand) {
    return !operand.element.is_ternary && (!is_cut(operand) || operand.column_shift >= 3);
  }

  explicit LookUpTiles(const Operand &operand) {
    block_ = is_cut(operand) ? (int64_t{1} << operand.column_shift) - 1 : ~int64_t{0};
    if (operand.bits != 4) return;
    alignas(16) uint8_t bytes[4][16];
    for (uint32_t code = 0; code < 16; ++code) {
      const uint32_t value = float_bits(decode(operand.element, code));
      for (int b = 0; b < 4; ++b) bytes[b][code] = static_cast<uint8_t>(value >> 8 * b);
    }
    for (int b = 0; b < 4; ++b) {
      tables_[b] = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i *>(bytes[b])));
    }
  }

  // Decodes eight steps from `column` on, a multiple of eight. The lanes are the storage rows from `row` on. Calls must have
  // ascending columns.
  [[gnu::always_inline]] void decode_steps(const Operand &operand, int64_t row, int64_t column, __m256i (&steps)[8]) {
    if ((column & block_) == 0) set_block(operand, row, column);
    const int64_t stride = operand.row_stride * operand.bits / 8;
    const uint8_t *const from = operand.data + row * stride + column * operand.bits / 8;
    operand.bits == 4 ? look_up_nibbles(from, stride, steps) : look_up_each(operand, from, stride, steps);
#pragma GCC unroll 8
    for (__m256i &step : steps) {
      __m256 value = _mm256_castsi256_ps(step);
      if (operand.zeros != nullptr) value = _mm256_sub_ps(value, zeros_);
      if (operand.is_scaled_along_k) value = _mm256_mul_ps(value, scales_);
      step = _mm256_castps_si256(value);
    }
  }

 private:
  static bool is_cut(const Operand &operand) { return operand.zeros != nullptr || operand.is_scaled_along_k; }

  [[gnu::always_inline]] void look_up_nibbles(const uint8_t *from, int64_t stride, __m256i (&steps)[8]) const {
    uint32_t lanes[8];
#pragma GCC unroll 8
    for (int l = 0; l < 8; ++l) memcpy(lanes + l, from + l * stride, sizeof *lanes);
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(lanes));
    const __m256i low = _mm256_set1_epi8(15);
    look_up_bytes(_mm256_and_si256(codes, low), steps[0], steps[2], steps[4], steps[6]);
    look_up_bytes(_mm256_and_si256(_mm256_srli_epi16(codes, 4), low), steps[1], steps[3], steps[5], steps[7]);
  }

  // Converts byte j of each dword of `codes` to vector j.
  [[gnu::always_inline]] void look_up_bytes(__m256i codes, __m256i &first, __m256i &second, __m256i &third,
                                            __m256i &fourth) const {
    const __m256i order = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,  //
                                           0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i transposed = _mm256_shuffle_epi8(codes, order);
    __m256i byte[4];
#pragma GCC unroll 4
    for (int b = 0; b < 4; ++b) byte[b] = _mm256_shuffle_epi8(tables_[b], transposed);
    const __m256i low = _mm256_unpacklo_epi8(byte[0], byte[1]), low_top = _mm256_unpacklo_epi8(byte[2], byte[3]);
    const __m256i high = _mm256_unpackhi_epi8(byte[0], byte[1]), high_top = _mm256_unpackhi_epi8(byte[2], byte[3]);
    first = _mm256_unpacklo_epi16(low, low_top);
    second = _mm256_unpackhi_epi16(low, low_top);
    third = _mm256_unpacklo_epi16(high, high_top);
    fourth = _mm256_unpackhi_epi16(high, high_top);
  }

  [[gnu::always_inline]] static void look_up_each(const Operand &operand, const uint8_t *from, int64_t stride,
                                                  __m256i (&steps)[8]) {
    const float *const values = operand.values;
    const int32_t bits = operand.bits;
    uint8_t codes[8][8];
    for (int l = 0; l < 8; ++l) {
      const uint64_t eight = load_eight_codes(from + l * stride, bits);
      const uint64_t bytes = bits == 8 ? eight : spread_codes(eight, bits);
      memcpy(codes[l], &bytes, sizeof bytes);
    }
    const auto value = [&](int l, int s) { return values[codes[l][s]]; };
#pragma GCC unroll 8
    for (int s = 0; s < 8; ++s) {
      steps[s] = _mm256_castps_si256(_mm256_setr_ps(value(0, s), value(1, s), value(2, s), value(3, s), value(4, s),
                                                    value(5, s), value(6, s), value(7, s)));
    }
  }

  [[gnu::noinline]] void set_block(const Operand &operand, int64_t row, int64_t column) {
    float scales[8], zeros[8];
    for (int64_t l = 0; l < 8; ++l) {
      const int64_t block = ((row + l) >> operand.row_shift) * operand.scale_stride + (column >> operand.column_shift);
      scales[l] = operand.is_scaled_along_k ? scale_at(operand, row + l, column) : 1.0f;
      zeros[l] = operand.zeros != nullptr ? static_cast<float>(operand.zeros[block]) : 0.0f;
    }
    scales_ = _mm256_loadu_ps(scales);
    zeros_ = _mm256_loadu_ps(zeros);
  }

  __m256i tables_[4];  // byte b of the 16 values, in both 128-bit halves
  __m256 scales_, zeros_;
  int64_t block_;  // a mask: columns of a block minus one
};

}  // namespace
}  // namespace lpt
