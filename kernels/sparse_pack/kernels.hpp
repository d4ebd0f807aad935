// What the files of this family offer to the table.
#pragma once

#include "kernels/sparse_pack/sparse_pack.hpp"

namespace lpt {

void compress_any_ref(const CompressRequest &request);
void decompress_any_ref(const DecompressRequest &request);
void nonzero_any_ref(const NonzeroRequest &request);

void compress_x86_avx512_vnni(const CompressRequest &request);
void decompress_x86_avx512_vnni(const DecompressRequest &request);
void nonzero_x86_avx512(const NonzeroRequest &request);

void compress_x86_avx2(const CompressRequest &request);
void decompress_x86_avx2(const DecompressRequest &request);
void nonzero_x86_avx2(const NonzeroRequest &request);

// The bits of a code that are not all 0 where it is not zero; 0 where no such bits tell it.
uint32_t significant_bits(lpt_format element);

}  // namespace lpt
