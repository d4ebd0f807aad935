// Cross entropy. One thread block reads a row of logits: exponentials are f32, their sums f64. Losses are computed as on the
// CPU, and added in row order.
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"
#include "kernels/activation/cuda/cuda_steps.hpp"
#include "kernels/activation/row_loss.hpp"

namespace lpt {
namespace {

__device__ __forceinline__ float infinity() { return bits_float(0x7F800000u); }

// Sums.

struct SumsJob {
  DeviceRows logits;
  const int64_t *places;
  RowSums *sums;
  int64_t rows, columns;
};

// Returns the sum and the largest element of a row; the largest is NaN if the row has a NaN.
__device__ __forceinline__ RowSums compute_row_maximum(const SumsJob &job, int64_t row) {
  float largest = -infinity(), nans = 0.0f;
  double all = 0.0;
  for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
    const int32_t count = fragment_count(job.columns, column);
    const FloatFragment x = load_line(job.logits, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      all += static_cast<double>(x.number[i]);  // elements beyond the row are zeros
      if (i < count && x.number[i] > largest) largest = x.number[i];
      if (x.number[i] != x.number[i]) nans = 1.0f;
    }
  }
  const float top = block_largest(largest);
  const bool has_nan = block_largest(nans) > 0.0f;
  return {static_cast<double>(has_nan ? bits_float(0x7FC00000u) : top), 0.0, 0.0, block_sum(all)};
}

__device__ __forceinline__ double exponential_sum(const SumsJob &job, int64_t row, float top) {
  double sum = 0.0;
  for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
    const int32_t count = fragment_count(job.columns, column);
    const FloatFragment x = load_line(job.logits, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      if (i < count) sum += static_cast<double>(exp_f32(x.number[i] - top));
    }
  }
  return block_sum(sum);
}

__global__ void __launch_bounds__(kLineThreads) cross_entropy_sums(SumsJob job) {
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    RowSums sums = compute_row_maximum(job, row);
    const auto top = static_cast<float>(sums.largest);
    if (top != -infinity()) sums.exponentials = exponential_sum(job, row, top);  // `top` is uniform in the block
    if (threadIdx.x != 0) continue;
    const int64_t place = job.places[row];
    if (place >= 0 && place < job.columns) sums.target = static_cast<double>(number_of_line(job.logits, row, place));
    job.sums[row] = sums;
  }
}

// Gradient.

struct LossGradientJob {
  DeviceRows logits, gradient;
  const int64_t *places;
  const double *log_sums, *factors;
  float on, off;
  int64_t rows, columns;
};

// The logarithm as two f32, so that x - log_sum keeps the accuracy of f32.
struct SplitLog {
  float high, low;
};

__device__ __forceinline__ SplitLog split_log(double log_sum) {
  const auto high = static_cast<float>(log_sum);
  const auto low = static_cast<float>(log_sum - static_cast<double>(high));
  return {high, low == low ? low : 0.0f};
}

__global__ void __launch_bounds__(kLineThreads) cross_entropy_gradient(LossGradientJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const double given = job.factors[row];
    const auto factor = static_cast<float>(given);
    const SplitLog log = split_log(job.log_sums[row]);
    const int64_t target = job.places[row] - column;
    FloatFragment x = load_line(job.logits, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float value = factor * (exp_f32((x.number[i] - log.high) - log.low) - (i == target ? job.on : job.off));
      x.number[i] = given == 0.0 ? 0.0f : value;
    }
    store_line(job.gradient, row, column, count, x);
  }
}

// Losses: one thread per row.

// Runs as one block, which writes the count without atomics.
__global__ void __launch_bounds__(kLineThreads) places(PlacesRequest job) {
  double counted = 0.0;
  for (int64_t row = threadIdx.x; row < job.rows; row += kLineThreads) {
    const int64_t target = index_at(job.targets, job.is_wide, row);
    const bool is_class = target >= 0 && target < job.classes, is_counted = target != job.ignored_target;
    job.places[row] = !is_counted ? kUncounted : is_class ? target - job.first : kNoClass;
    counted += is_counted ? 1.0 : 0.0;
  }
  counted = block_sum(counted);
  if (threadIdx.x == 0) *job.counted = static_cast<int64_t>(counted);
}

__device__ __forceinline__ double divided(double value, const int64_t *divisor) {
  return divisor == nullptr || *divisor == 0 ? value : value / static_cast<double>(*divisor);
}

__device__ __forceinline__ double of_counted(double value, int64_t place) {
  return place == kUncounted ? 0.0 : place == kNoClass ? static_cast<double>(bits_float(0x7FC00000u)) : value;
}

