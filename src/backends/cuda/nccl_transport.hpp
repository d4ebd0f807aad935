// Ranks with one GPU each, by NCCL. Part of the CUDA plugin, not of the library.
#pragma once

#include "src/backends/device_transport.hpp"

namespace lpt {

const DeviceTransport &nccl_wire();

}  // namespace lpt
