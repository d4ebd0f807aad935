// Packing of int8 for blocked.hpp, and GEMM by int8 dot products. Included by ISA files: all functions have internal linkage.
//
// vpdpbusd multiplies unsigned by signed bytes. Elements of a are therefore stored as a + 128, their bytes with the top bit
// inverted. Each sum starts at -128 · (the sum of its column of b). Intermediate sums may wrap; the final sum fits, because
// 2^14 · k is below 2^31.
#pragma once

#include "kernels/gemm/blocked.hpp"
#include "kernels/gemm/x86/avx512.hpp"

namespace lpt {
namespace {

struct Int8 : Avx512 {
  using Sums = __m512i;
  static constexpr int64_t kPerDword = 4;
  static constexpr bool kHasStarts = true;

  static Sums start(const int32_t *from) { return _mm512_loadu_si512(from); }
  static Floats floats(Sums sum) { return _mm512_cvtepi32_ps(sum); }
  static Sums add_product(Sums sum, Dwords row, Dwords columns) { return _mm512_dpbusd_epi32(sum, row, columns); }

  // Writes the start values of the sums of one panel of b.
  static void set_starts(const uint32_t *panel, int64_t steps, int32_t *starts) {
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i sums[kTileVectors];
    for (__m512i &sum : sums) sum = _mm512_setzero_si512();
    for (int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 2
      for (int64_t v = 0; v < kTileVectors; ++v, panel += kVector) {
        sums[v] = _mm512_dpbusd_epi32(sums[v], ones, load(panel));
      }
    }
    for (int64_t v = 0; v < kTileVectors; ++v) {
      const __m512i start = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(sums[v], 7));
      _mm512_storeu_si512(starts + v * kVector, start);
    }
  }

  // Interleaves four rows of 64 bytes to 64 dwords of four bytes, in order.
  static void interleave(Dwords (&rows)[4]) {
    const __m512i low01 = _mm512_unpacklo_epi8(rows[0], rows[1]), high01 = _mm512_unpackhi_epi8(rows[0], rows[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(rows[2], rows[3]), high23 = _mm512_unpackhi_epi8(rows[2], rows[3]);
    // Quarter q of pieces[p] holds lanes 16 · q + 4 · p + 0 .. 3.
    const __m512i pieces[4] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                               _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
    const __m512i even01 = _mm512_shuffle_i32x4(pieces[0], pieces[1], 0x88);
    const __m512i odd01 = _mm512_shuffle_i32x4(pieces[0], pieces[1], 0xDD);
    const __m512i even23 = _mm512_shuffle_i32x4(pieces[2], pieces[3], 0x88);
    const __m512i odd23 = _mm512_shuffle_i32x4(pieces[2], pieces[3], 0xDD);
    rows[0] = _mm512_shuffle_i32x4(even01, even23, 0x88);
    rows[2] = _mm512_shuffle_i32x4(even01, even23, 0xDD);
    rows[1] = _mm512_shuffle_i32x4(odd01, odd23, 0x88);
    rows[3] = _mm512_shuffle_i32x4(odd01, odd23, 0xDD);
  }

  // Loads 64 adjacent elements. Elements past `count` are multiplied by zeros of the other operand, or belong to lanes that are
  // not read.
  template <Decoder>
  static Dwords decode(const Operand &operand, int64_t row, int64_t column, int64_t count) {
    const __m512i codes =
        _mm512_maskz_loadu_epi8(lane_mask(0, count), operand.data + row * operand.row_stride + column);
    return _mm512_xor_si512(codes, _mm512_set1_epi8(static_cast<char>(operand.flip)));
  }
};

}  // namespace
}  // namespace lpt
