// Quantizes a weight W to Q so that the sum over rows of (W - Q) · H · (W - Q)ᵀ is small, with H = inputsᵀ · inputs.
#include "src/calibration/weights_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/calibration/factor.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr double kMostDamping = 1.0e4;  // share at which a matrix is no Gram matrix

// Reads an element of a Gram matrix of f32 or f64, as f32.
Status read_number(const MatrixView &matrix, const char *name, int64_t row, int64_t column, double &out_number) {
  const int64_t at = row * matrix.row_stride + column;
  const double given = matrix.format.id == LPT_FORMAT_F64
                           ? static_cast<const double *>(matrix.data)[at]
                           : static_cast<double>(static_cast<const float *>(matrix.data)[at]);
  out_number = static_cast<double>(static_cast<float>(given));
  if (std::isfinite(out_number)) return {};
  return invalid("%s[%lld][%lld] is %g: expected a finite number in the range of f32", name, number(row),
                 number(column), given);
}

// Sets the weight to weight + weight · (cross_gram - gram) · inverse(gram + damping).
Status follow_reference(WeightFit &fit, const MatrixView &cross_gram, double &damping) {
  const int64_t rows = fit.rows(), columns = fit.columns();
  std::vector<int64_t> order(static_cast<size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> root, inverse(static_cast<size_t>(columns * columns), 0.0),
      weight(static_cast<size_t>(rows * columns)), image(weight.size(), 0.0), change(weight.size(), 0.0);
  LPT_TRY(factor_gram(fit, order, root, damping));
  // inverse = -rootᵀ · root, image = weight · (cross_gram - gram), change = image · -inverse
  subtract_product(fit.context, columns, columns, columns, {root.data(), 1, columns}, {root.data(), columns},
                   inverse.data(), columns);
  for (int64_t i = 0; i < columns; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double &difference = root[static_cast<size_t>(i * columns + j)];
      LPT_TRY(read_number(cross_gram, "options->cross_gram", i, j, difference));
      difference = static_cast<double>(WeightFit::floats(fit.gram, i)[j]) - difference;
    }
  }
  for (int64_t r = 0; r < rows; ++r) std::copy_n(WeightFit::floats(fit.given, r), columns, weight.data() + r * columns);
  subtract_product(fit.context, rows, columns, columns, {weight.data(), columns}, {root.data(), columns}, image.data(),
                   columns);
  subtract_product(fit.context, rows, columns, columns, {image.data(), columns}, {inverse.data(), columns},
                   change.data(), columns);
  for (int64_t r = 0; r < rows; ++r) {
    float *const given = WeightFit::floats(fit.given, r);
    for (int64_t c = 0; c < columns; ++c) {
      const auto at = static_cast<size_t>(r * columns + c);
      given[c] = static_cast<float>(weight[at] + change[at]);
    }
  }
  return {};
}

// Arguments.

Status check_fit_options(const lpt_weights_fit_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("method", options.method, LPT_WEIGHTS_FIT_METHOD_GPTQ));
  LPT_TRY(check_choice("order", options.order, LPT_WEIGHTS_FIT_ORDER_BLOCKS));
  LPT_TRY(check_choice("scale_rule", options.scale_rule, LPT_SCALE_RULE_SAWB));
  if (options.scale_rule == LPT_SCALE_RULE_FIXED) return unsupported("scale_rule is FIXED: expected a rule of amax");
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return check_finite("damping", options.damping, 0.0, 1.0);
}

// Copies the upper triangle of the Gram matrix to both triangles of `gram`.
Status read_gram(const MatrixView &given, const MatrixView &gram) {
  for (int64_t i = 0; i < given.rows; ++i) {
    for (int64_t j = i; j < given.columns; ++j) {
      double value = 0.0;
      LPT_TRY(read_number(given, "gram", i, j, value));
      if (i == j && value < 0.0) {
        return invalid("gram[%lld][%lld] is %g: expected at least 0", number(i), number(j), value);
      }
      WeightFit::floats(gram, i)[j] = WeightFit::floats(gram, j)[i] = static_cast<float>(value);
    }
  }
  return {};
}

Status check_gram(const Tensor *gram, const char *name, int64_t columns, bool needs_data, MatrixView &view) {
  LPT_TRY(check_wide_matrix(gram, name, needs_data, view));
  if (view.format.id != LPT_FORMAT_F32 && view.format.id != LPT_FORMAT_F64) {
    return unsupported("%s is %s: expected f32 or f64", name, format_name(view.format.id).c_str());
  }
  return check_shape(view, name, columns, columns, "the columns of weight, squared");
}

// The operands of a call. Vectors have no data if they are not given.
struct FitViews {
  MatrixView weight, gram, cross_gram, inputs, reference;
  MatrixView output, factors, bias_change;
  Format input_format;
};

