// Monitoring of a run: noise of gradients, alignment of the weights of SwiGLU, and a record of numbers by step.
#pragma once

#include <string>
#include <vector>

#include "lpt/research/monitor.h"
#include "src/cast/quantize.hpp"
#include "src/linear/linear.hpp"

struct lpt_monitor {
  struct MonitorEntry {
    int64_t step;
    std::string name;
    double value;
  };
  lpt::HandleKind kind = lpt::HandleKind::kMonitor;
  std::vector<MonitorEntry> entries;
};

namespace lpt {

using Monitor = lpt_monitor;

Status measure_noise(Context &context, const Tensor *const *gradients, const Tensor *const *noisy, int64_t count,
                     const lpt_noise_options &options, lpt_noise_info &out_info);
Status measure_alignment(Context &context, const Tensor *gate_weight, const Tensor *up_weight, Tensor *cosines,
                         lpt_swiglu_alignment_info &out_info);

Status record_number(Monitor &monitor, int64_t step, const char *name, double value);
Status record_linear(Context &context, Monitor &monitor, int64_t step, const char *name, const Linear &linear);
Status record_statistics(Context &context, Monitor &monitor, int64_t step, const char *name,
                         const lpt_statistics &statistics);
Status save_monitor(const Monitor &monitor, const char *path);

}  // namespace lpt
