// Random bits of casts with AVX2: 16 or 8 per element of a row, in element order. Included by an ISA file only.
#pragma once

#include "kernels/common/philox_lanes.hpp"
#include "kernels/quantize/x86/avx2_lanes.hpp"

namespace lpt {
namespace {

constexpr int64_t kRandomColumns = 1024;

// Random bits of adjacent elements, starting at a Philox block boundary.
struct RandomSlab {
  alignas(32) uint8_t bytes[2 * (kRandomColumns + 32)];
};

struct RandomPair {
  __m256i low, high;  // blocks 0 and 1, 2 and 3
};

// The words of four counters after some rounds. The upper halves of the lanes are undefined.
struct PhiloxWords {
  __m256i word[4];
};

[[gnu::always_inline]] inline __m256i all_pairs(uint64_t word) {
  return _mm256_set1_epi64x(static_cast<int64_t>(word));
}

[[gnu::always_inline]] inline __m256i philox_multiplied(__m256i word, uint32_t multiplier) {
  return _mm256_mul_epu32(word, _mm256_set1_epi64x(multiplier));
}

[[gnu::always_inline]] inline __m256i philox_upper(__m256i scaled_value, __m256i word) {
  return _mm256_xor_si256(_mm256_srli_epi64(scaled_value, 32), word);
}

[[gnu::always_inline]] inline void philox_round(PhiloxWords &words, uint64_t key0, uint64_t key1) {
  const __m256i product0 = philox_multiplied(words.word[0], kPhiloxMultiplier0);
  const __m256i product1 = philox_multiplied(words.word[2], kPhiloxMultiplier1);
  words = {{philox_upper(product1, _mm256_xor_si256(words.word[1], all_pairs(key0))), product1,
            philox_upper(product0, _mm256_xor_si256(words.word[3], all_pairs(key1))), product0}};
}

// Computes three rounds. Counters below 2^32 share half of the first two rounds.
template <bool kIsBelow32>
[[gnu::always_inline]] inline PhiloxWords philox_first_rounds(const PhiloxLanes &lanes, __m256i counters) {
  if constexpr (!kIsBelow32) {
    PhiloxWords words = {{counters, _mm256_srli_epi64(counters, 32), all_pairs(lanes.stream), all_pairs(lanes.step)}};
#pragma GCC unroll 3
    for (int round = 0; round < 3; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
    return words;
  }
  const __m256i first = philox_multiplied(counters, kPhiloxMultiplier0);
  const __m256i second = philox_multiplied(philox_upper(first, all_pairs(lanes.first2)), kPhiloxMultiplier1);
  const __m256i product0 = philox_multiplied(philox_upper(second, all_pairs(lanes.second0)), kPhiloxMultiplier0);
  const __m256i product1 = philox_multiplied(_mm256_xor_si256(first, all_pairs(lanes.second2)), kPhiloxMultiplier1);
  return {{philox_upper(product1, _mm256_xor_si256(second, all_pairs(lanes.key0[2]))), product1,
           philox_upper(product0, all_pairs(lanes.third2)), product0}};
}

// Computes four blocks. The order of the counters makes the interleaved halves of the results ascend.
template <int kRounds, bool kIsBelow32>
[[gnu::always_inline]] inline RandomPair philox_blocks(const PhiloxLanes &lanes, __m256i counters) {
  PhiloxWords words = philox_first_rounds<kIsBelow32>(lanes, counters);
#pragma GCC unroll 7
  for (int round = 3; round < kRounds; ++round) philox_round(words, lanes.key0[round], lanes.key1[round]);
  const __m256i first = _mm256_blend_epi32(words.word[0], _mm256_slli_epi64(words.word[1], 32), 0xAA);
  const __m256i second = _mm256_blend_epi32(words.word[2], _mm256_slli_epi64(words.word[3], 32), 0xAA);
  return {_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second)};
}

template <int kRounds, bool kIsBelow32>
void fill_blocks(const PhiloxLanes &shared, uint64_t block, int64_t bytes, uint8_t *to) {
  const PhiloxLanes lanes = shared;
  const __m256i places = _mm256_setr_epi64x(0, 2, 1, 3);
  for (int64_t at = 0; at < bytes; at += 64, block += 4) {
    const RandomPair pair = philox_blocks<kRounds, kIsBelow32>(lanes, _mm256_add_epi64(all_pairs(block), places));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at), pair.low);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + at + 32), pair.high);
  }
}

// Fills the random bits of `count` elements from `index` on, at most kRandomColumns. Returns a pointer to the first.
inline const uint8_t *fill_random(const RandomSource &source, const PhiloxLanes &lanes, uint64_t index, int64_t count,
                                  RandomSlab &slab) {
  const uint64_t bytes_each = source.bits == 16 ? 2 : 1;
  const uint64_t head = index * bytes_each % 16;
  const uint64_t block = index / (16 / bytes_each);
  const int64_t bytes = static_cast<int64_t>(head + static_cast<uint64_t>(count) * bytes_each);
  const bool is_below = block < (uint64_t{1} << 32) - kRandomColumns;  // and so are the other blocks of the slab
  const auto fill = source.rounds == 7 ? (is_below ? fill_blocks<7, true> : fill_blocks<7, false>)
                                       : (is_below ? fill_blocks<10, true> : fill_blocks<10, false>);
  fill(lanes, block, bytes, slab.bytes);
  return slab.bytes + head;
}

}  // namespace
}  // namespace lpt
