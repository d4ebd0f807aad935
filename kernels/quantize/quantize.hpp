// The family of casts: amax, quantize, dequantize.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Largest finite magnitude of a matrix, and whether it has a NaN:  amax = max |source(r, c)| over finite values.
struct AmaxRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride
  float *amax;        // one number; written
  bool *has_nan;      // one flag; written
};

// target(r, c) = round(source(r, c) · inverse(r, c)),  inverse = 1 / (block scale · tensor scale), all in f32.
//
// The tensor scale is an input: the operation has written target.tensor_scale before. Block scales are computed here by
// `rule` in units of the tensor scale, and written; by rule FIXED they are inputs too. With zero points
//   scale = (high - low) / max_code,  zero = round(-low · (1 / scale)),  target = round(source · (1 / scale)) + zero, held in
//   0 .. max_code,
// where low and high are the least and the largest finite number of the block and 0; all zero: scale 1, zero 0.
// A request covers whole blocks: an operation cuts a matrix on block edges only.
struct QuantizeRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride (transposed casts)
  MatrixView target;  // any format but plain uint8; column_stride 1
  lpt_rounding rounding;
  lpt_overflow overflow;
  lpt_scale_rule rule;      // resolved: never DEFAULT
  float tensor_inverse;     // 1 / tensor scale; 1 where the format has none
  const float *scale_list;  // of rule LIST
  int32_t scale_list_count;
  RandomSource random;  // index of source element (r, c): offset + r · row_stride + c · column_stride of the request
  int64_t random_column_stride;  // 1; a transposed cast exchanges it with random.row_stride
  float *amax;    // NULL, or: raised to the largest finite |source| of the request (one pass for delayed scaling)
  bool *has_nan;  // NULL, or: set if the source has a NaN. PrefetchStream where nothing in the target can tell
  // The target may be written past the caches: it is a part of something larger than they are.
  bool is_streamed = false;

  // Of devices alone. `untransposed`: data NULL, or of a transposed cast the codes in the order of the source, with a scale of their own.
  MatrixView untransposed = {};
  bool is_rotated = false;         // what is cast is the source ⊙ factors ⊙ signs, rotated in groups of 16 columns
  const float *factors = nullptr;  // NULL, or one for each column
  const float *signs = nullptr;    // likewise
};

// What a device prepares on its way to the codes.
inline bool is_prepared(const QuantizeRequest &request) {
  return request.is_rotated || request.factors != nullptr || request.signs != nullptr;
}

// target(r, c) = (element(r, c) - zero point) · (block scale · tensor scale), in f32, then rounded to the target.
struct DequantizeRequest {
  MatrixView source;  // any format but plain uint8; column_stride 1
  MatrixView target;  // f32, f64, bf16, f16; column_stride 1
};

// target(c, r) = source(r, c), codes as they are; so too for block scales, whose blocks are square. The other copy of a cast
// whose codes do not depend on the direction.
struct TransposeRequest {
  MatrixView source;         // column_stride 1; no zero points
  MatrixView target;         // columns × rows of the source in its format; column_stride 1
  bool is_streamed = false;  // as in QuantizeRequest
};

// sums[r] = the sum over c of the magnitudes of finite source(r, c), squares[r] that of their squares, in f32, in the order
// of striped_sum().
struct MagnitudeSumRequest {
  MatrixView source;         // f32, f64, bf16, f16; any column_stride
  float *sums;               // written
  float *squares = nullptr;  // NULL, or written
};

// What became of numbers.
struct CastStatistics {
  int64_t elements = 0, nans = 0, clipped = 0, underflows = 0;
  float amax = 0.0f;
  double squares = 0.0, squared_errors = 0.0;
};

// Counts over all (r, c), with y = source(r, c) in f32 and q what dequantize gives for quantized(r, c):
//   nans        y is NaN
//   clipped     |y| · inverse > the largest element · (1 + 2^-20): roundings of the scale may add less, and do not count; with
//               zero points the sum before holding leaves 0 .. max_code
//   underflows  y is finite and not 0, and q is 0
//   amax        largest finite |y|
//   squares     sum of y², squared_errors of (y - q)², over finite y: difference and square in f32, sums in f64: each row in
//               the order of striped_sum(), rows in turn
struct CastStatisticsRequest {
  MatrixView source;     // f32, f64, bf16, f16; any column_stride
  MatrixView quantized;  // any format but plain uint8; column_stride 1
  CastStatistics *sums;  // written
};

constexpr int32_t kMostCastScales = 16;

// errors[i] = the sum over (r, c) of (y - q)² for finite y = source(r, c) in f32, where q is what a cast to nearest even with
// the tensor scale scales[i] and back gives: difference and square in f32, sums in f64: each row in the order of striped_sum(),
// rows in turn. It is infinite if one of the squares is not finite.
struct CastErrorsRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride
  lpt_format element;
  lpt_overflow overflow;
  const float *scales;  // normal and positive
  int32_t scale_count;  // at most kMostCastScales
  double *errors;       // written
};

std::span<const KernelEntry<AmaxRequest>> amax_kernels();
std::span<const KernelEntry<QuantizeRequest>> quantize_kernels();
std::span<const KernelEntry<DequantizeRequest>> dequantize_kernels();
std::span<const KernelEntry<TransposeRequest>> transpose_kernels();
std::span<const KernelEntry<MagnitudeSumRequest>> magnitude_sum_kernels();
std::span<const KernelEntry<CastStatisticsRequest>> cast_statistics_kernels();
std::span<const KernelEntry<CastErrorsRequest>> cast_errors_kernels();

}  // namespace lpt
