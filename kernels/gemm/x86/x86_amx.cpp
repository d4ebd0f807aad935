// GEMM by the matrix unit of x86 CPUs (AMX): every operand that bf16 holds exactly, with sums in f32; int8 with exact sums
// in int32.
//
// A block of a and a panel of b are decoded for a run of k, the *depth*: the block stays in the L2 cache, the panel in the
// L1 cache. If k is deeper, scratch holds the sums of an area of c that fits the L2 cache. Scales along k that bf16 does not hold cut k into groups: a group is summed from zero, and
// total = total + sum · (scale of the column · scale of the row), one fused multiply-add.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/amx_numbers.hpp"

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
    length = length == 0 ? b_length : min_i64(length, b_length);
  }
  return length;
}

// What is decoded at once, and where it is in the scratch.
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
  blocking.rows = min_i64(most_rows, round_up(request.m, kPairRows));
  const int64_t columns = round_up(request.n, kPairColumns);
  blocking.columns = blocking.has_sums ? min_i64(kAreaColumns, columns) : columns;
  blocking.panel_offset = static_cast<size_t>(blocking.rows / kPairRows * blocking.pair_bytes);
  blocking.sum_offset = blocking.panel_offset + static_cast<size_t>(blocking.pair_bytes);
  const int64_t sums = blocking.has_sums ? blocking.rows * blocking.columns : 0;
  blocking.row_factor_offset = blocking.sum_offset + static_cast<size_t>(4 * (sums + kPairNumbers));
  blocking.row_scale_offset = blocking.row_factor_offset + static_cast<size_t>(4 * blocking.rows);
  blocking.column_scale_offset = blocking.row_scale_offset + static_cast<size_t>(4 * blocking.rows * blocking.groups);
  blocking.total_bytes = blocking.column_scale_offset + static_cast<size_t>(4 * kPairColumns * blocking.groups);
  return blocking;
}

// A whole GEMM as it is computed.
template <typename Numbers>
struct AmxGemm {
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
void pack_unit_panel(const AmxGemm<Numbers> &gemm, const Depth &depth, int64_t column, int64_t columns) {
  if (gemm.is_packed()) {
    const int64_t panel = (gemm.request->first_column + column) / kPanelLanes;
    return Numbers::pack_packed_panel(gemm.packed, panel, depth, gemm.panel);
  }
  Numbers::pack_plain_panel(at_depth(gemm.b, depth, gemm.is_b_grouped), column, columns, gemm.panel);
}

// ---- groups

template <typename Numbers>
void set_row_scales(const AmxGemm<Numbers> &gemm, const UnitArea &area, const Depth &depth) {
  const UnitBlocking &blocking = gemm.blocking;
  const Operand part = at_depth(gemm.a, depth, gemm.is_a_grouped);
  for (int64_t group = 0; group < blocking.groups; ++group) {
    for (int64_t i = 0; i < area.rows; ++i) {
      float &scale = gemm.row_scales[group * blocking.rows + i];
      const int64_t p = min_i64(group * blocking.group_length, depth.count - 1);
      scale = gemm.is_a_grouped ? group_scale(part, area.row + i, p) : 1;
    }
  }
}

template <typename Numbers>
void set_column_scales(const AmxGemm<Numbers> &gemm, const Depth &depth, int64_t column, int64_t columns) {
  const UnitBlocking &blocking = gemm.blocking;
  const Operand part = gemm.is_packed() ? Operand{} : at_depth(gemm.b, depth, gemm.is_b_grouped);
  for (int64_t group = 0; group < blocking.groups; ++group) {
    const int64_t p = min_i64(group * blocking.group_length, depth.count - 1);
    float *const scales = gemm.column_scales + group * kPairColumns;
    if (gemm.is_packed()) {
      const int64_t panel = (gemm.request->first_column + column) / kPanelLanes;
      group_scales(gemm.packed, panel, depth.first + p, scales);
      continue;
    }
    for (int64_t j = 0; j < columns; ++j) scales[j] = gemm.is_b_grouped ? group_scale(part, column + j, p) : 1;
  }
}

// The sums of a group, scaled, are added to the totals. Rows past the edge hold stale memory, in which
// each subnormal number would cost a hundred cycles.
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
void multiply_groups(const AmxGemm<Numbers> &gemm, const uint8_t *a, int64_t row, int64_t rows, const Depth &depth,
                     float *totals) {
  const UnitBlocking &blocking = gemm.blocking;
  for (int64_t group = 0; group * blocking.group_length < depth.count; ++group) {
    const int64_t first = group * blocking.group_length;
    const int64_t offset = first / Numbers::kOfStep * 2 * kUnitBytes;
    const int64_t count = min_i64(blocking.group_length, depth.count - first);
    multiply_rows<Numbers>(a + offset, gemm.panel + offset, count, rows, nullptr, gemm.finished);
    add_group(gemm.finished, gemm.row_scales + group * blocking.rows + row, gemm.column_scales + group * kPairColumns,
              rows, depth.first + first == 0, totals);
  }
}

// Sums of a finished tile → c.
template <typename Numbers>
void write_unit(float *sums, int64_t rows, const TileEpilogue &epilogue) {
  if (!is_stored_whole<Bf16, 2>(epilogue)) {
    Numbers::to_floats(sums);
    return finish_rows(sums, kPairColumns, rows, epilogue);
  }
  const __m512 low = _mm512_loadu_ps(epilogue.column_factors), high = _mm512_loadu_ps(epilogue.column_factors + 16);
  for (int64_t i = 0; i < rows; ++i, sums += kPairColumns) {
    auto *const to = reinterpret_cast<float *>(epilogue.c + i * epilogue.row_bytes);
    const __m512 factor = _mm512_set1_ps(epilogue.row_factors[i]);
    _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_mul_ps(Numbers::floats(sums), factor), low));
    _mm512_storeu_ps(to + 16, _mm512_mul_ps(_mm512_mul_ps(Numbers::floats(sums + 16), factor), high));
  }
}

