// A plot of the loss curves of a run.
#pragma once

#include <string>

#include "results.hpp"

namespace train_lm {

// Plots smoothed training loss, validation as dots, and gzip as a line; with a second model, the gap between both below.
std::string curves_svg(const Options &options, const Results &results);

}  // namespace train_lm
