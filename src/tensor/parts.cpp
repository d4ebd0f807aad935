// Views of tensors, parts of tensors, and tensors that are combined from parts.
#include "src/call/operation.hpp"
#include "src/tensor/packed.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

namespace {

// Rejects a view whose edges along the folded rows or columns cut a block.
Status check_block_edges(const char *axis, int64_t begin, int64_t extent, int64_t whole, int64_t block) {
  if (begin % block != 0 || (begin + extent != whole && extent % block != 0)) {
    return invalid("the view's %s %lld to %lld cut a block: expected edges at multiples of %lld", axis, number(begin),
                   number(begin + extent), number(block));
  }
  return {};
}

// Moves the index pointer of a view. One byte has the indices of two groups of four columns, so edges are multiples of 8.
Status cut_indices(const Tensor &tensor, const int64_t *begins, const int64_t *extents, Tensor &view) {
  LPT_TRY(check_block_edges("columns", begins[1], extents[1], tensor.extents[1], 8));
  if (tensor.sparse_indices != nullptr) view.sparse_indices += begins[0] * tensor.sparse_index_stride + begins[1] / 8;
  return {};
}

}  // namespace

Status view_tensor(const Tensor &tensor, const int64_t *begins, const int64_t *extents, Tensor **out_tensor) {
  auto view = std::make_unique<Tensor>(tensor);
  const Packing packing = packing_of(tensor.format.element);
  int64_t offset = 0;
  for (int32_t i = 0; i < tensor.rank; ++i) {
    if (begins[i] < 0 || extents[i] < 0 || extents[i] > tensor.extents[i] - begins[i]) {
      return invalid("axis %d: begin %lld and extent %lld leave 0 to %lld", i, static_cast<long long>(begins[i]),
                     static_cast<long long>(extents[i]), static_cast<long long>(tensor.extents[i]));
    }
    const bool is_halved = tensor.format.is_sparse && i == tensor.rank - 1;
    offset += (is_halved ? begins[i] / 2 : begins[i]) * tensor.strides[i];
    view->extents[i] = extents[i];
  }
  if (is_packed(tensor.layout)) {
    LPT_TRY(cut_panels(tensor, begins, *view));
    *out_tensor = view.release();
    return {};
  }
  if (tensor.format.is_sparse) LPT_TRY(cut_indices(tensor, begins, extents, *view));
  if (offset % packing.elements != 0) {
    return invalid("begins[%d] is %lld: elements of %s share bytes, expected a multiple of %d", tensor.rank - 1,
                   static_cast<long long>(begins[tensor.rank - 1]), format_name(tensor.format.id).c_str(),
                   packing.elements);
  }
  if (tensor.format.has_block_scale()) {
    // If leading axes fold into rows, only the first of them can be cut.
    for (int32_t i = 1; i + 1 < tensor.rank; ++i) {
      if (extents[i] != tensor.extents[i]) {
        return invalid("axis %d of a tensor with block scales is cut: only the first and the last may be", i);
      }
    }
    const Shape shape = shape_of(tensor);
    const BlockGrid grid = block_grid(tensor.format, shape.rows, shape.columns);
    const int64_t fold = tensor.rank > 1 && tensor.extents[0] > 0 ? shape.rows / tensor.extents[0] : 1;
    const int64_t first_row = begins[0] * fold;
    const int64_t first_column = begins[tensor.rank - 1];
    const Shape part = shape_of(*view);
    // A block that spans a full axis applies to any part of it.
    if (tensor.format.block_rows != LPT_BLOCK_EXTENT_FULL) {
      LPT_TRY(check_block_edges("rows", first_row, part.rows, shape.rows, grid.block_rows));
    }
    if (tensor.format.block_columns != LPT_BLOCK_EXTENT_FULL) {
      LPT_TRY(check_block_edges("columns", first_column, part.columns, shape.columns, grid.block_columns));
    }
    const int64_t row = tensor.format.block_rows == LPT_BLOCK_EXTENT_FULL ? 0 : first_row / grid.block_rows;
    const int64_t column = tensor.format.block_columns == LPT_BLOCK_EXTENT_FULL ? 0 : first_column / grid.block_columns;
    if (view->block_scales != nullptr) {
      view->block_scales = static_cast<std::byte *>(tensor.block_scales) +
                           (row * tensor.block_scale_stride + column) * (element_bits(tensor.format.block_scale) / 8);
    }
    if (view->zero_points != nullptr) view->zero_points += row * tensor.block_scale_stride + column;
  }
  if (view->data != nullptr) {
    view->data = static_cast<std::byte *>(tensor.data) + offset / packing.elements * packing.bytes;
  }
  *out_tensor = view.release();
  return {};
}

