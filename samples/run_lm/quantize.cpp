#include "quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "../../tools/lpt/text.hpp"
#include "../lm/random.hpp"

namespace run_lm {

namespace {

using tool::check;
using tool::Error;
using tool::make_matrix;
using tool::Tensor;

constexpr int64_t kSampleRows = 768;

// Fits the matrices of one layer.
class LayerFit {
 public:
  LayerFit(lpt_context *context, const ModelConfig &config, const LayerWeights &layer,
           const std::array<InputStatistics, kInputs> *statistics, const std::array<lpt_format, kProjections> &formats,
           const FitOptions &options)
      : context_(context), config_(config), layer_(layer), formats_(formats), options_(options) {
    if (statistics != nullptr) statistics_ = *statistics;
  }

  LayerWeights run() {
    if (options_.method.has_factors) {
      // Factors of down and of the output change rows of up and of the values, so that they come first.
      divide_rows(kUp, apply_factors({kDown}));
      divide_rows(kValue, apply_output_factors());
      divide(layer_.mlp_norm, apply_factors({kGate, kUp}));
      divide(layer_.attention_norm, apply_factors({kQuery, kKey, kValue}));
    }
    for (size_t i = 0; i < kProjections; ++i) quantize(static_cast<Projection>(i));
    return layer_;
  }

 private:
  // Divides elements of a vector, or rows of a matrix.
  void divide(SharedTensor &tensor, const std::vector<float> &factors) {
    tensor = copy_of(context_, tensor);
    const std::span<float> values = values_of(tensor.get());
    const size_t columns = values.size() / factors.size();
    for (size_t i = 0; i < values.size(); ++i) values[i] /= factors[i / columns];
  }

  void divide_rows(Projection projection, const std::vector<float> &factors) {
    divide(layer_.matrices[projection], factors);
    if (layer_.biases[projection]) divide(layer_.biases[projection], factors);
  }

  // Multiplies the columns of matrices with one input by factors, and divides the input.
  std::vector<float> apply_factors(std::initializer_list<Projection> projections) {
    std::vector<float> stacked;
    for (const Projection projection : projections) {
      const std::span<float> values = values_of(layer_.matrices[projection].get());
      stacked.insert(stacked.end(), values.begin(), values.end());
    }
    const Projection first = *projections.begin();
    const std::vector<float> factors = choose_factors(stacked, statistics_[input_of(first)], formats_[first]);
    multiply_columns(projections, factors);
    return factors;
  }

  // Heads of queries share values, and their columns of the output layer share factors. Products of different heads have no part
  // in the choice.
  std::vector<float> apply_output_factors() {
    const auto width = static_cast<size_t>(config_.head_width), heads = static_cast<size_t>(config_.heads);
    const size_t group = heads / static_cast<size_t>(config_.key_heads), columns = heads * width;
    const size_t shared = columns / group;
    const auto column_of = [&](size_t member, size_t value) {
      return (value / width * group + member) * width + value % width;
    };
    const std::span<float> weights = values_of(layer_.matrices[kAttentionOutput].get());
    const std::span<float> products = values_of(statistics_[kOutputInput].gram.get());
    const std::span<float> inputs = values_of(statistics_[kOutputInput].sample.get());
    const size_t tokens = inputs.size() / columns;
    const InputStatistics of_heads = {
        make_matrix(context_, LPT_FORMAT_F32, static_cast<int64_t>(shared), static_cast<int64_t>(shared)),
        make_matrix(context_, LPT_FORMAT_F32, static_cast<int64_t>(tokens * group), static_cast<int64_t>(shared))};
    const std::span<float> sums = values_of(of_heads.gram.get()), sample = values_of(of_heads.sample.get());
    std::vector<float> stacked;
    for (size_t member = 0; member < group; ++member) {
      for (size_t row = 0; row < weights.size() / columns; ++row) {
        for (size_t i = 0; i < shared; ++i) stacked.push_back(weights[row * columns + column_of(member, i)]);
      }
      for (size_t i = 0; i < sums.size(); ++i) {
        sums[i] += products[column_of(member, i / shared) * columns + column_of(member, i % shared)];
      }
      for (size_t i = 0; i < tokens * shared; ++i) {
        sample[member * tokens * shared + i] = inputs[i / shared * columns + column_of(member, i % shared)];
      }
    }
    const std::vector<float> factors = choose_factors(stacked, of_heads, formats_[kAttentionOutput]);
    std::vector<float> repeated(columns);
    for (size_t member = 0; member < group; ++member) {
      for (size_t i = 0; i < shared; ++i) repeated[column_of(member, i)] = factors[i];
    }
    multiply_columns({kAttentionOutput}, repeated);
    return factors;
  }

