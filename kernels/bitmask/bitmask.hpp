// The family of bitmask lines: of a stream of memory lines only what is not zero is kept, with a bit for every place.
#pragma once

#include <cstdint>
#include <span>

#include "src/base/kernel_entry.hpp"

namespace lpt {

// A line is 64 bytes, cut into units of 1, 2 or 4 bytes. A unit whose bits are all 0 is left out: the stream comes back
// bit for bit, whatever its units mean. Bit i % 8 of byte i / 8 of `bits` says whether unit i of the stream is kept.
constexpr int64_t kBitmaskLine = 64;

constexpr int64_t bitmask_line_bits(int32_t unit_bytes) { return kBitmaskLine / unit_bytes; }
constexpr int64_t bitmask_bits_bytes(int64_t lines, int32_t unit_bytes) {
  return lines * bitmask_line_bits(unit_bytes) / 8;
}

static inline bool has_bit(const uint8_t *bits, int64_t i) { return (bits[i / 8] >> (i % 8) & 1) != 0; }
static inline void set_bit(uint8_t *bits, int64_t i) { bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1 << (i % 8)); }

// Finds the units of lines that are kept.
struct MarkRequest {
  const uint8_t *lines;
  int64_t count;
  int32_t unit_bytes;
  uint8_t *bits;      // written
  int64_t *out_kept;  // written: units
};

// Packs the units that are kept one after the other.
struct CompactRequest {
  const uint8_t *lines;
  int64_t count;
  int32_t unit_bytes;
  const uint8_t *bits;
  uint8_t *units;  // written; nothing past the last unit
};

// The inverse.
struct ExpandRequest {
  const uint8_t *bits;
  const uint8_t *units;  // a line's bytes past the last one may be read
  int64_t count;
  int32_t unit_bytes;
  uint8_t *lines;  // written; begins at a line of memory
};

std::span<const KernelEntry<MarkRequest>> mark_kernels();
std::span<const KernelEntry<CompactRequest>> compact_kernels();
std::span<const KernelEntry<ExpandRequest>> expand_kernels();

// Kernels of the table.
void mark_units_ref(const MarkRequest &request);
void compact_units_ref(const CompactRequest &request);
void fill_units_ref(const ExpandRequest &request);
void mark_units_x86_avx512_vnni(const MarkRequest &request);
void compact_units_x86_avx512_vnni(const CompactRequest &request);
void fill_units_x86_avx512_vnni(const ExpandRequest &request);

}  // namespace lpt
