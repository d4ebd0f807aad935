#include "src/ops/optimizer.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "kernels/optimizer/optimizer.hpp"
#include "src/base/blob.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostParameters = int64_t{1} << 24;  // a parameter's index is its stream of random numbers
constexpr int64_t kUnit = 1024;                        // elements: parts end on cache lines of every array

long long number(int64_t value) { return static_cast<long long>(value); }

// ---- checks

Status check_index(const Optimizer &optimizer, const char *name, int64_t index) {
  const auto count = static_cast<int64_t>(optimizer.parameters.size());
  if (index >= 0 && index < count) return {};
  if (count == 0) return invalid("%s is %lld: the optimizer has no parameters", name, number(index));
  return invalid("%s is %lld: expected 0 to %lld", name, number(index), number(count - 1));
}

Status check_decay(const char *name, double beta) {
  if (beta >= 0.0 && beta < 1.0) return {};
  return invalid("%s is %g: expected at least 0 and less than 1", name, beta);
}

Status check_options(const lpt_optimizer_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_decay("beta1", options.beta1));
  LPT_TRY(check_decay("beta2", options.beta2));
  LPT_TRY(check_finite("epsilon", options.epsilon, 0.0, static_cast<double>(FLT_MAX)));
  LPT_TRY(check_choice("second_underflow", options.second_underflow, LPT_UNDERFLOW_ALLOWED));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

Status check_step_options(const lpt_step_options &options) {
  constexpr double most = static_cast<double>(FLT_MAX);
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("learning_rate", options.learning_rate, 0.0, most));
  LPT_TRY(check_finite("gradient_scale", options.gradient_scale, -most, most));
  LPT_TRY(check_choice("first_moment_rounding", options.first_moment_rounding, LPT_ROUNDING_TOWARD_ZERO));
  LPT_TRY(check_choice("second_moment_rounding", options.second_moment_rounding, LPT_ROUNDING_TOWARD_ZERO));
  LPT_TRY(check_choice("parameter_rounding", options.parameter_rounding, LPT_ROUNDING_TOWARD_ZERO));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

Status check_moment(const char *name, lpt_format id, Moment &out_moment) {
  switch (id) {
    case LPT_FORMAT_F32:
    case LPT_FORMAT_BF16:
    case LPT_FORMAT_E4M3FN_TENSOR:
    case LPT_FORMAT_E4M3_TENSOR:
    case LPT_FORMAT_E5M2_TENSOR:
    case LPT_FORMAT_F16_TENSOR:
      find_format(id, out_moment.format);
      return {};
    default:
      break;
  }
  return unsupported("%s is %s: expected f32, bf16, e4m3fn_tensor, e4m3_tensor, e5m2_tensor or f16_tensor", name,
                     format_name(id).c_str());
}

size_t moment_bytes(const OptimizerParameter &parameter, const Moment &moment) {
  return static_cast<size_t>(parameter.elements * element_bits(moment.format.element) / 8);
}

// A tensor of as many elements as the parameter, without gaps, as one row.
Status check_dense(const Tensor *tensor, const std::string &name, int64_t elements, bool needs_data,
                   MatrixView &out_view) {
  LPT_TRY(check_matrix(tensor, name.c_str(), needs_data, out_view));
  if (out_view.rows * out_view.columns != elements) {
    return invalid("%s is %s: expected %lld elements", name.c_str(), tensor_text(*tensor).c_str(), number(elements));
  }
  if (out_view.rows > 1 && out_view.row_stride != out_view.columns) {
    return unsupported("%s has rows of %lld elements every %lld: expected no gaps", name.c_str(),
                       number(out_view.columns), number(out_view.row_stride));
  }
  out_view.rows = 1;
  out_view.columns = elements;
  out_view.row_stride = elements;
  return {};
}

std::string item(const char *array, int64_t index) { return text("%s[%lld]", array, number(index)); }

// ---- one parameter's part of a step

struct Work {
  OptimizerParameter *parameter;
  MatrixView gradient, value;
  AdamwConstants constants;
  const Row<AdamwRequest> *row;
  AdamwRequest request;
};

