// GEMM by AMX, the matrix unit of x86 CPUs. Operands are bf16, which must represent the elements exactly, with sums in f32, or
// int8 with exact sums in int32.
//
// A block of a and a panel of b are decoded for one depth of k. The block fits the L2 cache, the panel the L1 cache. If k has
// several depths, scratch holds the sums of an area of c that fits the L2 cache. Scales along k that bf16 does not represent
// cut k into groups. A group is summed from zero, and total = total + sum · (scale of the column · scale of the row), one fused
// multiply-add.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/amx_numbers.hpp"

namespace lpt {
namespace {

constexpr int64_t kDepthSteps = 16;   // a power of two: full blocks of scales
constexpr int64_t kGroupedSteps = 8;  // of a depth with groups
constexpr int64_t kUnitBlockBytes = 1 << 20;
constexpr int64_t kAreaRows = 512;
constexpr int64_t kAreaColumns = 768;

// Returns the length of the groups of k; 0: no groups.
inline int64_t unit_group_length(const GemmRequest &request) {
  const bool is_a_adjacent = !request.is_a_transposed, is_b_adjacent = request.is_b_transposed;
  int64_t length = 0;
  if (is_grouped_by_scales(request.a, is_a_adjacent, request.k)) {
    length = is_a_adjacent ? request.a.format.block_columns : request.a.format.block_rows;
  }
  if (is_grouped_by_scales(request.b, is_b_adjacent, request.k)) {
    const int64_t b_length = is_b_adjacent ? request.b.format.block_columns : request.b.format.block_rows;
    length = length == 0 ? b_length : min_i64(length, b_length);
  }
  return length;
}

// Sizes of the decoded operands and sums, and their addresses in the scratch.
template <typename Numbers>
struct AmxLayout {
  GemmBlocking blocking;
  int64_t group_length, groups;  // groups per depth; 0: none
  int64_t pair_bytes;            // of a pair of tiles of a; a panel of b has the same size
  bool has_sums;                 // an area has sums in scratch
  uint8_t *tiles, *panel;
  float *sums;      // of an area, in blocks of 32 by 32
  float *finished;  // one block of 32 by 32
  float *row_factors;
  float *row_scales, *column_scales;  // of the groups of a depth, group by group
  size_t scratch_bytes;

  explicit AmxLayout(const GemmRequest &request) {
    const bool is_cut = request.k > kDepthSteps * Numbers::kOfStep;
    group_length = Numbers::kHasGroups ? unit_group_length(request) : 0;
    const int64_t most_steps = group_length == 0 ? kDepthSteps : kGroupedSteps;
    const int64_t depth =
        is_cut ? greater(most_steps * Numbers::kOfStep, group_length) : round_up(request.k, Numbers::kOfStep);
    groups = group_length == 0 ? 0 : (depth + group_length - 1) / group_length;
    has_sums = is_cut || group_length != 0;
    pair_bytes = depth / Numbers::kOfStep * 2 * kUnitBytes;
    const int64_t most_rows = has_sums ? kAreaRows : kUnitBlockBytes / pair_bytes * kPairRows;
    const int64_t rows = min_i64(most_rows, round_up(request.m, kPairRows)),
                  columns = round_up(request.n, kPairColumns);
    blocking = {.rows = rows,
                .row_space = rows,
                .columns = has_sums ? equal_parts(columns, kAreaColumns, kPairColumns) : columns,
                .depth = depth,
                .span = kPairColumns};
    ScratchParts parts(request.scratch);
    tiles = parts.take<uint8_t>(rows / kPairRows * pair_bytes);
    panel = parts.take<uint8_t>(pair_bytes);
    finished = parts.take<float>(kPairNumbers);
    sums = parts.take<float>(has_sums ? rows * min_i64(kAreaColumns, columns) : 0);  // also of any part of the columns
    row_factors = parts.take<float>(rows);
    row_scales = parts.take<float>(rows * groups);
    column_scales = parts.take<float>(kPairColumns * groups);
    scratch_bytes = parts.bytes();
  }
};

// Implements the Kernel of driver.hpp.
template <typename Numbers>
struct AmxGemm {
  const GemmRequest &request;
  const AmxLayout<Numbers> &layout;
  Operand a, b = {};                // b is set if it is not packed
  PackedPanels packed = {};         // set if b is packed
  bool is_a_grouped, is_b_grouped;  // scales cut k into groups

