// Prefetch addresses for the tiles that read one panel. Included by ISA files: all functions have internal linkage.
//
// A single tile prefetches the panel that it reads, because its time is that of reading b. If several tiles read a panel, each
// prefetches a part of the next panel. If the first tile prefetched all of it, the prefetches would take longer than the
// arithmetic of the tile.
#pragma once

#include <cstdint>

namespace lpt {
namespace {

struct PrefetchStream {
  const uint8_t *from;
  int64_t step_bytes;  // added to `from` at each step

  // The asm statement keeps the addition: gcc 12 would count the steps and multiply after the last step.
  [[gnu::always_inline]] void advance() {
    from += step_bytes;
    asm("" : "+r"(from));
  }

  void skip(int64_t steps) { from += steps * step_bytes; }
};

constexpr int64_t kPrefetchDistance = 4096;  // ahead, over all panels that a tile reads

// Returns the stream of the first of `tiles` tiles, which advance through `panel` by `step_bytes`. A tile reads `panels`
// panels, and `next` is the panel after `panel`. Each further tile skips the steps of the previous tiles.
inline PrefetchStream prefetch_of(int64_t tiles, const uint8_t *panel, int64_t panels, const uint8_t *next,
                                  int64_t step_bytes) {
  if (tiles == 1) return {panel + kPrefetchDistance / panels, step_bytes};
  return {next, (step_bytes + tiles - 1) / tiles};
}

}  // namespace
}  // namespace lpt
