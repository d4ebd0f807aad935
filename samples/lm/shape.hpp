// The sizes of a decoder, and how exactly it computes and keeps its numbers.
#pragma once

#include <cstdint>
#include <string>

#include "lpt.h"

namespace lm {

inline constexpr int64_t kVocabulary = 256;  // bytes

struct ModelShape {
  int64_t width = 128;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t hidden = 352;    // of the gated unit: about 8/3 of the width
  int64_t sequence = 128;  // positions that attention sees

  int64_t head_width() const { return width / heads; }
};

// Throws Error, naming the number, unless the sizes make a model.
void check_shape(const ModelShape &shape);

// A recipe's name spelled out: what the blocks' linears cast, and in which formats matrices and their moments are kept.
// Norm weights are always f32: there are few of them, and no weight decay holds them back.
struct Precision {
  std::string recipe = "f32";
  std::string head_recipe = "f32";
  lpt_format weight = LPT_FORMAT_F32;
  lpt_format first_moment = LPT_FORMAT_F32;
  lpt_format second_moment = LPT_FORMAT_F32;
  lpt_rounding weight_rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_smoothing smoothing = LPT_SMOOTHING_NONE;
};

// "f32", "bf16" or "fp8_trillion"; throws Error for another name.
Precision precision_of(const std::string &recipe);

}  // namespace lm
