// Kernels of linear layers that exist only for devices. The host can neither write a vector in device memory nor read the
// values that forward saved there. Kernels compute the values that depend on them.
#pragma once

#include <span>

#include "kernels/linear/signs.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Computes target[c] = sign_of(signs, random, size, c) for `count` columns.
struct RotationSignsRequest {
  lpt_hadamard_signs signs;
  int32_t size;
  RandomSource random;
  uint32_t role;         // role of the random stream that `seed` defines
  const SignSeed *seed;  // NULL, or in device memory: replaces seed, stream and step of `random`
  int64_t count;
  float *target;
};

// Writes eight words that are passed as kernel arguments.
struct WordsRequest {
  uint64_t word[8];
  uint64_t *target;
};

// Sets every element of the first row to 1.
struct OnesRequest {
  MatrixView target;  // f32, bf16 or f16
};

// Bit c mod 8 of byte c / 8 of a row is 1 if the cast to `codes` did not clip element (r, c). This holds for a NaN and for
// |numbers(r, c)| <= largest · tensor scale · block scale of codes(r, c).
struct ClipMaskRequest {
  MatrixView numbers, codes;  // numbers: f32, column_stride 1; codes: the result of their cast
  float largest;              // largest value of the element format
  uint8_t *mask;              // written; each row begins at a byte
};

// Sets numbers(r, c) to 0 if its bit is 0.
struct ClearClippedRequest {
  MatrixView numbers;  // f32, column_stride 1
  const uint8_t *mask;
};

void rotation_signs_cuda(const RotationSignsRequest &request, void *stream);
void words_cuda(const WordsRequest &request, void *stream);
void ones_cuda(const OnesRequest &request, void *stream);
void clip_mask_cuda(const ClipMaskRequest &request, void *stream);
void clear_clipped_cuda(const ClearClippedRequest &request, void *stream);

std::span<const KernelEntry<RotationSignsRequest>> rotation_signs_device_kernels();
std::span<const KernelEntry<WordsRequest>> words_device_kernels();
std::span<const KernelEntry<OnesRequest>> ones_device_kernels();
std::span<const KernelEntry<ClipMaskRequest>> clip_mask_device_kernels();
std::span<const KernelEntry<ClearClippedRequest>> clear_clipped_device_kernels();

}  // namespace lpt
