// Quantizes the matrices of all layers, with or without calibration data, and writes the model as a Hugging Face folder.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "measure.hpp"

namespace run_lm {

struct Method {
  const char *name;
  bool is_gptq;      // rounds one column after the other, those with the largest inputs first
  bool has_factors;  // scales inputs (AWQ)

  bool needs_inputs() const { return is_gptq || has_factors; }
};

std::span<const Method> methods();
const Method &find_method(const std::string &name);  // throws tool::Error if there is none

// Gram matrices of the inputs of each layer: inputsᵀ · inputs, f32.
using Grams = std::vector<std::array<SharedTensor, kInputs>>;

// Throws tool::Error if matrices of the layers are quantized.
void check_not_quantized(const ModelWeights &weights);

// Runs the model in f32.
Grams collect_grams(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                    const std::vector<Window> &windows, const Report &report);

// Returns the weights with matrices of `format`. `weights` are f32; `grams` may be empty if the method needs no inputs. Factors
// divide the norm before a layer, the rows of up before down, or the rows of the values before the output of attention. `report`
// receives the number of complete layers.
ModelWeights fit_weights(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                         const Grams &grams, lpt_format format, const Method &method, const Report &report);

// Throws tool::Error if `folder` has a model, or cannot be created.
void check_new_model(const std::string &folder);

// Writes config.json, tokenizer.json and model.safetensors with the parts that `lpt convert` writes.
void save_model(lpt_context *context, const ModelFiles &files, const ModelWeights &weights, const std::string &folder);

}  // namespace run_lm
