// What kernel families share of AVX-512. Everything is static: each file that includes this owns its copy.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"
#include "kernels/common/philox_lanes.hpp"
#include "lpt.h"

namespace lpt {

// One bit for each lane in [begin, end), cut to 64 lanes.
static inline __mmask64 lane_mask(int64_t begin, int64_t end) {
  const uint64_t below_end = end >= 64 ? ~uint64_t{0} : end <= 0 ? 0 : (uint64_t{1} << end) - 1;
  const uint64_t below_begin = begin >= 64 ? ~uint64_t{0} : begin <= 0 ? 0 : (uint64_t{1} << begin) - 1;
  return below_end & ~below_begin;
}

[[gnu::always_inline]] static inline __m512 magnitude_f32x16(__m512 value) {
  return _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(value), _mm512_set1_epi32(0x7FFFFFFF)));
}

// ---- numbers of 16 bits

[[gnu::always_inline]] static inline __m512i dwords_of_words(__m256i words) { return _mm512_cvtepu16_epi32(words); }

// NaN keeps all of its bits.
[[gnu::always_inline]] static inline __m512 f32_of_bf16(__m256i codes) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(dwords_of_words(codes), 16));
}

// The codes of bf16 in the upper halves of dwords, to nearest even and without a test for NaN; vcvtneps2bf16 takes subnormals
// for zero. What is too large carries into infinity; a NaN whose lower half is zero keeps its bits.
[[gnu::always_inline]] static inline __m512i bf16_rounded(__m512 numbers) {
  const __m512i bits = _mm512_castps_si512(numbers);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
}

// Numbers `index` to `index + 15` of f32, bf16 or f16; zeros from `count` on, whose memory is not read.
template <lpt_format kPlain>
[[gnu::always_inline]] static inline __m512 load_numbers(const void *data, int64_t index, int64_t count) {
  const auto present = static_cast<__mmask16>(lane_mask(0, count));
  if constexpr (kPlain == LPT_FORMAT_F32) {
    const float *const from = static_cast<const float *>(data) + index;
    return count >= 16 ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(present, from);
  } else {
    const uint16_t *const from = static_cast<const uint16_t *>(data) + index;
    const __m256i codes = count >= 16 ? _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))
                                      : _mm256_maskz_loadu_epi16(present, from);
    return kPlain == LPT_FORMAT_F16 ? _mm512_cvtph_ps(codes) : f32_of_bf16(codes);
  }
}

// ---- lanes

// 16 × 16 dwords: within 2 × 2, 4 × 4, then whole 128-bit quarters.
[[gnu::always_inline]] static inline void transpose(__m512i (&rows)[16]) {
  __m512i pairs[16], quads[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {  // quads[4·g + c]: rows 4·g to 4·g + 3 of columns c, c + 4, c + 8, c + 12
    quads[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    quads[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    quads[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    quads[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512i even_low = _mm512_shuffle_i32x4(quads[c], quads[4 + c], 0x88);  // columns c, c + 8
    const __m512i odd_low = _mm512_shuffle_i32x4(quads[c], quads[4 + c], 0xDD);   // columns c + 4, c + 12
    const __m512i even_high = _mm512_shuffle_i32x4(quads[8 + c], quads[12 + c], 0x88);
    const __m512i odd_high = _mm512_shuffle_i32x4(quads[8 + c], quads[12 + c], 0xDD);
    rows[c] = _mm512_shuffle_i32x4(even_low, even_high, 0x88);
    rows[c + 4] = _mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
    rows[c + 8] = _mm512_shuffle_i32x4(even_low, even_high, 0xDD);
    rows[c + 12] = _mm512_shuffle_i32x4(odd_low, odd_high, 0xDD);
  }
}

[[gnu::always_inline]] static inline void transpose(__m512 (&rows)[16]) {
  __m512i bits[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) bits[i] = _mm512_castps_si512(rows[i]);
  transpose(bits);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) rows[i] = _mm512_castsi512_ps(bits[i]);
}

// 4 × 4 floats within quarters, which undoes itself.
[[gnu::always_inline]] static inline void transpose_fours(__m512 (&v)[4]) {
  const __m512d low = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[1]));
  const __m512d high = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[1]));
  const __m512d other_low = _mm512_castps_pd(_mm512_unpacklo_ps(v[2], v[3]));
  const __m512d other_high = _mm512_castps_pd(_mm512_unpackhi_ps(v[2], v[3]));
  v[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, other_low));
  v[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, other_low));
  v[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high, other_high));
  v[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high, other_high));
}

