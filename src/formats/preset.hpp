// The presets with scales.
#pragma once

#include <string_view>

#include "src/formats/format.hpp"

namespace lpt {

struct Preset {
  const char *name;
  Format format;
};

// nullptr where there is none.
const Preset *find_preset(lpt_format id);
const Preset *find_preset(std::string_view name);
const Preset *find_preset_of_parts(const Format &parts);

}  // namespace lpt
