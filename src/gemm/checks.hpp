// What the calls for GEMMs check alike.
#pragma once

#include "src/gemm/run.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Numbers of the options, and those that a GEMM takes over.
Status check_gemm_options(const lpt_gemm_options &options, GemmCall &out_gemm);

// `call` takes none, such as "a batch".
Status check_no_outliers(const lpt_gemm_options &options, const char *call);

// An operand as rows and columns; columns that are adjacent instead of rows make it a transposed one.
Status check_operand(const Tensor *tensor, const char *name, bool needs_data, bool &is_transposed, MatrixView &out_view,
                     const Device &device = {});

// The second one, which may be packed.
Status check_second_operand(const Tensor *tensor, bool needs_data, bool &is_transposed, MatrixView &out_view,
                            const Device &device = {});

// The matrix of a live operand at `index` of its leading axes, or the one of all.
Status check_operand_at(const Tensor &tensor, const char *name, int64_t index, bool needs_data, bool &is_transposed,
                        MatrixView &out_view, const Device &device = {});
Status check_second_operand_at(const Tensor &tensor, int64_t index, bool needs_data, bool &is_transposed,
                               MatrixView &out_view, const Device &device = {});

// m, n and k of a GEMM of checked views. An error says how the inner sizes differ.
Status check_inner_sizes(const GemmCall &call, GemmShape &out_shape);

// The bias of GEMMs that are written to `c`: a vector of n, or one for each of `count`. Data NULL: none.
Status check_bias(const lpt_gemm_options &options, const GemmCall &call, int64_t count, int64_t n, const MatrixView &c,
                  MatrixView &out_bias, const Device &device = {});

// The matrix at a place of the leading axes, which is `index` if they are counted through. Blocks of scales may not span
// matrices.
Status matrix_at(const Tensor &tensor, const char *name, int64_t index, Tensor &out_matrix);

// Extents of the axes before the last two, multiplied.
int64_t matrix_count(const Tensor &tensor);

}  // namespace lpt
