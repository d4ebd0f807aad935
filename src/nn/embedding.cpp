#include "src/nn/embedding.hpp"

#include <algorithm>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "src/cast/stored.hpp"
#include "src/nn/places.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_embedding_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("is_accumulated", options.is_accumulated, 1));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

// Checks indices in CPU memory and copies them. The index `ignored` becomes -1.
Status read_indices(const MatrixView &indices, int64_t classes, const int64_t *ignored, std::vector<int64_t> &places) {
  places.reserve(static_cast<size_t>(indices.columns));
  for (int64_t r = 0; r < indices.columns; ++r) {
    const int64_t index = index_at(indices, r);
    const bool is_ignored = ignored != nullptr && index == *ignored;
    if (!is_ignored && (index < 0 || index >= classes)) {
      return invalid("%s is %lld: expected 0 to %lld", item("indices", r).c_str(), number(index), number(classes - 1));
    }
    places.push_back(is_ignored ? -1 : index);
  }
  return {};
}

// Converts a row of the table to a row of the output. `kernel` is NULL if the formats are equal.
void write_row(const KernelEntry<DequantizeRequest> *kernel, const MatrixView &from, const MatrixView &to) {
  if (kernel == nullptr) {
    copy_matrix(from, to);
  } else {
    kernel->run({from, to});
  }
}

}  // namespace

Status embedding_forward(Context &context, const Tensor *weight, const Tensor *indices,
                         const lpt_embedding_options &options, Tensor *output) {
  const bool needs_data = !is_check_only(options.flags);
  const Device &device = context.queue.device();
  MatrixView table, rows, index_view;
  LPT_TRY(check_options(options));
  LPT_TRY(check_stored_matrix(weight, "weight", needs_data, table, device));
  LPT_TRY(check_wide_matrix(output, "output", needs_data, rows, device));
  LPT_TRY(check_shape(rows, "output", rows.rows, table.columns, "weight"));
  LPT_TRY(check_row_indices(indices, "indices", *output, "output", rows.rows, needs_data, index_view, device));
  LPT_TRY(check_no_overlap(rows, "output", table, "weight"));
  const bool is_here = indices->device.is_cpu();
  std::vector<int64_t> places;
  if (!is_on_cpu(context)) {
    DeviceIndices device_places;
    EmbeddingRequest request{table, nullptr, rows};
    const KernelEntry<EmbeddingRequest> *kernel = nullptr;
    LPT_TRY(select_index_kernel(context, index_view, is_here, INT64_MIN, device_places));
    LPT_TRY(select_kernel(context, "embedding", request, {table.format.id, rows.format.id}, &kernel));
    if (!needs_data) return {};
    if (is_here) LPT_TRY(read_indices(index_view, table.rows, nullptr, places));
    LPT_TRY(queue_places(context, 0, table.rows, device_places));
    request.places = device_places.request.places;
    return queue_kernel(context, *kernel, request);
  }
  const KernelEntry<DequantizeRequest> *kernel = nullptr;
  if (table.format.id != rows.format.id) {
    LPT_TRY(select_kernel(context, {"embedding_forward", dequantize_kernels}, DequantizeRequest{table, rows},
                          {table.format.id, rows.format.id}, &kernel));
  }
  if (!needs_data) return {};
  LPT_TRY(read_indices(index_view, table.rows, nullptr, places));
  const ProfileScope measure(context, "embedding_forward", kernel == nullptr ? "copy_any" : kernel->name,
                             2 * view_bytes(rows));
  parallel_parts(context, rows.rows, rows.columns, [&](int64_t begin, int64_t count) {
    for (int64_t r = begin; r < begin + count; ++r) {
      write_row(kernel, cut_rows(table, places[static_cast<size_t>(r)], 1), cut_rows(rows, r, 1));
    }
  });
  return {};
}

Status embedding_backward(Context &context, const Tensor *indices, const Tensor *output_gradient,
                          const lpt_embedding_options &options, Tensor *weight_gradient) {
  const bool needs_data = !is_check_only(options.flags);
  const Device &device = context.queue.device();
  EmbeddingGradientRequest whole{};
  MatrixView &from = whole.output_gradient, &to = whole.gradient;
  MatrixView index_view;
  LPT_TRY(check_options(options));
  LPT_TRY(check_wide_matrix(output_gradient, "output_gradient", needs_data, from, device));
  LPT_TRY(check_wide_matrix(weight_gradient, "weight_gradient", needs_data, to, device));
  LPT_TRY(check_shape(to, "weight_gradient", to.rows, from.columns, "output_gradient"));
  const lpt_format format = from.format.id == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  if (to.format.id != format) {
    return invalid("weight_gradient is %s: expected %s", format_name(to.format.id).c_str(),
                   format_name(format).c_str());
  }
  LPT_TRY(check_row_indices(indices, "indices", *output_gradient, "output_gradient", from.rows, needs_data, index_view,
                            device));
  LPT_TRY(check_no_overlap(to, "weight_gradient", from, "output_gradient"));
  whole.is_accumulated = options.is_accumulated != 0;
  const bool is_here = indices->device.is_cpu();
  std::vector<int64_t> places;
  DeviceIndices device_places;
  const KernelEntry<EmbeddingGradientRequest> *kernel = nullptr;
  if (!is_on_cpu(context)) {
    LPT_TRY(select_index_kernel(context, index_view, is_here, options.padding_index, device_places));
  }
  LPT_TRY(select_kernel(context, {"embedding_gradient", embedding_gradient_kernels}, whole,
                        {from.format.id, to.format.id}, &kernel));
  if (!needs_data) return {};
  if (is_here) LPT_TRY(read_indices(index_view, to.rows, &options.padding_index, places));
  if (!is_on_cpu(context)) {
    LPT_TRY(queue_places(context, 0, to.rows, device_places));
    whole.places = device_places.request.places;
    return queue_kernel(context, *kernel, whole);
  }
  const ProfileScope measure(context, "embedding_backward", kernel->name, 3 * view_bytes(from));
  whole.places = places.data();
  const int64_t units = from.rows + (whole.is_accumulated ? 0 : to.rows);
  whole.parts = std::max<int64_t>(split(context, units, from.columns).count, 1);
  parallel_for(context, whole.parts, [&](int64_t part) {
    EmbeddingGradientRequest own = whole;
    own.part = part;
    kernel->run(own);
  });
  return {};
}

}  // namespace lpt
