// What the kernels of softmax share: what a row sees, and its largest number.
#pragma once

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cuda_line.hpp"

namespace lpt {

struct SoftmaxJob {
  DeviceLines input, output;
  float scale;
  bool is_causal;
  int64_t first_row, period, rows, columns;
};

// How many columns a row may see.
__device__ __forceinline__ int64_t seen_columns(const SoftmaxJob &job, int64_t row) {
  if (!job.is_causal) return job.columns;
  const int64_t seen = (job.first_row + row) % job.period + job.columns - job.period + 1;
  return seen < 0 ? 0 : seen > job.columns ? job.columns : seen;
}

// The largest of what is seen, of -x where the scale is negative; and whether there is a NaN.
struct Peak {
  float number;
  bool has_nan;
};

__device__ __forceinline__ Peak peak_of(const DeviceLines &input, int64_t row, int64_t seen, float sign) {
  float largest = -bits_float(0x7F800000u);
  float nans = 0.0f;
  for (int64_t column = first_column(); column < seen; column += kLineStep) {
    const int32_t count = fragment_count(seen, column);
    const FloatFragment x = load_line(input, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float number = sign * x.number[i];
      if (i < count && number > largest) largest = number;
      if (number != number) nans = 1.0f;
    }
  }
  return {block_largest(largest), block_largest(nans) > 0.0f};
}

inline SoftmaxJob softmax_job(const SoftmaxForwardRequest &request) {
  const MatrixView &input = request.input;
  return {lines_of(input),
          lines_of(request.output),
          static_cast<float>(request.scale),
          request.is_causal,
          request.first_row,
          request.period,
          input.rows,
          input.columns};
}

}  // namespace lpt
