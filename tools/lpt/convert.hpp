// lpt convert: converts the matrices of a checkpoint to a low-precision format, or back.
#pragma once

#include "plan.hpp"

namespace tool {

void convert(const ConvertOptions &options);

}  // namespace tool
