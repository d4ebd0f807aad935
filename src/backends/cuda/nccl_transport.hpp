// Ranks with a GPU each, by NCCL: part of the plugin, not of the library.
#pragma once

#include "src/backends/device_transport.hpp"

namespace lpt {

const DeviceTransport &nccl_wire();

}  // namespace lpt
