// Chooses the format of each layer's matrices under a budget of bytes.
#pragma once

#include <vector>

#include "quantize.hpp"

namespace run_lm {

// The costs of candidates for the matrices of each input of linear layers: layers × kInputs × candidates.
struct FormatCosts {
  std::vector<lpt_format> candidates;
  std::vector<double> divergences;  // expected from the model in f32, in nats
  std::vector<int64_t> bytes;
  double elements = 0.0;  // of all matrices
};

// Measures the divergence with only the matrices of one input rounded to the candidate of the largest error. The other
// candidates have this divergence times the ratio of the errors of the outputs, which `calibration` gives. `report` receives the
// number of complete layers.
FormatCosts measure_formats(lpt_context *context, const ModelConfig &config, const ModelWeights &weights,
                            const Calibration &calibration, const std::vector<Window> &windows,
                            const std::vector<lpt_format> &candidates, const Report &report);

// Returns the formats with the smallest sum of divergences. Throws tool::Error if the smallest candidates exceed the budget.
Formats choose_formats(lpt_context *context, const FormatCosts &costs, double bytes_per_weight);

// Returns the number of inputs that have each format, as "int8_row 50, nvfp4 70".
std::string formats_text(const Formats &formats);

}  // namespace run_lm
