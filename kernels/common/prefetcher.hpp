// Software prefetching of a loop. Included by an ISA file only.
//
// In line: the lines some way further on. CPUs whose cores follow one stream well, AMD's, read fastest so.
//
// Spread: the next 64 KiB, from eight places 8 KiB apart in turn. A core of Intel's servers has memory far away, and what
// requests lines on its own there stops at the end of a page: one stream reads at half the rate of several. The loop may
// read in one stream all the same, as only prefetches have to be spread.
#pragma once

#include <cstdint>

#include "src/base/cpu.hpp"

namespace lpt {
namespace {

constexpr uint64_t kPrefetchStreams = 8;
constexpr uint64_t kRequestedPiece = 8192;  // from place to place; two pages, which is a little better than one
constexpr uint64_t kRequestedGroup = kPrefetchStreams * kRequestedPiece;

struct Prefetcher {
  const char *base;  // NULL: in line; else what is read begins here
  int64_t distance;  // in line: in bytes; 0 requests what is there

  bool is_spread() const { return base != nullptr; }

  // While kLines lines from `from` on are read: 1, 2, 4 or 8, and spread best if they start at a multiple of them.
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
    const uint64_t line = offset % kRequestedGroup / (64 * kPrefetchStreams);
    const char *const next =
        base + (offset / kRequestedGroup + 1) * kRequestedGroup + place * kRequestedPiece + line * 64;
#pragma GCC unroll 8
    for (uint64_t i = 0; i < kLines; ++i) __builtin_prefetch(next + i * kRequestedPiece, 0, 2);
  }
};

// `base` is where something begins that is read from there on without gaps, and is larger than the caches. NULL: it is not.
inline Prefetcher make_prefetcher(const void *base, int64_t distance) {
  return {has_spread_reads() ? static_cast<const char *>(base) : nullptr, distance};
}

// Over so many bytes from `begin` on, without gaps. What is requested past the end shall be little beside them.
inline Prefetcher prefetcher_over(const void *begin, int64_t bytes) {
  constexpr int64_t kLarge = int64_t{8} << 20;
  constexpr int64_t kDistance = 4096;
  return make_prefetcher(bytes >= kLarge ? begin : nullptr, kDistance);
}

}  // namespace
}  // namespace lpt
