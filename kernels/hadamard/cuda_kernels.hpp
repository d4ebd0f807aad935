// What the CUDA files of this family offer, and their tables.
#pragma once

#include <span>

#include "kernels/hadamard/hadamard.hpp"
#include "src/base/kernel_entry.hpp"

namespace lpt {

// What only devices have of this family: there the host cannot read a caller's vector, so what follows from it is a row.
//   factors[i] = s(i mod `given`),  s = 1 or -1 as int8 numbers are positive or negative,
//                                   s = 1 / number, the largest f32 at most, of f32 and e8m0fnu
struct FactorRequest {
  lpt_format format;  // int8, f32, e8m0fnu
  const void *source;
  int64_t given;
  int64_t count;
  float *factors;  // written
};

void factors_cuda(const FactorRequest &request, void *stream);

// Sources with adjacent columns. A target of bf16 or f16 is rounded to nearest even.
void hadamard_cuda(const HadamardRequest &request, void *stream);

std::span<const KernelEntry<FactorRequest>> factor_device_kernels();
std::span<const KernelEntry<HadamardRequest>> hadamard_device_kernels();

}  // namespace lpt
