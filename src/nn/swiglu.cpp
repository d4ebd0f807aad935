#include "src/nn/swiglu.hpp"

#include <algorithm>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/smoothing.hpp"
#include "src/cast/stored.hpp"
#include "src/nn/device.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_swiglu_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("smoothing", options.smoothing, LPT_SWIGLU_SMOOTHING_CHANNEL));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

// A matrix of wide floats in the shape of gate.
Status check_like_gate(const Tensor *tensor, const char *name, const MatrixView &gate, bool needs_data,
                       const Device &device, MatrixView &out_view) {
  LPT_TRY(check_wide_matrix(tensor, name, needs_data, out_view, device));
  return check_shape(out_view, name, gate.rows, gate.columns, "gate");
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
  if (!device.is_cpu()) {
    return swiglu_forward_on_device(context, whole, is_smoothed, static_cast<uint8_t *>(factors), !needs_data);
  }
  const KernelEntry<SwigluForwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "swiglu_forward", swiglu_forward_kernels(), whole,
                        {whole.gate.format.id, whole.up.format.id, whole.output.format.id}, &kernel));
  if (!needs_data) return {};

  const ProfileScope measure(context, "swiglu_forward", kernel->name,
                             view_bytes(whole.gate) + view_bytes(whole.up) + view_bytes(whole.output));
  const Parts parts = split(context, rows, columns);
  std::vector<float> amax(is_smoothed ? static_cast<size_t>(std::max<int64_t>(parts.count, 1) * columns) : 0, 0.0f);
  parallel_for(context, parts.count, [&](int64_t i) {
    const int64_t begin = i * parts.length;
    const int64_t count = std::min(parts.length, rows - begin);
    kernel->run(SwigluForwardRequest{cut_rows(whole.gate, begin, count), cut_rows(whole.up, begin, count),
                                     cut_rows(whole.output, begin, count),
                                     is_smoothed ? amax.data() + i * columns : nullptr});
  });
  if (!is_smoothed) return {};
  for (int64_t column = 0; column < columns; ++column) {
    float largest = 0.0f;
    for (int64_t i = 0; i < parts.count; ++i) {
      largest = std::max(largest, amax[static_cast<size_t>(i * columns + column)]);
    }
    static_cast<uint8_t *>(factors)[column] = smoothing_factor(largest);
  }
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
  if (!device.is_cpu()) return swiglu_backward_on_device(context, gate_view, up_view, whole, !needs_data);
  const int64_t chunk = stored_chunk({&gate_view, &up_view}, 1);
  Stored stored_gate, stored_up;
  LPT_TRY(stored_gate.prepare(context, gate_view, chunk, !needs_data));
  LPT_TRY(stored_up.prepare(context, up_view, chunk, !needs_data));
  whole.gate = stored_gate.numbers();
  whole.up = stored_up.numbers();
  const KernelEntry<SwigluBackwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "swiglu_backward", swiglu_backward_kernels(), whole,
                        {whole.gate.format.id, whole.up.format.id, whole.output_gradient.format.id,
                         whole.gate_gradient.format.id, whole.up_gradient.format.id},
                        &kernel));
  if (!needs_data) return {};

  const ProfileScope measure(context, "swiglu_backward", kernel->name,
                             view_bytes(gate_view) + view_bytes(up_view) + view_bytes(whole.output_gradient) +
                                 view_bytes(whole.gate_gradient) + view_bytes(whole.up_gradient));
  for (int64_t start = 0; start < gate_view.rows; start += chunk) {
    parallel_parts(
        context, std::min(chunk, gate_view.rows - start), gate_view.columns, [&](int64_t offset, int64_t count) {
          const int64_t begin = start + offset;
          kernel->run(SwigluBackwardRequest{stored_gate.rows(start, begin, count), stored_up.rows(start, begin, count),
                                            cut_rows(whole.output_gradient, begin, count),
                                            cut_rows(whole.gate_gradient, begin, count),
                                            cut_rows(whole.up_gradient, begin, count)});
        });
  }
  return {};
}

}  // namespace lpt
