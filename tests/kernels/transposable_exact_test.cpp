// EXACT against an independent network simplex, and against all 90 patterns.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/kernels/transposable_tiles.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

struct Share {
  MaskRule rule;
  int tiles;
};

// 10^4 tiles of the three common rules, and some of extreme rules.
const Share kShares[] = {{{2, 4}, 5000}, {{4, 8}, 4000}, {{8, 16}, 1000}, {{1, 2}, 300},
                         {{1, 4}, 300},  {{3, 4}, 300},  {{3, 5}, 300},   {{2, 8}, 200},
                         {{7, 8}, 200},  {{16, 32}, 30}, {{1, 32}, 10},   {{31, 32}, 10}};

std::vector<TileNumbers> draw_tiles(Random &random, const Share &share, bool has_normal) {
  std::vector<TileNumbers> tiles;
  for (int i = 0; i < (kIsSanitized ? share.tiles / 20 + 1 : share.tiles); ++i) {
    TileKind kind = random.of(kAllTiles);
    if (!has_normal && kind == TileKind::kNormal) kind = TileKind::kIntegers;
    tiles.push_back(draw_tile(random, kind, share.rule.of));
  }
  return tiles;
}

// Integer weights: sums on both sides are exact.
TEST(TransposableExact, IsWorthWhatANetworkSimplexFinds) {
  Random random(31);
  for (const Share &share : kShares) {
    const std::vector<TileNumbers> tiles = draw_tiles(random, share, false);
    std::vector<int64_t> best;
    for (const TileNumbers &tile : tiles) {
      std::vector<int64_t> integer_weights;
      for (const float number : tile) integer_weights.push_back(static_cast<int64_t>(std::fabs(number)));
      best.push_back(best_sum(integer_weights, share.rule.of, share.rule.kept));
    }
    for (const auto *row : available_mask_kernels()) {
      if (!takes_rule(*row, share.rule)) continue;
      const std::vector<TileBits> masks = masks_of(*row, share.rule, tiles);
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        ASSERT_TRUE(keeps_exactly(masks[i], share.rule.of, share.rule.kept)) << row->name << ' ' << text_of(share.rule);
        ASSERT_EQ(kept_sum(tiles[i], masks[i]), static_cast<double>(best[i]))
            << row->name << ' ' << text_of(share.rule);
      }
    }
  }
}

// Returns magnitudes as integers, rounded to nearest, with 2^40 for the largest.
std::vector<int64_t> rounded(const TileNumbers &tile) {
  double largest = 0;
  for (const float number : tile) largest = std::fmax(largest, std::fabs(static_cast<double>(number)));
  std::vector<int64_t> result;
  for (const float number : tile)
    result.push_back(std::llround(std::fabs(static_cast<double>(number)) / largest * 0x1p40));
  return result;
}

// 2:4 sums in f32: three additions on each side, each with an error of at most half of 2^-23 of the sum. The integers of the
// flow are truncated at 2^-43 of the largest magnitude, those of the oracle rounded at 2^-40.
TEST(TransposableExact, IsTheOptimumOfNormalNumbersWithinRounding) {
  Random random(32);
  for (const Share &share : {Share{{2, 4}, 2000}, Share{{4, 8}, 1000}, Share{{8, 16}, 100}}) {
    std::vector<TileNumbers> tiles;
    for (int i = 0; i < (kIsSanitized ? share.tiles / 20 : share.tiles); ++i) {
      tiles.push_back(draw_tile(random, TileKind::kNormal, share.rule.of));
    }
    for (const auto *row : available_mask_kernels()) {
      if (!takes_rule(*row, share.rule)) continue;
      const std::vector<TileBits> masks = masks_of(*row, share.rule, tiles);
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        const std::vector<int64_t> integer_weights = rounded(tiles[i]);
        int64_t found = 0;
        for (std::size_t k = 0; k < integer_weights.size(); ++k) found += masks[i][k] * integer_weights[k];
        const double best = static_cast<double>(best_sum(integer_weights, share.rule.of, share.rule.kept));
        const double error = share.rule.of == 4 ? 6 * 0x1p-24 * best : 0.0;
        ASSERT_GE(static_cast<double>(found), best - error - share.rule.places())
            << row->name << ' ' << text_of(share.rule);
      }
    }
  }
}

// Returns all 4 × 4 masks with two elements in every row and column, as bits.
std::vector<uint32_t> all_patterns() {
  std::vector<uint32_t> result;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    bool is_pattern = true;
    for (int line = 0; line < 4; ++line) {
      is_pattern =
          is_pattern && std::popcount(bits >> 4 * line & 0xFu) == 2 && std::popcount(bits >> line & 0x1111u) == 2;
    }
    if (is_pattern) result.push_back(bits);
  }
  return result;
}

// Returns the sum of a full pattern in the order of patterns.hpp.
float pattern_sum(const TileNumbers &tile, uint32_t bits) {
  float rows[4];
  for (int i = 0; i < 4; ++i) {
    float pair[2];
    int count = 0;
    for (int j = 0; j < 4; ++j) {
      if ((bits >> (4 * i + j) & 1) != 0) pair[count++] = std::fabs(tile[static_cast<std::size_t>(4 * i + j)]);
    }
    rows[i] = pair[0] + pair[1];
  }
  return (rows[0] + rows[1]) + (rows[2] + rows[3]);
}

