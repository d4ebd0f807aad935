// Backward passes of RMSNorm and LayerNorm.
#include <algorithm>
#include <vector>

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "src/call/launch.hpp"
#include "src/cast/stored.hpp"
#include "src/nn/norm_checks.hpp"
#include "src/nn/rmsnorm.hpp"

namespace lpt {
namespace {

// Blocks of rows for the sums of a weight gradient. They depend on the shape only, and the sums of blocks are added in order.
// The sums take one number per column and block, so `most` blocks limit the memory.
struct Blocks {
  int64_t count;
  int64_t length;
};
Blocks weight_gradient_blocks(int64_t rows, int64_t most, int64_t least_rows) {
  const int64_t length = std::max(least_rows, (rows + most - 1) / most);
  return {(rows + length - 1) / length, length};
}

// The gradient of a weight or bias.
struct VectorGradient {
  bool is_requested = false;
  void *data = nullptr;  // f32, or f64 if the CPU computes in f64
  bool is_accumulated = false;
};

struct VectorGradients {
  VectorGradient weight, bias;
};

// Writes the sum over blocks, added in order.
void write_weight_gradient(const std::vector<double> &sums, const Blocks &blocks, int64_t columns, bool is_f64,
                           const VectorGradient &gradient) {
  for (int64_t column = 0; column < columns; ++column) {
    double sum = 0.0;
    for (int64_t i = 0; i < blocks.count; ++i) sum += sums[static_cast<size_t>(i * columns + column)];
    if (is_f64) {
      double &number = static_cast<double *>(gradient.data)[column];
      number = gradient.is_accumulated ? number + sum : sum;
    } else {
      float &number = static_cast<float *>(gradient.data)[column];
      number = static_cast<float>(gradient.is_accumulated ? static_cast<double>(number) + sum : sum);
    }
  }
}

MatrixView cut_optional_rows(const MatrixView &view, int64_t begin, int64_t count) {
  return view.data == nullptr ? view : cut_rows(view, begin, count);
}

// The kernels of the backward pass of a norm; NULL: not needed.
struct NormSteps {
  const KernelEntry<RmsnormBackwardRequest> *input = nullptr;
  const KernelEntry<GradientPartsRequest> *parts = nullptr;
  const KernelEntry<GradientSumRequest> *sum = nullptr;
};

GradientPartsRequest parts_request(const RmsnormBackwardRequest &whole, int64_t part_rows, double *sums) {
  return {whole.input,
          whole.output_gradient,
          static_cast<const float *>(whole.inverse_rms),
          part_rows,
          sums,
          static_cast<const float *>(whole.mean)};
}

Status choose_norm_steps(Context &context, const RmsnormBackwardRequest &whole, bool has_vectors, NormSteps &steps) {
  const lpt_format input = whole.input.format.id, gradient = whole.output_gradient.format.id;
  if (whole.input_gradient.format.id != LPT_FORMAT_NONE) {
    LPT_TRY(select_kernel(context, "rmsnorm_backward", whole, {input, gradient, whole.input_gradient.format.id},
                          &steps.input));
  }
  if (!has_vectors) return {};
  LPT_TRY(select_kernel(context, "gradient_parts", parts_request(whole, 1, nullptr), {input, gradient}, &steps.parts));
  return select_kernel(context, "gradient_sum", GradientSumRequest{}, {LPT_FORMAT_F32}, &steps.sum);
}

// Sums of blocks of rows for the gradients of weight and bias; NULL: not requested.
struct GradientSums {
  double *weight = nullptr, *bias = nullptr;
};

// Queues rows begin .. begin + input.rows of all gradients.
Status queue_norm_rows(Context &context, const NormSteps &steps, const RmsnormBackwardRequest &whole,
                       const MatrixView &input, int64_t begin, int64_t part_rows, const GradientSums &sums) {
  RmsnormBackwardRequest part = whole;
  part.input = input;
  part.output_gradient = cut_rows(whole.output_gradient, begin, input.rows);
  part.inverse_rms = static_cast<const float *>(whole.inverse_rms) + begin;
  if (whole.is_centered) part.mean = static_cast<const float *>(whole.mean) + begin;
  if (steps.input != nullptr) {
    part.input_gradient = cut_rows(whole.input_gradient, begin, input.rows);
    part.residual_gradient = cut_optional_rows(whole.residual_gradient, begin, input.rows);
    LPT_TRY(queue_kernel(context, *steps.input, part));
  }
  const int64_t first = begin / part_rows * input.columns;
  if (sums.weight != nullptr) {
    LPT_TRY(queue_kernel(context, *steps.parts, parts_request(part, part_rows, sums.weight + first)));
  }
  if (sums.bias == nullptr) return {};
  GradientPartsRequest parts = parts_request(part, part_rows, sums.bias + first);
  parts.is_of_bias = true;
  return queue_kernel(context, *steps.parts, parts);
}

Status take_sums(Context &context, const VectorGradient &gradient, int64_t count, double **out) {
  if (!gradient.is_requested) return {};
  std::byte *memory = nullptr;
  LPT_TRY(take_scratch(context, static_cast<size_t>(count) * sizeof(double), &memory));
  *out = reinterpret_cast<double *>(memory);
  return {};
}

// Queues a backward pass on a device. `input` may be codes; `whole` has all other operands.
Status queue_backward(Context &context, const MatrixView &input, const RmsnormBackwardRequest &whole,
                      const VectorGradients &gradients, bool is_check_only) {
  // 256 parts times the columns give some thousand thread blocks.
  const Blocks parts = weight_gradient_blocks(input.rows, 256, 64);
  const int64_t chunk = stored_chunk(context, {&input}, parts.length);
  Stored stored;
  NormSteps steps;
  LPT_TRY(stored.prepare(context, input, std::min(chunk, input.rows), is_check_only));
  RmsnormBackwardRequest seen = whole;
  seen.input = stored.numbers();
  LPT_TRY(choose_norm_steps(context, seen, gradients.weight.is_requested || gradients.bias.is_requested, steps));
  if (is_check_only || input.columns == 0) return {};
  GradientSums sums;
  LPT_TRY(take_sums(context, gradients.weight, parts.count * input.columns, &sums.weight));
  LPT_TRY(take_sums(context, gradients.bias, parts.count * input.columns, &sums.bias));
  for (int64_t begin = 0; begin < input.rows; begin += chunk) {
    MatrixView rows;
    LPT_TRY(stored.queue_rows(context, begin, std::min(chunk, input.rows - begin), rows));
    LPT_TRY(queue_norm_rows(context, steps, whole, rows, begin, parts.length, sums));
  }
  const auto queue_sum = [&](const VectorGradient &gradient, const double *of_parts) -> Status {
    if (!gradient.is_requested) return {};
    return queue_kernel(
        context, *steps.sum,
        {of_parts, parts.count, input.columns, static_cast<float *>(gradient.data), gradient.is_accumulated});
  };
  LPT_TRY(queue_sum(gradients.weight, sums.weight));
  return queue_sum(gradients.bias, sums.bias);
}

// Runs a backward pass on the CPU. The arguments are those of queue_backward().
Status run_backward(Context &context, const MatrixView &input, const RmsnormBackwardRequest &whole,
                    const VectorGradients &gradients, bool is_check_only) {
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
  const auto size = static_cast<size_t>(blocks.count * columns);
  std::vector<double> weight_sums(gradients.weight.is_requested ? size : 0, 0.0);
  std::vector<double> bias_sums(gradients.bias.is_requested ? size : 0, 0.0);
  const auto run_block = [&](int64_t start, int64_t i) {
    const int64_t begin = i * blocks.length;
    const int64_t count = std::min(blocks.length, rows - begin);
    RmsnormBackwardRequest part = seen;
    part.input = stored.rows(start, begin, count);
    part.output_gradient = cut_rows(whole.output_gradient, begin, count);
    if (has_input_gradient) part.input_gradient = cut_rows(whole.input_gradient, begin, count);
    part.residual_gradient = cut_optional_rows(whole.residual_gradient, begin, count);
    part.inverse_rms = cut_vector(whole.inverse_rms, whole.is_f64, begin);
    part.mean = cut_vector(whole.mean, whole.is_f64, begin);
    if (gradients.weight.is_requested) part.weight_gradient_sum = weight_sums.data() + i * columns;
    if (gradients.bias.is_requested) part.bias_gradient_sum = bias_sums.data() + i * columns;
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
  if (gradients.weight.is_requested) {
    write_weight_gradient(weight_sums, blocks, columns, whole.is_f64, gradients.weight);
  }
  if (gradients.bias.is_requested) write_weight_gradient(bias_sums, blocks, columns, whole.is_f64, gradients.bias);
  return {};
}

// The tensors of a backward pass. `mean` and `bias_gradient` are only for LayerNorm.
struct BackwardTensors {
  const Tensor *input, *weight, *mean, *inverse, *output_gradient, *residual_gradient;
  Tensor *input_gradient, *weight_gradient, *bias_gradient;
  const char *inverse_name;
};

Status check_residual(const Context &context, const BackwardTensors &tensors, bool needs_data,
                      RmsnormBackwardRequest &whole) {
  constexpr const char *kName = "residual_gradient";
  if (tensors.residual_gradient == nullptr) return {};
  if (tensors.input_gradient == nullptr) return invalid("input_gradient is NULL and %s is set: expected both", kName);
  MatrixView &view = whole.residual_gradient;
  LPT_TRY(check_wide_matrix(tensors.residual_gradient, kName, needs_data, view, context.queue.device()));
  LPT_TRY(check_shape(view, kName, whole.input_gradient.rows, whole.input_gradient.columns, "input_gradient"));
  whole.is_f64 = whole.is_f64 || is_double(view);
  return check_in_place(whole.input_gradient, "input_gradient", view, kName);
}

Status norm_backward(Context &context, const BackwardTensors &tensors, bool is_centered, bool needs_data,
                     bool is_accumulated) {
  RmsnormBackwardRequest whole{};
  whole.is_centered = is_centered;
  MatrixView stored_view;
  const Device &device = context.queue.device();
  LPT_TRY(check_stored_matrix(tensors.input, "input", needs_data, stored_view, device));
  LPT_TRY(check_wide_matrix(tensors.output_gradient, "output_gradient", needs_data, whole.output_gradient, device));
  const int64_t rows = stored_view.rows;
  const int64_t columns = stored_view.columns;
  LPT_TRY(check_shape(whole.output_gradient, "output_gradient", rows, columns, "input"));
  whole.is_f64 = is_double(stored_view) || is_double(whole.output_gradient);
  if (tensors.input_gradient != nullptr) {
    LPT_TRY(check_wide_matrix(tensors.input_gradient, "input_gradient", needs_data, whole.input_gradient, device));
    LPT_TRY(check_shape(whole.input_gradient, "input_gradient", rows, columns, "input"));
    whole.is_f64 = whole.is_f64 || is_double(whole.input_gradient);
  }
  LPT_TRY(check_residual(context, tensors, needs_data, whole));
  const lpt_format format = whole.is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  void *inverse_data = nullptr, *mean_data = nullptr;
  MatrixView weight, weight_gradient, bias_gradient;
  if (tensors.weight == nullptr && !is_centered) return invalid("weight is NULL: expected a tensor");
  LPT_TRY(check_optional_vector(tensors.weight, "weight", format, columns, needs_data, device, weight));
  LPT_TRY(check_vector(tensors.inverse, tensors.inverse_name, format, rows, needs_data, &inverse_data, device));
  if (is_centered) LPT_TRY(check_vector(tensors.mean, "mean", format, rows, needs_data, &mean_data, device));
  LPT_TRY(check_optional_vector(tensors.weight_gradient, "weight_gradient", format, columns, needs_data, device,
                                weight_gradient));
  LPT_TRY(check_optional_vector(tensors.bias_gradient, "bias_gradient", format, columns, needs_data, device,
                                bias_gradient));
  whole.weight = weight.data;
  whole.inverse_rms = inverse_data;
  whole.mean = mean_data;
  LPT_TRY(check_outputs({{whole.input_gradient, "input_gradient"},
                         {weight_gradient, "weight_gradient"},
                         {bias_gradient, "bias_gradient"}},
                        {{stored_view, "input"},
                         {whole.output_gradient, "output_gradient"},
                         {weight, "weight"},
                         {vector_view(format, inverse_data, rows), tensors.inverse_name},
                         {vector_view(format, mean_data, rows), "mean"}}));
  if (whole.residual_gradient.format.id != LPT_FORMAT_NONE) {
    LPT_TRY(check_no_overlap(weight_gradient, "weight_gradient", whole.residual_gradient, "residual_gradient"));
    LPT_TRY(check_no_overlap(bias_gradient, "bias_gradient", whole.residual_gradient, "residual_gradient"));
  }
  const VectorGradients gradients{{tensors.weight_gradient != nullptr, weight_gradient.data, is_accumulated},
                                  {tensors.bias_gradient != nullptr, bias_gradient.data, is_accumulated}};
  return is_on_cpu(context) ? run_backward(context, stored_view, whole, gradients, !needs_data)
                            : queue_backward(context, stored_view, whole, gradients, !needs_data);
}

}  // namespace

Status rmsnorm_backward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *inverse_rms,
                        const Tensor *output_gradient, const lpt_rmsnorm_options &options, Tensor *input_gradient,
                        Tensor *weight_gradient) {
  LPT_TRY(check_norm_options(options, true));
  if (input_gradient == nullptr && weight_gradient == nullptr) {
    return invalid("input_gradient and weight_gradient are NULL: expected at least one output");
  }
  return norm_backward(context,
                       {input, weight, nullptr, inverse_rms, output_gradient, options.residual_gradient, input_gradient,
                        weight_gradient, nullptr, "inverse_rms"},
                       false, !is_check_only(options.flags), options.is_accumulated != 0);
}

Status layernorm_backward(Context &context, const Tensor *input, const Tensor *weight, const Tensor *mean,
                          const Tensor *inverse_deviation, const Tensor *output_gradient,
                          const lpt_layernorm_options &options, Tensor *input_gradient, Tensor *weight_gradient,
                          Tensor *bias_gradient) {
  LPT_TRY(check_norm_options(options, true));
  if (input_gradient == nullptr && weight_gradient == nullptr && bias_gradient == nullptr) {
    return invalid("input_gradient, weight_gradient and bias_gradient are NULL: expected at least one output");
  }
  return norm_backward(context,
                       {input, weight, mean, inverse_deviation, output_gradient, options.residual_gradient,
                        input_gradient, weight_gradient, bias_gradient, "inverse_deviation"},
                       true, !is_check_only(options.flags), options.is_accumulated != 0);
}

}  // namespace lpt
