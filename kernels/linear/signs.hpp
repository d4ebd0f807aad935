// The signs of a rotation, for the CPU and for devices.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/base/philox.hpp"

namespace lpt {

// The random source of the signs, as forward saves it.
struct SignSeed {
  uint64_t seed;
  uint32_t stream;  // the stream of lpt_random
  uint32_t step;
};

// As hard-coded by the authors of arXiv 2509.25149: bit c is set if sign c of 16 is -1.
constexpr uint32_t kFixedSigns = 0xD7E8;

// Returns random_bits(random, 0, column) & 1 for 16-bit draws from index 0 on. The word is selected by comparisons instead of
// an index, so that a device keeps the words in registers.
LPT_HOST_DEVICE static inline uint32_t sign_bit(const RandomSource &random, int64_t column) {
  const PhiloxBlock block = random_block(random, static_cast<uint64_t>(column) / 8);
  const int64_t place = column % 8 / 2;
  const uint32_t low = place == 0 ? block.word[0] : block.word[1], high = place == 2 ? block.word[2] : block.word[3];
  return (place < 2 ? low : high) >> (column % 2 * 16) & 1;
}

// Returns 1 or -1 for a column of a rotation. All groups of `size` columns have the same signs.
LPT_HOST_DEVICE static inline float sign_of(lpt_hadamard_signs signs, const RandomSource &random, int32_t size,
                                            int64_t column) {
  if (signs == LPT_HADAMARD_SIGNS_NONE) return 1.0f;
  const bool is_fixed = signs == LPT_HADAMARD_SIGNS_FIXED;
  const uint32_t bit = is_fixed ? kFixedSigns >> (column % 16) & 1 : sign_bit(random, column % size);
  return bit != 0 ? -1.0f : 1.0f;
}

}  // namespace lpt
