// MMA instructions of four warps on the tensor cores of Hopper: wgmma m64n64k32 of e4m3fn with f32 sums, for sm_90a only. The
// left operand is in registers, the right one in shared memory. On the CPU, the same operands are multiplied in C++, with the
// element positions of PTX ("Register fragments for wgmma.mma_async.m64nNk32", "Matrix descriptor format").
//
// Lane l of warp w has group g = l / 4 and index t = l % 4 in its group:
//   left   64 × 32, four words: rows 16w + g and 16w + g + 8, then the same at columns + 16; a word has columns 4t to 4t + 3
//   sum    64 × 64, 32 elements: eight adjacent sums of cuda_mma.hpp, whose rows begin at 16w
//   right  32 × 64: a column has 128 adjacent bytes of k, of which an MMA instruction reads 32. Eight columns are 1024 bytes,
//          aligned to 1024. Chunk i of 16 bytes of column c is stored at position i ^ c % 8 (128-byte swizzle).
#pragma once

#include "kernels/common/cuda_mma.hpp"

namespace lpt {

struct WgmmaLeft {
  uint32_t word[4];
};
struct WgmmaSum {
  float number[32];
};

// Position of an element of the left operand: its thread of 128, word, and byte of the word (0: lowest).
struct WgmmaPosition {
  uint32_t thread;
  int32_t word, byte;
};

LPT_HOST_DEVICE constexpr WgmmaPosition wgmma_left_place(int32_t row, int32_t k) {
  return {static_cast<uint32_t>(row / 16 * 32 + row % 8 * 4 + k % 16 / 4), row % 16 / 8 + k / 16 * 2, k % 4};
}
LPT_HOST_DEVICE constexpr int32_t wgmma_sum_row(uint32_t thread, int32_t place) {
  return static_cast<int32_t>(thread / 32) * 16 + mma_sum_row(thread % 32, place % 4);
}
LPT_HOST_DEVICE constexpr int32_t wgmma_sum_column(uint32_t thread, int32_t place) {
  return place / 4 * 8 + mma_sum_column(thread % 32, place % 4);
}

constexpr int32_t kWgmmaStep = 128;        // bytes of k of a column in shared memory
constexpr uint32_t kWgmmaBoundary = 1024;  // alignment of eight columns
LPT_HOST_DEVICE constexpr int32_t wgmma_chunk_place(int32_t column, int32_t chunk) { return chunk ^ (column & 7); }

// Returns the descriptor of the right operand, in units of 16 bytes. Bits 0 to 13 are its address. Bits 16 to 29 are a stride
// that is unused with rows of 128 bytes. Bits 32 to 45 are the stride from eight columns to the next eight. Bits 62 and 63 have
// the value 1: 128-byte swizzle.
LPT_HOST_DEVICE constexpr uint64_t wgmma_descriptor(uint32_t address) {
  return uint64_t{address & 0x3FFFFu} >> 4 | uint64_t{1} << 16 | uint64_t{kWgmmaBoundary >> 4} << 32 |
         uint64_t{1} << 62;
}

// Returns the address from which such an MMA instruction reads byte k of a column.
LPT_HOST_DEVICE constexpr uint32_t wgmma_right_address(uint64_t descriptor, int32_t column, int32_t k) {
  const auto begin = static_cast<uint32_t>(descriptor & 0x3FFFu) << 4;
  const auto step = static_cast<uint32_t>(descriptor >> 32 & 0x3FFFu) << 4;
  const uint32_t straight =
      begin + static_cast<uint32_t>(column / 8) * step + static_cast<uint32_t>(column % 8 * kWgmmaStep + k);
  return straight ^ (straight >> 7 & 7u) << 4;
}

#if defined(LPT_SIMT)

inline uint32_t shared_address(const void *address) {
  return static_cast<uint32_t>(static_cast<const uint8_t *>(address) - static_cast<uint8_t *>(simt::dynamic_shared()));
}

inline void begin_wgmma() {}
inline void end_wgmma() {}
inline void fence_copies_for_wgmma() {}

// The sums of a warp depend only on its part of the left operand.
inline void multiply_add(WgmmaSum &sum, const WgmmaLeft &left, uint64_t right, bool adds) {
  static const WgmmaLeft *posted[32][32];
  const uint32_t thread = thread_of_block(), of_group = thread % 128;
  const WgmmaLeft **const warp = posted[thread / 32];
  warp[thread % 32] = &left;
  __syncwarp();
  const auto *const shared = static_cast<const uint8_t *>(simt::dynamic_shared());
  for (int32_t i = 0; i < 32; ++i) {
    const int32_t row = wgmma_sum_row(of_group, i), column = wgmma_sum_column(of_group, i);
    float total = adds ? sum.number[i] : 0.0f;
    for (int32_t k = 0; k < 32; ++k) {
      const WgmmaPosition at = wgmma_left_place(row, k);
      const uint32_t code = warp[at.thread % 32]->word[at.word] >> (8 * at.byte) & 0xFFu;
      total += decode(kElementE4m3fn, code) * decode(kElementE4m3fn, shared[wgmma_right_address(right, column, k)]);
    }
    sum.number[i] = total;
  }
  __syncwarp();
}

#else

__device__ __forceinline__ uint32_t shared_address(const void *address) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(address));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// begin_wgmma() orders earlier register accesses before MMA instructions that read or add to these registers. end_wgmma() waits
// for all MMA instructions.
__device__ __forceinline__ void begin_wgmma() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
__device__ __forceinline__ void end_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : : : "memory");
}

// Makes shared memory that this thread wrote or waited for visible to MMA instructions after the next barrier.
__device__ __forceinline__ void fence_copies_for_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

// Starts sum = left · right, plus the previous sum if `adds`. end_wgmma() waits for it.
__device__ __forceinline__ void multiply_add(WgmmaSum &sum, const WgmmaLeft &left, uint64_t right, bool adds) {
  float *const s = sum.number;
  asm volatile(
      "{\n.reg .pred adds;\nsetp.ne.b32 adds, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, "
      "%35}, "
      "%36, adds, 1, 1;\n}"
      : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7]), "+f"(s[8]),
        "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15]), "+f"(s[16]),
        "+f"(s[17]), "+f"(s[18]), "+f"(s[19]), "+f"(s[20]), "+f"(s[21]), "+f"(s[22]), "+f"(s[23]), "+f"(s[24]),
        "+f"(s[25]), "+f"(s[26]), "+f"(s[27]), "+f"(s[28]), "+f"(s[29]), "+f"(s[30]), "+f"(s[31])
      : "r"(left.word[0]), "r"(left.word[1]), "r"(left.word[2]), "r"(left.word[3]), "l"(right),
        "r"(static_cast<int32_t>(adds)));
}

#else

// Not called on other devices: the kernels that use these functions require compute capability 9.0.
__device__ __forceinline__ void begin_wgmma() {}
__device__ __forceinline__ void end_wgmma() {}
__device__ __forceinline__ void fence_copies_for_wgmma() {}
__device__ __forceinline__ void multiply_add(WgmmaSum &, const WgmmaLeft &, uint64_t, bool) { __trap(); }

#endif
#endif

}  // namespace lpt
