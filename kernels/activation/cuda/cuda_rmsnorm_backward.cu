// RMSNorm and LayerNorm backward. Input gradient: one thread block per row, with sums in f64. Weight gradient: thread blocks
// add fragments of columns over parts of the rows in f64; then the parts are added in order. The results do not depend on the
// schedule.
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"

namespace lpt {
namespace {

struct InputJob {
  DeviceRows input, output_gradient, input_gradient, weight, residual_gradient;
  const float *inverse_rms;
  const float *mean;  // for LayerNorm
  double share;       // 1 / columns
  int64_t rows, columns;
};

// Returns the weights; LayerNorm may have none: ones.
template <bool kIsCentered>
__device__ __forceinline__ FloatFragment weights_of(const InputJob &job, int64_t column, int32_t count) {
  FloatFragment weights;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) weights.number[i] = 1.0f;
  if (!kIsCentered || job.weight.data != nullptr) weights = load_line(job.weight, 0, column, count);
  return weights;
}

// With n = (x - m) · r: Σ (w · dy) · n, and with kIsCentered Σ w · dy.
struct RowSumsOfGradient {
  double of_normals, of_weighted;
};

template <bool kIsCentered>
__device__ __forceinline__ RowSumsOfGradient row_sums(const InputJob &job, int64_t row, float mean, float inverse) {
  double sum = 0.0, weighted_sum = 0.0;
  for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
    const int32_t count = fragment_count(job.columns, column);
    const FloatFragment x = load_line(job.input, row, column, count);
    const FloatFragment dy = load_line(job.output_gradient, row, column, count);
    const FloatFragment weight = weights_of<kIsCentered>(job, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      // Elements beyond the row are zeros, and 0 · r is NaN for an infinite r.
      const float normal = i < count ? (kIsCentered ? x.number[i] - mean : x.number[i]) * inverse : 0.0f;
      const auto weighted = static_cast<double>(weight.number[i] * dy.number[i]);
      sum += weighted * static_cast<double>(normal);
      if (kIsCentered) weighted_sum += weighted;
    }
  }
  sum = block_sum(sum);
  return {sum, kIsCentered ? block_sum(weighted_sum) : 0.0};
}

template <bool kIsCentered>
__global__ void __launch_bounds__(kLineThreads) rmsnorm_backward(InputJob job) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    const float inverse = job.inverse_rms[row], center = kIsCentered ? job.mean[row] : 0.0f;
    const RowSumsOfGradient sums = row_sums<kIsCentered>(job, row, center, inverse);
    const auto mean = static_cast<float>(sums.of_normals * job.share);
    const auto weighted_mean = static_cast<float>(sums.of_weighted * job.share);
    for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
      const int32_t count = fragment_count(job.columns, column);
      const FloatFragment x = load_line(job.input, row, column, count);
      FloatFragment dy = load_line(job.output_gradient, row, column, count);
      const FloatFragment weight = weights_of<kIsCentered>(job, column, count);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) {
        float weighted = weight.number[i] * dy.number[i];
        if (kIsCentered) weighted -= weighted_mean;
        const float normal = (kIsCentered ? x.number[i] - center : x.number[i]) * inverse;
        dy.number[i] = inverse * (weighted - normal * mean);
      }
      if (job.residual_gradient.data != nullptr) {
        const FloatFragment residual = load_line(job.residual_gradient, row, column, count);
#pragma unroll
        for (int32_t i = 0; i < kFragment; ++i) dy.number[i] += residual.number[i];
      }
      store_line(job.input_gradient, row, column, count, dy);
    }
  }
}

// Weight gradient.

constexpr uint32_t kAcross = 32, kDown = kLineThreads / kAcross;  // fragments and rows of a thread block

struct PartsJob {
  DeviceRows input, output_gradient;
  const float *inverse_rms, *mean;
  double *sums;
  int64_t rows, columns, part_rows;
};

