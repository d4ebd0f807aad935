// The 8-bit dynamic tree of bitsandbytes' optimizers (arXiv 2110.02861): an element of optimizer states alone.
//
// Seven decades 10^-6 .. 1, decade i cut in 2^i even parts of [0.1, 1] (2^(i + 1) without a sign): a level is the middle
// of a part. Beside them 0 and 1. Codes count the levels upward, from -0.99296874 or from 0. The numbers are those of
// the f32 arithmetic that bitsandbytes' create_dynamic_map() does, bit for bit.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/base/host_device.hpp"

namespace lpt {

// Elements that no tensor has: numbers of the library's inside, beyond those of lpt_format.
constexpr lpt_format kDynamicSigned = -1;    // of first moments
constexpr lpt_format kDynamicUnsigned = -2;  // of second moments

LPT_HOST_DEVICE constexpr bool is_dynamic(lpt_format element) {
  return element == kDynamicSigned || element == kDynamicUnsigned;
}

struct DynamicTree {
  float level[256];      // by code, rising
  float threshold[255];  // a number above threshold[i] is nearer to level[i + 1]; a tie takes the lower one
  int32_t zero;          // code of 0
};

// Boundary `i` of `parts` even parts of [0.1, 1], from the nearer end, with one rounding.
constexpr float dynamic_boundary(int32_t parts, int32_t i) {
  const double step = static_cast<double>((1.0f - 0.1f) / static_cast<float>(parts));
  return i < (parts + 1) / 2 ? static_cast<float>(static_cast<double>(0.1f) + step * i)
                             : static_cast<float>(1.0 - step * (parts - i));
}

constexpr DynamicTree make_dynamic_tree(bool is_signed) {
  DynamicTree tree = {};
  tree.zero = is_signed ? 127 : 0;
  double decade = 1e-6;
  int32_t above = tree.zero + 1;
  for (int32_t i = 0; i < 7; ++i) {
    const int32_t parts = 1 << (is_signed ? i : i + 1);
    for (int32_t part = 0; part < parts; ++part) {
      const float middle = (dynamic_boundary(parts, part) + dynamic_boundary(parts, part + 1)) / 2.0f;
      const float level = static_cast<float>(decade) * middle;
      tree.level[above] = level;
      if (is_signed) tree.level[2 * tree.zero - above] = -level;
      ++above;
    }
    decade = i == 5 ? 1.0 : decade * 10.0;
  }
  tree.level[255] = 1.0f;
  for (int32_t i = 0; i < 255; ++i) tree.threshold[i] = (tree.level[i] + tree.level[i + 1]) * 0.5f;
  return tree;
}

constexpr DynamicTree kSignedTree = make_dynamic_tree(true);
constexpr DynamicTree kUnsignedTree = make_dynamic_tree(false);

// The code of the nearest level: how many thresholds are below the value. NaN goes to the least code.
LPT_HOST_DEVICE static inline uint32_t encode_dynamic(const DynamicTree &tree, float value) {
  uint32_t code = 0;
  for (uint32_t half = 128; half > 0; half /= 2) {
    if (value > tree.threshold[code + half - 1]) code += half;
  }
  return code;
}

}  // namespace lpt
