// Requests and kernel tables of the cast family: amax, quantize, dequantize, transpose, statistics and errors.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Computes amax = max |source(r, c)| over the finite elements of a matrix, and whether it has a NaN.
struct AmaxRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride
  float *amax;        // output, one value
  bool *has_nan;      // output, one flag
};

// Computes target(r, c) = round(source(r, c) · inverse(r, c)) with inverse = 1 / (block scale · tensor scale), all in f32.
//
// The tensor scale is an input: the operation has written target.tensor_scale already. The kernel computes the block scales by
// `rule`, in units of the tensor scale, and writes them. With rule FIXED the block scales are inputs too. With zero points
//   scale = (high - low) / max_code,  zero = round(-low · (1 / scale)),
//   target = round(source · (1 / scale)) + zero, clamped to 0 .. max_code,
// where low is min(0, smallest finite element of the block) and high is max(0, largest finite element of the block). A block of
// zeros has scale 1 and zero point 0. A request covers whole blocks, because operations split matrices at block boundaries
// only.
struct QuantizeRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride (transposed casts)
  MatrixView target;  // any format except plain uint8; column_stride 1
  lpt_rounding rounding;
  lpt_overflow overflow;
  lpt_scale_rule rule;      // resolved: never DEFAULT
  float tensor_inverse;     // 1 / tensor scale; 1 if the format has no tensor scale
  const float *scale_list;  // for rule LIST
  int32_t scale_list_count;
  // The index of source element (r, c) is random.offset + r · random.row_stride + c · random_column_stride.
  RandomSource random;
  int64_t random_column_stride;  // 1; a transposed cast exchanges it with random.row_stride
  // NULL, or raised to the largest finite |source| of the request, for delayed scaling in one pass.
  float *amax;
  // NULL, or set to true if the source has a NaN. Needed if the target format cannot represent a NaN.
  bool *has_nan;
  // Permits stores that bypass the caches, because the target is part of a tensor larger than the caches.
  bool is_streamed = false;

  // Only for devices. `untransposed`: data is NULL, or a transposed cast also writes these codes, in the order of the source.
  // The tensor scale of this view is an input.
  MatrixView untransposed = {};
  bool is_rotated = false;         // casts source ⊙ factors ⊙ signs, rotated in groups of 16 columns
  const float *factors = nullptr;  // NULL, or one for each column
  const float *signs = nullptr;    // NULL, or one for each column
};

// Returns whether the cast kernel of a device multiplies or rotates the source.
inline bool is_prepared(const QuantizeRequest &request) {
  return request.is_rotated || request.factors != nullptr || request.signs != nullptr;
}

// Computes target(r, c) = (element(r, c) - zero point) · (block scale · tensor scale) in f32, then rounds to the target format.
struct DequantizeRequest {
  MatrixView source;  // any format except plain uint8; column_stride 1
  MatrixView target;  // f32, f64, bf16, f16; column_stride 1
};

// Computes target(c, r) = source(r, c): codes are copied unchanged, and so are block scales, whose blocks are square. Makes the
// second copy of a cast whose codes do not depend on the direction.
struct TransposeRequest {
  MatrixView source;         // column_stride 1; no zero points
  MatrixView target;         // columns × rows of the source, in the format of the source; column_stride 1
  bool is_streamed = false;  // as in QuantizeRequest
};

// Computes sums[r] = Σ_c |source(r, c)| and squares[r] = Σ_c source(r, c)² over finite elements, in f32, in the order of
// striped_sum().
struct MagnitudeSumRequest {
  MatrixView source;         // f32, f64, bf16, f16; any column_stride
  float *sums;               // output
  float *squares = nullptr;  // NULL, or output
};

// Statistics of a cast; CastStatisticsRequest defines each member.
struct CastStatistics {
  int64_t elements = 0, nans = 0, clipped = 0, underflows = 0;
  float amax = 0.0f;
  double squares = 0.0, squared_errors = 0.0;
};

// Computes statistics over all (r, c), where y = source(r, c) in f32 and q is the dequantized value of quantized(r, c):
//   nans        y is NaN
//   clipped     |y| · inverse > the largest element · (1 + 2^-20); the factor excludes excess due to rounding of the scale.
//               With zero points: the sum before clamping is outside 0 .. max_code
//   underflows  y is finite and not 0, and q is 0
//   amax        largest finite |y|
//   squares     Σ y² over finite y; squared_errors is Σ (y - q)² over finite y. Differences and squares are computed in
//               f32, sums in f64: each row in the order of striped_sum(), then rows in ascending order
struct CastStatisticsRequest {
  MatrixView source;     // f32, f64, bf16, f16; any column_stride
  MatrixView quantized;  // any format except plain uint8; column_stride 1
  CastStatistics *sums;  // output
};

constexpr int32_t kMaxCastScales = 16;

// Computes errors[i] = Σ (y - q)² over finite y = source(r, c) in f32, where q is y after a cast to nearest even with tensor
// scale scales[i] and back. Differences and squares are computed in f32, sums in f64: each row in the order of striped_sum(),
// then rows in ascending order. The result is infinite if one of the squares is not finite.
struct CastErrorsRequest {
  MatrixView source;  // f32, f64, bf16, f16; any column_stride
  lpt_format element;
  lpt_overflow overflow;
  const float *scales;  // normal and positive
  int32_t scale_count;  // at most kMaxCastScales
  double *errors;       // output
};

std::span<const KernelEntry<AmaxRequest>> amax_kernels();
std::span<const KernelEntry<QuantizeRequest>> quantize_kernels();
std::span<const KernelEntry<DequantizeRequest>> dequantize_kernels();
std::span<const KernelEntry<TransposeRequest>> transpose_kernels();
std::span<const KernelEntry<MagnitudeSumRequest>> magnitude_sum_kernels();
std::span<const KernelEntry<CastStatisticsRequest>> cast_statistics_kernels();
std::span<const KernelEntry<CastErrorsRequest>> cast_errors_kernels();

}  // namespace lpt
