// A format that is not a preset is described by the bits of its identifier:
//
//   62          1: not a preset
//   0-7         element
//   8-15        block scale
//   16-23       tensor scale
//   24-28       log2 of block_rows; 31 means LPT_BLOCK_EXTENT_FULL
//   29-33       log2 of block_columns; 31 means LPT_BLOCK_EXTENT_FULL
//   34-41       zero point
//   42-59       custom element if bits 0-7 are zero: see custom_element.hpp
//   60          2:4
//
// All other bits are zero. The bits of absent parts are zero.
#include "src/formats/format.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cfloat>

#include "src/formats/custom_element.hpp"

namespace lpt {
namespace {

// A plain format: a preset or a custom element.
struct PlainLookup {
  bool is_found = false;
  Plain plain;
  Element element = {};
  bool is_encoded = false;
};

PlainLookup find_plain(lpt_format id) {
  if (const PlainPreset *preset = find_plain_preset(id)) {
    const Plain &plain = preset->plain;
    return {true, plain, plain.element != nullptr ? *plain.element : Element{}, plain.element != nullptr};
  }
  CustomElement own;
  if (!read_custom(id, own)) return {};
  return {true, plain_of_own(own), element_of_own(own), true};
}

// Presets.

constexpr Format per_tensor(lpt_format id, lpt_format element) {
  return {.id = id, .element = element, .tensor_scale = LPT_FORMAT_F32};
}

constexpr Format per_block(lpt_format id, lpt_format element, int32_t rows, int32_t columns, lpt_format block_scale,
                           lpt_format tensor_scale = LPT_FORMAT_NONE, lpt_format zero_point = LPT_FORMAT_NONE) {
  return {.id = id,
          .element = element,
          .block_scale = block_scale,
          .tensor_scale = tensor_scale,
          .block_rows = rows,
          .block_columns = columns,
          .zero_point = zero_point};
}

constexpr Format with_zero(lpt_format id, lpt_format element, int32_t columns) {
  return per_block(id, element, 1, columns, LPT_FORMAT_F32, LPT_FORMAT_NONE, LPT_FORMAT_UINT8);
}

// clang-format off
constexpr Preset kPresets[] = {
    {"e4m3fn_tensor",  per_tensor(LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E4M3FN)},
    {"e4m3fn_row",     per_block(LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"e4m3fn_1x128",   per_block(LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN, 1, 128, LPT_FORMAT_F32)},
    {"e4m3fn_128x128", per_block(LPT_FORMAT_E4M3FN_128X128, LPT_FORMAT_E4M3FN, 128, 128, LPT_FORMAT_F32)},
    {"e4m3_tensor",    per_tensor(LPT_FORMAT_E4M3_TENSOR, LPT_FORMAT_E4M3)},
    {"e4m3_row",       per_block(LPT_FORMAT_E4M3_ROW, LPT_FORMAT_E4M3, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"e5m2_tensor",    per_tensor(LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_E5M2)},
    {"e5m2_row",       per_block(LPT_FORMAT_E5M2_ROW, LPT_FORMAT_E5M2, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"e5m2_1x128",     per_block(LPT_FORMAT_E5M2_1X128, LPT_FORMAT_E5M2, 1, 128, LPT_FORMAT_F32)},
    {"e5m2_128x128",   per_block(LPT_FORMAT_E5M2_128X128, LPT_FORMAT_E5M2, 128, 128, LPT_FORMAT_F32)},
    {"mxfp8_e4m3",     per_block(LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_E4M3FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp8_e5m2",     per_block(LPT_FORMAT_MXFP8_E5M2, LPT_FORMAT_E5M2, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp4",          per_block(LPT_FORMAT_MXFP4, LPT_FORMAT_E2M1FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"nvfp4",          per_block(LPT_FORMAT_NVFP4, LPT_FORMAT_E2M1FN, 1, 16, LPT_FORMAT_E4M3FN, LPT_FORMAT_F32)},
    {"int8_tensor",    per_tensor(LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_INT8)},
    {"int8_row",       per_block(LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT8, 1, LPT_BLOCK_EXTENT_FULL, LPT_FORMAT_F32)},
    {"f16_tensor",     per_tensor(LPT_FORMAT_F16_TENSOR, LPT_FORMAT_F16)},
    {"mxfp6_e3m2",     per_block(LPT_FORMAT_MXFP6_E3M2, LPT_FORMAT_E3M2FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxfp6_e2m3",     per_block(LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_E2M3FN, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"mxint8",         per_block(LPT_FORMAT_MXINT8, LPT_FORMAT_Q1_6, 1, 32, LPT_FORMAT_E8M0FNU)},
    {"nvfp4_16x16",    per_block(LPT_FORMAT_NVFP4_16X16, LPT_FORMAT_E2M1FN, 16, 16, LPT_FORMAT_E4M3FN, LPT_FORMAT_F32)},
    {"int4_1x32",      per_block(LPT_FORMAT_INT4_1X32, LPT_FORMAT_INT4, 1, 32, LPT_FORMAT_F32)},
    {"int4_1x64",      per_block(LPT_FORMAT_INT4_1X64, LPT_FORMAT_INT4, 1, 64, LPT_FORMAT_F32)},
    {"int4_1x128",     per_block(LPT_FORMAT_INT4_1X128, LPT_FORMAT_INT4, 1, 128, LPT_FORMAT_F32)},
    {"uint4_1x32",     with_zero(LPT_FORMAT_UINT4_1X32, LPT_FORMAT_UINT4, 32)},
    {"uint4_1x64",     with_zero(LPT_FORMAT_UINT4_1X64, LPT_FORMAT_UINT4, 64)},
    {"uint4_1x128",    with_zero(LPT_FORMAT_UINT4_1X128, LPT_FORMAT_UINT4, 128)},
    {"int8_1x32",      per_block(LPT_FORMAT_INT8_1X32, LPT_FORMAT_INT8, 1, 32, LPT_FORMAT_F32)},
    {"int16_tensor",   per_tensor(LPT_FORMAT_INT16_TENSOR, LPT_FORMAT_INT16)},
    {"e3m0_tensor",    per_tensor(LPT_FORMAT_E3M0_TENSOR, LPT_FORMAT_E3M0)},
    {"ternary_tensor", per_tensor(LPT_FORMAT_TERNARY_TENSOR, LPT_FORMAT_TERNARY)},
    {"e4m3fnuz_tensor", per_tensor(LPT_FORMAT_E4M3FNUZ_TENSOR, LPT_FORMAT_E4M3FNUZ)},
    {"e5m2fnuz_tensor", per_tensor(LPT_FORMAT_E5M2FNUZ_TENSOR, LPT_FORMAT_E5M2FNUZ)},
    {"nf4_1x64",       per_block(LPT_FORMAT_NF4_1X64, LPT_FORMAT_NF4, 1, 64, LPT_FORMAT_F32)},
    {"bnb_fp4_1x64",   per_block(LPT_FORMAT_BNB_FP4_1X64, LPT_FORMAT_BNB_FP4, 1, 64, LPT_FORMAT_F32)},
};
// clang-format on

bool has_same_parts(const Format &a, const Format &b) {
  return a.element == b.element && a.block_scale == b.block_scale && a.tensor_scale == b.tensor_scale &&
         a.block_rows == b.block_rows && a.block_columns == b.block_columns && a.zero_point == b.zero_point;
}

// Described formats.

constexpr int32_t kLargestBlockExtent = 1 << 20;
constexpr int kWholeLog2 = 31;
constexpr lpt_format kSparseBit = lpt_format{1} << 60;
constexpr int32_t kSparseKept = 2;
constexpr int32_t kSparseOf = 4;

bool is_block_extent(int32_t extent) {
  return extent == LPT_BLOCK_EXTENT_FULL ||
         (extent > 0 && extent <= kLargestBlockExtent && std::has_single_bit(static_cast<uint32_t>(extent)));
}

lpt_format extent_bits(int32_t extent) {
  if (extent == LPT_BLOCK_EXTENT_FULL) return kWholeLog2;
  return extent == 0 ? 0 : std::countr_zero(static_cast<uint32_t>(extent));
}

int32_t extent_from_bits(lpt_format bits) {
  const int log2 = static_cast<int>(bits & 31);
  return log2 == kWholeLog2 ? LPT_BLOCK_EXTENT_FULL : int32_t{1} << log2;
}

lpt_format described_id(const Format &parts) {
  return kDescribedBit | parts.element | parts.block_scale << 8 | parts.tensor_scale << 16 |
         extent_bits(parts.block_rows) << 24 | extent_bits(parts.block_columns) << 29 | parts.zero_point << 34 |
         (parts.is_sparse ? kSparseBit : 0);
}

Format described_parts(lpt_format id) {
  const lpt_format own = id & kOwnMask;
  Format parts = {.id = id,
                  .element = own != 0 ? kDescribedBit | own : id & 0xFF,
                  .block_scale = (id >> 8) & 0xFF,
                  .tensor_scale = (id >> 16) & 0xFF,
                  .zero_point = (id >> 34) & 0xFF,
                  .is_sparse = (id & kSparseBit) != 0};
  if (parts.has_block_scale()) {
    parts.block_rows = extent_from_bits(id >> 24);
    parts.block_columns = extent_from_bits(id >> 29);
  }
  return parts;
}

// Returns the name of a format for messages: "e2m1fn", "none", or "format <number>" for an invalid identifier.
std::string name_for_message(lpt_format id) { return id == LPT_FORMAT_NONE ? "none" : format_name(id); }

Status check_extent(const char *member, int32_t extent) {
  if (is_block_extent(extent)) return {};
  return invalid("%s is %d, expected a power of two up to %d, or LPT_BLOCK_EXTENT_FULL", member, extent,
                 kLargestBlockExtent);
}

Status check_zero_point(const Format &parts) {
  if (!parts.has_zero_point()) return {};
  if (parts.zero_point != LPT_FORMAT_UINT8) {
    return invalid("zero_point is %s, expected uint8 or none", name_for_message(parts.zero_point).c_str());
  }
  if (parts.element != LPT_FORMAT_UINT4 && parts.element != LPT_FORMAT_UINT8) {
    return invalid("zero_point is uint8 and element is %s: expected uint4 or uint8",
                   name_for_message(parts.element).c_str());
  }
  if (parts.block_scale != LPT_FORMAT_F32 || parts.has_tensor_scale()) {
    return invalid("zero_point is uint8: expected an f32 block scale and no tensor scale beside it");
  }
  return {};
}

Status check_parts(const Format &parts) {
  const PlainLookup found = find_plain(parts.element);
  if (!found.is_found) {
    return invalid("element is %s, expected a plain format such as e4m3fn", name_for_message(parts.element).c_str());
  }
  LPT_TRY(check_zero_point(parts));
  // A scale multiplies encoded elements, so neither scale formats (e8m0fnu) nor f32 and f64 can have scales. Unsigned
  // integers need zero points; otherwise negative values are lost.
  const bool is_scalable = found.is_encoded && !found.element.has_no_zero;
  const bool needs_zero = found.element.is_integer && !found.element.is_signed;
  if (!parts.is_plain() && (!is_scalable || (needs_zero && !parts.has_zero_point()))) {
    return invalid("element is %s, expected with scales a float of at most 16 bits, a signed integer or a list; %s",
                   name_for_message(parts.element).c_str(), "uint4 and uint8 go with zero points");
  }
  if (parts.has_tensor_scale() && parts.tensor_scale != LPT_FORMAT_F32) {
    return invalid("tensor_scale is %s, expected f32 or none", name_for_message(parts.tensor_scale).c_str());
  }
  if (!parts.has_block_scale()) {
    if (parts.block_rows == 0 && parts.block_columns == 0) return {};
    return invalid("block_rows is %d and block_columns is %d, expected 0 and 0: block_scale is none", parts.block_rows,
                   parts.block_columns);
  }
  if (parts.block_scale != LPT_FORMAT_F32 && parts.block_scale != LPT_FORMAT_E8M0FNU &&
      parts.block_scale != LPT_FORMAT_E4M3FN) {
    return invalid("block_scale is %s, expected f32, e8m0fnu, e4m3fn or none",
                   name_for_message(parts.block_scale).c_str());
  }
  LPT_TRY(check_extent("block_rows", parts.block_rows));
  LPT_TRY(check_extent("block_columns", parts.block_columns));
  if (parts.block_rows == LPT_BLOCK_EXTENT_FULL && parts.block_columns == LPT_BLOCK_EXTENT_FULL) {
    return invalid(
        "block_rows and block_columns are both LPT_BLOCK_EXTENT_FULL, expected at most one: a scale of the whole "
        "tensor is a "
        "tensor_scale");
  }
  return {};
}

// Elements that are not stored are zero, so code 0 of the element must be zero.
Status check_sparse(const Format &parts) {
  if (!parts.is_sparse) return {};
  const PlainLookup found = find_plain(parts.element);
  if (!found.is_encoded && parts.element != LPT_FORMAT_F32 && parts.element != LPT_FORMAT_F64) {
    return invalid("element is %s, expected with 2:4 a number", name_for_message(parts.element).c_str());
  }
  if (found.is_encoded && (found.element.has_no_zero || decode(found.element, 0) != 0.0f)) {
    return invalid("element is %s, expected with 2:4 one whose code 0 is zero",
                   name_for_message(parts.element).c_str());
  }
  if (parts.has_zero_point()) return invalid("zero_point is uint8, expected none with 2:4: its zeros are not code 0");
  return {};
}

Status check_reported(const char *member, double given, double real, lpt_format id) {
  if (given == 0 || given == real) return {};
  return invalid("%s is %g, expected 0 or %g as %s has it", member, given, real, format_name(id).c_str());
}

// Returns get(plain, element) of a plain format, where element is nullptr if it is not encoded. Nothing of a preset is copied,
// because these lookups are frequent.
template <typename Get>
auto get_plain(lpt_format id, const Get &get) {
  if (const PlainPreset *preset = find_plain_preset(id)) return get(preset->plain, preset->plain.element);
  const PlainLookup found = find_plain(id);
  assert(found.is_found && "only a plain format has an element of its own");
  return get(found.plain, &found.element);
}

}  // namespace

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

const Preset *find_preset_of_parts(const Format &parts) {
  for (const Preset &preset : kPresets) {
    if (has_same_parts(preset.format, parts)) return &preset;
  }
  return nullptr;
}

int32_t element_bits(lpt_format plain) {
  return get_plain(plain, [](const Plain &found, const Element *) { return found.bits; });
}

Packing packing_of(lpt_format plain) {
  return get_plain(plain, [](const Plain &found, const Element *element) {
    return element != nullptr ? packing_of(*element) : Packing{1, found.bits / 8};
  });
}

bool has_element(lpt_format plain) {
  if (const PlainPreset *preset = find_plain_preset(plain)) return preset->plain.element != nullptr;
  return find_plain(plain).is_encoded;
}

Element element_of(lpt_format plain) {
  assert(has_element(plain));
  return get_plain(plain, [](const Plain &, const Element *element) { return *element; });
}

float largest_of(lpt_format plain) {
  const double largest = get_plain(plain, [](const Plain &found, const Element *) { return found.largest; });
  return static_cast<float>(std::min(largest, static_cast<double>(FLT_MAX)));
}

int64_t format_count() { return plain_count() + std::ssize(kPresets); }

lpt_format format_at(int64_t index) {
  if (index < 0 || index >= format_count()) return LPT_FORMAT_NONE;
  const int64_t plains = plain_count();
  return index < plains ? index + 1 : kPresets[index - plains].format.id;
}

const char *preset_name(lpt_format id) {
  if (const PlainPreset *plain = find_plain_preset(id)) return plain->name;
  const Preset *preset = find_preset(id);
  return preset != nullptr ? preset->name : nullptr;
}

Status check_holds_numbers(lpt_format id, const char *name) {
  if (id != LPT_FORMAT_UINT8 && !is_index_format(id)) return {};
  return unsupported("%s is %s: it holds %s, not numbers", name, preset_name(id),
                     is_index_format(id) ? "indices" : "bytes");
}

Status check_format(lpt_format id, Format &out_format) {
  if (find_format(id, out_format)) return {};
  return invalid("format is %lld: expected one of lpt_format_values or a number of lpt_format_from_description()",
                 static_cast<long long>(id));
}

bool find_format(lpt_format id, Format &out_format) {
  if (const Preset *preset = find_preset(id)) {
    out_format = preset->format;
    return true;
  }
  if (find_plain(id).is_found) {
    out_format = {.id = id, .element = id};
    return true;
  }
  // The identifier of a custom element that is invalid is not a format. Return early: the error message of make_format()
  // contains its name, and format_name() calls find_format().
  if (id < kDescribedBit || (id & ~(kDescribedBit | kOwnMask)) == 0) return false;
  // Parts that equal a preset get the identifier of the preset. If a release adds a preset, identifiers saved by earlier
  // releases remain valid.
  const Format parts = described_parts(id);
  lpt_format canonical = LPT_FORMAT_NONE;
  if (!make_format(parts, canonical).is_ok() || described_id(parts) != id || canonical == parts.element) return false;
  out_format = parts;
  out_format.id = canonical;
  return true;
}

Status make_format(Format parts, lpt_format &out_format) {
  LPT_TRY(check_parts(parts));
  LPT_TRY(check_sparse(parts));
  if (parts.is_sparse) {
    out_format = described_id(parts);
    return {};
  }
  const Preset *preset = find_preset_of_parts(parts);
  out_format = parts.is_plain() ? parts.element : preset != nullptr ? preset->format.id : described_id(parts);
  return {};
}

namespace {

lpt_format with_sparsity(lpt_format id, bool is_sparse) {
  Format parts;
  lpt_format result = LPT_FORMAT_NONE;
  if (!find_format(id, parts)) return result;
  parts.is_sparse = is_sparse;
  if (!make_format(parts, result).is_ok()) return LPT_FORMAT_NONE;
  return result;
}

}  // namespace

lpt_format dense_format(lpt_format id) { return with_sparsity(id, false); }
lpt_format sparse_format(lpt_format id) { return with_sparsity(id, true); }

Status describe_format(lpt_format id, lpt_format_description &out_description) {
  Format format;
  LPT_TRY(check_format(id, format));
  const Plain element = find_plain(format.element).plain;
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
                     .largest = element.largest,
                     .zero_point = format.zero_point,
                     .sparse_kept = format.is_sparse ? kSparseKept : 0,
                     .sparse_of = format.is_sparse ? kSparseOf : 0};
  return {};
}

namespace {

// Returns the named element, or the custom element that the four numbers describe.
Status described_element(const lpt_format_description &description, lpt_format &out_element) {
  out_element = description.element;
  if (description.element != LPT_FORMAT_NONE || description.exponent_bits == 0) return {};
  CustomElement own;
  own.exponent_bits = description.exponent_bits;
  own.mantissa_bits = description.mantissa_bits;
  own.bias = description.exponent_bias;
  own.special = description.special;
  own.is_signed = description.element_bits != int64_t{own.exponent_bits} + own.mantissa_bits;
  LPT_TRY(check_own(own));
  const int32_t unsigned_bits = own.exponent_bits + own.mantissa_bits;
  if (own.is_signed && description.element_bits != unsigned_bits + 1) {
    return invalid("element_bits is %d, expected %d with a sign or %d without", description.element_bits,
                   unsigned_bits + 1, unsigned_bits);
  }
  out_element = format_of_own(own);
  return {};
}

}  // namespace

Status format_from_description(const lpt_format_description &description, lpt_format &out_format) {
  lpt_format id = LPT_FORMAT_NONE;
  lpt_format element_id = LPT_FORMAT_NONE;
  LPT_TRY(described_element(description, element_id));
  const bool is_sparse = description.sparse_kept == kSparseKept && description.sparse_of == kSparseOf;
  if (!is_sparse && (description.sparse_kept != 0 || description.sparse_of != 0)) {
    return invalid("sparse_kept is %d and sparse_of is %d, expected 2 and 4, or 0 and 0", description.sparse_kept,
                   description.sparse_of);
  }
  LPT_TRY(make_format({.element = element_id,
                       .block_scale = description.block_scale,
                       .tensor_scale = description.tensor_scale,
                       .block_rows = description.block_rows,
                       .block_columns = description.block_columns,
                       .zero_point = description.zero_point,
                       .is_sparse = is_sparse},
                      id));
  const Plain element = find_plain(element_id).plain;
  LPT_TRY(check_reported("element_bits", description.element_bits, element.bits, element_id));
  LPT_TRY(check_reported("exponent_bits", description.exponent_bits, element.exponent_bits, element_id));
  LPT_TRY(check_reported("mantissa_bits", description.mantissa_bits, element.mantissa_bits, element_id));
  LPT_TRY(check_reported("exponent_bias", description.exponent_bias, element.exponent_bias, element_id));
  LPT_TRY(check_reported("special", description.special, element.special, element_id));
  LPT_TRY(check_reported("largest", description.largest, element.largest, element_id));
  if (description.reserved != 0) return invalid("reserved is %d, expected 0", description.reserved);
  out_format = id;
  return {};
}

BlockGrid block_grid(const Format &format, int64_t rows, int64_t columns) {
  // Without block scales, the extents are 0 and the matrix is one block, as with LPT_BLOCK_EXTENT_FULL.
  const auto extent = [](int32_t block, int64_t whole) { return block > 0 ? block : std::max<int64_t>(whole, 1); };
  const auto blocks = [](int64_t whole, int64_t block) { return whole / block + (whole % block != 0); };
  const int64_t block_rows = extent(format.block_rows, rows);
  const int64_t block_columns = extent(format.block_columns, columns);
  return {block_rows, block_columns, blocks(rows, block_rows), blocks(columns, block_columns)};
}

int64_t block_scale_count(const Format &format, int64_t rows, int64_t columns) {
  if (!format.has_block_scale()) return 0;
  const BlockGrid grid = block_grid(format, rows, columns);
  return grid.rows * grid.columns;
}

}  // namespace lpt
