// The 8-bit dynamic tree of the optimizers of bitsandbytes (arXiv 2110.02861). Only optimizer states use this element.
//
// The decades 10^-6 .. 1 have index i = 0 .. 6. Decade i is divided into 2^i equal parts of [0.1, 1], or 2^(i + 1) parts
// without a sign. A level is the center of a part; 0 and 1 are levels, too. Codes count the levels upward from -0.99296874,
// or from 0 without a sign. Levels equal those of create_dynamic_map() of bitsandbytes bit for bit: the code repeats its f32
// arithmetic.
#pragma once

#include <cstdint>

#include "lpt.h"
#include "src/base/host_device.hpp"

namespace lpt {

// Internal element identifiers outside the range of lpt_format. No tensor has such an element.
constexpr lpt_format kDynamicSigned = -1;    // for first moments
constexpr lpt_format kDynamicUnsigned = -2;  // for second moments

LPT_HOST_DEVICE constexpr bool is_dynamic(lpt_format element) {
  return element == kDynamicSigned || element == kDynamicUnsigned;
}

struct DynamicTree {
  float level[256];      // by code, in ascending order
  float threshold[255];  // a value above threshold[i] rounds to level[i + 1] or higher; ties round down
  int32_t zero;          // code of 0
};

// Returns boundary `i` of `parts` equal parts of [0.1, 1]. It is computed from the nearer end and rounded once.
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

// Returns the code of the nearest level: the number of thresholds below the value. NaN gets code 0.
LPT_HOST_DEVICE static inline uint32_t encode_dynamic(const DynamicTree &tree, float value) {
  uint32_t code = 0;
  for (uint32_t half = 128; half > 0; half /= 2) {
    if (value > tree.threshold[code + half - 1]) code += half;
  }
  return code;
}

}  // namespace lpt
