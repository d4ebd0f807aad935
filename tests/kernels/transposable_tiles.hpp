// Tiles for tests of transposable masks: generation, the masks of a kernel, and the weight of a mask.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/transposable_mask/transposable_mask.hpp"
#include "tests/support/random.hpp"

namespace lpt::test {

// N of every M, and the solver.
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

// Kinds of tiles. All except the first are integers below 2^20, whose f32 sums are exact if the tile keeps at most 16 elements.
enum class TileKind { kNormal, kIntegers, kTies, kEqual, kSparse, kPowers, kGemms, kMonge, kHeavyColumn, kBands };
inline constexpr TileKind kAllTiles[] = {
    TileKind::kNormal, TileKind::kIntegers, TileKind::kTies,  TileKind::kEqual,       TileKind::kSparse,
    TileKind::kPowers, TileKind::kGemms,    TileKind::kMonge, TileKind::kHeavyColumn, TileKind::kBands};
TileNumbers draw_tile(Random &random, TileKind kind, int size);

// Returns the masks of adjacent tiles, computed by one call of the kernel.
std::vector<TileBits> masks_of(const KernelEntry<TransposableMaskRequest> &kernel, const MaskRule &rule,
                               const std::vector<TileNumbers> &tiles);
bool takes_rule(const KernelEntry<TransposableMaskRequest> &kernel, const MaskRule &rule);

// Returns the kernels that this machine supports, the reference kernel last.
std::vector<const KernelEntry<TransposableMaskRequest> *> available_mask_kernels();

double kept_sum(const TileNumbers &tile, const TileBits &mask);
bool keeps_exactly(const TileBits &mask, int size, int kept);

// Returns the largest sum of integers that a mask with exactly N elements in every row and column can keep. Uses LEMON's
// network simplex, which is independent of the library.
int64_t best_sum(const std::vector<int64_t> &integer_weights, int size, int kept);

}  // namespace lpt::test
