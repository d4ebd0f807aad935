// Functions of the order of weights: integer weights, GREEDY and PRUNE.
#include <algorithm>

#include "kernels/transposable_mask/tile.hpp"

namespace lpt {
namespace {

constexpr uint32_t kInfinity = 0x7F800000u;
constexpr int kPlaceBits = 10;

// Returns 2^power in f64, for exponents of normal numbers.
double power_of_two_f64(int power) { return __builtin_bit_cast(double, static_cast<uint64_t>(1023 + power) << 52); }

// Returns e for the largest finite weight in [2^e, 2^(e+1)).
int exponent_of(uint32_t largest) {
  const double value = static_cast<double>(__builtin_bit_cast(float, largest));
  return static_cast<int>(__builtin_bit_cast(uint64_t, value) >> 52) - 1023;
}

// Sorts elements in the order of GREEDY, as keys whose low bits count element indices from the end.
int sort_places(const Tile &tile, uint64_t *keys) {
  const int count = tile.size * tile.size;
  for (int i = 0; i < count; ++i) {
    keys[i] = uint64_t{rank_of(tile.weights[i])} << kPlaceBits | static_cast<uint64_t>(kLargestPlaces - 1 - i);
  }
  std::sort(keys, keys + count, [](uint64_t a, uint64_t b) { return a > b; });
  return count;
}

int place_of(uint64_t key) { return kLargestPlaces - 1 - static_cast<int>(key & (kLargestPlaces - 1)); }

}  // namespace

void find_integer_weights(const Tile &tile, IntegerWeights &integer_weights) {
  const int count = tile.size * tile.size;
  uint32_t largest = 0;
  bool is_special = false;
  for (int i = 0; i < count; ++i) {
    const uint32_t rank = rank_of(tile.weights[i]);
    if (rank >= kInfinity) is_special = true;
    if (rank < kInfinity && rank > largest) largest = rank;
  }
  const double scale = largest == 0 ? 0.0 : power_of_two_f64((is_special ? 23 : 43) - exponent_of(largest));
  for (int i = 0; i < count; ++i) {
    const uint32_t rank = rank_of(tile.weights[i]);
    const double number = static_cast<double>(__builtin_bit_cast(float, rank));
    integer_weights.at[i] = rank < kInfinity    ? static_cast<int64_t>(number * scale)
                            : rank == kInfinity ? int64_t{1} << 34
                                                : int64_t{1} << 44;
  }
}

TileMask solve_greedy(const Tile &tile) {
  uint64_t keys[kLargestPlaces];
  const int count = sort_places(tile, keys);
  TileMask mask{};
  int in_column[kLargestTile] = {};
  for (int i = 0; i < count; ++i) {
    const int row = place_of(keys[i]) / tile.size;
    const int column = place_of(keys[i]) % tile.size;
    if (count_row(mask, row) >= tile.kept || in_column[column] >= tile.kept) continue;
    mask.rows[row] |= 1u << column;
    ++in_column[column];
  }
  return mask;
}

TileMask solve_prune(const Tile &tile) {
  uint64_t keys[kLargestPlaces];
  const int count = sort_places(tile, keys);
  const int dropped = tile.size - tile.kept;
  TileMask gone{};
  int in_column[kLargestTile] = {};
  for (int i = count - 1; i >= 0; --i) {
    const int row = place_of(keys[i]) / tile.size;
    const int column = place_of(keys[i]) % tile.size;
    if (count_row(gone, row) >= dropped && in_column[column] >= dropped) continue;
    gone.rows[row] |= 1u << column;
    ++in_column[column];
  }
  TileMask mask{};
  const uint32_t all = static_cast<uint32_t>((uint64_t{1} << tile.size) - 1);
  for (int row = 0; row < tile.size; ++row) mask.rows[row] = all & ~gone.rows[row];
  return mask;
}

}  // namespace lpt
