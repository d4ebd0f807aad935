// Layers without weights of their own: SwiGLU, RMSNorm, LayerNorm, rotary embedding, softmax, cross entropy, the gradient of an
// embedding, and the epilogue of a GEMM. Views are f32, bf16, f16 or f64. A kernel computes in f64 if any of them is f64, else in
// f32. NaN is written as the positive quiet NaN, because machines produce different ones.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// output = silu(gate) · up,  silu(x) = x / (1 + exp(-x)). column_amax, if not NULL, is raised per column to the largest
// finite |up|. Exact: every row gives the same bits, by the sigmoid of src/formats/functions.hpp and this order:
//   output = (g · sigmoid(g)) · up
struct SwigluForwardRequest {
  MatrixView gate, up, output;
  float *column_amax;
};

// gate_gradient = dy · up · silu'(gate),  up_gradient = dy · silu(gate). Exact, in this order:
//   gate_gradient = (dy · up) · (sigmoid(g) · fma(g, sigmoid(-g), 1)),  up_gradient = dy · (g · sigmoid(g))
struct SwigluBackwardRequest {
  MatrixView gate, up, output_gradient, gate_gradient, up_gradient;
};

// r = 1 / sqrt(mean(x²) + epsilon);  output = x · r · weight. Bounded: the mean is summed in f64 or pairwise. Where the
// root is zero, r is 0: a row of zeros without epsilon gives zeros. With is_centered, a LayerNorm: m = mean(x),
// r = 1 / sqrt(mean((x - m)²) + epsilon), output = (x - m) · r · weight + bias, with m and r rounded to the type of the weight.
struct RmsnormForwardRequest {
  MatrixView input;
  const void *weight;  // columns numbers: f32, or f64 with is_f64
  MatrixView output;
  void *inverse_rms;  // NULL, or rows numbers
  double epsilon;
  bool is_f64;
  bool is_centered = false;    // then the weight may be NULL: ones
  const void *bias = nullptr;  // of is_centered, as the weight. NULL: zeros
  void *mean = nullptr;        // of is_centered: NULL, or rows numbers
};

// dx = r · (w · dy) - x · r³ · mean(w · dy · x);  dw(c) = sum over rows of dy · x · r, added to weight_gradient_sum. With
// is_centered x - mean takes the place of x, dx is less by r · mean(w · dy), and db(c) is the sum over rows of dy.
struct RmsnormBackwardRequest {
  MatrixView input, output_gradient, input_gradient;  // input_gradient.data NULL: not requested
  const void *weight;
  const void *inverse_rms;
  double *weight_gradient_sum;  // NULL, or columns sums, added to: the operation adds up its parts in a fixed order
  bool is_f64;
  bool is_centered = false;             // then the weight may be NULL: ones
  const void *mean = nullptr;           // of is_centered
  double *bias_gradient_sum = nullptr;  // of is_centered, as weight_gradient_sum
};

// cos and sin of the angles a = position · frequency(i), times scale, of each position; the table of a rotary embedding.
// Exact: a in f64, cos and sin by src/formats/functions_f64.hpp, their product with scale in f64, rounded once to the table.
// Row p of the table:
//   HALVES       cosines[i] = cos, sines[i] = sin
//   INTERLEAVED  cosines[2i] = cosines[2i + 1] = cos, sines[2i] = -sin, sines[2i + 1] = sin
struct RotaryTableRequest {
  const void *frequencies;
  bool is_frequency_f64;  // which are f32 else
  int64_t count;          // frequencies
  const void *positions;  // NULL: first_position + p
  bool is_position_wide;  // int64, which are int32 else
  int64_t first_position;
  int64_t first_row, rows;  // that are written
  lpt_rotary_layout layout;
  double scale;
  bool is_inverse;        // the sign of sin is the opposite
  void *cosines, *sines;  // written: rows of `stride` numbers
  int64_t stride;
  bool is_f64;  // the table, which is f32 else
};

constexpr int32_t kMostRotaryAxes = 7;