Status part_of_tensor(const Tensor &tensor, lpt_tensor_part part, Tensor **out_tensor) {
  if (is_packed(tensor.layout)) return unsupported("tensor is packed weights: they have no parts");
  auto result = std::make_unique<Tensor>();
  lpt_format plain = LPT_FORMAT_NONE;
  if (part == LPT_TENSOR_PART_PAYLOAD) {
    *result = tensor;
    result->block_scales = nullptr;
    result->tensor_scale = nullptr;
    result->zero_points = nullptr;
    result->sparse_indices = nullptr;
    if (tensor.format.is_sparse) result->extents[1] = stored_columns(tensor.format, tensor.extents[1]);
    plain = tensor.format.element;
  } else if (part == LPT_TENSOR_PART_SPARSE_INDICES && tensor.format.is_sparse) {
    plain = LPT_FORMAT_UINT8;
    result->rank = 2;
    result->extents[0] = tensor.extents[0];
    result->extents[1] = index_bytes(tensor.extents[1]);
    result->strides[0] = tensor.sparse_index_stride;
    result->strides[1] = 1;
    result->data = tensor.sparse_indices;
    result->storage.fill(tensor.storage[static_cast<size_t>(part)]);
  } else if ((part == LPT_TENSOR_PART_BLOCK_SCALES && tensor.format.has_block_scale()) ||
             (part == LPT_TENSOR_PART_ZERO_POINTS && tensor.format.has_zero_point())) {
    const Shape shape = shape_of(tensor);
    const BlockGrid grid = block_grid(tensor.format, shape.rows, shape.columns);
    const bool is_scales = part == LPT_TENSOR_PART_BLOCK_SCALES;
    plain = is_scales ? tensor.format.block_scale : tensor.format.zero_point;
    result->rank = 2;
    result->extents[0] = grid.rows;
    result->extents[1] = grid.columns;
    result->strides[0] = tensor.block_scale_stride;
    result->strides[1] = 1;
    result->data = is_scales ? tensor.block_scales : tensor.zero_points;
    result->storage.fill(tensor.storage[static_cast<size_t>(part)]);
  } else if (part == LPT_TENSOR_PART_TENSOR_SCALE && tensor.format.has_tensor_scale()) {
    plain = tensor.format.tensor_scale;
    result->data = tensor.tensor_scale;
    result->storage.fill(tensor.storage[LPT_TENSOR_PART_TENSOR_SCALE]);
  } else {
    return invalid("part is %d: %s has no such part", part, format_name(tensor.format.id).c_str());
  }
  find_format(plain, result->format);
  result->device = tensor.device;
  result->is_read_only = tensor.is_read_only;
  *out_tensor = result.release();
  return {};
}

namespace {

Status check_scales(const Tensor &scales, const char *name, lpt_format format, int64_t rows, int64_t columns) {
  const Shape shape = shape_of(scales);
  if (scales.format.id != format) {
    return invalid("%s is %s: expected %s", name, format_name(scales.format.id).c_str(), format_name(format).c_str());
  }
  if (shape.rows * shape.columns != rows * columns || (shape.columns != columns && rows != 1 && columns != 1)) {
    return invalid("%s is %lld x %lld: expected %lld x %lld", name, static_cast<long long>(shape.rows),
                   static_cast<long long>(shape.columns), static_cast<long long>(rows),
                   static_cast<long long>(columns));
  }
  MatrixView view;
  LPT_TRY(matrix_of(scales, name, view));
  const bool is_dense =
      (view.column_stride == 1 || view.columns <= 1) && (view.row_stride == view.columns || view.rows <= 1);
  if (!is_dense) return invalid("%s is strided: expected dense scales", name);
  return {};
}

}  // namespace

