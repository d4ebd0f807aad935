// Scaled copy of a matrix. A thread processes 16 adjacent elements of a row, in a grid-stride loop over rows.
#include "kernels/common/cuda_lines.hpp"
#include "kernels/reduce/cuda_columns.hpp"

namespace lpt {
namespace {

struct ColumnsJob {
  DeviceRows source, target;
  float factor;
  int64_t rows, columns;
};

__global__ void __launch_bounds__(kBlockThreads) move_columns(ColumnsJob job) {
  const int64_t column = first_column_of_grid();
  const int32_t count = fragment_count(job.columns, column);
  if (count == 0) return;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    FloatFragment fragment = load_line(job.source, row, column, count);
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) fragment.number[i] = fragment.number[i] * job.factor;
    store_line(job.target, row, column, count, fragment);
  }
}

}  // namespace

void columns_cuda(const ColumnsRequest &request, void *stream) {
  const MatrixView &source = request.source;
  if (source.rows == 0 || source.columns == 0) return;
  const ColumnsJob job = {lines_of(source), lines_of(request.target), static_cast<float>(request.factor), source.rows,
                          source.columns};
  const FragmentGrid grid = fragment_grid(source.rows, source.columns, kBlockThreads);
  LPT_LAUNCH(move_columns, blocks_of_grid(grid), threads_of_grid(grid), 0, stream, job);
}

}  // namespace lpt
