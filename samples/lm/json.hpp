// Writes JSON, one member per line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lm {

class JsonWriter {
 public:
  JsonWriter() { open("{"); }

  void begin_object(std::string_view key) { member(key), open("{"); }
  void end_object() { close("}"); }
  void number(std::string_view key, double value);  // null if not finite
  void integer(std::string_view key, int64_t value);
  void text(std::string_view key, std::string_view value);
  void numbers(std::string_view key, const std::vector<double> &values);

  // Returns the complete document. Nothing may be written after it.
  std::string finish();

 private:
  void open(std::string_view bracket);
  void close(std::string_view bracket);
  void member(std::string_view key);

  std::string text_;
  size_t depth_ = 0;
  bool is_first_ = true;
};

// Returns a JSON string with quotes. Bytes beyond ASCII become \u00XX, so that text of any encoding is valid.
std::string json_string(std::string_view text);

}  // namespace lm
