// Weights in panels: packed once, read by many products.
#pragma once

#include "src/base/blob.hpp"
#include "src/ops/tensor.hpp"

namespace lpt {

Status pack_weights(Context &context, const Tensor *weights, const lpt_weights_options &options, Tensor **out_packed);
Status unpack_weights(Context &context, const Tensor *packed, Tensor *weights);

Status check_packed(const Tensor *packed, const char *name);

// One matrix of packed weights; `expert` is 0 where there is no such axis.
MatrixView panels_of(const Tensor &packed, int64_t expert);

// What unpacking makes of a view in panels: rows of the same codes, blocks of scales one row high. With memory NULL it
// only tells the size.
size_t lay_out_unpacked(const MatrixView &panels, std::byte *memory, MatrixView &out_rows);
void unpack_panels(Context &context, const MatrixView &panels, const MatrixView &rows);

// Moves a view of packed weights to its first panel; its extents are set.
Status cut_panels(const Tensor &packed, const int64_t *begins, Tensor &view);
size_t panels_bytes(const Tensor &packed);

size_t weights_state_bytes(const Tensor &packed);
BlobWriter save_weights(const Tensor &packed);
Status load_weights(Context &context, BlobReader &reader, Tensor **out_packed);

// A tensor in panels without numbers.
Status create_packed(Context &context, const Format &format, int32_t rank, const int64_t *extents, Tensor **out_packed);

// Bytes of one panel.
struct PanelSize {
  int64_t payload, scales, zero_points;
};
PanelSize panel_size(const Format &format, int64_t k);

// All panels of a tensor.
int64_t panel_count(const Tensor &packed);

}  // namespace lpt
