// Small pieces of text for people.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tool {

// A name from a file, in quotes. Bytes of the characters in hidden_characters.hpp, which control a terminal, are
// invisible or change the direction of text, and bytes that are no UTF-8 become \xNN, so that a hostile name cannot
// steer a terminal; what is longer than about 100 bytes is cut in the middle.
std::string in_quotes(std::string_view name);

// As in_quotes(), without quotes, cut in the middle to at most `width` characters, 5 or more.
std::string shortened(std::string_view name, size_t width);

// A text with such bytes as \xNN, as in_quotes() writes them, at any length. What is escaped already stays as it is.
std::string escaped(std::string_view text);

// The first byte that is no UTF-8 (RFC 3629), or text.size().
size_t first_bad_utf8(std::string_view text);

std::string size_text(uint64_t bytes);                      // "86.7 MiB"
std::string shape_text(const std::vector<int64_t> &shape);  // "[384, 1536]"
std::string decibel_text(double decibels);                  // "31.5", "exact" for infinity, "-" for NaN

// 10 · log10(signal / noise): infinity without noise, NaN without signal.
double decibels(double signal, double noise);

// Both write text as it is. What standard output does not take is an Error; of standard error nothing can be reported.
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

// Throws an Error if something that was printed did not reach standard output.
void flush_out();

// Columns of text under a head line. The first column is left-aligned, the others right-aligned unless said otherwise.
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
