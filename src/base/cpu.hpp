// CPU features, in groups with fixed meaning.
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
constexpr CpuFeatures kCpuAmx = 16;        // tiles, bf16 and int8, with permission to use them
constexpr CpuFeatures kCpuNeon = 32;       // Advanced SIMD of 64-bit Arm

// Returns the features of this CPU and operating system. They are detected once.
CpuFeatures cpu_features();

// Returns the features of `available` that a context with this isa may use.
CpuFeatures allowed_features(lpt_isa isa, CpuFeatures available);

// Returns for example "x86_avx2 x86_avx512", or "none".
std::string feature_names(CpuFeatures features);

// Returns true if memory is read fastest from several places in alternation (kernels/common/prefetcher.hpp): on Intel CPUs.
bool prefers_interleaved_reads();

// Returns true if bf16 dot products do fewer multiply-adds per second than f32 does: on Intel CPUs.
bool has_slow_dots();

// Returns the number of cores that the affinity mask and the cgroup permit; at least 1.
int32_t usable_cores();

}  // namespace lpt
