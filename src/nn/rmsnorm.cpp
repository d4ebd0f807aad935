#include "src/nn/rmsnorm.hpp"

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "kernels/reduce/reduce.hpp"
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
  return part;
}

// The two checked addends of a sum.
struct Addends {
  MatrixView residual, branch;
  const KernelEntry<ReduceRequest> *kernel;
};

Status check_addends(const Context &context, const Tensor *residual, const Tensor *branch, bool needs_data,
                     const MatrixView &sum, Addends &addends) {
  const Device &device = context.queue.device();
  LPT_TRY(check_wide_matrix(residual, "residual", needs_data, addends.residual, device));
  LPT_TRY(check_wide_matrix(branch, "branch", needs_data, addends.branch, device));
  const lpt_format format = addends.residual.format.id;
  const struct {
    const MatrixView &view;
    const char *name;
  } others[] = {{addends.branch, "branch"}, {sum, "sum"}};
  for (const auto &[view, name] : others) {
    LPT_TRY(check_shape(view, name, addends.residual.rows, addends.residual.columns, "residual"));
    if (view.format.id == format) continue;
    return invalid("%s is %s: expected %s, as residual", name, format_name(view.format.id).c_str(),
                   format_name(format).c_str());
  }
  LPT_TRY(check_in_place(sum, "sum", addends.residual, "residual"));
  return check_in_place(sum, "sum", addends.branch, "branch");
}

Status choose_addition(Context &context, Addends &addends) {
  const lpt_format format = addends.residual.format.id;
  ReduceRequest request{};
  request.format = request.target_format = format;
  request.source_count = 2;
  request.target_count = 1;
  request.factor = 1.0;
  return select_kernel(context, "add", reduce_kernels(), request, {format}, &addends.kernel);
}

void add_row(const Addends &addends, const MatrixView &sum, int64_t row) {
  const auto place = [row](const MatrixView &view) {
    return static_cast<std::byte *>(view.data) + row * row_bytes(view.format.element, view.row_stride);
  };
  const void *const sources[] = {place(addends.residual), place(addends.branch)};
  void *const target = place(sum);
  ReduceRequest request{};
  request.format = request.target_format = sum.format.id;
  request.source_count = 2;
  request.target_count = 1;
  request.factor = 1.0;
  request.elements = sum.columns;
  request.sources = sources;
  request.targets = &target;
  addends.kernel->run(request);
}

}  // namespace

Status rmsnorm_forward(Context &context, const Tensor *input, const Tensor *weight, const lpt_rmsnorm_options &options,
                       Tensor *output, Tensor *inverse_rms) {
  RmsnormForwardRequest whole{};
  LPT_TRY(check_norm_options(options, false));
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_wide_matrix(input, "input", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_forward(context, weight, options, {"input", "inverse_rms"}, output, inverse_rms, whole));
  return launch(context, {"rmsnorm_forward", rmsnorm_forward_kernels}, whole,
                {whole.input.format.id, whole.output.format.id}, !needs_data,
                {whole.input.rows, whole.input.columns, view_bytes(whole.input) + view_bytes(whole.output)}, cut_norm);
}

Status rmsnorm_forward_sum(Context &context, const Tensor *residual, const Tensor *branch, const Tensor *weight,
                           const lpt_rmsnorm_options &options, Tensor *sum, Tensor *output, Tensor *inverse_rms) {
  const bool needs_data = !is_check_only(options.flags);
  RmsnormForwardRequest whole{};
  Addends addends{};
  const KernelEntry<RmsnormForwardRequest> *kernel = nullptr;
  LPT_TRY(check_norm_options(options, false));
  LPT_TRY(check_wide_matrix(sum, "sum", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_addends(context, residual, branch, needs_data, whole.input, addends));
  LPT_TRY(check_forward(context, weight, options, {"sum", "inverse_rms"}, output, inverse_rms, whole));
  const MatrixView weight_view =
      vector_view(whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32, whole.weight, whole.input.columns);
  LPT_TRY(check_no_overlap(whole.input, "sum", weight_view, "weight"));
  LPT_TRY(check_no_overlap(whole.output, "output", addends.residual, "residual"));
  LPT_TRY(check_no_overlap(whole.output, "output", addends.branch, "branch"));
  if (whole.inverse_rms != nullptr) {
    const MatrixView view = vector_view(weight_view.format.id, whole.inverse_rms, whole.input.rows);
    LPT_TRY(check_no_overlap(view, "inverse_rms", addends.residual, "residual"));
    LPT_TRY(check_no_overlap(view, "inverse_rms", addends.branch, "branch"));
  }
  const std::initializer_list<lpt_format> formats = {whole.input.format.id, whole.output.format.id};
  if (!is_on_cpu(context)) {
    const RmsnormSumRequest sum_request{addends.residual, addends.branch, whole};
    return run_on_device(context, "rmsnorm_forward_sum", sum_request, formats, !needs_data);
  }
  LPT_TRY(choose_addition(context, addends));
  LPT_TRY(select_kernel(context, "rmsnorm_forward", rmsnorm_forward_kernels(), whole, formats, &kernel));
  if (!needs_data) return {};
  const ProfileScope measure(context, "rmsnorm_forward_sum", kernel->name,
                             3 * view_bytes(whole.input) + view_bytes(whole.output));
  parallel_parts(context, whole.input.rows, whole.input.columns, [&](int64_t begin, int64_t count) {
    // Row by row, so that the norm reads the sum from the nearest cache.
    for (int64_t r = begin; r < begin + count; ++r) {
      add_row(addends, whole.input, r);
      kernel->run(cut_norm(whole, r, 1));
    }
  });
  return {};
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
  return launch(context, {"rmsnorm_forward", rmsnorm_forward_kernels}, whole,
                {whole.input.format.id, whole.output.format.id}, !needs_data,
                {rows, columns, view_bytes(whole.input) + view_bytes(whole.output)}, cut_norm);
}

}  // namespace lpt
