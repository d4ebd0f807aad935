// Exchange of tensors with other libraries by the structs of DLPack 1.x.
#pragma once

#include "src/tensor/tensor.hpp"

namespace lpt {

Status borrow_dlpack(Context &context, const void *managed, int32_t is_versioned, lpt_flags *out_flags,
                     Tensor **out_tensor);
Status take_dlpack(Context &context, void *managed, int32_t is_versioned, lpt_flags *out_flags, Tensor **out_tensor);
Status give_dlpack(const Tensor &tensor, int32_t is_versioned, void **out_managed);

}  // namespace lpt
