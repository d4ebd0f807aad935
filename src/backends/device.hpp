// A device, as handles and messages identify it.
#pragma once

#include <cstdint>
#include <string>

#include "lpt.h"

namespace lpt {

struct Device {
  lpt_device kind = LPT_DEVICE_CPU;
  int32_t index = 0;

  bool is_cpu() const { return kind == LPT_DEVICE_CPU; }
  bool operator==(const Device &) const = default;
};

// Returns "cpu" or for example "cuda:0".
std::string device_text(const Device &device);

}  // namespace lpt
