// The family of casts: amax, quantize, dequantize.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/philox.hpp"
#include "src/base/row.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Largest finite magnitude of a matrix, and whether it has a NaN:  amax = max |source(r, c)| over finite values.
struct AmaxRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride
  float *amax;        // one number; written
  bool *has_nan;      // one truth; written
};

// target(r, c) = round(source(r, c) · inverse(r, c)),  inverse = 1 / (block scale · tensor scale), all in f32.
//
// The tensor scale is an input: the operation has written target.tensor_scale before. Block scales are computed here by
// `rule` from each block's amax, in units of the tensor scale, and written.
// A request covers whole blocks: an operation cuts a matrix on block edges only.
struct QuantizeRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride (transposed casts)
  MatrixView target;  // any format but uint8; column_stride 1
  lpt_rounding rounding;
  lpt_overflow overflow;
  lpt_scale_rule rule;   // resolved: never DEFAULT
  float tensor_inverse;  // 1 / tensor scale; 1 where the format has none
  RandomSource random;   // index of source element (r, c): offset + r · row_stride + c · column_stride of the request
  int64_t random_column_stride;  // 1; a transposed cast swaps it with random.row_stride
  float *amax;  // NULL, or: raised to the largest finite |source| of the request (one pass for delayed scaling)
};

// target(r, c) = element(r, c) · (block scale · tensor scale), in f32, then rounded to the target.
struct DequantizeRequest {
  MatrixView source;  // any format but uint8; column_stride 1
  MatrixView target;  // f32, f64, bf16, f16; column_stride 1
};

std::span<const Row<AmaxRequest>> amax_kernels();
std::span<const Row<QuantizeRequest>> quantize_kernels();
std::span<const Row<DequantizeRequest>> dequantize_kernels();

}  // namespace lpt
