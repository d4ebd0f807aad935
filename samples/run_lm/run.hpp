// The commands of run_lm.
#pragma once

#include "options.hpp"

namespace run_lm {

// Runs the command of the options. Throws std::runtime_error.
void run(const Options &options);

}  // namespace run_lm
