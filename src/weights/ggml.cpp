#include "src/weights/ggml.hpp"

#include <cmath>
#include <cstring>

#include "src/base/status.hpp"
#include "src/formats/block_scale.hpp"

namespace lpt {
namespace {

constexpr int64_t kHalf = kGgmlBlock / 2;

// Numbers at the begin of a block: little-endian f16.

float read_f16(const uint8_t *source) { return decode(kElementF16, load_code(kElementF16, source, 0)); }

uint32_t f16_code(float value) {
  return encode(kElementF16, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16);
}

void write_f16(float value, uint8_t *target) { store_code(kElementF16, target, 0, f16_code(value)); }

bool fits_f16(float value) { return std::isnan(value) || decode(kElementF16, f16_code(value)) == value; }

// Parts of a block of a view.

int64_t scale_index(const MatrixView &view, int64_t row, int64_t block) {
  return row * view.block_scale_stride + block;
}

float &float_scale(const MatrixView &view, int64_t row, int64_t block) {
  return static_cast<float *>(view.block_scales)[scale_index(view, row, block)];
}

uint8_t &byte_scale(const MatrixView &view, int64_t row, int64_t block) {
  return static_cast<uint8_t *>(view.block_scales)[scale_index(view, row, block)];
}

uint8_t &zero_point(const MatrixView &view, int64_t row, int64_t block) {
  return view.zero_points[scale_index(view, row, block)];
}

uint8_t *codes_at(const MatrixView &view, int64_t row, int64_t block) {
  return static_cast<uint8_t *>(view.data) + row_bytes(view.format.element, row * view.row_stride + block * kGgmlBlock);
}

// Returns the min of a block with a zero point. The multiplication of 11 bits (f16) by 8 bits is exact. The subtraction from
// 0 avoids -0.
float least_of(float scale, uint8_t zero) { return 0.0f - scale * static_cast<float>(zero); }

// Returns the zero point for which the min is m with scale d, or -1.
int32_t find_zero_point(float d, float m) {
  if (std::isnan(d) || std::isnan(m)) return 0;  // NaN scale
  if (d == 0.0f) return m == 0.0f ? 0 : -1;
  const float zero = -m / d;
  if (!(zero >= 0.0f && zero <= 255.0f)) return -1;
  return least_of(d, static_cast<uint8_t>(zero)) == m ? static_cast<int32_t>(zero) : -1;
}

// Codes of four bits. `flip` inverts the sign bits of both codes of a byte, because an int4 element is the code of ggml minus
// 8.

uint32_t pair_code(const uint8_t *pairs, int64_t i) { return pairs[i / 2] >> (i % 2 * 4) & 15; }
uint32_t half_code(const uint8_t *halves, int64_t i) { return i < kHalf ? halves[i] & 15 : halves[i - kHalf] >> 4; }

void write_halves(const uint8_t *pairs, uint8_t flip, uint8_t *halves) {
  for (int64_t i = 0; i < kHalf; ++i) {
    halves[i] = static_cast<uint8_t>((pair_code(pairs, i) | pair_code(pairs, i + kHalf) << 4) ^ flip);
  }
}

void read_halves(const uint8_t *halves, uint8_t flip, uint8_t *pairs) {
  for (int64_t i = 0; i < kHalf; ++i) {
    pairs[i] = static_cast<uint8_t>((half_code(halves, 2 * i) | half_code(halves, 2 * i + 1) << 4) ^ flip);
  }
}

constexpr uint8_t kFlipInt4 = 0x88;

// Decodes Q4_1 to floats. d · q is exact, so the addition is the only rounding, with or without FMA.
void read_numbers(const uint8_t *source, const MatrixView &view, int64_t row, int64_t block) {
  const float d = read_f16(source);
  const float m = read_f16(source + 2);
  const lpt_format plain = view.format.element;
  const Element element = has_element(plain) ? element_of(plain) : Element{};
  for (int64_t i = 0; i < kGgmlBlock; ++i) {
    const float value = d * static_cast<float>(half_code(source + 4, i)) + m;
    const int64_t index = row * view.row_stride + block * kGgmlBlock + i;
    if (plain == LPT_FORMAT_F32) {
      static_cast<float *>(view.data)[index] = value;
    } else if (plain == LPT_FORMAT_F64) {
      static_cast<double *>(view.data)[index] = static_cast<double>(value);
    } else {
      store_code(element, view.data, index,
                 encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16));
    }
  }
}

}  // namespace

