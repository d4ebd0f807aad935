// The blocks of tools/block_inputs.py, generated with the same bits. The script describes each class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "src/formats/element.hpp"
#include "tests/formats/golden.hpp"

namespace lpt::golden {

// Values from the words of the generator.

inline uint32_t part(uint64_t word, int shift, uint32_t mask) { return static_cast<uint32_t>(word >> shift) & mask; }
inline int small_part(uint64_t word, int shift, uint32_t mask) { return static_cast<int>(part(word, shift, mask)); }
inline uint32_t sign_bit(uint64_t word) { return static_cast<uint32_t>(word >> 63) << 31; }
inline uint32_t mantissa(uint64_t word) { return part(word, 40, 0x7FFFFF); }
inline float power(int field) { return bits_float(static_cast<uint32_t>(field) << 23); }
inline float factor(uint64_t word, int field) {
  return bits_float(static_cast<uint32_t>(field) << 23 | mantissa(word));
}
inline float near(uint64_t draw, int base, uint32_t mask) {
  const int field = std::max(base - small_part(draw, 8, mask), 0);
  return bits_float(sign_bit(draw) | static_cast<uint32_t>(field) << 23 | mantissa(draw));
}
inline float gauss(uint64_t draw, float factor) {
  const uint32_t sum = part(draw, 0, 0xFFFF) + part(draw, 16, 0xFFFF) + part(draw, 32, 0xFFFF) + part(draw, 48, 0xFFFF);
  return static_cast<float>(static_cast<int>(sum) - 131070) * factor;
}
inline int pick(uint64_t word, int low, int high) { return low + small_part(word, 0, 0xFFFF) % (high - low + 1); }
inline float zero_of(uint64_t draw) { return bits_float(sign_bit(draw)); }
inline float infinity_of(uint64_t draw) { return bits_float(sign_bit(draw) | 0x7F800000u); }
inline float nan_of(uint64_t draw) { return bits_float(sign_bit(draw) | 0x7FC00000u | mantissa(draw)); }
inline bool is_kept(uint64_t head, uint64_t draw) { return (draw & 7) == 0 && part(head, 32, 3) != 0; }

// Classes of MX blocks.

constexpr int kMxBlock = 32;

struct MxClass {
  const char *name;
  uint64_t seed;
  int blocks;
  float (*value)(uint64_t head, uint64_t draw, bool is_at_place);
};

inline float mx_ordinary(uint64_t head, uint64_t draw, bool) { return gauss(draw, factor(head, pick(head, 91, 131))); }
inline float mx_wide(uint64_t head, uint64_t draw, bool) { return gauss(draw, factor(head, pick(head, 11, 235))); }
inline float mx_near(uint64_t head, uint64_t draw, bool) { return near(draw, pick(head, 20, 254), 15); }
inline float mx_bits(uint64_t, uint64_t draw, bool) {
  const auto bits = static_cast<uint32_t>(draw >> 32);
  return bits_float((bits >> 23 & 255) == 255 ? bits & 0xBFFFFFFFu : bits);
}
inline float mx_tiny(uint64_t head, uint64_t draw, bool) { return near(draw, pick(head, 0, 31), 3); }
inline float mx_outlier(uint64_t head, uint64_t draw, bool is_at_place) {
  const float value = mx_ordinary(head, draw, is_at_place);
  return is_at_place ? value * power(128 + small_part(head, 24, 15)) : value;
}
inline float mx_sparse(uint64_t head, uint64_t draw, bool) {
  return is_kept(head, draw) ? near(draw, pick(head, 100, 150), 7) : zero_of(draw);
}
inline float mx_ties(uint64_t head, uint64_t draw, bool) {
  return static_cast<float>(static_cast<int>(draw & 511) - 256) * power(pick(head, 97, 157));
}
inline float mx_edges(uint64_t head, uint64_t draw, bool is_at_place) {
  constexpr uint32_t kEdges[] = {0x000000, 0x400000, 0x600000, 0x700000, 0x780000};
  const int base = pick(head, 30, 250);
  if (!is_at_place) return near(draw, base - 1, 7);
  const uint32_t edge = static_cast<uint32_t>(base) << 23 | kEdges[part(head, 24, 255) % 5];
  return bits_float(sign_bit(draw) | (edge + part(head, 32, 7) - 4));
}
inline float mx_infinity(uint64_t head, uint64_t draw, bool is_at_place) {
  if (part(head, 32, 1) == 1 && (is_at_place || (draw & 15) == 0)) return infinity_of(draw);
  return near(draw, pick(head, 20, 250), 7);
}
inline float mx_nan(uint64_t head, uint64_t draw, bool is_at_place) {
  return is_at_place && part(head, 33, 1) == 1 ? nan_of(draw) : mx_infinity(head, draw, is_at_place);
}

inline constexpr MxClass kMxClasses[] = {
    {"ordinary", 1000, 65536, mx_ordinary}, {"wide", 1001, 65536, mx_wide}, {"near", 1002, 65536, mx_near},
    {"bits", 1003, 16384, mx_bits},         {"tiny", 1004, 16384, mx_tiny}, {"outlier", 1005, 16384, mx_outlier},
    {"sparse", 1006, 16384, mx_sparse},     {"ties", 1007, 16384, mx_ties}, {"edges", 1008, 16384, mx_edges},
    {"infinity", 1009, 16384, mx_infinity}, {"nan", 1010, 16384, mx_nan}};

inline std::vector<float> mx_blocks(const MxClass &blocks) {
  SplitMix64 random(blocks.seed);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(blocks.blocks) * kMxBlock);
  for (int block = 0; block < blocks.blocks; ++block) {
    const uint64_t head = random.next();
    for (uint32_t i = 0; i < kMxBlock; ++i) {
      values.push_back(blocks.value(head, random.next(), i == part(head, 16, kMxBlock - 1)));
    }
  }
  return values;
}

