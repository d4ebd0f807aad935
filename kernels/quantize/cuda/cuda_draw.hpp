// Requests that only devices have: random bits as a matrix, and random signs.
#pragma once

#include <span>

#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Computes target(r, c) = random_bits(random, r, c), 8 or 16 bits each as `random` specifies, lowest byte first.
struct DrawRequest {
  RandomSource random;  // words is NULL
  MatrixView target;    // column_stride 1; elements have random.bits bits
};

// Computes signs[i] = -1 if the lowest bit of random_bits(random, 0, i) is set, otherwise 1.
struct SignRequest {
  RandomSource random;  // 16 bits each; words is NULL
  int8_t *signs;        // output
  int64_t count;
};

void draw_cuda(const DrawRequest &request, void *stream);
void signs_cuda(const SignRequest &request, void *stream);

std::span<const KernelEntry<DrawRequest>> draw_device_kernels();
std::span<const KernelEntry<SignRequest>> sign_device_kernels();

}  // namespace lpt
