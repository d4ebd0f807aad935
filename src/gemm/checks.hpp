// Checks that the calls for GEMMs share.
#pragma once

#include "src/gemm/run.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Checks the numbers of the options and copies them to the GEMM.
Status check_gemm_options(const lpt_gemm_options &options, GemmCall &out_gemm);

// Rejects an outlier threshold. `call` names the call, such as "a batch".
Status check_no_outliers(const lpt_gemm_options &options, const char *call);

// Checks an operand. If its columns are adjacent in memory instead of its rows, the view is transposed.
Status check_operand(const Tensor *tensor, const char *name, bool needs_data, bool &is_transposed, MatrixView &out_view,
                     const Device &device = {});

// Checks the second operand, which may be packed.
Status check_second_operand(const Tensor *tensor, bool needs_data, bool &is_transposed, MatrixView &out_view,
                            const Device &device = {});

// Check the matrix at `index` of the leading axes of an operand. An operand without leading axes applies to every index.
Status check_operand_at(const Tensor &tensor, const char *name, int64_t index, bool needs_data, bool &is_transposed,
                        MatrixView &out_view, const Device &device = {});
Status check_second_operand_at(const Tensor &tensor, int64_t index, bool needs_data, bool &is_transposed,
                               MatrixView &out_view, const Device &device = {});

// Computes m, n and k of a GEMM. The error states how the inner sizes differ.
Status check_inner_sizes(const GemmCall &call, GemmShape &out_shape);

// Checks the bias of GEMMs that write `c`: one vector of n, or one for each of `count` GEMMs. Without a bias, the data are
// NULL.
Status check_bias(const lpt_gemm_options &options, const GemmCall &call, int64_t count, int64_t n, const MatrixView &c,
                  MatrixView &out_bias, const Device &device = {});

// Returns the matrix at `index`, counted in row order over the leading axes. Rejects blocks of scales that span matrices.
Status matrix_at(const Tensor &tensor, const char *name, int64_t index, Tensor &out_matrix);

// Returns the product of the extents of all axes except the last two.
int64_t matrix_count(const Tensor &tensor);

}  // namespace lpt