__global__ void __launch_bounds__(kLineThreads) row_losses(LossesRequest job) {
  const int64_t row = int64_t{blockIdx.x} * kLineThreads + threadIdx.x;
  if (row >= job.rows) return;
  const RowSums sums = joined_sums(job.sums, job.ranks, job.rows, row);
  const double log_sum = log_sum_of(sums);
  if (job.log_sums != nullptr) job.log_sums[row] = log_sum;
  job.losses[row] = of_counted(row_loss(sums, log_sum, job.label_smoothing, job.classes), job.places[row]);
}

__device__ __forceinline__ void store_loss(const LossesRequest &job, int64_t index, double loss) {
  if (job.is_f64) {
    static_cast<double *>(job.out)[index] = loss;
  } else {
    static_cast<float *>(job.out)[index] = static_cast<float>(loss);
  }
}

__global__ void __launch_bounds__(kLineThreads) each_loss(LossesRequest job) {
  const int64_t row = int64_t{blockIdx.x} * kLineThreads + threadIdx.x;
  if (row < job.rows) store_loss(job, row, job.losses[row]);
}

// Runs as one block: threads load the losses, and the first thread adds them in order.
__global__ void __launch_bounds__(kLineThreads) loss_sum(LossesRequest job) {
  __shared__ double brought[kLineThreads];
  double sum = 0.0;
  for (int64_t begin = 0; begin < job.rows; begin += kLineThreads) {
    const int64_t row = begin + threadIdx.x;
    brought[threadIdx.x] = row < job.rows ? job.losses[row] : 0.0;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (uint32_t i = 0; i < kLineThreads; ++i) sum += brought[i];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) store_loss(job, 0, divided(sum, job.divisor));
}

__global__ void __launch_bounds__(kLineThreads) loss_factors(LossFactorsRequest job) {
  const int64_t row = int64_t{blockIdx.x} * kLineThreads + threadIdx.x;
  if (row >= job.rows) return;
  const int64_t index = job.is_for_rows ? row : 0;
  double factor = 1.0;
  if (job.gradient != nullptr) {
    factor = job.is_f64 ? static_cast<const double *>(job.gradient)[index]
                        : static_cast<double>(static_cast<const float *>(job.gradient)[index]);
  }
  job.factors[row] = of_counted(divided(factor, job.divisor), job.places[row]);
}

uint32_t blocks_of_threads(int64_t count) { return static_cast<uint32_t>((count + kLineThreads - 1) / kLineThreads); }

}  // namespace

void cross_entropy_sums_cuda(const CrossEntropySumsRequest &request, void *stream) {
  const MatrixView &logits = request.logits;
  if (logits.rows == 0) return;
  const SumsJob job = {lines_of(logits), request.places, request.sums, logits.rows, logits.columns};
  LPT_LAUNCH(cross_entropy_sums, blocks_of_rows(logits.rows), kLineThreads, 0, stream, job);
}

void cross_entropy_gradient_cuda(const CrossEntropyGradientRequest &request, void *stream) {
  const MatrixView &logits = request.logits;
  if (logits.rows == 0 || logits.columns == 0) return;
  const LossGradientJob job = {lines_of(logits),
                               lines_of(request.gradient),
                               request.places,
                               request.log_sums,
                               request.factors,
                               static_cast<float>(request.off + request.on),
                               static_cast<float>(request.off),
                               logits.rows,
                               logits.columns};
  const FragmentGrid grid = fragment_grid(logits.rows, logits.columns, kLineThreads);
  LPT_LAUNCH(cross_entropy_gradient, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
}

void places_cuda(const PlacesRequest &request, void *stream) {
  LPT_LAUNCH(places, 1, kLineThreads, 0, stream, request);
}

void losses_cuda(const LossesRequest &request, void *stream) {
  const uint32_t blocks = blocks_of_threads(request.rows);
  if (blocks > 0) LPT_LAUNCH(row_losses, blocks, kLineThreads, 0, stream, request);
  if (!request.is_for_rows) {
    LPT_LAUNCH(loss_sum, 1, kLineThreads, 0, stream, request);
  } else if (blocks > 0) {
    LPT_LAUNCH(each_loss, blocks, kLineThreads, 0, stream, request);
  }
}

void loss_factors_cuda(const LossFactorsRequest &request, void *stream) {
  if (request.rows == 0) return;
  LPT_LAUNCH(loss_factors, blocks_of_threads(request.rows), kLineThreads, 0, stream, request);
}

}  // namespace lpt
