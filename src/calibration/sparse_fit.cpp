// Fits a masked weight to the outputs of the dense weight: least squares by conjugate gradients, for all rows at once.
//
// For each row w of the weight, with the mask M and H = inputsᵀ · inputs, find the row w' that minimizes
// (w' - w) · H · (w' - w)ᵀ + damping · |w' - M w|²    subject to w' = M w':
// the solution of M (H + damping) w' = M (H w + damping M w). The start is w' = M w; the preconditioner is the diagonal.
#include <cmath>
#include <vector>

#include "kernels/quantize/quantize.hpp"
#include "src/calibration/fit.hpp"
#include "src/cast/quantize.hpp"
#include "src/gemm/run.hpp"
#include "src/sparse/parts.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr double kSmallResidual = 1e-12;  // relative to the first residual: the limit of f32 precision

// The matrices of a fit, all dense f32.
struct Fit {
  MatrixView weight, inputs, gram;
  MatrixView fitted, residual, direction, image;  // shape of the weight
  MatrixView mask;
  double damping = 0.0;
  std::vector<float> diagonal;  // of the Gram matrix, including the damping
  std::vector<double> norms;    // per row: residual · preconditioned residual
  std::vector<double> first_norms;
  std::vector<std::shared_ptr<std::byte>> storage;
};

float *row_of(const MatrixView &matrix, int64_t row) {
  return static_cast<float *>(matrix.data) + row * matrix.row_stride;
}

bool stays(const Fit &fit, int64_t row, int64_t column) {
  return static_cast<const uint8_t *>(fit.mask.data)[row * fit.mask.row_stride + column] != 0;
}

Status make_matrix(Context &context, int64_t rows, int64_t columns, Fit &fit, MatrixView &out_view) {
  std::shared_ptr<std::byte> memory;
  LPT_TRY(allocate_bytes(context.allocator, static_cast<size_t>(rows * columns) * sizeof(float), memory));
  out_view = dense_view(LPT_FORMAT_F32, memory.get(), rows, columns);
  fit.storage.push_back(memory);
  return {};
}

// Subtracts the column means from the inputs and returns them.
std::vector<double> center(const MatrixView &inputs) {
  std::vector<double> means(static_cast<size_t>(inputs.columns));
  for (int64_t r = 0; r < inputs.rows; ++r) {
    for (int64_t c = 0; c < inputs.columns; ++c)
      means[static_cast<size_t>(c)] += static_cast<double>(row_of(inputs, r)[c]);
  }
  for (double &mean : means) mean /= static_cast<double>(std::max<int64_t>(inputs.rows, 1));
  for (int64_t r = 0; r < inputs.rows; ++r) {
    float *numbers = row_of(inputs, r);
    for (int64_t c = 0; c < inputs.columns; ++c) {
      numbers[c] = static_cast<float>(static_cast<double>(numbers[c]) - means[static_cast<size_t>(c)]);
    }
  }
  return means;
}

void set_damping(double share, Fit &fit) {
  const int64_t columns = fit.gram.columns;
  double sum = 0.0;
  for (int64_t c = 0; c < columns; ++c) sum += static_cast<double>(row_of(fit.gram, c)[c]);
  fit.damping = columns > 0 ? share * sum / static_cast<double>(columns) : 0.0;
  fit.diagonal.resize(static_cast<size_t>(columns));
  for (int64_t c = 0; c < columns; ++c) {
    fit.diagonal[static_cast<size_t>(c)] = row_of(fit.gram, c)[c] + static_cast<float>(fit.damping);
  }
}

