// Input factors and changes of a bias against AWQ and SmoothQuant written from their definitions in double. The tests round by
// lpt_quantize().
#include "tests/api/weights_fit_layer.hpp"

namespace lpt::test {
namespace {

using Numbers = std::vector<double>;

// Candidates of factors of a layer, and the errors of their weights.
struct FactorModel {
  lpt_context *c;
  const FitLayer &layer;
  lpt_format format, input_format = LPT_FORMAT_F32;
  bool has_sample = false, has_bias_change = false;
  Numbers reference = layer.inputs;

  size_t width() const { return static_cast<size_t>(layer.columns); }

  Numbers factors(bool has_maxima, double ratio) const {
    Numbers result;
    for (size_t i = 0; i < width(); ++i) {
      double of_inputs = 0, of_weights = 0;
      for (size_t at = i; at < layer.inputs.size(); at += width())
        of_inputs = std::max(of_inputs, std::abs(layer.inputs[at]));
      for (size_t at = i; at < layer.weight.size(); at += width())
        of_weights = std::max(of_weights, std::abs(layer.weight[at]));
      const double root = std::sqrt(layer.gram[i * width() + i]);
      result.push_back(has_maxima ? std::pow(of_inputs, ratio) / std::pow(of_weights, 1 - ratio)
                                  : std::pow(root, ratio));
    }
    const auto [least, most] = std::minmax_element(result.begin(), result.end());
    const double middle = std::sqrt(*least * *most);
    for (double &factor : result) factor = static_cast<double>(static_cast<float>(factor / middle));
    return result;
  }

  Numbers rounded(const Numbers &by) const {
    Numbers scaled = layer.weight;
    for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= by[i % width()];
    return numbers_of(c, tensor_of(c, format, kFitRows, layer.columns, scaled).get());
  }

  // The differences of the outputs from the reference, tokens × rows.
  Numbers differences(const Numbers &decoded, const Numbers &by) const {
    Numbers inputs = layer.inputs;
    const auto tokens = static_cast<int64_t>(inputs.size() / width());
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = static_cast<double>(static_cast<float>(inputs[i]) / static_cast<float>(by[i % width()]));
    }
    inputs = numbers_of(c, tensor_of(c, input_format, tokens, layer.columns, inputs).get());
    Numbers result(static_cast<size_t>(tokens * kFitRows), 0.0);
    for (size_t i = 0; i < result.size(); ++i) {
      const size_t token = i / kFitRows * width(), row = i % kFitRows * width();
      for (size_t k = 0; k < width(); ++k) {
        result[i] += reference[token + k] * layer.weight[row + k] - inputs[token + k] * decoded[row + k];
      }
    }
    return result;
  }

  Numbers mean(const Numbers &outputs) const {
    Numbers means(kFitRows, 0.0);
    for (size_t i = 0; i < outputs.size(); ++i) {
      means[i % kFitRows] += outputs[i] / static_cast<double>(outputs.size() / kFitRows);
    }
    return means;
  }

  // Relative to the outputs, as lpt_weights_fit_info has it.
  double sample_error(const Numbers &decoded, const Numbers &by) const {
    const Numbers outputs = differences(decoded, by), means = mean(outputs);
    const Numbers whole = differences(Numbers(decoded.size(), 0.0), by);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const double difference = outputs[i] - (has_bias_change ? means[i % kFitRows] : 0.0);
      sum += difference * difference;
      squares += whole[i] * whole[i];
    }
    return sum / squares;
  }

  double error(const Numbers &decoded, const Numbers &by) const {
    if (has_sample) return sample_error(decoded, by);
    Numbers divided = decoded;
    for (size_t i = 0; i < divided.size(); ++i) divided[i] /= by[i % width()];
    return layer.error(divided);
  }

