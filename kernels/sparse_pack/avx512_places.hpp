// Indices of 2:4 matrices as bit masks of columns, 512 columns at a time. Included by ISA files only.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/intrinsics.hpp"

namespace lpt {
namespace {

constexpr int64_t kSparseStep = 512;  // columns whose indices fit one register

// Looks up both nibbles of each byte in tables of 16.
inline __m512i look_up_halves(__m512i bytes, __m512i table) {
  const __m512i low_half = _mm512_set1_epi8(15);
  const __m512i first = _mm512_shuffle_epi8(table, _mm512_and_si512(bytes, low_half));
  const __m512i second = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low_half));
  return _mm512_or_si512(first, _mm512_slli_epi16(second, 4));
}

// Computes the bit mask of the stored columns of 512.
inline void spread_places(const uint8_t *indices, uint8_t (&bits)[64]) {
  // Table index: two bits for the first stored column and two for the second. Entry: bits of both columns.
  const __m512i table = _mm512_broadcast_i32x4(_mm_setr_epi8(1, 3, 5, 9, 3, 2, 6, 10, 5, 6, 4, 12, 9, 10, 12, 8));
  _mm512_storeu_si512(bits, look_up_halves(_mm512_loadu_si512(indices), table));
}

template <typename Mask>
inline Mask mask_at(const uint8_t *bits) {
  Mask mask;
  memcpy(&mask, bits, sizeof mask);
  return mask;
}

// Computes the inverse: from the bits of kept columns, the bits with two columns per group (padded with the lowest other
// columns) and their indices. Groups keep at most two columns.
inline void gather_places(__m512i kept, uint8_t (&bits)[64], uint8_t *indices) {
  const __m512i filled = _mm512_broadcast_i32x4(_mm_setr_epi8(3, 3, 3, 3, 5, 5, 6, 3, 9, 9, 10, 3, 12, 3, 3, 3));
  const __m512i places = _mm512_broadcast_i32x4(_mm_setr_epi8(4, 4, 4, 4, 4, 8, 9, 4, 4, 12, 13, 4, 14, 4, 4, 4));
  const __m512i two = look_up_halves(kept, filled);
  _mm512_storeu_si512(bits, two);
  _mm512_storeu_si512(indices, look_up_halves(two, places));
}

}  // namespace
}  // namespace lpt
