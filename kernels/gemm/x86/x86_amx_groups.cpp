// GEMM of small integers with scales for groups of k, by AMX tiles of int8.
//
// A part of a panel of b, which fits the L1 cache, is decoded to bytes and multiplied by all rows of a block of a. 32 rows by a
// panel are computed in two phases: a few groups are multiplied and stored as int32; then their sums are added to the totals of
// 16 by 16 elements in registers. While tiles are multiplied, 512-bit instructions have half of their rate, so that one loop for
// both is not faster.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/x86/amx_operands.hpp"
#include "kernels/gemm/x86/avx512_vnni_groups.hpp"

namespace lpt {
namespace {

constexpr int64_t kGroupBlockBytes = 1 << 20;  // half of the L2 cache of CPUs with AMX
constexpr int64_t kPartBytes = 512;            // of k, of a decoded part of a panel, if groups are not longer
constexpr int64_t kRunGroups = 4;              // stored before they are added: 16 KiB
constexpr int64_t kTileNumbers = kUnitRows * kUnitColumns;

// Adds the scratch of the sums to that of the operands.
struct AmxGroupLayout {
  ScratchParts parts;
  GroupLayout operands;
  int64_t group_bytes, part_groups;
  uint8_t *panel;     // decoded part
  float *row_scales;  // of the block, group by group
  int32_t *sums;      // of a run of groups, tile by tile
  float *totals;      // of the block by a panel

  explicit AmxGroupLayout(const GemmRequest &request)
      : parts(request.scratch),
        operands(request, kGroupBlockBytes, kPairRows, parts),
        group_bytes(4 * operands.groups.group_steps),
        part_groups(greater(kPartBytes / group_bytes, 1)),
        panel(parts.take<uint8_t>(round_up(part_groups * group_bytes, kStepBytes) * kPanelLanes)),
        row_scales(parts.take<float>(operands.groups.count * operands.blocking.row_space)),
        sums(parts.take<int32_t>(kRunGroups * kPairNumbers)),
        totals(parts.take<float>(operands.blocking.row_space * kPairColumns)) {}
};

// Groups of k.
struct GroupRange {
  int64_t first, count;
};

// Implements the Kernel of driver.hpp.
struct AmxGroupGemm : GroupOperands {
  const AmxGroupLayout &amx;

