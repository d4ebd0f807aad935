// The loss curves of a run as a picture.
#pragma once

#include <string>

#include "results.hpp"

namespace train_lm {

// Training smoothed, validation as dots, gzip as a line; with a twin, the gap between both below.
std::string curves_svg(const Options &options, const Results &results);

}  // namespace train_lm
