// Weights in panels: packed once, read by many GEMMs.
#pragma once

#include "src/base/blob.hpp"
#include "src/ops/tensor.hpp"

namespace lpt {

Status pack_weights(Context &context, const Tensor *weights, const lpt_weights_options &options, Tensor **out_packed);
Status unpack_weights(Context &context, const Tensor *packed, Tensor *weights);

Status order_weights(Context &context, const Tensor *weights, const lpt_weights_options &options, int32_t *order,
                     int64_t &out_given_count, int64_t &out_count);

Status check_packed(const Tensor *packed, const char *name);

// One matrix of packed weights; `expert` is 0 where there is no such axis.
MatrixView panels_of(const Tensor &packed, int64_t expert);

// Scratch that take_unpacked() takes.
size_t unpacking_bytes(const Context &context, const MatrixView &packed);

// What unpacking makes of packed weights, in the context's scratch: rows of the same codes, blocks of scales one row
// high; with `is_check_only` without data.
Status take_unpacked(Context &context, const MatrixView &panels, bool is_check_only, MatrixView &out_rows);

// Moves a view of packed weights to its first panel; its extents are set.
Status cut_panels(const Tensor &packed, const int64_t *begins, Tensor &view);

// Bytes of all panels and of the tensor scale, without gaps.
size_t panels_bytes(const Tensor &packed);

// The same of a tensor that is not there yet; false: more than can be counted.
bool count_panels_bytes(const Format &format, int32_t rank, const int64_t *extents, int64_t &out_bytes);

size_t weights_state_bytes(const Tensor &packed);
BlobWriter save_weights(const Tensor &packed);
Status load_weights(Context &context, BlobReader &reader, Tensor **out_packed);

// A tensor in panels, all zeros.
Status create_packed(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                     std::unique_ptr<Tensor> &out_packed);

// Whether panels can hold elements of a format.
bool is_packable(const Format &format);

// Matrices of packed weights that hold numbers: none where an extent is 0.
int64_t filled_experts(const Tensor &packed);

}  // namespace lpt
