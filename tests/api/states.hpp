// Handles that load saved states, one of each kind, and invariants for arbitrary input bytes. The header uses no test framework
// because the fuzzer includes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lpt/research.h"
#include "tests/api/state_holder.hpp"

namespace lpt::states {

class ScalerHolder : public Holder {
 public:
  ScalerHolder(lpt_context *context, lpt_scaler_history_rule history_rule, lpt_scaler_zero_rule zero_rule)
      : Holder(context) {
    lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
    options.kind = LPT_SCALER_KIND_DELAYED;
    options.history_length = 3;
    options.history_rule = history_rule;
    options.history_decay = history_rule == LPT_SCALER_HISTORY_RULE_AVERAGE ? 0.75f : 0.0f;
    options.zero_rule = zero_rule;
    must(lpt_scaler_create(c_, &options, &scaler_));
    use();
  }
  ~ScalerHolder() override { lpt_scaler_destroy(scaler_); }

  Bytes save() override {
    size_t size = 0;
    must(lpt_scaler_state_size(c_, scaler_, &size));
    Bytes bytes(size);
    must(lpt_scaler_state_save(c_, scaler_, bytes.data(), size));
    return bytes;
  }
  lpt_status load_from(const void *bytes, size_t size) override {
    return lpt_scaler_state_load(c_, scaler_, bytes, size);
  }
  void use() override {
    float numbers[] = {1.0f, -3.0f, 0.5f, 2.0f};
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scaler = scaler_;
    with_matrix(numbers, 1, 4, [&](lpt_tensor *source) {
      lpt_tensor *target = nullptr;
      const int64_t extents[] = {1, 4};
      must(lpt_tensor_create(c_, LPT_FORMAT_E4M3FN_TENSOR, 2, extents, &target));
      must(lpt_quantize(c_, source, &options, target, nullptr));
      lpt_tensor_destroy(target);
    });
    must(lpt_scaler_update(c_, &scaler_, 1));
  }

 private:
  lpt_scaler *scaler_ = nullptr;
};

class LinearHolder : public Holder {
 public:
  explicit LinearHolder(lpt_context *context) : Holder(context) {
    lpt_recipe *recipe = nullptr;
    must(lpt_recipe_create(c_, "fp8_trillion", &recipe));
    lpt_linear_shape shape = LPT_LINEAR_SHAPE_INIT;
    shape.input_columns = shape.output_columns = 2;
    must(lpt_linear_create(c_, recipe, &shape, &linear_));
    lpt_recipe_destroy(recipe);
    use();
  }
  ~LinearHolder() override { lpt_linear_destroy(linear_); }

  Bytes save() override {
    size_t size = 0;
    must(lpt_linear_state_size(c_, linear_, &size));
    Bytes bytes(size);
    must(lpt_linear_state_save(c_, linear_, bytes.data(), size));
    return bytes;
  }
  lpt_status load_from(const void *bytes, size_t size) override {
    return lpt_linear_state_load(c_, linear_, bytes, size);
  }
  void use() override {
    float weight[] = {1.0f, -3.0f, 0.5f, 2.0f}, input[] = {1.0f, 2.0f}, output[2];
    with_matrix(weight, 2, 2, [&](lpt_tensor *w) { must(lpt_linear_prepare(c_, linear_, w, nullptr)); });
    with_matrix(input, 1, 2, [&](lpt_tensor *x) {
      with_matrix(output, 1, 2, [&](lpt_tensor *y) {
        must(lpt_linear_forward(c_, linear_, x, nullptr, nullptr, y));
        must(lpt_linear_backward(c_, linear_, nullptr, x, nullptr, y, nullptr, nullptr));
      });
    });
    must(lpt_linear_update_scalers(c_, &linear_, 1));
  }

