// Ranks with a GPU each, by NCCL: part of the plugin, not of the library.
#pragma once

#include "src/backends/device_wire.hpp"

namespace lpt {

const DeviceWire &nccl_wire();

}  // namespace lpt
