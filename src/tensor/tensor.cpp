#include "src/tensor/tensor.hpp"

#include <cstring>

#include "src/call/operation.hpp"

namespace lpt {
namespace {

// Returns the code of 1 as an 8-bit scale: e8m0fnu or e4m3fn.
uint8_t unit_scale_code(lpt_format block_scale) { return block_scale == LPT_FORMAT_E8M0FNU ? 127 : 0x38; }

// Indices of two empty groups, which store their first two columns.
constexpr uint8_t kFirstTwo = 0x44;

void set_dense_strides(Tensor &tensor) {
  int64_t stride = 1;
  for (int32_t i = tensor.rank - 1; i >= 0; --i) {
    tensor.strides[i] = stride;
    const bool is_last = i == tensor.rank - 1;
    stride = is_last ? dense_row_stride(tensor.format.element, stored_columns(tensor.format, tensor.extents[i]))
                     : stride * tensor.extents[i];
  }
}

}  // namespace

Status check_tensor_extents(int32_t rank, const int64_t *extents) {
  if (rank < 0 || rank > kMostAxes) return invalid("rank is %d: expected 0 to %d", rank, kMostAxes);
  if (rank > 0 && extents == nullptr) return invalid("extents is NULL: expected %d numbers", rank);
  int64_t total = 1;
  for (int32_t i = 0; i < rank; ++i) {
    if (extents[i] < 0)
      return invalid("extents[%d] is %lld: expected at least 0", i, static_cast<long long>(extents[i]));
    // The limit prevents overflow of bit counts.
    if (!multiply(total, extents[i] == 0 ? 1 : extents[i], total) || total > (int64_t{1} << 56)) {
      return invalid("extents[%d] is %lld: the product of the extents does not fit: expected at most 2^56", i,
                     static_cast<long long>(extents[i]));
    }
  }
  return {};
}

void set_unit_scales(const MatrixView &view) {
  if (view.tensor_scale != nullptr) *view.tensor_scale = 1.0f;
  set_unit_block_scales(view);
}

void set_unit_block_scales(const MatrixView &view) {
  const int64_t count = block_scale_count(view.format, view.rows, view.columns);
  if (view.zero_points != nullptr) std::memset(view.zero_points, 0, static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    switch (view.format.block_scale) {
      case LPT_FORMAT_F32:
        static_cast<float *>(view.block_scales)[i] = 1.0f;
        break;
      default:
        static_cast<uint8_t *>(view.block_scales)[i] = unit_scale_code(view.format.block_scale);
        break;
    }
  }
}

Shape shape_of(const Tensor &tensor) {
  if (tensor.rank == 0) return {1, 1};
  Shape shape{1, tensor.extents[tensor.rank - 1]};
  for (int32_t i = 0; i + 1 < tensor.rank; ++i) shape.rows *= tensor.extents[i];
  return shape;
}

namespace {

// Allocates zeroed memory on the device of the context.
Status allocate_on(Context &context, size_t bytes, std::shared_ptr<std::byte> &out_memory) {
  if (is_on_cpu(context)) return allocate_bytes(context.allocator, bytes, out_memory);
  LPT_TRY(allocate_uncleared(context.device_allocator, bytes, out_memory));
  return context.queue.fill(out_memory.get(), 0, bytes);
}

Status set_unit_parts(const MatrixView &view) {
  set_unit_scales(view);
  if (view.indices != nullptr) {
    std::memset(view.indices, kFirstTwo, static_cast<size_t>(view.rows * view.index_stride));
  }
  return {};
}

// set_unit_parts() for a GPU, whose memory is zeroed. Only f32 scales are not a repeated byte, so they are copied.
Status queue_unit_parts(const Queue &queue, const MatrixView &view) {
  const auto count = static_cast<size_t>(block_scale_count(view.format, view.rows, view.columns));
  const bool has_wide_scales = view.format.block_scale == LPT_FORMAT_F32 && count > 0;
  const std::vector<float> ones(has_wide_scales ? count : 1, 1.0f);
  if (view.indices != nullptr) {
    LPT_TRY(queue.fill(view.indices, kFirstTwo, static_cast<size_t>(view.rows * view.index_stride)));
  }
  if (view.format.has_block_scale() && !has_wide_scales) {
    LPT_TRY(queue.fill(view.block_scales, unit_scale_code(view.format.block_scale), count));
  }
  const auto copy_ones = [&](void *target, size_t numbers) {
    const auto bytes = static_cast<int64_t>(numbers * sizeof(float));
    return queue.copy({target, bytes, ones.data(), bytes, bytes, 1});
  };
  if (view.tensor_scale != nullptr) LPT_TRY(copy_ones(view.tensor_scale, 1));
  if (has_wide_scales) LPT_TRY(copy_ones(view.block_scales, count));
  // The copies read `ones`, so they must complete before this function returns.
  return view.tensor_scale != nullptr || has_wide_scales ? queue.synchronize() : Status();
}

}  // namespace

Status create_tensor(Context &context, lpt_format id, int32_t rank, const int64_t *extents, Tensor **out_tensor) {
  Format format;
  LPT_TRY(check_format(id, format));
  LPT_TRY(check_tensor_extents(rank, extents));
  if (!format.is_plain() && rank < 2) {
    return invalid("rank is %d: %s has scales and takes rank 2 or more", rank, format_name(id).c_str());
  }
  if (format.is_sparse && rank != 2) {
    return invalid("rank is %d: %s is sparse and takes rank 2", rank, format_name(id).c_str());
  }
  auto tensor = std::make_unique<Tensor>();
  tensor->format = format;
  tensor->rank = rank;
  for (int32_t i = 0; i < rank; ++i) tensor->extents[i] = extents[i];
  set_dense_strides(*tensor);
  const Shape shape = shape_of(*tensor);
  MatrixView view;
  const size_t places = aligned(static_cast<size_t>(format.is_sparse ? shape.rows * index_bytes(shape.columns) : 0));
  const size_t bytes = lay_out_matrix(format, shape.rows, shape.columns, nullptr, view);
  std::shared_ptr<std::byte> memory;
  LPT_TRY(allocate_on(context, bytes + places, memory));
  lay_out_matrix(format, shape.rows, shape.columns, memory.get(), view);
  if (format.is_sparse) {
    view.indices = reinterpret_cast<uint8_t *>(memory.get() + bytes);
    view.index_stride = tensor->sparse_index_stride = index_bytes(shape.columns);
    tensor->sparse_indices = view.indices;
  }
  LPT_TRY(is_on_cpu(context) ? set_unit_parts(view) : queue_unit_parts(context.queue, view));
  tensor->device = context.queue.device();
  tensor->data = view.data;
  tensor->block_scales = view.block_scales;
  tensor->block_scale_stride = view.block_scale_stride;
  tensor->tensor_scale = view.tensor_scale;
  tensor->zero_points = view.zero_points;
  tensor->storage.fill(memory);
  *out_tensor = tensor.release();
  return {};
}

Status wrap_tensor(Context &context, const lpt_tensor_description &description, Tensor **out_tensor) {
  Format format;
  LPT_TRY(check_format(description.format, format));
  if (!format.is_plain() || format.is_sparse) {
    return invalid("format is %s: it has %s; wrap its parts and join them with lpt_tensor_combine()",
                   format_name(format.id).c_str(), format.is_plain() ? "indices" : "scales");
  }
  LPT_TRY(check_tensor_extents(description.rank, description.extents));
  if (description.reserved != 0) return unsupported("reserved is %d: expected 0", description.reserved);
  if ((description.flags & ~(LPT_TENSOR_READ_ONLY | LPT_TENSOR_UNCHECKED)) != 0) {
    return unsupported("flags is %llu: expected LPT_TENSOR_READ_ONLY, LPT_TENSOR_UNCHECKED or 0",
                       static_cast<unsigned long long>(description.flags));
  }
  const Packing packing = packing_of(format.element);
  const auto bytes = static_cast<uintptr_t>(packing.elements == 1 ? packing.bytes : 1);
  if (reinterpret_cast<uintptr_t>(description.data) % bytes != 0) {
    return invalid("data is %p: expected an address that %d divides, the bytes of %s", description.data,
                   static_cast<int>(bytes), format_name(format.id).c_str());
  }
  const Device device = context.queue.device();
  const bool is_checked = (description.flags & LPT_TENSOR_UNCHECKED) == 0;
  if (!device.is_cpu() && is_checked && description.data != nullptr) {
    LPT_TRY(context.queue.check(description.data, "data"));
  }
  auto tensor = std::make_unique<Tensor>();
  tensor->format = format;
  tensor->rank = description.rank;
  tensor->data = description.data;
  tensor->device = device;
  tensor->is_read_only = (description.flags & LPT_TENSOR_READ_ONLY) != 0;
  for (int32_t i = 0; i < description.rank; ++i) tensor->extents[i] = description.extents[i];
  if (description.strides == nullptr) {
    set_dense_strides(*tensor);
  } else {
    const bool is_packed = packing.elements > 1;
    for (int32_t i = 0; i < description.rank; ++i) {
      const int64_t stride = description.strides[i];
      const bool is_last = i == description.rank - 1;
      if (stride < 0) return invalid("strides[%d] is %lld: expected at least 0", i, static_cast<long long>(stride));
      if (is_packed && (is_last ? stride != 1 : stride % packing.elements != 0)) {
        return invalid("strides[%d] is %lld: %s is packed, so the last stride is 1 and the others are multiples of %d",
                       i, static_cast<long long>(stride), format_name(format.id).c_str(), packing.elements);
      }
      if (stride == 0 && tensor->extents[i] > 1) {
        return invalid("strides[%d] is 0: the %lld elements of that axis would share memory", i,
                       static_cast<long long>(tensor->extents[i]));
      }
      int64_t reach;
      if (!multiply(stride, tensor->extents[i], reach) || reach > (int64_t{1} << 56)) {
        return invalid("strides[%d] is %lld: times extent %lld it does not fit", i, static_cast<long long>(stride),
                       static_cast<long long>(tensor->extents[i]));
      }
      tensor->strides[i] = stride;
    }
  }
  *out_tensor = tensor.release();
  return {};
}

Status wrap_matrix(Context &context, lpt_format format, const void *data, int64_t rows, int64_t columns,
                   int64_t row_stride, Tensor **out_tensor, uint64_t flags) {
  if (rows < 0) return invalid("rows is %lld: expected at least 0", static_cast<long long>(rows));
  if (columns < 0) return invalid("columns is %lld: expected at least 0", static_cast<long long>(columns));
  if (row_stride != 0 && row_stride < columns) {
    return invalid("row_stride is %lld: expected 0 or at least columns, %lld", static_cast<long long>(row_stride),
                   static_cast<long long>(columns));
  }
  const int64_t extents[2] = {rows, columns};
  const int64_t strides[2] = {row_stride, 1};
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = format;
  description.data = const_cast<void *>(data);
  description.rank = 2;
  description.extents = extents;
  description.strides = row_stride == 0 ? nullptr : strides;
  description.flags = flags;
  return wrap_tensor(context, description, out_tensor);
}

Status matrix_of(const Tensor &tensor, const char *name, MatrixView &out_view) {
  if (is_packed(tensor.layout)) {
    return unsupported("%s is packed weights, %s: only GEMMs take such, as b", name, tensor_text(tensor).c_str());
  }
  if (tensor.format.is_sparse) {
    return unsupported("%s is sparse, %s: expected a dense one, see lpt_sparse_decompress()", name,
                       tensor_text(tensor).c_str());
  }
  const Shape shape = shape_of(tensor);
  out_view = MatrixView{tensor.format,       tensor.data,
                        shape.rows,          shape.columns,
                        shape.columns,       1,
                        tensor.block_scales, tensor.block_scale_stride,
                        tensor.tensor_scale, tensor.zero_points};
  if (tensor.rank >= 1) out_view.column_stride = tensor.strides[tensor.rank - 1];
  if (tensor.rank >= 2) out_view.row_stride = tensor.strides[tensor.rank - 2];
  if (shape.rows == 0 || shape.columns == 0) {
    out_view.row_stride = out_view.block_scale_stride = 0;  // data can be NULL: every row has the same address
    return {};
  }
  // Axis i folds into the next axis if its stride equals the stride times the extent of that axis. Axes of extent 1 are
  // skipped.
  int64_t inner = tensor.rank - 2;
  for (int32_t i = tensor.rank - 3; i >= 0; --i) {
    if (tensor.extents[i] == 1) continue;
    if (tensor.extents[inner] == 1) {
      // The inner axes have one row, so the stride of this axis is the row stride.
      out_view.row_stride = tensor.strides[i];
    } else if (tensor.strides[i] != tensor.strides[inner] * tensor.extents[inner]) {
      return unsupported("%s: axis %d with stride %lld does not fold into axis %d with stride %lld and extent %lld",
                         name, i, static_cast<long long>(tensor.strides[i]), static_cast<int>(inner),
                         static_cast<long long>(tensor.strides[inner]), static_cast<long long>(tensor.extents[inner]));
    }
    inner = i;
  }
  if (shape.columns == 1) out_view.column_stride = 1;
  return {};
}

Status sparse_matrix_of(const Tensor &tensor, const char *name, MatrixView &out_view) {
  if (!tensor.format.is_sparse) {
    return unsupported("%s is %s: expected a 2:4 format", name, tensor_text(tensor).c_str());
  }
  out_view = MatrixView{tensor.format,
                        tensor.data,
                        tensor.extents[0],
                        tensor.extents[1],
                        tensor.strides[0],
                        1,
                        tensor.block_scales,
                        tensor.block_scale_stride,
                        tensor.tensor_scale,
                        nullptr,
                        Layout::kSparse,
                        tensor.sparse_indices,
                        tensor.sparse_index_stride};
  if (out_view.columns == 0) out_view.row_stride = out_view.block_scale_stride = out_view.index_stride = 0;
  return {};
}

std::string tensor_text(const Tensor &tensor) {
  std::string result;
  for (int32_t i = 0; i < tensor.rank; ++i) {
    result += text(i == 0 ? "%lld" : " x %lld", static_cast<long long>(tensor.extents[i]));
  }
  if (tensor.rank == 0) result = "scalar";
  result.append(" ").append(format_name(tensor.format.id));
  return tensor.device.is_cpu() ? result : result + " on " + device_text(tensor.device);
}

}  // namespace lpt
