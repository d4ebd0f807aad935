// Operands of GEMMs of small integers with scales for groups of k: packed rows of a, and panels of b. Included by ISA files: all
// functions have internal linkage.
//
//   c(i, j) = sum over groups g of float(sum over p in g of a(i, p) · b(p, j)) · (a's scale(i, g) · b's scale(g, j))
//
// The inner sums are exact in int32. Without scales, k of more than 2^17 - 1 is cut into groups of 2^16.
#pragma once

#include "kernels/gemm/x86/avx512_vnni_columns.hpp"
#include "kernels/gemm/x86/avx512_vnni_tile.hpp"

namespace lpt {
namespace {

// A tile reads a line of each of its rows at a time, and the next line of some rows. If these lines map to fewer than four sets
// of the L1 cache, they evict each other.
constexpr int64_t kConflictStrideBytes = 2048;

inline bool is_read_in_place(const GemmRequest &request, const Groups &groups) {
  const PanelKind kind = panel_kind(request.b.format.element);
  return groups.count == 1 && element_of(request.a.format.element).bits == 8 && kind != PanelKind::kNibbles &&
         request.k % 4 == 0 && request.a.row_stride % kConflictStrideBytes != 0;
}

// Columns of one span. A tile writes lines of c in as many pages as it has rows. Several panels per tile are therefore faster,
// as many as fit in L2 with the rows. If b is not packed, or groups have scales, one panel is prepared at a time.
constexpr int64_t kSpanBytes = 256 << 10;
constexpr int64_t kMostSpanPanels = 8;

inline int64_t span_columns_of(const GemmRequest &request, const Groups &groups) {
  const bool is_packed = request.b.layout == Layout::kPanels;
  if (!is_packed || groups.count > 1 || request.b.format.has_zero_point()) return kPanelLanes;
  const int64_t bytes = panel_bytes(panel_kind(request.b.format.element), request.k);
  return greater(min_i64(kSpanBytes / bytes, kMostSpanPanels), 1) * kPanelLanes;
}

// Sizes of the packed operands, and their addresses in the scratch.
struct GroupLayout {
  Groups groups;
  RowLayout row;
  GemmBlocking blocking;
  bool is_direct;  // bytes of a are read in place
  uint8_t *rows;
  float *row_factors;
  int32_t *starts, *sums;
  PanelBuffers panel;

  // A block has at most `block_bytes` bytes of rows, in multiples of `tile_rows` rows.
  GroupLayout(const GemmRequest &request, int64_t block_bytes, int64_t tile_rows, ScratchParts &parts)
      : groups(groups_of(request.a, request.b, request.k)),
        row(row_layout_of(groups)),
        blocking(blocking_of(request, block_bytes, row.stride, kMinBlockRows, tile_rows)),
        is_direct(is_read_in_place(request, groups)) {
    blocking.span = span_columns_of(request, groups);
    const bool is_plain = request.b.layout != Layout::kPanels;
    const Format &format = request.b.format;
    const int64_t blocks = is_plain ? panel_blocks(format, request.k) : 0;
    const int64_t zero_points = format.has_zero_point() ? groups.count : 0;
    rows = parts.take<uint8_t>(is_direct ? 0 : blocking.row_space * row.stride);
    row_factors = parts.take<float>(blocking.row_space);
    starts = parts.take<int32_t>(blocking.row_space);
    sums = parts.take<int32_t>(sum_buffer_count(groups));
    panel.codes = parts.take<uint8_t>(is_plain ? panel_bytes(panel_kind(format.element), request.k) : 0);
    panel.spread = parts.take<uint8_t>(is_plain ? kPanelLanes * round_up(request.k, 2) : 0);
    panel.blocks = parts.take<uint8_t>(4 * kPanelLanes * blocks);
    panel.scales = parts.take<float>(kPanelLanes * groups.count);
    panel.addends = parts.take<uint32_t>(kPanelLanes * zero_points);
    panel.doubled = parts.take<uint32_t>(zero_points);
  }

  bool is_whole() const { return groups.count == 1; }  // no scales along k
};

// Implements the Kernel of driver.hpp, without multiply().
struct GroupOperands {
  const GemmRequest &request;
  const GroupLayout &layout;
  Integers a_integers, b_integers;
  GroupScales a_scales;
  Columns columns;
  bool are_powers;         // all scales along k are powers of two
  bool are_rows_moderate;  // the scales of the block are moderate
  alignas(64) int8_t values[64];

