// Operands of a GEMM by panels, and what their scratch holds. Included by ISA files: everything here has internal linkage.
//
// Rows of a are decoded and packed as in blocked.hpp; packed b is read as it is. Plain b is packed first, slab by slab,
// without its scales: as dwords of two bf16, which are panels of halves.
#pragma once

#include "kernels/gemm/exact.hpp"
#include "kernels/gemm/x86/avx512_bf16_tiles.hpp"

namespace lpt {
namespace {

constexpr int64_t kPanelsColumns = kMostPanels * kPanelLanes;  // what one round takes

// b, or a slab of it, in panels.
struct PanelOperand {
  PanelKind kind;
  Element element;
  const uint8_t *data;
  int64_t bytes;          // of a panel
  const uint8_t *scales;  // NULL: none
  lpt_format scale_format;
  int64_t scale_bytes;  // of a block: those of 32 lanes
  const uint8_t *zeros;
  int64_t blocks;  // along k
  float factor;    // of all sums
};

// What is packed at once, and where it is in the scratch.
struct PanelBlocking {
  int64_t steps;
  int64_t rows;     // of a
  int64_t columns;  // of plain b
  int64_t b_blocks;
  size_t a_offset, row_factor_offset, row_scale_offset, scale_offset, wide_scale_offset, expanded_offset, total_bytes;
};

inline int64_t blocks_along_k(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
  return is_scaled_along_k(view, is_k_adjacent, k) ? (k + extent - 1) / extent : 1;
}

// Lines of these are not decoded beside every tile: an expanded panel serves all rows.
inline bool may_expand(const MatrixView &b) {
  return b.layout == Layout::kPanels && (b.format.has_zero_point() || element_of(b.format.element).is_fnuz);
}

// Rows of a lie in the second cache beside the panels of b and the lines of c. Whole long tiles.
constexpr int64_t kPanelBlockBytes = 192 << 10;
constexpr int64_t kBlockUnit = 3 * kTileRows;

inline PanelBlocking panel_blocking(const GemmRequest &request) {
  PanelBlocking blocking = {};
  const bool is_packed = request.b.layout == Layout::kPanels;
  blocking.steps = (request.k + 1) / 2;
  const int64_t lane_bytes = 4 * blocking.steps;
  const int64_t columns = greater(kSlabBytes / lane_bytes / kPanelsColumns, 1) * kPanelsColumns;
  const RowBlock block = row_block_of(request.m, kPanelBlockBytes, lane_bytes, kLeastRows, kBlockUnit);
  blocking.rows = block.rows;
  blocking.columns = is_packed ? request.n : min_i64(columns, round_up(request.n, kPanelsColumns));
  blocking.b_blocks = blocks_along_k(request.b, request.is_b_transposed, request.k);
  const int64_t a_blocks = blocks_along_k(request.a, !request.is_a_transposed, request.k);
  const int64_t packed_columns = is_packed ? 0 : blocking.columns;
  blocking.a_offset = static_cast<size_t>(packed_columns * lane_bytes);
  const int64_t packed_rows = round_up(block.space, Bf16::kVector);
  blocking.row_factor_offset = blocking.a_offset + static_cast<size_t>(packed_rows * lane_bytes);
  blocking.row_scale_offset = blocking.row_factor_offset + static_cast<size_t>(block.space) * 4;
  blocking.scale_offset = blocking.row_scale_offset + static_cast<size_t>(block.space * a_blocks) * 4;
  blocking.wide_scale_offset = blocking.scale_offset + static_cast<size_t>(packed_columns * blocking.b_blocks) * 4;
  blocking.expanded_offset = blocking.wide_scale_offset;
  if (is_packed && blocking.b_blocks > 1 && request.b.format.block_scale != LPT_FORMAT_F32) {
    blocking.expanded_offset += static_cast<size_t>(kPanelsColumns * blocking.b_blocks) * 4;
  }
  blocking.total_bytes = blocking.expanded_offset;
  if (may_expand(request.b)) {
    blocking.total_bytes += static_cast<size_t>(kMostPanels * round_up(blocking.steps, 2) * HalfLines::kBytes);
  }
  return blocking;
}

// A whole GEMM as it is computed.
struct PanelGemm {
  const GemmRequest *request;
  PanelBlocking blocking;
  Operand a;
  PanelOperand b;
  Groups groups;
  bool are_a_groups_scaled;
  int64_t a_blocks;
  PanelTile tile;  // what all tiles share
  PanelTables tables;
  uint32_t *a_panels;
  float *row_factors, *row_scales;
  bool are_rows_scaled;  // by factors other than 1
  float *wide_scales;    // of a round
  uint8_t *expanded;
};

// ---- a

// Scales of lanes, block after block of k: those of `width` lanes side by side, zeros past `lanes`.
inline void lay_out_scales(const Operand &from, int64_t first, int64_t lanes, int64_t width, int64_t blocks,
                           float *to) {
  const int32_t shift = from.is_k_adjacent ? from.column_shift : from.row_shift;
  for (int64_t j = 0; j < round_up(lanes, width); ++j) {
    const int64_t lane = from.first_lane + first + j;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t p = blocks == 1 ? 0 : block << shift;
      float scale = 0;
      if (j < lanes) scale = from.is_k_adjacent ? scale_at(from, lane, p) : scale_at(from, p, lane);
      to[(j / width * blocks + block) * width + j % width] = scale;
    }
  }
}

// Tiles of few rows read no more of a than they need.
inline void narrow_last_rows(uint32_t *panel, int64_t steps, int64_t rows) {
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t i = 0; i < rows; ++i) panel[step * rows + i] = panel[step * kTileRows + i];
  }
}

