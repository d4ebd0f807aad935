// Epilogue of a GEMM: exact, the operations of ref.cpp in the same order.
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"

namespace lpt {
namespace {

struct FinishJob {
  DeviceRows x, up;  // up: the second half of x for SwiGLU, else unused
  DeviceRows residual, out;
  int64_t rows, columns;
  bool has_residual;
};

template <lpt_activation kActivation>
__device__ __forceinline__ float activated(float x, float up) {
  if constexpr (kActivation == LPT_ACTIVATION_GELU) return gelu_f32(x);
  if constexpr (kActivation == LPT_ACTIVATION_GELU_TANH) return gelu_tanh_f32(x);
  if constexpr (kActivation == LPT_ACTIVATION_SILU) return silu_f32(x);
  if constexpr (kActivation == LPT_ACTIVATION_SWIGLU) return silu_f32(x) * up;
  return x;
}

// Grid rows process matrix rows in a strided loop. out may be x or the residual: a thread reads a fragment before it writes it.
template <lpt_activation kActivation>
__global__ void __launch_bounds__(kLineThreads) finish_lines(FinishJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    FloatFragment fragment = load_line(job.x, row, column, count);
    FloatFragment up = {}, residual = {};
    if (kActivation == LPT_ACTIVATION_SWIGLU) up = load_line(job.up, row, column, count);
    if (job.has_residual) residual = load_line(job.residual, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float value = activated<kActivation>(fragment.number[i], up.number[i]);
      fragment.number[i] = job.has_residual ? value + residual.number[i] : value;
    }
    store_line(job.out, row, column, count, fragment);
  }
}

// Host code.

DeviceRows lines_of_sums(const float *x, int64_t stride) {
  const bool is_whole = reinterpret_cast<uintptr_t>(x) % 16 == 0 && stride % 4 == 0;
  return {const_cast<float *>(x), stride, LPT_FORMAT_F32, is_whole};
}

FinishJob finish_job(const EpilogueRequest &request) {
  FinishJob job = {};
  job.x = lines_of_sums(request.x, request.x_stride);
  job.up = lines_of_sums(request.x + request.columns, request.x_stride);
  job.has_residual = request.residual.data != nullptr;
  if (job.has_residual) job.residual = lines_of(request.residual);
  job.out = lines_of(request.out);
  job.rows = request.rows;
  job.columns = request.columns;
  return job;
}

template <lpt_activation kActivation>
void launch_finish(const FinishJob &job, void *stream) {
  const FragmentGrid grid = fragment_grid(job.rows, job.columns, kLineThreads);
  LPT_LAUNCH((finish_lines<kActivation>), blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
}

}  // namespace

void finish_cuda(const EpilogueRequest &request, void *stream) {
  if (request.rows == 0 || request.columns == 0) return;
  const FinishJob job = finish_job(request);
  switch (request.activation) {
    case LPT_ACTIVATION_GELU:
      return launch_finish<LPT_ACTIVATION_GELU>(job, stream);
    case LPT_ACTIVATION_GELU_TANH:
      return launch_finish<LPT_ACTIVATION_GELU_TANH>(job, stream);
    case LPT_ACTIVATION_SILU:
      return launch_finish<LPT_ACTIVATION_SILU>(job, stream);
    case LPT_ACTIVATION_SWIGLU:
      return launch_finish<LPT_ACTIVATION_SWIGLU>(job, stream);
    default:
      return launch_finish<LPT_ACTIVATION_NONE>(job, stream);
  }
}

}  // namespace lpt
