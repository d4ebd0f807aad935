// What the choice of a kernel depends on besides the request.
#pragma once

#include "src/base/cpu.hpp"

namespace lpt {

struct Machine {
  lpt_device kind = LPT_DEVICE_CPU;
  CpuFeatures cpu = 0;     // that kernels may use
  int32_t capability = 0;  // of a GPU: 10 · major + minor, such as 90; 0 for the CPU
};

}  // namespace lpt
