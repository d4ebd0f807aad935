// The 90 patterns of a 2:4 tile with few comparisons: defines the result of the reference kernel and of the SIMD and CUDA
// kernels.
//
// Columns have six pairs; pair 5 - p is the complement of pair p. The upper two rows keep one pair each:
//   equal pairs p:             both lower rows keep 5 - p;
//   a pair and its complement: the lower rows keep such pairs too, in any of the six ways;
//   pairs that share a column: that column is full, another one is empty, and the other two have one element each. The lower
//                              rows share the empty column. Each half has two orders.
// All sums are f32. The sum of a pair is its lower column plus its higher column. The sum of a half is the upper row plus the
// lower row, and that of a tile the upper half plus the lower half. Candidates are compared in the order above and below. The
// first largest candidate is selected, of each half, then of the tile. No pattern has a larger sum, because rounding is
// monotonic.
//
// This requires a finite sum of all weights, four of a row as (0 + 1) + (2 + 3), rows in the same way; then all other sums are
// finite. Other tiles are solved by the flow.
#pragma once

#include <cstdint>

namespace lpt {

struct ColumnPair {
  int low, high;
};
constexpr ColumnPair kPairs[6] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static constexpr uint32_t pair_bits(int pair) { return 1u << kPairs[pair].low | 1u << kPairs[pair].high; }

// Returns the pairs of both rows of a half, in the bits of the upper half.
static constexpr uint32_t half_bits(int upper, int lower) { return pair_bits(upper) | pair_bits(lower) << 4; }

// The upper rows keep `upper` and `upper_other` in either order; the lower rows keep `lower` and `lower_other` in either order.
struct SharedColumn {
  int upper, upper_other, lower, lower_other;
};

static constexpr int pair_of(int a, int b) {
  for (int p = 0; p < 6; ++p) {
    if (pair_bits(p) == (1u << a | 1u << b)) return p;
  }
  return -1;
}

// Patterns ordered by the full column, then by the empty column.
static constexpr SharedColumn shared_column(int index) {
  const int full = index / 3;
  const int empty = index % 3 < full ? index % 3 : index % 3 + 1;
  int rest[2] = {};
  int count = 0;
  for (int column = 0; column < 4; ++column) {
    if (column != full && column != empty) rest[count++] = column;
  }
  return {pair_of(full, rest[0]), pair_of(full, rest[1]), pair_of(empty, rest[0]), pair_of(empty, rest[1])};
}

constexpr SharedColumn kSharedColumns[12] = {shared_column(0), shared_column(1), shared_column(2),  shared_column(3),
                                             shared_column(4), shared_column(5), shared_column(6),  shared_column(7),
                                             shared_column(8), shared_column(9), shared_column(10), shared_column(11)};

}  // namespace lpt
