// The limits of this machine, measured: what a kernel's speed is compared with. All of one thread.
#pragma once

#include <cstddef>

namespace lpt::bench {

// What multiplies: fused multiply-adds of f32, vdpbf16ps, vpdpbusd; tiles of bf16 and of int8 (tdpbf16ps, tdpbssd).
enum class Dot { kF32, kBf16, kInt8, kBf16Tiles, kInt8Tiles };

// GFLOP/s of one kind in the widest vectors there are: the best of some runs of a fraction of a millisecond. 0: the
// CPU has no such instruction. Without AVX-512 only f32 is there. Tiles are requested only where the process has leave
// to use them: a context of LPT_ISA_X86_AMX can be made.
double dot_peak(Dot dot, bool has_avx512 = true);

// Seconds to read these bytes once, in order.
double read_seconds(const void *data, size_t bytes);

// Puts the calling thread on the last core that it may use.
void pin_thread();

// Seconds on a clock that only goes forward.
double now();

// Load of the last minute; a figure taken above 1.3 on one thread says little.
double load_average();

}  // namespace lpt::bench