double dot(const float *a, const float *b, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Runs body(row) for all rows of the weight.
template <typename Body>
void for_each_row(Context &context, const Fit &fit, const Body &body) {
  parallel_parts(context, fit.weight.rows, 4 * fit.weight.columns, [&](int64_t begin, int64_t count) {
    for (int64_t row = begin; row < begin + count; ++row) body(row);
  });
}

float preconditioned(const Fit &fit, float residual, int64_t column) {
  const float diagonal = fit.diagonal[static_cast<size_t>(column)];
  return diagonal > 0.0f ? residual / diagonal : 0.0f;
}

// Sets fitted = M w, residual = M H (w - fitted) and direction = preconditioned residual. `image` is H (w - fitted).
void begin_row(Fit &fit, int64_t row) {
  const float *image = row_of(fit.image, row);
  float *residual = row_of(fit.residual, row);
  float *direction = row_of(fit.direction, row);
  for (int64_t c = 0; c < fit.weight.columns; ++c) {
    residual[c] = stays(fit, row, c) ? image[c] : 0.0f;
    direction[c] = preconditioned(fit, residual[c], c);
  }
  const double norm = dot(residual, direction, fit.weight.columns);
  fit.norms[static_cast<size_t>(row)] = fit.first_norms[static_cast<size_t>(row)] = norm;
}

// Runs one step of a row along its direction. `image` is H · direction. Returns false if the row has converged.
bool step_row(Fit &fit, int64_t row) {
  const int64_t columns = fit.weight.columns;
  const double norm = fit.norms[static_cast<size_t>(row)];
  float *direction = row_of(fit.direction, row);
  float *image = row_of(fit.image, row);
  for (int64_t c = 0; c < columns; ++c) {
    image[c] = stays(fit, row, c) ? image[c] + static_cast<float>(fit.damping) * direction[c] : 0.0f;
  }
  const double curvature = dot(direction, image, columns);
  if (!(norm > kSmallResidual * fit.first_norms[static_cast<size_t>(row)]) || !(curvature > 0.0)) {
    for (int64_t c = 0; c < columns; ++c) direction[c] = 0.0f;
    return false;
  }
  const auto length = static_cast<float>(norm / curvature);
  float *fitted = row_of(fit.fitted, row);
  float *residual = row_of(fit.residual, row);
  double next = 0.0;
  for (int64_t c = 0; c < columns; ++c) {
    fitted[c] += length * direction[c];
    residual[c] -= length * image[c];
    next += static_cast<double>(residual[c]) * static_cast<double>(preconditioned(fit, residual[c], c));
  }
  const auto share = static_cast<float>(next / norm);
  for (int64_t c = 0; c < columns; ++c) direction[c] = preconditioned(fit, residual[c], c) + share * direction[c];
  fit.norms[static_cast<size_t>(row)] = next;
  return true;
}

// Computes direction = weight - fitted.
void set_difference(Context &context, Fit &fit) {
  for_each_row(context, fit, [&](int64_t row) {
    for (int64_t c = 0; c < fit.weight.columns; ++c) {
      row_of(fit.direction, row)[c] = row_of(fit.weight, row)[c] - row_of(fit.fitted, row)[c];
    }
  });
}

Status prepare(Context &context, const MatrixView &weight, const MatrixView &inputs, Fit &fit) {
  LPT_TRY(make_matrix(context, weight.rows, weight.columns, fit, fit.weight));
  LPT_TRY(make_matrix(context, inputs.rows, inputs.columns, fit, fit.inputs));
  LPT_TRY(make_matrix(context, inputs.columns, inputs.columns, fit, fit.gram));
  for (MatrixView *matrix : {&fit.fitted, &fit.residual, &fit.direction, &fit.image}) {
    LPT_TRY(make_matrix(context, weight.rows, weight.columns, fit, *matrix));
  }
  fit.norms.resize(static_cast<size_t>(weight.rows));
  fit.first_norms.resize(static_cast<size_t>(weight.rows));
  LPT_TRY(widen_matrix(context, weight, fit.weight, false));
  return widen_matrix(context, inputs, fit.inputs, false);
}

Status solve(Context &context, const lpt_sparse_fit_options &options, const SuppressProgress &progress, Fit &fit,
             lpt_sparse_fit_info &values) {
  LPT_TRY(multiply(context, fit.inputs, fit.inputs, fit.gram, TransposedOperand::kA));
  set_damping(options.damping, fit);
  double whole = 0.0;
  double error = 0.0;
  LPT_TRY(quadratic_form(context, fit.weight, fit.gram, fit.image, whole));
  LPT_TRY(apply_mask(context, {fit.weight, fit.mask, fit.fitted}, true));
  set_difference(context, fit);
  LPT_TRY(quadratic_form(context, fit.direction, fit.gram, fit.image, error));
  values.masked_error = whole > 0.0 ? error / whole : 0.0;
  for_each_row(context, fit, [&](int64_t row) { begin_row(fit, row); });
  std::vector<char> went_on(static_cast<size_t>(fit.weight.rows));
  for (int32_t i = 0; i < options.iterations; ++i) {
    LPT_TRY(multiply(context, fit.direction, fit.gram, fit.image));
    for_each_row(context, fit, [&](int64_t row) { went_on[static_cast<size_t>(row)] = step_row(fit, row); });
    LPT_TRY(progress.report(i + 1, options.iterations));
    if (std::find(went_on.begin(), went_on.end(), 1) == went_on.end()) break;
    values.iteration_count = i + 1;
  }
  set_difference(context, fit);
  LPT_TRY(quadratic_form(context, fit.direction, fit.gram, fit.image, error));
  values.fitted_error = whole > 0.0 ? error / whole : 0.0;
  return {};
}

// Computes means · (weight - fitted)ᵀ. `direction` is the difference.
void write_bias_change(const Fit &fit, const std::vector<double> &means, float *bias_change) {
  for (int64_t row = 0; row < fit.weight.rows; ++row) {
    double sum = 0.0;
    for (int64_t c = 0; c < fit.weight.columns; ++c) {
      sum += means[static_cast<size_t>(c)] * static_cast<double>(row_of(fit.direction, row)[c]);
    }
    bias_change[row] = static_cast<float>(sum);
  }
}

Status check_fit_options(const lpt_sparse_fit_options &options) {
  LPT_TRY(check_flags("flags", options.flags, 0));
  if (options.iterations < 1 || options.iterations > 10000) {
    return invalid("iterations is %d: expected 1 to 10000", options.iterations);
  }
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return check_finite("damping", options.damping, 0.0, 1.0);
}

}  // namespace