// ---- random bits

// 16 random bits for each of 64 elements, in order: the first 32 elements in `low`. Or 8 bits for each of 128.
struct RandomU16x64 {
  __m512i low;
  __m512i high;
};

// The words of eight counters after some rounds; the upper halves of the lanes hold leftovers.
struct PhiloxWords {
  __m512i word[4];
};

[[gnu::always_inline]] static inline __m512i philox_multiplied(__m512i word, uint32_t multiplier) {
  return _mm512_mul_epu32(word, _mm512_set1_epi64(multiplier));
}

[[gnu::always_inline]] static inline __m512i philox_mixed(__m512i product, __m512i word, uint64_t key) {
  const __m512i keys = _mm512_set1_epi64(static_cast<int64_t>(key));
  return _mm512_ternarylogic_epi64(_mm512_srli_epi64(product, 32), word, keys, 0x96);
}

[[gnu::always_inline]] static inline void philox_round(PhiloxWords &words, uint64_t key0, uint64_t key1) {
  const __m512i product0 = philox_multiplied(words.word[0], kPhiloxMultiplier0);
  const __m512i product1 = philox_multiplied(words.word[2], kPhiloxMultiplier1);
  words = {
      {philox_mixed(product1, words.word[1], key0), product1, philox_mixed(product0, words.word[3], key1), product0}};
}

// Three rounds of counters below 2^32.
[[gnu::always_inline]] static inline PhiloxWords philox_first_rounds(const PhiloxLanes &lanes, __m512i counter) {
  const auto every = [](uint64_t word) { return _mm512_set1_epi64(static_cast<int64_t>(word)); };
  const __m512i first = philox_multiplied(counter, kPhiloxMultiplier0);
  const __m512i first2 = _mm512_xor_si512(_mm512_srli_epi64(first, 32), every(lanes.first2));
  const __m512i second = philox_multiplied(first2, kPhiloxMultiplier1);
  const __m512i second0 = _mm512_xor_si512(_mm512_srli_epi64(second, 32), every(lanes.second0));
  const __m512i second2 = _mm512_xor_si512(first, every(lanes.second2));
  const __m512i product0 = philox_multiplied(second0, kPhiloxMultiplier0);
  const __m512i product1 = philox_multiplied(second2, kPhiloxMultiplier1);
  return {{philox_mixed(product1, second, lanes.key0[2]), product1,
           _mm512_xor_si512(_mm512_srli_epi64(product0, 32), every(lanes.third2)), product0}};
}

[[gnu::noinline]] static inline PhiloxWords philox_first_rounds_of_any(const PhiloxLanes &lanes, __m512i counter) {
  PhiloxWords words = {{counter, _mm512_srli_epi64(counter, 32), _mm512_set1_epi64(static_cast<int64_t>(lanes.stream)),
                        _mm512_set1_epi64(static_cast<int64_t>(lanes.step))}};
  for (int round = 0; round < 3; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
  return words;
}

// Blocks `block` to `block + 7` of 128 bits each.
[[gnu::always_inline]] static inline RandomU16x64 random_blocks(const PhiloxLanes &lanes, uint64_t block, int rounds) {
  // Counters stand so that interleaving the halves of the results gives blocks 0-3 and 4-7.
  const __m512i counter =
      _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(block)), _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0));
  PhiloxWords words;
  if (block + 7 <= 0xFFFFFFFFu) [[likely]] {
    words = philox_first_rounds(lanes, counter);
  } else {
    words = philox_first_rounds_of_any(lanes, counter);
  }
#pragma GCC unroll 4
  for (int round = 3; round < 7; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
  if (rounds == 10) {
#pragma GCC unroll 3
    for (int round = 7; round < 10; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
  }
  const __mmask16 odd = 0xAAAA;
  const __m512i first = _mm512_mask_shuffle_epi32(words.word[0], odd, words.word[1], _MM_PERM_CCAA);
  const __m512i second = _mm512_mask_shuffle_epi32(words.word[2], odd, words.word[3], _MM_PERM_CCAA);
  return {_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second)};
}

template <int kRounds>
[[gnu::always_inline]] static inline RandomU16x64 random_u16x64(const PhiloxLanes &lanes, uint64_t block) {
  return random_blocks(lanes, block, kRounds);
}

}  // namespace lpt
