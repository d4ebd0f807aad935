#include "json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace lm {

namespace {

std::string json_number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : "null"; }

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte >= 0x7F) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

void JsonWriter::open(std::string_view bracket) {
  text_ += bracket;
  ++depth_;
  is_first_ = true;
}

void JsonWriter::close(std::string_view bracket) {
  --depth_;
  text_ += "\n" + std::string(2 * depth_, ' ');
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::member(std::string_view key) {
  text_ += is_first_ ? "\n" : ",\n";
  text_ += std::string(2 * depth_, ' ') + json_string(key) + ": ";
  is_first_ = false;
}

void JsonWriter::number(std::string_view key, double value) {
  member(key);
  text_ += json_number(value);
}

void JsonWriter::integer(std::string_view key, int64_t value) {
  member(key);
  text_ += std::to_string(value);
}

void JsonWriter::text(std::string_view key, std::string_view value) {
  member(key);
  text_ += json_string(value);
}

void JsonWriter::numbers(std::string_view key, const std::vector<double> &values) {
  member(key);
  text_ += "[";
  for (size_t i = 0; i < values.size(); ++i) {
    text_ += (i == 0 ? "" : ", ") + json_number(values[i]);
  }
  text_ += "]";
}

std::string JsonWriter::finish() {
  close("}");
  return std::exchange(text_, {}) + "\n";
}

}  // namespace lm
