// What selecting masks and using them share.
#pragma once

#include "kernels/sparse_mask/sparse_mask.hpp"
#include "src/ops/sparse.hpp"

namespace lpt {

constexpr int32_t kLongestSparseGroup = 32;

Status check_sparse_group(int32_t kept, int32_t of, int32_t most_kept);
Status check_mask(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view);

// A matrix that goes with the source: of its shape, and apart from it.
Status check_beside(const MatrixView &view, const char *name, const MatrixView &source, const char *source_name);

// f32 or the source's format; apart from the source or the source itself.
Status check_output(const Tensor *tensor, const char *name, bool needs_data, const MatrixView &source,
                    MatrixView &out_view);

// Writes a sparse matrix whose places are legal into a dense one of its shape, scales too.
Status decompress_view(Context &context, const SparseView &sparse, const MatrixView &dense);

// Checks that a row takes the request, and runs it if `is_run`.
Status apply_mask(Context &context, const MaskApplyRequest &whole, bool is_run);

}  // namespace lpt
