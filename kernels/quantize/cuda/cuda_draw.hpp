// What only devices have of this family: random bits as a matrix, and as signs.
#pragma once

#include <span>

#include "src/base/kernel_entry.hpp"
#include "src/base/philox.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// target(r, c) = random_bits(random, r, c), 8 or 16 bits each as `random` says, lowest byte first.
struct DrawRequest {
  RandomSource random;  // without words of the caller
  MatrixView target;    // column_stride 1; its format's bits are those of the source
};

// signs[i] = -1 where the lowest of random_bits(random, 0, i) is set, else 1.
struct SignRequest {
  RandomSource random;  // 16 bits each, without words of the caller
  int8_t *signs;        // written
  int64_t count;
};

void draw_cuda(const DrawRequest &request, void *stream);
void signs_cuda(const SignRequest &request, void *stream);

std::span<const KernelEntry<DrawRequest>> draw_device_kernels();
std::span<const KernelEntry<SignRequest>> sign_device_kernels();

}  // namespace lpt
