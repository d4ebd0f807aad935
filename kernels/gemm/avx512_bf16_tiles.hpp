// Tiles of a product by panels of b, which are decoded in registers. Included by ISA files: everything here has internal
// linkage.
//
// A tile is kRows rows by one or two panels of 32 columns, for all of k. Where scales vary along k and are not part of what is
// multiplied, k is cut into groups: a group is summed from zero, and total = total + sum · scale, one fused multiply-add.
// The order of the sum of one number of c is that of k in every tile, and so are its bits.
#pragma once

#include "kernels/gemm/avx512_bf16_elements.hpp"
#include "kernels/gemm/avx512_bf16_sources.hpp"

namespace lpt {
namespace {

constexpr int kMostPanels = 2;       // of one tile
constexpr int64_t kScaleRows = 8;    // of a that share a block of scales
constexpr int64_t kAhead = 2048;     // bytes of a panel that are asked for before they are read
constexpr int64_t kScalesAhead = 4;  // blocks

enum class Groups : uint8_t { kNone, kColumns, kBoth };  // whose scales vary along k

struct PanelTile {
  const uint32_t *a;  // kRows lanes a step
  int64_t steps;
  const uint8_t *b[kMostPanels];
  const uint8_t *scales[kMostPanels];  // of b
  const uint8_t *zeros[kMostPanels];   // of b
  const float *row_scales;             // kScaleRows of them a block
  lpt_format scale_format;
  int64_t scale_stride;   // bytes from block to block of b, for 32 lanes
  int64_t group_steps;    // of the shorter blocks
  int32_t b_group_shift;  // block of b of group g: g >> b_group_shift
  int32_t a_group_shift;
  float *sums;  // kRows × 32 · kPanels
};

// Tables and constants are hidden from the compiler: kept in registers all along, they would push sums out of them.
inline __m512 load_scales_of_lanes(lpt_format format, const uint8_t *scales, int v) {
  if (format == LPT_FORMAT_F32) return _mm512_loadu_ps(scales + 64 * v);
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(scales + 16 * v));
  if (format == LPT_FORMAT_E8M0FNU) return decode_e8m0fnu<true>(codes);
  const ByteTable *table = &kTableE4m3fn;
  asm volatile("" : "+r"(table));
  return decode_bytes_f32<true>(codes, *table);
}

template <int kRows>
[[gnu::always_inline]] inline void add_columns(const uint32_t *a, const __m512i (&columns)[2], __m512 *sums,
                                               int stride) {
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const __m512i row = _mm512_set1_epi32(static_cast<int32_t>(a[i]));
    sums[i * stride] = _mm512_dpbf16_ps(sums[i * stride], (__m512bh)row, (__m512bh)columns[0]);
    sums[i * stride + 1] = _mm512_dpbf16_ps(sums[i * stride + 1], (__m512bh)row, (__m512bh)columns[1]);
  }
}

// Adds the products of `steps` steps from `first` on. A last half line has one step.
template <typename Source, int kRows, int kPanels>
[[gnu::always_inline]] inline void add_steps(const Source &source, const LaneZeros *zeros, const PanelTile &tile,
                                             int64_t first, int64_t steps, __m512 (&sums)[kRows * 2 * kPanels]) {
  const uint32_t *a = tile.a + first * kRows;
  int64_t offset = first / Source::kSteps * Source::kBytes;
  const uint8_t *b[kPanels];
#pragma GCC unroll 2
  for (int p = 0; p < kPanels; ++p) b[p] = tile.b[p];
  for (int64_t left = steps / Source::kSteps; left > 0; --left) {
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      __m512i columns[Source::kSteps][2];
      _mm_prefetch(b[p] + offset + kAhead, _MM_HINT_T0);
      if constexpr (Source::kBytes == 128) _mm_prefetch(b[p] + offset + kAhead + 64, _MM_HINT_T0);
      source.read(b[p] + offset, zeros[p], columns);
#pragma GCC unroll 2
      for (int s = 0; s < Source::kSteps; ++s) add_columns<kRows>(a + s * kRows, columns[s], sums + 2 * p, 2 * kPanels);
    }
    a += Source::kSteps * kRows;
    offset += Source::kBytes;
  }
  if (Source::kSteps == 2 && steps % 2 != 0) {
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      __m512i columns[Source::kSteps][2];
      source.read(b[p] + offset, zeros[p], columns);
      add_columns<kRows>(a, columns[0], sums + 2 * p, 2 * kPanels);
    }
  }
}

