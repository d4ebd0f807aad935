// Kernel functions of the cast family, for its kernel tables.
#pragma once

#include "kernels/common/simd_entries.hpp"
#include "kernels/quantize/quantize.hpp"

namespace lpt {

void amax_any_ref(const AmaxRequest &request);
void transpose_any_ref(const TransposeRequest &request);
void magnitude_sum_any_ref(const MagnitudeSumRequest &request);
void magnitude_sum_x86_avx512(const MagnitudeSumRequest &request);
void quantize_any_ref(const QuantizeRequest &request);
void dequantize_any_ref(const DequantizeRequest &request);
void cast_statistics_any_ref(const CastStatisticsRequest &request);
void cast_errors_any_ref(const CastErrorsRequest &request);

void amax_x86_avx2(const AmaxRequest &request);
void quantize_x86_avx2(const QuantizeRequest &request);
void quantize_halves_x86_avx2(const QuantizeRequest &request);
void quantize_zero_points_x86_avx2(const QuantizeRequest &request);
void dequantize_x86_avx2(const DequantizeRequest &request);
void cast_statistics_x86_avx2(const CastStatisticsRequest &request);
void cast_errors_x86_avx2(const CastErrorsRequest &request);
void transpose_x86_avx2(const TransposeRequest &request);

void amax_x86_avx512(const AmaxRequest &request);
void quantize_x86_avx512(const QuantizeRequest &request);
void quantize_transposed_x86_avx512(const QuantizeRequest &request);
void quantize_blocks_x86_avx512(const QuantizeRequest &request);
void quantize_halves_x86_avx512(const QuantizeRequest &request);
void quantize_zero_points_x86_avx512(const QuantizeRequest &request);
void dequantize_x86_avx512(const DequantizeRequest &request);
void cast_statistics_x86_avx512(const CastStatisticsRequest &request);
void transpose_x86_avx512(const TransposeRequest &request);

LPT_DECLARE_SIMD(quantize_floats, QuantizeRequest)

void amax_arm_neon(const AmaxRequest &request);
void quantize_arm_neon(const QuantizeRequest &request);
void dequantize_arm_neon(const DequantizeRequest &request);

// Copies the block scales of a matrix to the transposed matrix. It is scalar, because scales are few.
static inline void transpose_scales(const MatrixView &source, const MatrixView &target) {
  if (source.format.block_scale == LPT_FORMAT_NONE) return;
  const int64_t block = source.format.block_columns;
  const int64_t rows = (source.rows + block - 1) / block;
  const int64_t columns = (source.columns + block - 1) / block;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t from = r * source.block_scale_stride + c;
      const int64_t to = c * target.block_scale_stride + r;
      if (source.format.block_scale == LPT_FORMAT_F32) {
        static_cast<float *>(target.block_scales)[to] = static_cast<const float *>(source.block_scales)[from];
      } else {
        static_cast<uint8_t *>(target.block_scales)[to] = static_cast<const uint8_t *>(source.block_scales)[from];
      }
    }
  }
}

// Returns the view with rows and columns exchanged if that makes columns adjacent, else the view itself. For order-independent
// reductions.
static inline MatrixView with_adjacent_columns(const MatrixView &view) {
  MatrixView result = view;
  if (view.column_stride == 1 || view.row_stride != 1) return result;
  result.rows = view.columns;
  result.columns = view.rows;
  result.row_stride = view.column_stride;
  result.column_stride = 1;
  return result;
}

}  // namespace lpt
