// The product by the matrix unit. Included by ISA files: everything here has internal linkage.
//
// A block of a and a panel of b are decoded for a run of k, the *depth*: the block stays in the second cache, the panel in the
// first. Where k is deeper, the sums of an area of c wait in the scratch, and the area is as small as the second cache asks
// for. Scales along k that bf16 does not hold cut k into groups: a group is summed from zero, and
// total = total + sum · (scale of the column · scale of the row), one fused multiply-add.
#pragma once

#include "kernels/gemm/amx_numbers.hpp"

namespace lpt {
namespace {

constexpr int64_t kDepthSteps = 8;        // a power of two: whole blocks of scales
constexpr int64_t kWholeDepthSteps = 16;  // k that is not cut
constexpr int64_t kUnitBlockBytes = 1 << 20;
constexpr int64_t kAreaRows = 512;
constexpr int64_t kAreaColumns = 512;

// The length of groups of k; 0: there are none.
inline int64_t unit_group_length(const GemmRequest &request) {
  const bool is_a_adjacent = !request.is_a_transposed, is_b_adjacent = request.is_b_transposed;
  int64_t length = 0;
  if (is_grouped_by_scales(request.a, is_a_adjacent, request.k)) {
    length = is_a_adjacent ? request.a.format.block_columns : request.a.format.block_rows;
  }
  if (is_grouped_by_scales(request.b, is_b_adjacent, request.k)) {
    const int64_t b_length = is_b_adjacent ? request.b.format.block_columns : request.b.format.block_rows;
    length = length == 0 ? b_length : smaller(length, b_length);
  }
  return length;
}

// What is decoded at once, and where it lies in the scratch.
struct UnitBlocking {
  int64_t depth;
  int64_t group_length;
  int64_t groups;         // of one depth
  int64_t rows, columns;  // of c
  bool has_sums;          // of an area
  int64_t pair_bytes;     // of a pair of tiles of a, and of a panel of b
  size_t panel_offset, sum_offset, row_factor_offset, row_scale_offset, column_scale_offset, total_bytes;
};

template <typename Numbers>
UnitBlocking unit_blocking(const GemmRequest &request) {
  UnitBlocking blocking = {};
  const bool is_cut = request.k > kWholeDepthSteps * Numbers::kOfStep;
  blocking.group_length = Numbers::kHasGroups ? unit_group_length(request) : 0;
  blocking.depth =
      is_cut ? greater(kDepthSteps * Numbers::kOfStep, blocking.group_length) : round_up(request.k, Numbers::kOfStep);
  blocking.groups =
      blocking.group_length == 0 ? 0 : (blocking.depth + blocking.group_length - 1) / blocking.group_length;
  blocking.has_sums = is_cut || blocking.group_length != 0;
  blocking.pair_bytes = blocking.depth / Numbers::kOfStep * 2 * kUnitBytes;
  const int64_t most_rows = blocking.has_sums ? kAreaRows : kUnitBlockBytes / blocking.pair_bytes * kPairRows;
  blocking.rows = smaller(most_rows, round_up(request.m, kPairRows));
  const int64_t columns = round_up(request.n, kPairColumns);
  blocking.columns = blocking.has_sums ? smaller(kAreaColumns, columns) : columns;
  blocking.panel_offset = static_cast<size_t>(blocking.rows / kPairRows * blocking.pair_bytes);
  blocking.sum_offset = blocking.panel_offset + static_cast<size_t>(blocking.pair_bytes);
  const int64_t sums = blocking.has_sums ? blocking.rows * blocking.columns : 0;
  blocking.row_factor_offset = blocking.sum_offset + static_cast<size_t>(4 * (sums + kPairNumbers));
  blocking.row_scale_offset = blocking.row_factor_offset + static_cast<size_t>(4 * blocking.rows);
  blocking.column_scale_offset = blocking.row_scale_offset + static_cast<size_t>(4 * blocking.rows * blocking.groups);
  blocking.total_bytes = blocking.column_scale_offset + static_cast<size_t>(4 * kPairColumns * blocking.groups);
  return blocking;
}

// A whole product as it is computed.
template <typename Numbers>
struct UnitProduct {
  const GemmRequest *request;
  UnitBlocking blocking;
  Operand a, b;                     // b: where it is plain
  PackedPanels packed;              // where it is not
  bool is_a_grouped, is_b_grouped;  // by scales
  uint8_t *tiles, *panel;
  float *sums;      // of an area, 32 by 32 numbers together
  float *finished;  // 32 by 32 numbers
  float *row_factors;
  float *row_scales, *column_scales;  // of the groups of a depth, group after group

