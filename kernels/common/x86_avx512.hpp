// AVX-512 pieces that families share. Everything is static: each file that includes this owns its copy.
#pragma once

#include <cstdint>

#include "kernels/common/intrinsics.hpp"
#include "src/base/philox.hpp"

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

// Key and counter of Philox, spread for eight counters at a time: one word per 64-bit lane, because vpmuludq leaves out
// the upper halves. A round is 2 multiplications, 2 shifts and 2 ternary xors.
struct PhiloxLanes {
  uint64_t key0[10];
  uint64_t key1[10];
  uint64_t stream;
  uint64_t step;
};

static inline PhiloxLanes philox_lanes(const RandomSource &source) {
  PhiloxLanes lanes;
  uint32_t key0 = static_cast<uint32_t>(source.seed);
  uint32_t key1 = static_cast<uint32_t>(source.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    lanes.key0[round] = key0;
    lanes.key1[round] = key1;
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  lanes.stream = source.stream;
  lanes.step = source.step;
  return lanes;
}

// 16 random bits for each of 64 elements, in order: the first 32 elements in `low`.
struct RandomU16x64 {
  __m512i low;
  __m512i high;
};

// Blocks `block` to `block + 7` of eight elements each.
template <int kRounds>
[[gnu::always_inline]] static inline RandomU16x64 random_u16x64(const PhiloxLanes &lanes, uint64_t block) {
  const __m512i multiplier0 = _mm512_set1_epi64(kPhiloxMultiplier0);
  const __m512i multiplier1 = _mm512_set1_epi64(kPhiloxMultiplier1);
  // Counters stand so that interleaving the halves of the results gives blocks 0-3 and 4-7.
  const __m512i counter =
      _mm512_add_epi64(_mm512_set1_epi64(static_cast<int64_t>(block)), _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0));
  __m512i word0 = counter;
  __m512i word1 = _mm512_srli_epi64(counter, 32);
  __m512i word2 = _mm512_set1_epi64(static_cast<int64_t>(lanes.stream));
  __m512i word3 = _mm512_set1_epi64(static_cast<int64_t>(lanes.step));
#pragma GCC unroll 10
  for (int round = 0; round < kRounds; ++round) {
    const __m512i key0 = _mm512_set1_epi64(static_cast<int64_t>(lanes.key0[round]));
    const __m512i key1 = _mm512_set1_epi64(static_cast<int64_t>(lanes.key1[round]));
    const __m512i product0 = _mm512_mul_epu32(word0, multiplier0);
    const __m512i product1 = _mm512_mul_epu32(word2, multiplier1);
    word0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product1, 32), word1, key0, 0x96);
    word2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(product0, 32), word3, key1, 0x96);
    word1 = product1;  // upper halves hold leftovers: they are masked or shifted out below
    word3 = product0;
  }
  const __mmask16 odd = 0xAAAA;
  const __m512i first = _mm512_mask_blend_epi32(odd, word0, _mm512_slli_epi64(word1, 32));
  const __m512i second = _mm512_mask_blend_epi32(odd, word2, _mm512_slli_epi64(word3, 32));
  return {_mm512_unpacklo_epi64(first, second), _mm512_unpackhi_epi64(first, second)};
}

}  // namespace lpt
