// A comparison as a table, a plot, and data for other programs.
#pragma once

#include <string>
#include <vector>

#include "comparison.hpp"

namespace compare_recipes {

// Returns a text table. Gaps are relative to the configuration named f32, if present, for each seed.
std::string table(const Options &options, const std::vector<Runs> &all);

// Returns a plot of all curves of held-out loss. Each curve is the mean over its seeds.
std::string picture(const Options &options, const std::vector<Runs> &all);

// Returns one line per configuration, seed and validation.
std::string csv(const std::vector<Runs> &all);

}  // namespace compare_recipes
