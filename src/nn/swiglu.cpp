#include "src/nn/swiglu.hpp"

#include <algorithm>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "kernels/activation/smoothing.hpp"
#include "src/call/launch.hpp"
#include "src/cast/stored.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_swiglu_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("smoothing", options.smoothing, LPT_SWIGLU_SMOOTHING_CHANNEL));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

// Checks a matrix of wide floats with the shape of gate.
Status check_like_gate(const Tensor *tensor, const char *name, const MatrixView &gate, bool needs_data,
                       const Device &device, MatrixView &out_view) {
  LPT_TRY(check_wide_matrix(tensor, name, needs_data, out_view, device));
  return check_shape(out_view, name, gate.rows, gate.columns, "gate");
}

SwigluForwardRequest cut_swiglu(const SwigluForwardRequest &whole, int64_t begin, int64_t count) {
  return {cut_rows(whole.gate, begin, count), cut_rows(whole.up, begin, count), cut_rows(whole.output, begin, count),
          nullptr};
}

using ForwardKernel = const KernelEntry<SwigluForwardRequest> *;

// Runs the kernel and computes a smoothing factor from the amax of each column. The amaxes of parts of the rows are combined.
void run_smoothed(Context &context, ForwardKernel kernel, const SwigluForwardRequest &whole, const Split &by_rows,
                  uint8_t *factors) {
  const ProfileScope measure(context, "swiglu_forward", kernel->name, by_rows.bytes);
  const int64_t rows = by_rows.units, columns = by_rows.work;
  const Parts parts = split(context, rows, columns);
  std::vector<float> amax(static_cast<size_t>(std::max<int64_t>(parts.count, 1) * columns), 0.0f);
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length;
    SwigluForwardRequest part = cut_swiglu(whole, begin, std::min(parts.length, rows - begin));
    part.column_amax = amax.data() + i * columns;
    kernel->run(part);
  });
  for (int64_t column = 0; column < columns; ++column) {
    float largest = 0.0f;
    for (int64_t i = 0; i < parts.count; ++i) {
      largest = std::max(largest, amax[static_cast<size_t>(i * columns + column)]);
    }
    factors[column] = smoothing_factor(largest);
  }
}

// Queues the kernel and a second kernel that computes the factors.
Status queue_smoothed(Context &context, ForwardKernel kernel, SwigluForwardRequest whole, uint8_t *factors,
                      bool is_check_only) {
  const int64_t columns = whole.gate.columns;
  const size_t bytes = static_cast<size_t>(columns) * sizeof(float);
  SmoothingRequest request{nullptr, columns, factors};
  const KernelEntry<SmoothingRequest> *smoothing = nullptr;
  LPT_TRY(select_kernel(context, "smoothing", request, {LPT_FORMAT_E8M0FNU}, &smoothing));
  if (is_check_only) return {};
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, bytes, &memory));
  LPT_TRY(context.queue.fill(memory, 0, bytes));
  request.column_amax = whole.column_amax = reinterpret_cast<float *>(memory);
  LPT_TRY(queue_kernel(context, *kernel, whole));
  return queue_kernel(context, *smoothing, request);
}

}  // namespace

Status swiglu_forward(Context &context, const Tensor *gate, const Tensor *up, const lpt_swiglu_options &options,
                      Tensor *output, Tensor *smoothing) {
  const bool needs_data = !is_check_only(options.flags);
  SwigluForwardRequest whole{};
  LPT_TRY(check_options(options));
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(gate, "gate", needs_data, whole.gate, device));
  LPT_TRY(check_like_gate(up, "up", whole.gate, needs_data, device, whole.up));
  LPT_TRY(check_like_gate(output, "output", whole.gate, needs_data, device, whole.output));
  LPT_TRY(check_no_overlap(whole.output, "output", whole.gate, "gate"));
  LPT_TRY(check_no_overlap(whole.output, "output", whole.up, "up"));
  const int64_t rows = whole.gate.rows;
  const int64_t columns = whole.gate.columns;
  void *factors = nullptr;
  const bool is_smoothed = options.smoothing == LPT_SWIGLU_SMOOTHING_CHANNEL;
  if (is_smoothed) {
    LPT_TRY(check_vector(smoothing, "smoothing", LPT_FORMAT_E8M0FNU, columns, needs_data, &factors, device));
    const MatrixView view = vector_view(LPT_FORMAT_E8M0FNU, factors, columns);
    LPT_TRY(check_no_overlap(view, "smoothing", whole.gate, "gate"));
    LPT_TRY(check_no_overlap(view, "smoothing", whole.up, "up"));
    LPT_TRY(check_no_overlap(view, "smoothing", whole.output, "output"));
  } else if (smoothing != nullptr) {
    return invalid("smoothing is given and options.smoothing is %d: expected NULL, or LPT_SWIGLU_SMOOTHING_CHANNEL",
                   options.smoothing);
  }
  const std::initializer_list<lpt_format> formats = {whole.gate.format.id, whole.up.format.id, whole.output.format.id};
  const Split by_rows{rows, columns, view_bytes(whole.gate) + view_bytes(whole.up) + view_bytes(whole.output)};
  const KernelFamily<SwigluForwardRequest> family{"swiglu_forward", swiglu_forward_kernels};
  if (!is_smoothed) return launch(context, family, whole, formats, !needs_data, by_rows, cut_swiglu);
  ForwardKernel kernel = nullptr;
  LPT_TRY(select_kernel(context, family, whole, formats, &kernel));
  if (!is_on_cpu(context)) {
    return queue_smoothed(context, kernel, whole, static_cast<uint8_t *>(factors), !needs_data);
  }
  if (needs_data) run_smoothed(context, kernel, whole, by_rows, static_cast<uint8_t *>(factors));
  return {};
}

