// The vectors of the instruction set that a file is compiled for. A source `simd_*.cpp` is compiled once for each of them
// (kernels/CMakeLists.txt), so that its loops are written once; LPT_KERNEL(name) is a kernel's name with that of the
// instruction set, such as softmax_forward_x86_avx2.
//
// Each header defines, with internal linkage and gcc's and clang's operators of vectors:
//   F32, F64, I32, U32   vectors of kLanes numbers, F64 of half as many; U16: kLanes codes of 16 bits
//   Mask                 a bool for each lane of an F32
//   ActiveLanes          which lanes of the last vector of a row are valid: all_lanes(), first_lanes(count)
// and the functions in simd_avx2.hpp; simd_neon.hpp has only those that its families use.
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
