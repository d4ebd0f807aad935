// Tiles in lanes of AVX2: conversion of rows of weights to tiles, and of the bits of tiles to rows of bytes.
//   transpose_fours()                leaves tile (kLanes / 4) · (lane % 4) + lane / 4 in a lane
//   transpose_eights()               leaves tile tile_of(lane) in a lane
//   write_row<row>(to, codes, count) writes bits 4 · row to 4 · row + 3 of each tile as bytes
//   write_eights<row>()              writes byte `row` of each tile as eight bytes
// Tiles are written in the order of their columns.
#pragma once

#include <cstring>

#include "kernels/common/simd_avx2.hpp"

namespace lpt {

// Expands byte kByte of four tiles to eight bytes each. Both halves of `tiles` hold the same four tiles.
template <int kByte>
[[gnu::always_inline]] static inline __m256i bytes_of(__m256i tiles) {
  constexpr int64_t kEight = 0x0101010101010101;
  const __m256i byte_places =
      _mm256_setr_epi64x(kByte * kEight, (kByte + 4) * kEight, (kByte + 8) * kEight, (kByte + 12) * kEight);
  const __m256i places = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
  const __m256i tile_bytes = _mm256_shuffle_epi8(tiles, byte_places);
  const __m256i stays = _mm256_cmpeq_epi8(_mm256_and_si256(tile_bytes, places), places);
  return _mm256_and_si256(stays, _mm256_set1_epi8(1));
}

// Tile t is in lane 4 · (t % 2) + t / 2. Rows 0 and 1 are in byte 0 of the lane, rows 2 and 3 in byte 1.
template <int kRow>
[[gnu::always_inline]] static inline void write_row(uint8_t *to, U32 codes, int64_t count) {
  const __m256i bits = bits_of(codes);
  constexpr int32_t kByte = kRow / 2 * 0x01010101;
  const __m256i in_order = _mm256_permutevar8x32_epi32(bits, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  const __m256i byte_places = _mm256_setr_epi32(kByte, kByte + 0x04040404, kByte + 0x08080808, kByte + 0x0C0C0C0C,
                                                kByte, kByte + 0x04040404, kByte + 0x08080808, kByte + 0x0C0C0C0C);
  const __m256i tile_bytes = _mm256_shuffle_epi8(in_order, byte_places);
  const __m256i places = _mm256_set1_epi32(kRow % 2 == 0 ? 0x08040201 : static_cast<int32_t>(0x80402010));
  const __m256i stays = _mm256_cmpeq_epi8(_mm256_and_si256(tile_bytes, places), places);
  const __m256i bytes = _mm256_and_si256(stays, _mm256_set1_epi8(1));
  if (count >= 32) return _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), bytes);
  memcpy(to, &bytes, static_cast<size_t>(count));
}

[[gnu::always_inline]] static inline void transpose_eights(F32 (&v)[8]) { transpose(v); }
static inline int tile_of(int lane) { return lane; }

// Writes four tiles after the other four.
template <int kByte>
[[gnu::always_inline]] static inline void write_eights(uint8_t *to, U32 codes, int64_t count) {
  const __m256i bits = bits_of(codes);
  const __m256i first = bytes_of<kByte>(_mm256_permute2x128_si256(bits, bits, 0x00));
  const __m256i second = bytes_of<kByte>(_mm256_permute2x128_si256(bits, bits, 0x11));
  if (count >= 64) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), first);
    return _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 32), second);
  }
  const __m256i both[2] = {first, second};
  memcpy(to, both, static_cast<size_t>(count));
}

}  // namespace lpt
