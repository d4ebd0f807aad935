// The signs of a rotation, on the processor and on devices.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/base/philox.hpp"

namespace lpt {

// What random signs are drawn from, as forward saves it.
struct SignSeed {
  uint64_t seed;
  uint32_t stream;  // of lpt_random
  uint32_t step;
};

// As hard-coded by the authors of arXiv 2509.25149: bit c is set where sign c of sixteen is -1.
constexpr uint32_t kFixedSigns = 0xD7E8;

// 1 or -1 for a column of a rotation in groups of `size` columns, which share their signs.
LPT_HOST_DEVICE static inline float sign_of(lpt_signs signs, const RandomSource &random, int32_t size, int64_t column) {
  if (signs == LPT_SIGNS_NONE) return 1.0f;
  const bool is_fixed = signs == LPT_SIGNS_FIXED;
  const uint32_t bit = is_fixed ? kFixedSigns >> (column % 16) & 1 : random_bits(random, 0, column % size) & 1;
  return bit != 0 ? -1.0f : 1.0f;
}

}  // namespace lpt
