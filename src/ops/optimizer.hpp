// AdamW whose moments are stored in small formats.
#pragma once

#include <memory>
#include <vector>

#include "src/ops/operation.hpp"

namespace lpt {

// One moment of one parameter: value = element · scale.
struct Moment {
  Format format;
  std::shared_ptr<std::byte> memory;
  float scale = 1.0f;
};

struct OptimizerParameter {
  int64_t elements = 0;
  double weight_decay = 0.0;
  int64_t step_count = 0;
  Moment first, second;
};

}  // namespace lpt

struct lpt_optimizer {
  lpt::HandleKind kind = lpt::HandleKind::kOptimizer;
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  std::shared_ptr<const lpt::Allocator> allocator;
  std::vector<lpt::OptimizerParameter> parameters;
};

namespace lpt {

using Optimizer = lpt_optimizer;

// Under LPT_CHECK_ONLY the result is NULL.
Status create_optimizer(Context &context, const lpt_optimizer_options &options, Optimizer **out_optimizer);
Status add_parameter(Optimizer &optimizer, const lpt_optimizer_parameter &parameter, int64_t &out_index);
Status step_optimizer(Context &context, Optimizer &optimizer, const int64_t *indices, int64_t count,
                      const Tensor *const *gradients, const lpt_step_options &options, Tensor *const *parameters);

Status optimizer_size(const Optimizer &optimizer, size_t &out_size_bytes);
Status optimizer_state_size(const Optimizer &optimizer, int64_t index, size_t &out_size_bytes);
Status save_optimizer_state(const Optimizer &optimizer, int64_t index, void *buffer, size_t buffer_bytes);
Status load_optimizer_state(Optimizer &optimizer, int64_t index, const void *buffer, size_t buffer_bytes);

}  // namespace lpt