  // The error of the best candidate.
  double least_error() const {
    double best = HUGE_VAL;
    for (const bool has_maxima : {false, true}) {
      for (int i = 0; i < 20 && (has_sample || !has_maxima); ++i) {
        const Numbers by = factors(has_maxima, i / 20.0);
        best = std::min(best, error(rounded(by), by));
      }
    }
    return best;
  }
};

lpt_weights_fit_options nearest_options() {
  lpt_weights_fit_options options = gptq_options();
  options.method = LPT_WEIGHTS_FIT_METHOD_NEAREST;
  return options;
}

void expect_best_factors(const FactorModel &model, const FittedLayer &fitted) {
  const Numbers expected = model.factors(fitted.info.has_maxima != 0, fitted.info.ratio);
  ASSERT_EQ(expected.size(), fitted.factors.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(expected[i], fitted.factors[i], 1e-6 * expected[i]);
  EXPECT_EQ(model.rounded(fitted.factors), fitted.decoded);
  const double best = model.least_error();
  EXPECT_NEAR(best, model.error(fitted.decoded, fitted.factors), 1e-4 * best);
  EXPECT_NEAR(best, model.has_sample ? fitted.info.sample_error : fitted.info.fitted_error, 1e-4 * best);
}

TEST(WeightsFitFactors, AreThoseOfAwq) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const FitLayer layer(96);
  const FactorModel model{c, layer, LPT_FORMAT_INT4_1X32};
  const FittedLayer fitted = fit_layer(c, layer, model.format, nearest_options(), true);
  EXPECT_GT(fitted.info.ratio, 0.0);
  EXPECT_EQ(0, fitted.info.has_maxima);
  expect_best_factors(model, fitted);
  EXPECT_LT(fitted.info.fitted_error, 0.8 * fitted.info.nearest_error);
  // Both together.
  const FittedLayer both = fit_layer(c, layer, model.format, gptq_options(), true);
  EXPECT_EQ(fitted.factors, both.factors);
  EXPECT_NEAR(both.info.fitted_error, model.error(both.decoded, both.factors), 1e-4 * both.info.fitted_error);
  EXPECT_LT(both.info.fitted_error, fitted.info.fitted_error);
  // The rule MSE chooses scales after the factors.
  lpt_weights_fit_options options = nearest_options();
  options.scale_rule = LPT_SCALE_RULE_MSE;
  const FittedLayer with_scales = fit_layer(c, layer, model.format, options, true);
  EXPECT_EQ(fitted.factors, with_scales.factors);
  EXPECT_NEAR(with_scales.info.fitted_error, model.error(with_scales.decoded, with_scales.factors),
              1e-4 * with_scales.info.fitted_error);
  EXPECT_LT(with_scales.info.fitted_error, fitted.info.fitted_error);
}

TEST(WeightsFitFactors, AreTheBestForCastInputs) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const FitLayer layer(48);
  const int64_t tokens = std::ssize(layer.inputs) / layer.columns;
  const Tensor inputs = tensor_of(c, LPT_FORMAT_F32, tokens, layer.columns, layer.inputs);
  for (const lpt_format format : {LPT_FORMAT_INT4_1X32, LPT_FORMAT_E4M3FN_ROW}) {
    for (const lpt_format input_format : {LPT_FORMAT_INT8_ROW, LPT_FORMAT_F32}) {
      for (const bool has_bias_change : {false, true}) {
        FactorModel model{c, layer, format, input_format, true, has_bias_change};
        lpt_weights_fit_options options = nearest_options();
        options.inputs = inputs.get();
        options.input_format = input_format;
        const FittedLayer fitted = fit_layer(c, layer, format, options, true, has_bias_change);
        SCOPED_TRACE(name_of(format) + ", " + name_of(input_format) + (has_bias_change ? ", bias" : ""));
        expect_best_factors(model, fitted);
        const FittedLayer without = fit_layer(c, layer, format, options, false, has_bias_change);
        EXPECT_NEAR(model.error(without.decoded, Numbers(model.width(), 1.0)), without.info.sample_error,
                    1e-4 * without.info.sample_error);
        EXPECT_LT(fitted.info.sample_error, without.info.sample_error);
      }
    }
  }
}

