// Optimizers whose states are stored in small formats.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/mapped_memory.hpp"
#include "src/call/operation.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// One array of a state: in memory, or in a file that is mapped.
class StateMemory {
 public:
  Status allocate(const lpt_optimizer &optimizer, int64_t bytes);
  Status allocate_on(const Context &context, int64_t bytes);  // memory of the context's GPU, uncleared
  std::byte *data() const { return file_ != nullptr ? file_->data() : memory_.get(); }
  size_t bytes() const { return bytes_; }
  const MappedMemory *file() const { return file_.get(); }  // NULL: in memory

 private:
  std::shared_ptr<std::byte> memory_;
  std::shared_ptr<MappedMemory> file_;
  size_t bytes_ = 0;
};

// One moment of one parameter. Without a format the method has none.
struct Moment {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_format element = LPT_FORMAT_NONE;  // as StateArray has it
  int64_t block = 0;                     // elements per scale; 0: none, or one scale of the whole
  bool has_scale = false;                // one of the whole
  bool is_expanded = false;
  lpt_scaler_kind scaling = LPT_SCALER_KIND_CURRENT;
  float scale = 1.0f;
  float amax = 0.0f;                     // DELAYED: of the last step; 0: of none
  StateMemory codes, scales, exponents;  // on a GPU there; `scale` and `amax` are then in whole_scales

  bool is_kept() const { return format != LPT_FORMAT_NONE; }
  bool is_looking() const { return has_scale && (scaling == LPT_SCALER_KIND_CURRENT || amax == 0.0f); }
};

struct OptimizerParameter {
  std::string name;  // empty: none
  int64_t random_stream = -1;
  int64_t elements = 0;
  int64_t whole_elements = 0;
  int64_t begin = 0;
  std::vector<int64_t> edges;  // of all ranks' shards, one more than ranks; empty: it was added alone
  double weight_decay = 0.0;
  int64_t step_count = 0;
  Moment first, second;
  bool is_compensated = false;
  StateMemory compensation;
  StateMemory whole_scales;  // on a GPU: two of StepScales, number `slot` of them is what is stored
  int32_t slot = 0;

  bool has_whole_scales() const { return first.has_scale || second.has_scale; }
};

}  // namespace lpt

struct lpt_optimizer {
  lpt::HandleKind kind = lpt::HandleKind::kOptimizer;
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  std::string state_directory;  // empty: state is in memory
  size_t resident_bytes = size_t{64} << 20;
  std::shared_ptr<const lpt::Allocator> allocator;
  lpt::Device device;                // where the state is
  std::shared_ptr<std::byte> facts;  // on a GPU: GradientFacts of the last step that sought a norm
  bool is_norm_on_device = false;    // the last step's norm is not known here yet
  std::vector<lpt::OptimizerParameter> parameters;
  std::unordered_map<std::string, int64_t> indices;  // of the parameters with names
  lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
};

