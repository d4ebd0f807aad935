// What a format is: one table of presets, and the bits of a format that is no preset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lpt.h"
#include "src/base/status.hpp"
#include "src/formats/plain.hpp"

namespace lpt {

// A format taken apart. Extents of a block are powers of two, or LPT_BLOCK_EXTENT_FULL. Kernels read it too: what is always inlined
// leaves no weak function in their objects.
struct Format {
  lpt_format id = LPT_FORMAT_NONE;
  lpt_format element = LPT_FORMAT_NONE;
  lpt_format block_scale = LPT_FORMAT_NONE;
  lpt_format tensor_scale = LPT_FORMAT_NONE;
  int32_t block_rows = 0;
  int32_t block_columns = 0;
  lpt_format zero_point = LPT_FORMAT_NONE;  // one per block, beside its scale
  bool is_sparse = false;                   // 2:4: two of every four columns are stored, with their places

  [[gnu::always_inline]] bool has_zero_point() const { return zero_point != LPT_FORMAT_NONE; }
  [[gnu::always_inline]] bool has_block_scale() const { return block_scale != LPT_FORMAT_NONE; }
  [[gnu::always_inline]] bool has_tensor_scale() const { return tensor_scale != LPT_FORMAT_NONE; }
  bool is_plain() const { return !has_block_scale() && !has_tensor_scale(); }
};

// A plain format, of the table or the caller's own.
struct FoundPlain {
  bool is_found = false;
  Plain plain;
  Element element = {};
  bool is_encoded = false;
};
FoundPlain find_plain(lpt_format id);

// Bits of a code of a plain format: f64 has 64, e2m1fn 4.
int32_t element_bits(lpt_format plain);

// How the codes of a plain format lie in memory, f32 and f64 too.
Packing packing_of(lpt_format plain);

// Bytes of `columns` adjacent codes, the first one on a byte.
constexpr int64_t packed_bytes(Packing packing, int64_t columns) {
  return (columns * packing.bytes + packing.elements - 1) / packing.elements;
}
inline int64_t row_bytes(lpt_format plain, int64_t columns) { return packed_bytes(packing_of(plain), columns); }

// Integers that select rows or classes: stored, copied and sent as they are, and no operand of casts or arithmetic.
constexpr bool is_index_format(lpt_format id) { return id == LPT_FORMAT_INT32 || id == LPT_FORMAT_INT64; }

// The element of a plain format of at most 16 bits; f32, f64 and index formats have none (they are not encoded).
bool has_element(lpt_format plain);
Element element_of(lpt_format plain);

// The largest finite value of an element.
float largest_of(lpt_format plain);

// The presets with scales; nullptr where there is none.
struct Preset {
  const char *name;
  Format format;
};

const Preset *find_preset(lpt_format id);
const Preset *find_preset(std::string_view name);
const Preset *find_preset_of_parts(const Format &parts);

// All presets, elements first, in the order of their numbers. LPT_FORMAT_NONE and nullptr where there is none.
int64_t format_count();
lpt_format format_at(int64_t index);
const char *preset_name(lpt_format id);

// False for a number that is no format.
bool find_format(lpt_format id, Format &out_format);

// Rejects uint8, which holds bytes, and indices.
Status check_holds_numbers(lpt_format id, const char *name);

// An error names the number.
Status check_format(lpt_format id, Format &out_format);

// The format of its parts, as a preset if there is one. An error names the part.
Status make_format(Format parts, lpt_format &out_format);

Status format_from_name(const char *name, lpt_format &out_format);

// "nvfp4"; "format 12345" for a number that is none, so that messages can always say something.
std::string format_name(lpt_format id);

// What the bytes mean, in lines for people.
std::string format_text(const Format &format);

Status describe_format(lpt_format id, lpt_format_description &out_description);
Status format_from_description(const lpt_format_description &description, lpt_format &out_format);

// The same format with all columns stored, or with two of every four.
lpt_format dense_format(lpt_format id);
lpt_format sparse_format(lpt_format id);

// Columns that are stored of `columns`: all, or two of every four.
constexpr int64_t stored_columns(const Format &format, int64_t columns) {
  return format.is_sparse ? (columns + 3) / 4 * 2 : columns;
}

// Bytes of the places of one row: four bits for each group of four.
constexpr int64_t index_bytes(int64_t columns) { return (columns + 7) / 8; }

// How many blocks cover `rows` × `columns`.
struct BlockGrid {
  int64_t block_rows;  // extents of a block, LPT_BLOCK_EXTENT_FULL resolved; at least 1
  int64_t block_columns;
  int64_t rows;  // extents of the grid
  int64_t columns;
};
BlockGrid block_grid(const Format &format, int64_t rows, int64_t columns);

// Block scales of a matrix; 0 where the format has none.
int64_t block_scale_count(const Format &format, int64_t rows, int64_t columns);

}  // namespace lpt
