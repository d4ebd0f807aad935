#include "src/weights/weights.hpp"

#include "src/call/operation.hpp"
#include "src/tensor/checks.hpp"
#include "src/tensor/packed.hpp"
#include "src/tensor/panels.hpp"
#include "src/tensor/sparse_matrix.hpp"
#include "src/tensor/sparse_panels.hpp"
#include "src/weights/sparse.hpp"

namespace lpt {
namespace {

int64_t n_of(const Tensor &weights) { return weights.extents[weights.rank - 2]; }

Status check_order(const char *name, const int32_t *order, int64_t count) {
  if (order == nullptr) return {};
  std::vector<bool> is_seen(static_cast<size_t>(count), false);
  for (int64_t i = 0; i < count; ++i) {
    if (order[i] < 0 || order[i] >= count) {
      return invalid("%s[%lld] is %d: expected 0 to %lld", name, number(i), order[i], number(count - 1));
    }
    if (is_seen[static_cast<size_t>(order[i])]) {
      return invalid("%s[%lld] is %d, as one before it: expected each number once", name, number(i), order[i]);
    }
    is_seen[static_cast<size_t>(order[i])] = true;
  }
  return {};
}

// Sets the order of the blocks along k. An order of columns can move complete blocks and columns within a block.
Status find_k_blocks(const Format &format, int64_t k, PanelOrder &order) {
  if (order.columns == nullptr || !format.has_block_scale() || format.block_columns == LPT_BLOCK_EXTENT_FULL) return {};
  const int64_t length = format.block_columns;
  for (int64_t p = 0; p < k; ++p) {
    const int64_t source = order.columns[p] / length;
    if (p % length == 0) order.k_blocks.push_back(source);
    if (source != order.k_blocks.back()) {
      return invalid(
          "input_order[%lld] is %d: it mixes columns of blocks %lld and %lld, which have scales of their own",
          number(p), order.columns[p], number(order.k_blocks.back()), number(source));
    }
  }
  return {};
}

void pack_rows(Context &context, const MatrixView &rows, const PanelOrder &order, const MatrixView &panels) {
  parallel_parts(context, panels_for(rows.rows), kPanelLanes * rows.columns, [&](int64_t begin, int64_t length) {
    for (int64_t panel = begin; panel < begin + length; ++panel) pack_panel(rows, order, panel, panels);
  });
}

void unpack_panels(Context &context, const MatrixView &panels, const MatrixView &rows) {
  parallel_parts(context, panels_for(rows.rows), kPanelLanes * rows.columns, [&](int64_t begin, int64_t length) {
    for (int64_t panel = begin; panel < begin + length; ++panel) unpack_panel(panels, panel, rows);
  });
}

// Returns the scratch of one part for unpacking sparse packed weights: one panel.
size_t panel_space(const MatrixView &sparse_packed) {
  return aligned(static_cast<size_t>(panel_size(sparse_packed.format, sparse_packed.columns).payload));
}

Parts unpacked_parts(const Context &context, const MatrixView &sparse_packed) {
  return split(context, panels_for(sparse_packed.rows), kPanelLanes * sparse_packed.columns);
}

// Unpacks sparse packed weights: each thread expands one panel at a time in scratch.
Status unpack_sparse(Context &context, const MatrixView &sparse_packed, const MatrixView &rows) {
  if (rows.columns == 0) return {};  // empty weights have no starts
  const KernelEntry<ExpandRequest> *fill = nullptr;
  LPT_TRY(select_kernel(context, "expand", expand_kernels(), ExpandRequest{}, {}, &fill));
  const int64_t count = panels_for(rows.rows);
  const Parts parts = unpacked_parts(context, sparse_packed);
  const size_t bytes = panel_space(sparse_packed);
  std::byte *memory = nullptr;
  LPT_TRY(context.host_scratch->take(static_cast<size_t>(parts.count) * bytes, &memory));
  parallel_for(context, parts.count, [&](int64_t part) {
    std::byte *const mine = memory + static_cast<size_t>(part) * bytes;
    for (int64_t panel = part * parts.length; panel < std::min(count, (part + 1) * parts.length); ++panel) {
      const int64_t begin = panel * kPanelLanes, lanes = std::min(kPanelLanes, rows.rows - begin);
      MatrixView whole = panels_shape(cut_packed_rows(panels_shape(sparse_packed), begin, lanes));
      whole.data = mine;
      write_panel(*fill, sparse_packed, panel, mine);
      unpack_panel(whole, 0, cut_rows(rows, begin, lanes));
    }
  });
  return {};
}

Status unpack(Context &context, const MatrixView &packed, const MatrixView &rows) {
  if (is_sparse_packed(packed.layout)) return unpack_sparse(context, packed, rows);
  unpack_panels(context, packed, rows);
  return {};
}

// Sets the layout of unpacked rows and returns its bytes. If `memory` is NULL, it only computes the bytes.
size_t lay_out_unpacked(const MatrixView &panels, std::byte *memory, MatrixView &out_rows) {
  Format format = panels.format;
  if (format.has_block_scale()) format.block_rows = 1;
  const size_t bytes = lay_out_matrix(format, panels.rows, panels.columns, memory, out_rows);
  out_rows.format = format;
  return bytes;
}

void copy_tensor_scale(const MatrixView &from, const MatrixView &to) {
  if (from.tensor_scale != nullptr && to.tensor_scale != nullptr) *to.tensor_scale = *from.tensor_scale;
}

// Returns one matrix of a tensor of experts × n × k.
MatrixView expert_of(const MatrixView &all, int64_t rows, int64_t expert) {
  return all.rows == rows ? all : cut_rows(all, expert * rows, rows);
}

Status check_weights(const Tensor *weights, bool needs_data, MatrixView &out_view) {
  LPT_TRY(check_matrix(weights, "weights", needs_data, out_view));
  if (weights->rank != 2 && weights->rank != 3) {
    return invalid("weights is %s: expected n x k, or experts x n x k", tensor_text(*weights).c_str());
  }
  const Format &format = weights->format;
  if (!is_packable(format)) {
    return unsupported("weights is %s: GEMMs with packed weights do not take it", format_name(format.id).c_str());
  }
  const int32_t height = format.block_rows;
  if (weights->rank == 3 && format.has_block_scale() &&
      (height == LPT_BLOCK_EXTENT_FULL || n_of(*weights) % height != 0)) {
    return unsupported("weights is %s: blocks of scales span experts", tensor_text(*weights).c_str());
  }
  return {};
}

// Returns the weights to pack. A 2:4 matrix is decompressed to scratch.
Status take_weights(Context &context, const Tensor *weights, bool needs_data, MatrixView &out_view) {
  const bool is_sparse = weights != nullptr && weights->kind == HandleKind::kTensor && weights->format.is_sparse;
  if (!is_sparse) return check_weights(weights, needs_data, out_view);
  MatrixView sparse;
  LPT_TRY(check_sparse_matrix(weights, "weights", needs_data, sparse));
  if (!is_packable(dense_shape(sparse).format)) {
    return unsupported("weights is %s: GEMMs with packed weights do not take it", tensor_text(*weights).c_str());
  }
  if (needs_data) LPT_TRY(check_places(sparse, "weights"));
  return take_dense(context, sparse, !needs_data, out_view);
}

// Rejects weights on a device. Panels are a layout for CPU kernels, and device kernels gain nothing from them.
Status check_on_cpu(const Context &context, const Tensor *weights) {
  const bool is_tensor = weights != nullptr && weights->kind == HandleKind::kTensor;
  const Device &device = is_tensor ? weights->device : context.queue.device();
  if (device.is_cpu()) return {};
  return unsupported(
      "weights is on %s: only GEMMs of the CPU take packed weights, lpt_gemm() there takes them as they are",
      device_text(device).c_str());
}

}  // namespace

size_t unpacking_bytes(const Context &context, const MatrixView &packed) {
  MatrixView rows;
  const size_t bytes = lay_out_unpacked(packed, nullptr, rows);
  if (!is_sparse_packed(packed.layout) || packed.columns == 0) return bytes;
  return bytes + static_cast<size_t>(unpacked_parts(context, packed).count) * panel_space(packed);
}

Status take_unpacked(Context &context, const MatrixView &panels, bool is_check_only, MatrixView &out_rows) {
  const size_t bytes = lay_out_unpacked(panels, nullptr, out_rows);
  if (is_check_only) return {};
  std::byte *memory = nullptr;
  LPT_TRY(context.host_scratch->take(bytes, &memory));
  lay_out_unpacked(panels, memory, out_rows);
  LPT_TRY(unpack(context, panels, out_rows));
  copy_tensor_scale(panels, out_rows);
  return {};
}

Status pack_weights(Context &context, const Tensor *weights, const lpt_weights_options &options, Tensor **out_packed) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_on_cpu(context, weights));
  const bool needs_data = !is_check_only(options.flags);
  MatrixView all;
  LPT_TRY(take_weights(context, weights, needs_data, all));
  const int64_t n = n_of(*weights);
  LPT_TRY(check_order("output_order", options.output_order, n));
  LPT_TRY(check_order("input_order", options.input_order, all.columns));
  PanelOrder order{options.output_order, options.input_order, {}};
  LPT_TRY(find_k_blocks(all.format, all.columns, order));
  SparsePacking packing{};
  LPT_TRY(check_packing(all.format, options, packing));
  if (!needs_data) {
    *out_packed = nullptr;
    return {};
  }
  std::unique_ptr<Tensor> packed;
  LPT_TRY(create_packed(context, all.format, weights->rank, weights->extents, packed));
  for (int64_t e = 0; e < filled_experts(*packed); ++e) {
    pack_rows(context, expert_of(all, n, e), order, panels_of(*packed, e));
  }
  copy_tensor_scale(all, panels_of(*packed, 0));
  if (is_sparse_packed(packing.layout)) {
    std::unique_ptr<Tensor> sparse_packed;
    LPT_TRY(pack_sparse(context, *packed, packing, sparse_packed));
    packed = std::move(sparse_packed);
  }
  *out_packed = packed.release();
  return {};
}

Status unpack_weights(Context &context, const Tensor *packed, Tensor *weights) {
  LPT_TRY(check_packed(packed, "packed"));
  MatrixView all;
  LPT_TRY(check_weights(weights, true, all));
  const bool is_alike = weights->rank == packed->rank && weights->format.id == packed->format.id &&
                        std::equal(weights->extents, weights->extents + weights->rank, packed->extents);
  if (!is_alike) {
    return invalid("weights is %s: expected %s, as packed", tensor_text(*weights).c_str(),
                   tensor_text(*packed).c_str());
  }
  if (packed->format.has_block_scale() && packed->format.block_rows != 1) {
    return unsupported("packed is %s: its blocks span rows, and packing gave each row its own scales",
                       format_name(packed->format.id).c_str());
  }
  for (int64_t e = 0; e < filled_experts(*packed); ++e) {
    LPT_TRY(unpack(context, panels_of(*packed, e), expert_of(all, n_of(*weights), e)));
  }
  copy_tensor_scale(panels_of(*packed, 0), all);
  return {};
}

}  // namespace lpt
