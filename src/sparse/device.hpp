// Masks and packing on a device: the rows of its plugin, queued one after the other.
#pragma once

#include "kernels/sparse_mask/sparse_mask.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"
#include "src/call/context.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Groups along rows of these views; those of columns come as transposed views, and are selected in scratch.
Status select_on_device(Context &context, const SparseMaskRequest &request, bool is_check_only);

// Tiles of rows and columns at once; a mask of 8 bits is always there.
Status select_tiles_on_device(Context &context, const TransposableMaskRequest &request, bool is_check_only);

// What a selection did to each row, in memory of the CPU: waits. The request's own sums are not looked at.
Status measure_on_device(Context &context, const SparseMeasureRequest &request, bool is_check_only,
                         std::span<SparseSums> sums);

// Views are checked; those without a format are not there: no mask, or an output that is not requested. A group whose mask keeps
// more than two keeps the first two of them.
struct DevicePacking {
  MatrixView source, mask;
  MatrixView compressed, transposed;
};
Status compress_on_device(Context &context, const DevicePacking &packing);

// Places are not looked at: one that is not legal is as good as any other.
Status decompress_on_device(Context &context, const MatrixView &sparse, const MatrixView &dense);

}  // namespace lpt
