#include "json_fields.hpp"

#include <cmath>

namespace run_lm {

namespace {

const json kNull;

// Returns the member, or nullptr if it is missing or null and `has_default`.
const json *find(const std::string &file, const json &object, const char *name, bool has_default) {
  const json &value = member_of(object, name);
  if (!value.is_null()) return &value;
  if (has_default) return nullptr;
  throw tool::Error(fmt::format("{}: {} is missing: expected it", file, name));
}

}  // namespace

std::string value_text(const json &value) {
  // JSON has no text for these; a GGUF file can have them.
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return fmt::format("{}", value.get<double>());
  return tool::shortened(value.dump(-1, ' ', false, json::error_handler_t::replace), 60);
}

void reject(const std::string &file, const std::string &member, const json &value, const char *expected) {
  throw tool::Error(fmt::format("{}: {} is {}: expected {}", file, member, value_text(value), expected));
}

const json &member_of(const json &object, const char *name) {
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

int64_t integer_of(const std::string &file, const json &object, const char *name, int64_t low, int64_t high,
                   std::optional<int64_t> otherwise) {
  const json *value = find(file, object, name, otherwise.has_value());
  if (value == nullptr) return *otherwise;
  const bool is_large = value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX;
  if (!value->is_number_integer() || is_large || value->get<int64_t>() < low || value->get<int64_t>() > high) {
    reject(file, name, *value, fmt::format("a whole number, {} to {}", low, high).c_str());
  }
  return value->get<int64_t>();
}

double number_of(const std::string &file, const json &object, const char *name, std::optional<double> otherwise) {
  const json *value = find(file, object, name, otherwise.has_value());
  if (value == nullptr) return *otherwise;
  if (!value->is_number()) reject(file, name, *value, "a number");
  return value->get<double>();
}

bool bool_of(const std::string &file, const json &object, const char *name, bool otherwise) {
  const json *value = find(file, object, name, true);
  if (value != nullptr && !value->is_boolean()) reject(file, name, *value, "true or false");
  return value == nullptr ? otherwise : value->get<bool>();
}

std::string text_of(const std::string &file, const json &object, const char *name, const std::string &otherwise) {
  const json *value = find(file, object, name, true);
  if (value != nullptr && !value->is_string()) reject(file, name, *value, "a text");
  return value == nullptr ? otherwise : value->get<std::string>();
}

}  // namespace run_lm
