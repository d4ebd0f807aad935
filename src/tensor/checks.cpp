#include "src/tensor/checks.hpp"

#include <algorithm>

namespace lpt {

Status check_data(const Tensor &tensor, const char *name) {
  const Shape shape = shape_of(tensor);
  const Format &format = tensor.format;
  const bool lacks_data = tensor.data == nullptr || (format.is_sparse && tensor.sparse_indices == nullptr) ||
                          (format.has_block_scale() && tensor.block_scales == nullptr) ||
                          (format.has_tensor_scale() && tensor.tensor_scale == nullptr) ||
                          (format.has_zero_point() && tensor.zero_points == nullptr);
  if (!lacks_data || shape.rows == 0 || shape.columns == 0) return {};
  return invalid("%s is %s without data: only LPT_CHECK_ONLY takes that", name, tensor_text(tensor).c_str());
}

Status check_tensor(const Tensor *tensor, const char *name, const Device &device) {
  if (tensor == nullptr) return invalid("%s is NULL: expected a tensor", name);
  if (tensor->kind != HandleKind::kTensor) return invalid("%s is not a live tensor", name);
  if (tensor->device == device) return {};
  if (device.is_cpu()) {
    return unsupported("%s is %s: no kernel there takes it, expected memory of the CPU; see lpt_tensor_copy()", name,
                       tensor_text(*tensor).c_str());
  }
  return invalid("%s is %s on %s: expected %s, where the context works", name, tensor_text(*tensor).c_str(),
                 device_text(tensor->device).c_str(), device_text(device).c_str());
}

Status check_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                    const Device &device) {
  LPT_TRY(check_any_matrix(tensor, name, needs_data, out_view, device));
  return is_index_format(out_view.format.id) ? check_holds_numbers(out_view.format.id, name) : Status();
}

Status check_any_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                        const Device &device) {
  LPT_TRY(check_tensor(tensor, name, device));
  LPT_TRY(matrix_of(*tensor, name, out_view));
  const bool is_empty = out_view.rows == 0 || out_view.columns == 0;
  if (needs_data) LPT_TRY(check_data(*tensor, name));
  if (out_view.column_stride != 1 && !is_empty) {
    return unsupported("%s has stride %lld along its rows: expected 1", name, number(out_view.column_stride));
  }
  return {};
}

Status check_vector(const Tensor *tensor, const char *name, lpt_format format, int64_t count, bool needs_data,
                    void **out_data, const Device &device) {
  MatrixView view;
  LPT_TRY(check_matrix(tensor, name, needs_data, view, device));
  if (view.rows != 1 || view.columns != count) {
    return invalid("%s is %s: expected a vector of %lld", name, tensor_text(*tensor).c_str(), number(count));
  }
  if (view.format.id != format) {
    return invalid("%s is %s: expected %s", name, format_name(view.format.id).c_str(), format_name(format).c_str());
  }
  *out_data = view.data;
  return {};
}

Status check_indices(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                     const Device &device) {
  const bool is_on_cpu = tensor != nullptr && tensor->kind == HandleKind::kTensor && tensor->device.is_cpu();
  LPT_TRY(check_any_matrix(tensor, name, needs_data, out_view, is_on_cpu ? Device() : device));
  if (!is_index_format(out_view.format.id)) {
    return invalid("%s is %s: expected int32 or int64", name, format_name(out_view.format.id).c_str());
  }
  if (out_view.rows > 1 && out_view.row_stride != out_view.columns) {
    return unsupported("%s has stride %lld from row to row: expected dense indices", name, number(out_view.row_stride));
  }
  out_view = vector_view(out_view.format.id, out_view.data, out_view.rows * out_view.columns);
  return {};
}

Status check_row_indices(const Tensor *tensor, const char *name, const Tensor &rows_of, const char *rows_name,
                         int64_t rows, bool needs_data, MatrixView &out_view, const Device &device) {
  LPT_TRY(check_indices(tensor, name, needs_data, out_view, device));
  const bool is_vector = shape_of(*tensor).rows == 1 && out_view.columns == rows;
  const bool has_leading_axes =
      tensor->rank == rows_of.rank - 1 && std::equal(tensor->extents, tensor->extents + tensor->rank, rows_of.extents);
  if (is_vector || has_leading_axes) return {};
  return invalid("%s is %s: expected a vector of %lld, or the leading axes of %s, %s", name,
                 tensor_text(*tensor).c_str(), number(rows), rows_name, tensor_text(rows_of).c_str());
}

int64_t index_at(const MatrixView &indices, int64_t place) {
  return indices.format.id == LPT_FORMAT_INT64 ? static_cast<const int64_t *>(indices.data)[place]
                                               : static_cast<const int32_t *>(indices.data)[place];
}

Status check_wide_matrix(const Tensor *tensor, const char *name, bool needs_data, MatrixView &out_view,
                         const Device &device) {
  LPT_TRY(check_matrix(tensor, name, needs_data, out_view, device));
  return check_wide_float(out_view, name);
}

}  // namespace lpt
