// Layers without weight matrices: SwiGLU, RMSNorm, LayerNorm, rotary embedding, softmax, cross entropy, the gradient of an
// embedding, and the epilogue of a GEMM. Views are f32, bf16, f16 or f64. A kernel computes in f64 if any of them is f64, else
// in f32. NaN is written as the positive quiet NaN, because machines produce different NaN bits. Exact: all kernels compute the
// same bits. Bounded: kernels may differ in the order of a sum.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Computes output = silu(gate) · up with silu(x) = x / (1 + exp(-x)). column_amax, unless NULL, is raised per column to the
// largest finite |up|. Exact, with the sigmoid of src/formats/functions.hpp and this order:
//   output = (g · sigmoid(g)) · up
struct SwigluForwardRequest {
  MatrixView gate, up, output;
  float *column_amax;
};

// Computes gate_gradient = dy · up · silu'(gate) and up_gradient = dy · silu(gate). Exact, in this order:
//   gate_gradient = (dy · up) · (sigmoid(g) · fma(g, sigmoid(-g), 1)),  up_gradient = dy · (g · sigmoid(g))
struct SwigluBackwardRequest {
  MatrixView gate, up, output_gradient, gate_gradient, up_gradient;
};

// Computes RMSNorm: r = 1 / sqrt(mean(x²) + epsilon), output = x · r · weight. If the root is 0, r is 0: a row of zeros without
// epsilon yields zeros. With is_centered, computes LayerNorm: m = mean(x), r = 1 / sqrt(mean((x - m)²) + epsilon), output = (x
// - m) · r · weight + bias, with m and r rounded to the type of the weight. Bounded: the mean is summed in f64 or pairwise.
//
// With a residual, x is an output: residual + branch, added in f32 or f64 and rounded once to the format of input. It may be one
// of them.
struct RmsnormForwardRequest {
  MatrixView input;
  const void *weight;  // `columns` values: f32, or f64 with is_f64
  MatrixView output;
  void *inverse_rms;  // NULL, or output, `rows` values
  double epsilon;
  bool is_f64;
  bool is_centered = false;               // LayerNorm; then the weight may be NULL: ones
  const void *bias = nullptr;             // for is_centered, in the type of the weight. NULL: zeros
  void *mean = nullptr;                   // for is_centered: NULL, or output, `rows` values
  MatrixView residual = {}, branch = {};  // without is_centered. Format NONE: no residual

  bool has_residual() const { return residual.format.id != LPT_FORMAT_NONE; }
};

// Computes dx = r · (w · dy) - x · r³ · mean(w · dy · x), and adds dw(c) = Σ_rows dy · x · r to weight_gradient_sum. With
// is_centered, x - mean replaces x, r · mean(w · dy) is subtracted from dx, and db(c) is Σ_rows dy.
struct RmsnormBackwardRequest {
  MatrixView input, output_gradient, input_gradient;  // input_gradient.data NULL: not requested
  const void *weight;
  const void *inverse_rms;
  double *weight_gradient_sum;  // NULL, or `columns` sums, which are increased; the operation adds its parts in a fixed
                                // order
  bool is_f64;
  bool is_centered = false;             // LayerNorm; then the weight may be NULL: ones
  const void *mean = nullptr;           // for is_centered
  double *bias_gradient_sum = nullptr;  // for is_centered, as weight_gradient_sum
  MatrixView residual_gradient{};       // added to dx before it is rounded; data NULL: none. It may be input_gradient
};

// Computes the table of a rotary embedding: scale · cos(a) and scale · sin(a) of the angle a = position · frequency(i) for each
// position. Exact: computes a in f64, cos and sin by src/formats/functions_f64.hpp, their product with scale in f64, and rounds
// once to the table. Row p of the table:
//   HALVES       cosines[i] = cos, sines[i] = sin
//   INTERLEAVED  cosines[2i] = cosines[2i + 1] = cos, sines[2i] = -sin, sines[2i + 1] = sin
struct RotaryTableRequest {
  const void *frequencies;
  bool is_frequency_f64;  // else f32
  int64_t count;          // number of frequencies
  const void *positions;  // NULL: first_position + p
  bool is_position_wide;  // int64, else int32
  int64_t first_position;
  int64_t first_row, rows;  // rows to write
  lpt_rotary_layout layout;
  double scale;
  bool is_inverse;        // negates sin
  void *cosines, *sines;  // output: rows with a stride of `stride` elements
  int64_t stride;
  bool is_f64;  // type of the table, else f32
};

constexpr int32_t kMostRotaryAxes = 7;

// One axis of the rows. One step along the axis is input_stride and output_stride elements, and position_stride rows of the
// table: 1 along positions, else 0.
struct RotaryAxis {
  int64_t extent, input_stride, output_stride, position_stride;
};