namespace {

constexpr const char *kPartNames[] = {"parts[0], the payload,", "parts[1], the block scales,",
                                      "parts[2], the tensor scale,", "parts[3], the zero points,",
                                      "parts[4], the sparse indices,"};
constexpr int32_t kPartCount = 5;

// Checks that the given parts are exactly those of the format.
Status check_part_list(const Format &format, const Tensor *const *parts, int32_t part_count) {
  const bool is_requested[kPartCount] = {true, format.has_block_scale(), format.has_tensor_scale(),
                                         format.has_zero_point(), format.is_sparse};
  for (int32_t i = 0; i < kPartCount; ++i) {
    const bool is_given = i < part_count && parts[i] != nullptr;
    if (is_given && parts[i]->kind != HandleKind::kTensor) return invalid("%s is not a live tensor", kPartNames[i]);
    if (is_given && parts[i]->device != parts[0]->device) {
      return invalid("%s is %s: expected it on %s, as parts[0]", kPartNames[i], tensor_text(*parts[i]).c_str(),
                     device_text(parts[0]->device).c_str());
    }
    if (is_given != is_requested[i]) {
      return invalid("%s is %s: %s %s it", kPartNames[i], is_given ? "given" : "missing",
                     format_name(format.id).c_str(), is_requested[i] ? "needs" : "lacks");
    }
  }
  for (int32_t i = kPartCount; i < part_count; ++i) {
    if (parts[i] == nullptr) continue;
    return invalid("parts[%d] is given: %s has no such part", i, format_name(format.id).c_str());
  }
  return {};
}

// Sets the payload of `tensor`, whose format and extents are set. Small elements can be given as bytes.
Status join_payload(const Tensor &payload, Tensor &tensor) {
  const Format &format = tensor.format;
  const int64_t rows = tensor.extents[0];
  MatrixView view;
  LPT_TRY(matrix_of(payload, kPartNames[0], view));
  const Packing packing = packing_of(format.element);
  const bool is_small = element_bits(format.element) <= 8;
  const bool is_bytes = payload.format.id == LPT_FORMAT_UINT8 && is_small && payload.format.id != format.element;
  if (payload.format.id != format.element && !is_bytes) {
    return invalid("parts[0], the payload, is %s: expected %s%s", format_name(payload.format.id).c_str(),
                   format_name(format.element).c_str(), is_small ? " or uint8" : "");
  }
  const int64_t stored = stored_columns(format, tensor.extents[1]);
  const int64_t columns = is_bytes ? packed_bytes(packing, stored) : stored;
  if (view.rows != rows || view.columns != columns) {
    return invalid("parts[0], the payload, is %lld x %lld: expected %lld x %lld", number(view.rows),
                   number(view.columns), number(rows), number(columns));
  }
  if (is_bytes && view.row_stride % packing.bytes != 0 && rows > 1) {
    return invalid("parts[0], the payload, has rows of %lld bytes: expected a multiple of %d, %d elements of %s",
                   number(view.row_stride), packing.bytes, packing.elements, format_name(format.element).c_str());
  }
  if (view.column_stride != 1) {
    return invalid("parts[0], the payload, has stride %lld along its rows: expected 1", number(view.column_stride));
  }
  const int64_t packs = (view.row_stride + packing.bytes - 1) / packing.bytes;
  tensor.strides[0] = is_bytes ? packs * packing.elements : view.row_stride;
  tensor.strides[1] = 1;
  tensor.data = view.data;
  tensor.storage[LPT_TENSOR_PART_PAYLOAD] = payload.storage[0];
  return {};
}

// Sets a part other than the payload: dense, `rows` × `columns`.
Status join_part(const Tensor *const *parts, lpt_tensor_part part, lpt_format format, int64_t rows, int64_t columns,
                 Tensor &tensor, void **out_data) {
  const Tensor &given = *parts[part];
  LPT_TRY(check_scales(given, kPartNames[part], format, rows, columns));
  *out_data = given.data;
  tensor.storage[static_cast<size_t>(part)] = given.storage[0];
  return {};
}

// Sets scales, zero points and sparse indices.
Status join_others(const Tensor *const *parts, Tensor &tensor) {
  const Format &format = tensor.format;
  const int64_t rows = tensor.extents[0], columns = tensor.extents[1];
  const BlockGrid grid = block_grid(format, rows, columns);
  void *data = nullptr;
  if (format.has_block_scale()) {
    LPT_TRY(join_part(parts, LPT_TENSOR_PART_BLOCK_SCALES, format.block_scale, grid.rows, grid.columns, tensor, &data));
    tensor.block_scales = data;
    tensor.block_scale_stride = grid.columns;
  }
  if (format.has_tensor_scale()) {
    LPT_TRY(join_part(parts, LPT_TENSOR_PART_TENSOR_SCALE, format.tensor_scale, 1, 1, tensor, &data));
    tensor.tensor_scale = static_cast<float *>(data);
  }
  if (format.has_zero_point()) {
    LPT_TRY(join_part(parts, LPT_TENSOR_PART_ZERO_POINTS, format.zero_point, grid.rows, grid.columns, tensor, &data));
    tensor.zero_points = static_cast<uint8_t *>(data);
  }
  if (format.is_sparse) {
    LPT_TRY(
        join_part(parts, LPT_TENSOR_PART_SPARSE_INDICES, LPT_FORMAT_UINT8, rows, index_bytes(columns), tensor, &data));
    tensor.sparse_indices = static_cast<uint8_t *>(data);
    tensor.sparse_index_stride = index_bytes(columns);
  }
  return {};
}

}  // namespace

