// Statistics of casts on a device.
#pragma once

#include "src/cast/cast.hpp"

namespace lpt {

// Counts the first output of a cast on the device. The sums use the tiles that the CPU selects for both outputs.
Status count_on_device(Context &context, const MatrixView &source, const MatrixView (&outputs)[2], const Cast &cast,
                       bool is_check_only);

}  // namespace lpt
