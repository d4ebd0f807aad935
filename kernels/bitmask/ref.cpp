// The reference kernels. They define every byte.
#include <cstring>

#include "kernels/bitmask/bitmask.hpp"

namespace lpt {
namespace {

bool is_zero(const uint8_t *unit, int32_t bytes) {
  for (int32_t i = 0; i < bytes; ++i) {
    if (unit[i] != 0) return false;
  }
  return true;
}

}  // namespace

void mark_units_ref(const MarkRequest &request) {
  const int64_t units = request.count * bitmask_line_bits(request.unit_bytes);
  std::memset(request.bits, 0, static_cast<size_t>(bitmask_bits_bytes(request.count, request.unit_bytes)));
  *request.out_kept = 0;
  for (int64_t i = 0; i < units; ++i) {
    if (is_zero(request.lines + i * request.unit_bytes, request.unit_bytes)) continue;
    set_bit(request.bits, i);
    ++*request.out_kept;
  }
}

void compact_units_ref(const CompactRequest &request) {
  const int64_t units = request.count * bitmask_line_bits(request.unit_bytes);
  uint8_t *to = request.units;
  for (int64_t i = 0; i < units; ++i) {
    if (!has_bit(request.bits, i)) continue;
    std::memcpy(to, request.lines + i * request.unit_bytes, static_cast<size_t>(request.unit_bytes));
    to += request.unit_bytes;
  }
}

void fill_units_ref(const ExpandRequest &request) {
  const int64_t units = request.count * bitmask_line_bits(request.unit_bytes);
  const uint8_t *from = request.units;
  std::memset(request.lines, 0, static_cast<size_t>(request.count * kBitmaskLine));
  for (int64_t i = 0; i < units; ++i) {
    if (!has_bit(request.bits, i)) continue;
    std::memcpy(request.lines + i * request.unit_bytes, from, static_cast<size_t>(request.unit_bytes));
    from += request.unit_bytes;
  }
}

}  // namespace lpt
