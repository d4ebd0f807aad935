// A list of scales on its way to a kernel: by value, for the caller's own is in the CPU's memory.
#pragma once

#include "kernels/common/launch.hpp"
#include "kernels/quantize/cuda/cuda_scale.hpp"

namespace lpt {

struct ScaleList {
  float scale[kLongestListOnDevice];
  int32_t count;
};

// As listed_scale(): the first one that is as large, or the last.
__device__ __forceinline__ float listed_scale(const ScaleList &list, float ideal) {
  int32_t place = 0;
  while (place < list.count - 1 && !(list.scale[place] >= ideal)) ++place;
  return list.scale[place];
}

// ---- on the host

inline ScaleList scale_list_of(lpt_scale_rule rule, const float *scales, int32_t count) {
  ScaleList list = {};
  if (rule != LPT_SCALE_RULE_LIST) return list;
  list.count = count;
  for (int32_t i = 0; i < count; ++i) list.scale[i] = scales[i];
  return list;
}

}  // namespace lpt
