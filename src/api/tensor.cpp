#include "src/tensor/tensor.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_tensor_create(lpt_context *context, lpt_format format, int32_t rank, const int64_t *extents,
                             lpt_tensor **out_tensor) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_tensor, "out_tensor"));
    return create_tensor(self, format, rank, extents, out_tensor);
  });
}

lpt_status lpt_tensor_create_matrix(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                                    lpt_tensor **out_tensor) {
  const int64_t extents[2] = {rows, columns};
  return lpt_tensor_create(context, format, 2, extents, out_tensor);
}

lpt_status lpt_tensor_wrap(lpt_context *context, const lpt_tensor_description *description, lpt_tensor **out_tensor) {
  return guard(context, [&](Context &self) -> Status {
    lpt_tensor_description known = LPT_TENSOR_DESCRIPTION_INIT;
    if (description == nullptr) return invalid("description is NULL: expected what to wrap");
    LPT_TRY(read_options(description, "description", known));
    LPT_TRY(check_out(out_tensor, "out_tensor"));
    return wrap_tensor(self, known, out_tensor);
  });
}

lpt_status lpt_tensor_wrap_matrix(lpt_context *context, lpt_format format, void *data, int64_t rows, int64_t columns,
                                  int64_t row_stride, lpt_tensor **out_tensor) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_tensor, "out_tensor"));
    return wrap_matrix(self, format, data, rows, columns, row_stride, out_tensor);
  });
}

lpt_status lpt_tensor_wrap_const_matrix(lpt_context *context, lpt_format format, const void *data, int64_t rows,
                                        int64_t columns, int64_t row_stride, lpt_tensor **out_tensor) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_out(out_tensor, "out_tensor"));
    return wrap_matrix(self, format, data, rows, columns, row_stride, out_tensor, LPT_TENSOR_READ_ONLY);
  });
}

lpt_status lpt_tensor_view(lpt_context *context, const lpt_tensor *tensor, const int64_t *begins,
                           const int64_t *extents, lpt_tensor **out_tensor) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(tensor, HandleKind::kTensor, "tensor"));
    if (tensor->rank > 0 && begins == nullptr) return invalid("begins is NULL: expected %d numbers", tensor->rank);
    if (tensor->rank > 0 && extents == nullptr) return invalid("extents is NULL: expected %d numbers", tensor->rank);
    LPT_TRY(check_out(out_tensor, "out_tensor"));
    return view_tensor(*tensor, begins, extents, out_tensor);
  });
}

lpt_status lpt_tensor_view_part(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part part,
                                lpt_tensor **out_tensor) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(tensor, HandleKind::kTensor, "tensor"));
    LPT_TRY(check_out(out_tensor, "out_tensor"));
    return part_of_tensor(*tensor, part, out_tensor);
  });
}

lpt_status lpt_tensor_combine(lpt_context *context, lpt_format format, int64_t rows, int64_t columns,
                              const lpt_tensor *const *parts, int32_t part_count, lpt_tensor **out_tensor) {
  return guard(context, [&](Context &) -> Status {
    if (parts == nullptr) return invalid("parts is NULL: expected an array of tensors");
    if (part_count < 1 || part_count > 64) return invalid("part_count is %d: expected 1 to 64", part_count);
    LPT_TRY(check_out(out_tensor, "out_tensor"));
    return combine_tensor(format, rows, columns, parts, part_count, out_tensor);
  });
}

lpt_status lpt_tensor_describe(lpt_context *context, const lpt_tensor *tensor,
                               lpt_tensor_description *out_description) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(tensor, HandleKind::kTensor, "tensor"));
    const lpt_tensor_description values = {sizeof values,
                                           tensor->format.id,
                                           tensor->data,
                                           tensor->rank,
                                           0,
                                           tensor->extents,
                                           tensor->strides,
                                           tensor->device.kind,
                                           tensor->device.index,
                                           tensor->is_read_only ? lpt_flags{LPT_TENSOR_READ_ONLY} : lpt_flags{0}};
    return write_values(values, "out_description", out_description);
  });
}

lpt_status lpt_tensor_size(lpt_context *context, const lpt_tensor *tensor, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(tensor, HandleKind::kTensor, "tensor"));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = tensor_bytes(*tensor);
    return {};
  });
}

lpt_status lpt_tensor_copy(lpt_context *context, const lpt_tensor *source, lpt_tensor *target) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_writable(target, "target"));
    LPT_TRY(check_handle(source, HandleKind::kTensor, "source"));
    LPT_TRY(check_handle(target, HandleKind::kTensor, "target"));
    return copy_tensor(self, *source, *target);
  });
}

void lpt_tensor_destroy(lpt_tensor *tensor) { destroy(tensor, HandleKind::kTensor); }

namespace {

bool is_live(const Tensor *tensor) { return tensor != nullptr && tensor->kind == HandleKind::kTensor; }

// Returns the index of an axis, or -1 if it does not exist. Negative values count from the last axis.
int32_t axis_of(const Tensor *tensor, int32_t axis) {
  if (!is_live(tensor)) return -1;
  const int32_t index = axis < 0 ? axis + tensor->rank : axis;
  return index >= 0 && index < tensor->rank ? index : -1;
}

}  // namespace

lpt_format lpt_tensor_format(const lpt_tensor *tensor) {
  return is_live(tensor) ? tensor->format.id : lpt_format{LPT_FORMAT_NONE};
}

int32_t lpt_tensor_rank(const lpt_tensor *tensor) { return is_live(tensor) ? tensor->rank : 0; }

int64_t lpt_tensor_extent(const lpt_tensor *tensor, int32_t axis) {
  const int32_t index = axis_of(tensor, axis);
  return index < 0 ? 0 : tensor->extents[index];
}

int64_t lpt_tensor_stride(const lpt_tensor *tensor, int32_t axis) {
  const int32_t index = axis_of(tensor, axis);
  return index < 0 ? 0 : tensor->strides[index];
}

const void *lpt_tensor_const_data(const lpt_tensor *tensor) {
  return is_live(tensor) && !is_packed(tensor->layout) ? tensor->data : nullptr;
}

void *lpt_tensor_data(lpt_tensor *tensor) {
  return is_live(tensor) && !is_packed(tensor->layout) && !tensor->is_read_only ? tensor->data : nullptr;
}

lpt_device lpt_tensor_device(const lpt_tensor *tensor, int32_t *out_index) {
  const Device device = is_live(tensor) ? tensor->device : Device{};
  if (out_index != nullptr) *out_index = device.index;
  return device.kind;
}
