// Shared by the softmax kernels: visible columns of a row, and its largest element.
#pragma once

#include "kernels/activation/activation.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"

namespace lpt {

struct SoftmaxJob {
  DeviceRows input, output;
  float scale;
  bool is_causal;
  int64_t first_row, period, window, rows, columns;
  float *log_sums;
};

// The visible columns of a row.
struct VisibleColumns {
  int64_t begin, end;
};

__device__ __forceinline__ VisibleColumns visible_columns(const SoftmaxJob &job, int64_t row) {
  if (!job.is_causal) return {0, job.columns};
  const int64_t end = (job.first_row + row) % job.period + job.columns - job.period + 1;
  const int64_t begin = job.window == 0 ? 0 : end - job.window;
  return {begin < 0             ? 0
          : begin > job.columns ? job.columns
                                : begin,
          end < 0             ? 0
          : end > job.columns ? job.columns
                              : end};
}

// Returns the first column of a thread in the step that contains column `begin`.
__device__ __forceinline__ int64_t first_column(int64_t begin) {
  return begin / kLineStep * kLineStep + first_column();
}

// The largest visible element, of -x for a negative scale, and whether a NaN exists.
struct Peak {
  float number;
  bool has_nan;
};

__device__ __forceinline__ Peak peak_of(const DeviceRows &input, int64_t row, const VisibleColumns &seen, float sign) {
  float largest = -bits_float(0x7F800000u);
  float nans = 0.0f;
  for (int64_t column = first_column(seen.begin); column < seen.end; column += kLineStep) {
    const int32_t count = fragment_count(seen.end, column);
    const FloatFragment x = load_line(input, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float number = sign * x.number[i];
      const bool is_seen = i < count && column + i >= seen.begin;
      if (is_seen && number > largest) largest = number;
      if (is_seen && number != number) nans = 1.0f;
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
          request.window,
          input.rows,
          input.columns,
          static_cast<float *>(request.log_sums)};
}

}  // namespace lpt
