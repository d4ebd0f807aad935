// A GEMM operand in the form that the packing loops read. Included by ISA files: all functions have internal linkage.
//
// A lane is a row of a or a column of b: an index that is not summed over. The scale of a lane is applied once, to the sum.
// Scales that vary along k are applied when the elements are decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/exact.hpp"
#include "kernels/gemm/gemm.hpp"
#include "src/formats/element.hpp"
#include "src/formats/packed_codes.hpp"
#include "src/formats/view.hpp"

namespace lpt {
namespace {

// kTable decodes any element of at most 8 bits by the values of its codes.
enum class Decoder { kEightBits, kInt8, kBf16, kF16, kF32, kTable };

// bf16 of every magnitude of a float of at most 8 bits, as a table of low bytes and one of high bytes. Two byte look-ups decode
// a code.
struct ByteTable {
  alignas(64) uint8_t low[128];
  alignas(64) uint8_t high[128];
};

constexpr uint32_t bf16_of(const Element &element, uint32_t code) {
  if (code > element.max_code) {
    return code == element.infinity_code && element.infinity_code != element.nan_code ? 0x7F80 : 0x7FC0;
  }
  const int32_t mantissa = element.mantissa_bits;
  const int32_t biased = static_cast<int32_t>(code >> mantissa);
  uint32_t fraction = code & ((1u << mantissa) - 1);
  if (biased != 0) {
    return (static_cast<uint32_t>(biased - 1 + element.min_exponent + 127) << 7) | (fraction << (7 - mantissa));
  }
  if (fraction == 0) return 0;
  int32_t exponent = element.min_exponent;
  for (; (fraction >> mantissa) == 0; fraction <<= 1) --exponent;
  return (static_cast<uint32_t>(exponent + 127) << 7) | ((fraction << (7 - mantissa)) & 0x7F);
}

constexpr ByteTable byte_table(const Element &element) {
  ByteTable table = {};
  for (uint32_t code = 0; code < 128; ++code) {
    const uint32_t bits = bf16_of(element, code);
    table.low[code] = static_cast<uint8_t>(bits & 0xFF);
    table.high[code] = static_cast<uint8_t>(bits >> 8);
  }
  return table;
}

constexpr ByteTable kTableE4m3fn = byte_table(kElementE4m3fn);
constexpr ByteTable kTableE4m3 = byte_table(kElementE4m3);
constexpr ByteTable kTableE5m2 = byte_table(kElementE5m2);

// Returns the table of an 8-bit float with a sign bit. Returns NULL for other elements.
inline const ByteTable *byte_table_of(lpt_format element) {
  switch (element) {
    case LPT_FORMAT_E4M3FN:
      return &kTableE4m3fn;
    case LPT_FORMAT_E4M3:
      return &kTableE4m3;
    case LPT_FORMAT_E5M2:
      return &kTableE5m2;
    default:
      return nullptr;
  }
}

struct Operand {
  const uint8_t *data;
  int64_t row_stride;  // in elements
  bool is_k_adjacent;  // stored as lanes × k; otherwise as k × lanes
  int64_t first_lane;  // the first lane of this part
  int64_t k;
  int32_t first_digit;  // of ternary elements: the digit of the first byte at which `data` begins
  Decoder decoder;
  int32_t bits;
  uint8_t flip;            // XOR mask of each int8 before it is packed
  Element element;         // set for kEightBits and kTable
  const ByteTable *table;  // set for kEightBits
  const float *values;     // indexed by code; set for kTable
  const uint8_t *zeros;    // zero points in the order of the scales; NULL: none
  const uint8_t *scales;   // NULL: no block scales
  lpt_format scale_format;
  int64_t scale_stride;
  int32_t row_shift;  // the block of storage row r is r >> row_shift
  int32_t column_shift;
  bool is_scaled_along_k;
  float tensor_scale;
};

inline int32_t shift_of(int32_t extent) {
  return extent == LPT_BLOCK_EXTENT_FULL ? 62 : __builtin_ctz(static_cast<uint32_t>(extent));
}

using ValueTable = float[256];

constexpr float kValuesE2m1fn[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0f, -0.5, -1, -1.5, -2, -3, -4, -6};

inline void set_table(const Element &element, Operand &operand, ValueTable &values) {
  operand.decoder = Decoder::kTable;
  operand.bits = element.bits;
  operand.element = element;
  operand.values = values;
  const uint32_t count = 1u << element.bits;
  for (uint32_t code = 0; code < count; ++code) values[code] = decode(element, code);
  for (uint32_t code = count; code < 16; ++code) values[code] = 0;  // look-ups load at least 16 values
}

inline void set_decoder(lpt_format element, Operand &operand, ValueTable &values) {
  operand.decoder = Decoder::kEightBits;
  operand.bits = 8;
  switch (element) {
    case LPT_FORMAT_F32:
      operand.decoder = Decoder::kF32;
      operand.bits = 32;
      break;
    case LPT_FORMAT_F16:
      operand.decoder = Decoder::kF16;
      operand.bits = 16;
      break;
    case LPT_FORMAT_BF16:
      operand.decoder = Decoder::kBf16;
      operand.bits = 16;
      break;
    case LPT_FORMAT_INT8:
      operand.decoder = Decoder::kInt8;
      break;
    case LPT_FORMAT_E4M3FN:
    case LPT_FORMAT_E4M3:
    case LPT_FORMAT_E5M2:
      operand.element = element_of(element);
      operand.table = byte_table_of(element);
      break;
    case LPT_FORMAT_E2M1FN:
      operand.decoder = Decoder::kTable;
      operand.bits = 4;
      operand.element = kElementE2m1fn;
      operand.values = kValuesE2m1fn;
      break;
    default:
      set_table(element_of(element), operand, values);
      break;
  }
}

// Describes a view as an Operand. `values` is memory for a decoding table: it must outlive the operand, which points to it.
inline Operand operand_of(const MatrixView &view, bool is_k_adjacent, int64_t first_lane, int64_t k,
                          ValueTable &values) {
  Operand operand = {};
  operand.data = static_cast<const uint8_t *>(view.data);
  operand.row_stride = view.row_stride;
  operand.is_k_adjacent = is_k_adjacent;
  operand.first_lane = first_lane;
  operand.k = k;
  if (view.format.has_zero_point()) {
    set_table(element_of(view.format.element), operand, values);
    operand.zeros = view.zero_points;
  } else {
    set_decoder(view.format.element, operand, values);
  }
  operand.tensor_scale = view.format.tensor_scale != LPT_FORMAT_NONE ? *view.tensor_scale : 1.0f;
  if (view.format.block_scale != LPT_FORMAT_NONE) {
    operand.scales = static_cast<const uint8_t *>(view.block_scales);
    operand.scale_format = view.format.block_scale;
    operand.scale_stride = view.block_scale_stride;
    operand.row_shift = shift_of(view.format.block_rows);
    operand.column_shift = shift_of(view.format.block_columns);
    operand.is_scaled_along_k = ((k - 1) >> (is_k_adjacent ? operand.column_shift : operand.row_shift)) > 0;
  }
  return operand;
}

inline int64_t scale_bytes(lpt_format format) { return format == LPT_FORMAT_F32 ? 4 : 1; }

// Returns the operand at one depth of k. `is_unscaled`: scales along k are not applied to the elements, because they multiply
// sums of groups.
inline Operand at_depth(const Operand &whole, const Depth &depth, bool is_unscaled = false) {
  Operand part = whole;
  const int64_t stride = whole.is_k_adjacent ? 1 : whole.row_stride;
  const int64_t scale_stride = whole.is_k_adjacent ? 1 : whole.scale_stride;
  const int64_t block = depth.first >> (whole.is_k_adjacent ? whole.column_shift : whole.row_shift);
  if (whole.element.is_ternary) {  // five digits share a byte
    part.data += depth.first * stride / 5;
    part.first_digit = static_cast<int32_t>(depth.first * stride % 5);
  } else {
    part.data += depth.first * stride * whole.bits / 8;
  }
  if (part.scales != nullptr) part.scales += block * scale_stride * scale_bytes(whole.scale_format);
  if (part.zeros != nullptr) part.zeros += block * scale_stride;
  part.k = depth.count;
  if (is_unscaled) part.is_scaled_along_k = false;
  return part;
}

// Returns the same as decode(), without its cases for other elements: some kernels read a scale for every 16 elements.
inline float read_scale(lpt_format format, const uint8_t *scales, int64_t index) {
  if (format == LPT_FORMAT_F32) {
    float scale;
    memcpy(&scale, scales + 4 * index, sizeof scale);
    return scale;
  }
  const uint32_t code = scales[index];
  if (format == LPT_FORMAT_E8M0FNU) {
    return bits_float(code == 0 ? 0x00400000 : code == 0xFF ? 0x7FC00000 : code << 23);
  }
  const uint32_t low = kTableE4m3fn.low[code & 127], high = kTableE4m3fn.high[code & 127] | (code & 128);
  return bits_float(high << 24 | low << 16);
}

inline float scale_at(const Operand &operand, int64_t row, int64_t column) {
  const int64_t index = (row >> operand.row_shift) * operand.scale_stride + (column >> operand.column_shift);
  return read_scale(operand.scale_format, operand.scales, index);
}

// The codes of the five digits of every byte, one code per byte.
struct DigitCodes {
  uint64_t codes[256];
};

constexpr DigitCodes digit_codes() {
  DigitCodes table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (uint32_t i = 0, digits = byte; i < 5; ++i, digits /= 3) {
      table.codes[byte] |= uint64_t{digits % 3 == 2 ? 3 : digits % 3} << 8 * i;
    }
  }
  return table;
}

constexpr DigitCodes kDigitCodes = digit_codes();

// Unpacks up to 32 adjacent codes to bytes. Except for ternary elements, the first code must begin at a byte boundary.
[[gnu::noinline]] inline void read_codes(const Operand &operand, int64_t index, int64_t count, uint8_t (&codes)[32]) {
  const int32_t bits = operand.bits;
  if (bits == 8) {
    memcpy(codes, operand.data + index, static_cast<size_t>(count));
    return;
  }
  if (operand.element.is_ternary) {
    uint8_t digits[4 + 32 + 8];  // before the first code, and after the last one
    const int64_t first = operand.first_digit + index, skipped = first % 5;
    const uint8_t *from = operand.data + first / 5;
    for (int64_t at = 0; at < skipped + count; at += 5) memcpy(digits + at, &kDigitCodes.codes[*from++], 8);
    memcpy(codes, digits + skipped, static_cast<size_t>(count));
    return;
  }
  const uint8_t *from = operand.data + index * bits / 8;
  for (int64_t at = 0; at < count; at += 8, from += bits) {  // eight codes are `bits` bytes
    const uint64_t packed = load_some_codes(from, bits, count - at);
    for (int i = 0; i < 8; ++i) codes[at + i] = static_cast<uint8_t>(packed >> (i * bits) & ((1u << bits) - 1));
  }
}

// Decodes up to 32 adjacent elements of storage row `row`, without scales. Elements past `count` are 0.
[[gnu::noinline]] inline void read_values(const Operand &operand, int64_t row, int64_t column, int64_t count,
                                          float (&values)[32]) {
  uint8_t codes[32];
  if (count > 32) count = 32;
  read_codes(operand, row * operand.row_stride + column, count, codes);
  for (int64_t i = 0; i < count; ++i) values[i] = operand.values[codes[i]];
  for (int64_t i = count; i < 32; ++i) values[i] = 0;
  if (operand.zeros == nullptr) return;
  const uint8_t *zeros = operand.zeros + (row >> operand.row_shift) * operand.scale_stride;
  for (int64_t i = 0; i < count; ++i) values[i] -= static_cast<float>(zeros[(column + i) >> operand.column_shift]);
}

// Returns the factor of the sum of a lane: its scale, unless scales vary along k, times the tensor scale.
inline float lane_factor(const Operand &operand, int64_t lane) {
  if (operand.scales == nullptr || operand.is_scaled_along_k) return operand.tensor_scale;
  const float scale = operand.is_k_adjacent ? scale_at(operand, operand.first_lane + lane, 0)
                                            : scale_at(operand, 0, operand.first_lane + lane);
  return scale * operand.tensor_scale;
}

// Returns the same factor for a view of lanes × k that may be packed.
inline float lane_factor(const MatrixView &view, int64_t lane, int64_t k) {
  const Format &format = view.format;
  const float tensor_scale = format.has_tensor_scale() ? *view.tensor_scale : 1.0f;
  if (!format.has_block_scale() || is_scaled_along_k(view, true, k)) return tensor_scale;
  const int64_t index =
      view.layout == Layout::kPanels ? lane : (lane >> shift_of(format.block_rows)) * view.block_scale_stride;
  return read_scale(format.block_scale, static_cast<const uint8_t *>(view.block_scales), index) * tensor_scale;
}

}  // namespace
}  // namespace lpt
