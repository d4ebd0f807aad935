// lpt convert: a safetensors file to another one with its matrices in a low-precision format, or back.
#pragma once

#include "plan.hpp"

namespace tool {

void convert(const ConvertOptions &options);

}  // namespace tool
