// lpt_sparse_mask_…(): masks that keep N of every M elements.
#pragma once

#include "lpt/research/sparsity.h"
#include "src/call/context.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status select_sparse_mask(Context &context, const Tensor *source, const lpt_sparse_options &options, Tensor *mask,
                          Tensor *masked, lpt_sparse_info *out_info);
Status check_sparse_mask(Context &context, const Tensor *mask, int32_t kept, int32_t of, lpt_sparse_direction direction,
                         int64_t *out_count);
Status compare_sparse_masks(Context &context, const Tensor *mask, const Tensor *other, int64_t *out_count);
Status apply_sparse_mask(Context &context, const Tensor *source, const Tensor *mask, Tensor *output);
Status compress_sparse(Context &context, const Tensor *source, const Tensor *mask, Tensor *compressed,
                       Tensor *transposed);
Status decompress_sparse(Context &context, const Tensor *compressed, Tensor *output);
Status decay_masked(Context &context, const Tensor *weight, const Tensor *mask, double rate, Tensor *gradient);

Status absorb_masked(Context &context, const Tensor *source, const Tensor *mask, int32_t of,
                     lpt_sparse_direction direction, Tensor *output);
Status count_sparse_masks(int32_t kept, int32_t of, lpt_sparse_direction direction, lpt_sparse_count count,
                          double *out_bits);
Status choose_kept(double zero_share, int32_t of, double confidence, int32_t *out_kept);
Status order_sparse(Context &context, const Tensor *weight, const lpt_sparse_options &options, int32_t *order,
                    lpt_sparse_info &out_info);

}  // namespace lpt
