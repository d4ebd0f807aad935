// What selecting masks and using them share.
#pragma once

#include <algorithm>

#include "kernels/sparse_mask/sparse_mask.hpp"
#include "kernels/sparse_pack/sparse_pack.hpp"
#include "src/ops/sparse.hpp"

namespace lpt {

constexpr int32_t kLongestSparseGroup = 32;
constexpr double kStreamedBytes = 16 << 20;  // of an output that would only push others out of the caches

Status check_sparse_group(int32_t kept, int32_t of, int32_t most_kept);
Status check_mask(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                  const Device &device = {});

// How many of the `of` numbers from (row, begin), or of those there are, a mask keeps.
inline int32_t count_kept(const MatrixView &mask, int64_t row, int64_t begin, int32_t of) {
  const auto *bytes = static_cast<const uint8_t *>(mask.data) + row * mask.row_stride;
  const int64_t end = std::min(begin + of, mask.columns);
  int32_t kept = 0;
  for (int64_t i = begin; i < end; ++i) kept += bytes[i * mask.column_stride] != 0;
  return kept;
}

// A matrix that goes with the source: of its shape, and apart from it.
Status check_beside(const MatrixView &view, const char *name, const MatrixView &source, const char *source_name);

// f32 or the source's format; apart from the source or the source itself.
Status check_output(const Tensor *tensor, const char *name, bool needs_data, const MatrixView &source,
                    MatrixView &out_view, const Device &device = {});

// A mask of the numbers that are not zero, in the context's scratch.
Status find_nonzero(Context &context, const MatrixView &source, MatrixView &out_mask);

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

// Numbers of lpt_sparse_options, in range.
Status check_sparse_options(const lpt_sparse_options &options);

// Selects in checked views; those without a format are not requested. With LPT_CHECK_ONLY in the options it only picks rows.
Status select_mask(Context &context, const lpt_sparse_options &options, const MatrixView &source,
                   const MatrixView &mask, const MatrixView &masked);

// Checks that a row takes the request, and runs it if `is_run`.
Status apply_mask(Context &context, const MaskApplyRequest &whole, bool is_run);

}  // namespace lpt
