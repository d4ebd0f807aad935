// Products of small integers with scales for groups of k. Included by ISA files: everything here has internal linkage.
//
//   c(i, j) = sum over groups g of float(sum over p in g of a(i, p) · b(p, j)) · (a's scale(i, g) · b's scale(g, j))
//
// The inner sums are exact in int32. Columns are unsigned, value + 128; what that adds, 128 · (the sum of the row in
// the group), is known once a row is packed, and the sums start from its negative. More than 2^17 - 1 k without scales
// are cut to groups of 2^16.
//
// A block of rows of a, half of a usual L2, is packed; then every panel of b meets it, one after the other.
#pragma once

#include "kernels/gemm/avx512_vnni_columns.hpp"
#include "kernels/gemm/avx512_vnni_tile.hpp"

namespace lpt {
namespace {

struct GroupBlocking {
  Groups groups;
  RowLayout layout;
  int64_t rows;  // of a that are packed at once
  size_t row_factors, sums, codes, spread, blocks, scales, addends, doubled, total_bytes;
};

inline GroupBlocking group_blocking_of(const GemmRequest &request) {
  GroupBlocking blocking = {};
  blocking.groups = groups_of(request.a, request.b, request.k);
  blocking.layout = row_layout_of(blocking.groups);
  const int64_t rows = greater(kBlockBytes / blocking.layout.stride / kWholeTileRows, 1) * kWholeTileRows;
  blocking.rows = smaller(rows, request.m);
  size_t end = 0;
  const auto take = [&end](int64_t bytes) {
    const size_t begin = end;
    end += static_cast<size_t>(round_up(bytes, 64));
    return begin;
  };
  const bool is_plain = request.b.layout != Layout::kPanels;
  const Format &format = request.b.format;
  const PanelKind kind = panel_kind(format.element);
  take(blocking.rows * blocking.layout.stride);
  blocking.row_factors = take(4 * blocking.rows);
  blocking.sums = take(4 * sum_buffer_count(blocking.groups));
  blocking.codes = take(is_plain ? panel_bytes(kind, request.k) : 0);
  blocking.spread = take(is_plain ? kPanelLanes * round_up(request.k, 2) : 0);
  const int64_t blocks = format.has_block_scale() ? panel_blocks(format, request.k) : 0;
  blocking.blocks = take(is_plain ? 4 * kPanelLanes * blocks : 0);
  blocking.scales = take(4 * kPanelLanes * blocking.groups.count);
  blocking.addends = take(format.has_zero_point() ? 4 * kPanelLanes * blocking.groups.count : 0);
  blocking.doubled = take(format.has_zero_point() ? 4 * blocking.groups.count : 0);
  blocking.total_bytes = end;
  return blocking;
}

inline GroupTileFunction group_tile_of(const Columns &columns, GroupScaling scaling, int64_t rows) {
  if (columns.kind == PanelKind::kByteQuads) return group_tile_of<ByteColumns>(scaling, rows);
  if (columns.kind == PanelKind::kBytePairs) return group_tile_of<BytePairColumns>(scaling, rows);
  if (columns.view.format.has_zero_point()) return group_tile_of<ZeroPointColumns>(scaling, rows);
  return group_tile_of<NibbleColumns>(scaling, rows);
}

// What stays the same for all of c.
struct GroupProduct {
  const GemmRequest &request;
  GroupBlocking blocking;
  Integers a_integers, b_integers;
  GroupScales a_scales, b_scales;
  bool are_powers;  // all scales along k
  bool is_whole;    // no scales along k, and one group
  alignas(64) int8_t values[64];

  explicit GroupProduct(const GemmRequest &request)
      : request(request),
        blocking(group_blocking_of(request)),
        a_integers(integers_of(request.a.format.element)),
        b_integers(integers_of(request.b.format.element)),
        a_scales(group_scales_of(request.a, request.k)),
        b_scales(group_scales_of(request.b, request.k)) {
    are_powers = a_scales.is_along_k && a_scales.format == LPT_FORMAT_E8M0FNU &&
                 (!b_scales.is_along_k || b_scales.format == LPT_FORMAT_E8M0FNU);
    is_whole = blocking.groups.count == 1 && !a_scales.is_along_k && !b_scales.is_along_k;
    for (int i = 0; i < 64; ++i) values[i] = static_cast<int8_t>(b_integers.value[i] ^ -128);
  }

