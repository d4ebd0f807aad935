// How the kernel for few rows of a shares out its work: maps of places to numbers, which tests walk without a device.
//
// b is stored n × k with codes of four bits. A warp takes tiles of 16 rows of b, which are the left operand of its small
// products, and up to 16 rows of a as columns of the right one. Along k it takes steps of 128: four words of eight codes a lane
// for each row, and the same eight numbers of a. In which order k is added up does not matter as long as both sides agree: a word
// makes two MMA operations, of whose 16 places along k a lane has four.
#pragma once

#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

constexpr int64_t kMostFewRows = 16;
constexpr int32_t kFewStep = 128;  // of k
constexpr int32_t kFewWords = 4;   // of a lane in a step
constexpr uint32_t kFewWarps = 8;  // of a block; they take steps in turn

// The first k, in its step, of a lane's word. With groups of 32, words of one group lie side by side in the four lanes that share
// a row; else a lane has 16 adjacent bytes.
LPT_HOST_DEVICE constexpr int32_t first_k_of_word(bool has_narrow_groups, int32_t word, int32_t place) {
  return has_narrow_groups ? 32 * word + 8 * place : 32 * place + 8 * word;
}

// Which of a word's eight k an MMA operation (0 or 1) has at its place p along k, of this lane's four: p % 8 / 2 is the lane's
// place in its group.
LPT_HOST_DEVICE constexpr int32_t k_of_word(int32_t gemm, int32_t p) {
  const int32_t pair = 2 * gemm + p / 8;
  return pair + p % 2 * 4;
}

}  // namespace lpt
