// What the files of this family offer to the table.
#pragma once

#include "kernels/quantize/quantize.hpp"

namespace lpt {

void amax_any_ref(const AmaxRequest &request);
void magnitude_sum_any_ref(const MagnitudeSumRequest &request);
void quantize_any_ref(const QuantizeRequest &request);
void dequantize_any_ref(const DequantizeRequest &request);
void cast_sums_any_ref(const CastSumsRequest &request);

void amax_x86_avx2(const AmaxRequest &request);
void quantize_x86_avx2(const QuantizeRequest &request);
void quantize_halves_x86_avx2(const QuantizeRequest &request);
void dequantize_x86_avx2(const DequantizeRequest &request);
void cast_sums_x86_avx2(const CastSumsRequest &request);

void amax_x86_avx512(const AmaxRequest &request);
void quantize_x86_avx512(const QuantizeRequest &request);
void quantize_transposed_x86_avx512(const QuantizeRequest &request);
void quantize_blocks_x86_avx512(const QuantizeRequest &request);
void quantize_f32_halves_x86_avx512(const QuantizeRequest &request);
void dequantize_x86_avx512(const DequantizeRequest &request);
void cast_sums_x86_avx512(const CastSumsRequest &request);

// The same numbers in another order, if that makes its columns adjacent.
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
