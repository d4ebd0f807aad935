// AVX2 pieces that families share. Everything is static: each file that includes this owns its copy.
#pragma once

#include "kernels/common/intrinsics.hpp"

namespace lpt {

// 8 × 8 dwords: within 2 × 2, 4 × 4, then whole halves.
[[gnu::always_inline]] static inline void transpose(__m256i (&rows)[8]) {
  __m256i pairs[8], quads[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {  // quads[4·g + c]: rows 4·g to 4·g + 3 of columns c, c + 4
    quads[i] = _mm256_unpacklo_epi64(pairs[i], pairs[i + 2]);
    quads[i + 1] = _mm256_unpackhi_epi64(pairs[i], pairs[i + 2]);
    quads[i + 2] = _mm256_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = _mm256_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm256_permute2x128_si256(quads[c], quads[4 + c], 0x20);
    rows[4 + c] = _mm256_permute2x128_si256(quads[c], quads[4 + c], 0x31);
  }
}

[[gnu::always_inline]] static inline void transpose(__m256 (&rows)[8]) {
  __m256i bits[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) bits[i] = _mm256_castps_si256(rows[i]);
  transpose(bits);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) rows[i] = _mm256_castsi256_ps(bits[i]);
}

}  // namespace lpt
