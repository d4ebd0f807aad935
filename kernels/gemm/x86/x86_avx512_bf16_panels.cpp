// GEMM for b that is packed in panels, or that has scales along k which bf16 does not represent.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_bf16_operands.hpp"

namespace lpt {
namespace {

// Loops over rounds and tiles.

// Size of the columns of one round. A long tile writes lines of c in as many pages as it has rows. Long tiles therefore process
// as many panels as fit in L2 with the rows. Shorter tiles all read one panel while it is in L1; the shortest tiles read two.
constexpr int64_t kSpanBytes = 256 << 10;

inline int64_t round_columns_of(const PanelGemm &gemm) {
  if (!has_long_tiles(gemm.b, gemm.groups)) return kMostPanels * kPanelLanes;
  return greater(min_i64(kSpanBytes / gemm.b.bytes, kMostRoundPanels), kMostPanels) * kPanelLanes;
}

// `count` panels of b from index `panel` of the operand on, and the area of c that they compute.
struct PanelRound {
  GemmArea area;
  int64_t panel, count;
  alignas(64) float column_factors[kMostRoundPanels * kPanelLanes];
};

inline int64_t expanded_bytes(const PanelGemm &gemm) { return round_up(gemm.layout.steps, 2) * HalfLines::kBytes; }

// Sets the panels of a tile. Panels past the last one repeat the last one; their sums are not stored.
inline void set_panels(const PanelGemm &gemm, const PanelRound &round, int64_t first, bool is_expanded,
                       PanelTile &tile) {
  const PanelOperand &b = gemm.b;
  for (int64_t p = 0; p < kMostPanels; ++p) {
    const int64_t at = min_i64(first + p, round.count - 1);
    const int64_t panel = round.panel + at;
    tile.b[p] = is_expanded ? gemm.layout.expanded + at * expanded_bytes(gemm) : b.data + panel * b.bytes;
    if (b.zeros != nullptr) tile.zeros[p] = b.zeros + panel * b.blocks * kPanelLanes;
    if (b.scales == nullptr || tile.scale_stride == 0) continue;
    tile.scales[p] = tile.scale_format == gemm.tile.scale_format
                         ? b.scales + panel * b.blocks * b.scale_bytes
                         : reinterpret_cast<const uint8_t *>(gemm.layout.wide_scales + at * b.blocks * kPanelLanes);
  }
}

// One or two panels of a round, and the state of the tiles that read them one after the other.
struct PanelWork {
  PanelTile tile;
  TileEpilogue place;  // of the next tile
  int64_t lines;       // loop iterations per panel
};

// Prepares the panels from `first` on for `tiles` tiles, each of which prefetches a part of the next panels. Expanded panels
// are not prefetched, because they are in the cache.
inline PanelWork work_of(const PanelGemm &gemm, const PanelRound &round, const PanelShape &shape, bool is_expanded,
                         int64_t tiles, int64_t first, const PanelTile &shared) {
  PanelWork work = {.tile = shared, .place = {}, .lines = gemm.b.bytes / shape.line_bytes};
  set_panels(gemm, round, first, is_expanded, work.tile);
  const int64_t bytes = gemm.b.bytes;
  work.tile.panel_bytes = is_expanded ? expanded_bytes(gemm) : bytes;
  for (int64_t p = 0; p < kMostPanels; ++p) {
    const uint8_t *const panel = work.tile.b[p];
    work.tile.prefetch[p] =
        is_expanded ? PrefetchStream{panel, 0}
                    : prefetch_of(tiles, panel, shape.panels, panel + round.count * bytes, shape.line_bytes);
  }
  GemmArea area = round.area;
  area.column += first * kPanelLanes;
  area.columns = min_i64(round.area.columns - first * kPanelLanes, shape.panels * kPanelLanes);
  work.place = epilogue_of(gemm.request, area);
  work.place.row_factors = gemm.layout.row_factors;
  work.place.column_factors = round.column_factors + first * kPanelLanes;
  return work;
}

// Returns the offset of a row in panels of kTileRows rows that hold `count` elements of each.
inline int64_t panel_offset(int64_t row, int64_t count) {
  return row / kTileRows * kTileRows * count + row % kTileRows;
}

// Rows of a block that one tile processes.
struct TileRows {
  PanelTileFunction run;
  int64_t row, count;
};

// Sets the pointers of the rows one by one. The tile reads them immediately. A copy of a struct of pointers by vector loads
// would wait for the scalar stores.
inline void set_rows(const PanelGemm &gemm, const TileRows &rows, PanelTile &tile) {
  tile.rows = rows.count;
  for (int64_t r = 0; r < (rows.count > kTileRows ? kMostRuns : 1); ++r) {
    tile.a[r] = gemm.layout.a_panels + panel_offset(rows.row + r * kRunRows, gemm.layout.steps);
    tile.row_scales[r] = gemm.layout.row_scales + panel_offset(rows.row + r * kRunRows, gemm.layout.a_blocks);
  }
}

// Advances past `rows` rows, which `tiles` tiles process.
inline void skip_rows(PanelWork &work, int64_t rows, int64_t tiles) {
  work.place.c += rows * work.place.row_bytes;
  work.place.row_factors += rows;
  for (PrefetchStream &prefetch : work.tile.prefetch) prefetch.skip(tiles * work.lines);
}

// Multiplies the next rows of the block.
inline void multiply_rows(const PanelGemm &gemm, const TileRows &rows, PanelWork &work) {
  set_rows(gemm, rows, work.tile);
  rows.run(work.tile, gemm.tables, work.place);
  skip_rows(work, rows.count, 1);
}

// Expands the panels of this round if necessary. Returns whether it did.
inline bool expand_round(const PanelGemm &gemm, const PanelRound &round, PanelTile &tile) {
  const PanelOperand &b = gemm.b;
  bool is_needed = panel_shape_of(b, gemm.groups, 0).run == nullptr;
  if (b.kind == PanelKind::kNibbles && b.zeros != nullptr) {
    for (int64_t p = 0; p < round.count; ++p) {
      is_needed = is_needed || has_wide_zeros(b, b.zeros + (round.panel + p) * b.blocks * kPanelLanes);
    }
  }
  for (int64_t p = 0; p < (is_needed ? round.count : 0); ++p) {
    set_panels(gemm, round, p, false, tile);
    expand_panel(gemm, tile, gemm.layout.expanded + p * expanded_bytes(gemm));
  }
  return is_needed;
}

// Converts the scales of a round to f32, for blocks of many rows.
inline void widen_scales(const PanelGemm &gemm, const PanelRound &round) {
  const PanelOperand &b = gemm.b;
  for (int64_t block = 0; block < round.count * b.blocks; ++block) {
    const uint8_t *const from = b.scales + (round.panel * b.blocks + block) * b.scale_bytes;
    for (int v = 0; v < 2; ++v) {
      _mm512_storeu_ps(gemm.layout.wide_scales + block * kPanelLanes + 16 * v,
                       load_scales_of_lanes(b.scale_format, from, v));
    }
  }
}

// The cutting of the rows of a block. Three panels of a form two long tiles, if the operand has long tiles. The last few rows
// form a short tile.
struct RowCut {
  PanelShape shape, long_shape, last_shape;
  int64_t long_tiles, tiles;
  int64_t body, last;  // rows

