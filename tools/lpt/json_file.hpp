// Files that are one JSON object.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "error.hpp"
#include "file.hpp"
#include "text.hpp"

namespace tool {

// Throws Error if the file is not an object. Values nested deeper than a few levels are left out, so that no recursion is deep.
inline nlohmann::json read_json_object(const std::string &path) {
  constexpr int kMostDepth = 4;
  const auto is_shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json &) {
    return depth <= kMostDepth;
  };
  nlohmann::json file = nlohmann::json::parse(read_text(path), is_shallow, false);
  if (!file.is_object()) throw Error(fmt::format("{}: the file is not a JSON object", in_quotes(path)));
  return file;
}

}  // namespace tool
