// The 90 patterns of a 2:4 tile, as few comparisons: the law of the plain row and of the fast ones.
//
// Columns come in six pairs; pair 5 - p is what pair p leaves. The upper two rows keep a pair each:
//   the same pair p:         both lower rows keep 5 - p;
//   a pair and what it leaves: so do the lower rows, in any of the six ways;
//   pairs that share a column: that column is full, another one empty, the other two have one each. The lower rows share
//                            the empty one. Either half has its two orders.
// A pair's sum is its lower column plus its higher one, a half's the upper row plus the lower one, a tile's the upper half
// plus the lower half, all in f32. Candidates are considered in the order above and below; the first of the largest is taken, of
// each half, then of the whole. No pattern has a larger sum, as rounding keeps order.
//
// This holds where the sum of all weights, four of a row as (0 + 1) + (2 + 3), rows likewise, is a finite number: so are all
// others then. Other tiles are for the flow.
#pragma once

#include <cstdint>

namespace lpt {

struct ColumnPair {
  int low, high;
};
constexpr ColumnPair kPairs[6] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static constexpr uint32_t pair_bits(int pair) { return 1u << kPairs[pair].low | 1u << kPairs[pair].high; }

// Pairs of the rows of a half, in bits of the upper half.
static constexpr uint32_t half_bits(int upper, int lower) { return pair_bits(upper) | pair_bits(lower) << 4; }

// The upper rows keep `upper` and `upper_other`, or the other way round; the lower rows likewise.
struct SharedColumn {
  int upper, upper_other, lower, lower_other;
};

static constexpr int pair_of(int a, int b) {
  for (int p = 0; p < 6; ++p) {
    if (pair_bits(p) == (1u << a | 1u << b)) return p;
  }
  return -1;
}

// The full column rises, then the empty one.
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
