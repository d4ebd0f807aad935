// 2:4 matrices: checks and conversion to dense matrices.
#pragma once

#include "kernels/sparse_pack/sparse_pack.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {

// Outputs of at least this size are written with non-temporal stores, so that they do not evict other data from the caches.
constexpr double kStreamedBytes = 16 << 20;

// Checks a 2:4 matrix and returns its view.
Status check_sparse_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                           const Device &device = {});

// Returns the elements as a plain matrix. For a sparse matrix these are the stored elements.
MatrixView plain_view(const MatrixView &view);

// Decompresses rows of a 2:4 matrix. The kernel is selected once; threads may write different rows concurrently.
class RowWriter {
 public:
  Status select_gemm_kernel(Context &context, const MatrixView &sparse, bool is_streamed);
  // Writes the elements only: the scales of a dense matrix are those of the sparse matrix.
  void write(const MatrixView &sparse, const MatrixView &dense) const;
  const char *row_name() const { return kernel_->name; }

 private:
  const KernelEntry<DecompressRequest> *kernel_ = nullptr;
  bool is_streamed_ = false;
};

// Returns the dense form of a sparse matrix, without data.
MatrixView dense_shape(const MatrixView &sparse);

// Rejects a sparse matrix whose stored elements or indices overlap another matrix.
Status check_no_stored_overlap(const MatrixView &sparse, const char *name, const MatrixView &other,
                               const char *other_name);

// Checks all indices of a sparse matrix. The error names the first invalid one.
Status check_places(const MatrixView &sparse, const char *name);

// Decompresses a sparse matrix to scratch of the context. With `is_check_only` the result has no data.
Status take_dense(Context &context, const MatrixView &sparse, bool is_check_only, MatrixView &out_dense);

// Decompresses a sparse matrix, including its scales, to a dense matrix of the same shape.
Status decompress_view(Context &context, const MatrixView &sparse, const MatrixView &dense);

// Copies all scales between a sparse matrix and its dense form. Both have the same layout of scales.
void copy_scales(const MatrixView &source, const MatrixView &target);

// Computes a mask of the nonzero elements in scratch of the context.
Status find_nonzero(Context &context, const MatrixView &source, MatrixView &out_mask);

}  // namespace lpt
