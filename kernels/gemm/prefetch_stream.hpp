// Prefetch addresses for the tiles that read one panel. Included by ISA files: everything here has internal linkage.
//
// A panel that one tile reads is prefetched on the way: then the time is that of reading b. Of several tiles each requests its
// part of a later panel: the first alone would have to wait for all of it.
#pragma once

#include <cstdint>

namespace lpt {
namespace {

struct PrefetchStream {
  const uint8_t *from;
  int64_t step_bytes;  // further with each step

  // gcc 12 would count the steps instead, and multiply after the last.
  [[gnu::always_inline]] void advance() {
    from += step_bytes;
    asm("" : "+r"(from));
  }

  void skip(int64_t steps) { from += steps * step_bytes; }
};

constexpr int64_t kPrefetchDistance = 8192;  // bytes of the panels themselves, of all that a tile reads side by side

// By the first of `tiles` tiles that take steps of `step_bytes` through `panel`, one of `panels` side by side; `next` is the
// panel that is read then. Each further tile skips the steps of those before.
inline PrefetchStream requested_by(int64_t tiles, const uint8_t *panel, int64_t panels, const uint8_t *next,
                                   int64_t step_bytes) {
  if (tiles == 1) return {panel + kPrefetchDistance / panels, step_bytes};
  return {next, (step_bytes + tiles - 1) / tiles};
}

}  // namespace
}  // namespace lpt
