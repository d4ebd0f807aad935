#include "kernels/bitmask/avx512_vnni_bitmask.hpp"
#include "kernels/bitmask/kernels.hpp"

namespace lpt {

void mark_units_x86_avx512_vnni(const MarkRequest &request) {
  if (request.unit_bytes == 1) return mark_lines<Units1>(request);
  if (request.unit_bytes == 2) return mark_lines<Units2>(request);
  mark_lines<Units4>(request);
}

void compact_units_x86_avx512_vnni(const CompactRequest &request) {
  if (request.unit_bytes == 1) return compact_lines<Units1>(request);
  if (request.unit_bytes == 2) return compact_lines<Units2>(request);
  compact_lines<Units4>(request);
}

void fill_units_x86_avx512_vnni(const ExpandRequest &request) {
  if (request.unit_bytes == 1) return fill_lines<Units1>(request);
  if (request.unit_bytes == 2) return fill_lines<Units2>(request);
  fill_lines<Units4>(request);
}

}  // namespace lpt
