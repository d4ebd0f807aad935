// Softmax: one thread block per row, with the sum in f64.
#include "kernels/activation/cuda/cuda_exp.hpp"
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_softmax.hpp"
#include "src/formats/functions_f64.hpp"

namespace lpt {
namespace {

// The visible elements of a fragment: indices `first` to below `last`.
struct VisiblePart {
  int32_t first, last;

  __device__ __forceinline__ bool is_full() const { return first == 0 && last == kFragment; }
  __device__ __forceinline__ bool has(int32_t i) const { return i >= first && i < last; }
};

__device__ __forceinline__ VisiblePart visible_part(const VisibleColumns &seen, int64_t column) {
  const int64_t before = seen.begin - column;
  return {before <= 0          ? 0
          : before > kFragment ? kFragment
                               : static_cast<int32_t>(before),
          fragment_count(seen.end, column)};
}

// Replaces visible elements by exp(scale · (x - top)), and the others by 0. A full fragment needs one branch for 16 elements.
__device__ __forceinline__ void exponentials(FloatFragment &x, const VisiblePart &part, float scale, float top) {
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) x.number[i] = scale * (x.number[i] - top);
  if (part.is_full() && are_in_fast_range(x)) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = middle_exp(x.number[i]);
    return;
  }
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    x.number[i] = part.has(i) ? exp_f32(x.number[i]) : 0.0f;
  }
}

// Returns the largest of `peak` and sign · x over the visible elements, or a NaN if one of them is NaN.
__device__ __forceinline__ float peak_of_part(const FloatFragment &x, const VisiblePart &part, float sign, float peak) {
  if (part.is_full()) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) peak = larger_or_nan(peak, sign * x.number[i]);
  } else {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      if (part.has(i)) peak = larger_or_nan(peak, sign * x.number[i]);
    }
  }
  return peak;
}

// Multiplies visible elements by `inverse`, and sets the others to 0. If `inverse` is not NaN, neither is any exponential, so
// no NaN needs replacement.
__device__ __forceinline__ void scale_part(FloatFragment &x, const VisiblePart &part, float inverse) {
  if (part.is_full() && inverse == inverse) {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] *= inverse;
  } else {
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) x.number[i] = part.has(i) ? positive_nan(x.number[i] * inverse) : 0.0f;
  }
}

constexpr int64_t kMostHeldThreads = 512;
constexpr int64_t kMostHeldColumns = kMostHeldThreads * kFragment;

// A block has one thread per fragment of a row, in whole warps, and holds the row in registers. Rows of more than
// kMostHeldColumns (template argument false) are read three times.
template <bool kHoldsRow>
__global__ void __launch_bounds__(kHoldsRow ? kMostHeldThreads : kLineThreads, 3) softmax_forward(SoftmaxJob job) {
  const float sign = job.scale < 0.0f ? -1.0f : 1.0f;
  const uint32_t warps = blockDim.x / 32;
  FloatFragment held;
  for (int64_t row = blockIdx.x; row < job.rows; row += gridDim.x) {
    const auto load = [&](int64_t column) {
      return load_line(job.input, row, column, fragment_count(job.columns, column));
    };
    const auto for_parts = [&](const auto &body) {
      if constexpr (kHoldsRow) {
        body(held, first_column());
      } else {
        for (int64_t column = first_column(); column < job.columns; column += kLineStep) {
          FloatFragment x = load(column);
          body(x, column);
        }
      }
    };
    VisibleColumns seen = visible_columns(job, row);
    float peak = -bits_float(0x7F800000u);
    if constexpr (kHoldsRow) held = load(first_column());
    for_parts([&](const FloatFragment &x, int64_t column) {
      peak = peak_of_part(x, visible_part(seen, column), sign, peak);
    });
    peak = block_max_or_nan(peak, warps);
    const bool is_empty = peak == -bits_float(0x7F800000u);
    if (is_empty) seen = {0, 0};
    const float top = sign * peak;
    double sum = 0.0;
    for_parts([&](FloatFragment &x, int64_t column) {
      exponentials(x, visible_part(seen, column), job.scale, top);
#pragma unroll
      for (int32_t i = 0; i < kFragment; ++i) sum += static_cast<double>(x.number[i]);
    });
    sum = block_sum(sum, warps);
    const float inverse = static_cast<float>(1.0 / sum);
    for_parts([&](FloatFragment &x, int64_t column) {
      const VisiblePart part = visible_part(seen, column);
      if constexpr (!kHoldsRow) exponentials(x, part, job.scale, top);
      scale_part(x, part, inverse);
      const int32_t count = fragment_count(job.columns, column);
      store_numbers(job.output.format, job.output.data, row * job.output.stride + column, count,
                    job.output.is_whole && count == kFragment, x);
    });
    if (job.log_sums != nullptr && threadIdx.x == 0) {
      const double log_sum = static_cast<double>(job.scale) * static_cast<double>(top) + log_f64(sum);
      job.log_sums[row] = is_empty ? peak : static_cast<float>(log_sum);
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
  const SoftmaxJob job = softmax_job(request);
  if (input.columns > kMostHeldColumns) {
    LPT_LAUNCH(softmax_forward<false>, blocks_of_rows(input.rows), kLineThreads, 0, stream, job);
  } else {
    const int64_t warps = (input.columns + 32 * kFragment - 1) / (32 * kFragment);
    LPT_LAUNCH(softmax_forward<true>, blocks_of_rows(input.rows), static_cast<uint32_t>(32 * warps), 0, stream, job);
  }
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