  template <typename T>
  T *at(size_t offset) const {
    return reinterpret_cast<T *>(request.scratch + offset);
  }
};

inline Columns columns_of(const GroupProduct &product) {
  const GroupBlocking &blocking = product.blocking;
  return {.view = product.request.b,
          .integers = product.b_integers,
          .groups = blocking.groups,
          .k = product.request.k,
          .kind = panel_kind(product.request.b.format.element),
          .scales = product.b_scales,
          .buffers = {.codes = product.at<uint8_t>(blocking.codes),
                      .spread = product.at<uint8_t>(blocking.spread),
                      .blocks = product.at<uint8_t>(blocking.blocks),
                      .scales = product.at<float>(blocking.scales),
                      .addends = product.at<uint32_t>(blocking.addends),
                      .doubled = product.at<uint32_t>(blocking.doubled)}};
}

// Packs a block of rows from `row` on; false where some of their scales are not moderate.
inline bool pack_rows(const GroupProduct &product, int64_t row, int64_t rows, bool is_order_of_nibbles) {
  const GroupBlocking &blocking = product.blocking;
  const PackedRows packed = {.view = product.request.a,
                             .integers = product.a_integers,
                             .groups = blocking.groups,
                             .layout = blocking.layout,
                             .k = product.request.k,
                             .is_order_of_nibbles = is_order_of_nibbles,
                             .sums = product.at<int32_t>(blocking.sums)};
  const float unit = 1.0f / static_cast<float>(1 << product.a_integers.fraction_bits);
  auto *const factors = product.at<float>(blocking.row_factors);
  bool is_moderate = true;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t lane = product.request.first_row + row + i;
    is_moderate = pack_row(packed, lane, product.at<uint8_t>(0) + i * blocking.layout.stride) && is_moderate;
    factors[i] = lane_factor(product.request.a, lane, product.request.k) * unit;
  }
  return is_moderate;
}

// How the scales of a panel, which it writes, are to be applied.
inline GroupScaling prepare_scales(const GroupProduct &product, const Columns &columns, int64_t lane, int64_t lanes,
                                   bool are_rows_moderate) {
  if (columns.view.format.has_zero_point()) write_addends(columns, lane, lanes);
  if (product.is_whole) return GroupScaling::kWhole;
  const bool wants_exponents = product.are_powers && are_rows_moderate;
  if (write_column_scales(columns, lane, lanes, wants_exponents)) return GroupScaling::kExponents;
  return product.a_scales.is_along_k ? GroupScaling::kProducts : GroupScaling::kColumns;
}

// The packed block of rows by the panel of c that begins in `column`.
inline void multiply_panel(const GroupProduct &product, const Columns &columns, int64_t row, int64_t rows,
                           int64_t column, bool are_rows_moderate) {
  const GemmRequest &request = product.request;
  const GroupBlocking &blocking = product.blocking;
  const int64_t lane = request.first_column + column, lanes = smaller(request.n - column, kPanelLanes);
  const GroupScaling scaling = prepare_scales(product, columns, lane, lanes, are_rows_moderate);
  const float unit = static_cast<float>(request.alpha) / static_cast<float>(1 << product.b_integers.fraction_bits);
  alignas(64) float column_factors[kPanelLanes] = {};
  for (int64_t j = 0; j < lanes; ++j) column_factors[j] = lane_factor(request.b, lane + j, request.k) * unit;
  const NextScales next_scales = next_scales_of(columns, lane);
  const auto *const bias = static_cast<const float *>(request.bias);
  const int64_t element_bytes = request.c.format.element == LPT_FORMAT_F32 ? 4 : 2;
  GroupTile tile = {.rows = nullptr,
                    .stride = blocking.layout.stride,
                    .start_offset = blocking.layout.start_offset,
                    .scale_offset = blocking.layout.scale_offset,
                    .panel = panel_of(columns, lane, lanes),
                    .column_scales = columns.buffers.scales,
                    .column_addends = columns.buffers.addends,
                    .doubled_columns = columns.buffers.doubled,
                    .values = product.values,
                    .next_scales = next_scales.data,
                    .next_step = next_scales.group_bytes,
                    .steps = blocking.groups.steps,
                    .group_steps = blocking.groups.group_steps};
  Place place = {.c = nullptr,
                 .row_bytes = request.c.row_stride * element_bytes,
                 .element_bytes = element_bytes,
                 .format = request.c.format.element,
                 .columns = lanes,
                 .row_factors = nullptr,
                 .column_factors = column_factors,
                 .starts = nullptr,
                 .bias = bias == nullptr ? nullptr : bias + lane,
                 .beta = static_cast<float>(request.beta)};
  auto *const c = static_cast<uint8_t *>(request.c.data) + lane * element_bytes;
  // As many tiles as it takes, of nearly the same size: a tile of one or two rows waits for its own sums.
  const int64_t tile_rows = product.is_whole ? kWholeTileRows : kGroupTileRows;
  const int64_t tiles = (rows + tile_rows - 1) / tile_rows;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t i = rows * t / tiles, height = rows * (t + 1) / tiles - i;
    tile.rows = product.at<uint8_t>(0) + i * blocking.layout.stride;
    place.c = c + (request.first_row + row + i) * place.row_bytes;
    place.row_factors = product.at<float>(blocking.row_factors) + i;
    group_tile_of(columns, scaling, height)(tile, place);
  }
}

inline void multiply_groups(const GemmRequest &request) {
  const GroupProduct product(request);
  const Columns columns = columns_of(product);
  for (int64_t row = 0; row < request.m; row += product.blocking.rows) {
    const int64_t rows = smaller(request.m - row, product.blocking.rows);
    const bool are_rows_moderate = pack_rows(product, row, rows, columns.kind == PanelKind::kNibbles);
    for (int64_t column = 0; column < request.n; column += kPanelLanes) {
      multiply_panel(product, columns, row, rows, column, are_rows_moderate);
    }
  }
}

}  // namespace
}  // namespace lpt
