// What became of numbers that were cast on a device.
#pragma once

#include "src/cast/cast.hpp"

namespace lpt {

// Counts the first output of a cast on the device; both outputs say how the CPU would have cut it in tiles.
Status count_on_device(Context &context, const MatrixView &source, const MatrixView (&outputs)[2], const Cast &cast,
                       bool is_check_only);

}  // namespace lpt
