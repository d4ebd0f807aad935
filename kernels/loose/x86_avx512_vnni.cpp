#include "kernels/loose/avx512_vnni_loose.hpp"
#include "kernels/loose/rows.hpp"

namespace lpt {

void mark_units_x86_avx512_vnni(const MarkRequest &request) {
  if (request.unit_bytes == 1) return mark_lines<Units1>(request);
  if (request.unit_bytes == 2) return mark_lines<Units2>(request);
  mark_lines<Units4>(request);
}

void loosen_units_x86_avx512_vnni(const LoosenRequest &request) {
  if (request.unit_bytes == 1) return loosen_lines<Units1>(request);
  if (request.unit_bytes == 2) return loosen_lines<Units2>(request);
  loosen_lines<Units4>(request);
}

void fill_units_x86_avx512_vnni(const FillRequest &request) {
  if (request.unit_bytes == 1) return fill_lines<Units1>(request);
  if (request.unit_bytes == 2) return fill_lines<Units2>(request);
  fill_lines<Units4>(request);
}

}  // namespace lpt
