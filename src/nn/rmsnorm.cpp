#include "src/nn/rmsnorm.hpp"

#include "kernels/activation/activation.hpp"
#include "src/call/launch.hpp"
#include "src/nn/norm_checks.hpp"

namespace lpt {
namespace {

// Checks the arguments of a forward pass except the input. `names` are those of the input and of the inverse.
struct NormNames {
  const char *input, *inverse;
};

template <typename Options>
Status check_forward(const Context &context, const Tensor *weight, const Options &options, const NormNames &names,
                     Tensor *output, Tensor *inverse, RmsnormForwardRequest &whole) {
  const Device &device = context.queue.device();
  const bool needs_data = !is_check_only(options.flags);
  const int64_t rows = whole.input.rows;
  const int64_t columns = whole.input.columns;
  LPT_TRY(check_wide_matrix(output, "output", needs_data, whole.output, device));
  LPT_TRY(check_shape(whole.output, "output", rows, columns, names.input));
  whole.epsilon = options.epsilon;
  whole.is_f64 = is_double(whole.input) || is_double(whole.output);
  const lpt_format format = whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  MatrixView weight_view, inverse_view;
  if (weight == nullptr && !whole.is_centered) return invalid("weight is NULL: expected a tensor");
  LPT_TRY(check_optional_vector(weight, "weight", format, columns, needs_data, device, weight_view));
  LPT_TRY(check_optional_vector(inverse, names.inverse, format, rows, needs_data, device, inverse_view));
  whole.weight = weight_view.data;
  whole.inverse_rms = inverse_view.data;
  return check_outputs({{whole.output, "output"}, {inverse_view, names.inverse}},
                       {{whole.input, names.input}, {weight_view, "weight"}});
}

RmsnormForwardRequest cut_norm(const RmsnormForwardRequest &whole, int64_t begin, int64_t count) {
  RmsnormForwardRequest part = whole;
  part.input = cut_rows(whole.input, begin, count);
  part.output = cut_rows(whole.output, begin, count);
  part.inverse_rms = cut_vector(whole.inverse_rms, whole.is_f64, begin);
  part.mean = cut_vector(whole.mean, whole.is_f64, begin);
  if (!whole.has_residual()) return part;
  part.residual = cut_rows(whole.residual, begin, count);
  part.branch = cut_rows(whole.branch, begin, count);
  return part;
}

Status check_addends(const Context &context, const Tensor *residual, const Tensor *branch, bool needs_data,
                     RmsnormForwardRequest &whole) {
  const Device &device = context.queue.device();
  const MatrixView &sum = whole.input;
  LPT_TRY(check_wide_matrix(residual, "residual", needs_data, whole.residual, device));
  LPT_TRY(check_wide_matrix(branch, "branch", needs_data, whole.branch, device));
  LPT_TRY(check_shape(whole.branch, "branch", whole.residual.rows, whole.residual.columns, "residual"));
  LPT_TRY(check_shape(sum, "sum", whole.residual.rows, whole.residual.columns, "residual"));
  const lpt_format format = whole.residual.format.id, added = whole.branch.format.id;
  const bool is_widened = format == LPT_FORMAT_F32 && (added == LPT_FORMAT_BF16 || added == LPT_FORMAT_F16);
  if (added != format && !is_widened) {
    return invalid("branch is %s: expected %s, as residual%s", format_name(added).c_str(), format_name(format).c_str(),
                   format == LPT_FORMAT_F32 ? ", or bf16 or f16" : "");
  }
  if (sum.format.id != format) {
    return invalid("sum is %s: expected %s, as residual", format_name(sum.format.id).c_str(),
                   format_name(format).c_str());
  }
  LPT_TRY(check_in_place(sum, "sum", whole.residual, "residual"));
  return check_in_place(sum, "sum", whole.branch, "branch");
}

Status run_forward(Context &context, const RmsnormForwardRequest &whole, bool is_check_only) {
  const double added = whole.has_residual() ? view_bytes(whole.residual) + view_bytes(whole.branch) : 0.0;
  return launch(context, {"rmsnorm_forward", rmsnorm_forward_kernels}, whole,
                {whole.input.format.id, whole.output.format.id}, is_check_only,
                {whole.input.rows, whole.input.columns, view_bytes(whole.input) + view_bytes(whole.output) + added},
                cut_norm);
}

}  // namespace

Status rmsnorm_forward(Context &context, const Tensor *input, const Tensor *weight, const lpt_rmsnorm_options &options,
                       Tensor *output, Tensor *inverse_rms) {
  RmsnormForwardRequest whole{};
  LPT_TRY(check_norm_options(options, false));
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_wide_matrix(input, "input", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_forward(context, weight, options, {"input", "inverse_rms"}, output, inverse_rms, whole));
  return run_forward(context, whole, !needs_data);
}

Status rmsnorm_forward_sum(Context &context, const Tensor *residual, const Tensor *branch, const Tensor *weight,
                           const lpt_rmsnorm_options &options, Tensor *sum, Tensor *output, Tensor *inverse_rms) {
  const bool needs_data = !is_check_only(options.flags);
  RmsnormForwardRequest whole{};
  LPT_TRY(check_norm_options(options, false));
  LPT_TRY(check_wide_matrix(sum, "sum", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_addends(context, residual, branch, needs_data, whole));
  LPT_TRY(check_forward(context, weight, options, {"sum", "inverse_rms"}, output, inverse_rms, whole));
  const MatrixView weight_view =
      vector_view(whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32, whole.weight, whole.input.columns);
  LPT_TRY(check_no_overlap(whole.input, "sum", weight_view, "weight"));
  LPT_TRY(check_no_overlap(whole.output, "output", whole.residual, "residual"));
  LPT_TRY(check_no_overlap(whole.output, "output", whole.branch, "branch"));
  if (whole.inverse_rms != nullptr) {
    const MatrixView view = vector_view(weight_view.format.id, whole.inverse_rms, whole.input.rows);
    LPT_TRY(check_no_overlap(view, "inverse_rms", whole.residual, "residual"));
    LPT_TRY(check_no_overlap(view, "inverse_rms", whole.branch, "branch"));
  }
  return run_forward(context, whole, !needs_data);
}

Status layernorm_forward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *bias,
                         const lpt_layernorm_options &options, Tensor *output, Tensor *mean,
                         Tensor *inverse_deviation) {
  RmsnormForwardRequest whole{};
  whole.is_centered = true;
  LPT_TRY(check_norm_options(options, false));
  const bool needs_data = !is_check_only(options.flags);
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(input, "input", needs_data, whole.input, device));
  LPT_TRY(check_forward(context, weight, options, {"input", "inverse_deviation"}, output, inverse_deviation, whole));
  const int64_t rows = whole.input.rows, columns = whole.input.columns;
  const lpt_format format = whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  MatrixView bias_view, mean_view;
  LPT_TRY(check_optional_vector(bias, "bias", format, columns, needs_data, device, bias_view));
  LPT_TRY(check_optional_vector(mean, "mean", format, rows, needs_data, device, mean_view));
  LPT_TRY(check_outputs(
      {{whole.output, "output"},
       {vector_view(format, whole.inverse_rms, rows), "inverse_deviation"},
       {mean_view, "mean"}},
      {{whole.input, "input"}, {vector_view(format, whole.weight, columns), "weight"}, {bias_view, "bias"}}));
  whole.bias = bias_view.data;
  whole.mean = mean_view.data;
  return run_forward(context, whole, !needs_data);
}

}  // namespace lpt
