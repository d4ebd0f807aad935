// GEMM of small integers with scales for groups of k.
//
//   c(i, j) = sum over groups g of float(sum over p in g of a(i, p) · b(p, j)) · (a's scale(i, g) · b's scale(g, j))
//
// The inner sums are exact in int32. Columns are unsigned, value + 128; what that adds, 128 · (the sum of the row in
// the group), is known once a row is packed, and the sums start from its negative. More than 2^17 - 1 k without scales
// are cut to groups of 2^16.
//
// A block of rows of a, half of a usual L2, is packed, or read where it is; then it is multiplied by the panels of b, some at a
// time: each tile of rows all of them before the next tile.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/avx512_vnni_columns.hpp"
#include "kernels/gemm/x86/avx512_vnni_tile.hpp"

namespace lpt {
namespace {

struct GroupBlocking {
  Groups groups;
  RowLayout layout;
  bool is_direct;  // a's bytes are read where they lie
  int64_t rows;    // of a that are packed at once
  size_t row_factors, starts, sums, codes, spread, blocks, scales, addends, doubled, total_bytes;
};

// A tile reads a line of each of its rows at a time, and of some the next: with less than four sets of the first cache to lie
// in they push each other out.
constexpr int64_t kFewSetsBytes = 2048;

inline bool is_read_in_place(const GemmRequest &request, const Groups &groups) {
  const PanelKind kind = panel_kind(request.b.format.element);
  return groups.count == 1 && element_of(request.a.format.element).bits == 8 && kind != PanelKind::kNibbles &&
         request.k % 4 == 0 && request.a.row_stride % kFewSetsBytes != 0;
}

constexpr int64_t kGroupBlockBytes = 512 << 10;  // of rows of a

inline GroupBlocking group_blocking_of(const GemmRequest &request) {
  GroupBlocking blocking = {};
  blocking.groups = groups_of(request.a, request.b, request.k);
  blocking.layout = row_layout_of(blocking.groups);
  const RowBlock block = row_block_of(request.m, kGroupBlockBytes, blocking.layout.stride, kLeastRows, kWholeTileRows);
  blocking.rows = min_i64(block.rows, request.m);
  const int64_t space = min_i64(block.space, request.m);
  size_t end = 0;
  const auto take = [&end](int64_t bytes) {
    const size_t begin = end;
    end += static_cast<size_t>(round_up(bytes, 64));
    return begin;
  };
  const bool is_plain = request.b.layout != Layout::kPanels;
  const Format &format = request.b.format;
  const PanelKind kind = panel_kind(format.element);
  blocking.is_direct = is_read_in_place(request, blocking.groups);
  take(blocking.is_direct ? 0 : space * blocking.layout.stride);
  blocking.row_factors = take(4 * space);
  blocking.starts = take(4 * space);
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
struct GroupGemm {
  const GemmRequest &request;
  GroupBlocking blocking;
  Integers a_integers, b_integers;
  GroupScales a_scales, b_scales;
  bool are_powers;  // all scales along k
  bool is_whole;    // one group, so no scales along k
  alignas(64) int8_t values[64];

  explicit GroupGemm(const GemmRequest &request)
      : request(request),
        blocking(group_blocking_of(request)),
        a_integers(integers_of(request.a.format.element)),
        b_integers(integers_of(request.b.format.element)),
        a_scales(group_scales_of(request.a, request.k)),
        b_scales(group_scales_of(request.b, request.k)) {
    are_powers = a_scales.is_along_k && a_scales.format == LPT_FORMAT_E8M0FNU &&
                 (!b_scales.is_along_k || b_scales.format == LPT_FORMAT_E8M0FNU);
    is_whole = blocking.groups.count == 1;
    for (int i = 0; i < 64; ++i) values[i] = static_cast<int8_t>(b_integers.value[i] ^ -128);
  }

  template <typename T>
  T *at(size_t offset) const {
    return reinterpret_cast<T *>(request.scratch + offset);
  }
};

inline Columns columns_of(const GroupGemm &gemm) {
  const GroupBlocking &blocking = gemm.blocking;
  return {.view = gemm.request.b,
          .integers = gemm.b_integers,
          .groups = blocking.groups,
          .k = gemm.request.k,
          .kind = panel_kind(gemm.request.b.format.element),
          .scales = gemm.b_scales,
          .buffers = {.codes = gemm.at<uint8_t>(blocking.codes),
                      .spread = gemm.at<uint8_t>(blocking.spread),
                      .blocks = gemm.at<uint8_t>(blocking.blocks),
                      .scales = gemm.at<float>(blocking.scales),
                      .addends = gemm.at<uint32_t>(blocking.addends),
                      .doubled = gemm.at<uint32_t>(blocking.doubled)}};
}

// Where the sums of a block of rows start that are read in place.
inline void write_starts(const PackedRows &packed, int64_t row, int64_t rows, int32_t *starts) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) write_starts<4>(packed, row + i, starts + i);
  for (; i < rows; ++i) write_starts<1>(packed, row + i, starts + i);
}

// Packs a block of rows from `row` on; false where some of their scales are not moderate.
inline bool pack_rows(const GroupGemm &gemm, int64_t row, int64_t rows, bool is_order_of_nibbles) {
  const GroupBlocking &blocking = gemm.blocking;
  const PackedRows packed = {.view = gemm.request.a,
                             .integers = gemm.a_integers,
                             .groups = blocking.groups,
                             .layout = blocking.layout,
                             .k = gemm.request.k,
                             .is_order_of_nibbles = is_order_of_nibbles,
                             .sums = gemm.at<int32_t>(blocking.sums)};
  const float unit = 1.0f / static_cast<float>(1 << gemm.a_integers.fraction_bits);
  const int64_t lane = gemm.request.first_row + row;
  write_lane_factors(gemm.request.a, lane, rows, gemm.request.k, unit, gemm.at<float>(blocking.row_factors));
  auto *const starts = gemm.at<int32_t>(blocking.starts);
  if (blocking.is_direct) {
    write_starts(packed, lane, rows, starts);
    return true;
  }
  bool is_moderate = true;
  for (int64_t i = 0; i < rows; ++i) {
    uint8_t *const to = gemm.at<uint8_t>(0) + i * blocking.layout.stride;
    int32_t *const own = gemm.is_whole ? starts + i : reinterpret_cast<int32_t *>(to + blocking.layout.start_offset);
    is_moderate = pack_row(packed, lane + i, to, own) && is_moderate;
  }
  return is_moderate;
}

// The block of rows from `row` on, as tiles read it.
inline const uint8_t *rows_of(const GroupGemm &gemm, int64_t row) {
  if (!gemm.blocking.is_direct) return gemm.at<uint8_t>(0);
  const MatrixView &a = gemm.request.a;
  return static_cast<const uint8_t *>(a.data) + (gemm.request.first_row + row) * a.row_stride;
}

// How the scales of a panel, which it writes, are to be applied.
inline GroupScaling prepare_scales(const GroupGemm &gemm, const Columns &columns, int64_t lane, int64_t lanes,
                                   bool are_rows_moderate) {
  if (columns.view.format.has_zero_point()) write_addends(columns, lane, lanes);
  if (gemm.is_whole) return GroupScaling::kWhole;
  const bool wants_exponents = gemm.are_powers && are_rows_moderate;
  if (write_column_scales(columns, lane, lanes, wants_exponents)) return GroupScaling::kExponents;
  return gemm.a_scales.is_along_k ? GroupScaling::kGemms : GroupScaling::kColumns;
}

// A panel of c, and what its tiles share.
struct PanelWork {
  GroupTile tile;
  TileEpilogue place;  // of the next tile
  GroupScaling scaling;
  alignas(64) float column_factors[kPanelLanes];
};

// The panel of c that begins in `column`, ready for the packed block of rows.
inline void prepare_panel(const GroupGemm &gemm, const Columns &columns, int64_t column, bool are_rows_moderate,
                          PanelWork &work) {
  const GemmRequest &request = gemm.request;
  const GroupBlocking &blocking = gemm.blocking;
  const int64_t lane = request.first_column + column, lanes = min_i64(request.n - column, kPanelLanes);
  work.scaling = prepare_scales(gemm, columns, lane, lanes, are_rows_moderate);
  const float unit = static_cast<float>(request.alpha) / static_cast<float>(1 << gemm.b_integers.fraction_bits);
  for (float &factor : work.column_factors) factor = 0;
  write_lane_factors(request.b, lane, lanes, request.k, unit, work.column_factors);
  const NextScales next_scales = next_scales_of(columns, lane);
  const auto *const bias = static_cast<const float *>(request.bias);
  const int64_t element_bytes = request.c.format.element == LPT_FORMAT_F32 ? 4 : 2;
  work.tile = {.rows = nullptr,
               .stride = blocking.is_direct ? request.a.row_stride : blocking.layout.stride,
               .scale_offset = blocking.layout.scale_offset,
               .starts = nullptr,
               .start_stride = gemm.is_whole ? 4 : blocking.layout.stride,
               .panel = panel_of(columns, lane, lanes),
               .column_scales = columns.buffers.scales,
               .column_addends = columns.buffers.addends,
               .doubled_columns = columns.buffers.doubled,
               .values = gemm.values,
               .next_scales = next_scales.data,
               .next_step = next_scales.group_bytes,
               .steps = blocking.groups.steps,
               .group_steps = blocking.groups.group_steps,
               .prefetch = {nullptr, 0}};
  work.place = {.c = static_cast<uint8_t *>(request.c.data) + lane * element_bytes,
                .row_bytes = request.c.row_stride * element_bytes,
                .element_bytes = element_bytes,
                .format = request.c.format.element,
                .columns = lanes,
                .row_factors = nullptr,
                .column_factors = work.column_factors,
                .starts = nullptr,
                .bias = bias == nullptr ? nullptr : bias + lane,
                .beta = static_cast<float>(request.beta)};
}

// Rows of a block, which begins in row `row` of c, as tiles take them.
struct BlockRows {
  int64_t row, count, tiles;
  const uint8_t *bytes, *starts;
  const float *factors;
};

// Those of tile t.
struct TileRows {
  int64_t first, count;
};

inline TileRows tile_rows_of(const BlockRows &block, int64_t t) {
  const int64_t first = block.count * t / block.tiles;
  return {first, block.count * (t + 1) / block.tiles - first};
}

// The next rows of the block.
inline void multiply_rows(const Columns &columns, const BlockRows &block, const TileRows &rows, PanelWork &work) {
  work.tile.rows = block.bytes + rows.first * work.tile.stride;
  work.tile.starts = block.starts + rows.first * work.tile.start_stride;
  work.place.row_factors = block.factors + rows.first;
  group_tile_of(columns, work.scaling, rows.count)(work.tile, work.place);
  work.place.c += rows.count * work.place.row_bytes;
  work.tile.prefetch.skip(work.tile.steps);
}

// Panels that a tile's rows read one after the other. Each writes lines of c in as many pages as it has rows, so several side
// by side are better, as long as they stay in the second cache beside the rows. Only weights in panels lie there as they are
// read, and scales of groups are written for one panel at a time.
constexpr int64_t kSpanBytes = 256 << 10;
constexpr int64_t kMostSpanPanels = 8;

inline int64_t span_panels_of(const GroupGemm &gemm, const Columns &columns) {
  if (columns.view.layout != Layout::kPanels || !gemm.is_whole || columns.view.format.has_zero_point()) return 1;
  return greater(min_i64(kSpanBytes / panel_bytes(columns.kind, columns.k), kMostSpanPanels), 1);
}

inline void multiply_groups(const GemmRequest &request) {
  const GroupGemm gemm(request);
  const GroupBlocking &blocking = gemm.blocking;
  const Columns columns = columns_of(gemm);
  const int64_t span = span_panels_of(gemm, columns);
  const int64_t tile_rows = gemm.is_whole ? kWholeTileRows : kGroupTileRows;
  PanelWork works[kMostSpanPanels];
  for (int64_t row = 0; row < request.m; row += blocking.rows) {
    const int64_t rows = min_i64(request.m - row, blocking.rows);
    const bool are_rows_moderate = pack_rows(gemm, row, rows, columns.kind == PanelKind::kNibbles);
    const uint8_t *const bytes = rows_of(gemm, row);
    // As many tiles as it takes, of nearly the same size: a tile of one or two rows waits for its own sums.
    const BlockRows block = {
        .row = request.first_row + row,
        .count = rows,
        .tiles = (rows + tile_rows - 1) / tile_rows,
        .bytes = bytes,
        .starts = gemm.is_whole ? gemm.at<uint8_t>(blocking.starts) : bytes + blocking.layout.start_offset,
        .factors = gemm.at<float>(blocking.row_factors)};
    for (int64_t column = 0; column < request.n; column += span * kPanelLanes) {
      const int64_t panels = min_i64(span, (request.n - column + kPanelLanes - 1) / kPanelLanes);
      for (int64_t p = 0; p < panels; ++p) {
        prepare_panel(gemm, columns, column + p * kPanelLanes, are_rows_moderate, works[p]);
        works[p].place.c += block.row * works[p].place.row_bytes;
        works[p].tile.prefetch = requested_by(columns, works[p].tile.panel, block.tiles, panels);
      }
      for (int64_t t = 0; t < block.tiles; ++t) {
        const TileRows own = tile_rows_of(block, t);
        for (int64_t p = 0; p < panels; ++p) multiply_rows(columns, block, own, works[p]);
      }
    }
  }
}

}  // namespace

void gemm_groups_x86_avx512_vnni(const GemmRequest &request) { multiply_groups(request); }

size_t gemm_scratch_groups_x86_avx512_vnni(const GemmRequest &request) {
  return group_blocking_of(request).total_bytes;
}

}  // namespace lpt