 private:
  lpt_linear *linear_ = nullptr;
};

class OptimizerHolder : public Holder {
 public:
  OptimizerHolder(lpt_context *context, lpt_optimizer_method method, const lpt_optimizer_parameter &parameter)
      : Holder(context),
        values_(static_cast<size_t>(parameter.elements)),
        value_format_(parameter.compensation == LPT_FORMAT_BF16 ? LPT_FORMAT_BF16 : LPT_FORMAT_F32) {
    lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
    options.method = method;
    must(lpt_optimizer_create(c_, &options, &optimizer_));
    int64_t index = -1;
    must(lpt_optimizer_add(c_, optimizer_, nullptr, &parameter, &index));
    use();
  }
  ~OptimizerHolder() override { lpt_optimizer_destroy(optimizer_); }

  Bytes save() override {
    size_t size = 0;
    must(lpt_optimizer_state_size(c_, optimizer_, 0, &size));
    Bytes bytes(size);
    must(lpt_optimizer_state_save(c_, optimizer_, 0, bytes.data(), size));
    return bytes;
  }
  lpt_status load_from(const void *bytes, size_t size) override {
    return lpt_optimizer_state_load(c_, optimizer_, 0, bytes, size);
  }
  void use() override {
    std::vector<float> gradient(values_.size());
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = 0.125f * static_cast<float>(i % 11) - 0.5f;
    const auto count = static_cast<int64_t>(values_.size());
    with_matrix(gradient.data(), 1, count, [&](lpt_tensor *g) {
      const auto step = [&](lpt_tensor *value) {
        const lpt_tensor *const gradients[] = {g};
        lpt_tensor *const values[] = {value};
        const int64_t index = 0;
        must(lpt_optimizer_step(c_, optimizer_, &index, 1, gradients, nullptr, values));
      };
      with_matrix(values_.data(), 1, count, step, value_format_);
    });
  }

 protected:
  lpt_optimizer *optimizer_ = nullptr;

 private:
  std::vector<float> values_;  // the memory of f32 or bf16
  lpt_format value_format_;
};

// The last 4 of 260 elements, loaded as one of two shards. The other shard is unchanged.
class ShardHolder : public OptimizerHolder {
 public:
  explicit ShardHolder(lpt_context *context)
      : OptimizerHolder(context, LPT_OPTIMIZER_METHOD_ADAMW, shard(256, 4)),
        other_(OptimizerHolder(context, LPT_OPTIMIZER_METHOD_ADAMW, shard(0, 256)).save()) {}

  lpt_status load_from(const void *bytes, size_t size) override {
    const void *const buffers[] = {other_.data(), bytes};
    const size_t sizes[] = {other_.size(), size};
    return lpt_optimizer_state_load_many(c_, optimizer_, 0, buffers, sizes, 2);
  }
  // The bytes of both shards, plus the memory that they are copied to.
  size_t most_bytes(size_t state_bytes) const override { return state_bytes + other_.size() + size_t{3 * 7} * 64; }

 private:
  static lpt_optimizer_parameter shard(int64_t begin, int64_t elements) {
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    parameter.elements = elements;
    parameter.whole_elements = 260;
    parameter.begin = begin;
    parameter.first_moment = LPT_FORMAT_E4M3FN_1X128;
    parameter.second_moment = LPT_FORMAT_E5M2_1X128;
    return parameter;
  }

  const Bytes other_;
};

// Packed weights have no handle before they are loaded. A successful load replaces the handle.
class WeightsHolder : public Holder {
 public:
  WeightsHolder(lpt_context *context, lpt_format format, std::vector<int64_t> extents,
                lpt_weights_storage storage = LPT_WEIGHTS_STORAGE_ALL)
      : Holder(context) {
    lpt_tensor *plain = nullptr;
    must(lpt_tensor_create(c_, format, static_cast<int32_t>(extents.size()), extents.data(), &plain));
    if (storage != LPT_WEIGHTS_STORAGE_ALL) fill(plain);
    lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
    options.storage = storage;
    must(lpt_weights_pack(c_, plain, &options, &packed_));
    lpt_tensor_destroy(plain);
  }
  ~WeightsHolder() override { lpt_tensor_destroy(packed_); }

  // Sparse packed weights store an offset for each line, in at most as many bytes as the line has bits. Reads may exceed a
  // line.
  size_t most_bytes(size_t state_bytes) const override { return 2 * state_bytes + size_t{9} * 64; }

