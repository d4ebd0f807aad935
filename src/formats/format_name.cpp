// Names of formats: printing and parsing.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

#include "src/formats/custom_element.hpp"

namespace lpt {
namespace {

std::string extent_name(int32_t extent) { return extent == LPT_BLOCK_EXTENT_FULL ? "whole" : std::to_string(extent); }

std::string block_name(const Format &format) {
  if (!format.has_block_scale()) return "tensor";
  if (format.block_rows == 1 && format.block_columns == LPT_BLOCK_EXTENT_FULL) return "row";
  if (format.block_rows == LPT_BLOCK_EXTENT_FULL && format.block_columns == 1) return "column";
  return extent_name(format.block_rows) + "x" + extent_name(format.block_columns);
}

// Parses digits without a leading zero, or "whole".
bool parse_extent(std::string_view word, int32_t &out_extent) {
  if (word == "whole") {
    out_extent = LPT_BLOCK_EXTENT_FULL;
    return true;
  }
  if (word.empty() || word.size() > 7 || word.front() == '0') return false;
  if (word.find_first_not_of("0123456789") != word.npos) return false;
  out_extent = static_cast<int32_t>(std::atoi(std::string(word).c_str()));
  return true;
}

bool parse_block(std::string_view word, Format &parts) {
  if (word == "row") word = "1xwhole";
  if (word == "column") word = "wholex1";
  const size_t cross = word.find('x');
  return cross != word.npos && parse_extent(word.substr(0, cross), parts.block_rows) &&
         parse_extent(word.substr(cross + 1), parts.block_columns);
}

bool parse_plain(std::string_view word, lpt_format &out_format) {
  if (const PlainPreset *preset = find_plain_preset(word)) {
    out_format = preset->id;
    return true;
  }
  CustomElement own;
  if (!own_from_name(word, own)) return false;
  out_format = format_of_own(own);
  return true;
}

std::vector<std::string_view> split(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t slash; (slash = name.find('/')) != name.npos; name.remove_prefix(slash + 1)) {
    words.push_back(name.substr(0, slash));
  }
  words.push_back(name);
  return words;
}

// Checks an extent like make_format(). The message contains `whole`, the name of LPT_BLOCK_EXTENT_FULL.
Status check_extent(bool is_tensor, const char *member, int32_t extent) {
  if (is_tensor || is_block_extent(extent)) return {};
  return invalid("%s is %d, expected a power of two up to %d, or whole", member, extent, kLargestBlockExtent);
}

// Returns the alphanumeric characters of a name in lower case. float8 of other libraries becomes f8.
std::string folded(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool is_upper = c >= 'A' && c <= 'Z', is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_upper || is_kept) result += static_cast<char>(is_upper ? c - 'A' + 'a' : c);
  }
  const size_t place = result.find("float");
  return place == result.npos ? result : result.erase(place + 1, 4);
}

// Returns the Levenshtein distance.
size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<size_t> edits(b.size() + 1);
  std::iota(edits.begin(), edits.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = edits[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = edits[j + 1];
      edits[j + 1] = std::min({replaced, diagonal + 1, edits[j] + 1});
    }
  }
  return edits[b.size()];
}

// Returns "; similar: " and up to three presets. The presets contain the given name or are contained in it; otherwise they
// are a few edits away. Returns "" if no preset is similar.
std::string similar_presets(std::string_view name) {
  constexpr size_t kShortest = 3, kLongest = 64, kMostNames = 3;
  const std::string given = folded(name);
  if (given.size() < kShortest || name.size() > kLongest) return "";
  struct Similar {
    bool is_part;
    size_t edits;
    const char *name;
  };
  std::vector<Similar> found;
  for (int64_t i = 0; i < format_count(); ++i) {
    const char *const preset = preset_name(format_at(i));
    const std::string other = folded(preset);
    const bool is_part = other.find(given) != other.npos || given.find(other) != given.npos;
    const size_t edits = edits_between(given, other);
    if (is_part || edits * 5 <= given.size() * 2) found.push_back({is_part, edits, preset});
  }
  std::stable_sort(found.begin(), found.end(), [](const Similar &a, const Similar &b) {
    return a.is_part != b.is_part ? a.is_part : a.edits < b.edits;
  });
  std::string text;
  for (size_t i = 0; i < std::min(found.size(), kMostNames) && found[i].is_part == found[0].is_part; ++i) {
    text.append(i == 0 ? "; similar: " : ", ").append(found[i].name);
  }
  return text;
}

