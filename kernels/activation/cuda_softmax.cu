// Softmax: one thread block per row, with the sum in f64. The row is read again for the output; short rows are still in the
// caches.
#include "kernels/activation/cuda_kernels.hpp"
#include "kernels/activation/cuda_softmax.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {
namespace {

__device__ __forceinline__ double exponential_sum(const SoftmaxJob &job, int64_t row, const SeenColumns &seen,
                                                  float top) {
  double sum = 0.0;
  for (int64_t column = first_column(seen.begin); column < seen.end; column += kLineStep) {
    const int32_t count = fragment_count(seen.end, column);
    const FloatFragment x = load_line(job.input, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      if (i < count && column + i >= seen.begin) sum += static_cast<double>(exp_f32(job.scale * (x.number[i] - top)));
    }
  }
  return block_sum(sum);
}

__global__ void __launch_bounds__(kLineThreads) softmax_forward(SoftmaxJob job) {
  const float sign = job.scale < 0.0f ? -1.0f : 1.0f;
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    SeenColumns seen = seen_columns(job, row);
    const Peak peak = peak_of(job.input, row, seen, sign);
    const bool is_empty = !peak.has_nan && peak.number == -bits_float(0x7F800000u);
    if (is_empty) seen = {0, 0};
    const float top = sign * peak.number;
    const double sum = exponential_sum(job, row, seen, top);
    const float inverse = static_cast<float>(1.0 / sum);
    if (job.log_sums != nullptr && threadIdx.x == 0) {
      const double log_sum = static_cast<double>(job.scale) * static_cast<double>(top) + log_f64(sum);
      job.log_sums[row] = is_empty ? peak.number : static_cast<float>(log_sum);
    }
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      const int32_t live = fragment_count(seen.end, column);
      FloatFragment x = load_line(job.input, row, column, count);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) {
        const float number = exp_f32(job.scale * (x.number[i] - top)) * inverse;
        x.number[i] = i < live && column + i >= seen.begin ? number : 0.0f;
      }
      store_line(job.output, row, column, count, x);
    }
  }
}

struct SoftmaxBackwardJob {
  DeviceRows output, output_gradient, input_gradient;
  float scale;
  int64_t rows, columns;
};

__global__ void __launch_bounds__(kLineThreads) softmax_backward(SoftmaxBackwardJob job) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    double sum = 0.0;
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      const FloatFragment y = load_line(job.output, row, column, count);
      const FloatFragment dy = load_line(job.output_gradient, row, column, count);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) {
        sum += static_cast<double>(y.number[i]) * static_cast<double>(dy.number[i]);
      }
    }
    const auto mean = static_cast<float>(block_sum(sum));
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      const FloatFragment y = load_line(job.output, row, column, count);
      FloatFragment dy = load_line(job.output_gradient, row, column, count);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) {
        dy.number[i] = (job.scale * y.number[i]) * (dy.number[i] - mean);
      }
      store_line(job.input_gradient, row, column, count, dy);
    }
  }
}

}  // namespace

void softmax_forward_cuda(const SoftmaxForwardRequest &request, void *stream) {
  const MatrixView &input = request.input;
  if (input.rows == 0 || input.columns == 0) return;
  LPT_LAUNCH(softmax_forward, blocks_of_rows(input.rows), kLineThreads, 0, stream, softmax_job(request));
}

void softmax_backward_cuda(const SoftmaxBackwardRequest &request, void *stream) {
  const MatrixView &output = request.output;
  if (output.rows == 0 || output.columns == 0) return;
  const SoftmaxBackwardJob job = {lines_of(output),
                                  lines_of(request.output_gradient),
                                  lines_of(request.input_gradient),
                                  static_cast<float>(request.scale),
                                  output.rows,
                                  output.columns};
  LPT_LAUNCH(softmax_backward, blocks_of_rows(output.rows), kLineThreads, 0, stream, job);
}

}  // namespace lpt