  AmxGroupGemm(const GemmRequest &request, const AmxGroupLayout &amx) : GroupOperands(request, amx.operands), amx(amx) {
    are_powers = false;  // scales are multiplied
  }
  void pack_rows(int64_t row, int64_t rows, const Depth &depth);
  void multiply(const GemmArea &area, const Depth &) const;
};

// Packs rows, pads them with zeros to full tiles, and transposes their scales.
void AmxGroupGemm::pack_rows(int64_t row, int64_t rows, const Depth &depth) {
  GroupOperands::pack_rows(row, rows, depth);
  const int64_t padded = round_up(rows, kPairRows), stride = layout.row.stride;
  memset(layout.rows + rows * stride, 0, static_cast<size_t>((padded - rows) * stride));
  if (!a_scales.is_along_k) return;
  for (int64_t group = 0; group < layout.groups.count; ++group) {
    const uint8_t *from = layout.rows + layout.row.scale_offset + 4 * group;
    float *const to = amx.row_scales + group * layout.blocking.row_space;
    for (int64_t i = 0; i < padded; ++i, from += stride) memcpy(to + i, from, 4);
  }
}

// Decodes some groups of a panel to signed bytes, and prefetches those of the next panel.
template <typename Columns>
void decode_groups(const GroupTile &tile, const GroupRange &groups, int64_t next_panel, uint8_t *to) {
  const __m512i flip = _mm512_set1_epi8(-128);
  Columns decoder(tile);
  const int64_t first_step = groups.first * tile.group_steps;
  const uint8_t *panel = tile.panel + first_step * Columns::kStepBytes;
  int64_t left = min_i64(tile.steps - first_step, groups.count * tile.group_steps);
  for (int64_t group = groups.first; left > 0; left -= tile.group_steps, ++group) {
    decoder.begin_group(tile, group);
    __builtin_prefetch(tile.next_scales + group * tile.next_step, 0, 2);
    __builtin_prefetch(tile.next_scales + group * tile.next_step + 64, 0, 2);
    for (int64_t step = min_i64(left, tile.group_steps); step > 0; --step, panel += Columns::kStepBytes) {
      __builtin_prefetch(panel + next_panel, 0, 2);
      if constexpr (Columns::kStepBytes > 64) __builtin_prefetch(panel + next_panel + 64, 0, 2);
      __m512i low, high;
      decoder.decode(panel, low, high);
      _mm512_store_si512(to, _mm512_xor_si512(low, flip));
      _mm512_store_si512(to + kStepBytes, _mm512_xor_si512(high, flip));
      to += kPairRowBytes;
    }
  }
}

inline void decode_groups(const Columns &columns, const GroupTile &tile, const GroupRange &groups, uint8_t *to) {
  const bool is_packed = columns.view.layout == Layout::kPanels;
  const int64_t next_panel = is_packed ? panel_bytes(columns.kind, columns.k) : 0;
  if (columns.kind == PanelKind::kByteQuads) return decode_groups<ByteColumns>(tile, groups, next_panel, to);
  if (columns.kind == PanelKind::kBytePairs) return decode_groups<BytePairColumns>(tile, groups, next_panel, to);
  if (columns.view.format.has_zero_point()) return decode_groups<ZeroPointColumns>(tile, groups, next_panel, to);
  return decode_groups<NibbleColumns>(tile, groups, next_panel, to);
}

// Multiplies 16 or 32 rows by a panel over `bytes` of k, group by group. Each tile of sums is stored in one piece.
template <bool kIsPair>
[[gnu::noinline]] void sum_groups(const uint8_t *rows, int64_t stride, const uint8_t *panel, int64_t bytes,
                                  int64_t group_bytes, int32_t *sums) {
  const int64_t step_bytes = min_i64(group_bytes, kStepBytes);
  asm volatile("" ::: "memory");  // the compiler does not treat tile loads as memory accesses
  for (; bytes > 0; bytes -= group_bytes, sums += kPairNumbers) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kIsPair) {
      _tile_zero(2);
      _tile_zero(3);
    }
    for (int64_t left = min_i64(bytes, group_bytes); left > 0; left -= step_bytes) {
      _tile_loadd(4, rows, stride);
      _tile_loadd(6, panel, kPairRowBytes);
      AmxInt8::multiply_upper_left();
      _tile_loadd(7, panel + kStepBytes, kPairRowBytes);
      AmxInt8::multiply_upper_right();
      if constexpr (kIsPair) {
        _tile_loadd(5, rows + kUnitRows * stride, stride);
        AmxInt8::multiply_lower_left();
        AmxInt8::multiply_lower_right();
      }
      rows += step_bytes;
      panel += step_bytes * kPanelLanes;
    }
    _tile_stored(0, sums, kStepBytes);
    _tile_stored(1, sums + kTileNumbers, kStepBytes);
    if constexpr (kIsPair) {
      _tile_stored(2, sums + 2 * kTileNumbers, kStepBytes);
      _tile_stored(3, sums + 3 * kTileNumbers, kStepBytes);
    }
  }
  asm volatile("" ::: "memory");
}

// Sums of the groups of a tile, and their scales.
struct UnitSums {
  const int32_t *sums;
  int64_t groups;
  const float *row_scales, *column_scales;
  int64_t row_stride;     // of the scales of rows, from group to group
  const uint8_t *starts;  // of rows, `start_stride` bytes apart; four bytes for each group
  int64_t start_stride;
  const uint32_t *doubled;  // a bit for each column: the start is to be added; NULL: to none
  int column_shift;         // of the bit of the first column
};

