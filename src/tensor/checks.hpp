// Checks of tensors that operations take.
#pragma once

#include "src/call/operation.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Every part that the format has is there, if there are elements at all.
Status check_data(const Tensor &tensor, const char *name);

// A live tensor in memory of `device`. What does not say another one reads and writes memory of the CPU alone.
Status check_tensor(const Tensor *tensor, const char *name, const Device &device = {});

// Matrix of a required operand of any format whose rows are adjacent elements. `needs_data` is false under LPT_CHECK_ONLY.
Status check_any_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                        const Device &device = {});

// check_any_matrix() of a matrix of numbers.
Status check_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                    const Device &device = {});

// A vector of `count` dense elements of `format`.
Status check_vector(const Tensor *tensor, const char *name, lpt_format format, int64_t count, bool needs_data,
                    void **out_data, const Device &device = {});

// Dense int32 or int64 indices, in memory of `device` or of the CPU. The view is a vector of all of them.
Status check_indices(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                     const Device &device);

// Indices of the rows of `rows_of`, of which there are `rows`: a vector, or its leading axes.
Status check_row_indices(const Tensor *tensor, const char *name, const Tensor &rows_of, const char *rows_name,
                         int64_t rows, bool needs_data, MatrixView &out_view, const Device &device);

// One of the indices, which are in memory of the CPU.
int64_t index_at(const MatrixView &indices, int64_t place);

// check_matrix() of a matrix of wide floats.
Status check_wide_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                         const Device &device = {});

}  // namespace lpt
