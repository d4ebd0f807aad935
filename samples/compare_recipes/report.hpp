// A comparison as a table, a picture, and numbers for other programs.
#pragma once

#include <string>
#include <vector>

#include "comparison.hpp"

namespace compare_recipes {

// Lines for a person. Gaps are to the way named f32, where there is one, seed by seed.
std::string table(const Options &options, const std::vector<Runs> &all);

// All curves of held-out loss, each the mean over its seeds.
std::string picture(const Options &options, const std::vector<Runs> &all);

// A line per way, seed and validation.
std::string csv(const std::vector<Runs> &all);

}  // namespace compare_recipes
