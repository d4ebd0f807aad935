// Walks the JSON of a safetensors header as it is read: a header of a hundred megabytes becomes no tree, a name that
// comes twice is seen, and nothing nests deeper than the format does.
#pragma once

#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace tool {

// Names, dtypes, shapes and offsets as the text has them; sizes, places and names that stand twice are the caller's to check.
Header read_header_json(const std::string &file, std::string_view text, const HeaderMemory &memory);

}  // namespace tool
