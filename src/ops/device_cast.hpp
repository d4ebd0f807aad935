// Casts on a device: the rows of its plugin, queued one after the other.
#pragma once

#include "src/ops/cast.hpp"

namespace lpt {

Status cast_on_device(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast,
                      bool is_check_only);

Status dequantize_on_device(Context &context, const MatrixView &source, const MatrixView &target, bool is_check_only);

}  // namespace lpt
