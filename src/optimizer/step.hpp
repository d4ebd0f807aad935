// A step in three parts: arguments become work (work.cpp), the norm of the gradients scales it or skips it (gradients.cpp), and
// the work runs (step.cpp).
#pragma once

#include "src/optimizer/gradients.hpp"

namespace lpt {

// step_optimizer() of shards; `ranks` is NULL where there are no others.
Status step_parameters(Context &context, Optimizer &optimizer, const StepCall &call, StepRanks *ranks);

}  // namespace lpt
