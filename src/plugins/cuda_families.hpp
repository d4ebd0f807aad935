// The kernels of the CUDA plugin, by family.
#pragma once

#include <span>

#include "src/backends/device_plugin.hpp"

namespace lpt {

std::span<const DeviceFamily> cuda_families();

}  // namespace lpt
