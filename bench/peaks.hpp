// Measured limits of this machine for one thread, the reference of kernel speeds.
#pragma once

#include <cstddef>

namespace lpt::bench {

// The multiplication: fused multiply-adds of f32, vdpbf16ps, vpdpbusd; tiles of bf16 and of int8 (tdpbf16ps, tdpbssd).
enum class Dot { kF32, kBf16, kInt8, kBf16Tiles, kInt8Tiles };

// Returns GFLOP/s of one kind in the widest vectors: the best of some runs of a fraction of a millisecond. Returns 0 if the CPU
// lacks the instruction, or if Linux does not permit this process to use tiles. Without AVX-512 there is no bf16, and int8 is
// vpmaddubsw with vpaddw, which AVX2 has.
double dot_peak(Dot dot, bool has_avx512 = true);

// Returns the seconds to read these bytes once, in order.
double read_seconds(const void *data, size_t bytes);

// Pins the calling thread to the last core that it may use.
void pin_thread();

// Returns the seconds of a monotonic clock.
double now();

// Returns the load of the last minute. Measurements of one thread at a load above 1.3 are unreliable.
double load_average();

}  // namespace lpt::bench