// A panel of b by all rows of an area. Sums begin at zero at the first depth and go to c at the last one.
template <typename Numbers>
void multiply_panel(const AmxGemm<Numbers> &gemm, const UnitArea &area, int64_t column, const Depth &depth,
                    TileEpilogue &epilogue) {
  const GemmRequest &request = *gemm.request;
  const UnitBlocking &blocking = gemm.blocking;
  const bool is_first = depth.first == 0, is_last = depth.first + depth.count == request.k;
  for (int64_t row = 0; row < area.rows; row += kPairRows) {
    const int64_t rows = min_i64(area.rows - row, kPairRows);
    const int64_t tile = row / kPairRows * (blocking.columns / kPairColumns) + column / kPairColumns;
    float *const kept = gemm.sums + (blocking.has_sums ? tile * kPairNumbers : 0);
    const uint8_t *const a = gemm.tiles + row / kPairRows * blocking.pair_bytes;
    float *done = is_last ? gemm.finished : kept;
    if (blocking.group_length != 0) {
      multiply_groups(gemm, a, row, rows, depth, kept);
      done = kept;
    } else {
      multiply_rows<Numbers>(a, gemm.panel, depth.count, rows, is_first ? nullptr : kept, done);
    }
    if (!is_last) continue;
    epilogue.c = static_cast<uint8_t *>(request.c.data) + (request.first_row + area.row + row) * epilogue.row_bytes +
                 (request.first_column + area.column + column) * epilogue.element_bytes;
    epilogue.row_factors = gemm.row_factors + row;
    write_unit<Numbers>(done, rows, epilogue);
  }
}

template <typename Numbers>
void set_place(const AmxGemm<Numbers> &gemm, int64_t column, float (&factors)[kPairColumns], TileEpilogue &epilogue) {
  const GemmRequest &request = *gemm.request;
  for (int64_t j = 0; j < kPairColumns; ++j) {
    const bool is_present = j < epilogue.columns;
    const float factor = !is_present        ? 0
                         : gemm.is_packed() ? column_factor(gemm.packed, request.first_column + column + j)
                                            : lane_factor(gemm.b, column + j);
    factors[j] = factor * static_cast<float>(request.alpha);
  }
  epilogue.column_factors = factors;
  if (request.bias != nullptr) epilogue.bias = static_cast<const float *>(request.bias) + request.first_column + column;
}

// Rows of a, and their scales, at some depth.
template <typename Numbers>
void pack_rows_at(const AmxGemm<Numbers> &gemm, const UnitArea &area, const Depth &depth) {
  const UnitBlocking &blocking = gemm.blocking;
  pack_unit_rows<Numbers>(at_depth(gemm.a, depth, gemm.is_a_grouped), area.row, area.rows, blocking.pair_bytes,
                          gemm.panel, gemm.tiles);
  if (blocking.groups != 0) set_row_scales(gemm, area, depth);
}