Status swiglu_backward(Context &context, const Tensor *gate, const Tensor *up, const Tensor *output_gradient,
                       const lpt_swiglu_options &options, Tensor *gate_gradient, Tensor *up_gradient) {
  const bool needs_data = !is_check_only(options.flags);
  SwigluBackwardRequest whole{};
  LPT_TRY(check_options(options));
  MatrixView gate_view, up_view;
  const Device &device = context.queue.device();
  LPT_TRY(check_stored_matrix(gate, "gate", needs_data, gate_view, device));
  LPT_TRY(check_stored_matrix(up, "up", needs_data, up_view, device));
  LPT_TRY(check_shape(up_view, "up", gate_view.rows, gate_view.columns, "gate"));
  LPT_TRY(check_like_gate(output_gradient, "output_gradient", gate_view, needs_data, device, whole.output_gradient));
  LPT_TRY(check_like_gate(gate_gradient, "gate_gradient", gate_view, needs_data, device, whole.gate_gradient));
  LPT_TRY(check_like_gate(up_gradient, "up_gradient", gate_view, needs_data, device, whole.up_gradient));
  const struct {
    const MatrixView &view;
    const char *name;
  } outputs[] = {{whole.gate_gradient, "gate_gradient"}, {whole.up_gradient, "up_gradient"}};
  for (const auto &[view, name] : outputs) {
    LPT_TRY(check_no_overlap(view, name, gate_view, "gate"));
    LPT_TRY(check_no_overlap(view, name, up_view, "up"));
    LPT_TRY(check_no_overlap(view, name, whole.output_gradient, "output_gradient"));
  }
  LPT_TRY(check_no_overlap(whole.gate_gradient, "gate_gradient", whole.up_gradient, "up_gradient"));
  const int64_t rows = gate_view.rows;
  const int64_t chunk = stored_chunk(context, {&gate_view, &up_view}, 1);
  Stored stored_gate, stored_up;
  LPT_TRY(stored_gate.prepare(context, gate_view, std::min(chunk, rows), !needs_data));
  LPT_TRY(stored_up.prepare(context, up_view, std::min(chunk, rows), !needs_data));
  whole.gate = stored_gate.numbers();
  whole.up = stored_up.numbers();
  const KernelEntry<SwigluBackwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, {"swiglu_backward", swiglu_backward_kernels}, whole,
                        {whole.gate.format.id, whole.up.format.id, whole.output_gradient.format.id,
                         whole.gate_gradient.format.id, whole.up_gradient.format.id},
                        &kernel));
  if (!needs_data || gate_view.columns == 0) return {};

  const auto slice = [&](const MatrixView &gates, const MatrixView &ups, int64_t begin) {
    return SwigluBackwardRequest{gates, ups, cut_rows(whole.output_gradient, begin, gates.rows),
                                 cut_rows(whole.gate_gradient, begin, gates.rows),
                                 cut_rows(whole.up_gradient, begin, gates.rows)};
  };
  if (!is_on_cpu(context)) {
    for (int64_t start = 0; start < rows; start += chunk) {
      MatrixView gates, ups;
      LPT_TRY(stored_gate.queue_rows(context, start, std::min(chunk, rows - start), gates));
      LPT_TRY(stored_up.queue_rows(context, start, std::min(chunk, rows - start), ups));
      LPT_TRY(queue_kernel(context, *kernel, slice(gates, ups, start)));
    }
    return {};
  }
  const ProfileScope measure(context, "swiglu_backward", kernel->name,
                             view_bytes(gate_view) + view_bytes(up_view) + view_bytes(whole.output_gradient) +
                                 view_bytes(whole.gate_gradient) + view_bytes(whole.up_gradient));
  for (int64_t start = 0; start < rows; start += chunk) {
    parallel_parts(context, std::min(chunk, rows - start), gate_view.columns, [&](int64_t offset, int64_t count) {
      const int64_t begin = start + offset;
      kernel->run(slice(stored_gate.rows(start, begin, count), stored_up.rows(start, begin, count), begin));
    });
  }
  return {};
}

}  // namespace lpt
