// Philox4x32 (Salmon et al., SC 2011): a counter-based random number generator, shared by CPU and CUDA kernels.
#pragma once

#include <cstdint>

#include "src/base/host_device.hpp"

namespace lpt {

constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53u;
constexpr uint32_t kPhiloxMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9u;
constexpr uint32_t kPhiloxWeyl1 = 0xBB67AE85u;

struct PhiloxBlock {
  uint32_t word[4];
};

LPT_HOST_DEVICE static inline PhiloxBlock philox(PhiloxBlock counter, uint64_t key, int rounds) {
  uint32_t key0 = static_cast<uint32_t>(key);
  uint32_t key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < rounds; ++round) {
    const uint64_t product0 = static_cast<uint64_t>(kPhiloxMultiplier0) * counter.word[0];
    const uint64_t product1 = static_cast<uint64_t>(kPhiloxMultiplier1) * counter.word[2];
    counter =
        PhiloxBlock{{static_cast<uint32_t>(product1 >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(product1),
                     static_cast<uint32_t>(product0 >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(product0)}};
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return counter;
}

// Parameters of the random bits of an operation: all except the index of the element.
struct RandomSource {
  uint64_t seed;
  int64_t offset;      // index of element (0, 0)
  int64_t row_stride;  // from (r, c) to (r + 1, c)
  uint32_t stream;     // domain, site and role
  uint32_t step;
  int32_t rounds;
  int32_t bits;                    // 16 or 8 per element
  const uint8_t *words = nullptr;  // the caller's bits, lowest byte first, instead of Philox
};

// Returns a block of 128 bits, for eight elements of 16 bits or sixteen elements of 8 bits.
LPT_HOST_DEVICE static inline PhiloxBlock random_block(const RandomSource &source, uint64_t block) {
  const PhiloxBlock counter{
      {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), source.stream, source.step}};
  return philox(counter, source.seed, source.rounds);
}

LPT_HOST_DEVICE static inline uint32_t random_bits(const RandomSource &source, int64_t row, int64_t column) {
  const uint64_t index = static_cast<uint64_t>(source.offset) +
                         static_cast<uint64_t>(row) * static_cast<uint64_t>(source.row_stride) +
                         static_cast<uint64_t>(column);
  if (source.words != nullptr) {
    return source.bits == 8 ? source.words[index]
                            : source.words[2 * index] | static_cast<uint32_t>(source.words[2 * index + 1]) << 8;
  }
  if (source.bits == 8) {
    const PhiloxBlock block = random_block(source, index / 16);
    return (block.word[(index % 16) / 4] >> (8 * (index % 4))) & 0xFFu;
  }
  const PhiloxBlock block = random_block(source, index / 8);
  return (block.word[(index % 8) / 2] >> (16 * (index % 2))) & 0xFFFFu;
}

// Returns 32 separate bits for each index: a block of 128 bits covers four indices.
LPT_HOST_DEVICE static inline uint32_t random_word(const RandomSource &source, uint64_t index) {
  return random_block(source, index / 4).word[index % 4];
}

// Values of the top four bits of a stream, so that two operations never share bits.
enum class RandomDomain : uint32_t {
  kQuantize = 1,
  kLinear = 2,
  kOptimizer = 3,
  kSparse = 4,
  kCollective = 5,
  kSigns = 6,
  kLossy = 7
};

LPT_HOST_DEVICE static inline uint32_t random_stream(RandomDomain space, uint32_t site, uint32_t role) {
  return (static_cast<uint32_t>(space) << 28) | (site << 4) | role;
}

}  // namespace lpt
