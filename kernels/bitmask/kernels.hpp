// What the files of this family offer to the table.
#pragma once

#include "kernels/bitmask/bitmask.hpp"

namespace lpt {

void mark_units_ref(const MarkRequest &request);
void compact_units_ref(const CompactRequest &request);
void fill_units_ref(const ExpandRequest &request);
void mark_units_x86_avx512_vnni(const MarkRequest &request);
void compact_units_x86_avx512_vnni(const CompactRequest &request);
void fill_units_x86_avx512_vnni(const ExpandRequest &request);

}  // namespace lpt
