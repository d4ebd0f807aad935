// Work distribution of the kernel for few rows of a: index maps, which tests check without a device.
//
// b is stored n × k with 4-bit codes. A warp processes tiles of 16 rows of b as the left MMA operand. Up to 16 rows of a are
// the columns of the right operand. A step is 128 elements of k: four words of eight codes per lane for each row of b, and the
// same eight elements of a. The order in which k is summed is free if both operands use the same order. A word is used by two
// MMA instructions; a lane has four of the 16 positions along k of each.
#pragma once

#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

constexpr int64_t kMostFewRows = 16;
constexpr int32_t kFewStep = 128;  // elements of k
constexpr int32_t kFewWords = 4;   // per lane in a step
constexpr uint32_t kFewWarps = 8;  // per block; they process steps round-robin

// Returns the first k, within its step, of a lane's word. With groups of 32, the words of one group are adjacent in the four
// lanes that share a row. Otherwise a lane has 16 adjacent bytes.
LPT_HOST_DEVICE constexpr int32_t first_k_of_word(bool has_narrow_groups, int32_t word, int32_t place) {
  return has_narrow_groups ? 32 * word + 8 * place : 32 * place + 8 * word;
}

// Returns which of the eight k of a word is at position p along k of MMA instruction `gemm` (0 or 1). The lane that has
// position p is lane p % 8 / 2 of its group of four.
LPT_HOST_DEVICE constexpr int32_t k_of_word(int32_t gemm, int32_t p) {
  const int32_t pair = 2 * gemm + p / 8;
  return pair + p % 2 * 4;
}

}  // namespace lpt
