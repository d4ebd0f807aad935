#include "src/optimizer/work.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

Status check_step_options(const lpt_optimizer_step_options &options) {
  constexpr double most = static_cast<double>(FLT_MAX);
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("learning_rate", options.learning_rate, 0.0, most));
  LPT_TRY(check_finite("gradient_scale", options.gradient_scale, -most, most));
  LPT_TRY(check_choice("first_moment_rounding", options.first_moment_rounding, LPT_ROUNDING_TOWARD_ZERO));
  LPT_TRY(check_choice("second_moment_rounding", options.second_moment_rounding, LPT_ROUNDING_TOWARD_ZERO));
  LPT_TRY(check_choice("parameter_rounding", options.parameter_rounding, LPT_ROUNDING_TOWARD_ZERO));
  LPT_TRY(check_choice("is_nonfinite_skipped", options.is_nonfinite_skipped, 1));
  LPT_TRY(check_finite("largest_norm", options.largest_norm, 0.0, DBL_MAX));
  if (!(options.gradient_norm >= 0.0)) {
    return invalid("gradient_norm is %g: expected at least 0", options.gradient_norm);
  }
  return {};
}

Status check_lists(const Optimizer &optimizer, const StepCall &call) {
  const int64_t count = call.count;
  if (call.indices == nullptr) return invalid("indices is NULL: expected %lld numbers", number(count));
  if (call.gradients == nullptr) return invalid("gradients is NULL: expected %lld tensors", number(count));
  if (call.parameters == nullptr) return invalid("parameters is NULL: expected %lld tensors", number(count));
  std::vector<bool> is_taken(optimizer.parameters.size(), false);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = call.indices[i];
    LPT_TRY(check_index(optimizer, item("indices", i).c_str(), index));
    if (is_taken[static_cast<size_t>(index)]) {
      return invalid("indices[%lld] is %lld again: expected each at most once", number(i), number(index));
    }
    is_taken[static_cast<size_t>(index)] = true;
  }
  return {};
}

Status check_value(const MatrixView &value, const std::string &name, bool is_compensated) {
  const lpt_format format = value.format.id;
  if (is_compensated && format != LPT_FORMAT_BF16) {
    return unsupported("%s is %s: expected bf16, as it has a compensation", name.c_str(), format_name(format).c_str());
  }
  if (format == LPT_FORMAT_F32 || format == LPT_FORMAT_BF16 || format == LPT_FORMAT_F16_TENSOR) return {};
  return unsupported("%s is %s: expected f32, bf16 or f16_tensor", name.c_str(), format_name(format).c_str());
}

Status check_work(Optimizer &optimizer, const StepCall &call, int64_t position, StepWork &out_work) {
  const bool needs_data = !is_check_only(call.options->flags);
  OptimizerParameter &parameter = optimizer.parameters[static_cast<size_t>(call.indices[position])];
  const Tensor *gradient = call.gradients[position];
  const Tensor *value = call.parameters[position];
  const std::string gradient_name = item("gradients", position), value_name = item("parameters", position);
  LPT_TRY(check_gradient(gradient, gradient_name, needs_data, out_work.gradient, optimizer.device));
  LPT_TRY(check_elements(gradient, gradient_name, out_work.gradient.columns, parameter.elements));
  LPT_TRY(check_dense(value, value_name, needs_data, out_work.value, optimizer.device));
  LPT_TRY(check_elements(value, value_name, out_work.value.columns, parameter.elements));
  LPT_TRY(check_value(out_work.value, value_name, parameter.is_compensated));
  out_work.parameter = &parameter;
  return {};
}

StateArray array_of(const Moment &moment, lpt_rounding rounding) {
  StateArray array;
  if (!moment.is_kept()) return array;
  array.data = moment.codes.data();
  array.element = moment.element;
  array.scale = moment.scale;
  array.block = moment.block;
  array.block_scales = reinterpret_cast<float *>(moment.scales.data());
  array.exponents = reinterpret_cast<uint16_t *>(moment.exponents.data());
  array.rounding = rounding;
  return array;
}

Status make_request(const Optimizer &optimizer, const lpt_optimizer_step_options &options, int64_t index,
                    StepWork &work) {
  const OptimizerParameter &parameter = *work.parameter;
  StepRequest &request = work.request;
  request = {};
  request.method = optimizer.options.method;
  request.count = parameter.elements;
  request.gradient = work.gradient.data;
  request.gradient_format = work.gradient.format.element;
  request.first = array_of(parameter.first, options.first_moment_rounding);
  request.second = array_of(parameter.second, options.second_moment_rounding);
  request.second.underflow = optimizer.options.second_underflow;
  request.parameter.data = work.value.data;
  request.parameter.element = work.value.format.element;
  const bool is_read = work.value.tensor_scale != nullptr && optimizer.device.is_cpu();
  request.parameter.scale = is_read ? *work.value.tensor_scale : 1.0f;
  request.parameter.rounding = options.parameter_rounding;
  if (parameter.is_compensated) {
    request.compensation.data = parameter.compensation.data();
    request.compensation.element = LPT_FORMAT_BF16;
  }
  lpt_random random = options.random;
  random.stream = static_cast<uint32_t>(parameter.random_stream == -1 ? index : parameter.random_stream);
  random.row_stride = 0;
  StateArray *const arrays[3] = {&request.first, &request.second, &request.parameter};
  for (uint32_t role = 0; role < 3; ++role) {
    LPT_TRY(make_random(random, RandomDomain::kOptimizer, role, 0, 16, 7, arrays[role]->random));
    arrays[role]->random.offset += parameter.begin;
  }
  work.needs_amax =
      parameter.first.needs_amax() || parameter.second.needs_amax() || work.value.format.has_tensor_scale();
  work.is_recording =
      parameter.first.scaling == LPT_SCALER_KIND_DELAYED || parameter.second.scaling == LPT_SCALER_KIND_DELAYED;
  return {};
}

