#include "src/tensor/packed.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/panels.hpp"
#include "src/call/operation.hpp"

namespace lpt {
namespace {

int64_t n_of(const Tensor &packed) { return packed.extents[packed.rank - 2]; }
int64_t k_of(const Tensor &packed) { return packed.extents[packed.rank - 1]; }

// Returns the number of panels of one expert. A view keeps the strides of the tensor that it is cut from.
int64_t panels_per_expert(const Tensor &packed) {
  return panels_for(packed.rank == 2 ? n_of(packed) : packed.strides[0] / std::max<int64_t>(k_of(packed), 1));
}

// Returns the number of rows at whose multiples packed weights can be cut: a panel, or a line of block-sparse weights.
int64_t cut_unit(const Tensor &packed) {
  return packed.layout == Layout::kBlockSparse ? packed.tile_rows : kPanelLanes;
}

// Returns the number of lines of one expert in sparse packed weights.
int64_t lines_per_expert(const Tensor &sparse_packed) {
  const int64_t lanes = cut_unit(sparse_packed);
  return (panels_per_expert(sparse_packed) * kPanelLanes + lanes - 1) / lanes;
}

}  // namespace

bool is_packable(const Format &format) {
  return format.element != LPT_FORMAT_F64 && check_holds_numbers(format.id, "weights").is_ok() && !format.is_sparse;
}

int64_t filled_experts(const Tensor &packed) {
  if (n_of(packed) == 0 || k_of(packed) == 0) return 0;
  return packed.rank == 3 ? packed.extents[0] : 1;
}

size_t panels_bytes(const Tensor &packed) {
  int64_t bytes = 0;
  count_panels_bytes(packed.format, packed.rank, packed.extents, bytes);
  if (!is_sparse_packed(packed.layout)) return static_cast<size_t>(bytes);
  const int64_t panels = (packed.rank == 3 ? packed.extents[0] : 1) * panels_for(n_of(packed));
  bytes +=
      all_sparse_lines(packed) * packed.sparse_index_stride - panels * panel_size(packed.format, k_of(packed)).payload;
  for (int64_t e = 0; e < filled_experts(packed); ++e)
    bytes += static_cast<int64_t>(stored_bytes(panels_of(packed, e)));
  return static_cast<size_t>(bytes);
}

bool count_panels_bytes(const Format &format, int32_t rank, const int64_t *extents, int64_t &out_bytes) {
  constexpr int64_t kMost = int64_t{1} << 60;
  const int64_t experts = rank == 3 ? extents[0] : 1, panels = panels_for(extents[rank - 2]);
  // Checks the sizes of one expert and of all panels even if an extent is 0, because strides and line counts must not
  // overflow.
  int64_t one = 0, count = 0;
  if (!multiply(panels, panel_size(format, extents[rank - 1]).sum(), one) || one >= kMost) return false;
  if (!multiply(experts, panels, count) || !multiply(experts, one, out_bytes) || out_bytes >= kMost) return false;
  if (format.has_tensor_scale()) out_bytes += int64_t{sizeof(float)};
  return true;
}

Status create_packed(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                     std::unique_ptr<Tensor> &out_packed) {
  int64_t bytes = 0;
  if (!count_panels_bytes(format, rank, extents, bytes)) {
    return Status(LPT_OUT_OF_MEMORY, "packed weights have more bytes than can be addressed");
  }
  auto packed = std::make_unique<Tensor>();
  packed->format = format;
  packed->layout = Layout::kPanels;
  packed->rank = rank;
  for (int32_t i = 0; i < rank; ++i) packed->extents[i] = extents[i];
  const int64_t k = k_of(*packed);
  packed->strides[rank - 1] = 1;
  packed->strides[rank - 2] = k;
  if (rank == 3) packed->strides[0] = panels_for(n_of(*packed)) * kPanelLanes * k;
  const PanelSize size = panel_size(format, k);
  const int64_t panels = (rank == 3 ? extents[0] : 1) * panels_for(n_of(*packed));
  const auto space = [&](int64_t bytes) { return aligned(static_cast<size_t>(panels * bytes)); };
  const size_t scales_at = space(size.payload);
  const size_t zero_points_at = scales_at + space(size.scales);
  const size_t tensor_scale_at = zero_points_at + space(size.zero_points);
  std::shared_ptr<std::byte> memory;
  LPT_TRY(allocate_bytes(context.allocator, tensor_scale_at + kAlignment, memory));
  packed->data = memory.get();
  if (format.has_block_scale()) packed->block_scales = memory.get() + scales_at;
  if (format.has_zero_point()) packed->zero_points = reinterpret_cast<uint8_t *>(memory.get() + zero_points_at);
  if (format.has_tensor_scale()) packed->tensor_scale = reinterpret_cast<float *>(memory.get() + tensor_scale_at);
  packed->storage.fill(memory);
  out_packed = std::move(packed);
  return {};
}

MatrixView panels_of(const Tensor &packed, int64_t expert) {
  const int64_t k = k_of(packed);
  const PanelSize size = panel_size(packed.format, k);
  const int64_t first = expert * panels_per_expert(packed);
  MatrixView view;
  view.format = packed.format;
  view.layout = packed.layout;
  view.rows = n_of(packed);
  view.columns = k;
  view.row_stride = k;
  if (is_sparse_packed(packed.layout)) {
    const int64_t line = expert * lines_per_expert(packed);
    view.data = packed.data;
    view.indices = packed.sparse_indices + line * packed.sparse_index_stride;
    view.index_stride = packed.sparse_index_stride;
    view.starts = packed.starts + line;
    view.tile_rows = packed.tile_rows;
    view.tile_columns = packed.tile_columns;
  } else {
    view.data = static_cast<std::byte *>(packed.data) + first * size.payload;
  }
  if (packed.block_scales != nullptr) {
    view.block_scales = static_cast<std::byte *>(packed.block_scales) + first * size.scales;
    view.block_scale_stride = panel_blocks(packed.format, k);
  }
  if (packed.zero_points != nullptr) view.zero_points = packed.zero_points + first * size.zero_points;
  view.tensor_scale = packed.tensor_scale;
  return view;
}

Status cut_panels(const Tensor &packed, const int64_t *begins, Tensor &view) {
  const int32_t k_axis = packed.rank - 1, n_axis = packed.rank - 2;
  if (begins[k_axis] != 0 || view.extents[k_axis] != packed.extents[k_axis]) {
    return invalid("axis %d of packed weights is cut: expected all of its %lld columns", k_axis, number(k_of(packed)));
  }
  if (begins[n_axis] % cut_unit(packed) != 0) {
    return invalid("begins[%d] is %lld: these packed weights are cut at multiples of %lld", n_axis,
                   number(begins[n_axis]), number(cut_unit(packed)));
  }
  const int64_t expert = packed.rank == 3 ? begins[0] : 0;
  const int64_t first = expert * panels_per_expert(packed) + begins[n_axis] / kPanelLanes;
  const PanelSize size = panel_size(packed.format, k_of(packed));
  if (is_sparse_packed(packed.layout)) {
    const int64_t line = expert * lines_per_expert(packed) + begins[n_axis] / cut_unit(packed);
    view.sparse_indices += line * packed.sparse_index_stride;
    view.starts += line;
  } else {
    view.data = static_cast<std::byte *>(packed.data) + first * size.payload;
  }
  if (view.block_scales != nullptr) {
    view.block_scales = static_cast<std::byte *>(packed.block_scales) + first * size.scales;
  }
  if (view.zero_points != nullptr) view.zero_points += first * size.zero_points;
  return {};
}

Status check_packed(const Tensor *packed, const char *name) {
  if (packed == nullptr) return invalid("%s is NULL: expected packed weights", name);
  if (packed->kind != HandleKind::kTensor) return invalid("%s is not a live tensor", name);
  if (!is_packed(packed->layout)) {
    return invalid("%s is %s, not packed: expected a tensor of lpt_weights_pack()", name, tensor_text(*packed).c_str());
  }
  return {};
}

Tensor sparse_shape(const Format &format, int32_t rank, const int64_t *extents, const SparsePacking &packing) {
  Tensor sparse_packed;
  sparse_packed.format = format;
  sparse_packed.layout = packing.layout;
  sparse_packed.rank = rank;
  sparse_packed.tile_rows = packing.tile_rows;
  sparse_packed.tile_columns = packing.tile_columns;
  std::copy(extents, extents + rank, sparse_packed.extents);
  const int64_t n = extents[rank - 2], k = extents[rank - 1];
  sparse_packed.strides[rank - 1] = 1;
  sparse_packed.strides[rank - 2] = k;
  if (rank == 3) sparse_packed.strides[0] = panels_for(n) * kPanelLanes * k;
  sparse_packed.sparse_index_stride =
      sparse_stride(sparse_line(format, packing.layout, k, packing.tile_rows, packing.tile_columns));
  return sparse_packed;
}

Status create_sparse(Context &context, const Format &format, int32_t rank, const int64_t *extents,
                     const SparsePacking &packing, int64_t stored, std::unique_ptr<Tensor> &out_sparse) {
  auto sparse_packed = std::make_unique<Tensor>(sparse_shape(format, rank, extents, packing));
  const int64_t n = extents[rank - 2], k = extents[rank - 1];
  const SparseLine line = sparse_line(format, packing.layout, k, packing.tile_rows, packing.tile_columns);
  const bool is_filled = filled_experts(*sparse_packed) > 0;
  const int64_t lines = is_filled ? all_sparse_lines(*sparse_packed) : 0;
  const int64_t panels = is_filled ? (rank == 3 ? extents[0] : 1) * panels_for(n) : 0;
  const PanelSize size = panel_size(format, k);
  size_t bytes = 0;
  const auto space = [&](int64_t requested) {
    const size_t begin = bytes;
    bytes += aligned(static_cast<size_t>(requested));
    return begin;
  };
  // Kernels may read one memory line after the last unit.
  const size_t stored_at = space(stored * line.unit_bytes + kBitmaskLine);
  const size_t bits_at = space(lines * sparse_packed->sparse_index_stride + kBitmaskLine);
  const size_t starts_at = space((lines + 1) * static_cast<int64_t>(sizeof(int64_t)));
  const size_t scales_at = space(panels * size.scales), zero_points_at = space(panels * size.zero_points);
  const size_t tensor_scale_at = space(sizeof(float));
  std::shared_ptr<std::byte> memory;
  LPT_TRY(allocate_bytes(context.allocator, bytes, memory));
  sparse_packed->data = memory.get() + stored_at;
  sparse_packed->sparse_indices = reinterpret_cast<uint8_t *>(memory.get() + bits_at);
  sparse_packed->starts = reinterpret_cast<int64_t *>(memory.get() + starts_at);
  if (format.has_block_scale()) sparse_packed->block_scales = memory.get() + scales_at;
  if (format.has_zero_point()) sparse_packed->zero_points = reinterpret_cast<uint8_t *>(memory.get() + zero_points_at);
  if (format.has_tensor_scale())
    sparse_packed->tensor_scale = reinterpret_cast<float *>(memory.get() + tensor_scale_at);
  sparse_packed->storage.fill(memory);
  out_sparse = std::move(sparse_packed);
  return {};
}

void count_starts(const Tensor &sparse_packed, int64_t first, int64_t count) {
  // The pointer is const because only functions that create a tensor write its starts.
  auto *const starts = const_cast<int64_t *>(sparse_packed.starts);
  for (int64_t line = first; line < first + count; ++line) {
    const uint8_t *const bits = sparse_packed.sparse_indices + line * sparse_packed.sparse_index_stride;
    starts[line + 1] = starts[line] + count_bits(bits, sparse_packed.sparse_index_stride);
  }
}

}  // namespace lpt
