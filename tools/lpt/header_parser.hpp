// Parses the JSON of a safetensors header with events. A header of 100 MB is not stored as a tree, duplicate names are
// detected, and nesting is limited to that of the format.
#pragma once

#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace tool {

// Returns names, dtypes, shapes and offsets of the text. The caller checks sizes, offsets and duplicate tensor names.
Header read_header_json(const std::string &file, std::string_view text, const HeaderMemory &memory);

}  // namespace tool
