// Faults that a rank injects into the packets that it sends.
#pragma once

#include <cstdint>

#include "src/base/philox.hpp"

namespace lpt {

struct PacketFate {
  bool is_lost, is_duplicated, is_reordered, is_corrupted;
  uint32_t random_bit;  // to invert in a corrupted packet, modulo its bits
};

struct PacketInjector {
  double loss, duplication, reordering, corruption;  // probabilities
  uint64_t seed;

  // The fate is a function of the seed and of the arguments. Ranks are less than 1024.
  PacketFate fate(int32_t sender, int32_t receiver, int64_t call, int32_t packet) const {
    const uint32_t role = static_cast<uint32_t>(sender) << 10 | static_cast<uint32_t>(receiver);
    const auto number = static_cast<uint64_t>(call);
    PhiloxBlock counter{{static_cast<uint32_t>(packet), static_cast<uint32_t>(number),
                         random_stream(RandomDomain::kLossy, 0, 0) | role, static_cast<uint32_t>(number >> 32)}};
    const PhiloxBlock draw = philox(counter, seed, kRounds);
    counter.word[2] |= kSecondBlock;
    const auto happens = [](uint32_t word, double probability) { return word < probability * 0x1p32; };
    return {happens(draw.word[0], loss), happens(draw.word[1], duplication), happens(draw.word[2], reordering),
            happens(draw.word[3], corruption), philox(counter, seed, kRounds).word[0]};
  }

 private:
  static constexpr int kRounds = 10;
  static constexpr uint32_t kSecondBlock = 1u << 27;  // above the role, below the domain
};

}  // namespace lpt
