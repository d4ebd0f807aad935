// Loop of the SIMD kernels over a request: one tile per lane. Included by simd_*.cpp.
//
// A solver provides kRows, kColumns, and solve<plain, whole>(slab, column, count) for the tiles of `count` columns.
#pragma once

#include "kernels/common/simd.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"

#if defined(__AVX512F__)
#include "kernels/transposable_mask/avx512_tiles.hpp"
#else
#include "kernels/transposable_mask/avx2_tiles.hpp"
#endif

namespace lpt {
namespace {

// The rows of one row of tiles.
struct TileRowSpan {
  const TransposableMaskRequest &request;
  const uint8_t *from;  // first row
  int64_t from_stride;  // in bytes
  int64_t from_bytes;   // bytes of an element
  uint8_t *to;
  int rows;      // rows of the request; rows beyond them count as zeros
  int64_t next;  // byte distance to the same position of the next slab; 0: no prefetch
};

// Returns the prefetch distance to the next slab, if two slabs fit the L2 cache. The memory latency exceeds the time between
// two tiles of these rows.
inline int64_t bytes_to_next(int64_t slab_bytes) {
  constexpr int64_t kMost = int64_t{512} << 10;
  return slab_bytes <= kMost ? slab_bytes : 0;
}

// Loads row i of kVectors vectors, full or partial, and prefetches the next slab: the solver runs many operations between
// loads, and rows are far apart.
template <lpt_format kPlain, bool kIsWhole, int kVectors>
[[gnu::always_inline]] inline void load_weights(const TileRowSpan &slab, int i, int64_t column, int64_t count,
                                                F32 (&weights)[kVectors]) {
  const float *const importance = slab.request.importance;
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    const int64_t left = kIsWhole ? kLanes : i < slab.rows ? count - j * kLanes : 0;
    const bool is_inside = kIsWhole || left > 0;
    const void *const row = slab.from + (is_inside ? i * slab.from_stride : 0);
    const int64_t at = column + (is_inside ? j * kLanes : 0);
    if (kIsWhole) {
      constexpr int64_t kBytes = kPlain == LPT_FORMAT_F32 ? 4 : 2;
      __builtin_prefetch(static_cast<const char *>(row) + (at + kVectors * kLanes) * kBytes);
      __builtin_prefetch(static_cast<const char *>(row) + at * kBytes + slab.next, 0, 2);
    }
    weights[j] = abs(load_numbers<kPlain>(row, at, left));
    if (importance != nullptr) {
      weights[j] = weights[j] * load_numbers<LPT_FORMAT_F32>(importance, at, left);
    }
  }
}

// Returns the request for some columns of a slab.
inline TransposableMaskRequest part_of(const TileRowSpan &slab, int64_t column, int64_t columns) {
  TransposableMaskRequest part = slab.request;
  part.source.data = const_cast<uint8_t *>(slab.from) + column * slab.from_bytes;
  part.mask.data = slab.to + column;
  part.source.rows = part.mask.rows = slab.rows;
  part.source.columns = part.mask.columns = columns;
  if (part.importance != nullptr) part.importance += column;
  return part;
}

// Solves tile number `tile`, counted from `column`, by the reference kernel.
inline void run_reference(const TileRowSpan &slab, int64_t column, int64_t tile, int64_t count) {
  const int64_t size = slab.request.of;
  const int64_t left = count - tile * size;
  if (left > 0) transposable_mask_any_ref(part_of(slab, column + tile * size, left < size ? left : size));
}

template <typename Solver, lpt_format kPlain>
void solve_slabs(const TransposableMaskRequest &request) {
  constexpr int64_t kBytes = kPlain == LPT_FORMAT_F32 ? 4 : 2;
  const MatrixView &source = request.source;
  const int64_t stride = source.row_stride * kBytes;
  for (int64_t row = 0; row < source.rows; row += Solver::kRows) {
    const int64_t rows = source.rows - row < Solver::kRows ? source.rows - row : Solver::kRows;
    const TileRowSpan slab = {request,
                              static_cast<const uint8_t *>(source.data) + row * stride,
                              stride,
                              kBytes,
                              static_cast<uint8_t *>(request.mask.data) + row * request.mask.row_stride,
                              static_cast<int>(rows),
                              bytes_to_next(Solver::kRows * stride)};
    int64_t column = 0;
    for (; rows == Solver::kRows && column + Solver::kColumns <= source.columns; column += Solver::kColumns) {
      Solver::template solve<kPlain, true>(slab, column, Solver::kColumns);
    }
    for (; column < source.columns; column += Solver::kColumns) {
      const int64_t left = source.columns - column;
      Solver::template solve<kPlain, false>(slab, column, left < Solver::kColumns ? left : Solver::kColumns);
    }
  }
}

template <typename Solver>
void solve_all(const TransposableMaskRequest &request) {
  switch (request.source.format.element) {
    case LPT_FORMAT_BF16:
      return solve_slabs<Solver, LPT_FORMAT_BF16>(request);
    case LPT_FORMAT_F16:
      return solve_slabs<Solver, LPT_FORMAT_F16>(request);
    default:
      return solve_slabs<Solver, LPT_FORMAT_F32>(request);
  }
}

}  // namespace
}  // namespace lpt