inline void pack_rows(PanelGemm &gemm, int64_t row, int64_t rows) {
  Operand a = gemm.a;
  if (gemm.are_a_groups_scaled) a.is_scaled_along_k = false;
  pack<Bf16, 1>(a, row, rows, gemm.a_panels);
  gemm.are_rows_scaled = false;
  for (int64_t i = 0; i < rows; ++i) {
    gemm.row_factors[i] = lane_factor(gemm.a, row + i);
    gemm.are_rows_scaled = gemm.are_rows_scaled || gemm.row_factors[i] != 1;
  }
  if (gemm.are_a_groups_scaled) {
    lay_out_scales(gemm.a, row, rows, kTileRows, gemm.a_blocks, gemm.row_scales);
  }
  const int64_t last = rows % kTileRows;
  const int64_t prefetch = kShapeRows[shape_of(last)];
  if (last != 0 && prefetch < kTileRows) {
    narrow_last_rows(gemm.a_panels + (rows - last) * gemm.blocking.steps, gemm.blocking.steps, prefetch);
  }
}

// ---- b

inline PanelOperand packed_operand(const MatrixView &view, int64_t k) {
  PanelOperand b = {};
  b.element = element_of(view.format.element);
  b.kind = panel_kind(view.format.element);
  b.data = static_cast<const uint8_t *>(view.data);
  b.bytes = panel_bytes(b.kind, k);
  b.scale_format = view.format.block_scale;
  b.scale_bytes = kPanelLanes * scale_bytes(b.scale_format);
  if (view.format.has_block_scale()) b.scales = static_cast<const uint8_t *>(view.block_scales);
  if (view.format.has_zero_point()) b.zeros = view.zero_points;
  b.blocks = view.format.has_block_scale() ? panel_blocks(view.format, k) : 1;
  b.factor = view.format.has_tensor_scale() ? *view.tensor_scale : 1.0f;
  if (b.element.is_integer && b.kind == PanelKind::kByteQuads) {
    b.factor *= bits_float(static_cast<uint32_t>(127 - b.element.mantissa_bits) << 23);
  }
  return b;
}

// Packs columns of plain b and lays their scales beside them as packed weights have them.
inline PanelOperand pack_columns(const PanelGemm &gemm, int64_t column, int64_t columns) {
  const GemmRequest &request = *gemm.request;
  ValueTable values;
  Operand from = operand_of(request.b, request.is_b_transposed, request.first_column, request.k, values);
  PanelOperand b = {};
  b.kind = PanelKind::kHalves;
  b.data = reinterpret_cast<const uint8_t *>(request.scratch);
  b.bytes = gemm.blocking.steps * HalfLines::kBytes;
  b.scale_format = LPT_FORMAT_F32;
  b.scale_bytes = 4 * kPanelLanes;
  b.blocks = gemm.blocking.b_blocks;
  b.factor = from.tensor_scale;
  if (from.scales != nullptr) {
    auto *const scales = reinterpret_cast<float *>(request.scratch + gemm.blocking.scale_offset);
    b.scales = reinterpret_cast<const uint8_t *>(scales);
    lay_out_scales(from, column, columns, kPanelLanes, b.blocks, scales);
  }
  from.is_scaled_along_k = false;
  pack<Bf16, 2 * Bf16::kTileVectors>(from, column, columns, reinterpret_cast<uint32_t *>(request.scratch));
  return b;
}

inline bool has_wide_zeros(const PanelOperand &b, const uint8_t *zeros) {
  for (int64_t i = 0; i < b.blocks * kPanelLanes; i += kPanelLanes) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(zeros + i));
    if (_mm256_cmpgt_epu8_mask(block, _mm256_set1_epi8(kMostNibbleZero)) != 0) return true;
  }
  return false;
}

// The tile that decodes this operand beside its products, if there is one: else it has to be expanded.
inline PanelShape panel_shape_of(const PanelOperand &b, Groups groups, int shape) {
  switch (b.kind) {
    case PanelKind::kNibbles:
      return b.zeros != nullptr ? panel_shape_of<NibbleZeroLines>(groups, shape)
                                : panel_shape_of<NibbleLines>(groups, shape);
    case PanelKind::kBytePairs:
      return b.element.is_fnuz ? PanelShape{} : panel_shape_of<ByteLines<false>>(groups, shape);
    case PanelKind::kByteQuads:
      return b.zeros != nullptr ? PanelShape{} : panel_shape_of<IntegerLines>(groups, shape);
    default:
      return panel_shape_of<HalfLines>(groups, shape);
  }
}

// Whether there are long tiles of what needs no expanding.
inline bool has_long_tiles(const PanelOperand &b, Groups groups) {
  return panel_shape_of(b, groups, kLongShape).run != nullptr;
}

inline void expand_panel(const PanelGemm &gemm, const PanelTile &tile, uint8_t *to) {
  switch (gemm.b.kind) {
    case PanelKind::kNibbles:
      return expand_panel<NibbleAnyZeroLines>(tile, gemm.tables, to);
    case PanelKind::kBytePairs:
      return expand_panel<ByteLines<true>>(tile, gemm.tables, to);
    default:
      return expand_panel<WideIntegerLines<true>>(tile, gemm.tables, to);
  }
}

}  // namespace
}  // namespace lpt
