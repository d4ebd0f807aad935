#include "bench/peaks.hpp"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <chrono>
#include <vector>

#include "kernels/common/intrinsics.hpp"

namespace lpt::bench {
namespace {

constexpr int kRuns = 9;
constexpr long kSteps = 400000;

// Smallest time of several runs.
template <typename Run>
double least_seconds(Run run) {
  double least = 1e9;
  for (int i = 0; i < kRuns; ++i) {
    const double start = now();
    run();
    const double seconds = now() - start;
    if (seconds < least) least = seconds;
  }
  return least;
}

// 24 sums: vdpbf16ps has a latency of 6 cycles and some processors start two a cycle, which needs more than 12. The empty
// assembly keeps the sums apart, in registers.
constexpr int kSums = 24;

__attribute__((target("avx512f"))) void run_f32_avx512() {
  __m512 sums[kSums];
#pragma GCC unroll 24
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_setzero_ps();
  const __m512 factor = _mm512_set1_ps(0.5f);
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_fmadd_ps(factor, factor, sums[i]);
      asm volatile("" : "+v"(sums[i]));
    }
  }
}

__attribute__((target("avx512f,avx512bf16"))) void run_bf16() {
  __m512 sums[kSums];
#pragma GCC unroll 24
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_setzero_ps();
  const __m512i factor = _mm512_set1_epi16(0x3F00);  // 0.5
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_dpbf16_ps(sums[i], (__m512bh)factor, (__m512bh)factor);
      asm volatile("" : "+v"(sums[i]));
    }
  }
}

__attribute__((target("avx512f,avx512vnni"))) void run_int8() {
  __m512i sums[kSums];
#pragma GCC unroll 24
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_setzero_si512();
  const __m512i factor = _mm512_set1_epi8(1);
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) {
      sums[i] = _mm512_dpbusd_epi32(sums[i], factor, factor);
      asm volatile("" : "+v"(sums[i]));
    }
  }
}

constexpr int kSumsAvx2 = 12;

__attribute__((target("avx2,fma"))) void run_f32_avx2() {
  __m256 sums[kSumsAvx2];
#pragma GCC unroll 12
  for (int i = 0; i < kSumsAvx2; ++i) sums[i] = _mm256_setzero_ps();
  const __m256 factor = _mm256_set1_ps(0.5f);
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kSumsAvx2; ++i) {
      sums[i] = _mm256_fmadd_ps(factor, factor, sums[i]);
      asm volatile("" : "+x"(sums[i]));
    }
  }
}

double gflops(void (*run)(), double flops_a_step) { return flops_a_step * kSteps / least_seconds(run) / 1e9; }

double copy_bandwidth() {
  constexpr size_t kBytes = size_t{128} << 20;
  const std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  return 2.0 * static_cast<double>(kBytes) / least_seconds([&] { memcpy(to.data(), from.data(), kBytes); }) / 1e9;
}

}  // namespace

Peaks measure_peaks() {
  Peaks peaks;
  if (__builtin_cpu_supports("avx512f")) {
    peaks.f32_gflops = gflops(run_f32_avx512, kSums * 16 * 2);
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    peaks.f32_gflops = gflops(run_f32_avx2, kSumsAvx2 * 8 * 2);
  }
  if (__builtin_cpu_supports("avx512bf16")) peaks.bf16_gflops = gflops(run_bf16, kSums * 16 * 4);
  if (__builtin_cpu_supports("avx512vnni")) peaks.int8_gflops = gflops(run_int8, kSums * 16 * 8);
  peaks.copy_gbs = copy_bandwidth();
  return peaks;
}

void pin_thread() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

}  // namespace lpt::bench