namespace lpt {

using Optimizer = lpt_optimizer;

// Under LPT_CHECK_ONLY the result is NULL.
Status create_optimizer(Context &context, const lpt_optimizer_options &options, Optimizer **out_optimizer);
Status set_state_directory(Optimizer &optimizer, const char *directory, size_t resident_bytes);
Status add_parameter(Context &context, Optimizer &optimizer, const char *name, const lpt_optimizer_parameter &parameter,
                     int64_t &out_index);
Status add_parameters(Optimizer &optimizer, std::vector<OptimizerParameter> parameters, int64_t *out_indices);
Status step_optimizer(Context &context, Optimizer &optimizer, const int64_t *indices, int64_t count,
                      const Tensor *const *gradients, const lpt_optimizer_step_options &options,
                      Tensor *const *parameters);

Status find_parameter(const Optimizer &optimizer, const char *name, int64_t &out_index);

// What the last step came to. Of a norm that was found on a GPU it waits for that.
Status read_optimizer(Context &context, const Optimizer &optimizer, lpt_optimizer_info &out_info);

Status optimizer_size(const Optimizer &optimizer, size_t &out_size_bytes);
Status optimizer_state_size(const Optimizer &optimizer, int64_t index, size_t &out_size_bytes);
Status save_optimizer_state(Context &context, const Optimizer &optimizer, int64_t index, void *buffer,
                            size_t buffer_bytes);
Status load_optimizer_state(Context &context, Optimizer &optimizer, int64_t index, const void *buffer,
                            size_t buffer_bytes);
Status load_optimizer_states(Context &context, Optimizer &optimizer, int64_t index, const void *const *buffers,
                             const size_t *buffer_bytes, int64_t count);

// ---- shared by the files of this operation

Status check_index(const Optimizer &optimizer, const char *name, int64_t index);

// The context works where the state is.
Status check_place(const Context &context, const Optimizer &optimizer);

int64_t element_bytes(lpt_format element);

// A parameter as it is described, with its state. `name` may be NULL.
Status make_parameter(Context &context, const Optimizer &optimizer, const char *name,
                      const lpt_optimizer_parameter &option, OptimizerParameter &out_parameter);

// What is saved, with memory of its own: of `parameter`, or of any shard of the same whole, which then has its place.
Status read_state(const Optimizer &optimizer, const OptimizerParameter &parameter, bool is_any_shard,
                  const void *buffer, size_t buffer_bytes, OptimizerParameter &out_loaded);

// Makes what was loaded the state of a parameter.
Status take_loaded(const Context &context, const Optimizer &optimizer, OptimizerParameter loaded,
                   OptimizerParameter &out_parameter);

// Whether a kernel takes the moments of a parameter on the context's device, beside gradients and parameters of f32.
Status check_moments_on_device(Context &context, const Optimizer &optimizer, const OptimizerParameter &parameter);

// ---- state_memory.cpp

// All of a parameter's state, of zeros: on the CPU, in memory or files, or on the device, where moments that no kernel takes
// are rejected.
Status allocate_state(const Optimizer &optimizer, OptimizerParameter &parameter);
Status allocate_state_on_device(Context &context, const Optimizer &optimizer, OptimizerParameter &parameter);

// Memory for the facts of a step on a device.
Status allocate_facts(Context &context, std::shared_ptr<std::byte> &out_facts);

// A copy in the CPU's memory, for which it waits.
Status fetch_state(const Context &context, const Optimizer &optimizer, const OptimizerParameter &there,
                   OptimizerParameter &out_here);

// Calls visit(array) for each array of a parameter's state.
template <typename Parameter, typename Visit>
void for_each_array(Parameter &parameter, const Visit &visit) {
  for (auto *moment : {&parameter.first, &parameter.second}) {
    visit(moment->codes);
    visit(moment->scales);
    visit(moment->exponents);
  }
  visit(parameter.compensation);
}

// Calls visit(file, first byte, last byte + 1) for what elements [begin, end) take of each mapped array. An array has as
// many bytes per element on the whole; `begin` and `end` lie on blocks, or at the end.
template <typename Visit>
void for_each_range(const OptimizerParameter &parameter, int64_t begin, int64_t end, const Visit &visit) {
  const auto range = [&](const StateMemory &array, int64_t block) {
    if (array.file() == nullptr || array.bytes() == 0) return;
    const int64_t units = (parameter.elements + block - 1) / block;
    const auto unit_bytes = array.bytes() / static_cast<size_t>(units);
    const auto unit_of = [&](int64_t element) { return static_cast<size_t>((element + block - 1) / block); };
    visit(*array.file(), unit_of(begin) * unit_bytes, unit_of(end) * unit_bytes);
  };
  for (const Moment *moment : {&parameter.first, &parameter.second}) {
    range(moment->codes, 1);
    range(moment->scales, std::max<int64_t>(moment->block, 1));
    range(moment->exponents, std::max<int64_t>(moment->block, 1));
  }
  range(parameter.compensation, 1);
}

// Lets go of mapped state that is in memory.
void dont_need(const OptimizerParameter &parameter, int64_t begin, int64_t end);

}  // namespace lpt
