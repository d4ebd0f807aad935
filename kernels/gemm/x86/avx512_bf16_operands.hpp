// Operands of a GEMM by panels, and the layout of its scratch. Included by ISA files: all functions have internal linkage.
//
// Rows of a are decoded and packed as in blocked.hpp. Packed b is read in place. Unpacked b is packed slab by slab, without its
// scales, as dwords of two bf16: panels of kind kHalves.
#pragma once

#include "kernels/gemm/exact.hpp"
#include "kernels/gemm/x86/avx512_bf16_tiles.hpp"

namespace lpt {
namespace {

constexpr int64_t kPanelsColumns = kMostPanels * kPanelLanes;  // columns of kMostPanels panels

// b, or a slab of it, in panels.
struct PanelOperand {
  PanelKind kind;
  Element element;
  const uint8_t *data;
  int64_t bytes;          // of a panel
  const uint8_t *scales;  // NULL: none
  lpt_format scale_format;
  int64_t scale_bytes;  // of a block: the scales of 32 lanes
  const uint8_t *zeros;
  int64_t blocks;  // along k
  float factor;    // multiplies all sums
};

inline int64_t blocks_along_k(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
  return is_scaled_along_k(view, is_k_adjacent, k) ? (k + extent - 1) / extent : 1;
}

// Returns whether the panels are expanded once for all rows instead of in each tile.
inline bool may_expand(const MatrixView &b) {
  return b.layout == Layout::kPanels && (b.format.has_zero_point() || element_of(b.format.element).is_fnuz);
}

// Rows of a that fit in L2 with panels of b and lines of c. kBlockUnit is a multiple of the rows of long tiles.
constexpr int64_t kPanelBlockBytes = 192 << 10;
constexpr int64_t kBlockUnit = 3 * kTileRows;

// Sizes of the packed operands, and their addresses in the scratch.
struct PanelLayout {
  GemmBlocking blocking;
  int64_t steps;
  int64_t a_blocks, b_blocks;  // of scales along k
  uint32_t *a_panels, *b_panels;
  float *row_factors, *row_scales;
  float *column_scales;  // if b is not packed
  float *wide_scales;    // f32 block scales of one round
  uint8_t *expanded;     // expanded panels of one round
  size_t scratch_bytes;

  explicit PanelLayout(const GemmRequest &request)
      : steps((request.k + 1) / 2),
        a_blocks(blocks_along_k(request.a, !request.is_a_transposed, request.k)),
        b_blocks(blocks_along_k(request.b, request.is_b_transposed, request.k)) {
    const bool is_packed = request.b.layout == Layout::kPanels;
    const int64_t lane_bytes = 4 * steps;
    blocking = blocking_of(request, kPanelBlockBytes, lane_bytes, kMinBlockRows, kBlockUnit);
    if (!is_packed) {
      const int64_t columns = greater(kSlabBytes / lane_bytes / kPanelsColumns, 1) * kPanelsColumns;
      blocking.columns = min_i64(columns, round_up(request.n, kPanelsColumns));
    }
    const int64_t packed_columns = is_packed ? 0 : blocking.columns;
    const bool has_wide_scales = is_packed && b_blocks > 1 && request.b.format.block_scale != LPT_FORMAT_F32;
    const int64_t expanded_bytes = kMostPanels * round_up(steps, 2) * HalfLines::kBytes;
    ScratchParts parts(request.scratch);
    b_panels = parts.take<uint32_t>(packed_columns * steps);
    a_panels = parts.take<uint32_t>(round_up(blocking.row_space, Bf16::kVector) * steps);
    row_factors = parts.take<float>(blocking.row_space);
    row_scales = parts.take<float>(blocking.row_space * a_blocks);
    column_scales = parts.take<float>(packed_columns * b_blocks);
    wide_scales = parts.take<float>(has_wide_scales ? kPanelsColumns * b_blocks : 0);
    expanded = parts.take<uint8_t>(may_expand(request.b) ? expanded_bytes : 0);
    scratch_bytes = parts.bytes();
  }
};

// State of one GEMM.
struct PanelGemm {
  const GemmRequest &request;
  const PanelLayout &layout;
  Operand a;
  PanelOperand b = {};
  Grouping groups = {};
  bool are_a_groups_scaled = false;
  PanelTile tile = {};  // fields that are equal for all tiles
  PanelTables tables = {};
  bool are_rows_scaled = false;  // a row factor of the block is not 1
};

// Operand a.

// Writes scales of lanes in the order of panels: for each block of k, the scales of `width` lanes. Scales past `lanes` are 0.
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

// Reduces the distance of the steps of the last panel from kTileRows to `rows` lanes, so that tiles of few rows read less of a.
inline void narrow_last_rows(uint32_t *panel, int64_t steps, int64_t rows) {
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t i = 0; i < rows; ++i) panel[step * rows + i] = panel[step * kTileRows + i];
  }
}

