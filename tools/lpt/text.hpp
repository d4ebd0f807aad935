// Small functions for text output.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool {

// Returns a name from a file in quotes. Bytes of the characters in hidden_characters.hpp, and bytes that are not UTF-8, become
// \xNN. These characters control a terminal, are invisible or change the text direction, so a malicious name cannot control a
// terminal. Names longer than about 100 bytes are cut in the middle.
std::string in_quotes(std::string_view name);

// Like in_quotes(), without quotes, cut in the middle to at most `width` characters, at least 5.
std::string shortened(std::string_view name, size_t width);

// Returns a text of any length with such bytes as \xNN, as in in_quotes(). Escaped text is unchanged.
std::string escaped(std::string_view text);

// Returns the index of the first byte that is not UTF-8 (RFC 3629), or text.size().
size_t first_bad_utf8(std::string_view text);

std::string size_text(uint64_t bytes);                      // "86.7 MiB"
std::string shape_text(const std::vector<int64_t> &shape);  // "[384, 1536]"
std::string decibel_text(double decibels);                  // "31.5", "exact" for infinity, "-" for NaN

// 10 · log10(signal / noise): infinity without noise, NaN without signal.
double decibels(double signal, double noise);

// Writes text unchanged. A failed write to standard output is an Error; one to standard error is ignored.
void write_out(std::string_view text);
void write_error(std::string_view text);

template <typename... Values>
void print_out(fmt::format_string<Values...> form, Values &&...values) {
  write_out(fmt::format(form, std::forward<Values>(values)...));
}
template <typename... Values>
void print_error(fmt::format_string<Values...> form, Values &&...values) {
  write_error(fmt::format(form, std::forward<Values>(values)...));
}

// Throws Error if printed text was not written to standard output.
void flush_out();

// Columns of text under a header line. The first `left_columns` columns are left-aligned, the others right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> head, size_t left_columns = 1);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  size_t left_columns_;
};

}  // namespace tool
