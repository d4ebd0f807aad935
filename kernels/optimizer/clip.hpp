// Norm and clip factor of gradients, in f64: the results are equal on all devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

// Returns the norm of the gradients times |gradient_scale|, or infinity if an element is not finite.
LPT_HOST_DEVICE static inline double gradient_norm(double sum_of_squares, int64_t nonfinite_count,
                                                   double gradient_scale) {
  if (nonfinite_count > 0) return __builtin_inf();
  return std::sqrt(sum_of_squares) * (gradient_scale < 0.0 ? -gradient_scale : gradient_scale);
}

// Returns the factor by which clipping multiplies the gradients.
LPT_HOST_DEVICE static inline double clip_factor(double norm, double largest_norm) {
  const double factor = largest_norm / (norm + 1e-6);
  return factor < 1.0 ? factor : 1.0;
}

}  // namespace lpt