Status check_sample(const lpt_weights_fit_options &options, bool needs_data, FitViews &views) {
  if (!find_format(options.input_format, views.input_format)) {
    return invalid("input_format is %lld: expected a format", static_cast<long long>(options.input_format));
  }
  LPT_TRY(check_holds_numbers(options.input_format, "input_format"));
  if (options.inputs == nullptr) {
    if (options.reference != nullptr) return invalid("options->reference is given without inputs: expected both");
    return options.input_format == LPT_FORMAT_F32
               ? Status()
               : invalid("input_format is %s without inputs: expected f32", format_name(options.input_format).c_str());
  }
  LPT_TRY(check_wide_matrix(options.inputs, "options->inputs", needs_data, views.inputs));
  LPT_TRY(check_shape(views.inputs, "options->inputs", views.inputs.rows, views.weight.columns,
                      "tokens by the weight's columns"));
  if (views.inputs.rows == 0) return invalid("options->inputs has 0 rows: expected at least 1");
  if (options.reference == nullptr) return {};
  LPT_TRY(check_wide_matrix(options.reference, "options->reference", needs_data, views.reference));
  return check_shape(views.reference, "options->reference", views.inputs.rows, views.weight.columns, "inputs");
}

Status check_arguments(const Tensor *weight, const Tensor *gram, const lpt_weights_fit_options &options,
                       FitViews &views) {
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_wide_matrix(weight, "weight", needs_data, views.weight));
  LPT_TRY(check_gram(gram, "gram", views.weight.columns, needs_data, views.gram));
  LPT_TRY(check_sample(options, needs_data, views));
  if (options.cross_gram == nullptr) return {};
  return check_gram(options.cross_gram, "options->cross_gram", views.weight.columns, needs_data, views.cross_gram);
}

Status check_output_vector(const Tensor *vector, const char *name, int64_t count, bool needs_data, MatrixView &view) {
  if (vector == nullptr) return {};
  void *data = nullptr;
  LPT_TRY(check_vector(vector, name, LPT_FORMAT_F32, count, needs_data, &data));
  view = vector_view(LPT_FORMAT_F32, data, count);
  return {};
}

Status check_outputs(const Tensor *output, const Tensor *factors, const Tensor *bias_change, bool needs_data,
                     FitViews &views) {
  LPT_TRY(check_matrix(output, "output", needs_data, views.output));
  LPT_TRY(check_holds_numbers(views.output.format.id, "output"));
  if (views.output.format.is_sparse || views.output.layout != Layout::kRows) {
    return unsupported("output is %s: expected a dense format", tensor_text(*output).c_str());
  }
  LPT_TRY(check_shape(views.output, "output", views.weight.rows, views.weight.columns, "weight"));
  LPT_TRY(check_output_vector(factors, "input_factors", views.weight.columns, needs_data, views.factors));
  LPT_TRY(check_output_vector(bias_change, "bias_change", views.weight.rows, needs_data, views.bias_change));
  // An output overlaps neither an input nor an output before it.
  const struct {
    const MatrixView &view;
    const char *name;
  } operands[] = {{views.weight, "weight"},
                  {views.gram, "gram"},
                  {views.cross_gram, "options->cross_gram"},
                  {views.inputs, "options->inputs"},
                  {views.reference, "options->reference"},
                  {views.output, "output"},
                  {views.factors, "input_factors"},
                  {views.bias_change, "bias_change"}};
  for (size_t i = 5; i < std::size(operands); ++i) {
    for (size_t j = 0; j < i; ++j) {
      LPT_TRY(check_no_overlap(operands[i].view, operands[i].name, operands[j].view, operands[j].name));
    }
  }
  return {};
}

// Preparation.

Status check_numbers(const MatrixView &matrix, const char *name, const std::string &expected) {
  for (int64_t r = 0; r < matrix.rows; ++r) {
    const float *numbers = WeightFit::floats(matrix, r);
    for (int64_t c = 0; c < matrix.columns; ++c) {
      if (std::isfinite(numbers[c])) continue;
      return invalid("%s[%lld][%lld] is %g: expected a finite number%s", name, number(r), number(c),
                     static_cast<double>(numbers[c]), expected.c_str());
    }
  }
  return {};
}

// Reads inputs as f32.
Status read_inputs(WeightFit &fit, const MatrixView &given, const char *name, const MatrixView &inputs) {
  LPT_TRY(widen_matrix(fit.context, given, inputs, false));
  return check_numbers(inputs, name, " in the range of f32");
}

