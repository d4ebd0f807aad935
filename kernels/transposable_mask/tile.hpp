// One tile, and the definitions of its solvers. They use only integers, comparisons, and IEEE operations of f32 in a specified
// order, so that every machine computes the same mask. Element (i, j) has index i · M + j.
#pragma once

#include <cstdint>

namespace lpt {

constexpr int kLargestTile = 32;
constexpr int kLargestPlaces = kLargestTile * kLargestTile;

struct Tile {
  int size;                       // M
  int kept;                       // N
  float weights[kLargestPlaces];  // magnitudes · importance, in f32; NaN may have either sign
};

// Bit j of rows[i] is set if element (i, j) is kept.
struct TileMask {
  uint32_t rows[kLargestTile];
};

static inline bool stays(const TileMask &mask, int row, int column) { return (mask.rows[row] >> column & 1) != 0; }

static inline int count_row(const TileMask &mask, int row) { return __builtin_popcount(mask.rows[row]); }

static inline int count_column(const TileMask &mask, int size, int column) {
  int count = 0;
  for (int row = 0; row < size; ++row) count += stays(mask, row, column);
  return count;
}

// Rank of a weight. All NaN have one rank, above infinity.
static inline uint32_t rank_of(float weight) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, weight) & 0x7FFFFFFFu;
  return bits > 0x7F800000u ? 0x7F800001u : bits;
}

// Weights as integers, whose sums and differences are exact.
//   Let 2^e <= the largest finite weight < 2^(e+1). The integer weight is trunc(w · 2^(43-e)), below 2^44.
//   In a tile with infinities or NaN: trunc(w · 2^(23-e)), infinity 2^34, NaN 2^44. A tile keeps fewer than 2^10 elements, so
//   that one NaN outweighs all infinities, and one infinity outweighs all finite weights.
struct IntegerWeights {
  int64_t at[kLargestPlaces];
};
void find_integer_weights(const Tile &tile, IntegerWeights &integer_weights);

// Solvers.

// Maximizes the sum of weights. 2:4 with a finite sum: selects the pattern in f32 by patterns.hpp. Otherwise maximizes the sum
// of integer weights by shortest augmenting paths (ref_flow.cpp).
TileMask solve_exact(const Tile &tile);
TileMask solve_patterns(const Tile &tile);
TileMask solve_flow(const Tile &tile);

// Visits elements from the largest weight down, lower indices first among equal ones. Keeps an element if its row and its
// column keep fewer than N.
TileMask solve_greedy(const Tile &tile);

// Visits elements from the smallest weight up, higher indices first among equal ones. Drops an element if its row or its column
// has dropped fewer than M - N.
TileMask solve_prune(const Tile &tile);

// GREEDY, then improve_mask().
TileMask solve_search(const Tile &tile);

// Computes entropy-regularized transport in f32, applies GREEDY to the result, then improve_mask() with the weights of the tile
// (ref_entropy.cpp).
TileMask solve_entropy(const Tile &tile, int iterations, float sharpness);

// Applies the steps of SEARCH to a mask with at most N elements per row and column: fills rows and columns, then exchanges
// columns while the sum increases.
void improve_mask(const Tile &tile, const IntegerWeights &integer_weights, TileMask &mask);

}  // namespace lpt