  AmxGemm(const GemmRequest &request, const AmxLayout<Numbers> &layout, ValueTable &a_values, ValueTable &b_values)
      : request(request),
        layout(layout),
        a(operand_of(request.a, !request.is_a_transposed, request.first_row, request.k, a_values)),
        is_a_grouped(is_grouped_by_scales(request.a, !request.is_a_transposed, request.k)),
        is_b_grouped(is_grouped_by_scales(request.b, request.is_b_transposed, request.k)) {
    if (is_packed()) {
      packed = packed_panels(request.b, request.k);
    } else {
      b = operand_of(request.b, request.is_b_transposed, request.first_column, request.k, b_values);
    }
  }

  bool is_packed() const { return request.b.layout == Layout::kPanels; }
  int64_t panel_at(int64_t column) const { return (request.first_column + column) / kPanelLanes; }

  void pack_columns(int64_t, int64_t) {}
  void pack_rows(int64_t row, int64_t rows, const Depth &depth) const;
  void multiply(const GemmArea &area, const Depth &depth) const;
};

template <typename Numbers>
void pack_unit_panel(const AmxGemm<Numbers> &gemm, const GemmArea &area, const Depth &depth) {
  if (gemm.is_packed()) {
    return Numbers::pack_packed_panel(gemm.packed, gemm.panel_at(area.column), depth, gemm.layout.panel);
  }
  Numbers::pack_plain_panel(at_depth(gemm.b, depth, gemm.is_b_grouped), area.column, area.columns, gemm.layout.panel);
}

// Groups of k.

template <typename Numbers>
void set_row_scales(const AmxGemm<Numbers> &gemm, int64_t row, int64_t rows, const Depth &depth) {
  const AmxLayout<Numbers> &layout = gemm.layout;
  const Operand part = at_depth(gemm.a, depth, gemm.is_a_grouped);
  for (int64_t group = 0; group < layout.groups; ++group) {
    const int64_t p = min_i64(group * layout.group_length, depth.count - 1);
    float *const scales = layout.row_scales + group * layout.blocking.rows;
    for (int64_t i = 0; i < rows; ++i) scales[i] = gemm.is_a_grouped ? group_scale(part, row + i, p) : 1;
  }
}

template <typename Numbers>
void set_column_scales(const AmxGemm<Numbers> &gemm, const GemmArea &area, const Depth &depth) {
  const AmxLayout<Numbers> &layout = gemm.layout;
  const Operand part = gemm.is_packed() ? Operand{} : at_depth(gemm.b, depth, gemm.is_b_grouped);
  for (int64_t group = 0; group < layout.groups; ++group) {
    const int64_t p = min_i64(group * layout.group_length, depth.count - 1);
    float *const scales = layout.column_scales + group * kPairColumns;
    if (gemm.is_packed()) {
      group_scales(gemm.packed, gemm.panel_at(area.column), depth.first + p, scales);
      continue;
    }
    for (int64_t j = 0; j < area.columns; ++j) {
      scales[j] = gemm.is_b_grouped ? group_scale(part, area.column + j, p) : 1;
    }
  }
}

// Adds the sums of a group, multiplied by their scales, to the totals. Only `rows` rows are processed: rows past the edge are
// uninitialized memory, in which each subnormal would cost a hundred cycles.
inline void add_group(const float *sums, const float *row_scales, const float *column_scales, int64_t rows,
                      bool is_first, float *totals) {
  const __m512 low_scales = _mm512_loadu_ps(column_scales), high_scales = _mm512_loadu_ps(column_scales + 16);
  for (int64_t i = 0; i < rows; ++i, sums += kPairColumns, totals += kPairColumns) {
    const __m512 row = _mm512_set1_ps(row_scales[i]);
    const __m512 low = is_first ? _mm512_setzero_ps() : _mm512_load_ps(totals);
    const __m512 high = is_first ? _mm512_setzero_ps() : _mm512_load_ps(totals + 16);
    _mm512_store_ps(totals, _mm512_fmadd_ps(_mm512_load_ps(sums), _mm512_mul_ps(low_scales, row), low));
    _mm512_store_ps(totals + 16, _mm512_fmadd_ps(_mm512_load_ps(sums + 16), _mm512_mul_ps(high_scales, row), high));
  }
}

// Tiles.

// The arguments are those of multiply_amx().
template <typename Numbers>
void multiply_rows(const uint8_t *a, const uint8_t *panel, int64_t count, int64_t rows, const float *sums, float *out,
                   const float *next) {
  const int64_t steps = (count + Numbers::kOfStep - 1) / Numbers::kOfStep;
  return rows > kUnitRows ? multiply_amx<typename Numbers::Unit, true>(a, panel, steps, sums, out, next)
                          : multiply_amx<typename Numbers::Unit, false>(a, panel, steps, sums, out, next);
}

// Multiplies some rows by a panel at one depth, group by group, and adds the results to `totals`.
template <typename Numbers>
void multiply_groups(const AmxLayout<Numbers> &layout, const uint8_t *a, int64_t row, int64_t rows, const Depth &depth,
                     float *totals) {
  for (int64_t group = 0; group * layout.group_length < depth.count; ++group) {
    const int64_t first = group * layout.group_length;
    const int64_t offset = first / Numbers::kOfStep * 2 * kUnitBytes;
    const int64_t count = min_i64(layout.group_length, depth.count - first);
    multiply_rows<Numbers>(a + offset, layout.panel + offset, count, rows, nullptr, layout.finished, layout.finished);
    add_group(layout.finished, layout.row_scales + group * layout.blocking.rows + row,
              layout.column_scales + group * kPairColumns, rows, depth.first + first == 0, totals);
  }
}

// Multiplies all rows of an area by a panel of b. Sums start at zero at the first depth, and are stored in c at the last one.
template <typename Numbers>
void multiply_panel(const AmxGemm<Numbers> &gemm, const GemmArea &area, const Depth &depth, TileEpilogue &epilogue) {
  const AmxLayout<Numbers> &layout = gemm.layout;
  const bool is_first = depth.first == 0, is_last = depth.first + depth.count == gemm.request.k;
  const int64_t panel = (area.column - area.slab) / kPairColumns, panels = layout.blocking.columns / kPairColumns;
  for (int64_t row = 0; row < area.rows; row += kPairRows) {
    const int64_t rows = min_i64(area.rows - row, kPairRows);
    float *const kept = layout.sums + (layout.has_sums ? (row / kPairRows * panels + panel) * kPairNumbers : 0);
    const uint8_t *const a = layout.tiles + row / kPairRows * layout.pair_bytes;
    float *done = is_last ? layout.finished : kept;
    if (is_last && !is_first) prefetch_c(epilogue, rows);
    if (layout.groups != 0) {
      multiply_groups(layout, a, row, rows, depth, kept);
      done = kept;
    } else {
      const float *const sums = is_first ? nullptr : kept;
      multiply_rows<Numbers>(a, layout.panel, depth.count, rows, sums, done,
                             is_first ? done : kept + panels * kPairNumbers);
    }
    if (!is_last) continue;
    epilogue.row_factors = layout.row_factors + row;
    write_pair<typename Numbers::Sums>(done, rows, epilogue);
    epilogue.c += kPairRows * epilogue.row_bytes;
  }
}

template <typename Numbers>
void AmxGemm<Numbers>::pack_rows(int64_t row, int64_t rows, const Depth &depth) const {
  if (depth.first == 0) {
    for (int64_t i = 0; i < rows; ++i) layout.row_factors[i] = lane_factor(a, row + i);
  }
  pack_unit_rows<Numbers>(at_depth(a, depth, is_a_grouped), row, rows, layout.pair_bytes, layout.panel, layout.tiles);
  if (layout.groups != 0) set_row_scales(*this, row, rows, depth);
}

template <typename Numbers>
void AmxGemm<Numbers>::multiply(const GemmArea &area, const Depth &depth) const {
  alignas(64) float factors[kPairColumns] = {};
  pack_unit_panel(*this, area, depth);
  if (layout.groups != 0) set_column_scales(*this, area, depth);
  for (int64_t j = 0; j < area.columns; ++j) {
    const float factor =
        is_packed() ? column_factor(packed, request.first_column + area.column + j) : lane_factor(b, area.column + j);
    factors[j] = factor * static_cast<float>(request.alpha);
  }
  TileEpilogue epilogue = epilogue_of(request, area);
  epilogue.column_factors = factors;
  multiply_panel(*this, area, depth, epilogue);
}

template <typename Numbers>
void multiply_by_unit(const GemmRequest &request) {
  ValueTable a_values, b_values;
  const AmxLayout<Numbers> layout(request);
  AmxGemm<Numbers> gemm(request, layout, a_values, b_values);
  const AmxTileConfig setup;
  run_driver(request, layout.blocking, gemm);
}

}  // namespace

void gemm_any_x86_amx(const GemmRequest &request) { multiply_by_unit<Bf16Elements>(request); }

size_t gemm_scratch_x86_amx(const GemmRequest &request) { return AmxLayout<Bf16Elements>(request).scratch_bytes; }

void gemm_int8_x86_amx(const GemmRequest &request) { multiply_by_unit<Int8Elements>(request); }

size_t gemm_scratch_int8_x86_amx(const GemmRequest &request) { return AmxLayout<Int8Elements>(request).scratch_bytes; }

}  // namespace lpt
