// A layer whose weight the tests fit.
#pragma once

#include "tests/api/support.hpp"

namespace lpt::test {

inline constexpr int64_t kFitRows = 24;

// A weight, and the Gram matrix of correlated inputs of which a few columns are large.
struct FitLayer {
  int64_t columns;
  std::vector<double> weight, inputs, gram;

  explicit FitLayer(int64_t width, uint64_t place = 0)
      : columns(width), weight(draw_normal(300 + place, kFitRows * width)) {
    const int64_t count = 2 * columns;
    inputs = draw_normal(301 + place, count * columns);
    for (int64_t t = 0; t < count; ++t) {
      double *const input = inputs.data() + t * columns;
      for (int64_t c = 1; c < columns; ++c) input[c] = 0.8 * input[c - 1] + 0.6 * input[c];
      for (int64_t c = 3; c < columns; c += 11) input[c] *= 8;
      input[columns - 1] *= 20;  // of the block that is not full
    }
    gram.assign(static_cast<size_t>(columns * columns), 0.0);
    for (int64_t t = 0; t < count; ++t) {
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t j = 0; j < columns; ++j)
          at(i, j) += inputs[static_cast<size_t>(t * columns + i)] * inputs[static_cast<size_t>(t * columns + j)];
      }
    }
    for (std::vector<double> *numbers : {&weight, &inputs, &gram}) {
      for (double &number : *numbers) number = static_cast<double>(static_cast<float>(number));
    }
  }

  double &at(int64_t i, int64_t j) { return gram[static_cast<size_t>(i * columns + j)]; }
  double at(int64_t i, int64_t j) const { return gram[static_cast<size_t>(i * columns + j)]; }

  // The squared error of decoded weights, relative to the outputs.
  double error(const std::vector<double> &decoded) const {
    double sum = 0, whole = 0;
    for (int64_t r = 0; r < kFitRows; ++r) {
      const double *const w = weight.data() + r * columns, *const q = decoded.data() + r * columns;
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          sum += (w[i] - q[i]) * at(i, j) * (w[j] - q[j]);
          whole += w[i] * at(i, j) * w[j];
        }
      }
    }
    return sum / whole;
  }
};

struct FittedLayer {
  std::vector<double> decoded;
  std::vector<uint8_t> bytes;
  std::vector<double> factors, bias_change;
  lpt_weights_fit_info info = LPT_WEIGHTS_FIT_INFO_INIT;
};

inline FittedLayer fit_layer(lpt_context *c, const FitLayer &layer, lpt_format format,
                             const lpt_weights_fit_options &options, bool has_factors = false,
                             bool has_bias_change = false) {
  FittedLayer fitted;
  const Tensor weight = tensor_of(c, LPT_FORMAT_F32, kFitRows, layer.columns, layer.weight),
               gram = tensor_of(c, LPT_FORMAT_F64, layer.columns, layer.columns, layer.gram),
               output = make_tensor(c, format, kFitRows, layer.columns),
               factors = make_tensor(c, LPT_FORMAT_F32, {layer.columns}),
               bias_change = make_tensor(c, LPT_FORMAT_F32, {kFitRows});
  EXPECT_TRUE(
      ok(c, lpt_weights_fit(c, weight.get(), gram.get(), &options, output.get(), has_factors ? factors.get() : nullptr,
                            has_bias_change ? bias_change.get() : nullptr, &fitted.info)));
  fitted.decoded = numbers_of(c, output.get());
  fitted.bytes = bytes_of(c, output.get());
  if (has_factors) fitted.factors = numbers_of(c, factors.get());
  if (has_bias_change) fitted.bias_change = numbers_of(c, bias_change.get());
  return fitted;
}

inline lpt_weights_fit_options gptq_options(lpt_weights_fit_order order = LPT_WEIGHTS_FIT_ORDER_COLUMNS) {
  lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
  options.order = order;
  options.scale_rule = LPT_SCALE_RULE_DEFAULT;
  return options;
}

}  // namespace lpt::test