  Bytes save() override {
    size_t size = 0;
    must(lpt_weights_state_size(c_, packed_, &size));
    Bytes bytes(size);
    must(lpt_weights_state_save(c_, packed_, bytes.data(), size));
    return bytes;
  }
  lpt_status load_from(const void *bytes, size_t size) override {
    lpt_tensor *loaded = nullptr;
    const lpt_status status = lpt_weights_state_load(c_, bytes, size, &loaded);
    if (status == LPT_OK) {
      lpt_tensor_destroy(packed_);
      packed_ = loaded;
    } else {
      is_good_ = is_good_ && loaded == nullptr;
    }
    return status;
  }
  void use() override {
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    must(lpt_tensor_describe(c_, packed_, &description));
    if (description.rank != 2) return;
    const int64_t n = description.extents[0], k = description.extents[1];
    if (n * k == 0 || n > 4096 || k > 4096) return;
    std::vector<float> a(static_cast<size_t>(k), 1.0f), c(static_cast<size_t>(n));
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    with_matrix(a.data(), 1, k, [&](lpt_tensor *left) {
      with_matrix(c.data(), 1, n, [&](lpt_tensor *out) { must(lpt_gemm(c_, left, packed_, &options, out)); });
    });
  }

 private:
  // Sets every third element to 1, so that a sparse storage has both nonzero and zero elements.
  void fill(lpt_tensor *plain) {
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    must(lpt_tensor_describe(c_, plain, &description));
    std::vector<float> numbers(static_cast<size_t>(description.extents[0] * description.extents[1]));
    for (size_t i = 0; i < numbers.size(); i += 3) numbers[i] = 1.0f;
    with_matrix(numbers.data(), description.extents[0], description.extents[1],
                [&](lpt_tensor *source) { must(lpt_quantize(c_, source, nullptr, plain, nullptr)); });
  }

  lpt_tensor *packed_ = nullptr;
};

class AutopilotHolder : public Holder {
 public:
  explicit AutopilotHolder(lpt_context *context) : Holder(context) {
    lpt_recipe *ladder[2] = {};
    must(lpt_recipe_create(c_, "fp8_current", &ladder[0]));
    must(lpt_recipe_create(c_, "bf16", &ladder[1]));
    const double costs[] = {1.0, 2.0}, work[] = {1.0, 3.0};
    lpt_autopilot_options options = LPT_AUTOPILOT_OPTIONS_INIT;
    options.step_count = int64_t{1} << 40;
    options.interval = 1;
    options.budget = 1.5;
    must(lpt_autopilot_create(c_, ladder, costs, 2, work, 2, &options, &autopilot_));
    for (lpt_recipe *recipe : ladder) lpt_recipe_destroy(recipe);
    use();
  }
  ~AutopilotHolder() override { lpt_autopilot_destroy(autopilot_); }

  Bytes save() override {
    size_t size = 0;
    must(lpt_autopilot_state_size(c_, autopilot_, &size));
    Bytes bytes(size);
    must(lpt_autopilot_state_save(c_, autopilot_, bytes.data(), size));
    return bytes;
  }
  lpt_status load_from(const void *bytes, size_t size) override {
    return lpt_autopilot_state_load(c_, autopilot_, bytes, size);
  }
  void use() override {
    must(lpt_autopilot_observe(c_, autopilot_, 1, LPT_AUTOPILOT_REASON_NOISE_RATIO, 1.0));
    lpt_autopilot_info info = LPT_AUTOPILOT_INFO_INIT;
    must(lpt_autopilot_read(c_, autopilot_, &info));
    int64_t changes = 0;
    if (info.steps_done < (int64_t{1} << 40)) must(lpt_autopilot_step(c_, autopilot_, info.steps_done, 1.0, &changes));
  }

 private:
  lpt_autopilot *autopilot_ = nullptr;
};

class LossScalerHolder : public Holder {
 public:
  explicit LossScalerHolder(lpt_context *context) : Holder(context) {
    must(lpt_loss_scaler_create(c_, nullptr, &scaler_));
    use();
  }
  ~LossScalerHolder() override { lpt_loss_scaler_destroy(scaler_); }

