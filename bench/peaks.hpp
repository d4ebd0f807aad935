// The limits of this machine, measured: what a kernel's speed is compared with.
#pragma once

namespace lpt::bench {

// One thread. 0: the processor has no such instruction.
struct Peaks {
  double f32_gflops = 0;   // fused multiply-add in the widest vectors there are
  double bf16_gflops = 0;  // vdpbf16ps
  double int8_gflops = 0;  // vpdpbusd
  double copy_gbs = 0;     // memcpy beyond the caches, bytes read and written
};

Peaks measure_peaks();

// Puts the calling thread on the last core that it may use.
void pin_thread();

// Seconds on a clock that only goes forward.
double now();

// Load of the last minute; a figure taken above 1.3 on one thread says little.
double load_average();

}  // namespace lpt::bench
