// Formats that are chosen under a budget: their costs by the definition, and the models that have them.
#include "../choose.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "../../../tools/lpt/convert.hpp"
#include "../model_writer.hpp"
#include "loaded_model.hpp"
#include "tiny_model.hpp"

namespace run_lm_tests {
namespace {

using run_lm::Decoder;
using run_lm::FormatCosts;
using run_lm::Formats;
using run_lm::ModelWeights;
using run_lm::SharedTensor;
using run_lm::Window;

const std::vector<lpt_format> kCandidates = {LPT_FORMAT_INT8_ROW, tool::find_format("int4_1x32"),
                                             tool::find_format("int2/1x32/f32")};

// The model with three candidates for each of its inputs.
struct ChosenModel {
  tool_tests::Workplace workplace;
  TinyModel tiny;
  std::vector<Window> windows = {random_tokens(41, 64), random_tokens(42, 64)};
  std::unique_ptr<LoadedModel> loaded;
  FormatCosts costs;

  ChosenModel() {
    tiny.draw(40, true);
    loaded = std::make_unique<LoadedModel>(write_folder(workplace, "folder", tiny, false));
    const auto calibration = calibrate(context(), config(), loaded->weights, windows, kIgnore);
    costs = measure_formats(context(), config(), loaded->weights, calibration, windows, kCandidates, kIgnore);
  }

  lpt_context *context() const { return loaded->context.get(); }
  const run_lm::ModelConfig &config() const { return loaded->files.config(); }

  SharedTensor rounded(const SharedTensor &weight, lpt_format format) const {
    SharedTensor result =
        tool::make_matrix(context(), format, lpt_tensor_extent(weight.get(), 0), lpt_tensor_extent(weight.get(), 1));
    tool::check(context(), lpt_quantize(context(), weight.get(), nullptr, result.get(), nullptr));
    return result;
  }

  ModelWeights with_formats(const Formats &formats) const {
    ModelWeights changed = loaded->weights;
    for (size_t layer = 0; layer < formats.size(); ++layer) {
      for (size_t i = 0; i < run_lm::kProjections; ++i) {
        if (formats[layer][i] == LPT_FORMAT_F32) continue;
        changed.layers[layer].matrices[i] = rounded(changed.layers[layer].matrices[i], formats[layer][i]);
      }
    }
    return changed;
  }

  double divergence(const Formats &formats) const {
    Decoder baseline = loaded->decoder(), decoder(context(), config(), with_formats(formats), kInF32, 64);
    const run_lm::Evaluation evaluation(context(), windows, &baseline, kIgnore);
    return evaluation.run(decoder, kIgnore).divergence;
  }