Status check_work(Optimizer &optimizer, int64_t position, int64_t index, const Tensor *gradient, Tensor *value,
                  bool needs_data, Work &out_work) {
  OptimizerParameter &parameter = optimizer.parameters[static_cast<size_t>(index)];
  const std::string gradient_name = item("gradients", position);
  const std::string value_name = item("parameters", position);
  LPT_TRY(check_dense(gradient, gradient_name, parameter.elements, needs_data, out_work.gradient));
  LPT_TRY(check_dense(value, value_name, parameter.elements, needs_data, out_work.value));
  const lpt_format gradient_format = out_work.gradient.format.id;
  if (gradient_format != LPT_FORMAT_F32 && gradient_format != LPT_FORMAT_BF16) {
    return unsupported("%s is %s: expected f32 or bf16", gradient_name.c_str(), format_name(gradient_format).c_str());
  }
  const lpt_format value_format = out_work.value.format.id;
  if (value_format != LPT_FORMAT_F32 && value_format != LPT_FORMAT_BF16 && value_format != LPT_FORMAT_F16_TENSOR) {
    return unsupported("%s is %s: expected f32, bf16 or f16_tensor", value_name.c_str(),
                       format_name(value_format).c_str());
  }
  out_work.parameter = &parameter;
  return {};
}

// Computed in f64, rounded once.
Status make_constants(const lpt_optimizer_options &optimizer, const lpt_step_options &options,
                      const OptimizerParameter &parameter, AdamwConstants &out_constants) {
  const auto t = static_cast<double>(parameter.step_count + 1);
  AdamwConstants &c = out_constants;
  c.beta1 = static_cast<float>(optimizer.beta1);
  c.one_minus_beta1 = static_cast<float>(1.0 - optimizer.beta1);
  c.beta2 = static_cast<float>(optimizer.beta2);
  c.one_minus_beta2 = static_cast<float>(1.0 - optimizer.beta2);
  c.root_correction = static_cast<float>(1.0 / (1.0 - std::pow(optimizer.beta2, t)));
  const double step_size = options.learning_rate / (1.0 - std::pow(optimizer.beta1, t));
  const double decay = options.learning_rate * parameter.weight_decay;
  LPT_TRY(check_finite("learning_rate / (1 - beta1^t)", step_size, 0.0, static_cast<double>(FLT_MAX)));
  LPT_TRY(check_finite("learning_rate · weight_decay", decay, 0.0, static_cast<double>(FLT_MAX)));
  c.step_size = static_cast<float>(step_size);
  c.decay = static_cast<float>(decay);
  c.epsilon = static_cast<float>(optimizer.epsilon);
  c.gradient_scale = static_cast<float>(options.gradient_scale);
  return {};
}

Status make_request(const Optimizer &optimizer, const lpt_step_options &options, int64_t index, Work &work) {
  const OptimizerParameter &parameter = *work.parameter;
  lpt_random random = options.random;
  random.stream = static_cast<uint32_t>(index);
  random.row_stride = 0;
  StateArray arrays[3] = {
      {parameter.first.memory.get(),
       parameter.first.format.element,
       parameter.first.scale,
       1.0f,
       options.first_moment_rounding,
       false,
       {}},
      {parameter.second.memory.get(),
       parameter.second.format.element,
       parameter.second.scale,
       1.0f,
       options.second_moment_rounding,
       optimizer.options.second_underflow == LPT_UNDERFLOW_CLAMP,
       {}},
      {work.value.data,
       work.value.format.element,
       work.value.tensor_scale == nullptr ? 1.0f : *work.value.tensor_scale,
       1.0f,
       options.parameter_rounding,
       false,
       {}},
  };
  for (uint32_t role = 0; role < 3; ++role) {
    LPT_TRY(make_random(random, RandomRoom::kOptimizer, role, 0, 16, 7, arrays[role].random));
  }
  work.request = AdamwRequest{0,
                              parameter.elements,
                              work.gradient.data,
                              work.gradient.format.element,
                              arrays[0],
                              arrays[1],
                              arrays[2],
                              work.constants,
                              false,
                              nullptr};
  return {};
}