TEST(WeightsFitFactors, ChangeTheBiasByTheMeanDifference) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  FitLayer layer(48);
  for (size_t i = 0; i < layer.inputs.size(); i += 5) layer.inputs[i] += 2.0;  // the means are not 0
  const int64_t tokens = std::ssize(layer.inputs) / layer.columns;
  FactorModel model{c, layer, LPT_FORMAT_NVFP4, LPT_FORMAT_INT4_1X32, true, true};
  for (size_t i = 0; i < model.reference.size(); i += 3) model.reference[i] -= 0.5;
  const Tensor inputs = tensor_of(c, LPT_FORMAT_F32, tokens, layer.columns, layer.inputs),
               reference = tensor_of(c, LPT_FORMAT_F64, tokens, layer.columns, model.reference);
  lpt_weights_fit_options options = gptq_options();
  options.inputs = inputs.get();
  options.reference = reference.get();
  options.input_format = model.input_format;
  for (const bool has_factors : {false, true}) {
    const FittedLayer fitted = fit_layer(c, layer, model.format, options, has_factors, true);
    const Numbers by = has_factors ? fitted.factors : Numbers(model.width(), 1.0);
    const Numbers differences = model.differences(fitted.decoded, by), means = model.mean(differences);
    ASSERT_EQ(means.size(), fitted.bias_change.size());
    double largest = 0;
    for (const double mean : means) largest = std::max(largest, std::abs(mean));
    EXPECT_GT(largest, 0.01);
    for (size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(means[i], fitted.bias_change[i], 1e-5 * largest) << i;
  }
}

TEST(WeightsFitFactors, AreOneForColumnsOfZeros) {
  const Context context = make_context(1);
  FitLayer layer(32);
  // Columns of unequal weights, which only maxima of weights balance.
  for (size_t at = 0; at < layer.weight.size(); ++at) layer.weight[at] *= at % 2 == 0 ? 64.0 : 1.0;
  for (size_t at = 7; at < layer.weight.size(); at += 32) layer.weight[at] = 0.0;
  for (size_t at = 9; at < layer.inputs.size(); at += 32) layer.inputs[at] = 0.0;
  for (int64_t i = 0; i < 32; ++i) layer.at(i, 9) = layer.at(9, i) = 0.0;
  const Tensor inputs = tensor_of(context.get(), LPT_FORMAT_F32, std::ssize(layer.inputs) / 32, 32, layer.inputs);
  lpt_weights_fit_options options = nearest_options();
  options.inputs = inputs.get();
  options.input_format = LPT_FORMAT_INT8_TENSOR;
  const FittedLayer fitted = fit_layer(context.get(), layer, LPT_FORMAT_INT8_ROW, options, true);
  EXPECT_EQ(1, fitted.info.has_maxima);
  EXPECT_EQ(1.0, fitted.factors[7]);
  EXPECT_EQ(1.0, fitted.factors[9]);
}

