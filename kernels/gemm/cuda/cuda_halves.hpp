// Exact conversion of 4-bit and 8-bit codes to pairs of 16-bit floats in few instructions. A word has eight 4-bit codes, the
// first in the lowest bits. Pair i of a word consists of codes i and i + 4, which one mask extracts.
#pragma once

#include "kernels/common/cuda_mma.hpp"

namespace lpt {

// Constants of a 16-bit format, duplicated in a word. kHalvesOfEight is 2^M + 8 for M mantissa bits, so that the last bits of
// the mantissa count ones.
template <Dtype kDtype>
constexpr uint32_t kHalvesOfOne = kDtype == Dtype::kBf16 ? 0x3F803F80u : 0x3C003C00u;
template <Dtype kDtype>
constexpr uint32_t kHalvesOfEight = kDtype == Dtype::kBf16 ? 0x43084308u : 0x64086408u;

// Converts a pair of int4. A code with its sign bit inverted is the value plus 8.
template <Dtype kDtype>
__device__ __forceinline__ uint32_t int4_pair(uint32_t word, int32_t pair) {
  const uint32_t lifted = and_xor(word >> (4 * pair), 0x000F000Fu, kHalvesOfEight<kDtype>);
  return multiply_add_halves<kDtype>(lifted, kHalvesOfOne<kDtype>, kHalvesOfEight<kDtype> | 0x80008000u);
}

// Returns codes 2i and 2i + 1 of a word at the positions of codes 0 and 4. Operands that need adjacent codes use it.
// `transposed_copy` is the word shifted right by one code. `i` is a compile-time constant, so that this is one instruction.
__device__ __forceinline__ uint32_t adjacent_codes(uint32_t word, uint32_t transposed_copy, int32_t i) {
#if defined(LPT_SIMT)
  return (word >> (8 * i) & 0xFFu) | (transposed_copy >> (8 * i) & 0xFFu) << 16;
#else
  return __byte_perm(word, transposed_copy, 0x0400u + 0x0111u * static_cast<uint32_t>(i));
#endif
}

// Looks up the bytes of the table low : high by the three low bits of the four codes in the low half of `codes`. A code whose
// fourth bit is set returns 0: that bit selects copies of the sign of a byte, and all table bytes are below 128.
__device__ __forceinline__ uint32_t bytes_of_codes(uint32_t low, uint32_t high, uint32_t codes) {
#if defined(LPT_SIMT)
  uint32_t bytes = 0;
  for (int32_t i = 0; i < 4; ++i) {
    const uint32_t code = codes >> (4 * i) & 15u;
    if (code < 8) bytes |= ((code < 4 ? low : high) >> (8 * (code % 4)) & 0xFFu) << (8 * i);
  }
  return bytes;
#else
  uint32_t bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(codes));
  return bytes;
#endif
}

// Converts the four int4 in the low half of `codes` to e4m3fn, in their order, exactly. 0 to 7 are read from one table. For -8
// to -1 a second table has half of the code, so that doubling sets the sign bit.
__device__ __forceinline__ uint32_t e4m3_of_int4(uint32_t codes) {
  const uint32_t positive = bytes_of_codes(0x44403800u, 0x4E4C4A48u, codes);
  const uint32_t half_of_negative = bytes_of_codes(0x65666768u, 0x5C606264u, codes ^ 0x8888u);
  return positive + 2 * half_of_negative;
}

// Conversion of e2m1fn to bf16. The three bits below the sign are moved to the last bits of the exponent and the first bit of
// the mantissa of bf16. The result is the value times 2^-126. Subnormals of e2m1fn are subnormals of bf16.
constexpr uint32_t kHalvesOfTwoTo126 = 0x7E807E80u;

__device__ __forceinline__ uint32_t moved_left(uint32_t word, int32_t bits) {
  return bits >= 0 ? word << bits : word >> -bits;
}

__device__ __forceinline__ uint32_t e2m1_pair(uint32_t word, int32_t pair, uint32_t scales) {
  const uint32_t small =
      (moved_left(word, 12 - 4 * pair) & 0x80008000u) | (moved_left(word, 6 - 4 * pair) & 0x01C001C0u);
  return multiply_halves<Dtype::kBf16>(multiply_halves<Dtype::kBf16>(small, kHalvesOfTwoTo126), scales);
}

// Returns the scale of a block as bf16, exactly, duplicated in a word.
template <lpt_format kScale>
__device__ __forceinline__ uint32_t scale_halves(uint32_t code) {
  uint32_t half;
  if constexpr (kScale == LPT_FORMAT_E8M0FNU) {
    half = code == 0 ? 0x0040u : code == 0xFFu ? 0x7FC0u : code << 7;
  } else {
    constexpr uint32_t kTwoTo120 = 0x7B807B80u;
    half = (code & 0x7Fu) == 0x7Fu ? 0x7FC0u : (code & 0x7Fu) << 4 | (code & 0x80u) << 8;
    return multiply_halves<Dtype::kBf16>(half * 0x00010001u, kTwoTo120);
  }
  return half * 0x00010001u;
}

// Converts two e4m3fn, in the low bytes of the halves of `pair`, to f16.
__device__ __forceinline__ uint32_t f16_of_e4m3(uint32_t pair) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<uint16_t>((pair & 0xFFu) | pair >> 8)));
  return halves;
#else
  constexpr uint32_t kTwoTo8 = 0x5C005C00u;
  const uint32_t small = (pair << 8 & 0x80008000u) | (pair << 7 & 0x3F803F80u);
  uint32_t halves = multiply_halves<Dtype::kF16>(small, kTwoTo8);
  if ((pair & 0x7Fu) == 0x7Fu) halves |= 0x7FFFu;
  if ((pair >> 16 & 0x7Fu) == 0x7Fu) halves |= 0x7FFF0000u;
  return halves;
#endif
}

}  // namespace lpt
