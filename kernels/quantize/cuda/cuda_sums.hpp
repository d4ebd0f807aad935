// Statistics of a cast on a device.
#pragma once

#include <span>

#include "kernels/quantize/quantize.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Adds the CastStatistics of a matrix to `sums`. The matrix is split into tiles, whose statistics are those of
// CastStatisticsRequest. They are added in the order of tiles, row by row.
struct TileSumsRequest {
  MatrixView source;     // f32, bf16, f16; column_stride 1
  MatrixView quantized;  // any format except plain uint8; column_stride 1
  int64_t tile_rows, tile_columns;
  double *scratch;  // sums_scratch() elements
  CastStatistics *sums;
};

// Returns the elements of scratch: two for each row of each tile, then two for each tile.
inline int64_t sums_scratch(const TileSumsRequest &request) {
  const int64_t across = (request.source.columns + request.tile_columns - 1) / request.tile_columns;
  const int64_t down = (request.source.rows + request.tile_rows - 1) / request.tile_rows;
  return 2 * across * (request.source.rows + down);
}

void tile_sums_cuda(const TileSumsRequest &request, void *stream);

std::span<const KernelEntry<TileSumsRequest>> tile_sums_device_kernels();

}  // namespace lpt