// Sums of a group, scaled, are added to the totals.
template <Groups kGroups, int kRows, int kPanels>
[[gnu::always_inline]] inline void add_group(const PanelTile &tile, int64_t group, const __m512 *sums, __m512 *totals) {
  const float *row_scales = nullptr;
  if constexpr (kGroups == Groups::kBoth) row_scales = tile.row_scales + (group >> tile.a_group_shift) * kScaleRows;
#pragma GCC unroll 2
  for (int p = 0; p < kPanels; ++p) {
    const uint8_t *const scales = tile.scales[p] + (group >> tile.b_group_shift) * tile.scale_stride;
    _mm_prefetch(scales + kScalesAhead * tile.scale_stride, _MM_HINT_T0);
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const __m512 columns = load_scales_of_lanes(tile.scale_format, scales, v);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        __m512 scale = columns;
        if constexpr (kGroups == Groups::kBoth) scale = _mm512_mul_ps(columns, _mm512_set1_ps(row_scales[i]));
        const int at = (i * kPanels + p) * 2 + v;
        totals[at] = _mm512_fmadd_ps(sums[at], scale, totals[at]);
      }
    }
  }
}

template <typename Source>
LaneZeros zeros_of_group(const PanelTile &tile, int p, int64_t group) {
  if (tile.zeros[p] == nullptr) return {};
  return Source::zeros_of(tile.zeros[p] + (group >> tile.b_group_shift) * kPanelLanes);
}

// Few rows by one panel have too few sums to hide the latency of their additions.
template <typename Source>
constexpr int panels_of(int rows) {
  return rows * Source::kSteps <= 4 && Source::kBytes == kPanelLineBytes ? 2 : 1;
}

template <typename Source, Groups kGroups, int kRows>
void multiply_panel_tile(const PanelTile &tile, const PanelTables &tables) {
  constexpr int kPanels = panels_of<Source>(kRows);
  constexpr int kSums = kRows * 2 * kPanels;
  const Source source(tables);
  LaneZeros zeros[kPanels] = {};
  __m512 sums[kSums];
  float *const out = tile.sums;
  if constexpr (kGroups == Groups::kNone) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_setzero_ps();
    add_steps<Source, kRows, kPanels>(source, zeros, tile, 0, tile.steps, sums);
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) _mm512_store_ps(out + 16 * i, sums[i]);
    return;
  }
  __m512 totals[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) totals[i] = _mm512_setzero_ps();
  for (int64_t first = 0, group = 0; first < tile.steps; first += tile.group_steps, ++group) {
#pragma GCC unroll 2
    for (int p = 0; p < kPanels; ++p) {
      zeros[p] = zeros_of_group<Source>(tile, p, group);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_setzero_ps();
    add_steps<Source, kRows, kPanels>(source, zeros, tile, first, smaller(tile.group_steps, tile.steps - first), sums);
    add_group<kGroups, kRows, kPanels>(tile, group, sums, totals);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) _mm512_store_ps(out + 16 * i, totals[i]);
}

using PanelTileFunction = void (*)(const PanelTile &tile, const PanelTables &tables);

// Tiles of 1, 2, 4 and 8 rows.
constexpr int64_t kShapeRows[4] = {1, 2, 4, 8};

inline int shape_of(int64_t rows) { return rows <= 1 ? 0 : rows <= 2 ? 1 : rows <= 4 ? 2 : 3; }

struct PanelShape {
  PanelTileFunction run;  // NULL: there is none
  int64_t panels;         // that it takes at once
};

template <typename Source, Groups kGroups>
PanelShape panel_shape_of(int shape) {
  static constexpr PanelTileFunction tiles[4] = {multiply_panel_tile<typename SourceFor<Source, 1>::Type, kGroups, 1>,
                                                 multiply_panel_tile<typename SourceFor<Source, 2>::Type, kGroups, 2>,
                                                 multiply_panel_tile<typename SourceFor<Source, 4>::Type, kGroups, 4>,
                                                 multiply_panel_tile<typename SourceFor<Source, 8>::Type, kGroups, 8>};
  return {tiles[shape], panels_of<Source>(static_cast<int>(kShapeRows[shape]))};
}

template <typename Source>
PanelShape panel_shape_of(Groups groups, int shape) {
  if (groups == Groups::kBoth) return panel_shape_of<Source, Groups::kBoth>(shape);
  return groups == Groups::kColumns ? panel_shape_of<Source, Groups::kColumns>(shape)
                                    : panel_shape_of<Source, Groups::kNone>(shape);
}

// A panel → lines of HalfLines.
template <typename Source>
void expand_panel(const PanelTile &tile, const PanelTables &tables, uint8_t *to) {
  const Source source(tables);
  for (int64_t first = 0, group = 0; first < tile.steps; first += tile.group_steps, ++group) {
    const LaneZeros zeros = zeros_of_group<Source>(tile, 0, group);
    const int64_t end = smaller(first + tile.group_steps, tile.steps);
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
