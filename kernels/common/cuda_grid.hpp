// Distribution of a matrix among the threads of kernels that process fragments (cuda_fragment.hpp). It depends on integers
// only, so that it is tested without a device.
#pragma once

#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

// A thread has one position along the row and processes rows in a grid-stride loop. Adjacent threads of a block have adjacent
// fragments of a row.
struct FragmentGrid {
  uint32_t block_x, block_y;  // fragments of a row, rows
  uint32_t grid_x, grid_y;
};

// Four waves of eight blocks on each of the 132 multiprocessors of an H100 or H200. They are enough that the last wave costs
// little, and few enough that a thread processes several rows of a large matrix.
constexpr int64_t kMostBlocks = 4 * 8 * 132;
constexpr int64_t kMostGridRows = 65535;  // limit of gridDim.y

// `threads` is a power of two. If a row has fewer fragments than `threads`, several rows share a block, so that few threads are
// idle.
constexpr FragmentGrid fragment_grid(int64_t rows, int64_t columns, uint32_t threads) {
  const int64_t fragments = (columns + 15) / 16;
  uint32_t block_x = 1;
  while (block_x < threads && block_x < fragments) block_x *= 2;
  const uint32_t block_y = threads / block_x;
  const int64_t across = (fragments + block_x - 1) / block_x;
  const int64_t down = (rows + block_y - 1) / block_y;
  int64_t most = across < kMostBlocks ? kMostBlocks / across : 1;
  if (most > kMostGridRows) most = kMostGridRows;
  return {block_x, block_y, static_cast<uint32_t>(across), static_cast<uint32_t>(down < most ? down : most)};
}

// A divisor that the host knows, for numbers below 2^31: the quotient is computed by a multiplication and a shift. The excess
// of number · factor / 2^shift over the exact quotient is below 1 / divisor. The rounded quotient is therefore exact.
struct Divisor {
  uint32_t number, factor, shift;  // factor = ceil(2^shift / number)
};

constexpr Divisor divisor_of(uint32_t number) {
  uint32_t shift = 31;
  while ((uint64_t{1} << (shift - 31)) < number) ++shift;
  return {number, static_cast<uint32_t>(((uint64_t{1} << shift) + number - 1) / number), shift};
}

LPT_HOST_DEVICE constexpr uint32_t quotient(uint32_t number, const Divisor &divisor) {
  return static_cast<uint32_t>((uint64_t{number} * divisor.factor) >> divisor.shift);
}

}  // namespace lpt
