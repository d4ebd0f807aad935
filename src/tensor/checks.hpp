// Checks of tensor arguments.
#pragma once

#include "src/call/operation.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Rejects a nonempty tensor that lacks memory of a part of its format.
Status check_data(const Tensor &tensor, const char *name);

// Rejects a tensor that is not live or not in memory of `device`. The default is the CPU.
Status check_tensor(const Tensor *tensor, const char *name, const Device &device = {});

// Checks a required operand of any format and returns its matrix. Rows must be adjacent elements. `needs_data` is false under
// LPT_CHECK_ONLY.
Status check_any_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                        const Device &device = {});

// check_any_matrix() that also rejects index formats.
Status check_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                    const Device &device = {});

// Checks a vector of `count` dense elements of `format`.
Status check_vector(const Tensor *tensor, const char *name, lpt_format format, int64_t count, bool needs_data,
                    void **out_data, const Device &device = {});

// Checks dense int32 or int64 indices in memory of `device` or of the CPU. The view is a vector of all indices.
Status check_indices(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                     const Device &device);

// Checks indices of the `rows` rows of `rows_of`: a vector, or a tensor with the leading axes of `rows_of`.
Status check_row_indices(const Tensor *tensor, const char *name, const Tensor &rows_of, const char *rows_name,
                         int64_t rows, bool needs_data, MatrixView &out_view, const Device &device);

// Returns one index. The indices are in CPU memory.
int64_t index_at(const MatrixView &indices, int64_t place);

// check_matrix() for wide floats.
Status check_wide_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                         const Device &device = {});

}  // namespace lpt
