// One tile, and the laws of its solvers. They use integers, comparisons, and IEEE operations of f32 in a stated order alone,
// so that every machine finds the same mask. Row i, column j: place i · M + j.
#pragma once

#include <cstdint>

namespace lpt {

constexpr int kLargestTile = 32;
constexpr int kLargestPlaces = kLargestTile * kLargestTile;

struct Tile {
  int size;                       // M
  int kept;                       // N
  float weights[kLargestPlaces];  // magnitudes times importance, in f32; NaN may have either sign
};

// Bit j of rows[i] says that place (i, j) stays.
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

// Order of weights. All NaN are alike, above infinity.
static inline uint32_t rank_of(float weight) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, weight) & 0x7FFFFFFFu;
  return bits > 0x7F800000u ? 0x7F800001u : bits;
}

// Weights as integers: their sums have no rounding, and a difference is what it is.
//   Let the largest finite weight lie in [2^e, 2^(e+1)). A weight is trunc(w · 2^(43-e)): below 2^44.
//   In a tile with infinities or NaN: trunc(w · 2^(23-e)), infinity 2^34, NaN 2^44. A tile keeps fewer than 2^10 places, so
//   that one NaN counts for more than all infinities, and one infinity for more than all numbers.
struct IntegerWeights {
  int64_t at[kLargestPlaces];
};
void find_integer_weights(const Tile &tile, IntegerWeights &integer_weights);

// ---- the solvers

// The largest sum of weights. 2:4 with a finite sum: the pattern that patterns.hpp finds in f32. Else the largest sum
// of integer weights, by shortest augmenting paths (ref_flow.cpp).
TileMask solve_exact(const Tile &tile);
TileMask solve_patterns(const Tile &tile);
TileMask solve_flow(const Tile &tile);

// From the largest weight down, the lower place first among equal ones: a place stays while its row and its column keep
// fewer than N.
TileMask solve_greedy(const Tile &tile);

// From the smallest weight up, the higher place first among equal ones: a place goes while its row or its column has fewer
// than M - N that went.
TileMask solve_prune(const Tile &tile);

// GREEDY, then improve_mask().
TileMask solve_search(const Tile &tile);

// Entropy-regularized transport in f32, then GREEDY on what it gives, then improve_mask() by the tile's own weights
// (ref_entropy.cpp).
TileMask solve_entropy(const Tile &tile, int iterations, float sharpness);

// What SEARCH does with a mask whose lines keep N at most: fills the short ones, then exchanges while that helps.
void improve_mask(const Tile &tile, const IntegerWeights &integer_weights, TileMask &mask);

}  // namespace lpt
