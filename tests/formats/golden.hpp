// Golden files and their digests. tools/make_golden.py documents their contents and the digest.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "src/formats/element.hpp"

namespace lpt::golden {

struct NamedElement {
  const char *name;
  Element element;
};

using Row = std::vector<std::string>;

// Returns the rows of a file after its comment and header; no rows if it cannot be read.
inline std::vector<Row> read(const std::string &name, const std::string &folder = "formats") {
  std::ifstream file(std::string(LPT_GOLDEN_DIR) + "/" + folder + "/" + name + ".csv");
  std::vector<Row> rows;
  bool is_past_header = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (!is_past_header) {
      is_past_header = true;
      continue;
    }
    Row row;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, ',');) row.push_back(word);
    rows.push_back(row);
  }
  return rows;
}

// Returns the digest of `set` in `element`; "" if the file has none.
inline std::string digest(const std::string &file, const std::string &set, const std::string &element) {
  for (const Row &row : read(file)) {
    if (row.size() == 3 && row[0] == set && row[1] == element) return row[2];
  }
  return "";
}

constexpr uint64_t kLanes = 65536;
constexpr uint64_t kFnvOffset = 0xCBF29CE484222325u;

inline void fnv(uint64_t &hash, uint64_t item, int bytes) {
  for (int byte = 0; byte < bytes; ++byte) hash = (hash ^ ((item >> (8 * byte)) & 0xFF)) * 0x100000001B3u;
}

inline std::string digest_of_lanes(const std::vector<uint64_t> &lanes) {
  uint64_t hash = kFnvOffset;
  for (uint64_t lane : lanes) fnv(hash, lane, 8);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

class Digest {
 public:
  explicit Digest(int item_bytes) : item_bytes_(item_bytes) {}
  void add(uint32_t item) { fnv(lanes_[count_++ % kLanes], item, item_bytes_); }
  std::string text() const { return digest_of_lanes(lanes_); }

 private:
  int item_bytes_;
  uint64_t count_ = 0;
  std::vector<uint64_t> lanes_ = std::vector<uint64_t>(kLanes, kFnvOffset);
};

inline bool is_nan(float value) { return (float_bits(value) & 0x7FFFFFFFu) > 0x7F800000u; }

// Maps any NaN code to the positive one. A NaN of an element without NaN is zero, of either sign.
inline uint32_t canonical_code(const Element &element, uint32_t code, float value) {
  const uint32_t magnitude = element.is_signed ? code & ((1u << (element.bits - 1)) - 1) : code;
  if (element.nan_code == 0) return is_nan(value) ? magnitude : code;
  const bool is_infinity = magnitude == element.infinity_code && element.infinity_code != element.nan_code;
  return magnitude > element.max_code && !is_infinity ? element.nan_code : code;
}

inline uint32_t encode_nearest(const Element &element, float value) {
  const uint32_t code = encode(element, value, LPT_ROUNDING_NEAREST_EVEN, LPT_OVERFLOW_INFINITE, 0, 16);
  return canonical_code(element, code, value);
}

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t bits = state_ += 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
  }
  uint32_t next_high() { return static_cast<uint32_t>(next() >> 32); }
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(uint64_t{next_high()} * limit >> 32); }

 private:
  uint64_t state_;
};

}  // namespace lpt::golden
