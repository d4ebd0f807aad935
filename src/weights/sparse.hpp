// Packing of sparse weights: zeros are not stored.
#pragma once

#include "src/tensor/packed.hpp"

namespace lpt {

Status check_packing(const Format &format, const lpt_weights_options &options, SparsePacking &out_packing);

// Packs panels without their zeros.
Status pack_sparse(Context &context, const Tensor &panels, const SparsePacking &packing,
                   std::unique_ptr<Tensor> &out_sparse);

}  // namespace lpt
