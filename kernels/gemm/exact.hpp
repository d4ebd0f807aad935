// Which products of an element and its scale bf16 holds.
#pragma once

#include "src/formats/view.hpp"

namespace lpt {

// Significant bits of an element; a product has at most the sum of its factors', and a power of two counts none. Zero
// points add none: the difference of two codes is no longer than they are.
static inline int32_t significant_bits(lpt_format format) {
  if (format == LPT_FORMAT_E8M0FNU) return 0;
  const Element element = element_of(format);
  if (!element.is_integer) return element.mantissa_bits + 1;
  return 32 - __builtin_clz(element.max_code);  // the negative end of a signed one is a power of two
}

// bf16 has 8 of them.
static inline bool fits_bf16_scaled(const Format &format) {
  return format.block_scale != LPT_FORMAT_F32 &&
         significant_bits(format.element) + significant_bits(format.block_scale) <= 8;
}

static inline bool is_scaled_along_k(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  const int32_t extent = is_k_adjacent ? view.format.block_columns : view.format.block_rows;
  return view.format.has_block_scale() && extent != LPT_BLOCK_EXTENT_FULL && k > extent;
}

// Scales that cut k into groups, which are summed one by one.
static inline bool is_grouped_by_scales(const MatrixView &view, bool is_k_adjacent, int64_t k) {
  return is_scaled_along_k(view, is_k_adjacent, k) && !fits_bf16_scaled(view.format);
}

}  // namespace lpt