  GroupOperands(const GemmRequest &request, const GroupLayout &layout)
      : request(request),
        layout(layout),
        a_integers(integers_of(request.a.format.element)),
        b_integers(integers_of(request.b.format.element)),
        a_scales(group_scales_of(request.a, request.k)),
        columns{.view = request.b,
                .integers = b_integers,
                .groups = layout.groups,
                .k = request.k,
                .kind = panel_kind(request.b.format.element),
                .scales = group_scales_of(request.b, request.k),
                .buffers = layout.panel} {
    are_powers = a_scales.is_along_k && a_scales.format == LPT_FORMAT_E8M0FNU &&
                 (!columns.scales.is_along_k || columns.scales.format == LPT_FORMAT_E8M0FNU);
    for (int i = 0; i < 64; ++i) values[i] = static_cast<int8_t>(b_integers.value[i] ^ -128);
  }

  void pack_columns(int64_t, int64_t) {}
  void pack_rows(int64_t row, int64_t rows, const Depth &);
};

// Computes the start values of the sums of a block of rows that are read in place.
inline void write_starts(const PackedRows &packed, int64_t row, int64_t rows, int32_t *starts) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) write_starts<4>(packed, row + i, starts + i);
  for (; i < rows; ++i) write_starts<1>(packed, row + i, starts + i);
}

inline void GroupOperands::pack_rows(int64_t row, int64_t rows, const Depth &) {
  const PackedRows packed = {.view = request.a,
                             .integers = a_integers,
                             .groups = layout.groups,
                             .layout = layout.row,
                             .k = request.k,
                             .is_order_of_nibbles = columns.kind == PanelKind::kNibbles,
                             .sums = layout.sums};
  const float unit = 1.0f / static_cast<float>(1 << a_integers.fraction_bits);
  const int64_t lane = request.first_row + row;
  write_lane_factors(request.a, lane, rows, request.k, unit, layout.row_factors);
  are_rows_moderate = true;
  if (layout.is_direct) return write_starts(packed, lane, rows, layout.starts);
  for (int64_t i = 0; i < rows; ++i) {
    uint8_t *const to = layout.rows + i * layout.row.stride;
    auto *const starts = reinterpret_cast<int32_t *>(to + layout.row.start_offset);
    const bool is_moderate = pack_row(packed, lane + i, to, layout.is_whole() ? layout.starts + i : starts);
    are_rows_moderate = are_rows_moderate && is_moderate;
  }
}

// Sets the scales of the groups of a panel, and returns how they are applied.
inline GroupScaling prepare_scales(const GroupOperands &gemm, int64_t lane, int64_t lanes, const float *&scales) {
  const Columns &columns = gemm.columns;
  scales = scales_in_place(columns, lane);
  if (gemm.layout.is_whole()) return GroupScaling::kWhole;
  if (scales == nullptr) {
    scales = columns.buffers.scales;
    const bool are_exponents = gemm.are_powers && gemm.are_rows_moderate;
    if (write_column_scales(columns, lane, lanes, are_exponents)) return GroupScaling::kExponents;
  }
  return gemm.a_scales.is_along_k ? GroupScaling::kBoth : GroupScaling::kColumns;
}

// A panel of c, and the state that its tiles share.
struct PanelWork {
  GroupTile tile;
  TileEpilogue place;  // of the next tile
  GroupScaling scaling;
  alignas(64) float column_factors[kPanelLanes];
};

// Prepares a panel of the area for the packed block of rows.
inline void prepare_panel(const GroupOperands &gemm, const GemmArea &panel, PanelWork &work) {
  const GemmRequest &request = gemm.request;
  const GroupLayout &layout = gemm.layout;
  const Columns &columns = gemm.columns;
  const int64_t lane = request.first_column + panel.column, lanes = panel.columns;
  const float *scales;
  if (columns.view.format.has_zero_point()) write_addends(columns, lane, lanes);
  work.scaling = prepare_scales(gemm, lane, lanes, scales);
  const float unit = static_cast<float>(request.alpha) / static_cast<float>(1 << gemm.b_integers.fraction_bits);
  for (float &factor : work.column_factors) factor = 0;
  write_lane_factors(request.b, lane, lanes, request.k, unit, work.column_factors);
  const NextScales next_scales = next_scales_of(columns, lane);
  work.tile = {.rows = nullptr,
               .stride = layout.is_direct ? request.a.row_stride : layout.row.stride,
               .scale_offset = layout.row.scale_offset,
               .starts = nullptr,
               .start_stride = layout.is_whole() ? 4 : layout.row.stride,
               .panel = panel_of(columns, lane, lanes),
               .column_scales = scales,
               .column_addends = columns.buffers.addends,
               .doubled_columns = columns.buffers.doubled,
               .values = gemm.values,
               .next_scales = next_scales.data,
               .next_step = next_scales.group_bytes,
               .steps = layout.groups.steps,
               .group_steps = layout.groups.group_steps,
               .prefetch = {nullptr, 0}};
  work.place = epilogue_of(request, panel);
  work.place.column_factors = work.column_factors;
}

}  // namespace
}  // namespace lpt
