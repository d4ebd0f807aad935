// The view of a matrix in memory that operations pass to kernels. A view owns no memory.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/formats/format.hpp"

namespace lpt {

// The storage of the elements. kPanels (kernels/gemm/panels.hpp) is only for the second operand of a GEMM. kBitmask omits
// zero units (kernels/bitmask/bitmask.hpp). kBlockSparse omits zero tiles (src/weights/sparse.hpp). kSparse stores two of
// every four columns (kernels/sparse_pack/sparse_pack.hpp); its row strides count stored elements.
enum class Layout : uint8_t { kRows, kPanels, kSparse, kBitmask, kBlockSparse };

inline bool is_packed(Layout layout) { return layout != Layout::kRows && layout != Layout::kSparse; }

// Returns whether the layout is packed and omits zeros.
inline bool is_sparse_packed(Layout layout) { return layout == Layout::kBitmask || layout == Layout::kBlockSparse; }

// Rows and columns of a plain element, with the scales that the format has. An element (r, c) of at least 8 bits is at data +
// (r · row_stride + c · column_stride) · bytes. Smaller elements are packed (packing_of): their index is r · row_stride + c,
// with the first of a byte in the lowest bits. Their row strides are multiples of a pack.
struct MatrixView {
  Format format;
  void *data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;        // in elements
  int64_t column_stride = 1;     // 1 except for kernels that support other strides
  void *block_scales = nullptr;  // element (r / block_rows, c / block_columns), with this row stride:
  int64_t block_scale_stride = 0;
  float *tensor_scale = nullptr;
  uint8_t *zero_points = nullptr;  // one per block scale, at the same index
  Layout layout = Layout::kRows;
  uint8_t *indices =
      nullptr;  // kSparse: column indices, index_stride bytes per row; sparse packed: bit masks of each line
  int64_t index_stride = 0;
  const int64_t *starts = nullptr;          // sparse packed: units or tiles stored before each line, and the total
  int32_t tile_rows = 0, tile_columns = 0;  // of kBlockSparse
};

}  // namespace lpt
