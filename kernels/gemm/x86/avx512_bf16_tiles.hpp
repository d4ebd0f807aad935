// Tiles of a GEMM by panels of b that are decoded in registers. Included by ISA files: all functions have internal linkage.
//
// A tile is kRows rows by one or two panels of 32 columns, for all of k. If scales vary along k and are not applied to the
// elements, k is cut into groups. A group is summed from zero, and total = total + sum · scale, one fused multiply-add. All
// tiles add the products of one element of c in the order of k, so that its bits do not depend on the tile.
#pragma once

#include "kernels/gemm/prefetch_stream.hpp"
#include "kernels/gemm/x86/avx512_bf16_elements.hpp"
#include "kernels/gemm/x86/avx512_bf16_sources.hpp"

namespace lpt {
namespace {

constexpr int kMostPanels = 2;        // per tile
constexpr int kMostRoundPanels = 16;  // per round of long tiles
constexpr int64_t kAhead = 2048;      // prefetch distance in a panel, in bytes
constexpr int64_t kScalesAhead = 4;   // prefetch distance of scales, in blocks

enum class Grouping : uint8_t { kNone, kColumns, kBoth };  // operands whose scales vary along k

// Rows of a panel of a. A longer tile reads runs of four rows, from two panels.
constexpr int64_t kTileRows = 8;
constexpr int64_t kRunRows = 4;
constexpr int64_t kLongTileRows = 12;
constexpr int64_t kMostRuns = kLongTileRows / kRunRows;

struct PanelTile {
  const uint32_t *a[kMostRuns];  // long tile: kRunRows of kTileRows lanes per step; otherwise a[0]: kRows lanes
  int64_t steps;
  int64_t panel_bytes;
  const uint8_t *b[kMostPanels];
  const uint8_t *scales[kMostPanels];  // of b
  const uint8_t *zeros[kMostPanels];   // of b
  const float *row_scales[kMostRuns];  // runs as in `a`, kTileRows scales per block
  lpt_format scale_format;
  int64_t scale_stride;   // bytes from block to block of b
  int64_t group_steps;    // of the shorter blocks
  int32_t b_group_shift;  // the block of b of group g is g >> b_group_shift
  int32_t a_group_shift;
  int64_t rows;  // at most kRows
  PrefetchStream prefetch[kMostPanels];
};

// Tables and constants are hidden from the compiler. If they were kept in registers permanently, sums would be spilled.
inline __m512 load_scales_of_lanes(lpt_format format, const uint8_t *scales, int v) {
  return load_scales<true>(format, scales + 16 * v * scale_bytes(format));
}

template <int kRows, int kVectors>
[[gnu::always_inline]] inline void clear(__m512 (&sums)[kRows][kVectors]) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = _mm512_setzero_ps();
  }
}

template <int kRows>
constexpr int kRun = kRows > kTileRows ? kRunRows : kRows;

// Iterates over the rows of a of a tile.
template <int kRows>
struct RowRuns {
  static constexpr int kRuns = kRows / kRun<kRows>;
  static constexpr int64_t kStep = kRows > kTileRows ? kTileRows : kRows;

  RowRuns(const PanelTile &tile, int64_t first) {
    for (int r = 0; r < kRuns; ++r) runs[r] = tile.a[r] + first * kStep;
  }
  [[gnu::always_inline]] __m512i repeat(int64_t step, int row) const {
    return _mm512_set1_epi32(static_cast<int32_t>(runs[row / kRun<kRows>][step * kStep + row % kRun<kRows>]));
  }
  [[gnu::always_inline]] void advance(int64_t steps) {
    for (int r = 0; r < kRuns; ++r) runs[r] += steps * kStep;
  }

  const uint32_t *runs[kRuns];
};

template <int kRows, int kVectors>
[[gnu::always_inline]] inline void add_columns(const RowRuns<kRows> &a, int64_t step, const __m512i (&columns)[2],
                                               int panel, __m512 (&sums)[kRows][kVectors]) {
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
    const __m512i row = a.repeat(step, i);
    __m512 &low = sums[i][2 * panel], &high = sums[i][2 * panel + 1];
    low = _mm512_dpbf16_ps(low, (__m512bh)row, (__m512bh)columns[0]);
    high = _mm512_dpbf16_ps(high, (__m512bh)row, (__m512bh)columns[1]);
  }
}

