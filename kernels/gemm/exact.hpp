// Exactness in bf16 of the products of an element and its scale.
#pragma once

#include "src/formats/view.hpp"

namespace lpt {

// Returns the significant bits of an element. A product has at most the sum of the significant bits of its factors, and a power
// of two adds none. A zero point adds none: the difference of two codes has no more bits than a code.
static inline int32_t significant_bits(lpt_format format) {
  if (format == LPT_FORMAT_E8M0FNU) return 0;
  const Element element = element_of(format);
  if (!element.is_integer) return element.mantissa_bits + 1;
  return 32 - __builtin_clz(element.max_code);  // the minimum of a signed integer is a power of two
}

// Returns whether bf16, which has 8 significant bits, represents elements times block scales exactly.
static inline bool fits_bf16_scaled(const Format &format) {
  return format.block_scale != LPT_FORMAT_F32 &&
         significant_bits(format.element) + significant_bits(format.block_scale) <= 8;
}

static inline bool is_scaled_along_k(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
  return view.format.has_block_scale() && extent != LPT_BLOCK_EXTENT_FULL && k > extent;
}

// Returns whether scales cut k into groups whose sums are scaled one by one.
static inline bool is_grouped_by_scales(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  return is_scaled_along_k(view, is_k_adjacent, k) && !fits_bf16_scaled(view.format);
}

}  // namespace lpt
