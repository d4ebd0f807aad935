// lpt_foreign_layout_size(), lpt_foreign_layout_export() and lpt_foreign_layout_import(): conversion from and to the layouts
// of other libraries.
#pragma once

#include "src/call/context.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status foreign_layout_size(const Tensor *tensor, lpt_foreign_layout foreign_layout, size_t &out_size_bytes);
Status export_foreign_layout(Context &context, const Tensor *tensor, lpt_foreign_layout foreign_layout, void *buffer,
                             size_t buffer_bytes);
Status import_foreign_layout(Context &context, const void *buffer, size_t buffer_bytes,
                             lpt_foreign_layout foreign_layout, Tensor *tensor);

}  // namespace lpt
