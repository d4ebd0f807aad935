// Casts to bf16 and f16 without scales. A thread processes 16 adjacent elements of a row, and several rows in a grid-stride
// loop.
#include "kernels/common/cuda_lines.hpp"
#include "kernels/quantize/cuda/cuda_kernels.hpp"

namespace lpt {
namespace {

struct WideJob {
  DeviceRows source, target;
  float most;  // the largest finite value of the target; larger values saturate to it
  int64_t rows, columns;
};

__device__ __forceinline__ float held(float number, float most) {
  if (number > most) return most;
  return number < -most ? -most : number;  // returns a NaN unchanged
}

__global__ void __launch_bounds__(kBlockThreads) round_fragments(WideJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    FloatFragment fragment = load_line(job.source, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] = held(fragment.number[i], job.most);
    store_numbers(job.target.format, job.target.data, row * job.target.stride + column, count,
                  job.target.is_whole && count == kFragment, fragment);
  }
}

float largest_number(lpt_format format) { return format == LPT_FORMAT_BF16 ? bits_float(0x7F7F0000u) : 65504.0f; }

}  // namespace

void quantize_wide_cuda(const QuantizeRequest &request, void *stream) {
  const MatrixView &source = request.source;
  if (source.rows == 0 || source.columns == 0) return;
  const WideJob job = {lines_of(source), lines_of(request.target), largest_number(request.target.format.element),
                       source.rows, source.columns};
  const FragmentGrid grid = fragment_grid(source.rows, source.columns, kBlockThreads);
  LPT_LAUNCH(round_fragments, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
}

}  // namespace lpt