Status combine_tensor(lpt_format id, int64_t rows, int64_t columns, const Tensor *const *parts, int32_t part_count,
                      Tensor **out_tensor) {
  auto tensor = std::make_unique<Tensor>();
  LPT_TRY(check_format(id, tensor->format));
  if (rows < 0) return invalid("rows is %lld: expected at least 0", number(rows));
  if (columns < 0) return invalid("columns is %lld: expected at least 0", number(columns));
  const int64_t extents[2] = {rows, columns};
  LPT_TRY(check_tensor_extents(2, extents));
  LPT_TRY(check_part_list(tensor->format, parts, part_count));
  tensor->rank = 2;
  tensor->extents[0] = rows;
  tensor->extents[1] = columns;
  tensor->device = parts[LPT_TENSOR_PART_PAYLOAD]->device;
  LPT_TRY(join_payload(*parts[LPT_TENSOR_PART_PAYLOAD], *tensor));
  LPT_TRY(join_others(parts, *tensor));
  for (int32_t i = 0; i < std::min(part_count, kPartCount); ++i) {
    tensor->is_read_only |= parts[i] != nullptr && parts[i]->is_read_only;
  }
  *out_tensor = tensor.release();
  return {};
}

size_t tensor_bytes(const Tensor &tensor) {
  if (is_packed(tensor.layout)) return panels_bytes(tensor);
  const Shape shape = shape_of(tensor);
  const Format &format = tensor.format;
  const int64_t places = format.is_sparse ? index_bytes(shape.columns) : 0;
  const int64_t stored = row_bytes(format.element, stored_columns(format, shape.columns));
  const int64_t payload = shape.rows * (stored + places);
  const int64_t blocks = block_scale_count(format, shape.rows, shape.columns);
  const int64_t scales = format.has_block_scale() ? blocks * (element_bits(format.block_scale) / 8) : 0;
  return static_cast<size_t>(payload + scales + (format.has_zero_point() ? blocks : 0)) +
         (format.has_tensor_scale() ? sizeof(float) : 0);
}

}  // namespace lpt