// An axis of rows. Each step moves by input_stride and output_stride elements, and by position_stride rows of the table: 1 along
// positions, else 0.
struct RotaryAxis {
  int64_t extent, input_stride, output_stride, position_stride;
};

// Each pair (x, y) of a row becomes (x · cos - y · sin, x · sin + y · cos); columns from 2 · count on are copied. Rows are numbered
// along axes, the last one fastest. output may be input. Exact: products and sums are rounded one by one, in f64 with an f64
// table, else in f32.
struct RotaryRequest {
  MatrixView input, output;  // data, format, columns
  RotaryAxis axes[kMostRotaryAxes];
  int32_t axis_count;        // at least 1
  int64_t first_row, rows;   // that are written
  int64_t count;             // frequencies
  lpt_rotary_layout layout;  // HALVES: columns i and count + i; INTERLEAVED: 2i and 2i + 1
  const void *cosines, *sines;
  int64_t table_stride;
};

// y = exp(scale · x - max) / sum. Row r of the view is row (first_row + r) mod period of a matrix of `period` rows. A row
// that sees nothing, or minus infinity only, gives zeros, and minus infinity in log_sums.
struct SoftmaxForwardRequest {
  MatrixView input, output;
  double scale;
  bool is_causal;
  int64_t first_row, period;
  int64_t window = 0;        // of is_causal: how many columns a row sees at most. 0: no limit
  void *log_sums = nullptr;  // NULL, or log of the sum of exp(scale · x) of each row: f64 if a view is, else f32
};

// The same with the argument of exp at the nearest of 2^bits levels from clip to 0 (exaq.hpp), except where it is minus infinity. No
// f64. Exact: every row gives the same bits.
struct SoftmaxExaqRequest {
  SoftmaxForwardRequest softmax;
  int32_t bits;  // 2, 3 or 4
  double clip;   // below 0
};

// dx = scale · y · (dy - sum(y · dy)).
struct SoftmaxBackwardRequest {
  MatrixView output, output_gradient, input_gradient;
  double scale;
};

// What one rank knows of a row of logits, of which ranks may have some columns each. Without columns: minus infinity and
// zeros.
//   largest       max(x); a NaN gives a NaN
//   exponentials  sum of exp(x - largest); 0 where largest is minus infinity
//   target        x(place), 0 if the place is another rank's
//   all           sum of x
struct RowSums {
  double largest, exponentials, target, all;
};

// Bounded: sums run in f64.
struct CrossEntropySumsRequest {
  MatrixView logits;
  const int64_t *places;  // of each row, the column of its target; outside of the columns: another rank's
  RowSums *sums;          // of each row
};

// gradient(r, c) = factors[r] · (exp(x - log_sums[r]) - off - [c is places[r]] · on); zeros where the factor is 0. The gradient
// may be the logits, in the same format. Bounded.
struct CrossEntropyGradientRequest {
  MatrixView logits, gradient;
  const int64_t *places;
  const double *log_sums, *factors;
  double on, off;
};

// gradient(i, c) = [gradient(i, c) +] the sum over the rows r with places[r] = i of output_gradient(r, c), for the classes i with
// i mod parts = part. Exact: rows are added in their order, in the format of the gradient. Places outside of it add nothing.
struct EmbeddingGradientRequest {
  MatrixView output_gradient;  // f64, f32, bf16 or f16
  MatrixView gradient;         // f32; f64 where output_gradient is f64
  const int64_t *places;       // of each row
  int64_t part, parts;         // a device ignores them
  bool is_accumulated;
};

// out(i, j) = activation(x(i, j)) + residual(i, j): the sum in f32, rounded once to out's f32, bf16 or f16, to nearest even
// and beyond the largest number to infinity. Exact, by the functions of src/formats/functions.hpp. With
// LPT_ACTIVATION_SWIGLU x has 2 · columns: (g · sigmoid(g)) · up with g = x(i, j), up = x(i, j + columns), so
// that such a request may be cut by rows alone. out may be x itself, in f32 with x's stride, but for SWIGLU. residual may
// be out.
struct EpilogueRequest {
  const float *x;
  int64_t x_stride;       // in elements, from row to row
  int64_t rows, columns;  // of out
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
