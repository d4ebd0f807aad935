// Counter-based random numbers: each is a function of (seed, stream, index). A resumed run needs no generator state, and every
// rank can draw the numbers of any row.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace lm {

// The finalizer of SplitMix64: a bijection of 64 bits in which every output bit depends on every input bit.
inline uint64_t mix_bits(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

inline uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
  return mix_bits(mix_bits(mix_bits(seed) ^ stream) ^ index);
}

// In [0, 1), 53 bits.
inline double random_unit(uint64_t seed, uint64_t stream, uint64_t index) {
  return static_cast<double>(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

// Standard normal, by Box and Muller.
inline double random_normal(uint64_t seed, uint64_t stream, uint64_t index) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random_unit(seed, stream, 2 * index)));
  return radius * std::cos(2.0 * std::numbers::pi * random_unit(seed, stream, 2 * index + 1));
}

}  // namespace lm
