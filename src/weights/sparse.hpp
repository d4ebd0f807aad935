// Packing of sparse weights: what is zero is left out.
#pragma once

#include "src/tensor/packed.hpp"

namespace lpt {

Status check_packing(const Format &format, const lpt_weights_options &options, SparsePacking &out_packing);

// Packs panels without what is zero.
Status pack_sparse(Context &context, const Tensor &panels, const SparsePacking &packing,
                   std::unique_ptr<Tensor> &out_sparse);

}  // namespace lpt
