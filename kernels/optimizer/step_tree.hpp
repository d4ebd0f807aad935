// Blocks of the 8-bit dynamic tree (dynamic_tree.hpp). Included by ISA files.
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

template <typename Isa>
struct TreeLanes {
  explicit TreeLanes(bool is_signed)
      : tree(is_signed ? kSignedTree : kUnsignedTree),
        levels(Isa::numbers256(tree.level)),
        thresholds(Isa::numbers256(kSearches[is_signed].threshold)),
        edges(Isa::numbers32(kSearches[is_signed].edge)),
        decades(Isa::numbers32(reinterpret_cast<const float *>(kSearches[is_signed].decade))),
        slopes(Isa::numbers8(kSearches[is_signed].slope)),
        offsets(Isa::numbers8(kSearches[is_signed].offset)) {}
  const DynamicTree &tree;
  typename Isa::Numbers256 levels, thresholds;
  typename Isa::Numbers32 edges, decades;
  typename Isa::Numbers8 slopes, offsets;
};

template <typename Isa>
void load_tree(const TreeLanes<Isa> &lanes, const uint8_t *from, float scale, float *to, int64_t count) {
  using Floats = typename Isa::Floats;
  const Floats scales = Isa::all(scale);
  for (int64_t i = 0; i < count; i += Isa::kQuad) {
    Floats levels[4];
    Isa::look_up(lanes.levels, from + i, levels);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) Isa::store(to + i + j * Isa::kWidth, levels[j] * scales);
  }
}

// The code of a scaled number or the one below it.
template <typename Isa>
[[gnu::always_inline]] inline typename Isa::Ints tree_candidates(const TreeLanes<Isa> &lanes,
                                                                 typename Isa::Floats scaled) {
  using Floats = typename Isa::Floats;
  using Ints = typename Isa::Ints;
  const bool is_signed = lanes.tree.zero != 0;
  const Floats x = is_signed ? magnitude_of<Isa>(scaled) : Isa::greatest(scaled, Isa::all(0.0f));
  const Ints field = Isa::greatest(Isa::bits(x), Isa::all_ints(kLeastTreeField << 23)) >> 23;
  const Ints is_above = x > Isa::look_up(lanes.edges, field);
  const Ints decade = Isa::bits(Isa::look_up(lanes.decades, field)) - is_above;
  const Floats place = Isa::fused(x, Isa::look_up(lanes.slopes, decade), Isa::look_up(lanes.offsets, decade));
  const Ints steps = Isa::truncated(place);
  return is_signed ? (steps ^ (Isa::bits(scaled) >> 31)) + lanes.tree.zero : steps;
}

// Numbers are finite.
template <typename Isa>
void store_tree(const TreeLanes<Isa> &lanes, bool is_clamped, const float *values, float inverse, uint8_t *to,
                int64_t count) {
  using Floats = typename Isa::Floats;
  using Ints = typename Isa::Ints;
  const Floats inverses = Isa::all(inverse);
  const int32_t zero = lanes.tree.zero;
  for (int64_t i = 0; i < count; i += Isa::kQuad) {
    Ints codes[4];
    Floats thresholds[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      codes[j] = tree_candidates<Isa>(lanes, Isa::load(values + i + j * Isa::kWidth) * inverses);
    }
    Isa::look_up(lanes.thresholds, codes, thresholds);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const Floats value = Isa::load(values + i + j * Isa::kWidth);
      codes[j] -= value * inverses > thresholds[j];
      if (is_clamped) {
        const Ints is_lost = (codes[j] == zero) & (value != Isa::all(0.0f));
        const Ints least = zero == 0 ? Isa::all_ints(1) : (Isa::bits(value) >> 31) * 2 + 1;
        codes[j] += is_lost & least;
      }
    }
    Isa::store_bytes(to + i, codes);
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
template <typename Isa>
float store_tree_block(const TreeLanes<Isa> &lanes, const StateArray &array, const float *values, uint8_t *to,
                       int64_t index, int64_t count) {
  const BlockMagnitudes found = block_magnitudes<Isa>(values, whole_quads<Isa>(count));
  const float scale = found.amax == 0.0f ? 1.0f : clamp_scale(found.amax);
  const float inverse = inverse_scale(scale);
  if (!found.is_special && array.underflow != LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC) {
    store_tree<Isa>(lanes, array.underflow == LPT_OPTIMIZER_UNDERFLOW_CLAMP, values, inverse, to,
                    whole_quads<Isa>(count));
    return scale;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<uint8_t>(tree_code(lanes.tree, array, values[i], values[i] * inverse, index + i));
  }
  return found.has_nan ? bits_float(kFloatNanBits) : scale;
}

}  // namespace
}  // namespace lpt