TEST(WeightsFitFactors, RejectSamplesThatDoNotFit) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const FitLayer layer(32);
  const Tensor weight = tensor_of(c, LPT_FORMAT_F32, kFitRows, 32, layer.weight),
               gram = tensor_of(c, LPT_FORMAT_F64, 32, 32, layer.gram),
               inputs = tensor_of(c, LPT_FORMAT_F32, 64, 32, layer.inputs),
               output = make_tensor(c, LPT_FORMAT_NVFP4, kFitRows, 32), factors = make_tensor(c, LPT_FORMAT_F32, {32}),
               bias_change = make_tensor(c, LPT_FORMAT_F32, {kFitRows}),
               short_bias = make_tensor(c, LPT_FORMAT_F32, {kFitRows - 1}),
               narrow = make_tensor(c, LPT_FORMAT_F32, 64, 31), few = make_tensor(c, LPT_FORMAT_F32, 63, 32),
               none = make_tensor(c, LPT_FORMAT_F32, 0, 32), codes = make_tensor(c, LPT_FORMAT_NVFP4, 64, 32);
  Numbers changed = layer.inputs;
  changed[5 * 32 + 2] = NAN;
  const Tensor invalid = tensor_of(c, LPT_FORMAT_F32, 64, 32, changed);
  const std::vector<uint8_t> bytes = bytes_of(c, output.get());
  const auto reject = [&](lpt_status status, const Tensor &sample, const Tensor &reference, lpt_format format,
                          const Tensor &bias, const std::vector<const char *> &words) {
    lpt_weights_fit_options options = gptq_options();
    options.inputs = sample.get();
    options.reference = reference.get();
    options.input_format = format;
    EXPECT_EQ(status,
              lpt_weights_fit(c, weight.get(), gram.get(), &options, output.get(), factors.get(), bias.get(), nullptr));
    expect_words(words, lpt_context_error(c));
    EXPECT_EQ(bytes, bytes_of(c, output.get())) << words[0];
  };
  const Tensor null;
  reject(LPT_INVALID_ARGUMENT, narrow, null, LPT_FORMAT_F32, null, {"options->inputs is 64 x 31", "32"});
  reject(LPT_INVALID_ARGUMENT, none, null, LPT_FORMAT_F32, null, {"options->inputs has 0 rows", "at least 1"});
  reject(LPT_UNSUPPORTED, codes, null, LPT_FORMAT_F32, null, {"options->inputs is nvfp4"});
  reject(LPT_INVALID_ARGUMENT, invalid, null, LPT_FORMAT_F32, null, {"options->inputs[5][2] is nan", "finite"});
  reject(LPT_INVALID_ARGUMENT, inputs, few, LPT_FORMAT_F32, null, {"options->reference is 63 x 32", "64 x 32"});
  reject(LPT_INVALID_ARGUMENT, inputs, invalid, LPT_FORMAT_F32, null, {"options->reference[5][2] is nan", "finite"});
  reject(LPT_INVALID_ARGUMENT, null, inputs, LPT_FORMAT_F32, null, {"options->reference is given without inputs"});
  reject(LPT_INVALID_ARGUMENT, null, null, LPT_FORMAT_NVFP4, null, {"input_format is nvfp4 without inputs"});
  reject(LPT_INVALID_ARGUMENT, inputs, null, -5, null, {"input_format is -5"});
  reject(LPT_UNSUPPORTED, inputs, null, LPT_FORMAT_INT32, null, {"input_format is int32"});
  reject(LPT_INVALID_ARGUMENT, null, null, LPT_FORMAT_F32, bias_change, {"bias_change is given without inputs"});
  reject(LPT_INVALID_ARGUMENT, inputs, null, LPT_FORMAT_F32, short_bias, {"bias_change is 23", "24"});
  reject(LPT_INVALID_ARGUMENT, factors, null, LPT_FORMAT_F32, null, {"options->inputs"});
  const Tensor square = tensor_of(c, LPT_FORMAT_F32, 1, 32, Numbers(32, 1.0));
  lpt_weights_fit_options options = gptq_options();
  options.inputs = square.get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_weights_fit(c, gram.get(), gram.get(), &options, make_tensor(c, LPT_FORMAT_NVFP4, 32, 32).get(),
                            factors.get(), square.get(), nullptr));
  expect_words({"bias_change", "overlaps options->inputs"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_weights_fit(c, gram.get(), gram.get(), &options, make_tensor(c, LPT_FORMAT_NVFP4, 32, 32).get(),
                            factors.get(), factors.get(), nullptr));
  expect_words({"bias_change", "overlaps input_factors"}, lpt_context_error(c));
}

}  // namespace
}  // namespace lpt::test
