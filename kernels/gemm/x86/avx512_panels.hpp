// Packing of unpacked rows into panels (panels.hpp), one panel at a time. Included by ISA files: all functions have internal
// linkage.
//
// `rows` is the first of up to 32 lanes, `stride` bytes apart, each with k adjacent codes of 4 or 8 bits. Missing lanes are
// zeros. Each function writes full lines up to the last step of k.
#pragma once

#include "kernels/common/simd_avx512.hpp"
#include "kernels/gemm/panels.hpp"

namespace lpt {
namespace {

// Loads 64 bytes of one lane from byte `at` of `bytes` on. Bytes past the end and missing lanes are zeros. The function
// prefetches the next panel, because the hardware does not prefetch so many short runs.
inline __m512i load_lane(const uint8_t *rows, int64_t stride, int64_t lane, int64_t lanes, int64_t at, int64_t bytes) {
  if (lane >= lanes) return _mm512_setzero_si512();
  __builtin_prefetch(rows + (lane + kPanelLanes) * stride + at, 0, 2);
  return _mm512_maskz_loadu_epi8(lane_mask(0, bytes - at), rows + lane * stride + at);
}

inline void store_lines(const __m512i (&lines)[16], int64_t first, int64_t stride, int64_t count, uint8_t *panel) {
  for (int64_t i = 0; i < 16; ++i) {
    if (const int64_t line = first + i * stride; line < count) {
      _mm512_storeu_si512(panel + line * kPanelLineBytes, lines[i]);
    }
  }
}

// Combines lanes l and 16 + l: their nibbles form bytes of even and of odd k, which are interleaved to dwords of four elements
// of k. The dwords are then transposed, 16 lanes by 16 steps.
inline void pack_nibbles(const uint8_t *rows, int64_t stride, int64_t lanes, int64_t k, uint8_t *panel) {
  const int64_t bytes = (k + 1) / 2, count = (k + 3) / 4;
  const __m512i low_half = _mm512_set1_epi8(15);
  for (int64_t at = 0; at < bytes; at += 64) {
    __m512i first[16], second[16];  // of each run of 8 steps: the first four, and the last four
    for (int64_t l = 0; l < 16; ++l) {
      const __m512i low = load_lane(rows, stride, l, lanes, at, bytes);
      const __m512i high = load_lane(rows, stride, 16 + l, lanes, at, bytes);
      const __m512i even = _mm512_ternarylogic_epi32(low_half, low, _mm512_slli_epi16(high, 4), 0xCA);
      const __m512i odd = _mm512_ternarylogic_epi32(low_half, _mm512_srli_epi16(low, 4), high, 0xCA);
      first[l] = _mm512_unpacklo_epi16(even, odd);
      second[l] = _mm512_unpackhi_epi16(even, odd);
    }
    transpose(first);
    transpose(second);
    for (int64_t i = 0; i < 16; ++i) {
      const int64_t line = at / 2 + i / 4 * 8 + i % 4;
      if (line < count) _mm512_storeu_si512(panel + line * kPanelLineBytes, first[i]);
      if (line + 4 < count) _mm512_storeu_si512(panel + (line + 4) * kPanelLineBytes, second[i]);
    }
  }
}

inline void pack_byte_quads(const uint8_t *rows, int64_t stride, int64_t lanes, int64_t k, uint8_t *panel) {
  for (int64_t at = 0; at < k; at += 64) {
    for (int64_t v = 0; v < 2; ++v) {
      __m512i lines[16];
#pragma GCC unroll 16
      for (int64_t l = 0; l < 16; ++l) lines[l] = load_lane(rows, stride, 16 * v + l, lanes, at, k);
      transpose(lines);
      store_lines(lines, at / 2 + v, 2, (k + 3) / 4 * 2, panel);
    }
  }
}

// Two lanes that are adjacent in a line share a dword. Lines of even and of odd pairs of k are transposed separately.
inline void pack_byte_pairs(const uint8_t *rows, int64_t stride, int64_t lanes, int64_t k, uint8_t *panel) {
  constexpr __mmask32 kUpper = 0xAAAAAAAA;
  for (int64_t at = 0; at < k; at += 64) {
    __m512i even[16], odd[16];
    for (int64_t d = 0; d < 16; ++d) {
      const int64_t lane = 4 * (d / 4) + 2 * (d % 2) + 16 * (d % 4 / 2);
      const __m512i left = load_lane(rows, stride, lane, lanes, at, k);
      const __m512i right = load_lane(rows, stride, lane + 1, lanes, at, k);
      even[d] = _mm512_mask_blend_epi16(kUpper, left, _mm512_slli_epi32(right, 16));
      odd[d] = _mm512_mask_blend_epi16(kUpper, _mm512_srli_epi32(left, 16), right);
    }
    transpose(even);
    transpose(odd);
    store_lines(even, at / 2, 2, (k + 3) / 4 * 2, panel);
    store_lines(odd, at / 2 + 1, 2, (k + 3) / 4 * 2, panel);
  }
}

}  // namespace
}  // namespace lpt
