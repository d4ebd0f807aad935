#include "text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "error.hpp"
#include "hidden_characters.hpp"

namespace tool {

namespace {

constexpr size_t kLongestName = 100;

bool is_continuation(std::string_view text, size_t place) {
  return place < text.size() && (static_cast<unsigned char>(text[place]) & 0xC0u) == 0x80u;
}

// Returns the bytes of the UTF-8 character that starts at `place`; 0 if it is invalid.
size_t character_bytes(std::string_view text, size_t place) {
  const auto lead = static_cast<unsigned char>(text[place]);
  if (lead < 0x80u) return 1;
  const size_t bytes = lead >= 0xC2u && lead < 0xE0u ? 2 : lead >= 0xE0u && lead < 0xF0u ? 3 : lead < 0xF5u ? 4 : 0;
  if (bytes == 0 || lead < 0xC2u) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text, place + i)) return 0;
  }
  const auto second = static_cast<unsigned char>(text[place + 1]);
  const bool is_overlong = (lead == 0xE0u && second < 0xA0u) || (lead == 0xF0u && second < 0x90u);
  const bool is_surrogate = lead == 0xEDu && second >= 0xA0u;
  const bool is_beyond = lead == 0xF4u && second >= 0x90u;
  return is_overlong || is_surrogate || is_beyond ? 0 : bytes;
}

bool is_hidden(char32_t character) {
  const auto *const after = std::upper_bound(std::begin(kHiddenCharacters), std::end(kHiddenCharacters), character,
                                             [](char32_t value, const auto &range) { return value < range.first; });
  return after != std::begin(kHiddenCharacters) && character <= (after - 1)->last;
}

// `bytes` is the result of character_bytes().
char32_t character_at(std::string_view text, size_t place, size_t bytes) {
  const auto lead = static_cast<unsigned char>(text[place]);
  char32_t character = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) character = character << 6 | (static_cast<unsigned char>(text[place + i]) & 0x3Fu);
  return character;
}

// Returns one entry per printed character.
std::vector<std::string> shown_characters(std::string_view name) {
  std::vector<std::string> characters;
  for (size_t i = 0; i < name.size();) {
    const size_t bytes = character_bytes(name, i);
    if (bytes > 0 && !is_hidden(character_at(name, i, bytes))) {
      characters.emplace_back(name.substr(i, bytes));
      i += bytes;
    } else {
      const size_t end = i + std::max<size_t>(bytes, 1);
      for (; i < end; ++i) characters.push_back(fmt::format("\\x{:02X}", static_cast<unsigned char>(name[i])));
    }
  }
  return characters;
}

size_t width_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

[[noreturn]] void fail_out() {
  throw Error(fmt::format("standard output: cannot be written{}{}", errno == 0 ? "" : ": ",
                          errno == 0 ? "" : std::strerror(errno)));
}

}  // namespace

std::string shortened(std::string_view name, size_t width) {
  // A name of megabytes is cut before it is decoded, because only both ends can be shown.
  constexpr size_t kMostBytesPerCharacter = 4;
  std::string ends(name);
  const size_t most = (width + 1) * kMostBytesPerCharacter;
  const bool is_huge = name.size() > 2 * most;
  if (is_huge) ends = std::string(name.substr(0, most)) + std::string(name.substr(name.size() - most));
  const std::vector<std::string> characters = shown_characters(ends);
  std::string text;
  if (characters.size() <= width && !is_huge) {
    for (const std::string &character : characters) text += character;
    return text;
  }
  constexpr std::string_view kCut = "...";
  const size_t head = (width - kCut.size()) / 2;
  const size_t tail = width - kCut.size() - head;
  for (size_t i = 0; i < head; ++i) text += characters[i];
  text += kCut;
  for (size_t i = characters.size() - tail; i < characters.size(); ++i) text += characters[i];
  return text;
}

std::string in_quotes(std::string_view name) { return '"' + shortened(name, kLongestName) + '"'; }

std::string escaped(std::string_view text) {
  std::string result;
  for (const std::string &character : shown_characters(text)) result += character;
  return result;
}

size_t first_bad_utf8(std::string_view text) {
  size_t place = 0;
  while (place < text.size()) {
    const size_t bytes = character_bytes(text, place);
    if (bytes == 0) return place;
    place += bytes;
  }
  return place;
}

std::string size_text(uint64_t bytes) {
  constexpr const char *kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < std::size(kUnits)) {
    value /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string shape_text(const std::vector<int64_t> &shape) {
  constexpr size_t kMostShown = 8;
  std::string text = "[";
  for (size_t i = 0; i < shape.size() && i < kMostShown; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  }
  return text + (shape.size() > kMostShown ? ", ...]" : "]");
}

double decibels(double signal, double noise) {
  if (!(signal > 0.0) || std::isnan(noise)) return std::numeric_limits<double>::quiet_NaN();
  return noise == 0.0 ? std::numeric_limits<double>::infinity() : 10.0 * std::log10(signal / noise);
}

std::string decibel_text(double decibels) {
  return std::isnan(decibels) ? "-" : std::isinf(decibels) ? "exact" : fmt::format("{:.1f}", decibels);
}

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_out();
}

void write_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void flush_out() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_out();
  // A network file system may report a full disk only on close. Closing a duplicate keeps stdout open.
  const int duplicate = ::dup(STDOUT_FILENO);
  if (duplicate >= 0 && ::close(duplicate) != 0) fail_out();
}

Table::Table(std::vector<std::string> head, size_t left_columns) : left_columns_(left_columns) {
  rows_.push_back(std::move(head));
}

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::text() const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto &row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string text;
  for (const auto &row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += i < left_columns_ ? row[i] + gap : gap + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tool
