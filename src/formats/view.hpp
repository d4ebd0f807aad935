// A matrix in memory, as operations hand it to kernels. Views own nothing.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/formats/format.hpp"

namespace lpt {

// How elements lie in memory. Panels (kernels/gemm/panels.hpp) are for the second operand of a GEMM alone; bitmask ones are
// without the units that are zero (kernels/bitmask/bitmask.hpp), tiles without the tiles that are (src/weights/sparse.hpp).
// Sparse: two of every four columns (kernels/sparse_pack/sparse_pack.hpp), row strides count what is stored.
enum class Layout : uint8_t { kRows, kPanels, kSparse, kBitmask, kBlockSparse };

inline bool is_packed(Layout layout) { return layout != Layout::kRows && layout != Layout::kSparse; }

// Packed, and not all of it is stored.
inline bool is_sparse_packed(Layout layout) { return layout == Layout::kBitmask || layout == Layout::kBlockSparse; }

// Rows and columns of a plain element, with its scales beside it where the format has them.
// Element (r, c) of 8 bits or more is at data + (r · row_stride + c · column_stride) · bytes. Smaller ones are packed
// (packing_of): code r · row_stride + c, the first of a byte lowest; their row strides are whole packs.
struct MatrixView {
  Format format;
  void *data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;        // in elements
  int64_t column_stride = 1;     // 1 except where a kernel supports others
  void *block_scales = nullptr;  // element (r / block_rows, c / block_columns) of a matrix of block_scale_stride
  int64_t block_scale_stride = 0;
  float *tensor_scale = nullptr;
  uint8_t *zero_points = nullptr;  // placed as the block scales, in elements
  Layout layout = Layout::kRows;
  uint8_t *indices =
      nullptr;  // of sparse ones: places, index_stride bytes a row; of sparse packed ones: bits of each line
  int64_t index_stride = 0;
  const int64_t *starts = nullptr;  // of sparse packed ones: what is stored before each line, and before the end
  int32_t tile_rows = 0, tile_columns = 0;  // of tiles
};

}  // namespace lpt
