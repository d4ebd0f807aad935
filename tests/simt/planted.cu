// Code that tools/sass.py must detect: an array with a variable index is in local memory, and loads of 32 bits are narrow.
#include "kernels/common/launch.hpp"

namespace lpt {

__global__ void planted(const float *numbers, float *sums, int count) {
  float held[32];
  for (int i = 0; i < 32; ++i) held[i] = numbers[i * blockDim.x + threadIdx.x];
  for (int i = 0; i < count; ++i) held[static_cast<int>(numbers[i]) & 31] += held[i & 31];
  sums[threadIdx.x] = held[count & 31];
}

}  // namespace lpt
