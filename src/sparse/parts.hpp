// Functions that the selection and the use of masks share.
#pragma once

#include <algorithm>

#include "kernels/sparse_mask/sparse_mask.hpp"
#include "src/sparse/sparse.hpp"

namespace lpt {

constexpr int32_t kLongestSparseGroup = 32;

Status check_sparse_group(int32_t kept, int32_t of, int32_t most_kept);
Status check_mask(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                  const Device &device = {});

// Returns how many of the `of` elements from (row, begin) a mask keeps. The group ends at the last column.
inline int32_t count_kept(const MatrixView &mask, int64_t row, int64_t begin, int32_t of) {
  const auto *bytes = static_cast<const uint8_t *>(mask.data) + row * mask.row_stride;
  const int64_t end = std::min(begin + of, mask.columns);
  int32_t kept = 0;
  for (int64_t i = begin; i < end; ++i) kept += bytes[i * mask.column_stride] != 0;
  return kept;
}

// Rejects a matrix that does not have the shape of the source or overlaps it.
Status check_same_shape(const MatrixView &view, const char *name, const MatrixView &source, const char *source_name);

// Checks an output: f32 or the format of the source. It may be in-place, but must not overlap the source partially.
Status check_output(const Tensor *tensor, const char *name, bool needs_data, const MatrixView &source,
                    MatrixView &out_view, const Device &device = {});

// Rejects options of lpt_sparse_options that are out of range.
Status check_sparse_options(const lpt_sparse_options &options);

// Selects a mask for checked views. Outputs without a format are not requested. With LPT_CHECK_ONLY in the options it only
// selects kernels.
Status select_mask(Context &context, const lpt_sparse_options &options, const MatrixView &source,
                   const MatrixView &mask, const MatrixView &masked);

// Selects the kernel that applies a mask, and runs it if `is_run` is set.
Status apply_mask(Context &context, const MaskApplyRequest &whole, bool is_run);

// Returns whether an optional view of a call is present.
inline bool is_present(const MatrixView &view) { return view.format.id != LPT_FORMAT_NONE; }

}  // namespace lpt