uint32_t bits_of(const TileBits &mask) {
  uint32_t bits = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) bits |= uint32_t{mask[i]} << i;
  return bits;
}

TEST(TransposableExact, TakesTheBestOfAll90Patterns) {
  Random random(33);
  const std::vector<uint32_t> patterns = all_patterns();
  ASSERT_EQ(patterns.size(), 90u);
  std::vector<TileNumbers> tiles;
  for (int i = 0; i < (kIsSanitized ? 2000 : 50000); ++i) {
    tiles.push_back(random.chance(0.5) ? draw_tile(random, random.of(kAllTiles), 4)
                                       : draw(random, random.of({Values::kOutliers, Values::kSubnormals}), 16));
  }
  for (const auto *row : available_mask_kernels()) {
    if (!takes_rule(*row, MaskRule{})) continue;
    const std::vector<TileBits> masks = masks_of(*row, MaskRule{}, tiles);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      float best = 0;
      for (const uint32_t bits : patterns) best = std::fmax(best, pattern_sum(tiles[i], bits));
      ASSERT_EQ(pattern_sum(tiles[i], bits_of(masks[i])), best) << row->name;
      ASSERT_TRUE(keeps_exactly(masks[i], 4, 2)) << row->name;
    }
  }
}

// One tile per pattern, with eight nonzero elements: two do not determine a pattern.
TEST(TransposableExact, FindsEachOfThe90Patterns) {
  std::vector<TileNumbers> tiles;
  const std::vector<uint32_t> patterns = all_patterns();
  for (const uint32_t bits : patterns) {
    TileNumbers tile;
    for (int i = 0; i < 16; ++i) tile.push_back((bits >> i & 1) != 0 ? 1.0f : 0.5f);
    tiles.push_back(tile);
  }
  for (const auto *row : available_mask_kernels()) {
    if (!takes_rule(*row, MaskRule{})) continue;
    const std::vector<TileBits> masks = masks_of(*row, MaskRule{}, tiles);
    for (std::size_t i = 0; i < tiles.size(); ++i) ASSERT_EQ(bits_of(masks[i]), patterns[i]) << row->name;
  }
}

// NaN outweighs infinities, and infinities outweigh finite values; then the largest sum is best. Integer weights separate the
// three.
TEST(TransposableExact, RanksSpecialsBeforeNumbers) {
  Random random(34);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Share &share : {Share{{2, 4}, 400}, Share{{4, 8}, 200}, Share{{1, 4}, 100}, Share{{8, 16}, 20}}) {
    std::vector<TileNumbers> tiles;
    std::vector<std::vector<int64_t>> integer_weights;
    for (int i = 0; i < (kIsSanitized ? share.tiles / 10 : share.tiles); ++i) {
      TileNumbers tile = draw_tile(random, TileKind::kIntegers, share.rule.of);
      std::vector<int64_t> worth;
      const double nan_share = 0.3 * random.uniform(), infinity_share = 0.3 * random.uniform();
      for (float &number : tile) {
        const int64_t integer = static_cast<int64_t>(std::fabs(number));
        const bool is_nan = random.chance(nan_share), is_infinite = random.chance(infinity_share);
        if (is_nan) number = std::copysign(std::numeric_limits<float>::quiet_NaN(), number);
        if (is_infinite && !is_nan) number = std::copysign(kInfinity, number);
        worth.push_back(is_nan ? int64_t{1} << 46 : is_infinite ? int64_t{1} << 33 : integer);
      }
      tiles.push_back(tile);
      integer_weights.push_back(worth);
    }
    for (const auto *row : available_mask_kernels()) {
      if (!takes_rule(*row, share.rule)) continue;
      const std::vector<TileBits> masks = masks_of(*row, share.rule, tiles);
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        int64_t found = 0;
        for (std::size_t k = 0; k < integer_weights[i].size(); ++k) found += masks[i][k] * integer_weights[i][k];
        ASSERT_EQ(found, best_sum(integer_weights[i], share.rule.of, share.rule.kept))
            << row->name << ' ' << text_of(share.rule);
      }
    }
  }
}

// Sums of these values exceed f32.
TEST(TransposableExact, TakesTheLargestNumbers) {
  Random random(35);
  std::vector<TileNumbers> tiles;
  std::vector<int64_t> best;
  for (int i = 0; i < 300; ++i) {
    TileNumbers tile = draw_tile(random, TileKind::kIntegers, 4);
    std::vector<int64_t> integer_weights;
    for (float &number : tile) {
      integer_weights.push_back(static_cast<int64_t>(std::fabs(number)));
      number = std::ldexp(number, 108);
    }
    tiles.push_back(tile);
    best.push_back(best_sum(integer_weights, 4, 2));
  }
  for (const auto *row : available_mask_kernels()) {
    if (!takes_rule(*row, MaskRule{})) continue;
    const std::vector<TileBits> masks = masks_of(*row, MaskRule{}, tiles);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      ASSERT_EQ(kept_sum(tiles[i], masks[i]), std::ldexp(static_cast<double>(best[i]), 108)) << row->name;
    }
  }
}

}  // namespace
}  // namespace lpt::test
