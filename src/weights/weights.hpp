// Weights in panels: packed once, read by many GEMMs.
#pragma once

#include "src/base/blob.hpp"
#include "src/tensor/packed.hpp"

namespace lpt {

Status pack_weights(Context &context, const Tensor *weights, const lpt_weights_options &options, Tensor **out_packed);
Status unpack_weights(Context &context, const Tensor *packed, Tensor *weights);

Status order_weights(Context &context, const Tensor *weights, const lpt_weights_options &options, int32_t *order,
                     int64_t &out_given_count, int64_t &out_count);

// Returns the scratch bytes of take_unpacked().
size_t unpacking_bytes(const Context &context, const MatrixView &packed);

// Unpacks packed weights to scratch of the context. The rows have the same codes, with blocks of scales that are one row
// high. With `is_check_only` the result has no data.
Status take_unpacked(Context &context, const MatrixView &panels, bool is_check_only, MatrixView &out_rows);

size_t weights_state_bytes(const Tensor &packed);
BlobWriter save_weights(const Tensor &packed);
Status load_weights(Context &context, BlobReader &reader, Tensor **out_packed);

}  // namespace lpt
