// Tensors of packed weights: their memory, and one matrix of them.
#pragma once

#include <memory>

#include "src/tensor/sparse_panels.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status check_packed(const Tensor *packed, const char *name);

// One matrix of packed weights; `expert` is 0 where there is no such axis.
MatrixView panels_of(const Tensor &packed, int64_t expert);

// Moves a view of packed weights to its first panel; its extents are set.
Status cut_panels(const Tensor &packed, const int64_t *begins, Tensor &view);

// Bytes of all panels and of the tensor scale, without gaps.
size_t panels_bytes(const Tensor &packed);

// The same of a tensor that is not there yet; false: more than can be counted.
bool count_panels_bytes(const Format &format, int32_t rank, const int64_t *extents, int64_t &out_bytes);

// A tensor in panels, all zeros.
Status create_packed(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                     std::unique_ptr<Tensor> &out_packed);

// Whether panels can hold elements of a format.
bool is_packable(const Format &format);

// Matrices of packed weights that hold numbers: none where an extent is 0.
int64_t filled_experts(const Tensor &packed);

// Layout of sparse packed weights.
struct SparsePacking {
  Layout layout;
  int32_t tile_rows = 0, tile_columns = 0;  // of tiles
};
// A tensor of sparse packed weights without memory.
Tensor sparse_shape(const Format &format, int32_t rank, const int64_t *extents, const SparsePacking &packing);

// The same with memory for `stored` units; its starts are all 0.
Status create_sparse(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                     const SparsePacking &packing, int64_t stored, std::unique_ptr<Tensor> &out_sparse);

// Sets the starts of lines from their bits.
void count_starts(const Tensor &sparse_packed, int64_t first, int64_t count);

}  // namespace lpt