  // Returns factors for rows of weights with one input.
  std::vector<float> choose_factors(std::vector<float> &weights, const InputStatistics &statistics,
                                    lpt_format format) const {
    const int64_t columns = lpt_tensor_extent(statistics.gram.get(), 0), rows = std::ssize(weights) / columns;
    std::vector<float> factors(static_cast<size_t>(columns));
    const Tensor weight = tool::wrap_matrix(context_, LPT_FORMAT_F32, weights.data(), rows, columns);
    const Tensor output = make_matrix(context_, format, rows, columns);
    const Tensor factor_row = tool::wrap_matrix(context_, LPT_FORMAT_F32, factors.data(), 1, columns);
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    options.method = LPT_WEIGHTS_FIT_METHOD_NEAREST;
    if (casts_inputs()) set_sample(statistics, options);
    check(context_, lpt_weights_fit(context_, weight.get(), statistics.gram.get(), &options, output.get(),
                                    factor_row.get(), nullptr, nullptr));
    return factors;
  }

  void multiply_columns(std::initializer_list<Projection> projections, const std::vector<float> &factors) {
    const size_t columns = factors.size();
    for (const Projection projection : projections) {
      SharedTensor &matrix = layer_.matrices[projection];
      matrix = copy_of(context_, matrix);
      const std::span<float> values = values_of(matrix.get());
      for (size_t i = 0; i < values.size(); ++i) values[i] *= factors[i % columns];
    }
    auto &[gram, sample] = statistics_[input_of(*projections.begin())];
    gram = copy_of(context_, gram);
    sample = copy_of(context_, sample);
    const std::span<float> products = values_of(gram.get()), inputs = values_of(sample.get());
    for (size_t i = 0; i < products.size(); ++i) products[i] /= factors[i / columns] * factors[i % columns];
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i] /= factors[i % columns];
  }

  bool casts_inputs() const { return Precision{.activations = options_.activations}.casts_activations(); }

  void set_sample(const InputStatistics &statistics, lpt_weights_fit_options &options) const {
    options.inputs = statistics.sample.get();
    if (casts_inputs()) options.input_format = options_.activations;
  }

  void quantize(Projection projection) {
    SharedTensor &matrix = layer_.matrices[projection];
    const SharedTensor weight = matrix;
    const int64_t rows = lpt_tensor_extent(weight.get(), 0);
    matrix = make_matrix(context_, formats_[projection], rows, lpt_tensor_extent(weight.get(), 1));
    const Method &method = options_.method;
    if (!method.needs_inputs()) {
      return check(context_, lpt_quantize(context_, weight.get(), nullptr, matrix.get(), nullptr));
    }
    const InputStatistics &statistics = statistics_[input_of(projection)];
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    options.method = method.is_gptq ? LPT_WEIGHTS_FIT_METHOD_GPTQ : LPT_WEIGHTS_FIT_METHOD_NEAREST;
    options.order = LPT_WEIGHTS_FIT_ORDER_DIAGONAL;
    std::vector<float> changes(method.changes_bias ? static_cast<size_t>(rows) : 0);
    Tensor change;
    if (method.changes_bias) {
      set_sample(statistics, options);
      change = tool::wrap_matrix(context_, LPT_FORMAT_F32, changes.data(), 1, rows);
    }
    check(context_, lpt_weights_fit(context_, weight.get(), statistics.gram.get(), &options, matrix.get(), nullptr,
                                    change.get(), nullptr));
    if (!changes.empty()) add_bias(layer_.biases[projection], changes);
  }

