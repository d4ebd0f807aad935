// LPT_FOREIGN_LAYOUT_MMA_SPARSE and LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE: 2:4 matrices in the orders that GPUs read.
#pragma once

#include "src/call/context.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

bool is_sparse_layout(lpt_foreign_layout foreign_layout);

// Rejects elements and shapes that the foreign layout does not support.
Status plan_sparse_layout(const MatrixView &sparse, lpt_foreign_layout foreign_layout, size_t &out_bytes);

// Convert views that plan_sparse_layout() accepted. Invalid indices are rejected before any output is written.
Status export_sparse_layout(Context &context, const MatrixView &sparse, lpt_foreign_layout foreign_layout,
                            uint8_t *buffer);
Status import_sparse_layout(Context &context, const uint8_t *buffer, lpt_foreign_layout foreign_layout,
                            const MatrixView &sparse);

}  // namespace lpt