Status multiply(Context &context, const MatrixView &a, const MatrixView &b, const MatrixView &c,
                TransposedOperand transposed) {
  const Arena::Mark mark = context.host_scratch->mark();
  GemmCall gemm;
  gemm.a = a;
  gemm.b = b;
  gemm.c = c;
  gemm.is_a_transposed = transposed == TransposedOperand::kA;
  gemm.is_b_transposed = transposed == TransposedOperand::kB;
  LPT_TRY(run_gemm(context, gemm, false));
  context.host_scratch->give_back(mark);
  return {};
}

Status quadratic_form(Context &context, const MatrixView &numbers, const MatrixView &gram, const MatrixView &image,
                      double &out_sum) {
  LPT_TRY(multiply(context, numbers, gram, image));
  out_sum = 0.0;
  for (int64_t row = 0; row < numbers.rows; ++row) {
    out_sum += dot(row_of(numbers, row), row_of(image, row), numbers.columns);
  }
  return {};
}

Status fit_sparse(Context &context, const Tensor *weight, const Tensor *mask, const Tensor *inputs,
                  const lpt_sparse_fit_options &options, Tensor *output, Tensor *bias_change,
                  lpt_sparse_fit_info &out_info) {
  MatrixView weight_view;
  MatrixView inputs_view;
  MatrixView output_view;
  Fit fit;
  void *bias = nullptr;
  LPT_TRY(check_fit_options(options));
  LPT_TRY(check_wide_matrix(weight, "weight", true, weight_view));
  LPT_TRY(check_mask(mask, "mask", true, fit.mask));
  LPT_TRY(check_shape(fit.mask, "mask", weight_view.rows, weight_view.columns, "weight"));
  LPT_TRY(check_wide_matrix(inputs, "inputs", true, inputs_view));
  LPT_TRY(check_shape(inputs_view, "inputs", inputs_view.rows, weight_view.columns, "tokens by the weight's columns"));
  LPT_TRY(check_matrix(output, "output", true, output_view));
  if (output_view.format.id != LPT_FORMAT_F32) {
    return unsupported("output is %s: expected f32", format_name(output_view.format.id).c_str());
  }
  LPT_TRY(check_shape(output_view, "output", weight_view.rows, weight_view.columns, "weight"));
  LPT_TRY(check_no_overlap(output_view, "output", weight_view, "weight"));
  LPT_TRY(check_no_overlap(output_view, "output", fit.mask, "mask"));
  LPT_TRY(check_no_overlap(output_view, "output", inputs_view, "inputs"));
  if (bias_change != nullptr) {
    LPT_TRY(check_vector(bias_change, "bias_change", LPT_FORMAT_F32, weight_view.rows, true, &bias));
    const MatrixView bias_view = vector_view(LPT_FORMAT_F32, bias, weight_view.rows);
    LPT_TRY(check_no_overlap(bias_view, "bias_change", output_view, "output"));
    LPT_TRY(check_no_overlap(bias_view, "bias_change", weight_view, "weight"));
    LPT_TRY(check_no_overlap(bias_view, "bias_change", fit.mask, "mask"));
    LPT_TRY(check_no_overlap(bias_view, "bias_change", inputs_view, "inputs"));
  }
  const SuppressProgress progress(context);
  LPT_TRY(prepare(context, weight_view, inputs_view, fit));
  std::vector<double> means;
  if (bias != nullptr) means = center(fit.inputs);
  LPT_TRY(solve(context, options, progress, fit, out_info));
  copy_matrix(fit.fitted, output_view);
  if (bias != nullptr) write_bias_change(fit, means, static_cast<float *>(bias));
  return {};
}

}  // namespace lpt
