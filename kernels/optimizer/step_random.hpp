// Random bits of a unit, in the order of its elements. Included by simd_*.cpp.
#pragma once

#include "kernels/optimizer/step_codes.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostRandomBytes = 2 * 1024 + 2 * 128;  // of a unit, plus one iteration at each end

struct RandomSlab {
  alignas(64) uint8_t bytes[kMostRandomBytes];
};

// Draws the bits of `count` elements from element `index` on. Returns the address of the first bits in `slab`.
const uint8_t *draw_slab(const RandomSource &source, const PhiloxLanes &lanes, int64_t index, int64_t count,
                         RandomSlab &slab) {
  const uint64_t bytes_each = source.bits == 16 ? 2 : 1;
  const uint64_t first = (static_cast<uint64_t>(source.offset) + static_cast<uint64_t>(index)) * bytes_each;
  const auto needed = static_cast<int64_t>(first % 16 + static_cast<uint64_t>(count) * bytes_each);
  uint64_t block = first / 16;
  for (int64_t at = 0; at < needed; at += kRandomBytes, block += kRandomBytes / 16) {
    random_bytes(lanes, block, source.rounds, slab.bytes + at);
  }
  return slab.bytes + first % 16;
}

}  // namespace
}  // namespace lpt
