// Runs schedules on a comm.
#pragma once

#include "src/ranks/comm.hpp"
#include "src/schedule/schedule.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

Status all_reduce_by_schedule(Context &context, Comm &comm, const Schedule &schedule, const Tensor *input,
                              const lpt_reduce_options &options, Tensor *output, Future **out_future);

}  // namespace lpt
