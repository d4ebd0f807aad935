// Quantizes the matrices of all layers, with or without calibration data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace run_lm {

struct Method {
  std::string name;
  bool is_rotated = false;    // rotates the weights first: the caller passes rotate_weights()
  bool is_gptq = false;       // rounds one column after the other, those with the largest inputs first
  bool has_factors = false;   // scales inputs (AWQ, SmoothQuant)
  bool changes_bias = false;  // corrects the biases by the mean error of the outputs

  bool needs_inputs() const { return is_gptq || has_factors || changes_bias; }
};

// Reads "nearest", or a list of rotate, awq, gptq and bias, as "awq-gptq". Throws tool::Error for other names.
Method find_method(const std::string &name);

// Statistics of the inputs of a layer, f32.
struct InputStatistics {
  SharedTensor gram;    // inputsᵀ · inputs
  SharedTensor sample;  // some of the inputs, rows × columns
};
using Calibration = std::vector<std::array<InputStatistics, kInputs>>;  // of all layers

// The formats of the matrices of each layer. Matrices with one input have one format.
using Formats = std::vector<std::array<lpt_format, kProjections>>;

// Returns one format for all matrices.
Formats equal_formats(const ModelConfig &config, lpt_format format);

struct FitOptions {
  Formats formats;
  lpt_format activations;  // of the inputs of linear layers; a float: they are not cast
  Method method;
};

// Throws tool::Error if matrices of the layers are quantized.
void check_not_quantized(const ModelWeights &weights);

// Runs the model in f32.
Calibration calibrate(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                      const std::vector<Window> &windows, const Report &report);

// Returns the clip of EXAQ for each layer: that of the smallest divergence of the probabilities of attention, of the model in
// f32. The published rule derives it from the deviation of all arguments.
std::vector<double> measure_clips(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                                  const std::vector<Window> &windows, int32_t bits, const Report &report);

// Returns the weights with matrices of the formats. `weights` are f32; `calibration` may be empty if the method needs no inputs.
// Factors divide the norm before a layer, the rows of up before down, or the rows of the values before the output of attention.
// `report` receives the number of complete layers.
ModelWeights fit_weights(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                         const Calibration &calibration, const FitOptions &options, const Report &report);

}  // namespace run_lm
