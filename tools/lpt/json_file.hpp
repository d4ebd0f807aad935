// Files that are one JSON object.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "error.hpp"
#include "file.hpp"
#include "text.hpp"

namespace tool {

// Throws Error with the name of the file if the text is not an object. Values nested deeper than some levels are left out, so that
// no file can make the readers recurse far.
inline nlohmann::json parse_json_object(const std::string &file, const std::string &text) {
  constexpr int kMostDepth = 16;
  const auto is_shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json &) {
    return depth <= kMostDepth;
  };
  nlohmann::json value = nlohmann::json::parse(text, is_shallow, false);
  if (!value.is_object()) {
    throw Error(
        fmt::format("{}: is {}: expected a JSON object", file, value.is_discarded() ? "no JSON" : value.type_name()));
  }
  return value;
}

inline nlohmann::json read_json_object(const std::string &path) {
  return parse_json_object(in_quotes(path), read_text(path));
}

}  // namespace tool