  Bytes save() override {
    size_t size = 0;
    must(lpt_loss_scaler_state_size(c_, scaler_, &size));
    Bytes bytes(size);
    must(lpt_loss_scaler_state_save(c_, scaler_, bytes.data(), size));
    return bytes;
  }
  lpt_status load_from(const void *bytes, size_t size) override {
    return lpt_loss_scaler_state_load(c_, scaler_, bytes, size);
  }
  // A step without parameters, an update, and a step that the saved state records.
  void use() override {
    lpt_optimizer *optimizer = nullptr;
    must(lpt_optimizer_create(c_, nullptr, &optimizer));
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    options.loss_scaler = scaler_;
    must(lpt_optimizer_step(c_, optimizer, nullptr, 0, nullptr, &options, nullptr));
    must(lpt_loss_scaler_update(c_, scaler_));
    must(lpt_optimizer_step(c_, optimizer, nullptr, 0, nullptr, &options, nullptr));
    lpt_optimizer_destroy(optimizer);
  }

 private:
  lpt_loss_scaler *scaler_ = nullptr;
};

using HolderPointer = std::unique_ptr<Holder>;

struct HolderKind {
  const char *name;
  HolderPointer (*make)(lpt_context *context);
};

inline HolderPointer make_optimizer(lpt_context *context, lpt_optimizer_method method, int64_t elements,
                                    lpt_format first, lpt_format second, int32_t is_expanded, lpt_scaler_kind scaling) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = elements;
  parameter.first_moment = first;
  parameter.second_moment = second;
  parameter.is_first_expanded = parameter.is_second_expanded = is_expanded;
  parameter.first_scaling = parameter.second_scaling = scaling;
  return std::make_unique<OptimizerHolder>(context, method, parameter);
}

// Every kind of state, and every section of an optimizer state.
inline const std::vector<HolderKind> &holder_kinds() {
  static const std::vector<HolderKind> kinds = {
      {"scaler",
       [](lpt_context *c) -> HolderPointer {
         return std::make_unique<ScalerHolder>(c, LPT_SCALER_HISTORY_RULE_MAX, LPT_SCALER_ZERO_RULE_USE_CURRENT);
       }},
      {"scaler with rules",
       [](lpt_context *c) -> HolderPointer {
         return std::make_unique<ScalerHolder>(c, LPT_SCALER_HISTORY_RULE_LATEST, LPT_SCALER_ZERO_RULE_USE_LAST);
       }},
      {"scaler with an average",
       [](lpt_context *c) -> HolderPointer {
         return std::make_unique<ScalerHolder>(c, LPT_SCALER_HISTORY_RULE_AVERAGE, LPT_SCALER_ZERO_RULE_ONE);
       }},
      {"linear", [](lpt_context *c) -> HolderPointer { return std::make_unique<LinearHolder>(c); }},
      {"autopilot", [](lpt_context *c) -> HolderPointer { return std::make_unique<AutopilotHolder>(c); }},
      {"adamw, f32",
       [](lpt_context *c) {
         return make_optimizer(c, LPT_OPTIMIZER_METHOD_ADAMW, 3, LPT_FORMAT_F32, LPT_FORMAT_F32, 0,
                               LPT_SCALER_KIND_CURRENT);
       }},
      {"adamw, expanded groups",
       [](lpt_context *c) {
         return make_optimizer(c, LPT_OPTIMIZER_METHOD_ADAMW, 130, LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E5M2_1X128, 1,
                               LPT_SCALER_KIND_CURRENT);
       }},
      {"adam, delayed",
       [](lpt_context *c) {
         return make_optimizer(c, LPT_OPTIMIZER_METHOD_ADAM, 5, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_F16_TENSOR, 0,
                               LPT_SCALER_KIND_DELAYED);
       }},
      {"adamw, trees of a compensated shard",
       [](lpt_context *c) -> HolderPointer {
         lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
         parameter.elements = 5;
         parameter.whole_elements = 1000;
         parameter.begin = 256;
         parameter.compensation = LPT_FORMAT_BF16;
         parameter.first_moment = parameter.second_moment = LPT_FORMAT_DYNAMIC_1X256;
         return std::make_unique<OptimizerHolder>(c, LPT_OPTIMIZER_METHOD_ADAMW, parameter);
       }},
      {"adamw, one of two shards", [](lpt_context *c) -> HolderPointer { return std::make_unique<ShardHolder>(c); }},
      {"lion, bf16",
       [](lpt_context *c) {
         return make_optimizer(c, LPT_OPTIMIZER_METHOD_LION, 7, LPT_FORMAT_BF16, LPT_FORMAT_F32, 0,
                               LPT_SCALER_KIND_CURRENT);
       }},
      {"weights, nvfp4",
       [](lpt_context *c) -> HolderPointer {
         return std::make_unique<WeightsHolder>(c, LPT_FORMAT_NVFP4, std::vector<int64_t>{2, 16});
       }},
      {"weights, bitmask",
       [](lpt_context *c) -> HolderPointer {
         return std::make_unique<WeightsHolder>(c, LPT_FORMAT_E4M3FN_ROW, std::vector<int64_t>{3, 12},
                                                LPT_WEIGHTS_STORAGE_BITMASK);
       }},
      {"weights, tiles",
       [](lpt_context *c) -> HolderPointer {
         return std::make_unique<WeightsHolder>(c, LPT_FORMAT_MXFP4, std::vector<int64_t>{2, 70},
                                                LPT_WEIGHTS_STORAGE_BLOCK_SPARSE);
       }},
      {"weights, experts with zero points",
       [](lpt_context *c) -> HolderPointer {
         return std::make_unique<WeightsHolder>(c, LPT_FORMAT_UINT4_1X64, std::vector<int64_t>{2, 1, 4});
       }},
      {"loss scaler", [](lpt_context *c) -> HolderPointer { return std::make_unique<LossScalerHolder>(c); }},
  };
  return kinds;
}

