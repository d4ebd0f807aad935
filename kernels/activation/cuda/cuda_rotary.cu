// Rotary embedding: exact, the operations of ref.cpp. One thread per table entry; one thread per fragment of a row in the
// rotation.
#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "kernels/activation/cuda/cuda_line.hpp"
#include "kernels/activation/rotary.hpp"

namespace lpt {
namespace {

__global__ void __launch_bounds__(kLineThreads) rotary_table(RotaryTableRequest request) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x, entries = request.rows * request.count;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < entries; i += step) {
    write_rotary_entry<float>(request, request.first_row + i / request.count, i % request.count);
  }
}

struct RotaryJob {
  DeviceRows input, output;
  DeviceRows cosines, sines;  // rows of the table
  RotaryAxis axes[kMostRotaryAxes];
  int32_t axis_count;
  int64_t first_row, rows, count, columns;
};

// Rotates columns i and count + i.
__device__ __forceinline__ void rotate_halves(const RotaryJob &job, const RotaryRow &row, int64_t column) {
  const int32_t count = fragment_count(job.count, column);
  if (count == 0) return;
  const FloatFragment cosine = load_line(job.cosines, row.position, column, count);
  const FloatFragment sine = load_line(job.sines, row.position, column, count);
  const FloatFragment x = load_line(job.input, 0, row.input + column, count);
  const FloatFragment y = load_line(job.input, 0, row.input + job.count + column, count);
  FloatFragment first, second;
#pragma unroll
  for (int32_t i = 0; i < kFragment; ++i) {
    first.number[i] = x.number[i] * cosine.number[i] - y.number[i] * sine.number[i];
    second.number[i] = x.number[i] * sine.number[i] + y.number[i] * cosine.number[i];
  }
  store_line(job.output, 0, row.output + column, count, first);
  store_line(job.output, 0, row.output + job.count + column, count, second);
}

// Rotates columns 2i and 2i + 1, whose sines have opposite signs.
__device__ __forceinline__ void rotate_pairs(const RotaryJob &job, const RotaryRow &row, int64_t column) {
  const int32_t count = fragment_count(2 * job.count, column);
  if (count == 0) return;
  const FloatFragment cosine = load_line(job.cosines, row.position, column, count);
  const FloatFragment sine = load_line(job.sines, row.position, column, count);
  const FloatFragment x = load_line(job.input, 0, row.input + column, count);
  FloatFragment rotated;
#pragma unroll
  for (int32_t i = 0; i < kFragment; i += 2) {
    rotated.number[i] = x.number[i] * cosine.number[i] + x.number[i + 1] * sine.number[i];
    rotated.number[i + 1] = x.number[i + 1] * cosine.number[i + 1] + x.number[i] * sine.number[i + 1];
  }
  store_line(job.output, 0, row.output + column, count, rotated);
}

template <bool kIsHalves>
__global__ void __launch_bounds__(kLineThreads) rotary(RotaryJob job) {
  const int64_t column = first_column_of_grid(), rest = 2 * job.count;
  const int32_t copied = fragment_count(job.columns - rest, column);
  for (int64_t i = first_row_of_grid(); i < job.rows; i += rows_of_grid()) {
    const RotaryRow row = rotary_row(job.axes, job.axis_count, job.first_row + i);
    kIsHalves ? rotate_halves(job, row, column) : rotate_pairs(job, row, column);
    if (copied == 0) continue;
    store_line(job.output, 0, row.output + rest + column, copied,
               load_line(job.input, 0, row.input + rest + column, copied));
  }
}

// Returns the view of a matrix whose rows begin at multiples of the axis strides. Fragments begin at columns 0 and `count`.
DeviceRows lines_of_rows(const MatrixView &view, const RotaryRequest &request, int64_t RotaryAxis::*stride) {
  DeviceRows lines = lines_of(view);
  const int64_t bytes = view.format.id == LPT_FORMAT_F32 ? 4 : 2;
  lines.is_whole = reinterpret_cast<uintptr_t>(view.data) % 16 == 0 && request.count * bytes % 16 == 0;
  for (int32_t axis = 0; axis < request.axis_count; ++axis) {
    lines.is_whole = lines.is_whole && request.axes[axis].*stride * bytes % 16 == 0;
  }
  return lines;
}

DeviceRows lines_of_table(const void *data, int64_t stride) {
  DeviceRows lines = line_of_vector(data);
  lines.stride = stride;
  lines.is_whole = lines.is_whole && stride % 4 == 0;
  return lines;
}

}  // namespace

void rotary_table_cuda(const RotaryTableRequest &request, void *stream) {
  const int64_t entries = request.rows * request.count;
  if (entries == 0) return;
  LPT_LAUNCH(rotary_table, blocks_of_rows((entries + kLineThreads - 1) / kLineThreads), kLineThreads, 0, stream,
             request);
}

void rotary_cuda(const RotaryRequest &request, void *stream) {
  const int64_t columns = request.input.columns, rest = columns - 2 * request.count;
  if (request.rows == 0 || columns == 0) return;
  RotaryJob job = {.input = lines_of_rows(request.input, request, &RotaryAxis::input_stride),
                   .output = lines_of_rows(request.output, request, &RotaryAxis::output_stride),
                   .cosines = lines_of_table(request.cosines, request.table_stride),
                   .sines = lines_of_table(request.sines, request.table_stride),
                   .axes = {},
                   .axis_count = request.axis_count,
                   .first_row = request.first_row,
                   .rows = request.rows,
                   .count = request.count,
                   .columns = columns};
  for (int32_t axis = 0; axis < request.axis_count; ++axis) job.axes[axis] = request.axes[axis];
  const bool is_halves = request.layout == LPT_ROTARY_LAYOUT_HALVES;
  const int64_t rotated = is_halves ? request.count : 2 * request.count;
  const FragmentGrid grid = fragment_grid(request.rows, rotated > rest ? rotated : rest, kLineThreads);
  if (is_halves) {
    LPT_LAUNCH((rotary<true>), blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  } else {
    LPT_LAUNCH((rotary<false>), blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
  }
}

}  // namespace lpt