// The byte range of an array, to find outputs that overlap another array.
struct UsedRange {
  uintptr_t begin, end;
  bool is_output;
  const char *array;
  int64_t position;
};

Status check_ranges(std::vector<UsedRange> &ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const UsedRange &a, const UsedRange &b) { return a.begin < b.begin; });
  const UsedRange *furthest = nullptr;         // range with the largest end
  const UsedRange *furthest_output = nullptr;  // output with the largest end
  for (const UsedRange &range : ranges) {
    const UsedRange *other = range.is_output ? furthest : furthest_output;
    if (other != nullptr && other->end > range.begin) {
      return invalid("%s overlaps %s: expected memory of its own", item(range.array, range.position).c_str(),
                     item(other->array, other->position).c_str());
    }
    if (furthest == nullptr || range.end > furthest->end) furthest = &range;
    if (range.is_output && (furthest_output == nullptr || range.end > furthest_output->end)) furthest_output = &range;
  }
  return {};
}

void add_range(std::vector<UsedRange> &ranges, const MatrixView &view, bool is_output, const char *array,
               int64_t position) {
  if (view.data == nullptr || view.columns == 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(view.data);
  ranges.push_back({begin, begin + static_cast<uintptr_t>(view_bytes(view)), is_output, array, position});
}

Status check_no_overlap(const std::vector<StepWork> &works) {
  std::vector<MatrixView> gradients, values;
  for (const StepWork &work : works) {
    gradients.push_back(work.gradient);
    values.push_back(work.value);
  }
  return check_memory_apart(gradients, values);
}

bool is_alike(const StateArray &a, const StateArray &b) {
  return a.element == b.element && a.block == b.block && (a.data == nullptr) == (b.data == nullptr) &&
         (a.exponents == nullptr) == (b.exponents == nullptr);
}

// Kernel selection does not depend on data, so works that are equal in these members share a kernel.
bool is_alike(const StepWork &a, const StepWork &b) {
  return a.is_recording == b.is_recording && a.request.gradient_format == b.request.gradient_format &&
         is_alike(a.request.first, b.request.first) && is_alike(a.request.second, b.request.second) &&
         is_alike(a.request.parameter, b.request.parameter) && is_alike(a.request.compensation, b.request.compensation);
}

Status select_step_kernel(Context &context, StepWork &work) {
  float amax[3] = {};
  StepRequest request = work.request;
  request.amax = work.is_recording ? amax : nullptr;
  const std::initializer_list<lpt_format> formats = {work.gradient.format.id, work.parameter->first.format,
                                                     work.parameter->second.format, work.value.format.id};
  return select_kernel(context, {"step", step_kernels}, request, formats, &work.kernel);
}

Status select_step_kernels(Context &context, std::vector<StepWork> &works) {
  std::vector<const StepWork *> chosen;
  for (StepWork &work : works) {
    const auto found =
        std::find_if(chosen.begin(), chosen.end(), [&](const StepWork *other) { return is_alike(work, *other); });
    if (found != chosen.end()) {
      work.kernel = (*found)->kernel;
      continue;
    }
    LPT_TRY(select_step_kernel(context, work));
    chosen.push_back(&work);
  }
  return {};
}

}  // namespace

Status check_moments_on_device(Context &context, const Optimizer &optimizer, const OptimizerParameter &parameter) {
  StepRequest request = {};
  request.method = optimizer.options.method;
  request.gradient_format = LPT_FORMAT_F32;
  request.first = array_of(parameter.first, LPT_ROUNDING_NEAREST_EVEN);
  request.second = array_of(parameter.second, LPT_ROUNDING_NEAREST_EVEN);
  // Kernel selection tests the pointers for nullptr, but the memory is not allocated yet.
  const Moment *const moments[2] = {&parameter.first, &parameter.second};
  StateArray *const arrays[2] = {&request.first, &request.second};
  uint16_t exponent = 0;
  for (int k = 0; k < 2; ++k) {
    if (moments[k]->is_kept()) arrays[k]->data = &request;
    if (moments[k]->is_expanded) arrays[k]->exponents = &exponent;
  }
  if (parameter.is_compensated) {
    request.compensation.data = &request;
    request.compensation.element = request.parameter.element = LPT_FORMAT_BF16;
  }
  const KernelEntry<StepRequest> *kernel = nullptr;
  return select_kernel(context, "step", request,
                       {LPT_FORMAT_F32, parameter.first.format, parameter.second.format, LPT_FORMAT_F32}, &kernel);
}

