// A step has three parts. work.cpp converts arguments to requests. gradients.cpp computes the norm of the gradients, which
// scales or skips the step. step.cpp runs the requests.
#pragma once

#include "src/optimizer/gradients.hpp"

namespace lpt {

// step_optimizer() for shards; `ranks` is NULL without other ranks.
Status step_parameters(Context &context, Optimizer &optimizer, const StepCall &call, StepRanks *ranks);

}  // namespace lpt