  bool is_packed() const { return request->b.layout == Layout::kPanels; }
};

// Some rows by some columns of c.
struct UnitArea {
  int64_t row, rows;
  int64_t column, columns;
};

template <typename Numbers>
void pack_unit_panel(const UnitProduct<Numbers> &product, const Depth &depth, int64_t column, int64_t columns) {
  if (product.is_packed()) {
    const int64_t panel = (product.request->first_column + column) / kPanelLanes;
    return Numbers::pack_packed_panel(product.packed, panel, depth, product.panel);
  }
  Numbers::pack_plain_panel(at_depth(product.b, depth, product.is_b_grouped), column, columns, product.panel);
}

// ---- groups

template <typename Numbers>
void set_row_scales(const UnitProduct<Numbers> &product, const UnitArea &area, const Depth &depth) {
  const UnitBlocking &blocking = product.blocking;
  const Operand part = at_depth(product.a, depth, product.is_a_grouped);
  for (int64_t group = 0; group < blocking.groups; ++group) {
    for (int64_t i = 0; i < area.rows; ++i) {
      float &scale = product.row_scales[group * blocking.rows + i];
      const int64_t p = smaller(group * blocking.group_length, depth.count - 1);
      scale = product.is_a_grouped ? group_scale(part, area.row + i, p) : 1;
    }
  }
}

template <typename Numbers>
void set_column_scales(const UnitProduct<Numbers> &product, const Depth &depth, int64_t column, int64_t columns) {
  const UnitBlocking &blocking = product.blocking;
  const Operand part = product.is_packed() ? Operand{} : at_depth(product.b, depth, product.is_b_grouped);
  for (int64_t group = 0; group < blocking.groups; ++group) {
    const int64_t p = smaller(group * blocking.group_length, depth.count - 1);
    float *const scales = product.column_scales + group * kPairColumns;
    if (product.is_packed()) {
      const int64_t panel = (product.request->first_column + column) / kPanelLanes;
      group_scales(product.packed, panel, depth.first + p, scales);
      continue;
    }
    for (int64_t j = 0; j < columns; ++j) scales[j] = product.is_b_grouped ? group_scale(part, column + j, p) : 1;
  }
}

// The sums of a group, scaled, are added to the totals. Rows that are not there hold what memory held: subnormal numbers
// among that would take a hundred cycles each.
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

// ---- tiles

template <typename Numbers>
void multiply_rows(const uint8_t *a, const uint8_t *panel, int64_t count, int64_t rows, const float *sums, float *out) {
  const int64_t steps = (count + Numbers::kOfStep - 1) / Numbers::kOfStep;
  return rows > kUnitRows ? multiply_unit<typename Numbers::Unit, true>(a, panel, steps, sums, out)
                          : multiply_unit<typename Numbers::Unit, false>(a, panel, steps, sums, out);
}

// Some rows by a panel at some depth, into `totals`.
template <typename Numbers>
void multiply_groups(const UnitProduct<Numbers> &product, const uint8_t *a, int64_t row, int64_t rows,
                     const Depth &depth, float *totals) {
  const UnitBlocking &blocking = product.blocking;
  for (int64_t group = 0; group * blocking.group_length < depth.count; ++group) {
    const int64_t first = group * blocking.group_length;
    const int64_t offset = first / Numbers::kOfStep * 2 * kUnitBytes;
    const int64_t count = smaller(blocking.group_length, depth.count - first);
    multiply_rows<Numbers>(a + offset, product.panel + offset, count, rows, nullptr, product.finished);
    add_group(product.finished, product.row_scales + group * blocking.rows + row,
              product.column_scales + group * kPairColumns, rows, depth.first + first == 0, totals);
  }
}

// Sums of a finished tile → c.
template <typename Numbers>
void write_unit(float *sums, int64_t rows, const Place &place) {
  if (!is_stored_whole<Bf16, 2>(place)) {
    Numbers::to_floats(sums);
    return finish_rows(sums, kPairColumns, rows, place);
  }
  const __m512 low = _mm512_loadu_ps(place.column_factors), high = _mm512_loadu_ps(place.column_factors + 16);
  for (int64_t i = 0; i < rows; ++i, sums += kPairColumns) {
    auto *const to = reinterpret_cast<float *>(place.c + i * place.row_bytes);
    const __m512 factor = _mm512_set1_ps(place.row_factors[i]);
    _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_mul_ps(Numbers::floats(sums), factor), low));
    _mm512_storeu_ps(to + 16, _mm512_mul_ps(_mm512_mul_ps(Numbers::floats(sums + 16), factor), high));
  }
}

// A panel of b by all rows of an area. Sums begin at zero at the first depth and go to c at the last one.
template <typename Numbers>
void multiply_panel(const UnitProduct<Numbers> &product, const UnitArea &area, int64_t column, const Depth &depth,
                    Place &place) {
  const GemmRequest &request = *product.request;
  const UnitBlocking &blocking = product.blocking;
  const bool is_first = depth.first == 0, is_last = depth.first + depth.count == request.k;
  for (int64_t row = 0; row < area.rows; row += kPairRows) {
    const int64_t rows = smaller(area.rows - row, kPairRows);
    const int64_t tile = row / kPairRows * (blocking.columns / kPairColumns) + column / kPairColumns;
    float *const kept = product.sums + (blocking.has_sums ? tile * kPairNumbers : 0);
    const uint8_t *const a = product.tiles + row / kPairRows * blocking.pair_bytes;
    float *done = is_last ? product.finished : kept;
    if (blocking.group_length != 0) {
      multiply_groups(product, a, row, rows, depth, kept);
      done = kept;
    } else {
      multiply_rows<Numbers>(a, product.panel, depth.count, rows, is_first ? nullptr : kept, done);
    }
    if (!is_last) continue;
    place.c = static_cast<uint8_t *>(request.c.data) + (request.first_row + area.row + row) * place.row_bytes +
              (request.first_column + area.column + column) * place.element_bytes;
    place.row_factors = product.row_factors + row;
    write_unit<Numbers>(done, rows, place);
  }
}

