#include "src/nn/rmsnorm.hpp"

#include <algorithm>
#include <cfloat>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cuda_steps.hpp"
#include "kernels/reduce/reduce.hpp"
#include "src/call/launch.hpp"
#include "src/cast/stored.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_options(const lpt_rmsnorm_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("epsilon", options.epsilon, 0.0, DBL_MAX));
  LPT_TRY(check_choice("is_accumulated", options.is_accumulated, 1));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

bool is_double(const MatrixView &view) { return view.format.id == LPT_FORMAT_F64; }

// Part `i` of an array of numbers, one per row.
void *cut_vector(const void *data, bool is_f64, int64_t begin) {
  if (data == nullptr) return nullptr;
  return const_cast<char *>(static_cast<const char *>(data)) + begin * (is_f64 ? 8 : 4);
}

// The weight gradient is summed in blocks of rows that depend on the shape only, then over the blocks in order. At most `most`
// blocks bound the memory: one sum of each column per block.
struct Blocks {
  int64_t count;
  int64_t length;
};
Blocks weight_gradient_blocks(int64_t rows, int64_t most, int64_t least_rows) {
  const int64_t length = std::max(least_rows, (rows + most - 1) / most);
  return {(rows + length - 1) / length, length};
}

void write_weight_gradient(const std::vector<double> &sums, const Blocks &blocks, int64_t columns, bool is_f64,
                           bool is_accumulated, void *target) {
  for (int64_t column = 0; column < columns; ++column) {
    double sum = 0.0;
    for (int64_t i = 0; i < blocks.count; ++i) sum += sums[static_cast<size_t>(i * columns + column)];
    if (is_f64) {
      double &number = static_cast<double *>(target)[column];
      number = is_accumulated ? number + sum : sum;
    } else {
      float &number = static_cast<float *>(target)[column];
      number = static_cast<float>(is_accumulated ? static_cast<double>(number) + sum : sum);
    }
  }
}

// What a norm's forward needs beside its input, checked.
Status check_forward(const Context &context, const Tensor *weight, const lpt_rmsnorm_options &options, const char *like,
                     Tensor *output, Tensor *inverse_rms, RmsnormForwardRequest &whole) {
  const Device &device = context.queue.device();
  const bool needs_data = !is_check_only(options.flags);
  const int64_t rows = whole.input.rows;
  const int64_t columns = whole.input.columns;
  LPT_TRY(check_wide_matrix(output, "output", needs_data, whole.output, device));
  LPT_TRY(check_shape(whole.output, "output", rows, columns, like));
  whole.epsilon = options.epsilon;
  whole.is_f64 = is_double(whole.input) || is_double(whole.output);
  const lpt_format format = whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  void *weight_data = nullptr;
  LPT_TRY(check_vector(weight, "weight", format, columns, needs_data, &weight_data, device));
  const MatrixView weight_view = vector_view(format, weight_data, columns);
  whole.weight = weight_data;
  LPT_TRY(check_no_overlap(whole.output, "output", whole.input, like));
  LPT_TRY(check_no_overlap(whole.output, "output", weight_view, "weight"));
  if (inverse_rms != nullptr) {
    LPT_TRY(check_vector(inverse_rms, "inverse_rms", format, rows, needs_data, &whole.inverse_rms, device));
    const MatrixView view = vector_view(format, whole.inverse_rms, rows);
    LPT_TRY(check_no_overlap(view, "inverse_rms", whole.input, like));
    LPT_TRY(check_no_overlap(view, "inverse_rms", weight_view, "weight"));
    LPT_TRY(check_no_overlap(view, "inverse_rms", whole.output, "output"));
  }
  return {};
}

RmsnormForwardRequest cut_norm(const RmsnormForwardRequest &whole, int64_t begin, int64_t count) {
  RmsnormForwardRequest part = whole;
  part.input = cut_rows(whole.input, begin, count);
  part.output = cut_rows(whole.output, begin, count);
  part.inverse_rms = cut_vector(whole.inverse_rms, whole.is_f64, begin);
  return part;
}

// The two addends of a sum, checked.
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

// ---- the backward pass

struct WeightGradient {
  bool is_requested;
  void *data;  // f32; f64 where the CPU computes in f64
  bool is_accumulated;
};

// The kernels of a norm's backward pass; NULL: not needed.
struct NormSteps {
  const KernelEntry<RmsnormBackwardRequest> *input = nullptr;
  const KernelEntry<GradientPartsRequest> *parts = nullptr;
  const KernelEntry<GradientSumRequest> *sum = nullptr;
};

GradientPartsRequest parts_request(const RmsnormBackwardRequest &whole, int64_t part_rows) {
  return {whole.input, whole.output_gradient, static_cast<const float *>(whole.inverse_rms), part_rows, nullptr};
}

