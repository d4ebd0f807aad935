// The dimensions of a decoder.
#pragma once

#include <cstdint>

namespace lm {

inline constexpr int64_t kVocabulary = 256;  // bytes

struct ModelShape {
  int64_t width = 128;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t hidden = 352;    // of the gated unit: about 8/3 of the width
  int64_t sequence = 128;  // positions of attention

  int64_t head_width() const { return width / heads; }

  // Returns the dimensions inside the layers of one rank: heads with their columns, and columns of the gated unit.
  ModelShape part(int64_t ranks) const {
    return {.width = width / ranks,
            .layers = layers,
            .heads = heads / ranks,
            .hidden = hidden / ranks,
            .sequence = sequence};
  }
};

// Throws Error that names the value, unless the dimensions are valid and divisible by the number of ranks.
void check_shape(const ModelShape &shape, int64_t ranks = 1);

}  // namespace lm