  void add_bias(SharedTensor &bias, const std::vector<float> &changes) {
    if (bias != nullptr) {
      bias = copy_of(context_, bias);
    } else {
      const auto extent = std::ssize(changes);
      lpt_tensor *made = nullptr;
      check(context_, lpt_tensor_create(context_, LPT_FORMAT_F32, 1, &extent, &made));
      bias = Tensor(made);
    }
    const std::span<float> values = values_of(bias.get());
    for (size_t i = 0; i < values.size(); ++i) values[i] += changes[i];
  }

  lpt_context *context_;
  const ModelConfig &config_;
  LayerWeights layer_;
  std::array<InputStatistics, kInputs> statistics_;
  const std::array<lpt_format, kProjections> &formats_;
  const FitOptions &options_;
};

}  // namespace

Method find_method(const std::string &name) {
  Method method{.name = name};
  if (name == "nearest") return method;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('-', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    bool *const member = part == "rotate" ? &method.is_rotated
                         : part == "gptq" ? &method.is_gptq
                         : part == "awq"  ? &method.has_factors
                         : part == "bias" ? &method.changes_bias
                                          : nullptr;
    if (member == nullptr || *member) {
      throw Error(fmt::format("--method is {}: expected nearest, or a list of rotate, awq, gptq and bias, as awq-gptq",
                              tool::in_quotes(name)));
    }
    *member = true;
    begin = end + 1;
  }
  return method;
}

Formats equal_formats(const ModelConfig &config, lpt_format format) {
  std::array<lpt_format, kProjections> layer;
  layer.fill(format);
  return Formats(static_cast<size_t>(config.layers), layer);
}

void check_not_quantized(const ModelWeights &weights) {
  for (const LayerWeights &layer : weights.layers) {
    for (const SharedTensor &matrix : layer.matrices) {
      if (lpt_tensor_format(matrix.get()) == LPT_FORMAT_F32) continue;
      throw Error(fmt::format("--model has weights in {}: expected a model that is not quantized",
                              tool::format_name(lpt_tensor_format(matrix.get()))));
    }
  }
}

Calibration calibrate(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                      const std::vector<Window> &windows, const Report &report) {
  Calibration calibration(weights.layers.size());
  const int64_t taken = std::max<int64_t>(kSampleRows / std::ssize(windows), 1);  // rows of a window
  int64_t window = 0;
  Decoder decoder(context, config, weights, {LPT_FORMAT_F32, LPT_FORMAT_F32}, std::ssize(windows.front()));
  decoder.observe = [&](size_t layer, Input input, const lpt_tensor *values) {
    auto &[gram, sample] = calibration[layer][input];
    const int64_t rows = lpt_tensor_extent(values, 0), columns = lpt_tensor_extent(values, 1);
    const int64_t count = std::min(taken, rows);
    if (gram == nullptr) {
      gram = make_matrix(context, LPT_FORMAT_F32, columns, columns);
      sample = make_matrix(context, LPT_FORMAT_F32, count * std::ssize(windows), columns);
    }
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_a_transposed = 1;
    options.beta = 1.0;
    check(context, lpt_gemm(context, values, values, &options, gram.get()));
    for (int64_t i = 0; i < count; ++i) {
      // One row of each part of the window. Fixed places would contain the first token of every window, which has outliers.
      const int64_t begin = i * rows / count, end = (i + 1) * rows / count;
      const uint64_t bits = lm::random_bits(0, static_cast<uint64_t>(window), static_cast<uint64_t>(i));
      const int64_t row = begin + static_cast<int64_t>(bits % static_cast<uint64_t>(end - begin));
      const Tensor from = view_of(context, values, {row, 0}, {1, columns});
      const Tensor to = view_of(context, sample.get(), {window * count + i, 0}, {1, columns});
      check(context, lpt_tensor_copy(context, from.get(), to.get()));
    }
  };
  for (; window < std::ssize(windows); ++window) {
    decoder.clear();
    decoder.forward(windows[static_cast<size_t>(window)]);
    report(static_cast<size_t>(window) + 1);
  }
  return calibration;
}

