// Loss of a row. Shared by the CPU and devices.
#pragma once

#include <cstdint>

#include "kernels/activation/activation.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {

// Place of an ignored row, and of a row whose target is not a valid class.
constexpr int64_t kUncounted = INT64_MIN / 2, kNoClass = kUncounted + 1;

LPT_HOST_DEVICE static inline int64_t index_at(const void *indices, bool is_wide, int64_t place) {
  return is_wide ? static_cast<const int64_t *>(indices)[place] : static_cast<const int32_t *>(indices)[place];
}

// Combines the sums of all ranks for one row; `all` has the rows of each rank in rank order. The order is fixed, so that all
// ranks compute the same bits.
LPT_HOST_DEVICE static inline RowSums joined_sums(const RowSums *all, int64_t ranks, int64_t rows, int64_t row) {
  RowSums whole = all[row];
  if (ranks == 1) return whole;
  for (int64_t q = 1; q < ranks; ++q) {
    const double x = all[q * rows + row].largest;
    whole.largest = x > whole.largest || x != x ? x : whole.largest;
  }
  whole.exponentials = whole.target = whole.all = 0.0;
  for (int64_t q = 0; q < ranks; ++q) {
    const RowSums &part = all[q * rows + row];
    whole.exponentials += part.exponentials * exp_f64(part.largest - whole.largest);
    whole.target += part.target;
    whole.all += part.all;
  }
  return whole;
}

// Returns l = log Σ exp(x) over all classes.
LPT_HOST_DEVICE static inline double log_sum_of(const RowSums &sums) {
  return sums.largest + log_f64(sums.exponentials);
}

// Returns l - (1 - e) · x[target] - e · mean(x), with the label smoothing e.
LPT_HOST_DEVICE static inline double row_loss(const RowSums &sums, double log_sum, double smoothing, int64_t classes) {
  const double of_target = log_sum - (1.0 - smoothing) * sums.target;
  return smoothing == 0.0 ? of_target : of_target - smoothing * (sums.all / static_cast<double>(classes));
}

}  // namespace lpt
