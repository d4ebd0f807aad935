#include "src/nn/device.hpp"

#include "src/cast/device_stored.hpp"
#include "src/cast/stored.hpp"

namespace lpt {
namespace {

bool is_empty(const MatrixView &view) { return view.rows == 0 || view.columns == 0; }

// A column amax that starts at zero.
Status take_zeros(Context &context, int64_t count, float **out) {
  std::byte *memory = nullptr;
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  LPT_TRY(take_on_device(context, bytes, &memory));
  *out = reinterpret_cast<float *>(memory);
  return context.queue.fill(memory, 0, bytes);
}

// The weight gradient is summed in parts of rows that depend on the shape alone, then over the parts in their order.
struct GradientParts {
  int64_t rows, part_rows, count;
};

GradientParts gradient_parts(int64_t rows) {
  constexpr int64_t kMost = 256;  // bounds the scratch; with the slabs of a row some thousand blocks of threads
  constexpr int64_t kLeastRows = 64;
  const int64_t part_rows = std::max(kLeastRows, (rows + kMost - 1) / kMost);
  return {rows, part_rows, (rows + part_rows - 1) / part_rows};
}

// The rows of a norm's backward pass; NULL: not needed.
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

}  // namespace

Status swiglu_forward_on_device(Context &context, SwigluForwardRequest whole, bool is_smoothed, uint8_t *factors,
                                bool is_check_only) {
  const KernelEntry<SwigluForwardRequest> *kernel = nullptr;
  const KernelEntry<SmoothingRequest> *smoothing = nullptr;
  LPT_TRY(select_kernel(context, "swiglu_forward", whole,
                        {whole.gate.format.id, whole.up.format.id, whole.output.format.id}, &kernel));
  SmoothingRequest found{nullptr, whole.gate.columns, factors};
  if (is_smoothed) LPT_TRY(select_kernel(context, "smoothing", found, {LPT_FORMAT_E8M0FNU}, &smoothing));
  if (is_check_only) return {};
  if (is_smoothed) LPT_TRY(take_zeros(context, whole.gate.columns, &whole.column_amax));
  LPT_TRY(queue_kernel(context, *kernel, whole));
  if (!is_smoothed) return {};
  found.column_amax = whole.column_amax;
  return queue_kernel(context, *smoothing, found);
}

Status swiglu_backward_on_device(Context &context, const MatrixView &gate, const MatrixView &up,
                                 const SwigluBackwardRequest &whole, bool is_check_only) {
  const int64_t chunk = stored_chunk({&gate, &up}, 1, kDeviceStoredElements);
  DeviceStored gates, ups;
  LPT_TRY(gates.prepare(context, gate, std::min(chunk, gate.rows), is_check_only));
  LPT_TRY(ups.prepare(context, up, std::min(chunk, gate.rows), is_check_only));
  SwigluBackwardRequest part = whole;
  part.gate = gates.numbers();
  part.up = ups.numbers();
  const KernelEntry<SwigluBackwardRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "swiglu_backward", part,
                        {part.gate.format.id, part.up.format.id, whole.output_gradient.format.id,
                         whole.gate_gradient.format.id, whole.up_gradient.format.id},
                        &kernel));
  if (is_check_only || is_empty(gate)) return {};
  for (int64_t begin = 0; begin < gate.rows; begin += chunk) {
    const int64_t count = std::min(chunk, gate.rows - begin);
    LPT_TRY(gates.queue_rows(context, begin, count, part.gate));
    LPT_TRY(ups.queue_rows(context, begin, count, part.up));
    part.output_gradient = cut_rows(whole.output_gradient, begin, count);
    part.gate_gradient = cut_rows(whole.gate_gradient, begin, count);
    part.up_gradient = cut_rows(whole.up_gradient, begin, count);
    LPT_TRY(queue_kernel(context, *kernel, part));
  }
  return {};
}

Status rmsnorm_forward_on_device(Context &context, const RmsnormForwardRequest &whole, bool is_check_only) {
  return run_on_device(context, "rmsnorm_forward", whole, {whole.input.format.id, whole.output.format.id},
                       is_check_only);
}

Status rmsnorm_forward_sum_on_device(Context &context, const RmsnormSumRequest &whole, bool is_check_only) {
  return run_on_device(context, "rmsnorm_forward_sum", whole, {whole.norm.input.format.id, whole.norm.output.format.id},
                       is_check_only);
}

Status rmsnorm_backward_on_device(Context &context, const MatrixView &input, const RmsnormBackwardRequest &whole,
                                  const WeightGradient &gradient, bool is_check_only) {
  const GradientParts parts = gradient_parts(input.rows);
  const int64_t chunk = stored_chunk({&input}, parts.part_rows, kDeviceStoredElements);
  DeviceStored stored;
  NormSteps steps;
  LPT_TRY(stored.prepare(context, input, std::min(chunk, input.rows), is_check_only));
  RmsnormBackwardRequest seen = whole;
  seen.input = stored.numbers();
  LPT_TRY(choose_norm_steps(context, seen, gradient.is_requested, steps));
  if (is_check_only || input.columns == 0) return {};
  std::byte *sums = nullptr;
  if (gradient.is_requested) {
    LPT_TRY(take_on_device(context, static_cast<size_t>(parts.count * input.columns) * sizeof(double), &sums));
  }
  for (int64_t begin = 0; begin < input.rows; begin += chunk) {
    MatrixView rows;
    LPT_TRY(stored.queue_rows(context, begin, std::min(chunk, input.rows - begin), rows));
    LPT_TRY(queue_norm_rows(context, steps, whole, rows, begin, parts.part_rows, reinterpret_cast<double *>(sums)));
  }
  if (!gradient.is_requested) return {};
  return queue_kernel(context, *steps.sum,
                      {reinterpret_cast<double *>(sums), parts.count, input.columns,
                       static_cast<float *>(gradient.data), gradient.is_accumulated});
}

Status softmax_forward_on_device(Context &context, const SoftmaxForwardRequest &whole, bool is_check_only) {
  return run_on_device(context, "softmax_forward", whole, {whole.input.format.id, whole.output.format.id},
                       is_check_only);
}

Status softmax_exaq_on_device(Context &context, const SoftmaxExaqRequest &whole, bool is_check_only) {
  return run_on_device(context, "softmax_exaq", whole, {whole.softmax.input.format.id, whole.softmax.output.format.id},
                       is_check_only);
}

Status softmax_backward_on_device(Context &context, const SoftmaxBackwardRequest &whole, bool is_check_only) {
  return run_on_device(context, "softmax_backward", whole,
                       {whole.output.format.id, whole.output_gradient.format.id, whole.input_gradient.format.id},
                       is_check_only);
}

}  // namespace lpt