  RowCut(const PanelOperand &b, Grouping groups, bool are_rows_scaled, int64_t rows)
      : shape(panel_shape_of(b, groups, shape_of(kTileRows))),
        long_shape(panel_shape_of(b, groups, are_rows_scaled ? kLongShape : kLongUnscaledShape)),
        last_shape(panel_shape_of(b, groups, shape_of(rows % kTileRows))) {
    last = kShapeRows[shape_of(rows % kTileRows)] < kTileRows ? rows % kTileRows : 0;
    body = rows - last;
    const int64_t panels = (body + kTileRows - 1) / kTileRows;
    long_tiles = long_shape.run == nullptr ? 0 : panels / 3 * 2;
    tiles = long_tiles + panels - long_tiles / 2 * 3;
  }

  TileRows tile(int64_t t) const {
    if (t < long_tiles) {
      const int64_t row = t * kLongTileRows;
      return {long_shape.run, row, min_i64(body - row, kLongTileRows)};
    }
    const int64_t row = long_tiles * kLongTileRows + (t - long_tiles) * kTileRows;
    return {shape.run, row, min_i64(body - row, kTileRows)};
  }
};

inline void multiply_round(const PanelGemm &gemm, const PanelRound &round) {
  PanelTile tile = gemm.tile;
  PanelOperand b = gemm.b;
  const bool is_expanded = expand_round(gemm, round, tile);
  if (is_expanded) b.kind = PanelKind::kHalves;
  const RowCut cut(b, gemm.groups, gemm.are_rows_scaled, round.area.rows);
  if (cut.tiles > 0 && tile.scale_format != LPT_FORMAT_F32) {
    widen_scales(gemm, round);
    tile.scale_format = LPT_FORMAT_F32;
    tile.scale_stride = 4 * kPanelLanes;
  }
  if (cut.long_tiles > 0) {
    PanelWork work = work_of(gemm, round, cut.long_shape, is_expanded, cut.tiles, 0, tile);
    for (int64_t t = 0; t < cut.long_tiles; ++t) multiply_rows(gemm, cut.tile(t), work);
  }
  const int64_t rest = cut.tiles - cut.long_tiles;
  for (int64_t p = 0; p < (rest > 0 ? round.count : 0); ++p) {
    PanelWork work = work_of(gemm, round, cut.shape, is_expanded, cut.tiles, p, tile);
    skip_rows(work, cut.long_tiles * kLongTileRows, cut.long_tiles);
    for (int64_t t = cut.long_tiles; t < cut.tiles; ++t) multiply_rows(gemm, cut.tile(t), work);
  }
  for (int64_t p = 0; p < (cut.last > 0 ? round.count : 0); p += cut.last_shape.panels) {
    PanelWork work = work_of(gemm, round, cut.last_shape, is_expanded, 1, p, tile);
    skip_rows(work, cut.body, 0);
    multiply_rows(gemm, {cut.last_shape.run, cut.body, cut.last}, work);
  }
}

inline void set_column_factors(const PanelGemm &gemm, PanelRound &round) {
  const PanelOperand &b = gemm.b;
  const float factor = b.factor * static_cast<float>(gemm.request.alpha);
  const bool are_scaled = b.scales != nullptr && b.blocks == 1 && b.zeros == nullptr;
  const int64_t first = round.panel * kPanelLanes;
  for (int64_t lane = 0; lane < round.area.columns; ++lane) {
    round.column_factors[lane] = are_scaled ? factor * read_scale(b.scale_format, b.scales, first + lane) : factor;
  }
  const int64_t end = round_up(round.area.columns, kPanelsColumns);
  for (int64_t lane = round.area.columns; lane < end; ++lane) round.column_factors[lane] = 0;
}

// Sets how k is cut into groups, and the scales of their sums.
inline void set_groups(PanelGemm &gemm) {
  static constexpr float kOnes[kPanelLanes] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                               1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const GemmRequest &request = gemm.request;
  PanelTile &tile = gemm.tile;
  const bool is_b_grouped =
      gemm.layout.b_blocks > 1 || (request.b.layout == Layout::kPanels && request.b.format.has_zero_point());
  gemm.are_a_groups_scaled = gemm.a.is_scaled_along_k && !fits_bf16_scaled(request.a.format);
  gemm.groups = gemm.are_a_groups_scaled ? Grouping::kBoth : is_b_grouped ? Grouping::kColumns : Grouping::kNone;
  const int32_t a_shift = gemm.a.is_k_adjacent ? gemm.a.column_shift : gemm.a.row_shift;
  const int32_t b_extent = request.is_b_transposed ? request.b.format.block_columns : request.b.format.block_rows;
  const int32_t b_shift = shift_of(gemm.layout.b_blocks > 1 ? b_extent : LPT_BLOCK_EXTENT_FULL);
  const int32_t shift = gemm.are_a_groups_scaled && a_shift < b_shift ? a_shift : b_shift;
  tile.steps = gemm.layout.steps;
  tile.group_steps = shift >= 62 ? round_up(tile.steps, 2) : int64_t{1} << (shift - 1);
  tile.b_group_shift = b_shift - shift;
  tile.a_group_shift = gemm.are_a_groups_scaled ? a_shift - shift : 0;
  tile.scale_format = LPT_FORMAT_F32;
  for (const uint8_t *&scales : tile.scales) scales = reinterpret_cast<const uint8_t *>(kOnes);
  if (!is_b_grouped) return;
  if (request.b.layout == Layout::kPanels) tile.scale_format = request.b.format.block_scale;
  tile.scale_stride = kPanelLanes * scale_bytes(tile.scale_format);
}

// Implements the Kernel of driver.hpp.
struct PanelKernel {
  PanelGemm &gemm;