int64_t ggml_block_bytes(GgmlType type) {
  switch (type) {
    case GgmlType::kQ8_0:
      return 2 + kGgmlBlock;
    case GgmlType::kQ4_0:
      return 2 + kHalf;
    case GgmlType::kQ4_1:
      return 4 + kHalf;
    default:
      return 1 + kHalf;
  }
}

std::string unwritable_block(GgmlType type, const MatrixView &view, int64_t row, int64_t block) {
  if (type == GgmlType::kMxfp4) {
    if (byte_scale(view, row, block) != kElementE8m0fnu.nan_code) return {};
    return "scale NaN: expected a number, ggml has no NaN in MXFP4";
  }
  const float scale = float_scale(view, row, block);
  if (type != GgmlType::kQ4_1) {
    if (fits_f16(scale)) return {};
    return text("scale %.9g: expected a number that f16 holds, as ggml's scales are f16", static_cast<double>(scale));
  }
  const uint8_t zero = zero_point(view, row, block);
  if (!std::isinf(scale) && fits_f16(scale) && fits_f16(least_of(scale, zero))) return {};
  return text(
      "scale %.9g and zero point %d: expected both the scale and -scale * zero point in f16, as Q4_1 holds them",
      static_cast<double>(scale), zero);
}

std::string unreadable_block(GgmlType type, const uint8_t *source, const Format &format) {
  if (type == GgmlType::kMxfp4 && source[0] == kElementE8m0fnu.nan_code) {
    return "scale 0xFF: expected at most 0xFE, e8m0fnu says NaN where ggml reads 2^128";
  }
  if (type != GgmlType::kQ4_1 || !format.has_zero_point()) return {};
  const float d = read_f16(source);
  const float m = read_f16(source + 2);
  if (find_zero_point(d, m) >= 0) return {};
  return text("d %.9g and m %.9g: expected m = -d * zero point with one of 0 to 255; a tensor of f32 takes any",
              static_cast<double>(d), static_cast<double>(m));
}

void write_ggml_block(GgmlType type, const MatrixView &view, int64_t row, int64_t block, uint8_t *target) {
  const uint8_t *codes = codes_at(view, row, block);
  switch (type) {
    case GgmlType::kQ8_0:
      write_f16(float_scale(view, row, block), target);
      std::memcpy(target + 2, codes, kGgmlBlock);
      return;
    case GgmlType::kQ4_0:
      write_f16(float_scale(view, row, block), target);
      return write_halves(codes, kFlipInt4, target + 2);
    case GgmlType::kQ4_1: {
      const float scale = float_scale(view, row, block);
      write_f16(scale, target);
      write_f16(least_of(scale, zero_point(view, row, block)), target + 2);
      return write_halves(codes, 0, target + 4);
    }
    case GgmlType::kMxfp4:
      target[0] = byte_scale(view, row, block);
      return write_halves(codes, 0, target + 1);
  }
}

void read_ggml_block(GgmlType type, const uint8_t *source, const MatrixView &view, int64_t row, int64_t block) {
  if (view.format.is_plain()) return read_numbers(source, view, row, block);
  uint8_t *codes = codes_at(view, row, block);
  switch (type) {
    case GgmlType::kQ8_0:
      float_scale(view, row, block) = read_f16(source);
      std::memcpy(codes, source + 2, kGgmlBlock);
      return;
    case GgmlType::kQ4_0:
      float_scale(view, row, block) = read_f16(source);
      return read_halves(source + 2, kFlipInt4, codes);
    case GgmlType::kQ4_1: {
      const float d = read_f16(source);
      const float m = read_f16(source + 2);
      float_scale(view, row, block) = std::isnan(m) ? m : d;
      zero_point(view, row, block) = static_cast<uint8_t>(find_zero_point(d, m));
      return read_halves(source + 4, 0, codes);
    }
    case GgmlType::kMxfp4:
      byte_scale(view, row, block) = source[0];
      return read_halves(source + 1, 0, codes);
  }
}

}  // namespace lpt
