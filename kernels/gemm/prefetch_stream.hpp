// Prefetch addresses for the tiles that read one panel. Included by ISA files: everything here has internal linkage.
//
// A single tile prefetches the panel that it reads; its time is then that of reading b. Of several tiles, each prefetches a part
// of the next panel: if the first one prefetched all of it, it would take longer than its arithmetic.
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

constexpr int64_t kPrefetchDistance = 8192;  // bytes of all panels that a tile reads

// Of the first of `tiles` tiles, which take steps of `step_bytes` through `panel`, one of `panels` that a tile reads; `next` is the
// panel that follows. Each further tile skips the steps of those before.
inline PrefetchStream prefetch_of(int64_t tiles, const uint8_t *panel, int64_t panels, const uint8_t *next,
                                  int64_t step_bytes) {
  if (tiles == 1) return {panel + kPrefetchDistance / panels, step_bytes};
  return {next, (step_bytes + tiles - 1) / tiles};
}

}  // namespace
}  // namespace lpt
