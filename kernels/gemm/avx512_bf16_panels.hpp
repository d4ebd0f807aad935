// Products whose b lies in panels, or has scales along k that bf16 does not hold. Included by ISA files: everything here has
// internal linkage.
#pragma once

#include "kernels/gemm/avx512_bf16_operands.hpp"

namespace lpt {
namespace {

inline float column_factor(const PanelProduct &product, int64_t panel, int64_t lane) {
  const PanelOperand &b = product.b;
  const float factor = b.factor * static_cast<float>(product.request->alpha);
  if (b.scales == nullptr || b.blocks > 1 || b.zeros != nullptr) return factor;
  return factor * read_scale(b.scale_format, b.scales, panel * kPanelLanes + lane);
}

// ---- the loops

// Up to kMostPanels panels of b, from `panel` of its operand on.
struct PanelRound {
  int64_t panel, count;
  int64_t column;   // of the request
  int64_t columns;  // that are there
  alignas(64) float column_factors[kPanelsColumns];
};

// Panels beyond the last one are the last one again: their sums go nowhere.
inline void set_panels(const PanelProduct &product, const PanelRound &round, int64_t first, bool is_expanded,
                       PanelTile &tile) {
  const PanelOperand &b = product.b;
  for (int64_t p = 0; p < kMostPanels; ++p) {
    const int64_t at = smaller(first + p, round.count - 1);
    const int64_t panel = round.panel + at;
    const int64_t expanded_bytes = round_up(product.blocking.steps, 2) * HalfLines::kBytes;
    tile.b[p] = is_expanded ? product.expanded + at * expanded_bytes : b.data + panel * b.bytes;
    if (b.zeros != nullptr) tile.zeros[p] = b.zeros + panel * b.blocks * kPanelLanes;
    if (b.scales == nullptr || tile.scale_stride == 0) continue;
    tile.scales[p] = tile.scale_format == product.tile.scale_format
                         ? b.scales + panel * b.blocks * b.scale_bytes
                         : reinterpret_cast<const uint8_t *>(product.wide_scales + at * b.blocks * kPanelLanes);
  }
}

// What tile t of `tiles` that meet the same panels asks for. What was expanded is near enough.
inline void set_wanted(const PanelProduct &product, const PanelShape &shape, bool is_expanded, int64_t t, int64_t tiles,
                       PanelTile &tile) {
  const int64_t bytes = product.b.bytes;
  for (int64_t p = 0; p < kMostPanels; ++p) {
    const uint8_t *const panel = tile.b[p];
    tile.wanted[p] = is_expanded
                         ? Wanted{panel, 0}
                         : wanted_by(t, tiles, panel, panel + bytes, bytes / shape.line_bytes, shape.line_bytes);
  }
}

// Where tiles of a round's panels from `first_panel` on write, in the first row of a block.
inline Place place_of(const PanelProduct &product, const PanelRound &round, const PanelShape &shape, int64_t first_row,
                      int64_t first_panel) {
  const GemmRequest &request = *product.request;
  const int64_t element_bytes = request.c.format.element == LPT_FORMAT_F32 ? 4 : 2;
  const int64_t column = request.first_column + round.column + first_panel * kPanelLanes;
  const int64_t row_bytes = request.c.row_stride * element_bytes;
  return {.c = static_cast<uint8_t *>(request.c.data) + (request.first_row + first_row) * row_bytes +
               column * element_bytes,
          .row_bytes = row_bytes,
          .element_bytes = element_bytes,
          .format = request.c.format.element,
          .columns = smaller(round.columns - first_panel * kPanelLanes, shape.panels * kPanelLanes),
          .row_factors = product.row_factors,
          .column_factors = round.column_factors + first_panel * kPanelLanes,
          .starts = nullptr,
          .bias = request.bias == nullptr ? nullptr : static_cast<const float *>(request.bias) + column,
          .beta = static_cast<float>(request.beta)};
}

// Rows of a tile, from `row` of the block on, times its panels. `first` is the place of the block's first row.
inline void multiply_rows(const PanelProduct &product, const PanelShape &shape, int64_t row, int64_t rows,
                          const Place &first, PanelTile &tile) {
  Place place = first;
  place.c += row * place.row_bytes;
  place.row_factors += row;
  uint8_t *line = place.c, *const last = place.c + rows * place.row_bytes;
  const int64_t last_byte = place.element_bytes * (place.columns - 1);
  for (; line != last; line += place.row_bytes) {
    __builtin_prefetch(line, 1);
    __builtin_prefetch(line + last_byte, 1);
  }
  tile.a = product.a_panels + row * product.blocking.steps;
  if (product.are_a_groups_scaled) tile.row_scales = product.row_scales + row * product.a_blocks;
  tile.rows = rows;
  shape.run(tile, product.tables, place);
}

// Tells whether panels of this round had to be expanded.
inline bool expand_round(const PanelProduct &product, const PanelRound &round, PanelTile &tile) {
  const PanelOperand &b = product.b;
  bool is_needed = panel_shape_of(b, product.groups, 0).run == nullptr;
  if (b.kind == PanelKind::kNibbles && b.zeros != nullptr) {
    for (int64_t p = 0; p < round.count; ++p) {
      is_needed = is_needed || has_wide_zeros(b, b.zeros + (round.panel + p) * b.blocks * kPanelLanes);
    }
  }
  for (int64_t p = 0; p < (is_needed ? round.count : 0); ++p) {
    set_panels(product, round, p, false, tile);
    expand_panel(product, tile, product.expanded + p * round_up(product.blocking.steps, 2) * HalfLines::kBytes);
  }
  return is_needed;
}

// Scales of a round as f32, where many rows meet them.
inline void widen_scales(const PanelProduct &product, const PanelRound &round) {
  const PanelOperand &b = product.b;
  for (int64_t block = 0; block < round.count * b.blocks; ++block) {
    const uint8_t *const from = b.scales + (round.panel * b.blocks + block) * b.scale_bytes;
    for (int v = 0; v < 2; ++v) {
      _mm512_storeu_ps(product.wide_scales + block * kPanelLanes + 16 * v,
                       load_scales_of_lanes(b.scale_format, from, v));
    }
  }
}

inline void multiply_round(const PanelProduct &product, const PanelRound &round, int64_t first_row, int64_t rows) {
  PanelTile tile = product.tile;
  PanelOperand b = product.b;
  const bool is_expanded = expand_round(product, round, tile);
  if (is_expanded) b.kind = PanelKind::kHalves;
  const int64_t last = rows % kTileRows;
  const int last_shape = shape_of(last);
  const int64_t last_rows = last != 0 && kShapeRows[last_shape] < kTileRows ? last : 0;
  if (rows > last_rows) {
    const PanelShape shape = panel_shape_of(b, product.groups, shape_of(kTileRows));
    if (tile.scale_format != LPT_FORMAT_F32) {
      widen_scales(product, round);
      tile.scale_format = LPT_FORMAT_F32;
      tile.scale_stride = 4 * kPanelLanes;
    }
    for (int64_t p = 0; p < round.count; ++p) {
      set_panels(product, round, p, is_expanded, tile);
      const Place place = place_of(product, round, shape, first_row, p);
      const int64_t tiles = (rows - last_rows + kTileRows - 1) / kTileRows;
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t row = t * kTileRows;
        set_wanted(product, shape, is_expanded, t, tiles, tile);
        multiply_rows(product, shape, row, smaller(rows - row, kTileRows), place, tile);
      }
    }
  }
  if (last_rows == 0) return;
  const PanelShape shape = panel_shape_of(b, product.groups, last_shape);
  for (int64_t p = 0; p < round.count; p += shape.panels) {
    set_panels(product, round, p, is_expanded, tile);
    set_wanted(product, shape, is_expanded, 0, 1, tile);
    multiply_rows(product, shape, rows - last_rows, last_rows, place_of(product, round, shape, first_row, p), tile);
  }
}

// All rows of a by `columns` columns of b, which begin at panel `panel` of the operand.
inline void multiply_columns(PanelProduct &product, int64_t panel, int64_t column, int64_t columns) {
  const GemmRequest &request = *product.request;
  for (int64_t row = 0; row < request.m; row += product.blocking.rows) {
    const int64_t rows = smaller(request.m - row, product.blocking.rows);
    if (column == 0 || request.m > product.blocking.rows) pack_rows(product, row, rows);
    for (int64_t j = 0; j < columns; j += kPanelsColumns) {
      PanelRound round;
      round.panel = panel + j / kPanelLanes;
      round.column = column + j;
      round.columns = smaller(columns - j, kPanelsColumns);
      round.count = (round.columns + kPanelLanes - 1) / kPanelLanes;
      for (int64_t lane = 0; lane < kPanelsColumns; ++lane) {
        round.column_factors[lane] =
            lane < round.columns ? column_factor(product, round.panel + lane / kPanelLanes, lane % kPanelLanes) : 0;
      }
      multiply_round(product, round, row, rows);
    }
  }
}

// How k is cut, and what the sums of a group are multiplied by.
inline void set_groups(PanelProduct &product) {
  static constexpr float kOnes[kPanelLanes] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const GemmRequest &request = *product.request;
  PanelTile &tile = product.tile;
  const bool is_b_grouped =
      product.blocking.b_blocks > 1 || (request.b.layout == Layout::kPanels && request.b.format.has_zero_point());
  product.are_a_groups_scaled = product.a.is_scaled_along_k && !fits_bf16_scaled(request.a.format);
  product.a_blocks = blocks_along_k(request.a, !request.is_a_transposed, request.k);
  product.groups = product.are_a_groups_scaled ? Groups::kBoth : is_b_grouped ? Groups::kColumns : Groups::kNone;
  const int32_t a_shift = product.a.is_k_adjacent ? product.a.column_shift : product.a.row_shift;
  const int32_t b_extent = request.is_b_transposed ? request.b.format.block_columns : request.b.format.block_rows;
  const int32_t b_shift = shift_of(product.blocking.b_blocks > 1 ? b_extent : LPT_WHOLE);
  const int32_t shift = product.are_a_groups_scaled && a_shift < b_shift ? a_shift : b_shift;
  tile.steps = product.blocking.steps;
  tile.group_steps = shift >= 62 ? round_up(tile.steps, 2) : int64_t{1} << (shift - 1);
  tile.b_group_shift = b_shift - shift;
  tile.a_group_shift = product.are_a_groups_scaled ? a_shift - shift : 0;
  tile.scale_format = LPT_FORMAT_F32;
  for (const uint8_t *&scales : tile.scales) scales = reinterpret_cast<const uint8_t *>(kOnes);
  if (!is_b_grouped) return;
  if (request.b.layout == Layout::kPanels) tile.scale_format = request.b.format.block_scale;
  tile.scale_stride = kPanelLanes * scale_bytes(tile.scale_format);
}

inline void multiply_panels(const GemmRequest &request) {
  ValueTable values;
  PanelProduct product = {};
  product.request = &request;
  product.blocking = panel_blocking(request);
  product.a = operand_of(request.a, !request.is_a_transposed, request.first_row, request.k, values);
  product.a_panels = reinterpret_cast<uint32_t *>(request.scratch + product.blocking.a_offset);
  product.row_factors = reinterpret_cast<float *>(request.scratch + product.blocking.row_factor_offset);
  product.row_scales = reinterpret_cast<float *>(request.scratch + product.blocking.row_scale_offset);
  product.wide_scales = reinterpret_cast<float *>(request.scratch + product.blocking.wide_scale_offset);
  product.expanded = reinterpret_cast<uint8_t *>(request.scratch + product.blocking.expanded_offset);
  set_groups(product);
  if (request.b.layout == Layout::kPanels) {
    product.b = packed_operand(request.b, request.k);
    set_tables(product.b.element, product.b.zeros != nullptr, product.tables);
    return multiply_columns(product, request.first_column / kPanelLanes, 0, request.n);
  }
  for (int64_t column = 0; column < request.n; column += product.blocking.columns) {
    const int64_t columns = smaller(request.n - column, product.blocking.columns);
    product.b = pack_columns(product, column, columns);
    multiply_columns(product, 0, column, columns);
  }
}

}  // namespace
}  // namespace lpt
