#include "src/base/cpu.hpp"

#include <sched.h>

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdio>
#include <thread>

namespace lpt {
namespace {

#if defined(__x86_64__) && defined(__GNUC__) && defined(__linux__)
// Tile data exceeds the register state that the system saves by default: a process must request it, and the system may deny it.
bool may_use_tiles() {
  constexpr long kRequestForState = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestForState, kTileData) == 0;
}

bool has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;
  return (d & kBf16) != 0 && (d & kTile) != 0 && (d & kInt8) != 0 && may_use_tiles();
}
#else
[[maybe_unused]] bool has_tiles() { return false; }
#endif

CpuFeatures probe() {
#if defined(__x86_64__) && defined(__GNUC__)
  // GCC's functions also read XGETBV: a bit is set only if the operating system saves the registers.
  CpuFeatures features = 0;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) features |= kCpuAvx2;
  if ((features & kCpuAvx2) != 0 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vbmi")) {
    features |= kCpuAvx512;
  }
  if ((features & kCpuAvx512) != 0 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi2")) {
    features |= kCpuAvx512Vnni;
  }
  if ((features & kCpuAvx512Vnni) != 0 && __builtin_cpu_supports("avx512bf16")) features |= kCpuAvx512Bf16;
  if ((features & kCpuAvx512Bf16) != 0 && has_tiles()) features |= kCpuAmx;
  return features;
#elif defined(__aarch64__)
  return kCpuNeon;
#else
  return 0;
#endif
}

bool is_intel() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

// Returns the CPU quota of the control group in cores, rounded up; 0 without a quota.
int32_t quota_cores() {
  std::FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "r");
  if (file == nullptr) return 0;
  long long quota = 0;
  long long period = 0;
  const int found = std::fscanf(file, "%lld %lld", &quota, &period);  // 0 values for "max 100000"
  std::fclose(file);
  if (found != 2 || quota <= 0 || period <= 0) return 0;
  return static_cast<int32_t>((quota + period - 1) / period);
}

}  // namespace

CpuFeatures cpu_features() {
  static const CpuFeatures features = probe();
  return features;
}

bool prefers_interleaved_reads() { return is_intel(); }

bool has_slow_dots() { return is_intel(); }

CpuFeatures allowed_features(lpt_isa isa, CpuFeatures available) {
  switch (isa) {
    case LPT_ISA_REFERENCE:
      return 0;
    case LPT_ISA_X86_AVX2:
      return available & kCpuAvx2;
    case LPT_ISA_X86_AVX512:
      return available & (kCpuAvx2 | kCpuAvx512);
    case LPT_ISA_X86_AVX512_BF16:
      return available & ~kCpuAmx;
    default:
      return available;
  }
}

std::string feature_names(CpuFeatures features) {
  std::string names;
  const auto add = [&](CpuFeatures bit, const char *name) {
    if ((features & bit) == 0) return;
    if (!names.empty()) names += ' ';
    names += name;
  };
  add(kCpuAvx2, "x86_avx2");
  add(kCpuAvx512, "x86_avx512");
  add(kCpuAvx512Vnni, "x86_avx512_vnni");
  add(kCpuAvx512Bf16, "x86_avx512_bf16");
  add(kCpuAmx, "x86_amx");
  add(kCpuNeon, "arm_neon");
  return names.empty() ? "none" : names;
}

int32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int32_t cores = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  if (cores <= 0) cores = static_cast<int32_t>(std::thread::hardware_concurrency());
  const int32_t quota = quota_cores();
  if (quota > 0 && quota < cores) cores = quota;
  return cores < 1 ? 1 : cores;
}

}  // namespace lpt
