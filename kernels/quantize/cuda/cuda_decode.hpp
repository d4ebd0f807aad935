// Decoding of codes and their scales.
#pragma once

#include "kernels/quantize/cuda/cuda_blocks.hpp"

namespace lpt {

// A DequantizeRequest as a kernel argument, passed by value.
struct DecodeJob {
  const void *source, *block_scales;
  const float *tensor_scale;  // NULL: none
  void *target;
  int64_t rows, columns;
  int64_t source_stride;  // in bytes
  int64_t target_stride;  // in elements
  int64_t block_scale_stride;
  int64_t block_rows, block_columns;
  lpt_format scale;
  bool loads_whole, stores_whole;
};

__device__ __forceinline__ float scale_at(const DecodeJob &job, int64_t row, int64_t column) {
  const float tensor_scale = job.tensor_scale == nullptr ? 1.0f : *job.tensor_scale;
  if (job.scale == LPT_FORMAT_NONE) return tensor_scale;
  const int64_t index = row / job.block_rows * job.block_scale_stride + column / job.block_columns;
  const uint32_t code = job.scale == LPT_FORMAT_F32 ? float_bits(static_cast<const float *>(job.block_scales)[index])
                                                    : static_cast<const uint8_t *>(job.block_scales)[index];
  return block_scale_value(job.scale, code) * tensor_scale;
}

inline DecodeJob decode_job(const DequantizeRequest &request) {
  const MatrixView &source = request.source;
  const MatrixView &target = request.target;
  const Format &format = source.format;
  const int32_t bits = small_element(format.element).bits;
  DecodeJob job = {};
  job.source = source.data;
  job.block_scales = source.block_scales;
  job.tensor_scale = format.tensor_scale == LPT_FORMAT_NONE ? nullptr : source.tensor_scale;
  job.target = target.data;
  job.rows = source.rows;
  job.columns = source.columns;
  job.source_stride = source.row_stride * bits / 8;
  job.target_stride = target.row_stride;
  job.block_scale_stride = source.block_scale_stride;
  job.block_rows = format.block_rows == LPT_BLOCK_EXTENT_FULL ? source.rows : format.block_rows;
  job.block_columns = format.block_columns == LPT_BLOCK_EXTENT_FULL ? source.columns : format.block_columns;
  job.scale = format.block_scale;
  job.loads_whole = are_rows_aligned(source.data, job.source_stride, code_boundary(bits));
  job.stores_whole = are_rows_aligned(target.data, target.row_stride * number_bytes(target.format.element));
  return job;
}

}  // namespace lpt