template <typename Numbers>
void set_place(const UnitProduct<Numbers> &product, int64_t column, float (&factors)[kPairColumns], Place &place) {
  const GemmRequest &request = *product.request;
  for (int64_t j = 0; j < kPairColumns; ++j) {
    const bool is_there = j < place.columns;
    const float factor = !is_there             ? 0
                         : product.is_packed() ? column_factor(product.packed, request.first_column + column + j)
                                               : lane_factor(product.b, column + j);
    factors[j] = factor * static_cast<float>(request.alpha);
  }
  place.column_factors = factors;
  if (request.bias != nullptr) place.bias = static_cast<const float *>(request.bias) + request.first_column + column;
}

// Rows of a, and their scales, at some depth.
template <typename Numbers>
void pack_rows_at(const UnitProduct<Numbers> &product, const UnitArea &area, const Depth &depth) {
  const UnitBlocking &blocking = product.blocking;
  pack_unit_rows<Numbers>(at_depth(product.a, depth, product.is_a_grouped), area.row, area.rows, blocking.pair_bytes,
                          product.panel, product.tiles);
  if (blocking.groups != 0) set_row_scales(product, area, depth);
}

// The columns of an area at some depth, panel by panel.
template <typename Numbers>
void multiply_depth(const UnitProduct<Numbers> &product, const UnitArea &area, const Depth &depth) {
  const GemmRequest &request = *product.request;
  alignas(64) float factors[kPairColumns];
  Place place = {};
  place.element_bytes = request.c.format.element == LPT_FORMAT_F32 ? 4 : 2;
  place.row_bytes = request.c.row_stride * place.element_bytes;
  place.format = request.c.format.element;
  place.beta = static_cast<float>(request.beta);
  for (int64_t column = 0; column < area.columns; column += kPairColumns) {
    place.columns = smaller(area.columns - column, kPairColumns);
    pack_unit_panel(product, depth, area.column + column, place.columns);
    if (product.blocking.groups != 0) set_column_scales(product, depth, area.column + column, place.columns);
    set_place(product, area.column + column, factors, place);
    multiply_panel(product, area, column, depth, place);
  }
}

template <typename Numbers>
void multiply_area(const UnitProduct<Numbers> &product, const UnitArea &area, bool are_rows_packed) {
  const int64_t k = product.request->k, step = product.blocking.depth;
  for (int64_t i = 0; i < area.rows; ++i) product.row_factors[i] = lane_factor(product.a, area.row + i);
  for (int64_t first = 0; first < k; first += step) {
    const Depth depth{first, smaller(k - first, step)};
    if (!are_rows_packed) pack_rows_at(product, area, depth);
    multiply_depth(product, area, depth);
  }
}

template <typename Numbers>
void multiply_by_unit(const GemmRequest &request) {
  ValueTable a_values, b_values;
  UnitProduct<Numbers> product = {};
  product.request = &request;
  product.blocking = unit_blocking<Numbers>(request);
  const UnitBlocking &blocking = product.blocking;
  product.a = operand_of(request.a, !request.is_a_transposed, request.first_row, request.k, a_values);
  product.is_a_grouped = is_grouped_by_scales(request.a, !request.is_a_transposed, request.k);
  product.is_b_grouped = is_grouped_by_scales(request.b, request.is_b_transposed, request.k);
  if (product.is_packed()) {
    product.packed = packed_panels(request.b, request.k);
  } else {
    product.b = operand_of(request.b, request.is_b_transposed, request.first_column, request.k, b_values);
  }
  uint8_t *const scratch = reinterpret_cast<uint8_t *>(request.scratch);
  const auto floats_at = [&](size_t offset) { return reinterpret_cast<float *>(scratch + offset); };
  product.tiles = scratch;
  product.panel = scratch + blocking.panel_offset;
  product.finished = floats_at(blocking.sum_offset);
  product.sums = product.finished + kPairNumbers;
  product.row_factors = floats_at(blocking.row_factor_offset);
  product.row_scales = floats_at(blocking.row_scale_offset);
  product.column_scales = floats_at(blocking.column_scale_offset);
  const UnitSetup setup;
  const bool is_one_block = request.k <= blocking.depth && request.m <= blocking.rows;
  for (int64_t column = 0; column < request.n; column += blocking.columns) {
    for (int64_t row = 0; row < request.m; row += blocking.rows) {
      const UnitArea area{row, smaller(request.m - row, blocking.rows), column,
                          smaller(request.n - column, blocking.columns)};
      multiply_area(product, area, is_one_block && column > 0);
    }
  }
}

}  // namespace
}  // namespace lpt