// Reads the weight as f32. Formats whose only place for a NaN is the scale of the tensor cannot keep it in its row.
Status read_weight(WeightFit &fit, const MatrixView &given) {
  LPT_TRY(widen_matrix(fit.context, given, fit.given, false));
  bool hides_nan = false;
  LPT_TRY(find_hidden_nan(fit.output.format, LPT_OVERFLOW_SATURATE, hides_nan));
  if (!hides_nan) return {};
  return check_numbers(fit.given, "weight", ", since " + format_name(fit.output.format.id) + " has no NaN");
}

// Reads the sample, and computes the outputs of the weight for the reference.
Status open_sample(WeightFit &fit, const FitViews &views) {
  FitSample &sample = fit.sample;
  const int64_t tokens = views.inputs.rows;
  for (MatrixView *view : {&sample.inputs, &sample.decoded}) {
    LPT_TRY(take_matrix(fit.context, LPT_FORMAT_F32, tokens, fit.columns(), false, *view));
  }
  for (MatrixView *view : {&sample.outputs, &sample.reference}) {
    LPT_TRY(take_matrix(fit.context, LPT_FORMAT_F32, tokens, fit.rows(), false, *view));
  }
  LPT_TRY(read_inputs(fit, views.inputs, "options->inputs", sample.inputs));
  const bool has_reference = fit.options.reference != nullptr;
  if (has_reference) LPT_TRY(read_inputs(fit, views.reference, "options->reference", sample.decoded));
  return multiply(fit.context, has_reference ? sample.decoded : sample.inputs, fit.given, sample.reference,
                  TransposedOperand::kB);
}

double sum_of_squares(const MatrixView &matrix) {
  double sum = 0.0;
  for (int64_t r = 0; r < matrix.rows; ++r) {
    const float *numbers = WeightFit::floats(matrix, r);
    for (int64_t c = 0; c < matrix.columns; ++c)
      sum += static_cast<double>(numbers[c]) * static_cast<double>(numbers[c]);
  }
  return sum;
}

// Writes the error for the sample and the change of the bias. Both are of the final codes.
Status finish_sample(WeightFit &fit, const MatrixView &bias_change, double &out_error) {
  if (!fit.sample.is_given()) return {};
  const double whole = sum_of_squares(fit.sample.reference);
  LPT_TRY(sample_error(fit, out_error));
  out_error = whole == 0.0 ? 0.0 : out_error / whole;
  if (bias_change.data == nullptr) return {};
  std::transform(fit.sample.means.begin(), fit.sample.means.end(), static_cast<float *>(bias_change.data),
                 [](double mean) { return static_cast<float>(mean); });
  return {};
}

// Reads all matrices. Those that are not valid are rejected here, before an output is written.
Status prepare_fit(WeightFit &fit, const FitViews &views, double &out_damping) {
  LPT_TRY(take_matrix(fit.context, LPT_FORMAT_F32, views.weight.columns, views.weight.columns, false, fit.gram));
  for (MatrixView *view : {&fit.given, &fit.scaled, &fit.decoded, &fit.difference, &fit.image}) {
    LPT_TRY(take_matrix(fit.context, LPT_FORMAT_F32, views.weight.rows, views.weight.columns, false, *view));
  }
  LPT_TRY(read_gram(views.gram, fit.gram));
  LPT_TRY(read_weight(fit, views.weight));
  fit.factors.assign(static_cast<size_t>(fit.columns()), 1.0f);
  fit.scale_weight();
  if (fit.options.inputs != nullptr) LPT_TRY(open_sample(fit, views));
  if (fit.options.cross_gram != nullptr) LPT_TRY(follow_reference(fit, views.cross_gram, out_damping));
  return fit.is_gptq() ? prepare_gptq(fit, out_damping) : Status();
}

}  // namespace

Status cast_part(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast) {
  const Arena::Mark mark = context.host_scratch->mark();
  LPT_TRY(cast_matrix(context, source, target, cast, false));
  context.host_scratch->give_back(mark);
  return {};
}

Status decode_part(Context &context, const MatrixView &source, const MatrixView &target) {
  const Arena::Mark mark = context.host_scratch->mark();
  LPT_TRY(dequantize_matrix(context, source, target, false));
  context.host_scratch->give_back(mark);
  return {};
}

Cast cast_of(const WeightFit &fit, bool keeps_tensor_scale) {
  Cast cast;
  if (!fit.searches_scales()) cast.rule = fit.options.scale_rule;
  cast.keeps_tensor_scale = keeps_tensor_scale && fit.output.format.has_tensor_scale();
  return cast;
}

// Formats without scales have no rule.
Cast fixed_cast(const WeightFit &fit) {
  Cast cast;
  cast.rule = fit.output.format.is_plain() ? LPT_SCALE_RULE_DEFAULT : LPT_SCALE_RULE_FIXED;
  return cast;
}

