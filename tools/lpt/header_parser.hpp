// Parses the JSON of a safetensors header with events. A header of 100 MB is not stored as a tree, duplicate names are
// detected, and nesting is limited to that of the format.
#pragma once

#include <string>
#include <string_view>

#include "safetensors.hpp"

namespace tool {

// Returns names, dtypes, shapes and offsets of the text. The caller checks sizes, offsets and duplicate tensor names.
Header read_header_json(const std::string &file, std::string_view text, const HeaderMemory &memory);

// Throws Error for bytes that are not UTF-8, and for control characters: the nlohmann parser takes a zero byte for the end.
// `what` is the name of the text in the error.
void check_json_characters(const std::string &file, const char *what, std::string_view text);

}  // namespace tool
