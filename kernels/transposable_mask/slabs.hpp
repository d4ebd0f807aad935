// How SIMD kernels walk a request: tiles side by side, as many as lanes. Included by simd_*.cpp.
//
// A solver gives kRows, kColumns, and solve<plain, whole>(slab, column, count): the tiles of `count` columns.
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

// The rows of a line of tiles.
struct TileRowSpan {
  const TransposableMaskRequest &request;
  const uint8_t *from;  // of the first row
  int64_t from_stride;  // in bytes
  int64_t from_bytes;   // of a number
  uint8_t *to;
  int rows;      // of the request; what is beyond counts as zeros
  int64_t next;  // bytes to the same place of the next slab; 0: not to be requested
};

// The slab that follows is requested while it and this one fit in the second cache: memory answers later than the next tiles
// of these rows are needed.
inline int64_t bytes_to_next(int64_t slab_bytes) {
  constexpr int64_t kMost = int64_t{512} << 10;
  return slab_bytes <= kMost ? slab_bytes : 0;
}

// Row i of kVectors vectors, whole or what there is of them. The next ones are requested: their tiles come after many
// operations on these, and in rows far apart.
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

// The request, of some columns of a slab.
inline TransposableMaskRequest part_of(const TileRowSpan &slab, int64_t column, int64_t columns) {
  TransposableMaskRequest part = slab.request;
  part.source.data = const_cast<uint8_t *>(slab.from) + column * slab.from_bytes;
  part.mask.data = slab.to + column;
  part.source.rows = part.mask.rows = slab.rows;
  part.source.columns = part.mask.columns = columns;
  if (part.importance != nullptr) part.importance += column;
  return part;
}

// The reference kernel, on tile number `tile` of those that begin at `column`.
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
