// The loss of a row, for the processor and for devices.
#pragma once

#include "kernels/activation/activation.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {

// l = log sum exp(x) of all classes.
LPT_HOST_DEVICE static inline double log_sum_of(const RowSums &sums) {
  return sums.largest + log_f64(sums.exponentials);
}

// l - (1 - e) · x[target] - e · mean(x).
LPT_HOST_DEVICE static inline double row_loss(const RowSums &sums, double log_sum, double smoothing, int64_t classes) {
  const double of_target = log_sum - (1.0 - smoothing) * sums.target;
  return smoothing == 0.0 ? of_target : of_target - smoothing * (sums.all / static_cast<double>(classes));
}

}  // namespace lpt