// Bytes of memory that a call reads or writes, for finding outputs that meet something else.
struct Range {
  uintptr_t begin, end;
  bool is_output;
  const char *array;
  int64_t position;
};

Status check_ranges(std::vector<Range> &ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) { return a.begin < b.begin; });
  const Range *furthest = nullptr;         // of all so far
  const Range *furthest_output = nullptr;  // of the outputs so far
  for (const Range &range : ranges) {
    const Range *other = range.is_output ? furthest : furthest_output;
    if (other != nullptr && other->end > range.begin) {
      return invalid("%s overlaps %s: expected memory of its own", item(range.array, range.position).c_str(),
                     item(other->array, other->position).c_str());
    }
    if (furthest == nullptr || range.end > furthest->end) furthest = &range;
    if (range.is_output && (furthest_output == nullptr || range.end > furthest_output->end)) furthest_output = &range;
  }
  return {};
}

void add_range(std::vector<Range> &ranges, const MatrixView &view, bool is_output, const char *array,
               int64_t position) {
  if (view.data == nullptr || view.columns == 0) return;
  const auto begin = reinterpret_cast<uintptr_t>(view.data);
  ranges.push_back({begin, begin + static_cast<uintptr_t>(view_bytes(view)), is_output, array, position});
}

// Rows do not look at data: one choice serves all parameters of the same formats.
Status choose_rows(Context &context, std::vector<Work> &works) {
  std::vector<const Work *> chosen;
  for (Work &work : works) {
    const auto is_alike = [&](const Work *other) {
      const AdamwRequest &a = work.request, &b = other->request;
      return a.gradient_format == b.gradient_format && a.first.element == b.first.element &&
             a.second.element == b.second.element && a.parameter.element == b.parameter.element;
    };
    const auto found = std::find_if(chosen.begin(), chosen.end(), is_alike);
    if (found != chosen.end()) {
      work.row = (*found)->row;
      continue;
    }
    LPT_TRY(choose(context, "adamw", adamw_kernels(), work.request,
                   {work.gradient.format.id, work.parameter->first.format.id, work.parameter->second.format.id,
                    work.value.format.id},
                   &work.row));
    chosen.push_back(&work);
  }
  return {};
}

struct Amax {
  float of[3];
};

Parts parts_of(const Context &context, const Work &work) {
  return split(context, (work.parameter->elements + kUnit - 1) / kUnit, kUnit);
}

void run_pass(Context &context, const Work &work, bool is_measure, std::vector<Amax> &amax) {
  const Parts parts = parts_of(context, work);
  parallel_for(context, parts.count, [&](int64_t i) {
    AdamwRequest part = work.request;
    part.begin = i * parts.length * kUnit;
    part.count = std::min(parts.length * kUnit, work.parameter->elements - part.begin);
    part.is_measure = is_measure;
    part.amax = amax[static_cast<size_t>(i)].of;
    work.row->run(part);
  });
}

// New scales need the new amax, so a parameter with scales is computed twice.
void run_work(Context &context, Work &work, std::vector<Amax> &amax) {
  OptimizerParameter &parameter = *work.parameter;
  const struct {
    const Format &format;
    float *scale;
    StateArray &array;
  } states[3] = {{parameter.first.format, &parameter.first.scale, work.request.first},
                 {parameter.second.format, &parameter.second.scale, work.request.second},
                 {work.value.format, work.value.tensor_scale, work.request.parameter}};
  const double moved = view_bytes(work.gradient) +
                       2.0 * (view_bytes(work.value) + static_cast<double>(moment_bytes(parameter, parameter.first) +
                                                                           moment_bytes(parameter, parameter.second)));
  const Measure measure(context, "adamw", work.row->name, moved);
  const bool is_scaled = std::any_of(std::begin(states), std::end(states),
                                     [](const auto &state) { return state.format.has_tensor_scale(); });
  float scales[3] = {1.0f, 1.0f, 1.0f};
  if (is_scaled) {
    std::fill(amax.begin(), amax.end(), Amax{});
    run_pass(context, work, true, amax);
    for (int k = 0; k < 3; ++k) {
      if (!states[k].format.has_tensor_scale()) continue;
      float largest = 0.0f;
      for (const Amax &part : amax) largest = std::max(largest, part.of[k]);
      scales[k] = tensor_scale_value(scale_spec(states[k].format, LPT_SCALE_RULE_AMAX, 1.0f), largest);
      states[k].array.inverse_scale = inverse_scale(scales[k]);
    }
  }
  run_pass(context, work, false, amax);
  for (int k = 0; k < 3; ++k) {
    if (states[k].format.has_tensor_scale()) *states[k].scale = scales[k];
  }
  ++parameter.step_count;
}

}  // namespace

