// What the files of this family offer to the table.
#pragma once

#include "kernels/quantize/quantize.hpp"

namespace lpt {

void amax_any_ref(const AmaxRequest &request);
void quantize_any_ref(const QuantizeRequest &request);
void dequantize_any_ref(const DequantizeRequest &request);

void amax_f32_x86_avx2(const AmaxRequest &request);
void quantize_f32_fp8_x86_avx2(const QuantizeRequest &request);
void dequantize_floats_f32_x86_avx2(const DequantizeRequest &request);

void amax_f32_x86_avx512(const AmaxRequest &request);
void quantize_f32_bytes_x86_avx512(const QuantizeRequest &request);
void quantize_f32_transposed_x86_avx512(const QuantizeRequest &request);
void quantize_f32_bytes_blocks_x86_avx512(const QuantizeRequest &request);
void quantize_f32_narrow_blocks_x86_avx512(const QuantizeRequest &request);
void quantize_f32_halves_x86_avx512(const QuantizeRequest &request);
void dequantize_floats_f32_x86_avx512(const DequantizeRequest &request);

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