Status choose_norm_steps(Context &context, const RmsnormBackwardRequest &whole, bool wants_weight, NormSteps &steps) {
  const lpt_format input = whole.input.format.id, gradient = whole.output_gradient.format.id;
  if (whole.input_gradient.format.id != LPT_FORMAT_NONE) {
    LPT_TRY(select_kernel(context, "rmsnorm_backward", whole, {input, gradient, whole.input_gradient.format.id},
                          &steps.input));
  }
  if (!wants_weight) return {};
  LPT_TRY(select_kernel(context, "gradient_parts", parts_request(whole, 1), {input, gradient}, &steps.parts));
  return select_kernel(context, "gradient_sum", GradientSumRequest{}, {LPT_FORMAT_F32}, &steps.sum);
}

// Rows begin .. begin + count of both gradients.
Status queue_norm_rows(Context &context, const NormSteps &steps, const RmsnormBackwardRequest &whole,
                       const MatrixView &input, int64_t begin, int64_t part_rows, double *sums) {
  RmsnormBackwardRequest part = whole;
  part.input = input;
  part.output_gradient = cut_rows(whole.output_gradient, begin, input.rows);
  part.inverse_rms = static_cast<const float *>(whole.inverse_rms) + begin;
  if (steps.input != nullptr) {
    part.input_gradient = cut_rows(whole.input_gradient, begin, input.rows);
    LPT_TRY(queue_kernel(context, *steps.input, part));
  }
  if (steps.parts == nullptr) return {};
  GradientPartsRequest parts = parts_request(part, part_rows);
  parts.sums = sums + begin / part_rows * input.columns;
  return queue_kernel(context, *steps.parts, parts);
}

// On a device. `input` may be codes; `whole` has all else.
Status queue_backward(Context &context, const MatrixView &input, const RmsnormBackwardRequest &whole,
                      const WeightGradient &gradient, bool is_check_only) {
  // Together with the columns this gives some thousand thread blocks.
  const Blocks parts = weight_gradient_blocks(input.rows, 256, 64);
  const int64_t chunk = stored_chunk(context, {&input}, parts.length);
  Stored stored;
  NormSteps steps;
  LPT_TRY(stored.prepare(context, input, std::min(chunk, input.rows), is_check_only));
  RmsnormBackwardRequest seen = whole;
  seen.input = stored.numbers();
  LPT_TRY(choose_norm_steps(context, seen, gradient.is_requested, steps));
  if (is_check_only || input.columns == 0) return {};
  std::byte *sums = nullptr;
  if (gradient.is_requested) {
    LPT_TRY(take_scratch(context, static_cast<size_t>(parts.count * input.columns) * sizeof(double), &sums));
  }
  for (int64_t begin = 0; begin < input.rows; begin += chunk) {
    MatrixView rows;
    LPT_TRY(stored.queue_rows(context, begin, std::min(chunk, input.rows - begin), rows));
    LPT_TRY(queue_norm_rows(context, steps, whole, rows, begin, parts.length, reinterpret_cast<double *>(sums)));
  }
  if (!gradient.is_requested) return {};
  return queue_kernel(context, *steps.sum,
                      {reinterpret_cast<double *>(sums), parts.count, input.columns,
                       static_cast<float *>(gradient.data), gradient.is_accumulated});
}

// The same on the CPU.
Status run_backward(Context &context, const MatrixView &input, const RmsnormBackwardRequest &whole,
                    const WeightGradient &gradient, bool is_check_only) {
  const int64_t rows = input.rows, columns = input.columns;
  const bool has_input_gradient = whole.input_gradient.format.id != LPT_FORMAT_NONE;
  const Blocks blocks = weight_gradient_blocks(rows, 64, 16);
  const int64_t chunk = stored_chunk(context, {&input}, blocks.length);
  Stored stored;
  LPT_TRY(stored.prepare(context, input, std::min(chunk, rows), is_check_only));
  RmsnormBackwardRequest seen = whole;
  seen.input = stored.numbers();
  const KernelEntry<RmsnormBackwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "rmsnorm_backward", rmsnorm_backward_kernels(), seen,
                        {input.format.id, whole.output_gradient.format.id}, &kernel));
  if (is_check_only) return {};
  const ProfileScope measure(context, "rmsnorm_backward", kernel->name,
                             view_bytes(input) + view_bytes(whole.output_gradient) +
                                 (has_input_gradient ? view_bytes(whole.input_gradient) : 0.0));
  std::vector<double> sums(gradient.is_requested ? static_cast<size_t>(blocks.count * columns) : 0, 0.0);
  const auto run_block = [&](int64_t start, int64_t i) {
    const int64_t begin = i * blocks.length;
    const int64_t count = std::min(blocks.length, rows - begin);
    RmsnormBackwardRequest part = seen;
    part.input = stored.rows(start, begin, count);
    part.output_gradient = cut_rows(whole.output_gradient, begin, count);
    if (has_input_gradient) part.input_gradient = cut_rows(whole.input_gradient, begin, count);
    part.inverse_rms = cut_vector(whole.inverse_rms, whole.is_f64, begin);
    part.weight_gradient_sum = gradient.is_requested ? sums.data() + i * columns : nullptr;
    kernel->run(part);
  };
  const int64_t step = (chunk + blocks.length - 1) / blocks.length;
  const bool is_split = split(context, rows, columns).count > 1;
  for (int64_t first = 0; first < blocks.count; first += step) {
    const int64_t count = std::min(step, blocks.count - first);
    const int64_t start = first * blocks.length;
    if (is_split) {
      parallel_for(context, count, [&](int64_t i) { run_block(start, first + i); });
    } else {
      for (int64_t i = 0; i < count; ++i) run_block(start, first + i);
    }
  }
  if (gradient.is_requested) {
    write_weight_gradient(sums, blocks, columns, whole.is_f64, gradient.is_accumulated, gradient.data);
  }
  return {};
}

}  // namespace

