// 2:4 matrices: checks, and their dense form.
#pragma once

#include "kernels/sparse_pack/sparse_pack.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {

constexpr double kStreamedBytes = 16 << 20;  // of an output that would only push others out of the caches

// A 2:4 matrix.
Status check_sparse_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                           const Device &device = {});

// Its elements as a plain matrix: of a sparse one those that are stored.
MatrixView plain_view(const MatrixView &view);

// Writes out rows of a 2:4 matrix. The row of the table is chosen once; rows may be written by many threads.
class RowWriter {
 public:
  Status select_gemm_kernel(Context &context, const MatrixView &sparse, bool is_streamed);
  // Elements alone: a dense matrix has its scales where the sparse one has them.
  void write(const MatrixView &sparse, const MatrixView &dense) const;
  const char *row_name() const { return kernel_->name; }

 private:
  const KernelEntry<DecompressRequest> *kernel_ = nullptr;
  bool is_streamed_ = false;
};

// What a sparse matrix is when it is written out, still without data.
MatrixView dense_shape(const MatrixView &sparse);

// What a sparse matrix stores, indices too, must not overlap the memory of another.
Status check_stored_apart(const MatrixView &sparse, const char *name, const MatrixView &other, const char *other_name);

// Every index of a sparse matrix is legal, or the first that is not is named.
Status check_places(const MatrixView &sparse, const char *name);

// A sparse matrix written out in the context's scratch; with `is_check_only` one without data.
Status take_dense(Context &context, const MatrixView &sparse, bool is_check_only, MatrixView &out_dense);

// Writes a sparse matrix into a dense one of its shape, scales too.
Status decompress_view(Context &context, const MatrixView &sparse, const MatrixView &dense);

// Copies all scales between a sparse matrix and its dense form: they have the same layout.
void copy_scales(const MatrixView &source, const MatrixView &target);

// A mask of the numbers that are not zero, in the context's scratch.
Status find_nonzero(Context &context, const MatrixView &source, MatrixView &out_mask);

}  // namespace lpt