// Parses element/block/scale[/tensor scale][/zero point]. An error message begins with the wrong part.
Status parse_parts(std::span<const std::string_view> words, Format &parts) {
  const auto wrong = [](const char *part, std::string_view word, const char *expected) {
    return invalid("%s is \"%.*s\", expected %s", part, static_cast<int>(word.size()), word.data(), expected);
  };
  if (!parse_plain(words[0], parts.element)) return wrong("element", words[0], "a plain format such as e4m3fn");
  const bool is_tensor = words[1] == "tensor";
  if (is_tensor && words.size() > 3) return wrong("block", words[1], "no second scale behind it");
  if (!is_tensor && !parse_block(words[1], parts)) {
    return wrong("block", words[1], "tensor, row, column, or ROWSxCOLUMNS of powers of two or whole");
  }
  LPT_TRY(check_extent(is_tensor, "block_rows", parts.block_rows));
  LPT_TRY(check_extent(is_tensor, "block_columns", parts.block_columns));
  if (!parse_plain(words[2], is_tensor ? parts.tensor_scale : parts.block_scale)) {
    return wrong("scale", words[2], is_tensor ? "f32" : "f32, e8m0fnu or e4m3fn");
  }
  for (const std::string_view word : words.subspan(3)) {
    lpt_format plain = LPT_FORMAT_NONE;
    if (!parse_plain(word, plain)) return wrong("tensor scale", word, "f32, or uint8 for zero points");
    lpt_format &part = plain == LPT_FORMAT_UINT8 ? parts.zero_point : parts.tensor_scale;
    if (part != LPT_FORMAT_NONE) return wrong("tensor scale", word, "one f32 and one uint8 at most");
    part = plain;
  }
  return {};
}

}  // namespace

namespace {

constexpr std::string_view kSparseName = "/2:4";

// Parses a name with the suffix /2:4.
Status sparse_from_name(const char *name, lpt_format &out_format) {
  const std::string dense(name, std::string_view(name).size() - kSparseName.size());
  lpt_format id = LPT_FORMAT_NONE;
  Format parts;
  LPT_TRY(format_from_name(dense.c_str(), id));
  find_format(id, parts);
  if (parts.is_sparse) return invalid("name is \"%s\": expected /2:4 once", name);
  parts.is_sparse = true;
  const Status status = make_format(parts, out_format);
  return status.is_ok() ? status : invalid("name is \"%s\": %s", name, status.message().c_str());
}

}  // namespace

Status format_from_name(const char *name, lpt_format &out_format) {
  if (std::string_view(name).ends_with(kSparseName)) return sparse_from_name(name, out_format);
  if (const Preset *preset = find_preset(std::string_view(name))) {
    out_format = preset->format.id;
    return {};
  }
  if (parse_plain(name, out_format)) return {};
  const std::vector<std::string_view> words = split(name);
  if (words.size() < 3 || words.size() > 5) {
    const std::string similar = words.size() == 1 ? similar_presets(name) : "";
    return invalid("name is \"%s\": expected a preset such as nvfp4, or element/block/scale[/tensor_scale][/uint8]%s",
                   name, similar.c_str());
  }
  Format parts;
  Status status = parse_parts(words, parts);
  if (status.is_ok()) status = make_format(parts, out_format);
  if (status.is_ok()) return {};
  return invalid("name is \"%s\": %s", name, status.message().c_str());
}

std::string format_name(lpt_format id) {
  Format format;
  if (!find_format(id, format)) return text("format %lld", static_cast<long long>(id));
  if (const char *name = preset_name(format.id)) return name;
  if (format.is_sparse) return format_name(dense_format(id)).append(kSparseName);
  CustomElement own;
  if (format.is_plain() && read_custom(id, own)) return own_name(own);
  std::string name = format_name(format.element);
  const auto add = [&](const std::string &word) { name.append("/").append(word); };
  add(block_name(format));
  if (format.has_block_scale()) add(format_name(format.block_scale));
  if (format.has_tensor_scale()) add(format_name(format.tensor_scale));
  if (format.has_zero_point()) add(format_name(format.zero_point));
  return name;
}

}  // namespace lpt
