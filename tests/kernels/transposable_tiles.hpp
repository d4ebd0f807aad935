// Tiles for tests of transposable masks: what fills them, how a row's masks are taken, what a mask is worth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/transposable_mask/transposable_mask.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {

// N of every M, and how it is searched for.
struct MaskRule {
  int32_t kept = 2, of = 4;
  lpt_sparse_solver solver = LPT_SPARSE_SOLVER_EXACT;
  int32_t iterations = 200;
  float sharpness = 40.0f;

  int32_t places() const { return of * of; }
};
std::string text_of(const MaskRule &rule);

// Row by row.
using TileNumbers = std::vector<float>;
using TileBits = std::vector<uint8_t>;

// What a tile may be filled with. All but the first are integers below 2^20, whose sums have no rounding in f32 if the tile
// keeps 16 places at most.
enum class TileKind { kNormal, kIntegers, kTies, kEqual, kSparse, kPowers, kGemms, kMonge, kHeavyColumn, kBands };
inline constexpr TileKind kAllTiles[] = {
    TileKind::kNormal, TileKind::kIntegers, TileKind::kTies,  TileKind::kEqual,       TileKind::kSparse,
    TileKind::kPowers, TileKind::kGemms,    TileKind::kMonge, TileKind::kHeavyColumn, TileKind::kBands};
TileNumbers draw_tile(Random &random, TileKind kind, int size);

// Masks of many tiles, which lie side by side: a row is requested once.
std::vector<TileBits> masks_of(const KernelEntry<TransposableMaskRequest> &kernel, const MaskRule &rule,
                               const std::vector<TileNumbers> &tiles);
bool takes_rule(const KernelEntry<TransposableMaskRequest> &kernel, const MaskRule &rule);

// The rows that this machine has, the reference last.
std::vector<const KernelEntry<TransposableMaskRequest> *> mask_rows_here();

double kept_sum(const TileNumbers &tile, const TileBits &mask);
bool keeps_exactly(const TileBits &mask, int size, int kept);

// The largest sum that a mask of exactly N in every line can keep, of integers: by LEMON's network simplex, which shares no
// line with the library.
int64_t best_sum(const std::vector<int64_t> &integer_weights, int size, int kept);

}  // namespace lpt::test
