// Checks of tensors that operations take.
#pragma once

#include "src/call/operation.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Every part that the format has is there, if there are elements at all.
Status check_data(const Tensor &tensor, const char *name);

// A live tensor in memory of `device`. What does not say another one reads and writes memory of the CPU alone.
Status check_tensor(const Tensor *tensor, const char *name, const Device &device = {});

// Matrix of a required operand whose rows are adjacent elements. `needs_data` is false under LPT_CHECK_ONLY.
Status check_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                    const Device &device = {});

// A vector of `count` dense elements of `format`.
Status check_vector(const Tensor *tensor, const char *name, lpt_format format, int64_t count, bool needs_data,
                    void **out_data, const Device &device = {});

// check_matrix() of such a matrix.
Status check_wide_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                         const Device &device = {});

}  // namespace lpt
