// Formats: the table of presets, and the bits of a format that is not a preset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lpt.h"
#include "src/base/status.hpp"
#include "src/formats/plain.hpp"

namespace lpt {

// The parts of a format. Extents of a block are powers of two, or LPT_BLOCK_EXTENT_FULL. Kernels also use this type. The
// member functions that kernels call are always inlined, so that object files of kernels contain no weak functions.
struct Format {
  lpt_format id = LPT_FORMAT_NONE;
  lpt_format element = LPT_FORMAT_NONE;
  lpt_format block_scale = LPT_FORMAT_NONE;
  lpt_format tensor_scale = LPT_FORMAT_NONE;
  int32_t block_rows = 0;
  int32_t block_columns = 0;
  lpt_format zero_point = LPT_FORMAT_NONE;  // one for each block scale
  bool is_sparse = false;                   // 2:4: two of every four columns are stored, with their indices

  [[gnu::always_inline]] bool has_zero_point() const { return zero_point != LPT_FORMAT_NONE; }
  [[gnu::always_inline]] bool has_block_scale() const { return block_scale != LPT_FORMAT_NONE; }
  [[gnu::always_inline]] bool has_tensor_scale() const { return tensor_scale != LPT_FORMAT_NONE; }
  bool is_plain() const { return !has_block_scale() && !has_tensor_scale(); }
};

// Returns the bits of a code of a plain format: 64 for f64, 4 for e2m1fn.
int32_t element_bits(lpt_format plain);

// Returns how the codes of a plain format are stored, including f32 and f64.
Packing packing_of(lpt_format plain);

// Returns the bytes of `columns` adjacent codes that begin on a byte boundary.
constexpr int64_t packed_bytes(Packing packing, int64_t columns) {
  return (columns * packing.bytes + packing.elements - 1) / packing.elements;
}
inline int64_t row_bytes(lpt_format plain, int64_t columns) { return packed_bytes(packing_of(plain), columns); }

// Returns whether the format holds integers that select rows or classes. They are stored, copied and sent unchanged. Casts
// and arithmetic reject them.
constexpr bool is_index_format(lpt_format id) { return id == LPT_FORMAT_INT32 || id == LPT_FORMAT_INT64; }

// Returns whether the format is f32, bf16 or f16, in which models compute.
constexpr bool is_float_dtype(lpt_format id) {
  return id == LPT_FORMAT_F32 || id == LPT_FORMAT_BF16 || id == LPT_FORMAT_F16;
}

// The element of a plain format of at most 16 bits. f32, f64 and index formats have none because they are not encoded.
bool has_element(lpt_format plain);
Element element_of(lpt_format plain);

// Returns the largest finite value of an element.
float largest_of(lpt_format plain);

// The presets with scales. The search functions return nullptr if no preset matches.
struct Preset {
  const char *name;
  Format format;
};

const Preset *find_preset(lpt_format id);
const Preset *find_preset(std::string_view name);
const Preset *find_preset_of_parts(const Format &parts);

// All presets in the order of their numbers, elements first. Return LPT_FORMAT_NONE or nullptr if no preset matches.
int64_t format_count();
lpt_format format_at(int64_t index);
const char *preset_name(lpt_format id);

// Returns false if the number is not a format.
bool find_format(lpt_format id, Format &out_format);

// Rejects uint8, which holds bytes, and index formats.
Status check_holds_numbers(lpt_format id, const char *name);

// Rejects a number that is not a format. The error contains the number.
Status check_format(lpt_format id, Format &out_format);

// Returns the format with these parts: a preset if one matches. The error names the wrong part.
Status make_format(Format parts, lpt_format &out_format);

Status format_from_name(const char *name, lpt_format &out_format);

// Returns a name such as "nvfp4". For an invalid number it returns "format 12345", so that messages are always complete.
std::string format_name(lpt_format id);

// Describes the meaning of the bytes in readable lines.
std::string format_text(const Format &format);

Status describe_format(lpt_format id, lpt_format_description &out_description);
Status format_from_description(const lpt_format_description &description, lpt_format &out_format);

// Return the same format with all columns stored, or with two of every four stored.
lpt_format dense_format(lpt_format id);
lpt_format sparse_format(lpt_format id);

// Returns how many of `columns` columns are stored: all, or two of every four.
constexpr int64_t stored_columns(const Format &format, int64_t columns) {
  return format.is_sparse ? (columns + 3) / 4 * 2 : columns;
}

// Returns the bytes of the 2:4 indices of one row: four bits for each group of four columns.
constexpr int64_t index_bytes(int64_t columns) { return (columns + 7) / 8; }

// The number of blocks that cover `rows` × `columns`.
struct BlockGrid {
  int64_t block_rows;  // extents of a block, with LPT_BLOCK_EXTENT_FULL resolved; at least 1
  int64_t block_columns;
  int64_t rows;  // extents of the grid
  int64_t columns;
};
BlockGrid block_grid(const Format &format, int64_t rows, int64_t columns);

// Returns the number of block scales of a matrix; 0 if the format has no block scales.
int64_t block_scale_count(const Format &format, int64_t rows, int64_t columns);

}  // namespace lpt
