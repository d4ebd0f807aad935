// Software prefetching of a loop. Included by ISA files only.
//
// In line: prefetches the lines at a fixed distance ahead. It is fastest on CPUs whose cores prefetch one stream well, such as
// those of AMD.
//
// Spread: prefetches the next 64 KiB, from eight addresses 8 KiB apart, round-robin. Cores of Intel servers have a high memory
// latency, and their hardware prefetcher stops at the end of a page: one stream reads at half the rate of several. The loop
// itself may read one stream, because only the prefetches must be spread.
#pragma once

#include <cstdint>

#include "src/base/cpu.hpp"

namespace lpt {
namespace {

constexpr uint64_t kPrefetchStreams = 8;
constexpr uint64_t kStreamBytes = 8192;  // bytes between the streams; two pages, slightly faster than one
constexpr uint64_t kStreamGroupBytes = kPrefetchStreams * kStreamBytes;

struct Prefetcher {
  const char *base;  // NULL: in line; otherwise the first byte of the data
  int64_t distance;  // in line: bytes ahead; 0 prefetches `from` itself

  bool is_spread() const { return base != nullptr; }

  // Prefetches while kLines lines from `from` on are read. kLines is 1, 2, 4 or 8; with spread prefetching, `from` should be a
  // multiple of them.
  template <int kLines>
  [[gnu::always_inline]] void prefetch(const void *from) const {
    const char *const at = static_cast<const char *>(from);
    if (!is_spread()) {
#pragma GCC unroll 8
      for (int i = 0; i < kLines; ++i) __builtin_prefetch(at + distance + 64 * i, 0, 3);
      return;
    }
    const auto offset = static_cast<uint64_t>(at - base);
    const uint64_t place = offset / 64 % kPrefetchStreams;
    const uint64_t line = offset % kStreamGroupBytes / (64 * kPrefetchStreams);
    const char *const next =
        base + (offset / kStreamGroupBytes + 1) * kStreamGroupBytes + place * kStreamBytes + line * 64;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < kLines; ++i) __builtin_prefetch(next + i * kStreamBytes, 0, 2);
  }
};

// `base` is the first byte of data that is read sequentially without gaps and that is larger than the caches. NULL: other data.
inline Prefetcher make_prefetcher(const void *base, int64_t distance) {
  return {prefers_interleaved_reads() ? static_cast<const char *>(base) : nullptr, distance};
}

// Returns a prefetcher for `bytes` bytes from `begin` on without gaps. Prefetches past the end must be few in comparison.
inline Prefetcher prefetcher_over(const void *begin, int64_t bytes) {
  constexpr int64_t kLarge = int64_t{8} << 20;
  constexpr int64_t kDistance = 4096;
  return make_prefetcher(bytes >= kLarge ? begin : nullptr, kDistance);
}

}  // namespace
}  // namespace lpt