// Rotates each pair (x, y) of a row to (x · cos - y · sin, x · sin + y · cos) and copies columns from 2 · count on. Rows are
// numbered along axes, the last axis fastest. output may be input. Exact: products and sums are rounded separately, in f64 with
// an f64 table, else in f32.
struct RotaryRequest {
  MatrixView input, output;  // data, format, columns
  RotaryAxis axes[kMostRotaryAxes];
  int32_t axis_count;        // at least 1
  int64_t first_row, rows;   // rows to write
  int64_t count;             // number of frequencies
  lpt_rotary_layout layout;  // HALVES: columns i and count + i; INTERLEAVED: 2i and 2i + 1
  const void *cosines, *sines;
  int64_t table_stride;
};

// Computes y = exp(scale · x - max) / sum. Row r of the view is row (first_row + r) mod period of a matrix of `period` rows.
// For a row without visible columns, or with only minus infinity, the output is zeros, and log_sums is minus infinity.
struct SoftmaxForwardRequest {
  MatrixView input, output;
  double scale;
  bool is_causal;
  int64_t first_row, period;
  int64_t window = 0;  // for is_causal: maximum number of visible columns of a row; 0: no limit
  // NULL, or output: log Σ exp(scale · x) of each row; f64 if a view is f64, else f32.
  void *log_sums = nullptr;
};

// Computes the same with the argument of exp rounded to the nearest of 2^bits levels from clip to 0 (exaq.hpp), except minus
// infinity. Does not support f64. Exact.
struct SoftmaxExaqRequest {
  SoftmaxForwardRequest softmax;
  int32_t bits;  // 2, 3 or 4
  double clip;   // below 0
};

// Computes dx = scale · y · (dy - Σ(y · dy)).
struct SoftmaxBackwardRequest {
  MatrixView output, output_gradient, input_gradient;
  double scale;
};

// Sums of a row of logits over the columns of one rank. Without columns: minus infinity and zeros.
//   largest       max(x); a NaN gives a NaN
//   exponentials  sum of exp(x - largest); 0 where largest is minus infinity
//   target        x(place), 0 if another rank has the place
//   all           sum of x
struct RowSums {
  double largest, exponentials, target, all;
};

// Computes RowSums of each row. Bounded: sums are computed in f64.
struct CrossEntropySumsRequest {
  MatrixView logits;
  const int64_t *places;  // target column of each row; out of range: another rank has it
  RowSums *sums;          // output, one per row
};

// Computes gradient(r, c) = factors[r] · (exp(x - log_sums[r]) - off - [c == places[r]] · on), and zeros if the factor is 0.
// The gradient may be the logits, in the same format. Bounded.
struct CrossEntropyGradientRequest {
  MatrixView logits, gradient;
  const int64_t *places;
  const double *log_sums, *factors;
  double on, off;
};

// Computes gradient(i, c) = [gradient(i, c) +] Σ output_gradient(r, c) over the rows r with places[r] = i, for the classes i
// with i mod parts = part. Exact: rows are added in order, in the format of the gradient. Places that are not rows of the
// gradient add nothing.
struct EmbeddingGradientRequest {
  MatrixView output_gradient;  // f64, f32, bf16 or f16
  MatrixView gradient;         // f32; f64 if output_gradient is f64
  const int64_t *places;       // class of each row
  int64_t part, parts;         // ignored by devices
  bool is_accumulated;
};

// Computes out(i, j) = activation(x(i, j)) + residual(i, j) in f32, rounded once to the f32, bf16 or f16 of `out`, to nearest
// even; values beyond the largest element become infinity. Exact, by the functions of src/formats/functions.hpp. With
// LPT_ACTIVATION_SWIGLU, x has 2 · columns: (g · sigmoid(g)) · up with g = x(i, j), up = x(i, j + columns). Therefore such a
// request can be split by rows only. out may be x, in f32 with the stride of x, except with SWIGLU. residual may be out.
struct EpilogueRequest {
  const float *x;
  int64_t x_stride;       // in elements, between rows
  int64_t rows, columns;  // of `out`
  lpt_activation activation;
  MatrixView residual;  // f32, bf16 or f16; data NULL: none
  MatrixView out;
};

std::span<const KernelEntry<SwigluForwardRequest>> swiglu_forward_kernels();
std::span<const KernelEntry<SwigluBackwardRequest>> swiglu_backward_kernels();
std::span<const KernelEntry<RmsnormForwardRequest>> rmsnorm_forward_kernels();
std::span<const KernelEntry<RmsnormBackwardRequest>> rmsnorm_backward_kernels();
std::span<const KernelEntry<RotaryTableRequest>> rotary_table_kernels();
std::span<const KernelEntry<RotaryRequest>> rotary_kernels();
std::span<const KernelEntry<SoftmaxForwardRequest>> softmax_forward_kernels();
std::span<const KernelEntry<SoftmaxExaqRequest>> softmax_exaq_kernels();
std::span<const KernelEntry<SoftmaxBackwardRequest>> softmax_backward_kernels();
std::span<const KernelEntry<CrossEntropySumsRequest>> cross_entropy_sums_kernels();
std::span<const KernelEntry<CrossEntropyGradientRequest>> cross_entropy_gradient_kernels();
std::span<const KernelEntry<EmbeddingGradientRequest>> embedding_gradient_kernels();
std::span<const KernelEntry<EpilogueRequest>> epilogue_kernels();

}  // namespace lpt