Status check_dense(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                   const Device &device) {
  LPT_TRY(check_matrix(tensor, name.c_str(), needs_data, out_view, device));
  if (out_view.rows > 1 && out_view.row_stride != out_view.columns) {
    return unsupported("%s has rows of %lld elements every %lld: expected no gaps", name.c_str(),
                       number(out_view.columns), number(out_view.row_stride));
  }
  out_view.columns = out_view.rows * out_view.columns;
  out_view.row_stride = out_view.columns;
  out_view.rows = 1;
  return {};
}

Status check_elements(const Tensor *tensor, const std::string &name, int64_t found, int64_t expected) {
  if (found == expected) return {};
  return invalid("%s is %s: expected %lld elements", name.c_str(), tensor_text(*tensor).c_str(), number(expected));
}

Status check_memory_apart(const std::vector<MatrixView> &gradients, const std::vector<MatrixView> &values) {
  std::vector<UsedRange> ranges;
  for (size_t i = 0; i < values.size(); ++i) {
    add_range(ranges, gradients[i], false, "gradients", static_cast<int64_t>(i));
    add_range(ranges, values[i], true, "parameters", static_cast<int64_t>(i));
  }
  return check_ranges(ranges);
}

Status check_gradient(const Tensor *tensor, const std::string &name, bool needs_data, MatrixView &out_view,
                      const Device &device) {
  LPT_TRY(check_dense(tensor, name, needs_data, out_view, device));
  const lpt_format format = out_view.format.id;
  if (format == LPT_FORMAT_F32 || format == LPT_FORMAT_BF16) return {};
  return unsupported("%s is %s: expected f32 or bf16", name.c_str(), format_name(format).c_str());
}

// Computes constants in f64 and rounds them once to f32.
Status set_constants(const Optimizer &optimizer, const lpt_optimizer_step_options &options, double clip_factor,
                     StepWork &work) {
  constexpr double most = static_cast<double>(FLT_MAX);
  const lpt_optimizer_options &option = optimizer.options;
  const bool is_adam = option.method == LPT_OPTIMIZER_METHOD_ADAMW || option.method == LPT_OPTIMIZER_METHOD_ADAM;
  const bool is_coupled = option.method == LPT_OPTIMIZER_METHOD_ADAM || option.method == LPT_OPTIMIZER_METHOD_SGD;
  const auto t = static_cast<double>(work.parameter->step_count + 1);
  const double correction = is_adam ? 1.0 - std::pow(option.beta1, t) : 1.0;
  const double step_size = options.learning_rate / correction;
  const double decay = options.learning_rate * work.parameter->weight_decay;
  LPT_TRY(check_finite("learning_rate / (1 - beta1^t)", step_size, 0.0, most));
  LPT_TRY(check_finite("learning_rate * weight_decay", decay, 0.0, most));
  StepConstants &c = work.request.constants;
  c.beta1 = static_cast<float>(option.beta1);
  c.one_minus_beta1 = static_cast<float>(1.0 - option.beta1);
  c.beta2 = static_cast<float>(option.beta2);
  c.one_minus_beta2 = static_cast<float>(1.0 - option.beta2);
  c.root_correction = static_cast<float>(1.0 / (1.0 - std::pow(option.beta2, t)));
  c.step_size = static_cast<float>(step_size);
  c.decay = is_coupled ? 0.0f : static_cast<float>(decay);
  c.coupled_decay = is_coupled ? static_cast<float>(work.parameter->weight_decay) : 0.0f;
  c.epsilon = static_cast<float>(option.epsilon);
  c.gradient_scale = static_cast<float>(options.gradient_scale * clip_factor);
  c.is_nesterov = option.is_nesterov == 1;
  return {};
}

Status make_works(Context &context, Optimizer &optimizer, const StepCall &call, std::vector<StepWork> &out_works) {
  LPT_TRY(check_step_options(*call.options));
  if (call.count < 0) return invalid("count is %lld: expected at least 0", number(call.count));
  if (call.count == 0) return {};
  LPT_TRY(check_lists(optimizer, call));
  out_works.resize(static_cast<size_t>(call.count));
  for (int64_t i = 0; i < call.count; ++i) {
    StepWork &work = out_works[static_cast<size_t>(i)];
    LPT_TRY(check_work(optimizer, call, i, work));
    LPT_TRY(make_request(optimizer, *call.options, call.indices[i], work));
    LPT_TRY(set_constants(optimizer, *call.options, 1.0, work));
  }
  LPT_TRY(check_no_overlap(out_works));
  return select_step_kernels(context, out_works);
}

}  // namespace lpt
