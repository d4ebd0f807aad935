// NVIDIA GPUs by the CUDA runtime. Part of the CUDA plugin, not of the library.
#pragma once

#include "src/backends/backend.hpp"

namespace lpt {

const Backend &cuda_backend();

}  // namespace lpt
