// The state of lpt_weights_fit(), and the steps that its methods share.
#pragma once

#include <vector>

#include "src/calibration/fit.hpp"
#include "src/cast/cast.hpp"

namespace lpt {

constexpr int32_t kFactorRatios = 20;  // exponents of input factors: 0, 1/20, ...

// A sample of inputs, with which outputs are computed. Matrices are f32 scratch.
struct FitSample {
  MatrixView inputs, decoded;     // tokens × input columns; `decoded` after factors, cast and decoding
  MatrixView reference, outputs;  // tokens × rows; `reference` of the weight that is not quantized
  std::vector<double> means;      // of reference - outputs, of each row; 0 if the call does not change the bias

  bool is_given() const { return inputs.data != nullptr; }
};

struct WeightFit {
  Context &context;
  const lpt_weights_fit_options &options;
  const SuppressProgress &progress;
  MatrixView given, output;  // f32 copy of the weight; the result
  MatrixView gram;           // f32, symmetric
  std::vector<float> factors;
  // f32 scratch of the shape of the weight: the weight times the factors, decoded codes, and two for errors.
  MatrixView scaled{}, decoded{}, difference{}, image{};
  FitSample sample{};
  Format input_format{};  // of the cast of the sample
  bool has_bias_change = false;
  int64_t candidates = 0;         // of factors
  std::vector<int64_t> order{};   // of GPTQ: the column of each place
  std::vector<double> inverse{};  // of GPTQ: U with inverse(H + damping) = Uᵀ · U, in this order

  int64_t rows() const { return given.rows; }
  int64_t columns() const { return given.columns; }
  bool searches_scales() const { return options.scale_rule == LPT_SCALE_RULE_MSE; }
  bool is_gptq() const { return options.method == LPT_WEIGHTS_FIT_METHOD_GPTQ; }
  double diagonal(int64_t c) const { return static_cast<double>(floats(gram, c)[c]); }

  // Returns an element of the Gram matrix of the inputs divided by the factors.
  double scaled_gram(int64_t a, int64_t b) const {
    const double squared =
        static_cast<double>(factors[static_cast<size_t>(a)]) * static_cast<double>(factors[static_cast<size_t>(b)]);
    return static_cast<double>(floats(gram, a)[b]) / squared;
  }
  // Returns the mean of its diagonal, 1 if that is 0: the unit of damping.
  double mean_diagonal() const;

  // Sets scaled = weight · factors.
  void scale_weight();

  static float *floats(const MatrixView &view, int64_t row) {
    return static_cast<float *>(view.data) + row * view.row_stride;
  }
};

template <typename Body>
void for_each_row(const WeightFit &fit, const MatrixView &matrix, const Body &body) {
  parallel_parts(fit.context, matrix.rows, matrix.columns, [&](int64_t begin, int64_t count) {
    for (int64_t row = begin; row < begin + count; ++row) body(row);
  });
}

// Casts and decodes release their scratch: many steps would exhaust memory.
Status cast_part(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast);
Status decode_part(Context &context, const MatrixView &source, const MatrixView &target);

// Returns the cast of the weight, with default scales if they are searched.
Cast cast_of(const WeightFit &fit, bool keeps_tensor_scale = false);

// Returns a cast that keeps all scales.
Cast fixed_cast(const WeightFit &fit);

// Casts some columns of the weight to the same ones of the output, from `column` on, with the scale rule of the options.
Status round_part(const WeightFit &fit, const MatrixView &source, const MatrixView &target, int64_t column,
                  bool keeps_tensor_scale);

// Computes the squared error of the codes in the output.
Status output_error(WeightFit &fit, double &out_sum);

// Sets `inverse` for the damped Gram matrix of the scaled inputs, in the given order of columns. Increases the damping until the
// matrix is positive definite.
Status factor_gram(const WeightFit &fit, const std::vector<int64_t> &order, std::vector<double> &inverse,
                   double &damping);

// Finds the factors of the smallest error with rounding to nearest.
Status search_factors(WeightFit &fit, lpt_weights_fit_info &info);

// Computes the squared error of the outputs of the sample, after the change of the bias if the call has one, and the means.
Status sample_error(WeightFit &fit, double &out_sum);

// Sets the order and `inverse` for the current factors.
Status prepare_gptq(WeightFit &fit, double &out_damping);

// Rounds the scaled weight by GPTQ.
Status run_gptq(WeightFit &fit);

}  // namespace lpt
