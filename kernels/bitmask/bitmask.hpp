// Bitmask storage of memory lines: only nonzero units are stored, with one bit per unit of the stream.
#pragma once

#include <cstdint>
#include <span>

#include "src/base/kernel_entry.hpp"

namespace lpt {

// A line is 64 bytes, cut into units of 1, 2 or 4 bytes. A unit whose bits are all 0 is not stored. Expansion restores the
// stream bit for bit, for any meaning of the units. Bit i % 8 of byte i / 8 of `bits` is set if unit i of the stream is stored.
constexpr int64_t kBitmaskLine = 64;

constexpr int64_t bitmask_line_bits(int32_t unit_bytes) { return kBitmaskLine / unit_bytes; }
constexpr int64_t bitmask_bits_bytes(int64_t lines, int32_t unit_bytes) {
  return lines * bitmask_line_bits(unit_bytes) / 8;
}

static inline bool has_bit(const uint8_t *bits, int64_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }
static inline void set_bit(uint8_t *bits, int64_t i) { bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1 << (i % 8)); }

// Marks the units of lines that are stored.
struct MarkRequest {
  const uint8_t *lines;
  int64_t count;
  int32_t unit_bytes;
  uint8_t *bits;      // written
  int64_t *out_kept;  // written: the number of stored units
};

// Packs the stored units one after the other.
struct CompactRequest {
  const uint8_t *lines;
  int64_t count;
  int32_t unit_bytes;
  const uint8_t *bits;
  uint8_t *units;  // written; no byte past the last unit is written
};

// Expands the packed units: the inverse of CompactRequest.
struct ExpandRequest {
  const uint8_t *bits;
  const uint8_t *units;  // up to 64 bytes past the last unit may be read
  int64_t count;
  int32_t unit_bytes;
  uint8_t *lines;  // written; aligned to 64 bytes
};

std::span<const KernelEntry<MarkRequest>> mark_kernels();
std::span<const KernelEntry<CompactRequest>> compact_kernels();
std::span<const KernelEntry<ExpandRequest>> expand_kernels();

// Kernels of the tables.
void mark_units_ref(const MarkRequest &request);
void compact_units_ref(const CompactRequest &request);
void fill_units_ref(const ExpandRequest &request);
void mark_units_x86_avx512_vnni(const MarkRequest &request);
void compact_units_x86_avx512_vnni(const CompactRequest &request);
void fill_units_x86_avx512_vnni(const ExpandRequest &request);

}  // namespace lpt
