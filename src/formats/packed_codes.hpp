// Eight adjacent codes of at most 8 bits that begin on a byte boundary. They occupy as many bytes as a code has bits. The
// packing of ternary digits differs.
#pragma once

#include <cstdint>
#include <cstring>

namespace lpt {

// Loads eight packed codes, with the first in the lowest bits. No byte after them is read.
static inline uint64_t load_eight_codes(const uint8_t *from, int32_t bits) {
  uint64_t codes = 0;
  if (bits == 8) {
    memcpy(&codes, from, 8);
    return codes;
  }
  int32_t at = 0;  // bytes read
  if ((bits & 4) != 0) {
    uint32_t four;
    memcpy(&four, from, 4);
    codes = four;
    at = 4;
  }
  if ((bits & 2) != 0) {
    uint16_t two;
    memcpy(&two, from + at, 2);
    codes |= uint64_t{two} << 8 * at;
    at += 2;
  }
  if ((bits & 1) != 0) codes |= uint64_t{from[at]} << 8 * at;
  return codes;
}

// Loads the first `count` of eight codes; the others are zero.
static inline uint64_t load_some_codes(const uint8_t *from, int32_t bits, int64_t count) {
  if (count >= 8) return load_eight_codes(from, bits);
  uint64_t codes = 0;
  memcpy(&codes, from, static_cast<size_t>((count * bits + 7) / 8));
  return count > 0 ? codes & ((uint64_t{1} << count * bits) - 1) : 0;
}

// Masks of the fields that spread_codes() and join_codes() move: one code in each word, two in each dword, four in each
// qword.
struct CodeMasks {
  uint64_t ones, twos, fours;

  explicit constexpr CodeMasks(int32_t bits)
      : ones(((uint64_t{1} << bits) - 1) * 0x0001000100010001),
        twos(((uint64_t{1} << 2 * bits) - 1) * 0x0000000100000001),
        fours((uint64_t{1} << 4 * bits) - 1) {}
};

// Unpacks eight codes to one byte each.
static inline uint64_t spread_codes(uint64_t codes, int32_t bits) {
  const CodeMasks masks(bits);
  codes = (codes & masks.fours) | (codes >> 4 * bits & masks.fours) << 32;
  codes = (codes & masks.twos) | (codes >> 2 * bits & masks.twos) << 16;
  return (codes & masks.ones) | (codes >> bits & masks.ones) << 8;
}

// Packs eight bytes to codes.
static inline uint64_t join_codes(uint64_t bytes, int32_t bits) {
  const CodeMasks masks(bits);
  bytes = (bytes & masks.ones) | (bytes >> 8 & masks.ones) << bits;
  bytes = (bytes & masks.twos) | (bytes >> 16 & masks.twos) << 2 * bits;
  return (bytes & masks.fours) | (bytes >> 32 & masks.fours) << 4 * bits;
}

}  // namespace lpt