// Adds the sums of some groups, multiplied by their scales, to the totals of a tile.
template <bool kIsBoth, bool kHasZeros>
void add_groups(const UnitSums &unit, bool is_first, float *totals) {
  __m512 all[kUnitRows];
#pragma GCC unroll 16
  for (int i = 0; i < kUnitRows; ++i) {
    all[i] = is_first ? _mm512_setzero_ps() : _mm512_load_ps(totals + kPairColumns * i);
  }
  for (int64_t group = 0; group < unit.groups; ++group) {
    const int32_t *const sums = unit.sums + group * kPairNumbers;
    const __m512 columns = _mm512_loadu_ps(unit.column_scales + group * kPanelLanes);
    const float *const rows = unit.row_scales + group * unit.row_stride;
    const auto doubled = kHasZeros ? static_cast<__mmask16>(unit.doubled[group] >> unit.column_shift) : __mmask16{0};
#pragma GCC unroll 16
    for (int i = 0; i < kUnitRows; ++i) {
      __m512i sum = _mm512_load_si512(sums + 16 * i);
      if constexpr (kHasZeros) {
        sum = _mm512_mask_add_epi32(sum, doubled, sum, repeat_dword(unit.starts + i * unit.start_stride + 4 * group));
      }
      const __m512 scale = kIsBoth ? _mm512_mul_ps(columns, _mm512_set1_ps(rows[i])) : columns;
      all[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale, all[i]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kUnitRows; ++i) _mm512_store_ps(totals + kPairColumns * i, all[i]);
}

using AddGroupsFunction = void (*)(const UnitSums &unit, bool is_first, float *totals);

inline AddGroupsFunction add_groups_of(GroupScaling scaling, bool has_zeros) {
  if (scaling == GroupScaling::kBoth) return has_zeros ? add_groups<true, true> : add_groups<true, false>;
  return has_zeros ? add_groups<false, true> : add_groups<false, false>;
}

// Adds some groups to the totals of up to 32 rows of the block.
inline void add_groups(const AmxGroupGemm &gemm, int64_t row, int64_t rows, const GroupRange &groups,
                       const PanelWork &work) {
  const AmxGroupLayout &amx = gemm.amx;
  const GroupLayout &layout = gemm.layout;
  const bool has_zeros = gemm.columns.view.format.has_zero_point();
  const AddGroupsFunction add = add_groups_of(work.scaling, has_zeros);
  const auto sum = rows > kUnitRows ? sum_groups<true> : sum_groups<false>;
  const int64_t units = rows > kUnitRows ? 4 : 2, k = 4 * layout.groups.steps, stride = layout.row.stride;
  float *const totals = amx.totals + row * kPairColumns;
  for (int64_t done = 0; done < groups.count; done += kRunGroups) {
    const int64_t group = groups.first + done, count = min_i64(groups.count - done, kRunGroups);
    const int64_t first = group * amx.group_bytes, bytes = min_i64(k - first, count * amx.group_bytes);
    const uint8_t *const panel = amx.panel + done * amx.group_bytes * kPanelLanes;
    sum(layout.rows + row * stride + first, stride, panel, bytes, amx.group_bytes, amx.sums);
    for (int64_t u = 0; u < units; ++u) {
      const int64_t lower = u / 2 * kUnitRows, left = u % 2 * kUnitColumns;
      add({.sums = amx.sums + u * kTileNumbers,
           .groups = count,
           .row_scales = amx.row_scales + group * layout.blocking.row_space + row + lower,
           .column_scales = work.tile.column_scales + group * kPanelLanes + left,
           .row_stride = layout.blocking.row_space,
           .starts = layout.rows + (row + lower) * stride + layout.row.start_offset + 4 * group,
           .start_stride = stride,
           .doubled = has_zeros ? work.tile.doubled_columns + group : nullptr,
           .column_shift = static_cast<int>(left)},
          group == 0, totals + lower * kPairColumns + left);
    }
  }
}

void AmxGroupGemm::multiply(const GemmArea &area, const Depth &) const {
  PanelWork work;
  prepare_panel(*this, area, work);
  for (GroupRange groups = {0, 0}; groups.first < layout.groups.count; groups.first += amx.part_groups) {
    groups.count = min_i64(layout.groups.count - groups.first, amx.part_groups);
    const bool is_last = groups.first + groups.count == layout.groups.count;
    decode_groups(columns, work.tile, groups, amx.panel);
    for (int64_t row = 0; row < area.rows; row += kPairRows) {
      const int64_t rows = min_i64(area.rows - row, kPairRows);
      if (is_last) prefetch_c(work.place, rows);
      add_groups(*this, row, rows, groups, work);
      if (!is_last) continue;
      work.place.row_factors = layout.row_factors + row;
      write_pair<FloatSums>(amx.totals + row * kPairColumns, rows, work.place);
      work.place.c += rows * work.place.row_bytes;
    }
  }
}

}  // namespace

void gemm_groups_x86_amx(const GemmRequest &request) {
  const AmxGroupLayout layout(request);
  AmxGroupGemm gemm(request, layout);
  const AmxTileConfig setup(layout.group_bytes);
  run_driver(request, layout.operands.blocking, gemm);
}

size_t gemm_scratch_groups_x86_amx(const GemmRequest &request) { return AmxGroupLayout(request).parts.bytes(); }

}  // namespace lpt
