// Tiles in lanes of AVX-512: conversion of rows of weights to tiles, and of the bits of tiles to rows of bytes.
//   transpose_fours()                leaves tile (kLanes / 4) · (lane % 4) + lane / 4 in a lane
//   transpose_eights()               leaves tile tile_of(lane) in a lane
//   write_row<row>(to, codes, count) writes bits 4 · row to 4 · row + 3 of each tile as bytes
//   write_eights<row>()              writes byte `row` of each tile as eight bytes
// Tiles are written in the order of their columns.
#pragma once

#include <cstring>

#include "kernels/common/simd_avx512.hpp"

namespace lpt {

// Returns indices that repeat one byte of each tile four times, in tile order.
static inline __m512i byte_places(int byte) {
  const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i first_bytes = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x04040404));
  return _mm512_add_epi8(first_bytes, _mm512_set1_epi8(static_cast<char>(byte)));
}

// Tile t is in lane 4 · (t % 4) + t / 4. Rows 0 and 1 are in byte 0 of the lane, rows 2 and 3 in byte 1.
template <int kRow>
[[gnu::always_inline]] static inline void write_row(uint8_t *to, U32 codes, int64_t count) {
  const __m512i bits = bits_of(codes);
  const __m512i tile_bytes = _mm512_permutexvar_epi8(byte_places(kRow / 2), bits);
  const __m512i places = _mm512_set1_epi32(kRow % 2 == 0 ? 0x08040201 : static_cast<int32_t>(0x80402010));
  const __m512i bytes = _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(tile_bytes, places), 1);
  if (count >= 64) return _mm512_storeu_si512(to, bytes);
  _mm512_mask_storeu_epi8(to, lane_mask(0, count), bytes);
}

// In the first four vectors, each four lanes hold columns 0 to 3 or 4 to 7 of a tile; the last four vectors have the same
// layout.
[[gnu::always_inline]] static inline void transpose_eights(F32 (&v)[8]) {
  F32 near[4] = {v[0], v[1], v[2], v[3]}, far[4] = {v[4], v[5], v[6], v[7]};
  transpose_fours(near);
  transpose_fours(far);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm512_shuffle_f32x4(near[i], far[i], 0x88);
    v[4 + i] = _mm512_shuffle_f32x4(near[i], far[i], 0xDD);
  }
}
static inline int tile_of(int lane) { return lane / 8 * 8 + lane % 4 * 2 + lane / 4 % 2; }

template <int kByte>
[[gnu::always_inline]] static inline void write_eights(uint8_t *to, U32 codes, int64_t count) {
  const __m512i bits = bits_of(codes);
  const __m128i lanes = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
  const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_srli_epi32(bits, 8 * kByte));
  const __m128i in_order = _mm_shuffle_epi8(bytes, lanes);
  const __m512i first = _mm512_maskz_set1_epi8(static_cast<uint64_t>(_mm_cvtsi128_si64(in_order)), 1);
  const __m512i second = _mm512_maskz_set1_epi8(static_cast<uint64_t>(_mm_extract_epi64(in_order, 1)), 1);
  _mm512_mask_storeu_epi8(to, lane_mask(0, count), first);
  if (count > 64) _mm512_mask_storeu_epi8(to + 64, lane_mask(0, count - 64), second);
}

}  // namespace lpt
