// Tensors: a format, extents, and pointers to the parts.
#pragma once

#include <array>
#include <memory>

#include "src/backends/device.hpp"
#include "src/call/context.hpp"
#include "src/formats/view.hpp"

namespace lpt {
constexpr int32_t kMostAxes = 8;
}

struct lpt_tensor {
  lpt::HandleKind kind = lpt::HandleKind::kTensor;
  lpt::Format format;
  int32_t rank = 0;
  int64_t extents[lpt::kMostAxes] = {};
  int64_t strides[lpt::kMostAxes] = {};
  void *data = nullptr;
  void *block_scales = nullptr;
  int64_t block_scale_stride = 0;
  float *tensor_scale = nullptr;
  uint8_t *zero_points = nullptr;
  uint8_t *sparse_indices =
      nullptr;  // 2:4: rows of sparse_index_stride bytes; sparse packed weights: the bits of lines
  int64_t sparse_index_stride = 0;
  const int64_t *starts = nullptr;                    // of sparse packed weights
  int32_t tile_rows = 0, tile_columns = 0;            // for Layout::kBlockSparse
  lpt::Device device;                                 // device of all parts
  bool is_read_only = false;                          // operations never write the memory
  lpt::Layout layout = lpt::Layout::kRows;            // kPanels: strides count the elements of complete panels
  std::array<std::shared_ptr<std::byte>, 5> storage;  // by lpt_tensor_part; empty for memory that the caller owns
};

namespace lpt {

using Tensor = lpt_tensor;

// Rejects negative extents and products of extents above 2^56.
Status check_tensor_extents(int32_t rank, const int64_t *extents);

Status create_tensor(Context &context, lpt_format format, int32_t rank, const int64_t *extents, Tensor **out_tensor);
Status wrap_tensor(Context &context, const lpt_tensor_description &description, Tensor **out_tensor);
Status wrap_matrix(Context &context, lpt_format format, const void *data, int64_t rows, int64_t columns,
                   int64_t row_stride, Tensor **out_tensor, uint64_t flags = 0);
Status view_tensor(const Tensor &tensor, const int64_t *begins, const int64_t *extents, Tensor **out_tensor);
Status part_of_tensor(const Tensor &tensor, lpt_tensor_part part, Tensor **out_tensor);
Status copy_tensor(Context &context, const Tensor &source, const Tensor &target);
Status combine_tensor(lpt_format format, int64_t rows, int64_t columns, const Tensor *const *parts, int32_t part_count,
                      Tensor **out_tensor);

// Rows and columns of a tensor: its leading axes are folded into rows.
struct Shape {
  int64_t rows, columns;
};
Shape shape_of(const Tensor &tensor);

// Returns the bytes of payload and scales, without padding.
size_t tensor_bytes(const Tensor &tensor);

// Returns the tensor as a matrix. The error names the tensor `name` if its leading axes do not fold, or if it is sparse.
Status matrix_of(const Tensor &tensor, const char *name, MatrixView &out_view);

// Returns a 2:4 matrix with its indices.
Status sparse_matrix_of(const Tensor &tensor, const char *name, MatrixView &out_view);

// Returns a description such as "128 x 64 e4m3fn_row", with the suffix " on cuda:0" for a GPU.
std::string tensor_text(const Tensor &tensor);

// Set all scales to 1 and all zero points to 0. The second function does not change the tensor scale.
void set_unit_scales(const MatrixView &view);
void set_unit_block_scales(const MatrixView &view);

}  // namespace lpt
