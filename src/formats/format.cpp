// A format that is no preset spells its parts in its bits:
//
//   62          set, so that it is no preset
//   0-7         element
//   8-15        block scale
//   16-23       tensor scale
//   24-28       log2 of block_rows; 31 stands for LPT_WHOLE
//   29-33       log2 of block_columns; 31 stands for LPT_WHOLE
//
// All other bits are zero, absent parts too. Only a canonical number is a format: it has no preset and no stray bits.
#include "src/formats/format.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cfloat>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

namespace lpt {
namespace {

constexpr int32_t kLargestBlockExtent = 1 << 20;
constexpr lpt_format kDescribedBit = lpt_format{1} << 62;
constexpr int kWholeLog2 = 31;

// What a plain format is by itself.
struct Plain {
  int32_t bits = 0;
  int32_t exponent_bits = 0;
  int32_t mantissa_bits = 0;
  int32_t exponent_bias = 0;
  lpt_special special = LPT_SPECIAL_NONE;
  double largest = 0;
  const Element *element = nullptr;  // nullptr: it is not encoded
};

struct Preset {
  const char *name;
  Format format;
  Plain plain = {};
};

constexpr Format plain(lpt_format id) { return {.id = id, .element = id}; }

constexpr Format per_tensor(lpt_format id, lpt_format element) {
  return {.id = id, .element = element, .tensor_scale = LPT_FORMAT_F32};
}

constexpr Format per_block(lpt_format id, lpt_format element, int32_t rows, int32_t columns, lpt_format block_scale,
                           lpt_format tensor_scale = LPT_FORMAT_NONE) {
  return {.id = id,
          .element = element,
          .block_scale = block_scale,
          .tensor_scale = tensor_scale,
          .block_rows = rows,
          .block_columns = columns};
}

// clang-format off
constexpr Preset kPresets[] = {
    //                             bits  e   m  bias  special                largest    element
    {"f64",     plain(LPT_FORMAT_F64),     {64, 11, 52, 1023, LPT_SPECIAL_IEEE,     DBL_MAX,   nullptr}},
    {"f32",     plain(LPT_FORMAT_F32),     {32,  8, 23,  127, LPT_SPECIAL_IEEE,     FLT_MAX,   nullptr}},
    {"f16",     plain(LPT_FORMAT_F16),     {16,  5, 10,   15, LPT_SPECIAL_IEEE,     65504,     &kElementF16}},
    {"bf16",    plain(LPT_FORMAT_BF16),    {16,  8,  7,  127, LPT_SPECIAL_IEEE,     0x1.FEp127, &kElementBf16}},
    {"e4m3fn",  plain(LPT_FORMAT_E4M3FN),  { 8,  4,  3,    7, LPT_SPECIAL_NAN_ONES, 448,       &kElementE4m3fn}},
    {"e4m3",    plain(LPT_FORMAT_E4M3),    { 8,  4,  3,    7, LPT_SPECIAL_IEEE,     240,       &kElementE4m3}},
    {"e5m2",    plain(LPT_FORMAT_E5M2),    { 8,  5,  2,   15, LPT_SPECIAL_IEEE,     57344,     &kElementE5m2}},
    {"e2m1fn",  plain(LPT_FORMAT_E2M1FN),  { 4,  2,  1,    1, LPT_SPECIAL_NONE,     6,         &kElementE2m1fn}},
    {"e8m0fnu", plain(LPT_FORMAT_E8M0FNU), { 8,  8,  0,  127, LPT_SPECIAL_NAN_ONES, 0x1p127,   &kElementE8m0fnu}},
    {"int8",    plain(LPT_FORMAT_INT8),    { 8,  0,  7,    0, LPT_SPECIAL_INTEGER,  127,       &kElementInt8}},
    {"uint8",   plain(LPT_FORMAT_UINT8),   { 8,  0,  8,    0, LPT_SPECIAL_INTEGER,  255,       nullptr}},

    {"e4m3fn_tensor",  per_tensor(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN)},
    {"e4m3fn_row",     per_block(LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN, 1, LPT_WHOLE, LPT_FORMAT_F32)},
    {"e4m3fn_1x128",   per_block(LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN, 1, 128, LPT_FORMAT_F32)},
    {"e4m3fn_128x128", per_block(LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E4M3FN, 128, 128, LPT_FORMAT_F32)},
    {"e4m3_tensor",    per_tensor(LPT_FORMAT_E4M3_TENSOR, LPT_FORMAT_E4M3)},
    {"e4m3_row",       per_block(LPT_FORMAT_E4M3_ROW, LPT_FORMAT_E4M3, 1, LPT_WHOLE, LPT_FORMAT_F32)},
    {"e5m2_tensor",    per_tensor(LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E5M2)},
    {"e5m2_row",       per_block(LPT_FORMAT_E5M2_ROW, LPT_FORMAT_E5M2, 1, LPT_WHOLE, LPT_FORMAT_F32)},
    {"e5m2_1x128",     per_block(LPT_FORMAT_E5M2_1X128, LPT_FORMAT_E5M2, 1, 128, LPT_FORMAT_F32)},
    {"e5m2_128x128",   per_block(LPT_FORMAT_E5M2_128X128, LPT_FORMAT_E5M2, 128, 128, LPT_FORMAT_F32)},
    {"mxfp8_e4m3",     per_block(LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_E4M3FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp8_e5m2",     per_block(LPT_FORMAT_MXFP8_E5M2, LPT_FORMAT_E5M2, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp4",          per_block(LPT_FORMAT_MXFP4, LPT_FORMAT_E2M1FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"nvfp4",          per_block(LPT_FORMAT_NVFP4, LPT_FORMAT_E2M1FN, 1, 16, LPT_FORMAT_E4M3FN, LPT_FORMAT_F32)},
    {"int8_tensor",    per_tensor(LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_INT8)},
    {"int8_row",       per_block(LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8, 1, LPT_WHOLE, LPT_FORMAT_F32)},
    {"f16_tensor",     per_tensor(LPT_FORMAT_F16_TENSOR, LPT_FORMAT_F16)},
};
// clang-format on

const Preset *find_preset(lpt_format id) {
  for (const Preset &preset : kPresets) {
    if (preset.format.id == id) return &preset;
  }
  return nullptr;
}

const Preset *find_preset(std::string_view name) {
  for (const Preset &preset : kPresets) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

bool has_same_parts(const Format &a, const Format &b) {
  return a.element == b.element && a.block_scale == b.block_scale && a.tensor_scale == b.tensor_scale &&
         a.block_rows == b.block_rows && a.block_columns == b.block_columns;
}

const Plain *find_plain(lpt_format id) {
  const Preset *preset = find_preset(id);
  return preset != nullptr && preset->format.is_plain() ? &preset->plain : nullptr;
}

const Plain &plain_of(lpt_format id) {
  const Plain *found = find_plain(id);
  assert(found != nullptr && "only a plain format has an element of its own");
  return *found;
}

bool is_block_extent(int32_t extent) {
  return extent == LPT_WHOLE ||
         (extent > 0 && extent <= kLargestBlockExtent && std::has_single_bit(static_cast<uint32_t>(extent)));
}

lpt_format extent_bits(int32_t extent) {
  if (extent == LPT_WHOLE) return kWholeLog2;
  return extent == 0 ? 0 : std::countr_zero(static_cast<uint32_t>(extent));
}

int32_t extent_from_bits(lpt_format bits) {
  const int log2 = static_cast<int>(bits & 31);
  return log2 == kWholeLog2 ? LPT_WHOLE : int32_t{1} << log2;
}

lpt_format described_id(const Format &parts) {
  return kDescribedBit | parts.element | parts.block_scale << 8 | parts.tensor_scale << 16 |
         extent_bits(parts.block_rows) << 24 | extent_bits(parts.block_columns) << 29;
}

Format described_parts(lpt_format id) {
  Format parts = {.id = id, .element = id & 0xFF, .block_scale = (id >> 8) & 0xFF, .tensor_scale = (id >> 16) & 0xFF};
  if (parts.has_block_scale()) {
    parts.block_rows = extent_from_bits(id >> 24);
    parts.block_columns = extent_from_bits(id >> 29);
  }
  return parts;
}

// "e2m1fn" quoted; a number where there is no name.
std::string said(lpt_format id) { return id == LPT_FORMAT_NONE ? "none" : format_name(id); }

Status check_extent(const char *member, int32_t extent) {
  if (is_block_extent(extent)) return {};
  return invalid("%s is %d, expected a power of two up to %d, or LPT_WHOLE", member, extent, kLargestBlockExtent);
}

Status check_parts(const Format &parts) {
  const Plain *element = find_plain(parts.element);
  if (element == nullptr) {
    return invalid("element is %s, expected a plain format such as e4m3fn", said(parts.element).c_str());
  }
  // A scale multiplies what is encoded with a sign: neither scales (e8m0fnu) nor bytes nor wide floats.
  if (!parts.is_plain() && (element->element == nullptr || !element->element->is_signed)) {
    return invalid("element is %s, expected with scales: f16, bf16, e4m3fn, e4m3, e5m2, e2m1fn or int8",
                   said(parts.element).c_str());
  }
  if (parts.has_tensor_scale() && parts.tensor_scale != LPT_FORMAT_F32) {
    return invalid("tensor_scale is %s, expected f32 or none", said(parts.tensor_scale).c_str());
  }
  if (!parts.has_block_scale()) {
    if (parts.block_rows == 0 && parts.block_columns == 0) return {};
    return invalid("block_rows is %d and block_columns is %d, expected 0 and 0: block_scale is none", parts.block_rows,
                   parts.block_columns);
  }
  if (parts.block_scale != LPT_FORMAT_F32 && parts.block_scale != LPT_FORMAT_E8M0FNU &&
      parts.block_scale != LPT_FORMAT_E4M3FN) {
    return invalid("block_scale is %s, expected f32, e8m0fnu, e4m3fn or none", said(parts.block_scale).c_str());
  }
  LPT_TRY(check_extent("block_rows", parts.block_rows));
  LPT_TRY(check_extent("block_columns", parts.block_columns));
  if (parts.block_rows == LPT_WHOLE && parts.block_columns == LPT_WHOLE) {
    return invalid(
        "block_rows and block_columns are both LPT_WHOLE, expected at most one: a scale of the whole tensor is a "
        "tensor_scale");
  }
  return {};
}

std::string extent_name(int32_t extent) { return extent == LPT_WHOLE ? "whole" : std::to_string(extent); }

std::string block_name(const Format &format) {
  if (!format.has_block_scale()) return "tensor";
  if (format.block_rows == 1 && format.block_columns == LPT_WHOLE) return "row";
  if (format.block_rows == LPT_WHOLE && format.block_columns == 1) return "column";
  return extent_name(format.block_rows) + "x" + extent_name(format.block_columns);
}

// Digits without a leading zero, or "whole".
bool parse_extent(std::string_view word, int32_t &out_extent) {
  if (word == "whole") {
    out_extent = LPT_WHOLE;
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
  const Preset *preset = find_preset(word);
  if (preset == nullptr || !preset->format.is_plain()) return false;
  out_format = preset->format.id;
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

// Reads element/block/scale[/tensor_scale]; a message begins with the word that is wrong.
Status parse_parts(std::span<const std::string_view> words, Format &parts) {
  const auto wrong = [](const char *part, std::string_view word, const char *expected) {
    return invalid("%s is \"%.*s\", expected %s", part, static_cast<int>(word.size()), word.data(), expected);
  };
  if (!parse_plain(words[0], parts.element)) return wrong("element", words[0], "a plain format such as e4m3fn");
  const bool is_tensor = words[1] == "tensor";
  if (is_tensor && words.size() == 4) return wrong("block", words[1], "no second scale behind it");
  if (!is_tensor && !parse_block(words[1], parts)) {
    return wrong("block", words[1], "tensor, row, column, or ROWSxCOLUMNS of powers of two or whole");
  }
  if (!parse_plain(words[2], is_tensor ? parts.tensor_scale : parts.block_scale)) {
    return wrong("scale", words[2], is_tensor ? "f32" : "f32, e8m0fnu or e4m3fn");
  }
  if (words.size() == 4 && !parse_plain(words[3], parts.tensor_scale)) return wrong("tensor scale", words[3], "f32");
  return {};
}

Status check_told(const char *member, double given, double real, lpt_format id) {
  if (given == 0 || given == real) return {};
  return invalid("%s is %g, expected 0 or %g as %s has it", member, given, real, format_name(id).c_str());
}

}  // namespace

int32_t element_bits(lpt_format plain) { return plain_of(plain).bits; }

bool has_element(lpt_format plain) {
  const Plain *found = find_plain(plain);
  return found != nullptr && found->element != nullptr;
}

Element element_of(lpt_format plain) {
  assert(has_element(plain));
  return *plain_of(plain).element;
}

float largest_of(lpt_format plain) {
  return static_cast<float>(std::min(plain_of(plain).largest, static_cast<double>(FLT_MAX)));
}

bool find_format(lpt_format id, Format &out_format) {
  if (const Preset *preset = find_preset(id)) {
    out_format = preset->format;
    return true;
  }
  if (id < kDescribedBit) return false;
  const Format parts = described_parts(id);
  lpt_format canonical = LPT_FORMAT_NONE;
  if (!make_format(parts, canonical).is_ok() || canonical != id) return false;
  out_format = parts;
  return true;
}

Status make_format(Format parts, lpt_format &out_format) {
  LPT_TRY(check_parts(parts));
  for (const Preset &preset : kPresets) {
    if (has_same_parts(preset.format, parts)) {
      out_format = preset.format.id;
      return {};
    }
  }
  out_format = described_id(parts);
  return {};
}

Status format_from_name(const char *name, lpt_format &out_format) {
  if (const Preset *preset = find_preset(std::string_view(name))) {
    out_format = preset->format.id;
    return {};
  }
  const std::vector<std::string_view> words = split(name);
  if (words.size() != 3 && words.size() != 4) {
    return invalid("name is \"%s\", expected a preset such as nvfp4, or element/block/scale[/tensor_scale]", name);
  }
  Format parts;
  Status status = parse_parts(words, parts);
  if (status.is_ok()) status = make_format(parts, out_format);
  if (status.is_ok()) return {};
  return invalid("name is \"%s\": %s", name, status.message().c_str());
}

std::string format_name(lpt_format id) {
  if (const Preset *preset = find_preset(id)) return preset->name;
  Format format;
  if (!find_format(id, format)) return text("format %lld", static_cast<long long>(id));
  std::string name = format_name(format.element) + "/" + block_name(format);
  if (format.has_block_scale()) name += "/" + format_name(format.block_scale);
  if (format.has_tensor_scale()) name += "/" + format_name(format.tensor_scale);
  return name;
}

Status describe_format(lpt_format id, lpt_format_description &out_description) {
  Format format;
  if (!find_format(id, format)) return invalid("format is %lld, expected a format", static_cast<long long>(id));
  const Plain &element = plain_of(format.element);
  out_description = {.struct_size = sizeof(lpt_format_description),
                     .element = format.element,
                     .block_scale = format.block_scale,
                     .tensor_scale = format.tensor_scale,
                     .block_rows = format.block_rows,
                     .block_columns = format.block_columns,
                     .element_bits = element.bits,
                     .exponent_bits = element.exponent_bits,
                     .mantissa_bits = element.mantissa_bits,
                     .exponent_bias = element.exponent_bias,
                     .special = element.special,
                     .reserved = 0,
                     .largest = element.largest};
  return {};
}

Status format_from_description(const lpt_format_description &description, lpt_format &out_format) {
  lpt_format id = LPT_FORMAT_NONE;
  LPT_TRY(make_format({.element = description.element,
                       .block_scale = description.block_scale,
                       .tensor_scale = description.tensor_scale,
                       .block_rows = description.block_rows,
                       .block_columns = description.block_columns},
                      id));
  const Plain &element = plain_of(description.element);
  LPT_TRY(check_told("element_bits", description.element_bits, element.bits, description.element));
  LPT_TRY(check_told("exponent_bits", description.exponent_bits, element.exponent_bits, description.element));
  LPT_TRY(check_told("mantissa_bits", description.mantissa_bits, element.mantissa_bits, description.element));
  LPT_TRY(check_told("exponent_bias", description.exponent_bias, element.exponent_bias, description.element));
  LPT_TRY(check_told("special", description.special, element.special, description.element));
  LPT_TRY(check_told("largest", description.largest, element.largest, description.element));
  if (description.reserved != 0) return invalid("reserved is %d, expected 0", description.reserved);
  out_format = id;
  return {};
}

BlockGrid block_grid(const Format &format, int64_t rows, int64_t columns) {
  // Without block scales, block extents are 0: the matrix is one block, as with LPT_WHOLE.
  const auto extent = [](int32_t block, int64_t whole) { return block > 0 ? block : std::max<int64_t>(whole, 1); };
  const auto blocks = [](int64_t whole, int64_t block) { return whole / block + (whole % block != 0); };
  const int64_t block_rows = extent(format.block_rows, rows);
  const int64_t block_columns = extent(format.block_columns, columns);
  return {block_rows, block_columns, blocks(rows, block_rows), blocks(columns, block_columns)};
}

}  // namespace lpt
