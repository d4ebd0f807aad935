// SwiGLU forward and backward: exact, the operations of ref.cpp in the same order.
#include "kernels/activation/cuda/cuda_exp.hpp"
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"

namespace lpt {
namespace {

struct ForwardJob {
  DeviceRows gate, up, output;
  int64_t rows, columns;
  float *column_amax;
};

__device__ __forceinline__ void raise_amax(FloatFragment &amax, const FloatFragment &up) {
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    const float magnitude = bits_float(float_bits(up.number[i]) & 0x7FFFFFFFu);
    if (magnitude < bits_float(0x7F800000u) && magnitude > amax.number[i]) amax.number[i] = magnitude;
  }
}

__global__ void __launch_bounds__(kLineThreads) swiglu_forward(ForwardJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  FloatFragment amax = {};
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const FloatFragment gate = load_line(job.gate, row, column, count);
    const FloatFragment up = load_line(job.up, row, column, count);
    FloatFragment output = silu_of(gate);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) output.number[i] *= up.number[i];
    store_line(job.output, row, column, count, output);
    if (job.column_amax != nullptr) raise_amax(amax, up);
  }
  if (job.column_amax == nullptr) return;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    if (i < count) atomicMax(reinterpret_cast<uint32_t *>(job.column_amax + column + i), float_bits(amax.number[i]));
  }
}

// Limits the rows of the grid, because each block raises the amax of all its columns by atomics. Two blocks for each of the 132
// multiprocessors of an H100 are enough.
uint32_t few_rows(const FragmentGrid &grid) {
  constexpr uint32_t kBlocks = 2 * 132;
  const uint32_t most = grid.grid_x < kBlocks ? kBlocks / grid.grid_x : 1;
  return grid.grid_y < most ? grid.grid_y : most;
}

struct BackwardJob {
  DeviceRows gate, up, output_gradient, gate_gradient, up_gradient;
  int64_t rows, columns;
};

__global__ void __launch_bounds__(kLineThreads) swiglu_backward(BackwardJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const FloatFragment gate = load_line(job.gate, row, column, count);
    const FloatFragment up = load_line(job.up, row, column, count);
    const FloatFragment gradient = load_line(job.output_gradient, row, column, count);
    FloatFragment of_gate, of_up;
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      const float g = gate.number[i];
      const Sigmoid s = sigmoid_f32(g);
      const float derivative = s.value * fused_multiply_add(g, s.complement, 1.0f);
      of_gate.number[i] = (gradient.number[i] * up.number[i]) * derivative;
      of_up.number[i] = gradient.number[i] * (g * s.value);
    }
    store_line(job.gate_gradient, row, column, count, of_gate);
    store_line(job.up_gradient, row, column, count, of_up);
  }
}

}  // namespace

void swiglu_forward_cuda(const SwigluForwardRequest &request, void *stream) {
  const MatrixView &gate = request.gate;
  if (gate.rows == 0 || gate.columns == 0) return;
  const ForwardJob job = {lines_of(gate), lines_of(request.up), lines_of(request.output),
                          gate.rows,      gate.columns,         request.column_amax};
  FragmentGrid grid = fragment_grid(gate.rows, gate.columns, kLineThreads);
  if (request.column_amax != nullptr) grid.grid_y = few_rows(grid);
  LPT_LAUNCH(swiglu_forward, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
}

void swiglu_backward_cuda(const SwigluBackwardRequest &request, void *stream) {
  const MatrixView &gate = request.gate;
  if (gate.rows == 0 || gate.columns == 0) return;
  const BackwardJob job = {lines_of(gate),
                           lines_of(request.up),
                           lines_of(request.output_gradient),
                           lines_of(request.gate_gradient),
                           lines_of(request.up_gradient),
                           gate.rows,
                           gate.columns};
  const FragmentGrid grid = fragment_grid(gate.rows, gate.columns, kLineThreads);
  LPT_LAUNCH(swiglu_backward, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
}

}  // namespace lpt
