// The loops of every blocked GEMM. Included by ISA files: all functions have internal linkage.
//
// The columns of c are cut into slabs, the rows into blocks, and k into depths:
//
//   for each slab           pack_columns(): packs b, if b is packed for all rows at once
//     for each block
//       for each depth       pack_rows(): if there is one block and one depth, it is packed once for all slabs
//         for each span      multiply(): the rows of the block by some columns of the slab
//
// A Kernel has these three functions. Cutting k does not change the bits, because sums are stored without rounding between two
// depths.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/common/scratch_parts.hpp"
#include "kernels/gemm/gemm.hpp"

namespace lpt {
namespace {

inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

constexpr int64_t kMinBlockRows = 96;    // of a block, if each block reads packed weights again
constexpr int64_t kSlabBytes = 2 << 20;  // of packed b: a part of a typical L3

struct GemmBlocking {
  int64_t rows;       // of a block
  int64_t row_space;  // maximum rows of a block, in this request or in a slice of it
  int64_t columns;    // of a slab
  int64_t depth;      // of k
  int64_t span;       // columns per call of multiply()
};

// Returns the length of nearly equal parts of `count`. Each is a multiple of `unit`, and at most `most`, another multiple.
inline int64_t equal_parts(int64_t count, int64_t most, int64_t unit) {
  if (count <= most) return round_up(count, unit);  // without divisions, for small GEMMs
  const int64_t parts = (count + most - 1) / most;
  return round_up((count + parts - 1) / parts, unit);
}

// Returns a blocking with one slab and all of k. Blocks have nearly equal numbers of rows, which are multiples of `unit`. A
// block has at most `bytes` bytes of rows, or `least` rows if that is more.
inline GemmBlocking blocking_of(const GemmRequest &request, int64_t bytes, int64_t row_bytes, int64_t least,
                                int64_t unit) {
  const int64_t m = greater(request.m, 1);
  const int64_t most = greater(greater(bytes / row_bytes, least) / unit, 1) * unit;
  return {.rows = equal_parts(m, most, unit),
          .row_space = min_i64(most, round_up(m, unit)),
          .columns = request.n,
          .depth = greater(request.k, 1),
          .span = request.n};
}

// Rows and columns, relative to the request's part of c.
struct GemmArea {
  int64_t row, rows;
  int64_t column, columns;
  int64_t slab;  // the first column of the slab
};

template <typename Kernel>
void run_driver(const GemmRequest &request, const GemmBlocking &blocking, Kernel &kernel) {
  const bool is_alone = request.m <= blocking.rows && request.k <= blocking.depth;
  GemmArea area = {};
  for (area.slab = 0; area.slab < request.n; area.slab += blocking.columns) {
    const int64_t end = min_i64(request.n, area.slab + blocking.columns);
    kernel.pack_columns(area.slab, end - area.slab);
    for (area.row = 0; area.row < request.m; area.row += blocking.rows) {
      area.rows = min_i64(request.m - area.row, blocking.rows);
      Depth depth = {};
      do {
        depth.count = min_i64(request.k - depth.first, blocking.depth);
        if (area.slab == 0 || !is_alone) kernel.pack_rows(area.row, area.rows, depth);
        for (area.column = area.slab; area.column < end; area.column += blocking.span) {
          area.columns = min_i64(end - area.column, blocking.span);
          kernel.multiply(area, depth);
        }
        depth.first += blocking.depth;
      } while (depth.first < request.k);
    }
  }
}

// Address of a tile of c, and the epilogue of its sums.
struct TileEpilogue {
  uint8_t *c;
  int64_t row_bytes;
  int64_t element_bytes;
  lpt_format format;
  int64_t columns;
  const float *row_factors;
  const float *column_factors;  // times alpha; readable for a full tile
  const int32_t *starts;        // start values of the sums, if the kernel has them
  const float *bias;            // NULL: none
  float beta;
  bool is_first_depth, is_last_depth;
  float *sums;          // between two depths
  int64_t sums_stride;  // elements per row
};

// Returns the epilogue of the tiles that begin in the first row and column of the area. The caller sets the factors.
inline TileEpilogue epilogue_of(const GemmRequest &request, const GemmArea &area) {
  const int64_t element_bytes = request.c.format.element == LPT_FORMAT_F32 ? 4 : 2;
  const int64_t row_bytes = request.c.row_stride * element_bytes, column = request.first_column + area.column;
  auto *const c = static_cast<uint8_t *>(request.c.data) + (request.first_row + area.row) * row_bytes;
  return {.c = c + column * element_bytes,
          .row_bytes = row_bytes,
          .element_bytes = element_bytes,
          .format = request.c.format.element,
          .columns = area.columns,
          .row_factors = nullptr,
          .column_factors = nullptr,
          .starts = nullptr,
          .bias = request.bias == nullptr ? nullptr : static_cast<const float *>(request.bias) + column,
          .beta = static_cast<float>(request.beta),
          .is_first_depth = true,
          .is_last_depth = true,
          .sums = nullptr,
          .sums_stride = 0};
}

}  // namespace
}  // namespace lpt
