// Optimizers whose states are stored in low-precision formats.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/base/mapped_memory.hpp"
#include "src/call/operation.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// One array of a state, in memory or in a mapped file.
class StateMemory {
 public:
  Status allocate(const lpt_optimizer &optimizer, int64_t bytes);
  Status allocate_on(const Context &context, int64_t bytes);  // in GPU memory of the context, uninitialized
  std::byte *data() const { return file_ != nullptr ? file_->data() : memory_.get(); }
  size_t bytes() const { return bytes_; }
  const MappedMemory *file() const { return file_.get(); }  // NULL: in memory

 private:
  std::shared_ptr<std::byte> memory_;
  std::shared_ptr<MappedMemory> file_;
  size_t bytes_ = 0;
};

// One moment of one parameter. The format is NONE if the method lacks this moment.
struct Moment {
  lpt_format format = LPT_FORMAT_NONE;
  lpt_format element = LPT_FORMAT_NONE;  // as in StateArray
  int64_t block = 0;                     // elements per scale; 0: no scale, or one for the tensor
  bool has_scale = false;                // one scale for the tensor
  bool is_expanded = false;
  lpt_scaler_kind scaling = LPT_SCALER_KIND_CURRENT;
  float scale = 1.0f;
  float amax = 0.0f;                     // DELAYED: amax of the last step, or 0
  StateMemory codes, scales, exponents;  // GPU: device memory; whole_scales replaces `scale` and `amax`

  bool is_kept() const { return format != LPT_FORMAT_NONE; }
  bool needs_amax() const { return has_scale && (scaling == LPT_SCALER_KIND_CURRENT || amax == 0.0f); }
};

struct OptimizerParameter {
  std::string name;  // empty: no name
  int64_t random_stream = -1;
  int64_t elements = 0;
  int64_t whole_elements = 0;
  int64_t begin = 0;
  std::vector<int64_t> edges;  // begins of the shards of all ranks, and the end; empty: added as a single parameter
  double weight_decay = 0.0;
  int64_t step_count = 0;
  Moment first, second;
  bool is_compensated = false;
  StateMemory compensation;
  StateMemory whole_scales;  // GPU: two StepScales; entry `slot` is the current one
  int32_t slot = 0;

  bool has_whole_scales() const { return first.has_scale || second.has_scale; }
};

}  // namespace lpt

struct lpt_optimizer {
  lpt::HandleKind kind = lpt::HandleKind::kOptimizer;
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  std::string state_directory;  // empty: the state is in memory
  size_t resident_bytes = size_t{64} << 20;
  std::shared_ptr<const lpt::Allocator> allocator;
  lpt::Device device;                // device of the state
  std::shared_ptr<std::byte> facts;  // GPU: GradientStats of the last step that computed a norm
  bool is_norm_on_device = false;    // the host has not read the norm of the last step
  std::vector<lpt::OptimizerParameter> parameters;
  std::unordered_map<std::string, int64_t> indices;  // index by name
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

// Returns the results of the last step. Waits for a norm that was computed on a GPU.
Status read_optimizer(Context &context, const Optimizer &optimizer, lpt_optimizer_info &out_info);

Status optimizer_size(const Optimizer &optimizer, size_t &out_size_bytes);
Status optimizer_state_size(const Optimizer &optimizer, int64_t index, size_t &out_size_bytes);
Status save_optimizer_state(Context &context, const Optimizer &optimizer, int64_t index, void *buffer,
                            size_t buffer_bytes);
Status load_optimizer_state(Context &context, Optimizer &optimizer, int64_t index, const void *buffer,
                            size_t buffer_bytes);
Status load_optimizer_states(Context &context, Optimizer &optimizer, int64_t index, const void *const *buffers,
                             const size_t *buffer_bytes, int64_t count);

// Functions for the other files of this folder.

Status check_index(const Optimizer &optimizer, const char *name, int64_t index);

// Rejects a context of another device than that of the state.
Status check_place(const Context &context, const Optimizer &optimizer);

int64_t element_bytes(lpt_format element);

// Creates a parameter and its state from a description. `name` may be NULL.
Status make_parameter(Context &context, const Optimizer &optimizer, const char *name,
                      const lpt_optimizer_parameter &option, OptimizerParameter &out_parameter);

// Reads a saved state to new memory. It is the state of `parameter`, or of any shard of the same full parameter. The result
// contains the range of the shard.
Status read_state(const Optimizer &optimizer, const OptimizerParameter &parameter, bool is_any_shard,
                  const void *buffer, size_t buffer_bytes, OptimizerParameter &out_loaded);

// Replaces the state of a parameter by a loaded state.
Status take_loaded(const Context &context, const Optimizer &optimizer, OptimizerParameter loaded,
                   OptimizerParameter &out_parameter);

// Rejects a parameter whose moments no kernel of the device supports. Gradients and parameters are f32 in this check.
Status check_moments_on_device(Context &context, const Optimizer &optimizer, const OptimizerParameter &parameter);

// state_memory.cpp: memory of states.

// Allocate the state of a parameter and fill it with zeros: on the CPU in memory or files, or on the device. The latter
// rejects moments that no kernel supports.
Status allocate_state(const Optimizer &optimizer, OptimizerParameter &parameter);
Status allocate_state_on_device(Context &context, const Optimizer &optimizer, OptimizerParameter &parameter);

// Allocates memory for the GradientStats of a step on a device.
Status allocate_facts(Context &context, std::shared_ptr<std::byte> &out_facts);

// Copies the state from a device to CPU memory and waits.
Status fetch_state(const Context &context, const Optimizer &optimizer, const OptimizerParameter &there,
                   OptimizerParameter &out_here);

// Calls visit(array) for each array of the state of a parameter.
template <typename Parameter, typename Visit>
void for_each_array(Parameter &parameter, const Visit &visit) {
  for (auto *moment : {&parameter.first, &parameter.second}) {
    visit(moment->codes);
    visit(moment->scales);
    visit(moment->exponents);
  }
  visit(parameter.compensation);
}

// Calls visit(file, first byte, last byte + 1) for the part of each mapped array that contains elements [begin, end). Each
// array has a fixed number of bytes per block. `begin` and `end` are multiples of a block, or the end.
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

// Releases pages of mapped state from memory.
void dont_need(const OptimizerParameter &parameter, int64_t begin, int64_t end);

}  // namespace lpt