inline void pack_rows(PanelGemm &gemm, int64_t row, int64_t rows) {
  const PanelLayout &layout = gemm.layout;
  Operand a = gemm.a;
  if (gemm.are_a_groups_scaled) a.is_scaled_along_k = false;
  pack<Bf16, 1>(a, row, rows, layout.a_panels);
  gemm.are_rows_scaled = false;
  for (int64_t i = 0; i < rows; ++i) {
    layout.row_factors[i] = lane_factor(gemm.a, row + i);
    gemm.are_rows_scaled = gemm.are_rows_scaled || layout.row_factors[i] != 1;
  }
  if (gemm.are_a_groups_scaled) {
    lay_out_scales(gemm.a, row, rows, kTileRows, layout.a_blocks, layout.row_scales);
  }
  const int64_t last = rows % kTileRows;
  const int64_t width = kShapeRows[shape_of(last)];
  if (last != 0 && width < kTileRows) {
    narrow_last_rows(layout.a_panels + (rows - last) * layout.steps, layout.steps, width);
  }
}

// Operand b.

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

// Describes a slab of unpacked b that was packed to panels. Its scales have the order of packed weights.
inline PanelOperand plain_operand(const GemmRequest &request, const PanelLayout &layout) {
  const Format &format = request.b.format;
  PanelOperand b = {};
  b.kind = PanelKind::kHalves;
  b.data = reinterpret_cast<const uint8_t *>(layout.b_panels);
  b.bytes = layout.steps * HalfLines::kBytes;
  b.scale_format = LPT_FORMAT_F32;
  b.scale_bytes = 4 * kPanelLanes;
  b.blocks = layout.b_blocks;
  b.factor = format.has_tensor_scale() ? *request.b.tensor_scale : 1.0f;
  if (format.has_block_scale()) b.scales = reinterpret_cast<const uint8_t *>(layout.column_scales);
  return b;
}

inline void pack_columns(const PanelGemm &gemm, int64_t column, int64_t columns) {
  const GemmRequest &request = gemm.request;
  ValueTable values;
  Operand from = operand_of(request.b, request.is_b_transposed, request.first_column, request.k, values);
  if (from.scales != nullptr) {
    lay_out_scales(from, column, columns, kPanelLanes, gemm.layout.b_blocks, gemm.layout.column_scales);
  }
  from.is_scaled_along_k = false;
  pack<Bf16, 2 * Bf16::kTileVectors>(from, column, columns, gemm.layout.b_panels);
}

inline bool has_wide_zeros(const PanelOperand &b, const uint8_t *zeros) {
  for (int64_t i = 0; i < b.blocks * kPanelLanes; i += kPanelLanes) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(zeros + i));
    if (_mm256_cmpgt_epu8_mask(block, _mm256_set1_epi8(kMostNibbleZero)) != 0) return true;
  }
  return false;
}

// Returns the tile that decodes this operand in its loop. `run` is NULL if no tile does and the panels must be expanded.
inline PanelShape panel_shape_of(const PanelOperand &b, Grouping groups, int shape) {
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

// Returns whether the operand has long tiles without expansion.
inline bool has_long_tiles(const PanelOperand &b, Grouping groups) {
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
