// Operands whose elements are small integers times a power of two, and the cutting of k into groups of one scale. Included by
// ISA files: all functions have internal linkage.
#pragma once

#include "kernels/gemm/operand.hpp"

namespace lpt {
namespace {

// Sums of that many products of bytes fit int32.
constexpr int32_t kLargestGroupShift = 16;
constexpr int64_t kLargestWholeGroup = (int64_t{1} << 17) - 1;

// The integers that the codes represent: value · 2^fraction_bits.
struct Integers {
  int32_t bits;
  int32_t fraction_bits;
  bool is_ternary;
  alignas(64) int8_t value[64];  // by code of less than 8 bits, without zero points; int8 codes are the values
};

inline Integers integers_of(lpt_format format) {
  const Element element = element_of(format);
  Integers integers = {};
  integers.bits = element.bits;
  integers.is_ternary = element.is_ternary;
  integers.fraction_bits = element.mantissa_bits - (element.is_integer ? 0 : element.min_exponent);
  const auto unit = static_cast<float>(1 << integers.fraction_bits);
  for (uint32_t code = 0; element.bits < 8 && code < 1u << element.bits; ++code) {
    integers.value[code] = static_cast<int8_t>(decode(element, code) * unit);
  }
  return integers;
}

// Scales of one operand along k. A scale for all of k is applied to the lane, not to a group.
struct GroupScales {
  const uint8_t *data;
  lpt_format format;
  int32_t shift;  // the block of p is p >> shift
  bool is_along_k;
};

inline GroupScales group_scales_of(const MatrixView &view, int64_t k) {
  GroupScales scales = {};
  if (!view.format.has_block_scale()) return scales;
  scales.data = static_cast<const uint8_t *>(view.block_scales);
  scales.format = view.format.block_scale;
  scales.shift = shift_of(view.format.block_columns);
  scales.is_along_k = ((k - 1) >> scales.shift) > 0;
  return scales;
}

struct Groups {
  int32_t shift;  // the group of p is p >> shift
  int64_t count;
  int64_t steps;        // of four elements of k
  int64_t group_steps;  // of each group except the last
};

// Cuts k into groups. A group has one scale of a, one scale of b, and one zero point.
inline Groups groups_of(const MatrixView &a, const MatrixView &b, int64_t k) {
  const GroupScales a_scales = group_scales_of(a, k), b_scales = group_scales_of(b, k);
  int32_t shift = k > kLargestWholeGroup ? kLargestGroupShift : kLargestGroupShift + 1;
  if (a_scales.is_along_k && a_scales.shift < shift) shift = a_scales.shift;
  if (b_scales.is_along_k && b_scales.shift < shift) shift = b_scales.shift;
  while (shift > 3 && int64_t{1} << (shift - 1) >= k) --shift;
  const int64_t count = ((k - 1) >> shift) + 1;
  return {.shift = shift, .count = count, .steps = (k + 3) / 4, .group_steps = int64_t{1} << (shift - 2)};
}

}  // namespace
}  // namespace lpt