Status create_optimizer(Context &context, const lpt_optimizer_options &options, Optimizer **out_optimizer) {
  LPT_TRY(check_options(options));
  if (is_check_only(options.flags)) {
    *out_optimizer = nullptr;
    return {};
  }
  auto optimizer = std::make_unique<Optimizer>();
  optimizer->options = options;
  optimizer->allocator = context.allocator;
  *out_optimizer = optimizer.release();
  return {};
}

Status add_parameter(Optimizer &optimizer, const lpt_optimizer_parameter &parameter, int64_t &out_index) {
  if (parameter.elements < 0 || parameter.elements > std::numeric_limits<int64_t>::max() / 64) {
    return invalid("elements is %lld: expected 0 to 2^57", number(parameter.elements));
  }
  LPT_TRY(check_finite("weight_decay", parameter.weight_decay, 0.0, static_cast<double>(FLT_MAX)));
  const auto index = static_cast<int64_t>(optimizer.parameters.size());
  if (index >= kMostParameters) return unsupported("the optimizer has %lld parameters, the most", number(index));
  OptimizerParameter added;
  added.elements = parameter.elements;
  added.weight_decay = parameter.weight_decay;
  LPT_TRY(check_moment("first_moment", parameter.first_moment, added.first));
  LPT_TRY(check_moment("second_moment", parameter.second_moment, added.second));
  LPT_TRY(allocate_bytes(optimizer.allocator, moment_bytes(added, added.first), added.first.memory));
  LPT_TRY(allocate_bytes(optimizer.allocator, moment_bytes(added, added.second), added.second.memory));
  optimizer.parameters.push_back(std::move(added));
  out_index = index;
  return {};
}

Status step_optimizer(Context &context, Optimizer &optimizer, const int64_t *indices, int64_t count,
                      const Tensor *const *gradients, const lpt_step_options &options, Tensor *const *parameters) {
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_step_options(options));
  if (count < 0) return invalid("count is %lld: expected at least 0", number(count));
  if (count == 0) return {};
  if (indices == nullptr) return invalid("indices is NULL: expected %lld numbers", number(count));
  if (gradients == nullptr) return invalid("gradients is NULL: expected %lld tensors", number(count));
  if (parameters == nullptr) return invalid("parameters is NULL: expected %lld tensors", number(count));
  std::vector<bool> is_taken(optimizer.parameters.size(), false);
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(check_index(optimizer, item("indices", i).c_str(), indices[i]));
    if (is_taken[static_cast<size_t>(indices[i])]) {
      return invalid("indices[%lld] is %lld again: expected each at most once", number(i), number(indices[i]));
    }
    is_taken[static_cast<size_t>(indices[i])] = true;
  }
  std::vector<Work> works(static_cast<size_t>(count));
  std::vector<Range> ranges;
  int64_t most_parts = 0;
  for (int64_t i = 0; i < count; ++i) {
    Work &work = works[static_cast<size_t>(i)];
    LPT_TRY(check_work(optimizer, i, indices[i], gradients[i], parameters[i], needs_data, work));
    LPT_TRY(make_constants(optimizer.options, options, *work.parameter, work.constants));
    LPT_TRY(make_request(optimizer, options, indices[i], work));
    add_range(ranges, work.gradient, false, "gradients", i);
    add_range(ranges, work.value, true, "parameters", i);
    most_parts = std::max(most_parts, parts_of(context, work).count);
  }
  LPT_TRY(check_ranges(ranges));
  LPT_TRY(choose_rows(context, works));
  if (!needs_data) return {};
  std::vector<Amax> amax(static_cast<size_t>(most_parts));
  for (Work &work : works) run_work(context, work, amax);
  return {};
}

