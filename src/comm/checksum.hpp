// Checksum for payloads in transit: runs at memory bandwidth, detects damage, is not cryptographic.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace lpt {

// Each 8-byte word enters one of eight chains by invertible steps, so any change within one word changes the sum. Eight chains
// hide the latency of a multiplication: 3 to 4 cycles, while one can start in each cycle.
inline uint64_t checksum(const void *data, int64_t bytes) {
  constexpr uint64_t kFactor = 0x9e37'79b9'7f4a'7c15;
  constexpr int64_t kLanes = 8;
  uint64_t lanes[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto step = [](uint64_t sum, uint64_t word) { return std::rotl((sum ^ word) * kFactor, 29); };
  const char *next = static_cast<const char *>(data);
  int64_t left = bytes;
  for (; left >= kLanes * 8; left -= kLanes * 8, next += kLanes * 8) {
    uint64_t words[kLanes];
    std::memcpy(words, next, sizeof words);
    for (int64_t i = 0; i < kLanes; ++i) lanes[i] = step(lanes[i], words[i]);
  }
  uint64_t sum = static_cast<uint64_t>(bytes);
  for (; left > 0; left -= 8, next += 8) {
    uint64_t word = 0;
    std::memcpy(&word, next, static_cast<size_t>(left < 8 ? left : 8));
    sum = step(sum, word);
  }
  for (const uint64_t lane : lanes) sum = step(sum, lane);
  return sum;
}

}  // namespace lpt
