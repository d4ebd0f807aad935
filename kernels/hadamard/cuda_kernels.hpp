// Declarations of the CUDA kernels of this family, and their tables.
#pragma once

#include <span>

#include "kernels/hadamard/hadamard.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// Kernels that exist only for devices. The host cannot read a vector in device memory, so that a kernel computes the factors.
//   factors[i] = s(i mod `given`),  s = 1 or -1: the sign of an int8 element,
//                                   s = 1 / element, at most the largest f32, for f32 and e8m0fnu
struct FactorRequest {
  lpt_format format;  // int8, f32, e8m0fnu
  const void *source;
  int64_t given;
  int64_t count;
  float *factors;  // written
};

void factors_cuda(const FactorRequest &request, void *stream);

// Sources must have adjacent columns. A bf16 or f16 target is rounded to nearest even. Groups have up to 128 columns in the first
// kernel, and more in the second.
void hadamard_cuda(const HadamardRequest &request, void *stream);
void hadamard_groups_cuda(const HadamardRequest &request, void *stream);

std::span<const KernelEntry<FactorRequest>> factor_device_kernels();
std::span<const KernelEntry<HadamardRequest>> hadamard_device_kernels();

}  // namespace lpt