// Adds the products of `steps` steps from `first` on. An odd last step uses half a line. kIsPrefetched: prefetches the stream
// of the tile. Otherwise it prefetches the next lines of the same panel, because the registers do not suffice for the stream.
template <bool kIsPrefetched, typename Source, int kRows, int kPanels>
[[gnu::always_inline]] inline void add_steps(const Source &source, const LaneZeros *zeros, const PanelTile &tile,
                                             int64_t first, int64_t steps, PrefetchStream (&prefetch)[kPanels],
                                             __m512 (&sums)[kRows][2 * kPanels]) {
  RowRuns<kRows> a(tile, first);
  int64_t offset = first / Source::kSteps * Source::kBytes;
  const uint8_t *b[kPanels];
#pragma GCC unroll 2
  for (int p = 0; p < kPanels; ++p) b[p] = tile.b[p];
  for (int64_t left = steps / Source::kSteps; left > 0; --left) {
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      __m512i columns[Source::kSteps][2];
      const uint8_t *const address = kIsPrefetched ? prefetch[p].from : b[p] + offset + kAhead;
      _mm_prefetch(address, _MM_HINT_T0);
      if constexpr (Source::kBytes == 128) _mm_prefetch(address + 64, _MM_HINT_T0);
      if constexpr (kIsPrefetched) prefetch[p].advance();
      source.read(b[p] + offset, zeros[p], columns);
#pragma GCC unroll 2
      for (int s = 0; s < Source::kSteps; ++s) add_columns(a, s, columns[s], p, sums);
    }
    a.advance(Source::kSteps);
    offset += Source::kBytes;
  }
  if (Source::kSteps == 2 && steps % 2 != 0) {
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      __m512i columns[Source::kSteps][2];
      source.read(b[p] + offset, zeros[p], columns);
      add_columns(a, 0, columns[0], p, sums);
    }
  }
}

// Adds the sums of a group, multiplied by their scales, to the totals.
template <Grouping kGroups, int kRows, int kPanels>
[[gnu::always_inline]] inline void add_group(const PanelTile &tile, int64_t group,
                                             const __m512 (&sums)[kRows][2 * kPanels],
                                             __m512 (&totals)[kRows][2 * kPanels]) {
  const int64_t a_block = (group >> tile.a_group_shift) * kTileRows;
#pragma GCC unroll 2
  for (int p = 0; p < kPanels; ++p) {
    const uint8_t *const scales = tile.scales[p] + (group >> tile.b_group_shift) * tile.scale_stride;
    _mm_prefetch(scales + kScalesAhead * tile.scale_stride, _MM_HINT_T0);
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const __m512 columns = load_scales_of_lanes(tile.scale_format, scales, v);
#pragma GCC unroll 12
      for (int i = 0; i < kRows; ++i) {
        __m512 scale = columns;
        if constexpr (kGroups == Grouping::kBoth) {
          const float row_scale = tile.row_scales[i / kRun<kRows>][a_block + i % kRun<kRows>];
          scale = _mm512_mul_ps(columns, _mm512_set1_ps(row_scale));
        }
        __m512 &total = totals[i][2 * p + v];
        total = _mm512_fmadd_ps(sums[i][2 * p + v], scale, total);
      }
    }
  }
}

template <typename Source>
LaneZeros zeros_of_group(const PanelTile &tile, int p, int64_t group) {
  if (tile.zeros[p] == nullptr) return {};
  return Source::zeros_of(tile.zeros[p] + (group >> tile.b_group_shift) * kPanelLanes);
}

// Returns the number of panels of a tile. Tiles of few rows have two panels: the sums of one would not hide the latency of the
// additions.
template <typename Source>
constexpr int panels_of(int rows) {
  return rows * Source::kSteps <= 4 && Source::kBytes == kPanelLineBytes ? 2 : 1;
}

