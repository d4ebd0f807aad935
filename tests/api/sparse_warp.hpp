// A warp of a GPU in C++: mma.sp::ordered_metadata.sync and ldmatrix.sync, implemented lane by lane from the fragment tables
// of the PTX ISA. It uses no code of the library.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace lpt::test {

// The element format of A.
struct WarpElement {
  int bits;
  int exponent_bits;  // 0: a signed integer
  int mantissa_bits;
};

inline double number_of(const WarpElement &element, uint32_t code) {
  if (element.exponent_bits == 0) return static_cast<int8_t>(code);
  const uint32_t mantissa = code & ((1u << element.mantissa_bits) - 1);
  const int exponent = static_cast<int>(code >> element.mantissa_bits & ((1u << element.exponent_bits) - 1));
  const int bias = (1 << (element.exponent_bits - 1)) - 1;
  const double whole = mantissa + (exponent == 0 ? 0 : std::ldexp(1.0, element.mantissa_bits));
  const double size = std::ldexp(whole, (exponent == 0 ? 1 : exponent) - bias - element.mantissa_bits);
  return code >> (element.bits - 1) != 0 ? -size : size;
}

constexpr int kLanes = 32;
using WarpA = std::array<std::array<uint32_t, 4>, kLanes>;  // four registers of a lane
using WarpMetadata = std::array<uint32_t, kLanes>;
using WarpB = std::array<std::array<double, 16>, kLanes>;  // b0 … of a lane: 8 of 16-bit elements, 16 of 8-bit ones
using WarpD = std::array<std::array<double, 4>, kLanes>;   // d0 … d3 of a lane

// Returns k of an instruction: m16n8k32 or m16n8k64.
inline int depth_of(const WarpElement &element) { return element.bits == 16 ? 32 : 64; }

struct Cell {
  int row, column;
};

// Returns the row and column in B of the i-th element of a lane.
inline Cell cell_of_b(const WarpElement &element, int lane, int i) {
  const int in_group = lane % 4;
  if (element.bits == 16) return {in_group * 2 + i % 2 + i / 2 * 8, lane / 4};
  return {in_group * 4 + i % 4 + i / 4 * 16, lane / 4};
}

// Returns the row and column in D of the i-th element of a lane.
inline Cell cell_of_d(int lane, int i) { return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + i % 2}; }

// Returns the four index bits of the two elements of A at (row, column). The column is a multiple of 4.
inline uint32_t indices_of(const WarpElement &element, const WarpMetadata &metadata, int selector, int row,
                           int column) {
  int lane = row % 8 * 4;
  int bit = 0;
  if (element.bits == 16) {  // a pair of lanes: 16 columns each, rows from 8 in the high half
    lane += selector * 2 + (column < 16 ? 0 : 1);
    bit = (row < 8 ? 0 : 16) + column % 16;
  } else {  // all lanes: 32 columns of one row each
    EXPECT_EQ(0, selector);
    lane += (row < 8 ? 0 : 1) + (column < 32 ? 0 : 2);
    bit = column % 32;
  }
  return metadata[static_cast<size_t>(lane)] >> bit & 15;
}

// D += A · B.
inline void mma_sp(const WarpElement &element, const WarpA &a, const WarpMetadata &metadata, int selector,
                   const WarpB &b, WarpD &d) {
  double dense_a[16][64] = {};
  double dense_b[64][8] = {};
  const int per_register = 32 / element.bits;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group_id = lane >> 2;
    const int in_group = lane % 4;
    const auto at = static_cast<size_t>(lane);
    for (int i = 0; i < 4 * per_register; ++i) {
      int row = 0;
      int first_column = 0;
      if (element.bits == 16) {
        row = i < 2 || (4 <= i && i < 6) ? group_id : group_id + 8;
        first_column = i < 4 ? in_group * 4 : in_group * 4 + 16;
      } else {
        row = i < 4 || (8 <= i && i < 12) ? group_id : group_id + 8;
        first_column = (i < 8 ? in_group * 8 : in_group * 8 + 32) + i % 4 / 2 * 4;
      }
      const uint32_t indices = indices_of(element, metadata, selector, row, first_column);
      ASSERT_LT(indices & 3, indices >> 2) << "not legal: undefined behaviour";
      const uint32_t place = i % 2 == 0 ? indices & 3 : indices >> 2;
      const uint32_t word = a[at][static_cast<size_t>(i / per_register)];
      const uint32_t code = word >> (i % per_register * element.bits) & ((1u << element.bits) - 1);
      dense_a[row][first_column + static_cast<int>(place)] = number_of(element, code);
    }
    for (int i = 0; i < depth_of(element) / 4; ++i) {
      const Cell cell = cell_of_b(element, lane, i);
      dense_b[cell.row][cell.column] = b[at][static_cast<size_t>(i)];
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const Cell cell = cell_of_d(lane, i);
      double sum = 0;
      for (int k = 0; k < depth_of(element); ++k) sum += dense_a[cell.row][k] * dense_b[k][cell.column];
      d[static_cast<size_t>(lane)][static_cast<size_t>(i)] += sum;
    }
  }
}

// Loads one 8 × 8 matrix of 16-bit elements: row r is at rows[r], a lane gets two adjacent elements of row lane / 4.
inline WarpMetadata ldmatrix(const std::array<const uint8_t *, 8> &rows) {
  WarpMetadata registers{};
  for (int lane = 0; lane < kLanes; ++lane) {
    std::memcpy(&registers[static_cast<size_t>(lane)], rows[static_cast<size_t>(lane / 4)] + lane % 4 * 4, 4);
  }
  return registers;
}

}  // namespace lpt::test
