// GEMM of small integers with scales for groups of k, by int8 dot products.
//
// Columns are stored as unsigned bytes, value + 128. This adds 128 · (the sum of the row in the group), which is computed when a
// row is packed; the sums start at its negative.
//
// A block of rows of a, half of a typical L2, is packed, or read in place. It is then multiplied by a few panels of b at a
// time. Each tile of rows is multiplied by all of these panels before the next tile.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_vnni_groups.hpp"

namespace lpt {
namespace {

constexpr int64_t kGroupBlockBytes = 512 << 10;

inline GroupTileFunction group_tile_of(const Columns &columns, GroupScaling scaling, int64_t rows) {
  if (columns.kind == PanelKind::kByteQuads) return group_tile_of<ByteColumns>(scaling, rows);
  if (columns.kind == PanelKind::kBytePairs) return group_tile_of<BytePairColumns>(scaling, rows);
  if (columns.view.format.has_zero_point()) return group_tile_of<ZeroPointColumns>(scaling, rows);
  return group_tile_of<NibbleColumns>(scaling, rows);
}

// Rows of a block in the form that tiles read.
struct BlockRows {
  int64_t count, tiles;
  const uint8_t *bytes, *starts;
  const float *factors;
};

// Cuts the rows into tiles of nearly equal size. The latency of the sums would limit a tile of one or two rows.
inline BlockRows block_rows_of(const GroupOperands &gemm, const GemmArea &area) {
  const GroupLayout &layout = gemm.layout;
  const MatrixView &a = gemm.request.a;
  const int64_t tile_rows = layout.is_whole() ? kWholeTileRows : kGroupTileRows;
  const auto *const direct = static_cast<const uint8_t *>(a.data) + (gemm.request.first_row + area.row) * a.row_stride;
  const auto *const starts = reinterpret_cast<const uint8_t *>(layout.starts);
  return {.count = area.rows,
          .tiles = (area.rows + tile_rows - 1) / tile_rows,
          .bytes = layout.is_direct ? direct : layout.rows,
          .starts = layout.is_whole() ? starts : layout.rows + layout.row.start_offset,
          .factors = layout.row_factors};
}

// Rows of one tile, relative to the block.
struct TileRows {
  int64_t first, count;
};

inline TileRows tile_rows_of(const BlockRows &block, int64_t t) {
  const int64_t first = block.count * t / block.tiles;
  return {first, block.count * (t + 1) / block.tiles - first};
}

// Multiplies the next rows of the block.
inline void multiply_rows(const Columns &columns, const BlockRows &block, const TileRows &rows, PanelWork &work) {
  work.tile.rows = block.bytes + rows.first * work.tile.stride;
  work.tile.starts = block.starts + rows.first * work.tile.start_stride;
  work.place.row_factors = block.factors + rows.first;
  group_tile_of(columns, work.scaling, rows.count)(work.tile, work.place);
  work.place.c += rows.count * work.place.row_bytes;
  work.tile.prefetch.skip(work.tile.steps);
}

// Implements the Kernel of driver.hpp.
struct GroupGemm : GroupOperands {
  using GroupOperands::GroupOperands;
  void multiply(const GemmArea &area, const Depth &) const;
};

[[gnu::flatten]] void GroupGemm::multiply(const GemmArea &area, const Depth &) const {
  const BlockRows block = block_rows_of(*this, area);
  const int64_t panels = (area.columns + kPanelLanes - 1) / kPanelLanes;
  PanelWork works[kMostSpanPanels];
  GemmArea panel = area;
  for (int64_t p = 0; p < panels; ++p, panel.column += kPanelLanes) {
    panel.columns = min_i64(area.column + area.columns - panel.column, kPanelLanes);
    prepare_panel(*this, panel, works[p]);
    works[p].tile.prefetch = prefetch_of(columns, works[p].tile.panel, block.tiles, panels);
  }
  for (int64_t t = 0; t < block.tiles; ++t) {
    const TileRows rows = tile_rows_of(block, t);
    for (int64_t p = 0; p < panels; ++p) multiply_rows(columns, block, rows, works[p]);
  }
}

}  // namespace

void gemm_groups_x86_avx512_vnni(const GemmRequest &request) {
  ScratchParts parts(request.scratch);
  const GroupLayout layout(request, kGroupBlockBytes, kWholeTileRows, parts);
  GroupGemm gemm(request, layout);
  run_driver(request, layout.blocking, gemm);
}

size_t gemm_scratch_groups_x86_avx512_vnni(const GemmRequest &request) {
  ScratchParts parts(nullptr);
  const GroupLayout layout(request, kGroupBlockBytes, kWholeTileRows, parts);
  return parts.bytes();
}

}  // namespace lpt
