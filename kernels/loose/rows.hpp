// What the files of this family offer to the table.
#pragma once

#include "kernels/loose/loose.hpp"

namespace lpt {

void mark_units_ref(const MarkRequest &request);
void loosen_units_ref(const LoosenRequest &request);
void fill_units_ref(const FillRequest &request);
void mark_units_x86_avx512_vnni(const MarkRequest &request);
void loosen_units_x86_avx512_vnni(const LoosenRequest &request);
void fill_units_x86_avx512_vnni(const FillRequest &request);

}  // namespace lpt
