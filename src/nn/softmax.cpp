#include "src/nn/softmax.hpp"

#include <algorithm>
#include <cfloat>

#include "kernels/activation/activation.hpp"
#include "src/nn/device.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_softmax_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("scale", options.scale, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)));
  LPT_TRY(check_choice("is_causal", options.is_causal, 1));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  if (options.reserved_two != 0) return unsupported("reserved_two is %d: expected 0", options.reserved_two);
  if (options.exaq_bits == 0) return {};
  if (options.exaq_bits < 2 || options.exaq_bits > 4) {
    return invalid("exaq_bits is %d: expected 0, 2, 3 or 4", options.exaq_bits);
  }
  return check_finite("exaq_clip", options.exaq_clip, -10000.0, -0.001);
}

// A causal softmax has an axis of rows.
Status check_rank(const Tensor &tensor, const char *name, const lpt_softmax_options &options) {
  if (options.is_causal == 0 || tensor.rank >= 2) return {};
  return invalid("%s is %s and is_causal is 1: expected rank 2 or more", name, tensor_text(tensor).c_str());
}

// Rows of the whole, some for each thread: `row` runs what `part` makes of them.
template <typename Request, typename Part>
Status run_rows(Context &context, const char *operation, const KernelEntry<Request> &kernel,
                const SoftmaxForwardRequest &whole, const Part &part) {
  const ProfileScope measure(context, operation, kernel.name, view_bytes(whole.input) + view_bytes(whole.output));
  parallel_parts(context, whole.input.rows, whole.input.columns, [&](int64_t begin, int64_t count) {
    SoftmaxForwardRequest rows = whole;
    rows.input = cut_rows(whole.input, begin, count);
    rows.output = cut_rows(whole.output, begin, count);
    rows.first_row = begin;
    kernel.run(part(rows));
  });
  return {};
}

Status softmax_with_levels(Context &context, const SoftmaxExaqRequest &whole, bool is_check_only) {
  if (!context.queue.device().is_cpu()) return softmax_exaq_on_device(context, whole, is_check_only);
  const KernelEntry<SoftmaxExaqRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "softmax_exaq", softmax_exaq_kernels(), whole,
                        {whole.softmax.input.format.id, whole.softmax.output.format.id}, &kernel));
  if (is_check_only) return {};
  return run_rows(context, "softmax_exaq", *kernel, whole.softmax, [&](const SoftmaxForwardRequest &rows) {
    return SoftmaxExaqRequest{rows, whole.bits, whole.clip};
  });
}

}  // namespace

Status softmax_forward(Context &context, const Tensor *input, const lpt_softmax_options &options, Tensor *output) {
  const bool needs_data = !is_check_only(options.flags);
  SoftmaxForwardRequest whole{};
  LPT_TRY(check_options(options));
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(input, "input", needs_data, whole.input, device));
  LPT_TRY(check_rank(*input, "input", options));
  LPT_TRY(check_wide_matrix(output, "output", needs_data, whole.output, device));
  const int64_t rows = whole.input.rows;
  const int64_t columns = whole.input.columns;
  LPT_TRY(check_shape(whole.output, "output", rows, columns, "input"));
  LPT_TRY(check_no_overlap(whole.output, "output", whole.input, "input"));
  whole.scale = options.scale;
  whole.is_causal = options.is_causal != 0;
  whole.period = whole.is_causal ? input->extents[input->rank - 2] : rows;
  if (options.exaq_bits != 0) {
    return softmax_with_levels(context, {whole, options.exaq_bits, options.exaq_clip}, !needs_data);
  }
  if (!device.is_cpu()) return softmax_forward_on_device(context, whole, !needs_data);
  const KernelEntry<SoftmaxForwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "softmax_forward", softmax_forward_kernels(), whole,
                        {whole.input.format.id, whole.output.format.id}, &kernel));
  if (!needs_data) return {};
  return run_rows(context, "softmax_forward", *kernel, whole, [](const SoftmaxForwardRequest &rows) { return rows; });
}

Status softmax_backward(Context &context, const Tensor *output, const Tensor *output_gradient,
                        const lpt_softmax_options &options, Tensor *input_gradient) {
  const bool needs_data = !is_check_only(options.flags);
  SoftmaxBackwardRequest whole{};
  LPT_TRY(check_options(options));
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(output, "output", needs_data, whole.output, device));
  LPT_TRY(check_rank(*output, "output", options));
  LPT_TRY(check_wide_matrix(output_gradient, "output_gradient", needs_data, whole.output_gradient, device));
  LPT_TRY(check_wide_matrix(input_gradient, "input_gradient", needs_data, whole.input_gradient, device));
  const int64_t rows = whole.output.rows;
  const int64_t columns = whole.output.columns;
  LPT_TRY(check_shape(whole.output_gradient, "output_gradient", rows, columns, "output"));
  LPT_TRY(check_shape(whole.input_gradient, "input_gradient", rows, columns, "output"));
  LPT_TRY(check_no_overlap(whole.input_gradient, "input_gradient", whole.output, "output"));
  LPT_TRY(check_no_overlap(whole.input_gradient, "input_gradient", whole.output_gradient, "output_gradient"));
  whole.scale = options.scale;
  if (!device.is_cpu()) return softmax_backward_on_device(context, whole, !needs_data);
  const KernelEntry<SoftmaxBackwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "softmax_backward", softmax_backward_kernels(), whole,
                        {whole.output.format.id, whole.output_gradient.format.id, whole.input_gradient.format.id},
                        &kernel));
  if (!needs_data) return {};

  const ProfileScope measure(
      context, "softmax_backward", kernel->name,
      view_bytes(whole.output) + view_bytes(whole.output_gradient) + view_bytes(whole.input_gradient));
  parallel_parts(context, rows, columns, [&](int64_t begin, int64_t count) {
    kernel->run(SoftmaxBackwardRequest{cut_rows(whole.output, begin, count),
                                       cut_rows(whole.output_gradient, begin, count),
                                       cut_rows(whole.input_gradient, begin, count), whole.scale});
  });
  return {};
}

}  // namespace lpt