// Adds the values of one column of the block in row order, and calls body(place, sum) for each of `places`, a multiple of
// kAcross.
template <typename Body>
__device__ __forceinline__ void add_down(const double *sums, uint32_t places, const Body &body) {
  __syncthreads();
  for (uint32_t place = thread_of_block(); place < places; place += kLineThreads) {
    double sum = 0.0;
    for (uint32_t row = 0; row < kDown; ++row) sum += sums[row * places + place];
    body(place, sum);
  }
}

// Factor of dy: x · r, (x - m) · r, or 1 for the gradient of a bias.
enum class PartsOf { kNormals, kCenteredNormals, kOnes };

template <PartsOf kOf>
__global__ void __launch_bounds__(kLineThreads) gradient_parts(PartsJob job) {
  __shared__ double shared[kDown * kAcross * kFragment];
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  const int64_t begin = int64_t{blockIdx.y} * job.part_rows;
  const int64_t end = begin + job.part_rows < job.rows ? begin + job.part_rows : job.rows;
  double sums[kFragment] = {};
  for (int64_t row = begin + threadIdx.y; row < end && count > 0; row += kDown) {
    const FloatFragment dy = load_line(job.output_gradient, row, column, count);
    if (kOf == PartsOf::kOnes) {
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) sums[i] += static_cast<double>(dy.number[i]);
      continue;
    }
    const float inverse = job.inverse_rms[row], mean = kOf == PartsOf::kCenteredNormals ? job.mean[row] : 0.0f;
    const FloatFragment x = load_line(job.input, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float centered = kOf == PartsOf::kCenteredNormals ? x.number[i] - mean : x.number[i];
      sums[i] += static_cast<double>(dy.number[i]) * static_cast<double>(centered * inverse);
    }
  }
  // The index is (element of the fragment, thread), so that adjacent threads access adjacent words.
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
                        request.residual_gradient.data == nullptr ? DeviceRows{} : lines_of(request.residual_gradient),
                        static_cast<const float *>(request.inverse_rms),
                        static_cast<const float *>(request.mean),
                        1.0 / static_cast<double>(input.columns),
                        input.rows,
                        input.columns};
  if (request.is_centered) {
    LPT_LAUNCH((rmsnorm_backward<true>), blocks_of_rows(input.rows), kLineThreads, 0, stream, job);
  } else {
    LPT_LAUNCH((rmsnorm_backward<false>), blocks_of_rows(input.rows), kLineThreads, 0, stream, job);
  }
}

void gradient_parts_cuda(const GradientPartsRequest &request, void *stream) {
  const MatrixView &input = request.input;
  if (input.rows == 0 || input.columns == 0) return;
  const PartsJob job = {lines_of(input),     lines_of(request.output_gradient),
                        request.inverse_rms, request.mean,
                        request.sums,        input.rows,
                        input.columns,       request.part_rows};
  const dim3 grid(blocks_across(input.columns, int64_t{kAcross} * kFragment),
                  static_cast<uint32_t>((input.rows + request.part_rows - 1) / request.part_rows));
  if (request.is_of_bias) {
    LPT_LAUNCH((gradient_parts<PartsOf::kOnes>), grid, dim3(kAcross, kDown), 0, stream, job);
  } else if (request.mean != nullptr) {
    LPT_LAUNCH((gradient_parts<PartsOf::kCenteredNormals>), grid, dim3(kAcross, kDown), 0, stream, job);
  } else {
    LPT_LAUNCH((gradient_parts<PartsOf::kNormals>), grid, dim3(kAcross, kDown), 0, stream, job);
  }
}

void gradient_sum_cuda(const GradientSumRequest &request, void *stream) {
  if (request.columns == 0) return;
  const SumJob job = {request.sums, request.parts, request.columns, request.gradient, request.is_accumulated};
  LPT_LAUNCH(gradient_sum, blocks_across(request.columns, kAcross), dim3(kAcross, kDown), 0, stream, job);
}

}  // namespace lpt