// The columns of an area at some depth, panel by panel.
template <typename Numbers>
void multiply_depth(const AmxGemm<Numbers> &gemm, const UnitArea &area, const Depth &depth) {
  const GemmRequest &request = *gemm.request;
  alignas(64) float factors[kPairColumns];
  TileEpilogue epilogue = {};
  epilogue.element_bytes = request.c.format.element == LPT_FORMAT_F32 ? 4 : 2;
  epilogue.row_bytes = request.c.row_stride * epilogue.element_bytes;
  epilogue.format = request.c.format.element;
  epilogue.beta = static_cast<float>(request.beta);
  for (int64_t column = 0; column < area.columns; column += kPairColumns) {
    epilogue.columns = min_i64(area.columns - column, kPairColumns);
    pack_unit_panel(gemm, depth, area.column + column, epilogue.columns);
    if (gemm.blocking.groups != 0) set_column_scales(gemm, depth, area.column + column, epilogue.columns);
    set_place(gemm, area.column + column, factors, epilogue);
    multiply_panel(gemm, area, column, depth, epilogue);
  }
}

template <typename Numbers>
void multiply_area(const AmxGemm<Numbers> &gemm, const UnitArea &area, bool are_rows_packed) {
  const int64_t k = gemm.request->k, step = gemm.blocking.depth;
  for (int64_t i = 0; i < area.rows; ++i) gemm.row_factors[i] = lane_factor(gemm.a, area.row + i);
  for (int64_t first = 0; first < k; first += step) {
    const Depth depth{first, min_i64(k - first, step)};
    if (!are_rows_packed) pack_rows_at(gemm, area, depth);
    multiply_depth(gemm, area, depth);
  }
}

template <typename Numbers>
void multiply_by_unit(const GemmRequest &request) {
  ValueTable a_values, b_values;
  AmxGemm<Numbers> gemm = {};
  gemm.request = &request;
  gemm.blocking = unit_blocking<Numbers>(request);
  const UnitBlocking &blocking = gemm.blocking;
  gemm.a = operand_of(request.a, !request.is_a_transposed, request.first_row, request.k, a_values);
  gemm.is_a_grouped = is_grouped_by_scales(request.a, !request.is_a_transposed, request.k);
  gemm.is_b_grouped = is_grouped_by_scales(request.b, request.is_b_transposed, request.k);
  if (gemm.is_packed()) {
    gemm.packed = packed_panels(request.b, request.k);
  } else {
    gemm.b = operand_of(request.b, request.is_b_transposed, request.first_column, request.k, b_values);
  }
  uint8_t *const scratch = reinterpret_cast<uint8_t *>(request.scratch);
  const auto floats_at = [&](size_t offset) { return reinterpret_cast<float *>(scratch + offset); };
  gemm.tiles = scratch;
  gemm.panel = scratch + blocking.panel_offset;
  gemm.finished = floats_at(blocking.sum_offset);
  gemm.sums = gemm.finished + kPairNumbers;
  gemm.row_factors = floats_at(blocking.row_factor_offset);
  gemm.row_scales = floats_at(blocking.row_scale_offset);
  gemm.column_scales = floats_at(blocking.column_scale_offset);
  const AmxTileConfig setup;
  const bool is_one_block = request.k <= blocking.depth && request.m <= blocking.rows;
  for (int64_t column = 0; column < request.n; column += blocking.columns) {
    for (int64_t row = 0; row < request.m; row += blocking.rows) {
      const UnitArea area{row, min_i64(request.m - row, blocking.rows), column,
                          min_i64(request.n - column, blocking.columns)};
      multiply_area(gemm, area, is_one_block && column > 0);
    }
  }
}

}  // namespace

void gemm_any_x86_amx(const GemmRequest &request) { multiply_by_unit<Bf16Numbers>(request); }

size_t gemm_scratch_x86_amx(const GemmRequest &request) { return unit_blocking<Bf16Numbers>(request).total_bytes; }

void gemm_int8_x86_amx(const GemmRequest &request) { multiply_by_unit<Int8Numbers>(request); }

size_t gemm_scratch_int8_x86_amx(const GemmRequest &request) { return unit_blocking<Int8Numbers>(request).total_bytes; }

}  // namespace lpt
