// Tiles of c: rows of a by one panel of b, over all of k. Included by ISA files: all functions have internal linkage.
//
// With groups, a tile has six rows. The 32 registers hold twelve int32 sums of one group and twelve f32 totals. They also hold
// two vectors of columns, four bytes of one row, and the table of codes. Six rows keep two vector units with a latency of 4
// cycles busy. A line of nibbles is decoded in registers by five instructions for twelve products. With a single group, no
// totals are needed and a tile has twelve rows: a panel is read half as often.
#pragma once

#include "kernels/gemm/x86/avx512_vnni_steps.hpp"

namespace lpt {
namespace {

constexpr int64_t kGroupTileRows = 6;
constexpr int64_t kWholeTileRows = 12;

// Scaling of the sums of a group. kColumns: the scales of columns. kBoth: those times the scale of the row. kExponents: the
// same by adding exponents, without a multiplication; the scales of columns then have no exponent bias. kWhole: one group
// without scales.
enum class GroupScaling { kColumns, kBoth, kExponents, kWhole };

template <GroupScaling kScaling>
__m512 scale_of(__m512 columns, const uint8_t *row) {
  if constexpr (kScaling == GroupScaling::kColumns) return columns;
  const __m512i scale = repeat_dword(row);
  if constexpr (kScaling == GroupScaling::kExponents) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(columns), scale));
  }
  return _mm512_mul_ps(columns, _mm512_castsi512_ps(scale));
}

template <typename Columns, int kRows>
[[gnu::always_inline]] inline void start_sums(const Columns &decoder, const RowPointers<kRows> &starts,
                                              __m512i (&sums)[kRows][2]) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const __m512i start = repeat_dword(starts[i]);
    sums[i][0] = decoder.start(start, 0);
    sums[i][1] = decoder.start(start, 1);
  }
}

template <typename Columns, GroupScaling kScaling, int kRows>
void multiply_group_tile(const GroupTile &tile, const TileEpilogue &epilogue) {
  prefetch_tile<kRows>(epilogue);
  Columns decoder(tile);
  RowPointers<kRows> rows(tile.rows, tile.stride), starts(tile.starts, tile.stride);
  RowPointers<kRows> scales(tile.rows + tile.scale_offset, tile.stride);
  const uint8_t *panel = tile.panel;
  PrefetchStream prefetch = tile.prefetch;
  const float *column_scales = tile.column_scales;
  __m512 totals[kRows][2];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) totals[i][0] = totals[i][1] = _mm512_setzero_ps();
  int64_t group = 0;
  for (int64_t steps = tile.steps; steps > 0; steps -= tile.group_steps) {
    __m512i sums[kRows][2];
    decoder.begin_group(tile, group);
    __builtin_prefetch(tile.next_scales + group * tile.next_step, 0, 2);
    if (tile.next_step > 64) __builtin_prefetch(tile.next_scales + group * tile.next_step + 64, 0, 2);
    start_sums(decoder, starts, sums);
    add_steps(decoder, min_i64(steps, tile.group_steps), rows, panel, prefetch, sums);
    const __m512 low_scales = _mm512_loadu_ps(column_scales), high_scales = _mm512_loadu_ps(column_scales + 16);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const __m512 low = scale_of<kScaling>(low_scales, scales[i]), high = scale_of<kScaling>(high_scales, scales[i]);
      totals[i][0] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[i][0]), low, totals[i][0]);
      totals[i][1] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[i][1]), high, totals[i][1]);
    }
    starts.advance(4);
    scales.advance(4);
    column_scales += kPanelLanes;
    ++group;
  }
  write_tile<Avx512>(totals, epilogue);
}

template <typename Columns, int kRows>
void multiply_whole_tile(const GroupTile &tile, const TileEpilogue &epilogue) {
  Columns decoder(tile);
  RowPointers<kRows> rows(tile.rows, tile.stride), starts(tile.starts, tile.start_stride);
  const uint8_t *panel = tile.panel;
  PrefetchStream prefetch = tile.prefetch;
  __m512i sums[kRows][2];
  decoder.begin_group(tile, 0);
  start_sums(decoder, starts, sums);
  prefetch_tile<kRows>(epilogue);
  add_steps(decoder, tile.steps, rows, panel, prefetch, sums);
  __m512 totals[kRows][2];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    totals[i][0] = _mm512_cvtepi32_ps(sums[i][0]);
    totals[i][1] = _mm512_cvtepi32_ps(sums[i][1]);
  }
  write_tile<Avx512>(totals, epilogue);
}

using GroupTileFunction = void (*)(const GroupTile &tile, const TileEpilogue &epilogue);

template <typename Columns, GroupScaling kScaling>
GroupTileFunction group_tile_of(int64_t rows) {
  static constexpr GroupTileFunction tiles[] = {
      multiply_group_tile<Columns, kScaling, 1>, multiply_group_tile<Columns, kScaling, 2>,
      multiply_group_tile<Columns, kScaling, 3>, multiply_group_tile<Columns, kScaling, 4>,
      multiply_group_tile<Columns, kScaling, 5>, multiply_group_tile<Columns, kScaling, 6>,
  };
  static_assert(sizeof tiles / sizeof tiles[0] == kGroupTileRows);
  return tiles[rows - 1];
}

template <typename Columns>
GroupTileFunction whole_tile_of(int64_t rows) {
  static constexpr GroupTileFunction tiles[] = {
      multiply_whole_tile<Columns, 1>,  multiply_whole_tile<Columns, 2>,  multiply_whole_tile<Columns, 3>,
      multiply_whole_tile<Columns, 4>,  multiply_whole_tile<Columns, 5>,  multiply_whole_tile<Columns, 6>,
      multiply_whole_tile<Columns, 7>,  multiply_whole_tile<Columns, 8>,  multiply_whole_tile<Columns, 9>,
      multiply_whole_tile<Columns, 10>, multiply_whole_tile<Columns, 11>, multiply_whole_tile<Columns, 12>,
  };
  static_assert(sizeof tiles / sizeof tiles[0] == kWholeTileRows);
  return tiles[rows - 1];
}

template <typename Columns>
GroupTileFunction group_tile_of(GroupScaling scaling, int64_t rows) {
  switch (scaling) {
    case GroupScaling::kColumns:
      return group_tile_of<Columns, GroupScaling::kColumns>(rows);
    case GroupScaling::kBoth:
      return group_tile_of<Columns, GroupScaling::kBoth>(rows);
    case GroupScaling::kExponents:
      return group_tile_of<Columns, GroupScaling::kExponents>(rows);
    case GroupScaling::kWhole:
      return whole_tile_of<Columns>(rows);
  }
  return nullptr;
}

}  // namespace
}  // namespace lpt
