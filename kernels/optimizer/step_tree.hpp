// Blocks of the 8-bit dynamic tree (dynamic_tree.hpp). Included by simd_*.cpp.
//
// The levels of one decade are evenly spaced. One multiply-add therefore computes the code of a value and its distance to the
// adjacent thresholds. AVX-512 finds the decade by the exponent and one comparison, AVX2 by seven comparisons. Codes are
// counted from the code of zero and have 16 fraction bits.
#pragma once

#include "kernels/optimizer/step_blocks.hpp"
#include "src/formats/dynamic_tree.hpp"

namespace lpt {
namespace {

constexpr float kLeastOfTree = 0x1p-27f;  // smaller magnitudes also have the code of zero
constexpr double kTreeUnit = 65536;
// Bound of the error of a sum, in 1 / 65536 of a code. Rounding of levels, thresholds, slopes, offsets and sums adds up to less
// than 5.
constexpr int32_t kTreeMargin = 6;

// Constants of the search for a code. A key is the bits of a magnitude times 2: see tree_sums().
struct TreeSearch {
  int32_t end[8];  // the key above which the next decade begins
  // By the low five bits of the exponent field: the decade of the smallest value with this field, and the end of that decade.
  // The end is INT32_MAX if it has another exponent field.
  int32_t first[32], end_of_field[32];
  float slope[8], offset[8], last[8];  // by decade; the last decade has only the level 1
};

constexpr TreeSearch make_tree_search(const DynamicTree &tree) {
  TreeSearch search = {};
  const float *const thresholds = tree.threshold + tree.zero;
  float edges[8] = {};
  int32_t first = 1;
  double tenth = 1e-7;
  for (int32_t i = 0; i < 7; ++i) {
    const int32_t parts = (tree.zero == 0 ? 2 : 1) << i;
    double width = 9 * tenth / parts, start = tenth - first * width;
    if (i == 0) {  // the first decade extends to zero
      width = tree.zero == 0 ? double{thresholds[1]} - double{thresholds[0]} : double{thresholds[0]};
      start = double{thresholds[0]} - width;
    }
    search.slope[i] = static_cast<float>(kTreeUnit / width);
    search.offset[i] = static_cast<float>(kTreeMargin - kTreeUnit * start / width);
    first += parts;
    search.last[i] = static_cast<float>(kTreeUnit * (first - 0.5));
    edges[i] = thresholds[first - 1];
    search.end[i] = __builtin_bit_cast(int32_t, edges[i]) << 1;
    tenth *= 10;
  }
  search.offset[7] = search.last[7] = static_cast<float>(kTreeUnit * (first + 0.5));
  edges[7] = __builtin_inff();
  double exponent_begin = 0x1p-31;
  for (int32_t field = 127 - 31; field <= 127; ++field, exponent_begin *= 2) {
    int32_t decade = 0;
    while (edges[decade] < exponent_begin) ++decade;
    search.first[field & 31] = decade;
    search.end_of_field[field & 31] = edges[decade] < 2 * exponent_begin ? search.end[decade] : INT32_MAX;
  }
  return search;
}

alignas(64) constexpr TreeSearch kSearches[2] = {make_tree_search(kUnsignedTree), make_tree_search(kSignedTree)};

struct TreeLanes {
  explicit TreeLanes(bool is_signed)
      : tree(is_signed ? kSignedTree : kUnsignedTree),
        levels(numbers256(tree.level)),
        decades(lpt::decades(kSearches[is_signed].end, kSearches[is_signed].first, kSearches[is_signed].end_of_field)),
        slopes(numbers8(kSearches[is_signed].slope)),
        offsets(numbers8(kSearches[is_signed].offset)),
        last(numbers8(kSearches[is_signed].last)) {}
  const DynamicTree &tree;
  Table256 levels;
  Decades decades;
  Table8 slopes, offsets, last;
};

void load_tree(const TreeLanes &lanes, const uint8_t *from, float scale, float *to, int64_t count) {
  const F32 scales = broadcast(scale);
  for (int64_t i = 0; i < count; i += kQuad) {
    F32 levels[4];
    look_up(lanes.levels, from + i, levels);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) store(to + i + j * kLanes, levels[j] * scales);
  }
}

// Returns the code of one value, as the reference kernel does. `index` selects the random bits of stochastic underflow.
inline uint32_t tree_code(const DynamicTree &tree, const StateArray &array, float value, float scaled, int64_t index) {
  const auto zero = static_cast<uint32_t>(tree.zero);
  if (scaled != scaled) return zero;
  const uint32_t least = zero != 0 && (float_bits(value) >> 31) != 0 ? zero - 1 : zero + 1;
  const float share = __builtin_fabsf(scaled) / tree.level[zero + 1];
  if (array.underflow == LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC && share < 1.0f) {
    const uint32_t whole = 2u << array.random.bits;
    const auto psi = static_cast<uint32_t>(share * static_cast<float>(whole));
    return psi + 2 * random_bits(array.random, 0, index) + 1 >= whole ? least : zero;
  }
  const uint32_t code = encode_dynamic(tree, scaled);
  return array.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP && code == zero && value != 0.0f ? least : code;
}

// Returns the distances of codes from the code of zero plus kTreeMargin, with 16 fraction bits.
template <bool kIsSigned>
[[gnu::always_inline]] inline I32 tree_sums(const TreeLanes &lanes, F32 scaled) {
  const F32 least = broadcast(kLeastOfTree);
  const F32 x = kIsSigned ? f32_of(larger_magnitude(i32_of(least), scaled)) : max(scaled, least);
  // A tie gets the lower code, which for a negative value is the one farther from zero. Bit 0 of the key is therefore the sign:
  // it makes the key of a negative tie exceed the end of the decade.
  const U32 bits = u32_of(kIsSigned ? scaled : x);
  const auto key = reinterpret_cast<I32>(kIsSigned ? bits << 1 | bits >> 31 : bits << 1);
  const I32 decade = look_up(lanes.decades, i32_of(x) >> 23, key);
  const F32 sum = mul_add(x, look_up(lanes.slopes, decade), look_up(lanes.offsets, decade));
  return nearest_i32(min(sum, look_up(lanes.last, decade)));
}

// Replaces the codes of elements that are too near to a threshold.
[[gnu::noinline]] void correct_tree(const TreeLanes &lanes, const StateArray &array, const I32 (&sums)[4],
                                    const float *values, float inverse, uint8_t *to) {
  for (int64_t j = 0; j < 4; ++j) {
    uint32_t left = lanes_below(reinterpret_cast<U32>(sums[j] & 0xFFFF), 2 * kTreeMargin);
    for (; left != 0; left &= left - 1) {
      const int64_t i = j * kLanes + __builtin_ctz(left);
      to[i] = static_cast<uint8_t>(tree_code(lanes.tree, array, values[i], values[i] * inverse, 0));
    }
  }
}

// Stores the codes of four vectors of finite elements. kIsClamped: nonzero elements do not get the code of zero.
template <bool kIsSigned, bool kIsClamped>
[[gnu::always_inline]] inline void store_tree(const TreeLanes &lanes, const StateArray &array, const float *values,
                                              float inverse, uint8_t *to) {
  const F32 inverses = broadcast(inverse);
  I32 sums[4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    const F32 value = load(values + j * kLanes);
    sums[j] = tree_sums<kIsSigned>(lanes, value * inverses);
    if (kIsClamped) sums[j] = max(sums[j], (value != broadcast(0.0f)) & 0x18000);
  }
  if constexpr (kIsSigned) {
    store_fixed_around(to, sums, values, kSignedTree.zero);
  } else {
    store_fixed(to, sums);
  }
  const I32 nearest = min_fractions(min_fractions(sums[0], sums[1]), min_fractions(sums[2], sums[3]));
  if (has_fraction_below(nearest, 2 * kTreeMargin)) [[unlikely]]
    correct_tree(lanes, array, sums, values, inverse, to);
}

template <bool kIsSigned, bool kIsClamped>
void store_tree_numbers(const TreeLanes &given, const StateArray &array, const float *values, float inverse,
                        uint8_t *to, int64_t count) {
  const TreeLanes lanes = given;
  for (int64_t i = 0; i < count; i += kQuad) {
    store_tree<kIsSigned, kIsClamped>(lanes, array, values + i, inverse, to + i);
  }
}

struct TreeScale {
  float scale, inverse;
  bool has_lost;  // a nonzero element gets the code of zero
};

inline TreeScale tree_scale(const TreeLanes &lanes, const BlockMagnitudes &found) {
  const float scale = found.amax == 0.0f ? 1.0f : clamp_scale(found.amax);
  const float inverse = inverse_scale(scale);
  return {scale, inverse, found.amax != 0.0f && found.least * inverse <= lanes.tree.threshold[lanes.tree.zero]};
}

// Encodes a block of `count` elements, of which the first has index `index` in the array. Returns the scale of the block.
float store_tree_block(const TreeLanes &lanes, const StateArray &array, const float *values, uint8_t *to, int64_t index,
                       int64_t count) {
  const BlockMagnitudes found = block_magnitudes(values, whole_quads(count));
  const TreeScale scale = tree_scale(lanes, found);
  if (!found.is_special && array.underflow != LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC) {
    const bool is_signed = lanes.tree.zero != 0;
    const bool is_clamped = array.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP && scale.has_lost;
    const auto store = is_signed ? (is_clamped ? store_tree_numbers<true, true> : store_tree_numbers<true, false>)
                                 : (is_clamped ? store_tree_numbers<false, true> : store_tree_numbers<false, false>);
    store(lanes, array, values, scale.inverse, to, whole_quads(count));
    return scale.scale;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<uint8_t>(tree_code(lanes.tree, array, values[i], values[i] * scale.inverse, index + i));
  }
  return found.has_nan ? bits_float(kFloatNanBits) : scale.scale;
}

}  // namespace
}  // namespace lpt