// Loads `bytes` and returns a description of the first problem, or "". A rejected state must have an error text and change
// nothing. After a successful load the handle must hold the loaded state and be usable. Neither case may allocate more memory
// than Holder::most_bytes(). Restores the state of the handle.
inline std::string problem_of(Holder &holder, Ledger &ledger, const Bytes &bytes) {
  const Bytes before = holder.save();
  const Bytes copy(bytes.begin(), bytes.end());  // on the heap with this exact size: ASan detects reads past the end
  const size_t live_bytes = ledger.live_bytes;
  ledger.requested_bytes = 0;
  const lpt_status status = holder.load(copy);
  const std::string words = lpt_context_error(holder.context());
  const size_t most_bytes = holder.most_bytes(before.size() > bytes.size() ? before.size() : bytes.size());
  if (ledger.requested_bytes > most_bytes) {
    return "requested " + std::to_string(ledger.requested_bytes) + " bytes of memory, of " + std::to_string(most_bytes);
  }
  if (status != LPT_OK) {
    if (status != LPT_INVALID_STATE) return std::string("status ") + lpt_status_string(status) + ": " + words;
    const bool has_reason = words.find("saved state") != std::string::npos && words.size() >= 20;
    if (!has_reason) return "rejected without a reason: " + words;
    if (holder.save() != before) return "rejected, but the state changed";
    if (ledger.live_bytes != live_bytes) return "rejected, but memory is kept";
    return holder.is_good() ? "" : "rejected, but something else went wrong";
  }
  const Bytes after = holder.save();
  // A buffer may be longer than its state.
  if (after.size() > bytes.size() || std::memcmp(after.data(), bytes.data(), after.size()) != 0) {
    return "taken, but the state is not what was given";
  }
  holder.use();
  if (holder.load(before) != LPT_OK || holder.save() != before) return "taken, and cannot go back";
  return holder.is_good() ? "" : "taken, but not fit for work: " + std::string(lpt_context_error(holder.context()));
}

}  // namespace lpt::states
