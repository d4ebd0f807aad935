// RMSNorm forward, of a matrix or of a sum of two, and LayerNorm: one thread block per row, with sums in f64. The row is read
// again for the output; short rows are still in the caches.
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"

namespace lpt {
namespace {

__device__ __forceinline__ double root_of(double value) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(value);
#else
  return __builtin_sqrt(value);
#endif
}

struct NormJob {
  DeviceRows input, output, weight;
  float *inverse_rms;  // NULL, or output
  double epsilon;
  double share;  // 1 / columns; a division in f64 needs the registers of a call
  int64_t rows, columns;
};

__device__ __forceinline__ double squares_of(const FloatFragment &x) {
  double sum = 0.0;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    const auto number = static_cast<double>(x.number[i]);
    sum += number * number;
  }
  return sum;
}

__device__ __forceinline__ double square_sum(const NormJob &job, int64_t row) {
  double sum = 0.0;
  for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
    sum += squares_of(load_line(job.input, row, column, fragment_count(job.columns, column)));
  }
  return block_sum(sum);
}

// Writes the output of a row, given the sum of its squares. If add_row() wrote the row, each thread reads only elements that it
// wrote.
__device__ __forceinline__ void norm_row(const NormJob &job, int64_t row, double squares) {
  const double square = squares * job.share + job.epsilon;
  const float inverse = static_cast<float>(square == 0.0 ? 0.0 : 1.0 / root_of(square));
  for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
    const int32_t count = fragment_count(job.columns, column);
    FloatFragment x = load_line(job.input, row, column, count);
    const FloatFragment weight = load_line(job.weight, 0, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = (x.number[i] * inverse) * weight.number[i];
    store_line(job.output, row, column, count, x);
  }
  if (job.inverse_rms != nullptr && threadIdx.x == 0) job.inverse_rms[row] = positive_nan(inverse);
}

// Optional vectors of LayerNorm; data is NULL if missing.
struct CenteredVectors {
  DeviceRows weight, bias;
  float *mean;
};

// Computes mean and variance from the differences to the first element of the row, as on the CPU.
__global__ void __launch_bounds__(kLineThreads) layernorm_forward(NormJob job, CenteredVectors vectors) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    const double pivot = job.columns == 0 ? 0.0 : static_cast<double>(number_of_line(job.input, row, 0));
    double sum = 0.0, squares = 0.0;
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      const FloatFragment x = load_line(job.input, row, column, count);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) {
        const double difference = i < count ? static_cast<double>(x.number[i]) - pivot : 0.0;
        sum += difference;
        squares += difference * difference;
      }
    }
    const double mean = block_sum(sum) * job.share, raw = block_sum(squares) * job.share - mean * mean;
    const double square = (raw < 0.0 ? 0.0 : raw) + job.epsilon;
    const float inverse = static_cast<float>(square == 0.0 ? 0.0 : 1.0 / root_of(square));
    const auto center = static_cast<float>(pivot + mean);
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      FloatFragment x = load_line(job.input, row, column, count);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) x.number[i] = (x.number[i] - center) * inverse;
      if (vectors.weight.data != nullptr) {
        const FloatFragment weight = load_line(vectors.weight, 0, column, count);
#pragma unroll
        for (int32_t i = 0; i < kFragment; ++i) x.number[i] *= weight.number[i];
      }
      if (vectors.bias.data != nullptr) {
        const FloatFragment bias = load_line(vectors.bias, 0, column, count);
#pragma unroll
        for (int32_t i = 0; i < kFragment; ++i) x.number[i] += bias.number[i];
      }
      store_line(job.output, row, column, count, x);
    }
    if (threadIdx.x != 0) continue;
    if (job.inverse_rms != nullptr) job.inverse_rms[row] = positive_nan(inverse);
    if (vectors.mean != nullptr) vectors.mean[row] = positive_nan(center);
  }
}

__global__ void __launch_bounds__(kLineThreads) rmsnorm_forward(NormJob job) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) norm_row(job, row, square_sum(job, row));
}

// Writes the sum of two rows, and returns the sum of its squares, computed from the stored values, in the order of
// square_sum().
__device__ __forceinline__ double add_row(const NormJob &job, const DeviceRows &residual, const DeviceRows &branch,
                                          int64_t row) {
  double sum = 0.0;
  for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
    const int32_t count = fragment_count(job.columns, column);
    FloatFragment x = load_line(residual, row, column, count);
    const FloatFragment more = load_line(branch, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = stored_number(job.input.format, x.number[i] + more.number[i]);
    store_line(job.input, row, column, count, x);
    sum += squares_of(x);
  }
  return block_sum(sum);
}

__global__ void __launch_bounds__(kLineThreads) rmsnorm_sum(NormJob job, DeviceRows residual, DeviceRows branch) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    norm_row(job, row, add_row(job, residual, branch, row));
  }
}

NormJob job_of(const RmsnormForwardRequest &request) {
  const MatrixView &input = request.input;
  const double share = input.columns == 0 ? 0.0 : 1.0 / static_cast<double>(input.columns);
  return {lines_of(input),
          lines_of(request.output),
          line_of_vector(request.weight),
          static_cast<float *>(request.inverse_rms),
          request.epsilon,
          share,
          input.rows,
          input.columns};
}

}  // namespace

void rmsnorm_forward_cuda(const RmsnormForwardRequest &request, void *stream) {
  if (request.input.rows == 0) return;
  const uint32_t blocks = blocks_of_rows(request.input.rows);
  if (request.has_residual()) {
    LPT_LAUNCH(rmsnorm_sum, blocks, kLineThreads, 0, stream, job_of(request), lines_of(request.residual),
               lines_of(request.branch));
    return;
  }
  if (!request.is_centered) {
    LPT_LAUNCH(rmsnorm_forward, blocks, kLineThreads, 0, stream, job_of(request));
    return;
  }
  const CenteredVectors vectors = {line_of_vector(request.weight), line_of_vector(request.bias),
                                   static_cast<float *>(request.mean)};
  LPT_LAUNCH(layernorm_forward, blocks, kLineThreads, 0, stream, job_of(request), vectors);
}

}  // namespace lpt
