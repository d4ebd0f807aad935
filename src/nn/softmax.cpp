#include "src/nn/softmax.hpp"

#include <cfloat>

#include "kernels/activation/activation.hpp"
#include "src/call/launch.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_softmax_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("scale", options.scale, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)));
  LPT_TRY(check_choice("is_causal", options.is_causal, 1));
  return options.reserved == 0 ? Status() : unsupported("reserved is %d: expected 0", options.reserved);
}

// A causal softmax needs an axis of rows.
Status check_rank(const Tensor &tensor, const char *name, const lpt_softmax_options &options) {
  if (options.is_causal == 0 || tensor.rank >= 2) return {};
  return invalid("%s is %s and is_causal is 1: expected rank 2 or more", name, tensor_text(tensor).c_str());
}

SoftmaxForwardRequest cut_softmax(const SoftmaxForwardRequest &whole, int64_t begin, int64_t count) {
  SoftmaxForwardRequest rows = whole;
  rows.input = cut_rows(whole.input, begin, count);
  rows.output = cut_rows(whole.output, begin, count);
  rows.first_row = begin;
  if (whole.log_sums == nullptr) return rows;
  const bool is_f64 = whole.input.format.id == LPT_FORMAT_F64 || whole.output.format.id == LPT_FORMAT_F64;
  rows.log_sums = static_cast<std::byte *>(whole.log_sums) + begin * (is_f64 ? 8 : 4);
  return rows;
}

SoftmaxExaqRequest cut_levels(const SoftmaxExaqRequest &whole, int64_t begin, int64_t count) {
  return {cut_softmax(whole.softmax, begin, count), whole.bits, whole.clip};
}

SoftmaxBackwardRequest cut_backward(const SoftmaxBackwardRequest &whole, int64_t begin, int64_t count) {
  return {cut_rows(whole.output, begin, count), cut_rows(whole.output_gradient, begin, count),
          cut_rows(whole.input_gradient, begin, count), whole.scale};
}

// Checks the arguments of both kinds of forward softmax and sets the request.
Status prepare(Context &context, const Tensor *input, const lpt_softmax_options &options, const Tensor *output,
               SoftmaxForwardRequest &whole) {
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_options(options));
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(input, "input", needs_data, whole.input, device));
  LPT_TRY(check_rank(*input, "input", options));
  LPT_TRY(check_wide_matrix(output, "output", needs_data, whole.output, device));
  LPT_TRY(check_shape(whole.output, "output", whole.input.rows, whole.input.columns, "input"));
  LPT_TRY(check_no_overlap(whole.output, "output", whole.input, "input"));
  whole.scale = options.scale;
  whole.is_causal = options.is_causal != 0;
  whole.period = whole.is_causal ? input->extents[input->rank - 2] : whole.input.rows;
  return {};
}

Split split_of(const SoftmaxForwardRequest &whole) {
  return {whole.input.rows, whole.input.columns, view_bytes(whole.input) + view_bytes(whole.output)};
}

}  // namespace

Status check_levels(const lpt_exaq_options &options) {
  if (options.bits < 2 || options.bits > 4) return invalid("bits is %d: expected 2, 3 or 4", options.bits);
  return check_finite("clip", options.clip, -10000.0, -0.001);
}

Status run_softmax_forward(Context &context, const SoftmaxForwardRequest &whole, bool is_check) {
  return launch(context, {"softmax_forward", softmax_forward_kernels}, whole,
                {whole.input.format.id, whole.output.format.id}, is_check, split_of(whole), cut_softmax);
}

Status run_softmax_exaq(Context &context, const SoftmaxExaqRequest &whole, bool is_check) {
  return launch(context, {"softmax_exaq", softmax_exaq_kernels}, whole,
                {whole.softmax.input.format.id, whole.softmax.output.format.id}, is_check, split_of(whole.softmax),
                cut_levels);
}

Status run_softmax_backward(Context &context, const SoftmaxBackwardRequest &whole, bool is_check) {
  const MatrixView &output = whole.output, &given = whole.output_gradient, &result = whole.input_gradient;
  return launch(context, {"softmax_backward", softmax_backward_kernels}, whole,
                {output.format.id, given.format.id, result.format.id}, is_check,
                {output.rows, output.columns, view_bytes(output) + view_bytes(given) + view_bytes(result)},
                cut_backward);
}

Status softmax_forward(Context &context, const Tensor *input, const lpt_softmax_options &options, Tensor *output) {
  SoftmaxForwardRequest whole{};
  LPT_TRY(prepare(context, input, options, output, whole));
  return run_softmax_forward(context, whole, is_check_only(options.flags));
}

Status exaq_softmax_forward(Context &context, const Tensor *input, const lpt_exaq_options &options, Tensor *output) {
  lpt_softmax_options plain = LPT_SOFTMAX_OPTIONS_INIT;
  plain.flags = options.flags;
  plain.scale = options.scale;
  plain.is_causal = options.is_causal;
  SoftmaxExaqRequest whole{{}, options.bits, options.clip};
  LPT_TRY(check_levels(options));
  LPT_TRY(prepare(context, input, plain, output, whole.softmax));
  return run_softmax_exaq(context, whole, is_check_only(options.flags));
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
  return run_softmax_backward(context, whole, !needs_data);
}

}  // namespace lpt
