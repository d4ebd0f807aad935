// Creation of optimizers and of the state of their parameters.
#include "src/optimizer/optimizer.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/formats/dynamic_tree.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostParameters = int64_t{1} << 24;  // the default stream of random numbers is the index
constexpr size_t kLongestName = 255;                   // bytes
constexpr int64_t kGroup = 128;
constexpr int64_t kTreeBlock = 256;
constexpr size_t kLeastResidentBytes = size_t{4} << 20;

Status check_decay(const char *name, double beta) {
  if ((beta >= 0.0 && beta < 1.0) || beta == -1.0) return {};
  return invalid("%s is %g: expected at least 0 and less than 1, or -1 for the default", name, beta);
}

double default_beta1(lpt_optimizer_method method) { return method == LPT_OPTIMIZER_METHOD_SGD ? 0.0 : 0.9; }
double default_beta2(lpt_optimizer_method method) { return method == LPT_OPTIMIZER_METHOD_LION ? 0.99 : 0.999; }

Status check_switch(const char *name, int32_t value) {
  return value == 0 || value == 1 ? Status() : invalid("%s is %d: expected 0 or 1", name, value);
}

Status check_options(const lpt_optimizer_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_decay("beta1", options.beta1));
  LPT_TRY(check_decay("beta2", options.beta2));
  LPT_TRY(check_finite("epsilon", options.epsilon, 0.0, static_cast<double>(FLT_MAX)));
  LPT_TRY(check_choice("second_underflow", options.second_underflow, LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC));
  LPT_TRY(check_choice("method", options.method, LPT_OPTIMIZER_METHOD_LION));
  LPT_TRY(check_switch("is_nesterov", options.is_nesterov));
  if (options.is_nesterov == 1 && options.method != LPT_OPTIMIZER_METHOD_SGD) {
    return unsupported("is_nesterov is 1: only LPT_OPTIMIZER_METHOD_SGD has Nesterov's momentum");
  }
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return {};
}

bool is_fp8(lpt_format element) {
  return element == LPT_FORMAT_E4M3FN || element == LPT_FORMAT_E4M3 || element == LPT_FORMAT_E5M2;
}

bool is_moment(const Format &format) {
  if (format.is_sparse) return false;
  if (format.is_plain()) return format.id == LPT_FORMAT_F32 || format.id == LPT_FORMAT_BF16;
  if (!format.has_block_scale()) return is_fp8(format.element) || format.id == LPT_FORMAT_F16_TENSOR;
  return is_fp8(format.element) && !format.has_tensor_scale() && format.block_scale == LPT_FORMAT_F32 &&
         format.block_rows == 1 && format.block_columns == kGroup;
}

Status read_format(const char *name, lpt_format id, bool is_first, Moment &out_moment) {
  if (id == LPT_FORMAT_DYNAMIC_1X256) {
    out_moment.format = id;
    out_moment.element = is_first ? kDynamicSigned : kDynamicUnsigned;
    out_moment.block = kTreeBlock;
    return {};
  }
  Format format;
  if (!find_format(id, format) || !is_moment(format)) {
    return unsupported(
        "%s is %s: expected f32, bf16, e4m3fn_tensor, e4m3_tensor, e5m2_tensor or f16_tensor, e4m3fn_1x128, "
        "e4m3/1x128/f32, e5m2_1x128 or LPT_FORMAT_DYNAMIC_1X256",
        name, format_name(id).c_str());
  }
  out_moment.format = format.id;
  out_moment.element = format.element;
  out_moment.block = format.has_block_scale() ? kGroup : 0;
  out_moment.has_scale = format.has_tensor_scale();
  return {};
}

struct MomentSetting {
  const char *name;
  lpt_format format;
  int32_t is_expanded;
  const char *expanded_name;
  lpt_scaler_kind scaling;
  const char *scaling_name;
  bool is_first;
};

Status read_moment(const MomentSetting &option, Moment &out_moment) {
  LPT_TRY(read_format(option.name, option.format, option.is_first, out_moment));
  LPT_TRY(check_switch(option.expanded_name, option.is_expanded));
  LPT_TRY(check_choice(option.scaling_name, option.scaling, LPT_SCALER_KIND_DELAYED));
  if (option.is_expanded == 1 && out_moment.block != kGroup) {
    return unsupported("%s is 1: expected a moment in groups of 128", option.expanded_name);
  }
  if (option.scaling == LPT_SCALER_KIND_DELAYED && !out_moment.has_scale) {
    return unsupported("%s is LPT_SCALER_KIND_DELAYED: expected a moment with one scale per tensor",
                       option.scaling_name);
  }
  out_moment.is_expanded = option.is_expanded == 1;
  out_moment.scaling = option.scaling;
  return {};
}

