#include "bench/peaks.hpp"

#include <cpuid.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

#include "kernels/common/intrinsics.hpp"

namespace lpt::bench {
namespace {

constexpr int kRuns = 5;
constexpr long kSteps = 16000;

// Returns the minimum time of several runs.
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

// 24 sums: vdpbf16ps has a latency of 6 cycles, and some CPUs start two per cycle, which needs more than 12. The empty assembly
// keeps the sums separate and in registers.
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

// Four sums, as GEMMs use: 16 by 16 elements, over 64 bytes of k.
constexpr int kTileSums = 4;

struct alignas(64) TileSetup {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

__attribute__((target("amx-tile"))) void set_up_tiles() {
  const TileSetup setup;
  asm volatile("" : : "r"(&setup) : "memory");  // the intrinsic declares only the first bytes as read
  _tile_loadconfig(&setup);
}

__attribute__((target("amx-tile,amx-bf16"))) void run_bf16_tiles() {
  set_up_tiles();
  for (long step = 0; step < kSteps; ++step) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

__attribute__((target("amx-tile,amx-int8"))) void run_int8_tiles() {
  set_up_tiles();
  for (long step = 0; step < kSteps; ++step) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
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

__attribute__((target("avx2"))) void run_int8_avx2() {
  __m256i sums[kSumsAvx2], product;
#pragma GCC unroll 12
  for (int i = 0; i < kSumsAvx2; ++i) sums[i] = _mm256_setzero_si256();
  const __m256i factor = _mm256_set1_epi8(1);
  for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kSumsAvx2; ++i) {
      asm volatile("vpmaddubsw %2, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(sums[i]), "=&x"(product) : "x"(factor));
    }
  }
}

double gflops(void (*run)(), double flops_a_step) { return flops_a_step * kSteps / least_seconds(run) / 1e9; }

// Four loads per iteration, each into a separate sum, so that only memory limits the loop.
__attribute__((target("avx512f"))) void read_avx512(const char *data, size_t bytes) {
  __m512i sum0 = _mm512_setzero_si512(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (size_t i = 0; i + 256 <= bytes; i += 256) {
    sum0 = _mm512_xor_si512(sum0, _mm512_loadu_si512(data + i));
    sum1 = _mm512_xor_si512(sum1, _mm512_loadu_si512(data + i + 64));
    sum2 = _mm512_xor_si512(sum2, _mm512_loadu_si512(data + i + 128));
    sum3 = _mm512_xor_si512(sum3, _mm512_loadu_si512(data + i + 192));
  }
  sum0 = _mm512_xor_si512(_mm512_xor_si512(sum0, sum1), _mm512_xor_si512(sum2, sum3));
  asm volatile("" : : "v"(sum0));
}

__attribute__((target("avx2"))) void read_avx2(const char *data, size_t bytes) {
  const auto load = [data](size_t at) __attribute__((target("avx2"))) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(data + at));
  };
  __m256i sum0 = _mm256_setzero_si256(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (size_t i = 0; i + 128 <= bytes; i += 128) {
    sum0 = _mm256_xor_si256(sum0, load(i));
    sum1 = _mm256_xor_si256(sum1, load(i + 32));
    sum2 = _mm256_xor_si256(sum2, load(i + 64));
    sum3 = _mm256_xor_si256(sum3, load(i + 96));
  }
  sum0 = _mm256_xor_si256(_mm256_xor_si256(sum0, sum1), _mm256_xor_si256(sum2, sum3));
  asm volatile("" : : "x"(sum0));
}

void read_words(const char *data, size_t bytes) {
  uint64_t sum = 0;
  for (size_t i = 0; i + sizeof sum <= bytes; i += sizeof sum) {
    uint64_t word;
    memcpy(&word, data + i, sizeof word);
    sum ^= word;
  }
  asm volatile("" : : "r"(sum));
}

}  // namespace

// Returns whether the CPU has the tiles of AMX and Linux permits this process to use them.
static bool has_tiles() {
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25, kAll = kBf16 | kTile | kInt8;
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kAll) == kAll &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

double dot_peak(Dot dot, bool has_avx512) {
  if ((dot == Dot::kBf16Tiles || dot == Dot::kInt8Tiles) && !has_tiles()) return 0;
  if (dot == Dot::kBf16Tiles) return gflops(run_bf16_tiles, kTileSums * 16 * 16 * 32 * 2);
  if (dot == Dot::kInt8Tiles) return gflops(run_int8_tiles, kTileSums * 16 * 16 * 64 * 2);
  if (has_avx512 && __builtin_cpu_supports("avx512f")) {
    if (dot == Dot::kF32) return gflops(run_f32_avx512, kSums * 16 * 2);
    if (dot == Dot::kBf16 && __builtin_cpu_supports("avx512bf16")) return gflops(run_bf16, kSums * 16 * 4);
    if (dot == Dot::kInt8 && __builtin_cpu_supports("avx512vnni")) return gflops(run_int8, kSums * 16 * 8);
  }
  if (dot == Dot::kBf16 || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  return dot == Dot::kF32 ? gflops(run_f32_avx2, kSumsAvx2 * 8 * 2) : gflops(run_int8_avx2, kSumsAvx2 * 32 * 2);
}

double read_seconds(const void *data, size_t bytes) {
  void (*const read)(const char *, size_t) = __builtin_cpu_supports("avx512f") ? read_avx512
                                             : __builtin_cpu_supports("avx2")  ? read_avx2
                                                                               : read_words;
  const double start = now();
  read(static_cast<const char *>(data), bytes);
  return now() - start;
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