double WeightFit::mean_diagonal() const {
  double mean = 0.0;
  for (int64_t c = 0; c < columns(); ++c) mean += scaled_gram(c, c) / static_cast<double>(columns());
  return mean == 0.0 ? 1.0 : mean;
}

void WeightFit::scale_weight() {
  for_each_row(*this, given, [&](int64_t row) {
    const float *from = floats(given, row);
    float *to = floats(scaled, row);
    for (int64_t c = 0; c < columns(); ++c) to[c] = from[c] * factors[static_cast<size_t>(c)];
  });
}

Status output_error(WeightFit &fit, double &out_sum) {
  LPT_TRY(decode_part(fit.context, fit.output, fit.decoded));
  for_each_row(fit, fit.given, [&](int64_t row) {
    const float *weight = WeightFit::floats(fit.given, row), *decoded = WeightFit::floats(fit.decoded, row);
    float *difference = WeightFit::floats(fit.difference, row);
    for (int64_t c = 0; c < fit.columns(); ++c) {
      difference[c] = decoded[c] / fit.factors[static_cast<size_t>(c)] - weight[c];
    }
  });
  return quadratic_form(fit.context, fit.difference, fit.gram, fit.image, out_sum);
}

Status factor_gram(const WeightFit &fit, const std::vector<int64_t> &order, std::vector<double> &inverse,
                   double &damping) {
  const int64_t columns = fit.columns();
  inverse.resize(static_cast<size_t>(columns * columns));
  const double mean = fit.mean_diagonal();
  for (damping = fit.options.damping; damping <= kMostDamping; damping *= 10) {
    for (int64_t i = 0; i < columns; ++i) {
      double *const row = inverse.data() + i * columns;
      for (int64_t j = i; j < columns; ++j)
        row[j] = fit.scaled_gram(order[static_cast<size_t>(i)], order[static_cast<size_t>(j)]);
      row[i] += damping * mean;
    }
    if (factor_inverse(fit.context, columns, inverse.data())) return {};
    if (damping == 0.0) damping = 1e-10;
  }
  return invalid("gram is not positive semidefinite");
}

Status fit_weights(Context &context, const Tensor *weight, const Tensor *gram, const lpt_weights_fit_options &options,
                   Tensor *output, Tensor *input_factors, Tensor *bias_change, lpt_weights_fit_info &out_info) {
  const bool needs_data = !is_check_only(options.flags);
  FitViews views;
  LPT_TRY(check_fit_options(options));
  LPT_TRY(check_arguments(weight, gram, options, views));
  LPT_TRY(check_outputs(output, input_factors, bias_change, needs_data, views));
  if (bias_change != nullptr && options.inputs == nullptr)
    return invalid("bias_change is given without inputs: expected both");
  const SuppressProgress progress(context);
  WeightFit fit{context, options, progress, {}, views.output, {}, {}};
  fit.input_format = views.input_format;
  fit.has_bias_change = bias_change != nullptr;
  if (input_factors != nullptr) fit.candidates = (options.inputs != nullptr ? 2 : 1) * kFactorRatios;
  LPT_TRY(cast_matrix(context, views.weight, views.output, cast_of(fit), true));
  LPT_TRY(cast_and_back(context, vector_view(LPT_FORMAT_F32, nullptr, fit.columns()), fit.input_format, {}, {}, true));
  if (!needs_data) return {};
  LPT_TRY(prepare_fit(fit, views, out_info.damping));
  double whole = 0.0, nearest = 0.0, fitted = 0.0;
  LPT_TRY(quadratic_form(context, fit.given, fit.gram, fit.image, whole));
  LPT_TRY(round_part(fit, fit.scaled, fit.output, 0, false));
  LPT_TRY(output_error(fit, nearest));
  if (input_factors != nullptr) {
    LPT_TRY(search_factors(fit, out_info));
    if (fit.is_gptq()) LPT_TRY(prepare_gptq(fit, out_info.damping));
    std::copy(fit.factors.begin(), fit.factors.end(), static_cast<float *>(views.factors.data));
  }
  if (input_factors != nullptr || options.cross_gram != nullptr) {
    fit.scale_weight();
    LPT_TRY(round_part(fit, fit.scaled, fit.output, 0, false));
  }
  if (fit.is_gptq()) LPT_TRY(run_gptq(fit));
  LPT_TRY(output_error(fit, fitted));
  LPT_TRY(finish_sample(fit, views.bias_change, out_info.sample_error));
  out_info.nearest_error = whole == 0.0 ? 0.0 : nearest / whole;  // NaN for a weight with a NaN
  out_info.fitted_error = whole == 0.0 ? 0.0 : fitted / whole;
  return {};
}

}  // namespace lpt