Status optimizer_size(const Optimizer &optimizer, size_t &out_size_bytes) {
  size_t size = 0;
  for (const OptimizerParameter &parameter : optimizer.parameters) {
    for (const Moment *moment : {&parameter.first, &parameter.second}) {
      size += moment_bytes(parameter, *moment) + (moment->format.has_tensor_scale() ? sizeof moment->scale : 0);
    }
  }
  out_size_bytes = size;
  return {};
}

// ---- saved state: elements, step count, then format, scale and bytes of each moment

namespace {

constexpr size_t kStateBytes = 2 * 8 + 2 * (8 + 4);

size_t state_bytes(const OptimizerParameter &parameter) {
  return kBlobHeaderBytes + kStateBytes + moment_bytes(parameter, parameter.first) +
         moment_bytes(parameter, parameter.second);
}

}  // namespace

Status optimizer_state_size(const Optimizer &optimizer, int64_t index, size_t &out_size_bytes) {
  LPT_TRY(check_index(optimizer, "index", index));
  out_size_bytes = state_bytes(optimizer.parameters[static_cast<size_t>(index)]);
  return {};
}

Status save_optimizer_state(const Optimizer &optimizer, int64_t index, void *buffer, size_t buffer_bytes) {
  LPT_TRY(check_index(optimizer, "index", index));
  const OptimizerParameter &parameter = optimizer.parameters[static_cast<size_t>(index)];
  BlobWriter writer(BlobKind::kOptimizerParameter);
  writer.i64(parameter.elements);
  writer.i64(parameter.step_count);
  for (const Moment *moment : {&parameter.first, &parameter.second}) {
    writer.i64(moment->format.id);
    writer.f32(moment->scale);
    writer.bytes(moment->memory.get(), moment_bytes(parameter, *moment));
  }
  return writer.save(buffer, buffer_bytes);
}

Status load_optimizer_state(Optimizer &optimizer, int64_t index, const void *buffer, size_t buffer_bytes) {
  LPT_TRY(check_index(optimizer, "index", index));
  OptimizerParameter &parameter = optimizer.parameters[static_cast<size_t>(index)];
  BlobReader reader;
  LPT_TRY(BlobReader::open(BlobKind::kOptimizerParameter, buffer, buffer_bytes, reader));
  const int64_t elements = reader.i64();
  if (elements != parameter.elements) return blob_mismatch("elements", elements, parameter.elements);
  OptimizerParameter loaded = parameter;
  loaded.step_count = reader.i64();
  if (loaded.step_count < 0) return blob_mismatch("the step count", loaded.step_count, 0);
  Moment *const moments[2] = {&loaded.first, &loaded.second};
  static constexpr const char *kNames[2] = {"the first moment's format", "the second moment's format"};
  for (int i = 0; i < 2; ++i) {
    const lpt_format format = reader.i64();
    if (format != moments[i]->format.id) return blob_mismatch(kNames[i], format, moments[i]->format.id);
    moments[i]->scale = reader.f32();
    if (!(moments[i]->scale > 0.0f) || std::isinf(moments[i]->scale)) {
      return Status(LPT_INVALID_STATE,
                    text("saved state: a moment's scale is %g", static_cast<double>(moments[i]->scale)));
    }
    const size_t size = moment_bytes(loaded, *moments[i]);
    LPT_TRY(allocate_bytes(optimizer.allocator, size, moments[i]->memory));
    reader.bytes(moments[i]->memory.get(), size);
  }
  if (!reader.is_ok() || reader.left_bytes() != 0) {
    return Status(LPT_INVALID_STATE, "saved state: the moments are of another length");
  }
  parameter = std::move(loaded);
  return {};
}

}  // namespace lpt
