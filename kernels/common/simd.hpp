// Vectors of the instruction set that a file is compiled for. A source `simd_*.cpp` is compiled once per instruction set
// (kernels/CMakeLists.txt), so that its loops are written once. LPT_KERNEL(name) appends the instruction set to a kernel name:
// softmax_forward_x86_avx2.
//
// Each header defines the following with internal linkage, using the vector operators of gcc and clang:
//   F32, F64, I32, U32   vectors of kLanes elements, F64 of half as many; U16: kLanes codes of 16 bits
//   Mask                 a bool for each lane of an F32
//   ActiveLanes          the valid lanes of the last vector of a row: all_lanes(), first_lanes(count)
// Each header also defines the functions of simd_avx2.hpp; simd_neon.hpp has only those that its families use.
#pragma once

#if defined(__AVX512F__)
#include "kernels/common/simd_avx512.hpp"
#elif defined(__AVX2__)
#include "kernels/common/simd_avx2.hpp"
#else
#include "kernels/common/simd_neon.hpp"
#endif

namespace lpt {

// `condition` is the result of a comparison of vectors, such as a < b.
[[gnu::always_inline]] static inline F32 select(I32 condition, F32 yes, F32 no) {
  return f32_of(condition ? i32_of(yes) : i32_of(no));
}

}  // namespace lpt

#define LPT_JOIN_NAMES(a, b) a##_##b
#define LPT_JOIN_EXPANDED(a, b) LPT_JOIN_NAMES(a, b)
#define LPT_KERNEL(name) LPT_JOIN_EXPANDED(name, LPT_ISA)