// Stores sums to c if terms are added, c is rounded, or a part of the tile is outside c. Rows of sums are `stride` elements
// apart.
[[gnu::noinline]] inline void finish_rows(const float *sums, int64_t stride, int64_t rows,
                                          const TileEpilogue &epilogue) {
  for (int64_t i = 0; i < rows; ++i, sums += stride) {
    uint8_t *const c = epilogue.c + i * epilogue.row_bytes;
    const __m512 factor = _mm512_set1_ps(epilogue.row_factors[i]);
    for (int64_t column = 0; column < epilogue.columns; column += 16) {
      const __m512 value = _mm512_mul_ps(_mm512_loadu_ps(sums + column), factor);
      apply_epilogue<Bf16>(value, epilogue, column, c + column * epilogue.element_bytes);
    }
  }
}

template <bool kHasRowFactors, int kRows, int kVectors>
[[gnu::always_inline]] inline void write_sums(const __m512 (&sums)[kRows][kVectors], const PanelTile &tile,
                                              const TileEpilogue &epilogue) {
  if (is_stored_whole<Bf16, kVectors>(epilogue) && tile.rows == kRows) {
    return store_tile<Bf16, kHasRowFactors>(sums, epilogue);
  }
  alignas(64) float stored[kRows][kVectors][16];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) _mm512_store_ps(stored[i][v], sums[i][v]);
  }
  finish_rows(stored[0][0], 16 * kVectors, tile.rows, epilogue);
}

inline void prefetch_lines(const TileEpilogue &epilogue, int64_t rows) {
  const int64_t last_byte = epilogue.element_bytes * (epilogue.columns - 1);
  uint8_t *line = epilogue.c, *const end = line + rows * epilogue.row_bytes;
  for (; line != end; line += epilogue.row_bytes) {
    __builtin_prefetch(line, 1);
    __builtin_prefetch(line + last_byte, 1);
  }
}

template <typename Source, Grouping kGroups, int kRows, bool kHasRowFactors = true>
[[gnu::always_inline]] inline void multiply_by(const Source &source, const PanelTile &tile,
                                               const TileEpilogue &epilogue) {
  constexpr int kPanels = panels_of<Source>(kRows);
  prefetch_lines(epilogue, tile.rows);
  LaneZeros zeros[kPanels] = {};
  PrefetchStream prefetch[kPanels];
#pragma GCC unroll 2
  for (int p = 0; p < kPanels; ++p) prefetch[p] = tile.prefetch[p];
  __m512 sums[kRows][2 * kPanels];
  if constexpr (kGroups == Grouping::kNone) {
    clear(sums);
    add_steps<true, Source, kRows, kPanels>(source, zeros, tile, 0, tile.steps, prefetch, sums);
    write_sums<kHasRowFactors>(sums, tile, epilogue);
    return;
  }
  __m512 totals[kRows][2 * kPanels];
  clear(totals);
  for (int64_t first = 0, group = 0; first < tile.steps; first += tile.group_steps, ++group) {
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      zeros[p] = zeros_of_group<Source>(tile, p, group);
    }
    clear(sums);
    const int64_t steps = min_i64(tile.group_steps, tile.steps - first);
    add_steps<false, Source, kRows, kPanels>(source, zeros, tile, first, steps, prefetch, sums);
    add_group<kGroups, kRows, kPanels>(tile, group, sums, totals);
  }
  write_sums<kHasRowFactors>(totals, tile, epilogue);
}

template <typename Source, Grouping kGroups, int kRows>
void multiply_panel_tile(const PanelTile &tile, const PanelTables &tables, const TileEpilogue &epilogue) {
  multiply_by<Source, kGroups, kRows>(Source(tables), tile, epilogue);
}

