// Statistics of the inputs of a layer, which do not depend on the order of batches.
#pragma once

#include <array>
#include <vector>

#include "lpt/calibration.h"
#include "src/ranks/comm.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Sums whose error is kept beside them. `high` is the sum rounded to f64, `low` the rest.
struct ExactSums {
  std::vector<double> high, low;

  void resize(int64_t count) {
    high.assign(static_cast<size_t>(count), 0.0);
    low.assign(static_cast<size_t>(count), 0.0);
  }
  // The error of `high` + x is computed by Knuth's algorithm.
  void add(size_t i, double x) {
    const double sum = high[i] + x, rest = sum - high[i], error = (high[i] - (sum - rest)) + (x - rest);
    const double other = low[i] + error;
    high[i] = sum + other;
    low[i] = other - (high[i] - sum);
  }
};

}  // namespace lpt

struct lpt_calibration {
  lpt::HandleKind kind = lpt::HandleKind::kCalibration;
  int64_t columns = 0;
  int64_t rows = 0;
  std::vector<double> maxima;  // by column
  std::vector<double> counts;  // of elements, by the leading bits of the magnitude
  lpt::ExactSums sums, squares;
  lpt::ExactSums gram, cross_gram;  // empty if they are not collected
};

namespace lpt {

using Calibration = lpt_calibration;

Status create_calibration(int64_t columns, const lpt_calibration_options &options, Calibration **out_calibration);
Status add_inputs(Context &context, Calibration &calibration, const Tensor *inputs, const Tensor *reference);
Status all_reduce_calibration(Context &context, Comm &comm, Calibration &calibration);
Status read_calibration(const Calibration &calibration, lpt_calibration_value value, const Tensor *output);
lpt_calibration_info describe_calibration(const Calibration &calibration);
Status find_percentile(const Calibration &calibration, double share, double &out_magnitude);

}  // namespace lpt
