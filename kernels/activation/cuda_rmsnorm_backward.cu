// RMSNorm backward. The gradient of the input: a block of threads takes a row, whose mean is summed in f64. That of the weight:
// blocks of threads take fragments of columns and parts of rows, and add up in f64; then the parts are added in their order. No
// order depends on who comes first.
#include "kernels/activation/cuda_kernels.hpp"
#include "kernels/activation/cuda_line.hpp"
#include "kernels/activation/cuda_steps.hpp"

namespace lpt {
namespace {

struct InputJob {
  DeviceLines input, output_gradient, input_gradient, weight;
  const float *inverse_rms;
  double share;  // 1 / columns
  int64_t rows, columns;
};

// With n = x · r:  sum of (w · dy) · n.
__device__ __forceinline__ double row_sum(const InputJob &job, int64_t row, float inverse) {
  double sum = 0.0;
  for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
    const int32_t count = fragment_count(job.columns, column);
    const FloatFragment x = load_line(job.input, row, column, count);
    const FloatFragment dy = load_line(job.output_gradient, row, column, count);
    const FloatFragment weight = load_line(job.weight, 0, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      // Beyond the row there are zeros, whose product with an infinite r is none.
      const float normal = i < count ? x.number[i] * inverse : 0.0f;
      sum += static_cast<double>(weight.number[i] * dy.number[i]) * static_cast<double>(normal);
    }
  }
  return block_sum(sum);
}

__global__ void __launch_bounds__(kLineThreads) rmsnorm_backward(InputJob job) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    const float inverse = job.inverse_rms[row];
    const auto mean = static_cast<float>(row_sum(job, row, inverse) * job.share);
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      const FloatFragment x = load_line(job.input, row, column, count);
      FloatFragment dy = load_line(job.output_gradient, row, column, count);
      const FloatFragment weight = load_line(job.weight, 0, column, count);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) {
        dy.number[i] = inverse * (weight.number[i] * dy.number[i] - (x.number[i] * inverse) * mean);
      }
      store_line(job.input_gradient, row, column, count, dy);
    }
  }
}

// ---- the weight's

constexpr uint32_t kAcross = 32, kDown = kLineThreads / kAcross;  // fragments and rows of a block of threads

struct PartsJob {
  DeviceLines input, output_gradient;
  const float *inverse_rms;
  double *sums;
  int64_t rows, columns, part_rows;
};

// Adds up what the threads of one column of the block have, in the order of rows, and gives body(place, sum) for each of
// `places`, a multiple of kAcross.
template <typename Body>
__device__ __forceinline__ void add_down(const double *sums, uint32_t places, const Body &body) {
  __syncthreads();
  for (uint32_t place = thread_of_block(); place < places; place += kLineThreads) {
    double sum = 0.0;
    for (uint32_t row = 0; row < kDown; ++row) sum += sums[row * places + place];
    body(place, sum);
  }
}

__global__ void __launch_bounds__(kLineThreads) gradient_parts(PartsJob job) {
  __shared__ double shared[kDown * kAcross * kFragment];
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  const int64_t begin = int64_t{blockIdx.y} * job.part_rows;
  const int64_t end = begin + job.part_rows < job.rows ? begin + job.part_rows : job.rows;
  double sums[kFragment] = {};
  for (int64_t row = begin + threadIdx.y; row < end && count > 0; row += kDown) {
    const float inverse = job.inverse_rms[row];
    const FloatFragment x = load_line(job.input, row, column, count);
    const FloatFragment dy = load_line(job.output_gradient, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      sums[i] += static_cast<double>(dy.number[i]) * static_cast<double>(x.number[i] * inverse);
    }
  }
  // Neighbours lie side by side: thread, then number of the fragment.
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) shared[(threadIdx.y * kFragment + i) * kAcross + threadIdx.x] = sums[i];
  add_down(shared, kAcross * kFragment, [&](uint32_t place, double sum) {
    const int64_t at = (int64_t{blockIdx.x} * kAcross + place % kAcross) * kFragment + place / kAcross;
    if (at < job.columns) job.sums[int64_t{blockIdx.y} * job.columns + at] = sum;
  });
}

struct SumJob {
  const double *sums;
  int64_t parts, columns;
  float *gradient;
  bool is_accumulated;
};

__global__ void __launch_bounds__(kLineThreads) gradient_sum(SumJob job) {
  __shared__ double shared[kLineThreads];
  const int64_t column = int64_t{blockIdx.x} * kAcross + threadIdx.x;
  double sum = 0.0;
  for (int64_t part = threadIdx.y; part < job.parts && column < job.columns; part += kDown) {
    sum += job.sums[part * job.columns + column];
  }
  shared[threadIdx.y * kAcross + threadIdx.x] = sum;
  add_down(shared, kAcross, [&](uint32_t place, double whole) {
    const int64_t at = int64_t{blockIdx.x} * kAcross + place;
    if (at >= job.columns) return;
    const double before = job.is_accumulated ? static_cast<double>(job.gradient[at]) : 0.0;
    job.gradient[at] = static_cast<float>(before + whole);
  });
}

uint32_t blocks_across(int64_t columns, int64_t step) { return static_cast<uint32_t>((columns + step - 1) / step); }

}  // namespace

void rmsnorm_backward_cuda(const RmsnormBackwardRequest &request, void *stream) {
  const MatrixView &input = request.input;
  if (input.rows == 0 || input.columns == 0) return;
  const InputJob job = {lines_of(input),
                        lines_of(request.output_gradient),
                        lines_of(request.input_gradient),
                        line_of_vector(request.weight),
                        static_cast<const float *>(request.inverse_rms),
                        1.0 / static_cast<double>(input.columns),
                        input.rows,
                        input.columns};
  LPT_LAUNCH(rmsnorm_backward, blocks_of_rows(input.rows), kLineThreads, 0, stream, job);
}

void gradient_parts_cuda(const GradientPartsRequest &request, void *stream) {
  const MatrixView &input = request.input;
  if (input.rows == 0 || input.columns == 0) return;
  const PartsJob job = {
      lines_of(input),  lines_of(request.output_gradient), request.inverse_rms, request.sums, input.rows, input.columns,
      request.part_rows};
  const dim3 grid(blocks_across(input.columns, int64_t{kAcross} * kFragment),
                  static_cast<uint32_t>((input.rows + request.part_rows - 1) / request.part_rows));
  LPT_LAUNCH(gradient_parts, grid, dim3(kAcross, kDown), 0, stream, job);
}

void gradient_sum_cuda(const GradientSumRequest &request, void *stream) {
  if (request.columns == 0) return;
  const SumJob job = {request.sums, request.parts, request.columns, request.gradient, request.is_accumulated};
  LPT_LAUNCH(gradient_sum, blocks_across(request.columns, kAcross), dim3(kAcross, kDown), 0, stream, job);
}

}  // namespace lpt
