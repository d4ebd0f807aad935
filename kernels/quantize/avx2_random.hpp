// Random bits for casts with AVX2: 16 for each element of a row, in order. Included by an ISA file only.
#pragma once

#include "kernels/quantize/avx2_lanes.hpp"
#include "src/base/philox.hpp"

namespace lpt {
namespace {

constexpr int64_t kRandomColumns = 1024;

// Bits of adjacent elements, from a whole Philox block on. Eight bits stand in the upper half.
struct RandomStrip {
  alignas(32) uint16_t bits[kRandomColumns + 64];
};

struct RandomPair {
  __m256i low, high;  // blocks 0 and 1, 2 and 3
};

// Four blocks of Philox: one word per lane of 64 bits, as vpmuludq leaves out the upper halves. The counters stand so
// that interleaving the halves of the results gives them in order.
template <int kRounds>
[[gnu::always_inline]] inline RandomPair philox_blocks(const RandomSource &source, __m256i counters) {
  const __m256i multiplier0 = _mm256_set1_epi64x(kPhiloxMultiplier0);
  const __m256i multiplier1 = _mm256_set1_epi64x(kPhiloxMultiplier1);
  __m256i key0 = _mm256_set1_epi64x(static_cast<int64_t>(source.seed & 0xFFFFFFFFu));
  __m256i key1 = _mm256_set1_epi64x(static_cast<int64_t>(source.seed >> 32));
  __m256i word0 = counters;
  __m256i word1 = _mm256_srli_epi64(counters, 32);
  __m256i word2 = _mm256_set1_epi64x(source.stream);
  __m256i word3 = _mm256_set1_epi64x(source.step);
#pragma GCC unroll 10
  for (int round = 0; round < kRounds; ++round) {
    const __m256i product0 = _mm256_mul_epu32(word0, multiplier0);
    const __m256i product1 = _mm256_mul_epu32(word2, multiplier1);
    word0 = _mm256_xor_si256(_mm256_srli_epi64(product1, 32), _mm256_xor_si256(word1, key0));
    word2 = _mm256_xor_si256(_mm256_srli_epi64(product0, 32), _mm256_xor_si256(word3, key1));
    word1 = product1;  // upper halves hold leftovers: they are shifted out below
    word3 = product0;
    key0 = _mm256_add_epi32(key0, _mm256_set1_epi64x(kPhiloxWeyl0));
    key1 = _mm256_add_epi32(key1, _mm256_set1_epi64x(kPhiloxWeyl1));
  }
  const __m256i first = _mm256_blend_epi32(word0, _mm256_slli_epi64(word1, 32), 0xAA);
  const __m256i second = _mm256_blend_epi32(word2, _mm256_slli_epi64(word3, 32), 0xAA);
  return {_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second)};
}

template <int kRounds>
void fill_random_rounds(const RandomSource &shared, uint64_t block, int64_t count, uint16_t *to) {
  const RandomSource source = shared;
  const __m256i places = _mm256_setr_epi64x(0, 2, 1, 3);
  if (source.bits == 16) {
    for (int64_t at = 0; at < count; at += 32, block += 4) {
      const __m256i counters = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(block)), places);
      const RandomPair pair = philox_blocks<kRounds>(source, counters);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at), pair.low);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at + 16), pair.high);
    }
    return;
  }
  for (int64_t at = 0; at < count; at += 64, block += 4) {
    const __m256i counters = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<int64_t>(block)), places);
    const RandomPair pair = philox_blocks<kRounds>(source, counters);
    const __m128i blocks[4] = {_mm256_castsi256_si128(pair.low), _mm256_extracti128_si256(pair.low, 1),
                               _mm256_castsi256_si128(pair.high), _mm256_extracti128_si256(pair.high, 1)};
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at + 16 * i),
                          _mm256_slli_epi16(_mm256_cvtepu8_epi16(blocks[i]), 8));
    }
  }
}

// Bits of `count` elements from `index` on, at most kRandomColumns; they begin where the result points.
inline const uint16_t *fill_random(const RandomSource &source, uint64_t index, int64_t count, RandomStrip &strip) {
  const uint64_t per_block = source.bits == 16 ? 8 : 16;
  const auto head = static_cast<int64_t>(index % per_block);
  const uint64_t block = index / per_block;
  if (source.rounds == 7) {
    fill_random_rounds<7>(source, block, head + count, strip.bits);
  } else {
    fill_random_rounds<10>(source, block, head + count, strip.bits);
  }
  return strip.bits + head;
}

}  // namespace
}  // namespace lpt