// Computes adjacent long tiles, one panel after the other, for all columns of `first_place`.
template <typename Source, Grouping kGroups, bool kHasRowFactors>
void multiply_long_tiles(const PanelTile &first, const PanelTables &tables, const TileEpilogue &first_place) {
  const Source source(tables);
  PanelTile tile = first;
  TileEpilogue epilogue = first_place;
  for (int64_t left = first_place.columns; left > 0; left -= kPanelLanes) {
    epilogue.columns = min_i64(left, kPanelLanes);
    multiply_by<Source, kGroups, kLongTileRows, kHasRowFactors>(source, tile, epilogue);
    tile.b[0] += tile.panel_bytes;
    tile.prefetch[0].from += tile.panel_bytes;
    epilogue.c += kPanelLanes * epilogue.element_bytes;
    epilogue.column_factors += kPanelLanes;
    if (epilogue.bias != nullptr) epilogue.bias += kPanelLanes;
  }
}

using PanelTileFunction = void (*)(const PanelTile &tile, const PanelTables &tables, const TileEpilogue &epilogue);

// Tiles of 1, 2, 4, 8 and 12 rows, and tiles of 12 rows whose row factors are all 1.
constexpr int64_t kShapeRows[] = {1, 2, 4, kTileRows, kLongTileRows, kLongTileRows};
constexpr int kShapes = std::size(kShapeRows);
constexpr int kLongShape = 4, kLongUnscaledShape = 5;

inline int shape_of(int64_t rows) {
  return rows <= 1 ? 0 : rows <= 2 ? 1 : rows <= 4 ? 2 : rows <= kTileRows ? 3 : kLongShape;
}

struct PanelShape {
  PanelTileFunction run;  // NULL: no such tile
  int64_t panels;         // per call of `run`
  int64_t line_bytes;     // of each panel, per iteration of the loop
};

// Returns nullptr if k has groups: their totals would need the registers of the sums.
template <typename Source, Grouping kGroups, bool kHasRowFactors>
constexpr PanelTileFunction long_tile() {
  if constexpr (kGroups == Grouping::kNone) return multiply_long_tiles<Source, kGroups, kHasRowFactors>;
  return nullptr;
}

template <typename Source, Grouping kGroups>
PanelShape panel_shape_of(int shape) {
  static constexpr PanelTileFunction tiles[kShapes] = {
      multiply_panel_tile<typename SourceFor<Source, 1>::Type, kGroups, 1>,
      multiply_panel_tile<typename SourceFor<Source, 2>::Type, kGroups, 2>,
      multiply_panel_tile<typename SourceFor<Source, 4>::Type, kGroups, 4>,
      multiply_panel_tile<typename SourceFor<Source, 8>::Type, kGroups, 8>,
      long_tile<typename SourceFor<Source, 12>::Type, kGroups, true>(),
      long_tile<typename SourceFor<Source, 12>::Type, kGroups, false>(),
  };
  const int64_t rows = kShapeRows[shape];
  return {tiles[shape], rows == kLongTileRows ? kMostRoundPanels : panels_of<Source>(static_cast<int>(rows)),
          Source::kBytes};
}

template <typename Source>
PanelShape panel_shape_of(Grouping groups, int shape) {
  if (groups == Grouping::kBoth) return panel_shape_of<Source, Grouping::kBoth>(shape);
  return groups == Grouping::kColumns ? panel_shape_of<Source, Grouping::kColumns>(shape)
                                      : panel_shape_of<Source, Grouping::kNone>(shape);
}

// Expands a panel to lines of HalfLines.
template <typename Source>
void expand_panel(const PanelTile &tile, const PanelTables &tables, uint8_t *to) {
  const Source source(tables);
  for (int64_t first = 0, group = 0; first < tile.steps; first += tile.group_steps, ++group) {
    const LaneZeros zeros = zeros_of_group<Source>(tile, 0, group);
    const int64_t end = min_i64(first + tile.group_steps, tile.steps);
    const uint8_t *from = tile.b[0] + first / Source::kSteps * Source::kBytes;
    for (int64_t step = first; step < end; step += Source::kSteps, from += Source::kBytes) {
      __m512i columns[Source::kSteps][2];
      source.read(from, zeros, columns);
#pragma GCC unroll 2
      for (int s = 0; s < Source::kSteps; ++s, to += HalfLines::kBytes) {
        _mm512_storeu_si512(to, columns[s][0]);
        _mm512_storeu_si512(to + 64, columns[s][1]);
      }
    }
  }
}

}  // namespace
}  // namespace lpt
