// What the CPU has, as clusters with fixed meaning.
#pragma once

#include <cstdint>
#include <string>

#include "lpt.h"

namespace lpt {

using CpuFeatures = uint32_t;

constexpr CpuFeatures kCpuAvx2 = 1;        // AVX2, FMA, F16C
constexpr CpuFeatures kCpuAvx512 = 2;      // F, BW, VL, DQ, VBMI
constexpr CpuFeatures kCpuAvx512Bf16 = 4;  // bf16 dot products
constexpr CpuFeatures kCpuAvx512Vnni = 8;  // int8 dot products, VBMI2
constexpr CpuFeatures kCpuAmx = 16;        // tiles, bf16 and int8, with leave to use them
constexpr CpuFeatures kCpuNeon = 32;       // Advanced SIMD of 64-bit Arm

// What this CPU and operating system offer; read once.
CpuFeatures cpu_features();

// What a context with this isa may use of `available`.
CpuFeatures allowed_features(lpt_isa isa, CpuFeatures available);

// "x86_avx2 x86_avx512", or "none".
std::string feature_names(CpuFeatures features);

// Whether memory is read fastest in several places in turn (kernels/common/prefetcher.hpp): on CPUs of Intel.
bool has_spread_reads();

// Cores that the affinity mask and the cgroup grant; at least 1.
int32_t usable_cores();

}  // namespace lpt
