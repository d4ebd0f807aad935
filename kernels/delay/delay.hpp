// Correction of gradients for parameters of the previous step: g + factor · g · g · (mean - own) (DC-S3GD, arXiv 1911.02516).
#pragma once

#include <cstdint>
#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"

namespace lpt {

struct DelaySums {
  double gradient_squares = 0.0;
  double correction_squares = 0.0;  // of g · g · (mean - own)
};

// Adjacent elements of f32, bf16, f16 or f64. Operations are in f64, each rounded once: the distance, g · g, their product, its
// product with the factor, and the sum. Sums add element i to lane i mod 8, then lane i + width to lane i for widths 4, 2, 1.
struct DelayRequest {
  int64_t count;
  const void *own, *mean;
  void *gradient;
  lpt_format own_format, mean_format, gradient_format;
  double factor;    // of delay_apply, which changes the gradient; to 16 bits it is rounded by way of f32
  DelaySums *sums;  // written by delay_sums
};

std::span<const KernelEntry<DelayRequest>> delay_sums_kernels();
std::span<const KernelEntry<DelayRequest>> delay_apply_kernels();

// Kernels of the tables.
void delay_sums_ref(const DelayRequest &request);
void delay_apply_ref(const DelayRequest &request);

}  // namespace lpt
