// FNV-1a with 64 bits. Detects damaged files; it is not secure against an adversary.
#pragma once

#include <cstdint>
#include <span>

namespace lm {

inline uint64_t hash_bytes(std::span<const uint8_t> bytes) {
  uint64_t hash = 0xCBF29CE484222325ull;
  for (const uint8_t byte : bytes) {
    hash = (hash ^ byte) * 0x100000001B3ull;
  }
  return hash;
}

}  // namespace lm