Status read_shard(const lpt_optimizer_parameter &option, OptimizerParameter &out_parameter) {
  const int64_t least = option.whole_elements == 0 ? 1 : 0;  // a rank may have an empty shard
  if (option.elements < least || option.elements > std::numeric_limits<int64_t>::max() / 64) {
    return invalid("elements is %lld: expected %lld to 2^57", number(option.elements), number(least));
  }
  const int64_t whole = option.whole_elements == 0 ? option.elements : option.whole_elements;
  if (whole < option.elements || whole > std::numeric_limits<int64_t>::max() / 64) {
    return invalid("whole_elements is %lld: expected 0, or elements, %lld, to 2^57", number(whole),
                   number(option.elements));
  }
  if (option.begin < 0 || option.begin > whole - option.elements) {
    return invalid("begin is %lld: expected 0 to whole_elements - elements, %lld", number(option.begin),
                   number(whole - option.elements));
  }
  const int64_t block = std::max(out_parameter.first.block, out_parameter.second.block);
  if (block != 0 && option.begin % block != 0) {
    return invalid("begin is %lld: expected a multiple of %lld, the block of the moments", number(option.begin),
                   number(block));
  }
  out_parameter.elements = option.elements;
  out_parameter.whole_elements = whole;
  out_parameter.begin = option.begin;
  return {};
}

bool has_second(lpt_optimizer_method method) {
  return method == LPT_OPTIMIZER_METHOD_ADAMW || method == LPT_OPTIMIZER_METHOD_ADAM;
}

Status read_parameter(const Optimizer &optimizer, const lpt_optimizer_parameter &option,
                      OptimizerParameter &out_parameter) {
  LPT_TRY(check_finite("weight_decay", option.weight_decay, 0.0, static_cast<double>(FLT_MAX)));
  LPT_TRY(read_moment({"first_moment", option.first_moment, option.is_first_expanded, "is_first_expanded",
                       option.first_scaling, "first_scaling", true},
                      out_parameter.first));
  if (has_second(optimizer.options.method)) {
    LPT_TRY(read_moment({"second_moment", option.second_moment, option.is_second_expanded, "is_second_expanded",
                         option.second_scaling, "second_scaling", false},
                        out_parameter.second));
  }
  if (option.compensation != LPT_FORMAT_NONE && option.compensation != LPT_FORMAT_BF16) {
    return unsupported("compensation is %s: expected bf16 or none", format_name(option.compensation).c_str());
  }
  out_parameter.is_compensated = option.compensation == LPT_FORMAT_BF16;
  out_parameter.weight_decay = option.weight_decay;
  if (option.random_stream < -1 || option.random_stream >= kMostParameters) {
    return invalid("random_stream is %lld: expected -1 or 0 to %lld", number(option.random_stream),
                   number(kMostParameters - 1));
  }
  out_parameter.random_stream = option.random_stream;
  return read_shard(option, out_parameter);
}

// Adds the names of parameters. The destructor removes them unless keep() was called.
class AddedNames {
 public:
  AddedNames(std::unordered_map<std::string, int64_t> &indices, const std::vector<OptimizerParameter> &parameters)
      : indices_(indices), parameters_(parameters) {}
  AddedNames(const AddedNames &) = delete;
  AddedNames &operator=(const AddedNames &) = delete;
  ~AddedNames() {
    for (size_t i = 0; i < count_; ++i) indices_.erase(parameters_[i].name);
  }

  // Adds the names; `first` is the index of the first parameter.
  Status add(int64_t first) {
    for (; count_ < parameters_.size(); ++count_) {
      const std::string &name = parameters_[count_].name;
      if (name.empty()) continue;
      const auto [place, is_new] = indices_.emplace(name, first + static_cast<int64_t>(count_));
      if (!is_new) {
        return invalid("name is \"%s\": parameter %lld has it, expected another name", name.c_str(),
                       number(place->second));
      }
    }
    return {};
  }
  void keep() { count_ = 0; }

 private:
  std::unordered_map<std::string, int64_t> &indices_;
  const std::vector<OptimizerParameter> &parameters_;
  size_t count_ = 0;  // number of parameters whose names were added
};

}  // namespace

Status check_place(const Context &context, const Optimizer &optimizer) {
  const Device &here = context.queue.device();
  if (here == optimizer.device) return {};
  return invalid("optimizer keeps its state on %s: expected a context that works there, not on %s",
                 device_text(optimizer.device).c_str(), device_text(here).c_str());
}

Status check_index(const Optimizer &optimizer, const char *name, int64_t index) {
  const auto count = static_cast<int64_t>(optimizer.parameters.size());
  if (index >= 0 && index < count) return {};
  if (count == 0) return invalid("%s is %lld: the optimizer has no parameters", name, number(index));
  return invalid("%s is %lld: expected 0 to %lld", name, number(index), number(count - 1));
}

