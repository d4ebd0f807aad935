// A list of scales as a kernel argument, passed by value, because the list of the caller is in host memory.
#pragma once

#include "kernels/common/launch.hpp"
#include "kernels/quantize/cuda/cuda_scale.hpp"

namespace lpt {

struct ScaleList {
  float scale[kLongestListOnDevice];
  int32_t count;
};

// Returns the first scale of the list that is at least `ideal`, or the last one, as listed_scale() of block_scale.hpp does.
__device__ __forceinline__ float listed_scale(const ScaleList &list, float ideal) {
  int32_t place = 0;
  while (place < list.count - 1 && !(list.scale[place] >= ideal)) ++place;
  return list.scale[place];
}

// Host code.

inline ScaleList scale_list_of(lpt_scale_rule rule, const float *scales, int32_t count) {
  ScaleList list = {};
  if (rule != LPT_SCALE_RULE_LIST) return list;
  list.count = count;
  for (int32_t i = 0; i < count; ++i) list.scale[i] = scales[i];
  return list;
}

}  // namespace lpt