  void pack_columns(int64_t column, int64_t columns) {
    if (!is_packed()) lpt::pack_columns(gemm, column, columns);
  }

  void pack_rows(int64_t row, int64_t rows, const Depth &) { lpt::pack_rows(gemm, row, rows); }

  void multiply(const GemmArea &area, const Depth &) const {
    PanelRound round;
    round.area = area;
    round.panel = (is_packed() ? gemm.request.first_column + area.column : area.column - area.slab) / kPanelLanes;
    round.count = (area.columns + kPanelLanes - 1) / kPanelLanes;
    set_column_factors(gemm, round);
    multiply_round(gemm, round);
  }

 private:
  bool is_packed() const { return gemm.request.b.layout == Layout::kPanels; }
};

inline void multiply_panels(const GemmRequest &request) {
  ValueTable values;
  PanelLayout layout(request);
  PanelGemm gemm = {.request = request,
                    .layout = layout,
                    .a = operand_of(request.a, !request.is_a_transposed, request.first_row, request.k, values)};
  const bool is_packed = request.b.layout == Layout::kPanels;
  gemm.b = is_packed ? packed_operand(request.b, request.k) : plain_operand(request, layout);
  set_groups(gemm);
  if (is_packed) set_tables(request.b.format.element, gemm.b.zeros != nullptr, gemm.tables);
  layout.blocking.span = round_columns_of(gemm);
  PanelKernel kernel = {gemm};
  run_driver(request, layout.blocking, kernel);
}

}  // namespace

void gemm_panels_x86_avx512_bf16(const GemmRequest &request) { multiply_panels(request); }

size_t gemm_scratch_panels_x86_avx512_bf16(const GemmRequest &request) { return PanelLayout(request).scratch_bytes; }

}  // namespace lpt