Status create_optimizer(Context &context, const lpt_optimizer_options &options, Optimizer **out_optimizer) {
  LPT_TRY(check_options(options));
  if (is_check_only(options.flags)) {
    *out_optimizer = nullptr;
    return {};
  }
  auto optimizer = std::make_unique<Optimizer>();
  optimizer->options = options;
  if (options.beta1 == -1.0) optimizer->options.beta1 = default_beta1(options.method);
  if (options.beta2 == -1.0) optimizer->options.beta2 = default_beta2(options.method);
  optimizer->allocator = context.allocator;
  optimizer->device = context.queue.device();
  if (!optimizer->device.is_cpu()) LPT_TRY(allocate_facts(context, optimizer->facts));
  *out_optimizer = optimizer.release();
  return {};
}

Status set_state_directory(Optimizer &optimizer, const char *directory, size_t resident_bytes) {
  if (directory == nullptr) return invalid("directory is NULL: expected a path");
  if (resident_bytes != 0 && resident_bytes < kLeastResidentBytes) {
    return invalid("resident_bytes is %zu: expected 0 or at least %zu", resident_bytes, kLeastResidentBytes);
  }
  if (!optimizer.parameters.empty()) {
    return invalid("optimizer has %zu parameters: expected none, their state has its place",
                   optimizer.parameters.size());
  }
  if (!optimizer.device.is_cpu()) {
    return unsupported("optimizer keeps its state on %s: files are mapped for the CPU alone",
                       device_text(optimizer.device).c_str());
  }
  std::shared_ptr<MappedMemory> probe;  // rejects a directory in which no file can be created
  LPT_TRY(MappedMemory::create(directory, 0, probe));
  optimizer.state_directory = directory;
  if (resident_bytes != 0) optimizer.resident_bytes = resident_bytes;
  return {};
}

Status make_parameter(Context &context, const Optimizer &optimizer, const char *name,
                      const lpt_optimizer_parameter &option, OptimizerParameter &out_parameter) {
  LPT_TRY(check_place(context, optimizer));
  if (name != nullptr) {
    const size_t bytes = std::strlen(name);
    if (bytes == 0 || bytes > kLongestName) {
      return invalid("name has %zu bytes: expected 1 to %zu, or NULL", bytes, kLongestName);
    }
    out_parameter.name = name;
  }
  LPT_TRY(read_parameter(optimizer, option, out_parameter));
  return optimizer.device.is_cpu() ? allocate_state(optimizer, out_parameter)
                                   : allocate_state_on_device(context, optimizer, out_parameter);
}

Status add_parameter(Context &context, Optimizer &optimizer, const char *name, const lpt_optimizer_parameter &parameter,
                     int64_t &out_index) {
  OptimizerParameter added;
  LPT_TRY(make_parameter(context, optimizer, name, parameter, added));
  return add_parameters(optimizer, {added}, &out_index);
}

Status add_parameters(Optimizer &optimizer, std::vector<OptimizerParameter> parameters, int64_t *out_indices) {
  const auto first = static_cast<int64_t>(optimizer.parameters.size());
  const auto count = static_cast<int64_t>(parameters.size());
  if (first + count > kMostParameters) {
    return unsupported("the optimizer has %lld parameters: expected at most %lld with those that are added",
                       number(first), number(kMostParameters));
  }
  // The capacity at least doubles, because growth by `count` copies all parameters at each call.
  const size_t needed = static_cast<size_t>(first + count), capacity = optimizer.parameters.capacity();
  if (needed > capacity) optimizer.parameters.reserve(std::max(needed, 2 * capacity));
  AddedNames names(optimizer.indices, parameters);
  LPT_TRY(names.add(first));
  names.keep();
  for (int64_t i = 0; i < count; ++i) {
    optimizer.parameters.push_back(std::move(parameters[static_cast<size_t>(i)]));
    out_indices[i] = first + i;
  }
  return {};
}

Status find_parameter(const Optimizer &optimizer, const char *name, int64_t &out_index) {
  if (name == nullptr) return invalid("name is NULL: expected the name of a parameter");
  const auto place = optimizer.indices.find(name);
  if (place == optimizer.indices.end()) {
    return invalid("name is \"%s\": expected the name of one of %zu parameters", name, optimizer.indices.size());
  }
  out_index = place->second;
  return {};
}

Status optimizer_size(const Optimizer &optimizer, size_t &out_size_bytes) {
  size_t size = 0;
  for (const OptimizerParameter &parameter : optimizer.parameters) {
    for_each_array(parameter, [&](const StateMemory &array) { size += array.bytes(); });
    for (const Moment *moment : {&parameter.first, &parameter.second}) {
      if (moment->has_scale) size += sizeof moment->scale;
      if (moment->scaling == LPT_SCALER_KIND_DELAYED) size += sizeof moment->amax;
    }
  }
  out_size_bytes = size;
  return {};
}

}  // namespace lpt