// Classes of NVFP4 tensors.

constexpr int kNvfp4Block = 16;
constexpr int kBlocksOfTensor = 1024;
constexpr int kTensorValues = kNvfp4Block * kBlocksOfTensor;

// The random words of one value, and its index.
struct Nvfp4Place {
  uint64_t tensor_head, head, draw;
  uint32_t block, index;

  int base() const { return pick(tensor_head, 60, 180); }
  bool is_first() const { return block == 0 && index == 0; }
  bool is_at_place() const { return index == part(head, 16, kNvfp4Block - 1); }
};

struct Nvfp4Class {
  const char *name;
  uint64_t seed;
  int tensors;
  float (*value)(const Nvfp4Place &place);
};

// S and 6 · middle of the script.
inline float tie_scale(uint64_t head) { return decode(kElementE4m3fn, 8 + part(head, 8, 127) % 119); }
inline float six_middles(uint64_t head) {
  const uint32_t code = 8 + part(head, 8, 127) % 118;
  return 6.0f * ((decode(kElementE4m3fn, code) + decode(kElementE4m3fn, code + 1)) / 2.0f);
}

inline float nvfp4_ordinary(const Nvfp4Place &at) {
  return gauss(at.draw, factor(at.head, at.base() - small_part(at.head, 0, 3)));
}
inline float nvfp4_wide(const Nvfp4Place &at) {
  return gauss(at.draw, factor(at.head, at.base() - small_part(at.head, 0, 31) % 24));
}
inline float nvfp4_near(const Nvfp4Place &at) { return near(at.draw, at.base() - small_part(at.head, 0, 7), 7); }
inline float nvfp4_sparse(const Nvfp4Place &at) {
  return is_kept(at.head, at.draw) ? nvfp4_near(at) : zero_of(at.draw);
}
inline float nvfp4_ties(const Nvfp4Place &at) {
  if (at.is_first()) return 2688.0f * power(at.base());
  const int steps = at.index == 0 ? 24 : static_cast<int>(at.draw % 49) - 24;
  return static_cast<float>(steps) * (tie_scale(at.head) / 4.0f) * power(at.base());
}
inline float nvfp4_edges(const Nvfp4Place &at) {
  if (at.is_first()) return 2688.0f * power(at.base());
  if (at.index != 0) return near(at.draw, at.base() - 11, 7);
  return bits_float(float_bits(six_middles(at.head) * power(at.base())) + part(at.head, 32, 7) - 4);
}
inline float nvfp4_tiny(const Nvfp4Place &at) {
  return near(at.draw, std::max(pick(at.tensor_head, 0, 31) - small_part(at.head, 0, 3), 0), 3);
}
inline float nvfp4_infinity(const Nvfp4Place &at) {
  return at.is_at_place() && part(at.head, 32, 3) == 0 ? infinity_of(at.draw) : nvfp4_near(at);
}
inline float nvfp4_nan(const Nvfp4Place &at) {
  return at.is_at_place() && part(at.head, 32, 7) == 4 ? nan_of(at.draw) : nvfp4_infinity(at);
}
inline float nvfp4_reciprocal(const Nvfp4Place &at) {
  constexpr float kTies[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
  const float amax = factor(at.tensor_head, at.base());
  if (at.is_first()) return amax;
  const float product = at.index == 0 ? six_middles(at.head) : kTies[part(at.draw, 8, 255) % 7] * tie_scale(at.head);
  const uint32_t bits = float_bits(product * (amax / 2688.0f)) + part(at.draw, 32, 3) - 1;
  return bits_float(at.index == 0 ? bits : bits | sign_bit(at.draw));
}

inline constexpr Nvfp4Class kNvfp4Classes[] = {
    {"ordinary", 2000, 512, nvfp4_ordinary},  {"wide", 2001, 32, nvfp4_wide},         {"near", 2002, 32, nvfp4_near},
    {"sparse", 2003, 32, nvfp4_sparse},       {"ties", 2004, 32, nvfp4_ties},         {"edges", 2005, 32, nvfp4_edges},
    {"tiny", 2006, 32, nvfp4_tiny},           {"infinity", 2007, 32, nvfp4_infinity}, {"nan", 2008, 32, nvfp4_nan},
    {"reciprocal", 2009, 2, nvfp4_reciprocal}};

inline std::vector<float> nvfp4_tensors(const Nvfp4Class &tensors) {
  SplitMix64 random(tensors.seed);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(tensors.tensors) * kTensorValues);
  for (int tensor = 0; tensor < tensors.tensors; ++tensor) {
    const uint64_t tensor_head = random.next();
    for (uint32_t block = 0; block < kBlocksOfTensor; ++block) {
      const uint64_t head = random.next();
      for (uint32_t i = 0; i < kNvfp4Block; ++i) {
        values.push_back(tensors.value({tensor_head, head, random.next(), block, i}));
      }
    }
  }
  return values;
}

// Golden rows and digests.

// Returns the class of this name, which must exist.
template <typename Class, size_t count>
const Class &class_named(const Class (&classes)[count], const std::string &name) {
  return *std::find_if(classes, classes + count - 1, [&](const Class &one) { return name == one.name; });
}

// Returns the row that begins with these words, or an empty row.
inline Row find_row(const std::string &file, const Row &begin) {
  for (const Row &row : read(file)) {
    if (row.size() >= begin.size() && std::equal(begin.begin(), begin.end(), row.begin())) return row;
  }
  return {};
}

inline std::string digest_of_bytes(const std::vector<uint8_t> &bytes) {
  Digest digest(1);
  for (const uint8_t byte : bytes) digest.add(byte);
  return digest.text();
}

inline std::string digest_of_floats(const std::vector<float> &values) {
  Digest digest(4);
  for (const float value : values) digest.add(float_bits(value));
  return digest.text();
}

}  // namespace lpt::golden
