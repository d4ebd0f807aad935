// Optimizers on a device: their state is there, and a step is queued.
#pragma once

#include "src/optimizer/step.hpp"

namespace lpt {

// ---- device_state.cpp

// Room for the facts of a step.
Status allocate_facts(Context &context, std::shared_ptr<std::byte> &out_facts);

// State of zeros. Rejects moments that no row takes.
Status allocate_state_on_device(Context &context, const Optimizer &optimizer, OptimizerParameter &parameter);

// A copy in the CPU's memory, for which it waits; and one on the device.
Status fetch_state(const Context &context, const Optimizer &optimizer, const OptimizerParameter &there,
                   OptimizerParameter &out_here);
Status send_state(const Context &context, const OptimizerParameter &here, OptimizerParameter &out_on_device);

// ---- device.cpp

// Queues the norm of all gradients, and what follows from it, which the steps then look at. `ranks`: as step_parameters() has it.
Status queue_norm(Context &context, const Optimizer &optimizer, const lpt_optimizer_step_options &options,
                  std::vector<StepWork> &works, StepRanks *ranks);

Status queue_steps(Context &context, std::vector<StepWork> &works, StepRanks *ranks);

// These wait. The sums of shards are those of whole gradients.
Status measure_shards_on_device(Context &context, const std::vector<StepWork> &works, StepRanks &ranks,
                                GradientSums &out_sums);
Status measure_gradients_on_device(Context &context, const std::vector<MatrixView> &gradients, GradientSums &out_sums);
Status fetch_norm(Context &context, const Optimizer &optimizer, lpt_optimizer_info &values);

}  // namespace lpt
