// Blocks of the 8-bit dynamic tree (dynamic_tree.hpp). Included by simd_*.cpp.
//
// Levels of one decade are evenly spaced, so that a multiplication gives the code or the one below it, and a comparison
// with the threshold above that says which. A decade is known from the exponent and one comparison.
#pragma once

#include "kernels/optimizer/step_blocks.hpp"
#include "src/formats/dynamic_tree.hpp"

namespace lpt {
namespace {

constexpr int32_t kLeastTreeField = 127 - 27;  // exponent field below which a number is not reported from zero

struct TreeSearch {
  float edge[32];             // by the low five bits of the exponent field: above it begins the next decade
  int32_t decade[32];         // at the exponent's first number
  float slope[8], offset[8];  // by decade; the last one is the level 1 alone
  float threshold[256];       // those of the tree; behind them one below all numbers
};

constexpr TreeSearch make_tree_search(const DynamicTree &tree) {
  TreeSearch search = {};
  float edges[8] = {};
  int32_t first = tree.zero + 1;
  double tenth = 1e-7;
  for (int32_t i = 0; i < 7; ++i) {
    const int32_t parts = (tree.zero == 0 ? 2 : 1) << i;
    const double width = 9 * tenth / parts;
    search.slope[i] = static_cast<float>(1 / width);
    // A little more, so that no rounding gives less than the code below. The edge is between the decade's end and the
    // threshold to the next one.
    search.offset[i] = static_cast<float>(first - tree.zero - 1 - tenth / width + 1.0 / 4096);
    edges[i] = static_cast<float>((10 * tenth + static_cast<double>(tree.threshold[first + parts - 1])) / 2);
    first += parts;
    tenth *= 10;
  }
  edges[6] = tree.threshold[254];
  for (int32_t i = 0; i < 255; ++i) search.threshold[i] = tree.threshold[i];
  search.threshold[255] = -__builtin_inff();
  search.offset[7] = static_cast<float>(254 - tree.zero);
  double power = 0x1p-27;
  int32_t decade = 0;
  for (int32_t field = kLeastTreeField; field < kLeastTreeField + 32; ++field, power *= 2) {
    while (decade < 7 && static_cast<double>(edges[decade]) < power) ++decade;
    search.decade[field & 31] = decade;
    search.edge[field & 31] = decade < 7 ? edges[decade] : __builtin_inff();
  }
  return search;
}

alignas(64) constexpr TreeSearch kSearches[2] = {make_tree_search(kUnsignedTree), make_tree_search(kSignedTree)};

struct TreeLanes {
  explicit TreeLanes(bool is_signed)
      : tree(is_signed ? kSignedTree : kUnsignedTree),
        levels(numbers256(tree.level)),
        thresholds(numbers256(kSearches[is_signed].threshold)),
        edges(numbers32(kSearches[is_signed].edge)),
        decades(numbers32(reinterpret_cast<const float *>(kSearches[is_signed].decade))),
        slopes(numbers8(kSearches[is_signed].slope)),
        offsets(numbers8(kSearches[is_signed].offset)) {}
  const DynamicTree &tree;
  Numbers256 levels, thresholds;
  Numbers32 edges, decades;
  Numbers8 slopes, offsets;
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

// The code of a scaled number or the one below it.
[[gnu::always_inline]] inline I32 tree_candidates(const TreeLanes &lanes, F32 scaled) {
  const bool is_signed = lanes.tree.zero != 0;
  const F32 x = is_signed ? abs(scaled) : max(scaled, broadcast(0.0f));
  const I32 field = max(i32_of(x), broadcast_i32(kLeastTreeField << 23)) >> 23;
  const I32 is_above = x > look_up(lanes.edges, field);
  const I32 decade = i32_of(look_up(lanes.decades, field)) - is_above;
  const F32 place = mul_add(x, look_up(lanes.slopes, decade), look_up(lanes.offsets, decade));
  const I32 steps = truncate_i32(place);
  return is_signed ? (steps ^ (i32_of(scaled) >> 31)) + lanes.tree.zero : steps;
}

// Numbers are finite.
void store_tree(const TreeLanes &lanes, bool is_clamped, const float *values, float inverse, uint8_t *to,
                int64_t count) {
  const F32 inverses = broadcast(inverse);
  const int32_t zero = lanes.tree.zero;
  for (int64_t i = 0; i < count; i += kQuad) {
    I32 codes[4];
    F32 thresholds[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      codes[j] = tree_candidates(lanes, load(values + i + j * kLanes) * inverses);
    }
    look_up(lanes.thresholds, codes, thresholds);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const F32 value = load(values + i + j * kLanes);
      codes[j] -= value * inverses > thresholds[j];
      if (is_clamped) {
        const I32 is_lost = (codes[j] == zero) & (value != broadcast(0.0f));
        const I32 least = zero == 0 ? broadcast_i32(1) : (i32_of(value) >> 31) * 2 + 1;
        codes[j] += is_lost & least;
      }
    }
    store_u8(to + i, codes);
  }
}

// The code of one number, as the contract has it. `random` are its bits of stochastic underflow.
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

// One block of `count` numbers, whose first one is element `index` of the array; its scale comes back.
float store_tree_block(const TreeLanes &lanes, const StateArray &array, const float *values, uint8_t *to, int64_t index,
                       int64_t count) {
  const BlockMagnitudes found = block_magnitudes(values, whole_quads(count));
  const float scale = found.amax == 0.0f ? 1.0f : clamp_scale(found.amax);
  const float inverse = inverse_scale(scale);
  if (!found.is_special && array.underflow != LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC) {
    store_tree(lanes, array.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP, values, inverse, to, whole_quads(count));
    return scale;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<uint8_t>(tree_code(lanes.tree, array, values[i], values[i] * inverse, index + i));
  }
  return found.has_nan ? bits_float(kFloatNanBits) : scale;
}

}  // namespace
}  // namespace lpt
