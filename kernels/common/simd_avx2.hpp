// What kernel families share of AVX2. Everything is static: each file that includes this owns its copy.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"
#include "kernels/common/philox_lanes.hpp"
#include "lpt.h"

namespace lpt {

// ---- numbers of 16 bits

[[gnu::always_inline]] static inline __m256i dwords_of_words(__m128i words) { return _mm256_cvtepu16_epi32(words); }

// NaN keeps all of its bits.
[[gnu::always_inline]] static inline __m256 f32_of_bf16(__m128i codes) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(dwords_of_words(codes), 16));
}

// The codes of bf16 in dwords, to nearest even and without a test for NaN. What is too large carries into infinity; a NaN
// whose lower half is zero keeps its bits.
[[gnu::always_inline]] static inline __m256i bf16_dwords(__m256 numbers) {
  const __m256i bits = _mm256_castps_si256(numbers);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), odd), 16);
}

// Ones in the first `count` lanes.
[[gnu::always_inline]] static inline __m256i first_lanes(int64_t count) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(count)), lane);
}

// Numbers `index` to `index + 7` of f32, bf16 or f16; zeros from `count` on, whose memory is not read.
template <lpt_format kPlain>
[[gnu::always_inline]] static inline __m256 load_numbers(const void *data, int64_t index, int64_t count) {
  if constexpr (kPlain == LPT_FORMAT_F32) {
    const float *const from = static_cast<const float *>(data) + index;
    return count >= 8 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, first_lanes(count));
  } else {
    const uint16_t *const from = static_cast<const uint16_t *>(data) + index;
    __m128i codes = _mm_setzero_si128();
    if (count >= 8) {
      codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
    } else if (count > 0) {
      __builtin_memcpy(&codes, from, static_cast<size_t>(count) * sizeof *from);
    }
    return kPlain == LPT_FORMAT_F16 ? _mm256_cvtph_ps(codes) : f32_of_bf16(codes);
  }
}

// ---- lanes

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

// 4 × 4 floats within halves, which undoes itself.
[[gnu::always_inline]] static inline void transpose_fours(__m256 (&v)[4]) {
  const __m256d low = _mm256_castps_pd(_mm256_unpacklo_ps(v[0], v[1]));
  const __m256d high = _mm256_castps_pd(_mm256_unpackhi_ps(v[0], v[1]));
  const __m256d other_low = _mm256_castps_pd(_mm256_unpacklo_ps(v[2], v[3]));
  const __m256d other_high = _mm256_castps_pd(_mm256_unpackhi_ps(v[2], v[3]));
  v[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(low, other_low));
  v[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(low, other_low));
  v[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(high, other_high));
  v[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(high, other_high));
}

// ---- random bits

// The bits of blocks `block` to `block + 3`, one word of Philox in 64 bits.
static inline void store_random_blocks(const PhiloxLanes &lanes, uint64_t block, int32_t rounds, void *to) {
  const auto every = [](uint64_t word) { return _mm256_set1_epi64x(static_cast<int64_t>(word)); };
  // Counters stand so that interleaving the halves of the results gives blocks in order.
  const __m256i counter = _mm256_add_epi64(every(block), _mm256_setr_epi64x(0, 2, 1, 3));
  __m256i word[4] = {counter, _mm256_srli_epi64(counter, 32), every(lanes.stream), every(lanes.step)};
  for (int round = 0; round < rounds; ++round) {
    const __m256i product0 = _mm256_mul_epu32(word[0], every(kPhiloxMultiplier0));
    const __m256i product1 = _mm256_mul_epu32(word[2], every(kPhiloxMultiplier1));
    const __m256i mixed1 = _mm256_xor_si256(word[1], every(lanes.key0[round]));
    const __m256i mixed3 = _mm256_xor_si256(word[3], every(lanes.key1[round]));
    word[0] = _mm256_xor_si256(_mm256_srli_epi64(product1, 32), mixed1);
    word[1] = product1;
    word[2] = _mm256_xor_si256(_mm256_srli_epi64(product0, 32), mixed3);
    word[3] = product0;
  }
  const __m256i first = _mm256_blend_epi32(word[0], _mm256_slli_epi64(word[1], 32), 0xAA);
  const __m256i second = _mm256_blend_epi32(word[2], _mm256_slli_epi64(word[3], 32), 0xAA);
  _mm256_storeu_si256(static_cast<__m256i *>(to), _mm256_unpacklo_epi64(first, second));
  _mm256_storeu_si256(static_cast<__m256i *>(to) + 1, _mm256_unpackhi_epi64(first, second));
}

}  // namespace lpt
