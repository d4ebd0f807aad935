// The sizes of a decoder.
#pragma once

#include <cstdint>

namespace lm {

inline constexpr int64_t kVocabulary = 256;  // bytes

struct ModelShape {
  int64_t width = 128;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t hidden = 352;    // of the gated unit: about 8/3 of the width
  int64_t sequence = 128;  // positions that attention sees

  int64_t head_width() const { return width / heads; }

  // What one of so many ranks has inside its layers: heads with their columns, and columns of the gated unit.
  ModelShape part(int64_t ranks) const {
    return {.width = width / ranks,
            .layers = layers,
            .heads = heads / ranks,
            .hidden = hidden / ranks,
            .sequence = sequence};
  }
};

// Throws Error, naming the number, unless the sizes make a model that so many ranks can share.
void check_shape(const ModelShape &shape, int64_t ranks = 1);

}  // namespace lm