Status rmsnorm_forward(Context &context, const Tensor *input, const Tensor *weight, const lpt_rmsnorm_options &options,
                       Tensor *output, Tensor *inverse_rms) {
  RmsnormForwardRequest whole{};
  LPT_TRY(check_options(options));
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_wide_matrix(input, "input", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_forward(context, weight, options, "input", output, inverse_rms, whole));
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
  LPT_TRY(check_options(options));
  LPT_TRY(check_wide_matrix(sum, "sum", needs_data, whole.input, context.queue.device()));
  LPT_TRY(check_addends(context, residual, branch, needs_data, whole.input, addends));
  LPT_TRY(check_forward(context, weight, options, "sum", output, inverse_rms, whole));
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
    for (int64_t r = begin; r < begin + count; ++r) {  // the sum is read again while it is in the nearest cache
      add_row(addends, whole.input, r);
      kernel->run(cut_norm(whole, r, 1));
    }
  });
  return {};
}

Status rmsnorm_backward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *inverse_rms,
                        const Tensor *output_gradient, const lpt_rmsnorm_options &options, Tensor *input_gradient,
                        Tensor *weight_gradient) {
  const bool needs_data = !is_check_only(options.flags);
  RmsnormBackwardRequest whole{};
  LPT_TRY(check_options(options));
  if (input_gradient == nullptr && weight_gradient == nullptr) {
    return invalid("input_gradient and weight_gradient are NULL: expected at least one output");
  }
  MatrixView stored_view;
  const Device &device = context.queue.device();
  LPT_TRY(check_stored_matrix(input, "input", needs_data, stored_view, device));
  LPT_TRY(check_wide_matrix(output_gradient, "output_gradient", needs_data, whole.output_gradient, device));
  const int64_t rows = stored_view.rows;
  const int64_t columns = stored_view.columns;
  LPT_TRY(check_shape(whole.output_gradient, "output_gradient", rows, columns, "input"));
  whole.is_f64 = is_double(stored_view) || is_double(whole.output_gradient);
  if (input_gradient != nullptr) {
    LPT_TRY(check_wide_matrix(input_gradient, "input_gradient", needs_data, whole.input_gradient, device));
    LPT_TRY(check_shape(whole.input_gradient, "input_gradient", rows, columns, "input"));
    whole.is_f64 = whole.is_f64 || is_double(whole.input_gradient);
  }
  const lpt_format format = whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  void *weight_data = nullptr;
  void *inverse_data = nullptr;
  void *weight_gradient_data = nullptr;
  LPT_TRY(check_vector(weight, "weight", format, columns, needs_data, &weight_data, device));
  LPT_TRY(check_vector(inverse_rms, "inverse_rms", format, rows, needs_data, &inverse_data, device));
  whole.weight = weight_data;
  whole.inverse_rms = inverse_data;
  if (weight_gradient != nullptr) {
    LPT_TRY(
        check_vector(weight_gradient, "weight_gradient", format, columns, needs_data, &weight_gradient_data, device));
  }
  const MatrixView weight_gradient_view = vector_view(format, weight_gradient_data, columns);
  const struct {
    const MatrixView &view;
    const char *name;
  } outputs[] = {{whole.input_gradient, "input_gradient"}, {weight_gradient_view, "weight_gradient"}};
  for (const auto &[view, name] : outputs) {
    LPT_TRY(check_no_overlap(view, name, stored_view, "input"));
    LPT_TRY(check_no_overlap(view, name, whole.output_gradient, "output_gradient"));
    LPT_TRY(check_no_overlap(view, name, vector_view(format, weight_data, columns), "weight"));
    LPT_TRY(check_no_overlap(view, name, vector_view(format, inverse_data, rows), "inverse_rms"));
  }
  LPT_TRY(check_no_overlap(whole.input_gradient, "input_gradient", weight_gradient_view, "weight_gradient"));
  const WeightGradient gradient{weight_gradient != nullptr, weight_gradient_data, options.is_accumulated != 0};
  return is_on_cpu(context) ? run_backward(context, stored_view, whole, gradient, !needs_data)
                            : queue_backward(context, stored_view, whole, gradient, !needs_data);
}

}  // namespace lpt
