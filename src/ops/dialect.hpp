// lpt_foreign_layout_size(), lpt_foreign_layout_export() and lpt_foreign_layout_import(): tensors in other libraries' layouts of bytes.
#pragma once

#include "src/ops/context.hpp"
#include "src/ops/tensor.hpp"

namespace lpt {

Status dialect_size(const Tensor *tensor, lpt_foreign_layout dialect, size_t &out_size_bytes);
Status export_dialect(Context &context, const Tensor *tensor, lpt_foreign_layout dialect, void *buffer,
                      size_t buffer_bytes);
Status import_dialect(Context &context, const void *buffer, size_t buffer_bytes, lpt_foreign_layout dialect,
                      Tensor *tensor);

}  // namespace lpt
