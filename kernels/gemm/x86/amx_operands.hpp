// Operands in the form that AMX reads: tiles of a and panels of b, for one depth of k. Included by ISA files: all functions
// have internal linkage.
#pragma once

#include "kernels/common/amx_tiles.hpp"
#include "kernels/gemm/x86/avx512_bf16_operands.hpp"

namespace lpt {
namespace {

// Returns the scale of a lane at step p of k.
inline float group_scale(const Operand &part, int64_t lane, int64_t p) {
  return part.is_k_adjacent ? scale_at(part, part.first_lane + lane, p) : scale_at(part, p, part.first_lane + lane);
}

// b in panels.
struct PackedPanels {
  PanelOperand b;
  PanelTables tables;
  int64_t block_length;  // elements of k that share a scale and a zero point
  bool is_scaled_along_k;
  bool is_grouped;  // by scales, which multiply the sums of groups
};

inline PackedPanels packed_panels(const MatrixView &view, int64_t k) {
  PackedPanels packed = {};
  packed.b = packed_operand(view, k);
  set_tables(view.format.element, packed.b.zeros != nullptr, packed.tables);
  packed.block_length = packed.b.blocks > 1 ? view.format.block_columns : int64_t{1} << 62;
  packed.is_scaled_along_k = packed.b.blocks > 1;
  packed.is_grouped = is_grouped_by_scales(view, true, k);
  return packed;
}

// Returns the factor of the sums of a column.
inline float column_factor(const PackedPanels &packed, int64_t column) {
  const PanelOperand &b = packed.b;
  if (b.scales == nullptr || packed.is_scaled_along_k) return b.factor;
  return b.factor * read_scale(b.scale_format, b.scales, column);
}

// Writes the scales of the lanes of a panel at step p of k.
inline void group_scales(const PackedPanels &packed, int64_t panel, int64_t p, float *scales) {
  const PanelOperand &b = packed.b;
  const uint8_t *const from = b.scales + (panel * b.blocks + p / packed.block_length) * b.scale_bytes;
  for (int v = 0; v < 2; ++v) {
    const __m512 values = packed.is_grouped ? load_scales_of_lanes(b.scale_format, from, v) : _mm512_set1_ps(1);
    _mm512_storeu_ps(scales + 16 * v, values);
  }
}

// Transposes the dwords of a panel to pairs of tiles of a.
inline void transpose_panel(const uint8_t *panel, int64_t steps, uint8_t *tiles) {
  for (int64_t step = 0; step < steps; ++step, panel += 2 * kUnitBytes, tiles += 2 * kUnitBytes) {
    for (int64_t half = 0; half < 2; ++half) {
      __m512i lanes[kUnitRows];
#pragma GCC unroll 16
      for (int64_t dword = 0; dword < 16; ++dword) {
        lanes[dword] = _mm512_load_si512(panel + dword * kPairRowBytes + half * kStepBytes);
      }
      transpose(lanes);
#pragma GCC unroll 16
      for (int64_t lane = 0; lane < 16; ++lane) {
        _mm512_store_si512(tiles + half * kUnitBytes + lane * kStepBytes, lanes[lane]);
      }
    }
  }
}

constexpr int64_t kLanesAhead = 8;  // prefetched at a depth of k: the hardware does not prefetch so many short runs

// Packs `lanes` lanes of a from `first` on. The last pair of tiles is padded with zeros. Pairs of tiles are `stride` bytes
// apart. `panel` is scratch for one panel.
template <typename Numbers>
void pack_unit_rows(const Operand &a, int64_t first, int64_t lanes, int64_t stride, uint8_t *panel, uint8_t *tiles) {
  const int64_t steps = (a.k + Numbers::kOfStep - 1) / Numbers::kOfStep;
  const int64_t filled = round_up(lanes, kPairRows);
  if (!a.is_k_adjacent) {
    for (int64_t lane = 0; lane < filled; lane += kPairRows) {
      Numbers::pack_plain_panel(a, first + lane, min_i64(lanes - lane, kPairRows), panel);
      transpose_panel(panel, steps, tiles + lane / kPairRows * stride);
    }
    return;
  }
  const int64_t prefetched_bytes = a.k < a.row_stride ? a.k * a.bits / 8 : 0;
  for (int64_t lane = 0; lane < filled; ++lane) {
    uint8_t *const to =
        tiles + lane / kPairRows * stride + lane / kUnitRows % 2 * kUnitBytes + lane % kUnitRows * kStepBytes;
    if (lane < lanes) {
      const uint8_t *const next = a.data + (a.first_lane + first + lane + kLanesAhead) * a.row_stride * a.bits / 8;
      for (int64_t byte = 0; byte < prefetched_bytes; byte += 64) __builtin_prefetch(next + byte);
      Numbers::pack_lane(a, a.first_lane + first + lane, to);
      continue;
    }
    for (int64_t step = 0; step < steps; ++step) _mm512_store_si512(to + 2 * step * kUnitBytes, _mm512_setzero_si512());
  }
}

// Prefetches the rows of a pair of tiles of c, so that the epilogue does not wait for them.
inline void prefetch_c(const TileEpilogue &epilogue, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) prefetch_row(epilogue.c + i * epilogue.row_bytes);
}

// Sums in f32, in scratch.
struct FloatSums {
  static __m512 floats(const float *sums) { return _mm512_load_ps(sums); }
  static void to_floats(float *) {}
};

// Sums in int32, in scratch.
struct IntegerSums {
  static __m512 floats(const float *sums) { return _mm512_cvtepi32_ps(_mm512_load_si512(sums)); }
  static void to_floats(float *sums) {
    for (int64_t i = 0; i < kPairNumbers; i += 16) _mm512_store_ps(sums + i, floats(sums + i));
  }
};

// Applies the epilogue to sums of up to 32 rows by 32 columns, and stores them in c.
template <typename Sums>
void write_pair(float *sums, int64_t rows, const TileEpilogue &epilogue) {
  if (!is_stored_whole<Bf16, 2>(epilogue)) {
    Sums::to_floats(sums);
    return finish_rows(sums, kPairColumns, rows, epilogue);
  }
  const __m512 low = _mm512_loadu_ps(epilogue.column_factors), high = _mm512_loadu_ps(epilogue.column_factors + 16);
  for (int64_t i = 0; i < rows; ++i, sums += kPairColumns) {
    auto *const to = reinterpret_cast<float *>(epilogue.c + i * epilogue.row_bytes);
    const __m512 factor = _mm512_set1_ps(epilogue.row_factors[i]);
    _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_mul_ps(Sums::floats(sums), factor), low));
    _mm512_storeu_ps(to + 16, _mm512_mul_ps(_mm512_mul_ps(Sums::floats(sums + 16), factor), high));
  }
}

// Zeros a panel from dword `dwords` of k to the end of its step.
inline void fill_panel(int64_t dwords, uint8_t *panel) {
  const int64_t whole = round_up(dwords, kStepBytes / 4);
  memset(panel + dwords * kPairRowBytes, 0, static_cast<size_t>((whole - dwords) * kPairRowBytes));
}

}  // namespace
}  // namespace lpt
