// Declarations and table entries of kernels whose source is compiled for each instruction set (simd.hpp).
#pragma once

#include "src/base/kernel_entry.hpp"

// Declares name_x86_avx512(const Request &) and the same for the other instruction sets.
#define LPT_DECLARE_SIMD(name, Request)           \
  void name##_x86_avx512(const Request &request); \
  void name##_x86_avx2(const Request &request);   \
  void name##_arm_neon(const Request &request);

#if defined(LPT_HAVE_X86_AVX512) || defined(LPT_HAVE_X86_AVX2)
#define LPT_HAVE_X86
#endif
#if defined(LPT_HAVE_X86) || defined(LPT_HAVE_ARM_NEON)
#define LPT_HAVE_SIMD
#endif

#if defined(LPT_HAVE_X86_AVX512)
#define LPT_AVX512_ENTRY(name, reason) {#name "_x86_avx512", kCpuAvx512, reason, name##_x86_avx512},
#else
#define LPT_AVX512_ENTRY(name, reason)
#endif
#if defined(LPT_HAVE_X86_AVX2)
#define LPT_AVX2_ENTRY(name, reason) {#name "_x86_avx2", kCpuAvx2, reason, name##_x86_avx2},
#else
#define LPT_AVX2_ENTRY(name, reason)
#endif
#if defined(LPT_HAVE_ARM_NEON)
#define LPT_NEON_ENTRY(name, reason) {#name "_arm_neon", kCpuNeon, reason, name##_arm_neon},
#else
#define LPT_NEON_ENTRY(name, reason)
#endif

// The entries of a kernel for the instruction sets that were built, fastest first. A reference entry follows. LPT_X86_ENTRIES
// is for families without Arm kernels (LPT_SIMD_FAMILIES_arm_neon in cmake/isa.cmake).
#define LPT_X86_ENTRIES(name, reason) LPT_AVX512_ENTRY(name, reason) LPT_AVX2_ENTRY(name, reason)
#define LPT_SIMD_ENTRIES(name, reason) LPT_X86_ENTRIES(name, reason) LPT_NEON_ENTRY(name, reason)
#define LPT_REF_ENTRY(name, reason) \
  { #name "_ref", 0, reason, name##_ref }
