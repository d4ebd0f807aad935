// Key and counter of Philox, broadcast for vectors of counters. All functions are static: each file that includes this header
// has its own copy.
#pragma once

#include <cstdint>

#include "src/base/philox.hpp"

namespace lpt {

// One word per 64-bit lane, because vpmuludq ignores the upper halves. A round is 2 multiplications, 2 shifts and 4 exclusive
// ors, or 2 with three operands.
struct PhiloxLanes {
  uint64_t key0[10];
  uint64_t key1[10];
  uint64_t stream;
  uint64_t step;
  // If the counter is below 2^32, half of the first two rounds is equal in all lanes. Its results are stored, combined with the
  // keys of the next round: word 2 of round 1, words 0 and 2 of round 2, word 2 of round 3.
  uint64_t first2, second0, second2, third2;
};

static inline PhiloxLanes philox_lanes(const RandomSource &source) {
  PhiloxLanes lanes;
  uint32_t key0 = static_cast<uint32_t>(source.seed);
  uint32_t key1 = static_cast<uint32_t>(source.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    lanes.key0[round] = key0;
    lanes.key1[round] = key1;
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  lanes.stream = source.stream;
  lanes.step = source.step;
  const uint64_t product1 = uint64_t{kPhiloxMultiplier1} * source.stream;
  const uint64_t product0 = uint64_t{kPhiloxMultiplier0} * ((product1 >> 32) ^ lanes.key0[0]);
  lanes.first2 = lanes.step ^ lanes.key1[0];
  lanes.second0 = (product1 & 0xFFFFFFFFu) ^ lanes.key0[1];
  lanes.second2 = (product0 >> 32) ^ lanes.key1[1];
  lanes.third2 = (product0 & 0xFFFFFFFFu) ^ lanes.key1[2];
  return lanes;
}

}  // namespace lpt
