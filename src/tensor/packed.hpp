// Tensors of packed weights: allocation, and views of single matrices.
#pragma once

#include <memory>

#include "src/tensor/sparse_panels.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status check_packed(const Tensor *packed, const char *name);

// Returns one matrix of packed weights; `expert` is 0 if the tensor has no expert axis.
MatrixView panels_of(const Tensor &packed, int64_t expert);

// Moves the pointers of a view of packed weights to its first panel. The caller sets its extents.
Status cut_panels(const Tensor &packed, const int64_t *begins, Tensor &view);

// Returns the bytes of all panels and of the tensor scale, without padding.
size_t panels_bytes(const Tensor &packed);

// Computes panels_bytes() of a tensor from its extents. Returns false on overflow.
bool count_panels_bytes(const Format &format, int32_t rank, const int64_t *extents, int64_t &out_bytes);

// Creates a tensor in panels that is filled with zeros.
Status create_packed(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                     std::unique_ptr<Tensor> &out_packed);

// Returns whether panels can store elements of a format.
bool is_packable(const Format &format);

// Returns the number of nonempty matrices of packed weights: 0 if an extent is 0.
int64_t filled_experts(const Tensor &packed);

// The layout of sparse packed weights.
struct SparsePacking {
  Layout layout;
  int32_t tile_rows = 0, tile_columns = 0;  // for kBlockSparse
};
// Returns a tensor of sparse packed weights without memory.
Tensor sparse_shape(const Format &format, int32_t rank, const int64_t *extents, const SparsePacking &packing);

// Creates a tensor of sparse packed weights with memory for `stored` units. All starts are 0.
Status create_sparse(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                     const SparsePacking &packing, int64_t stored, std::unique_ptr<Tensor> &out_sparse);

// Computes the starts of lines from their bits.
void count_starts(const Tensor &sparse_packed, int64_t first, int64_t count);

}  // namespace lpt
