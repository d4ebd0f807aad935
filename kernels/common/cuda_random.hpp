// Random bits of 16 adjacent elements, equal to those that random_bits() returns one by one.
#pragma once

#include "kernels/common/cuda_fragment.hpp"
#include "src/base/philox.hpp"

namespace lpt {

struct RandomFragment {
  uint32_t word[8];  // elements in order, the first in the lowest bits
};

// Shifts the words down by `bytes` (below 16). All indices are constants: a variable index would place the array in local
// memory.
template <int32_t kWords>
__device__ __forceinline__ void shift_words(uint32_t (&word)[kWords], uint32_t bytes) {
  if ((bytes & 8) != 0) {
    for (int32_t i = 0; i + 2 < kWords; ++i) word[i] = word[i + 2];
  }
  if ((bytes & 4) != 0) {
    for (int32_t i = 0; i + 1 < kWords; ++i) word[i] = word[i + 1];
  }
  for (int32_t i = 0; i + 1 < kWords; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], 8 * (bytes & 3));
}

// Returns the words of `kBlocks` blocks of Philox from byte `first_byte` of the random stream on.
template <int32_t kBlocks>
__device__ __forceinline__ RandomFragment drawn_words(const RandomSource &source, uint64_t first_byte) {
  uint32_t word[4 * kBlocks + 4] = {};
  const uint64_t block = first_byte / 16;
  const uint32_t misfit = static_cast<uint32_t>(first_byte % 16);
#pragma unroll
  for (int32_t i = 0; i <= kBlocks; ++i) {
    if (i == kBlocks && misfit == 0) break;  // no word of this block is needed
    const PhiloxBlock drawn = random_block(source, block + static_cast<uint64_t>(i));
    for (int32_t j = 0; j < 4; ++j) word[4 * i + j] = drawn.word[j];
  }
  shift_words(word, misfit);
  RandomFragment fragment = {};
  for (int32_t i = 0; i < 4 * kBlocks; ++i) fragment.word[i] = word[i];
  return fragment;
}

// Draws the bits of elements `index` to `index` + 15.
__device__ __forceinline__ RandomFragment draw_fragment(const RandomSource &source, uint64_t index) {
  return source.bits == 16 ? drawn_words<2>(source, 2 * index) : drawn_words<1>(source, index);
}

// Loads the caller's random bits of `count` elements.
template <int32_t kBits>
__device__ __forceinline__ RandomFragment caller_words(const uint8_t *words, uint64_t index, int32_t count) {
  const int64_t byte = static_cast<int64_t>(index) * kBits / 8;
  const bool is_whole = count == kFragment && reinterpret_cast<uintptr_t>(words + byte) % 16 == 0;
  const CodeFragment<kBits> given = load_codes<kBits>(words, byte, count, is_whole);
  RandomFragment fragment = {};
  for (int32_t i = 0; i < kBits / 2; ++i) fragment.word[i] = given.word[i];
  return fragment;
}

// Returns the bits of elements `index` to `index` + 15, of which `count` are used: the caller's bits, or drawn ones.
__device__ __forceinline__ RandomFragment random_fragment(const RandomSource &source, uint64_t index, int32_t count) {
  if (source.words == nullptr) return draw_fragment(source, index);
  return source.bits == 16 ? caller_words<16>(source.words, index, count) : caller_words<8>(source.words, index, count);
}

__device__ __forceinline__ uint32_t random_of(const RandomFragment &fragment, int32_t bits, int32_t element) {
  return bits == 16 ? (fragment.word[element / 2] >> (16 * (element % 2))) & 0xFFFFu
                    : (fragment.word[element / 4] >> (8 * (element % 4))) & 0xFFu;
}

}  // namespace lpt
