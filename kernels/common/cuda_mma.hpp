// MMA instructions of a warp on tensor cores: mma.sync m16n8k16 of bf16 or f16 with f32 sums, for sm_80 and later. On the CPU,
// the same fragments are multiplied in C++, with the element positions of PTX ("Matrix fragments for mma.m16n8k16 with floating
// point type").
//
// Lane l has group g = l / 4 and index t = l % 4 in its group:
//   left   16 × 16, four words: rows g and g + 8, then the same rows at columns + 8; a word has columns 2t and 2t + 1
//   right  16 × 8, two words: rows 2t and 2t + 1 of column g, then the same at rows + 8
//   sum    16 × 8, four elements: row g, columns 2t and 2t + 1; then row g + 8
#pragma once

#include "kernels/common/cuda_fragment.hpp"

namespace lpt {

struct MmaLeft {
  uint32_t word[4];
};
struct MmaRight {
  uint32_t word[2];
};
struct MmaSum {
  float number[4];
};

// Position of an element: its lane, word, and half of the word (0: low).
struct MmaPosition {
  uint32_t lane;
  int32_t word, half;
};

LPT_HOST_DEVICE constexpr MmaPosition mma_left_place(int32_t row, int32_t k) {
  return {static_cast<uint32_t>(row % 8 * 4 + k % 8 / 2), row / 8 + k / 8 * 2, k % 2};
}
LPT_HOST_DEVICE constexpr MmaPosition mma_right_place(int32_t k, int32_t column) {
  return {static_cast<uint32_t>(column * 4 + k % 8 / 2), k / 8, k % 2};
}
LPT_HOST_DEVICE constexpr int32_t mma_sum_row(uint32_t lane, int32_t place) {
  return static_cast<int32_t>(lane / 4) + place / 2 * 8;
}
LPT_HOST_DEVICE constexpr int32_t mma_sum_column(uint32_t lane, int32_t place) {
  return static_cast<int32_t>(lane % 4) * 2 + place % 2;
}

#if defined(LPT_SIMT)

// Operands of the lanes of a warp, which all lanes read between two barriers.
struct MmaExchange {
  const MmaLeft *left[32];
  const MmaRight *right[32];
};

template <Dtype kDtype>
float mma_number(const uint32_t *words, const MmaPosition &place) {
  return number_of<kDtype>(words[place.word] >> (16 * place.half) & 0xFFFFu);
}

template <Dtype kDtype>
void multiply_add(MmaSum &sum, const MmaLeft &left, const MmaRight &right) {
  static MmaExchange exchanges[32];
  MmaExchange &warp = exchanges[thread_of_block() / 32];
  const uint32_t lane = thread_of_block() % 32;
  warp.left[lane] = &left;
  warp.right[lane] = &right;
  __syncwarp();
  for (int32_t i = 0; i < 4; ++i) {
    const int32_t row = mma_sum_row(lane, i), column = mma_sum_column(lane, i);
    for (int32_t k = 0; k < 16; ++k) {
      const MmaPosition a = mma_left_place(row, k), b = mma_right_place(k, column);
      sum.number[i] += mma_number<kDtype>(warp.left[a.lane]->word, a) * mma_number<kDtype>(warp.right[b.lane]->word, b);
    }
  }
  __syncwarp();
}

// Returns a · b + c for both halves, rounded once.
template <Dtype kDtype>
uint32_t multiply_add_halves(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (int32_t shift = 0; shift < 32; shift += 16) {
    const auto half = [&](uint32_t word) { return static_cast<double>(number_of<kDtype>(word >> shift & 0xFFFFu)); };
    result |= code_of<kDtype>(static_cast<float>(half(a) * half(b) + half(c))) << shift;
  }
  return result;
}

#else

template <Dtype kDtype>
__device__ __forceinline__ void multiply_add(MmaSum &sum, const MmaLeft &left, const MmaRight &right) {
  float *const s = sum.number;
  const uint32_t *const a = left.word, *const b = right.word;
  if constexpr (kDtype == Dtype::kBf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

template <Dtype kDtype>
__device__ __forceinline__ uint32_t multiply_add_halves(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result;
  if constexpr (kDtype == Dtype::kBf16) {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  } else {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  }
  return result;
}

#endif

// Returns (word & mask) ^ transposed_copy in one instruction. Compilers emit two if mask and transposed_copy are constants.
__device__ __forceinline__ uint32_t and_xor(uint32_t word, uint32_t mask, uint32_t transposed_copy) {
#if defined(LPT_SIMT)
  return (word & mask) ^ transposed_copy;
#else
  uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0x6A;" : "=r"(result) : "r"(word), "r"(mask), "r"(transposed_copy));
  return result;
#endif
}

// Returns the products of both halves. The addition of -0 does not change a result, not even the sign of a zero.
template <Dtype kDtype>
__device__ __forceinline__ uint32_t multiply_halves(uint32_t a, uint32_t b) {
  return multiply_add_halves<kDtype>(a, b, 0x80008000u);
}

}  // namespace lpt