namespace {

constexpr int32_t kClips = 64;  // of EXAQ to try
constexpr double kClipStep = -0.25;
constexpr int64_t kRowsPerSample = 16;  // rows of scores; one of them is measured

// Adds the divergence of the probabilities of a row with rounded arguments from those without, for each clip.
void add_divergences(std::span<const float> row, int32_t bits, std::vector<double> &divergences) {
  const auto last = static_cast<double>((1 << bits) - 1);
  const double top = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double total = 0.0;
  std::vector<double> numerators;
  for (const float score : row) total += numerators.emplace_back(std::exp(static_cast<double>(score) - top));
  for (size_t clip = 0; clip < divergences.size(); ++clip) {
    const double step = -kClipStep * static_cast<double>(clip + 1) / last;
    std::vector<double> levels;
    for (int32_t level = 0; level < 1 << bits; ++level) levels.push_back(std::exp(-level * step));
    double rounded_total = 0.0, difference = 0.0;
    for (size_t i = 0; i < row.size(); ++i) {
      const double argument = static_cast<double>(row[i]) - top;
      const double level = std::min(last, std::nearbyint(-argument / step));  // of NaN: the last
      rounded_total += levels[static_cast<size_t>(level)];
      difference += numerators[i] * (argument + level * step);
    }
    divergences[clip] += difference / total + std::log(rounded_total / total);
  }
}

}  // namespace

std::vector<double> measure_clips(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                                  const std::vector<Window> &windows, int32_t bits, const Report &report) {
  std::vector<std::vector<double>> divergences(static_cast<size_t>(config.layers), std::vector<double>(kClips));
  int64_t longest = 1;
  for (const Window &window : windows) longest = std::max(longest, std::ssize(window));
  Decoder decoder(context, config, weights, kInF32, longest);
  decoder.observe_attention = [&](size_t layer, const lpt_tensor *queries, const lpt_tensor *keys) {
    const int64_t rows = lpt_tensor_extent(queries, 0), width = config.head_width;
    const Tensor scores = make_matrix(context, LPT_FORMAT_F32, rows, rows);
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    options.alpha = 1.0 / std::sqrt(static_cast<double>(width));
    for (int64_t head = 0; head < config.heads; ++head) {
      const int64_t shared = head / (config.heads / config.key_heads);
      const Tensor query = view_of(context, queries, {0, head * width}, {rows, width});
      const Tensor key = view_of(context, keys, {0, shared * width}, {rows, width});
      check(context, lpt_gemm(context, query.get(), key.get(), &options, scores.get()));
      const std::span<float> values = values_of(scores.get());
      for (int64_t i = (head + 1) % kRowsPerSample; i < rows; i += kRowsPerSample) {
        const int64_t first = config.window == 0 ? 0 : std::max<int64_t>(i + 1 - config.window, 0);
        const auto row = values.subspan(static_cast<size_t>(i * rows + first), static_cast<size_t>(i + 1 - first));
        add_divergences(row, bits, divergences[layer]);
      }
    }
  };
  for (size_t i = 0; i < windows.size(); ++i) {
    decoder.clear();
    decoder.forward(windows[i]);
    report(i + 1);
  }
  std::vector<double> clips;
  for (const std::vector<double> &layer : divergences) {
    const auto least = std::min_element(layer.begin(), layer.end());
    clips.push_back(kClipStep * static_cast<double>(least - layer.begin() + 1));
  }
  return clips;
}

ModelWeights fit_weights(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                         const Calibration &calibration, const FitOptions &options, const Report &report) {
  ModelWeights fitted = weights;
  for (size_t i = 0; i < fitted.layers.size(); ++i) {
    const auto *statistics = options.method.needs_inputs() ? &calibration.at(i) : nullptr;
    fitted.layers[i] = LayerFit(context, config, weights.layers[i], statistics, options.formats.at(i), options).run();
    report(i + 1);
  }
  return fitted;
}

}  // namespace run_lm
