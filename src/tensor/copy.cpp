// Copies of tensors between memory of any devices.
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status matrix_with_places(const Tensor &tensor, const char *name, MatrixView &out_view) {
  LPT_TRY(tensor.format.is_sparse ? sparse_matrix_of(tensor, name, out_view) : matrix_of(tensor, name, out_view));
  const bool is_empty = out_view.rows == 0 || out_view.columns == 0;
  if (out_view.column_stride == 1 || is_empty) return check_data(tensor, name);
  return unsupported("%s has stride %lld along its rows: expected 1", name, number(out_view.column_stride));
}

Status check_alike(const Tensor &source, const Tensor &target) {
  const bool is_alike = source.format.id == target.format.id && source.rank == target.rank &&
                        std::equal(source.extents, source.extents + source.rank, target.extents);
  if (is_alike) return {};
  return invalid("target is %s: expected %s, as source", tensor_text(target).c_str(), tensor_text(source).c_str());
}

// Rejects memory that the queue of the context cannot access: it copies between its device, the CPU, and other devices of its
// kind.
Status check_reach(const Context &context, const Tensor &tensor, const char *name, const Tensor &other) {
  const Device &own = context.queue.device();
  const bool is_neighbour = tensor.device.kind == own.kind && other.device == own;
  if (tensor.device.is_cpu() || tensor.device == own || is_neighbour) return {};
  return invalid("%s is %s: expected the CPU%s, where the context works", name, tensor_text(tensor).c_str(),
                 own.is_cpu() ? "" : (" or " + device_text(own)).c_str());
}

// Queues a copy of one part of a tensor.
Status queue_copy(const Queue &queue, const Tensor &source, const Tensor &target, const CopyRequest &request) {
  const bool is_between = !source.device.is_cpu() && !target.device.is_cpu() && !(source.device == target.device);
  return is_between ? queue.copy_between(request, target.device, source.device) : queue.copy(request);
}

// Returns the copy request for the elements.
CopyRequest payload_of(const MatrixView &source, const MatrixView &target) {
  const lpt_format element = source.format.element;
  return {target.data,
          row_bytes(element, target.row_stride),
          source.data,
          row_bytes(element, source.row_stride),
          row_bytes(element, stored_columns(source.format, source.columns)),
          source.rows};
}

// Returns the copy request for a part with one entry of `bytes` bytes per block.
CopyRequest blocks_of(const void *source, const void *target, const MatrixView &from, const MatrixView &to,
                      int64_t bytes) {
  const BlockGrid grid = block_grid(from.format, from.rows, from.columns);
  return {const_cast<void *>(target),      to.block_scale_stride * bytes, source,
          from.block_scale_stride * bytes, grid.columns * bytes,          grid.rows};
}

}  // namespace

Status copy_tensor(Context &context, const Tensor &source, const Tensor &target) {
  LPT_TRY(check_reach(context, source, "source", target));
  LPT_TRY(check_reach(context, target, "target", source));
  LPT_TRY(check_alike(source, target));
  MatrixView from, to;
  LPT_TRY(matrix_with_places(source, "source", from));
  LPT_TRY(matrix_with_places(target, "target", to));
  if (from.rows == 0 || from.columns == 0) return {};
  LPT_TRY(check_no_overlap(to, "target", from, "source"));
  const auto copy = [&](const CopyRequest &request) { return queue_copy(context.queue, source, target, request); };
  const Format &format = from.format;
  LPT_TRY(copy(payload_of(from, to)));
  if (format.has_block_scale()) {
    LPT_TRY(copy(blocks_of(from.block_scales, to.block_scales, from, to, element_bits(format.block_scale) / 8)));
  }
  if (format.has_zero_point()) LPT_TRY(copy(blocks_of(from.zero_points, to.zero_points, from, to, 1)));
  if (format.has_tensor_scale()) {
    constexpr int64_t kBytes = sizeof(float);
    LPT_TRY(copy({to.tensor_scale, kBytes, from.tensor_scale, kBytes, kBytes, 1}));
  }
  if (!format.is_sparse) return {};
  return copy({to.indices, to.index_stride, from.indices, from.index_stride, index_bytes(from.columns), from.rows});
}

}  // namespace lpt
