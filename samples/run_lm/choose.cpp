#include "choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "../../tools/lpt/handles.hpp"

namespace run_lm {

namespace {

using tool::check;
using tool::Error;
using tool::make_matrix;

const Report kNoReport = [](size_t) {};

// Measures the costs of one model.
class CostMeasurement {
 public:
  CostMeasurement(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                  const Calibration &calibration, const std::vector<Window> &windows)
      : context_(context),
        weights_(weights),
        calibration_(calibration),
        baseline_(context, config, weights, kInF32, std::ssize(windows.front())),
        changed_(context, config, weights, kInF32, std::ssize(windows.front())),
        evaluation_(context, windows, &baseline_, kNoReport) {}

  void add_input(size_t layer, size_t input, FormatCosts &costs) {
    std::vector<double> errors;
    for (const lpt_format format : costs.candidates) {
      int64_t bytes = 0;
      errors.push_back(error_of(layer, input, format, bytes));
      costs.bytes.push_back(bytes);
    }
    const auto worst = std::max_element(errors.begin(), errors.end());
    const lpt_format format = costs.candidates[static_cast<size_t>(worst - errors.begin())];
    const double divergence = *worst > 0.0 ? std::max(divergence_of(layer, input, format), 0.0) : 0.0;
    for (const double error : errors) costs.divergences.push_back(*worst > 0.0 ? divergence * error / *worst : 0.0);
  }

 private:
  template <typename Body>
  void for_each_matrix(size_t layer, size_t input, const Body &body) const {
    for (size_t i = 0; i < kProjections; ++i) {
      if (input_of(i) == input) body(i, weights_.layers[layer].matrices[i]);
    }
  }

  SharedTensor like(const SharedTensor &weight, lpt_format format) const {
    return make_matrix(context_, format, lpt_tensor_extent(weight.get(), 0), lpt_tensor_extent(weight.get(), 1));
  }

  // Returns the squared errors of the outputs relative to their squares, summed over the matrices.
  double error_of(size_t layer, size_t input, lpt_format format, int64_t &bytes) const {
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    options.method = LPT_WEIGHTS_FIT_METHOD_NEAREST;
    options.scale_rule = LPT_SCALE_RULE_DEFAULT;  // as in divergence_of()
    double error = 0.0;
    for_each_matrix(layer, input, [&](size_t, const SharedTensor &weight) {
      const SharedTensor output = like(weight, format);
      lpt_weights_fit_info info = LPT_WEIGHTS_FIT_INFO_INIT;
      check(context_, lpt_weights_fit(context_, weight.get(), calibration_.at(layer)[input].gram.get(), &options,
                                      output.get(), nullptr, nullptr, &info));
      error += info.nearest_error;
      size_t size = 0;
      check(context_, lpt_tensor_size(context_, output.get(), &size));
      bytes += static_cast<int64_t>(size);
    });
    return error;
  }

  double divergence_of(size_t layer, size_t input, lpt_format format) {
    for_each_matrix(layer, input, [&](size_t projection, const SharedTensor &weight) {
      const SharedTensor rounded = like(weight, format);
      check(context_, lpt_quantize(context_, weight.get(), nullptr, rounded.get(), nullptr));
      changed_.replace(layer, projection, rounded);
    });
    const double divergence = evaluation_.run(changed_, kNoReport).divergence;
    for_each_matrix(layer, input, [&](size_t projection, const SharedTensor &weight) {
      changed_.replace(layer, projection, weight);
    });
    return divergence;
  }

  lpt_context *context_;
  const ModelWeights &weights_;
  const Calibration &calibration_;
  Decoder baseline_, changed_;
  Evaluation evaluation_;
};

}  // namespace

FormatCosts measure_formats(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                            const Calibration &calibration, const std::vector<Window> &windows,
                            const std::vector<lpt_format> &candidates, const Report &report) {
  FormatCosts costs;
  costs.candidates = candidates;
  CostMeasurement measurement(context, config, weights, calibration, windows);
  for (size_t layer = 0; layer < weights.layers.size(); ++layer) {
    for (size_t input = 0; input < kInputs; ++input) measurement.add_input(layer, input, costs);
    for (size_t i = 0; i < kProjections; ++i) {
      const auto [rows, columns] = shape_of(config, static_cast<Projection>(i));
      costs.elements += static_cast<double>(rows * columns);
    }
    report(layer + 1);
  }
  return costs;
}

Formats choose_formats(lpt_context *context, const FormatCosts &costs, double bytes_per_weight) {
  const size_t candidates = costs.candidates.size(), inputs = costs.bytes.size() / candidates;
  double least = 0.0;
  for (size_t i = 0; i < inputs; ++i) {
    const auto first = costs.bytes.begin() + static_cast<ptrdiff_t>(i * candidates);
    least += static_cast<double>(*std::min_element(first, first + static_cast<ptrdiff_t>(candidates)));
  }
  if (bytes_per_weight * costs.elements < least) {
    throw Error(fmt::format("--bytes-per-weight is {}: expected at least {:.4f}, that of the smallest formats",
                            bytes_per_weight, std::ceil(1e4 * least / costs.elements) / 1e4));
  }
  std::vector<int64_t> choices(inputs);
  check(context, lpt_format_choose(context, costs.divergences.data(), costs.bytes.data(), std::ssize(choices),
                                   std::ssize(costs.candidates),
                                   static_cast<int64_t>(bytes_per_weight * costs.elements), choices.data(), nullptr));
  Formats formats(inputs / kInputs);
  for (size_t layer = 0; layer < formats.size(); ++layer) {
    for (size_t i = 0; i < kProjections; ++i) {
      formats[layer][i] = costs.candidates[static_cast<size_t>(choices[layer * kInputs + input_of(i)])];
    }
  }
  return formats;
}

std::string formats_text(const Formats &formats) {
  std::map<std::string, int> counts;
  for (const auto &layer : formats) {
    for (const Projection projection : {kQuery, kAttentionOutput, kGate, kDown}) {
      ++counts[tool::format_name(layer[projection])];
    }
  }
  std::string text;
  for (const auto &[name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  return text;
}

}  // namespace run_lm
