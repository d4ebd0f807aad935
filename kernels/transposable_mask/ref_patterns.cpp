// EXACT for 2:4.
#include "kernels/transposable_mask/patterns.hpp"
#include "kernels/transposable_mask/tile.hpp"

namespace lpt {
namespace {

// Part of a pattern, and its sum.
struct Candidate {
  float sum;
  uint32_t bits;
};

Candidate better(Candidate first, Candidate next) { return next.sum > first.sum ? next : first; }

struct PairSums {
  float of[4][6];

  explicit PairSums(const float *weights) {
    for (int row = 0; row < 4; ++row) {
      for (int p = 0; p < 6; ++p) of[row][p] = weights[4 * row + kPairs[p].low] + weights[4 * row + kPairs[p].high];
    }
  }
  // Half 0 is rows 0 and 1, half 1 is rows 2 and 3.
  Candidate half(int half, int upper, int lower) const {
    return {of[2 * half][upper] + of[2 * half + 1][lower], half_bits(upper, lower) << 8 * half};
  }
  Candidate either_order(int half_index, int a, int b) const {
    return better(half(half_index, a, b), half(half_index, b, a));
  }
  Candidate complements(int half_index) const {
    Candidate best = half(half_index, 0, 5);
    for (int p = 1; p < 6; ++p) best = better(best, half(half_index, p, 5 - p));
    return best;
  }
};

Candidate both(Candidate upper, Candidate lower) { return {upper.sum + lower.sum, upper.bits | lower.bits}; }

float sum_of_four(const float *numbers) { return (numbers[0] + numbers[1]) + (numbers[2] + numbers[3]); }

float sum_of(const float *weights) {
  float rows[4];
  for (int row = 0; row < 4; ++row) rows[row] = sum_of_four(weights + 4 * row);
  return sum_of_four(rows);
}

}  // namespace

TileMask solve_patterns(const Tile &tile) {
  const PairSums sums(tile.weights);
  Candidate best = both(sums.half(0, 0, 0), sums.half(1, 5, 5));
  for (int p = 1; p < 6; ++p) best = better(best, both(sums.half(0, p, p), sums.half(1, 5 - p, 5 - p)));
  best = better(best, both(sums.complements(0), sums.complements(1)));
  for (const SharedColumn &shared : kSharedColumns) {
    best = better(best, both(sums.either_order(0, shared.upper, shared.upper_other),
                             sums.either_order(1, shared.lower, shared.lower_other)));
  }
  TileMask mask{};
  for (int row = 0; row < 4; ++row) mask.rows[row] = best.bits >> 4 * row & 15;
  return mask;
}

TileMask solve_exact(const Tile &tile) {
  const bool has_patterns = tile.size == 4 && tile.kept == 2 && sum_of(tile.weights) < __builtin_inff();
  return has_patterns ? solve_patterns(tile) : solve_flow(tile);
}

}  // namespace lpt
