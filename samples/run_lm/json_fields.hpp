// Reads members of unchecked JSON files. Errors name the file, the member, its value and the expectation.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "../../tools/lpt/json_file.hpp"

namespace run_lm {

using nlohmann::json;

// Returns the value as text, at most about 60 characters, for error messages.
std::string value_text(const json &value);

[[noreturn]] void reject(const std::string &file, const std::string &member, const json &value, const char *expected);

// Returns a member; a JSON null for a missing member and for an object that is null.
const json &member_of(const json &object, const char *name);

// Return a member. A missing member, or null, is `otherwise`; without one it is an Error.
int64_t integer_of(const std::string &file, const json &object, const char *name, int64_t low, int64_t high,
                   std::optional<int64_t> otherwise = std::nullopt);
double number_of(const std::string &file, const json &object, const char *name,
                 std::optional<double> otherwise = std::nullopt);
bool bool_of(const std::string &file, const json &object, const char *name, bool otherwise);
std::string text_of(const std::string &file, const json &object, const char *name, const std::string &otherwise);

}  // namespace run_lm
