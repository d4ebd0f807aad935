// What only devices have of linear layers: there the host can neither write a vector nor read what forward has saved, so what
// follows from them is a row.
#pragma once

#include <span>

#include "kernels/linear/signs.hpp"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// target[c] = sign_of(signs, random, size, c) for `count` columns.
struct RotationSignsRequest {
  lpt_hadamard_signs signs;
  int32_t size;
  RandomSource random;
  uint32_t role;         // of the stream
  const SignSeed *seed;  // NULL, or read there in place of that of `random`
  int64_t count;
  float *target;
};

// Eight words that the launch carries.
struct WordsRequest {
  uint64_t word[8];
  uint64_t *target;
};

// Every number of a row becomes 1.
struct OnesRequest {
  MatrixView target;  // f32, bf16 or f16
};

// Bit c mod 8 of byte c / 8 of a row is 1 where |numbers(r, c)| <= largest · tensor scale · block scale of codes(r, c), or it is
// a NaN: what the cast to `codes` did not clip.
struct ClipMaskRequest {
  MatrixView numbers, codes;  // f32, column_stride 1; what they were cast to
  float largest;              // number of the element
  uint8_t *mask;              // written, rows on whole bytes
};

// numbers(r, c) becomes 0 where its bit is 0.
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