  // The squared error of the outputs of one matrix, relative to their squares.
  double output_error(size_t layer, size_t projection, lpt_format format) const {
    const SharedTensor &weight = loaded->weights.layers[layer].matrices[projection];
    const std::vector<float> exact = values_of(weight.get()),
                             found =
                                 values_of(run_lm::cast_to(context(), rounded(weight, format), LPT_FORMAT_F32).get());
    const auto columns = static_cast<size_t>(lpt_tensor_extent(weight.get(), 1));
    double error = 0.0, square = 0.0;
    Decoder decoder = loaded->decoder();
    decoder.observe = [&](size_t index, run_lm::Input input, const lpt_tensor *values) {
      if (index != layer || input != run_lm::input_of(projection)) return;
      const std::vector<float> inputs = values_of(values);
      for (size_t token = 0; token < inputs.size(); token += columns) {
        for (size_t row = 0; row < exact.size(); row += columns) {
          double output = 0.0, difference = 0.0;
          for (size_t i = 0; i < columns; ++i) {
            output += double(inputs[token + i]) * exact[row + i];
            difference += double(inputs[token + i]) * (double(found[row + i]) - exact[row + i]);
          }
          error += difference * difference;
          square += output * output;
        }
      }
    };
    for (const Window &window : windows) {
      decoder.clear();
      decoder.forward(window);
    }
    return error / square;
  }
};

TEST(Choose, CostsAreThoseOfTheDefinition) {
  const ChosenModel model;
  const size_t candidates = kCandidates.size();
  ASSERT_EQ(2 * run_lm::kInputs * candidates, model.costs.divergences.size());
  for (size_t place = 0; place < 2 * run_lm::kInputs; ++place) {
    const size_t layer = place / run_lm::kInputs, input = place % run_lm::kInputs;
    Formats formats = equal_formats(model.config(), LPT_FORMAT_F32);
    std::vector<double> errors(candidates, 0.0);
    std::vector<int64_t> bytes(candidates, 0);
    for (size_t i = 0; i < run_lm::kProjections; ++i) {
      if (run_lm::input_of(i) != input) continue;
      formats[layer][i] = kCandidates.back();
      for (size_t j = 0; j < candidates; ++j) {
        errors[j] += model.output_error(layer, i, kCandidates[j]);
        size_t size = 0;
        const SharedTensor rounded = model.rounded(model.loaded->weights.layers[layer].matrices[i], kCandidates[j]);
        tool::check(model.context(), lpt_tensor_size(model.context(), rounded.get(), &size));
        bytes[j] += static_cast<int64_t>(size);
      }
    }
    const double worst = model.divergence(formats);
    for (size_t j = 0; j < candidates; ++j) {
      const double expected = worst * errors[j] / errors.back();
      EXPECT_NEAR(expected, model.costs.divergences[place * candidates + j], 1e-3 * expected) << place << " " << j;
      EXPECT_EQ(bytes[j], model.costs.bytes[place * candidates + j]) << place << " " << j;
    }
  }
}

TEST(Choose, FormatsAreWithinTheBudgetAndReduceTheDivergence) {
  const ChosenModel model;
  const double least = model.with_formats(equal_formats(model.config(), kCandidates.back()))
                           .bytes_per_weight(model.context(), LPT_FORMAT_F32),
               most = model.with_formats(equal_formats(model.config(), kCandidates.front()))
                          .bytes_per_weight(model.context(), LPT_FORMAT_F32);
  double last = model.divergence(equal_formats(model.config(), kCandidates.back()));
  for (const double share : {0.25, 0.5, 0.75}) {
    const double budget = least + share * (most - least);
    const Formats formats = choose_formats(model.context(), model.costs, budget);
    EXPECT_LE(model.with_formats(formats).bytes_per_weight(model.context(), LPT_FORMAT_F32), budget);
    for (const auto &layer : formats) {
      EXPECT_EQ(layer[run_lm::kQuery], layer[run_lm::kValue]);
      EXPECT_EQ(layer[run_lm::kGate], layer[run_lm::kUp]);
    }
    const double divergence = model.divergence(formats);
    EXPECT_LT(divergence, last) << budget;
    last = divergence;
  }
  EXPECT_THROW(choose_formats(model.context(), model.costs, 0.99 * least), tool::Error);
}

TEST(Choose, SavesSeveralFormatsInOneFile) {
  const ChosenModel model;
  // nvfp4 has a tensor scale that the file rounds; these formats have none.
  Formats formats = equal_formats(model.config(), tool::find_format("int4_1x32"));
  formats[0][run_lm::kDown] = LPT_FORMAT_INT8_ROW;
  formats[1][run_lm::kAttentionOutput] = LPT_FORMAT_BF16;
  const ModelWeights weights = model.with_formats(formats);
  const std::string folder = model.workplace.path("mixed");
  run_lm::check_new_model(folder);
  save_model(model.context(), model.loaded->files, weights, folder);
  const LoadedModel saved(folder);
  EXPECT_EQ(LPT_FORMAT_INT8_ROW, lpt_tensor_format(saved.weights.layers[0].matrices[run_lm::kDown].get()));
  EXPECT_EQ(tool::find_format("int4_1x32"), lpt_tensor_format(saved.weights.layers[1].matrices[run_lm::kDown].get()));
  // lpt convert decodes them.
  tool::ConvertOptions options;
  options.input = folder + "/model.safetensors";
  options.format = "f32";
  options.is_quiet = true;
  const std::string decoded = model.workplace.path("decoded");
  std::filesystem::copy(folder, decoded);
  std::filesystem::remove(decoded + "/model.safetensors");
  options.output = decoded + "/model.safetensors";
  tool::convert(options);
  const LoadedModel numbers(decoded);
  for (size_t layer = 0; layer < 2; ++layer) {
    for (size_t i = 0; i < run_lm::kProjections; ++i) {
      const SharedTensor exact = run_lm::cast_to(model.context(), weights.layers[layer].matrices[i], LPT_FORMAT_F32);
      EXPECT_EQ(values_of(exact.get()), values_of(numbers.weights.layers[layer].matrices[i].get())) << layer << i;
    }
  }
  const std::vector<int32_t> tokens = random_tokens(43, 20);
  Decoder before(model.context(), model.config(), weights, kInF32, 64), after = saved.decoder();
  EXPECT_EQ(0.0, difference(logits_of(after, tokens), logits_of(before, tokens)));
}

}  // namespace
}  // namespace run_lm_tests
