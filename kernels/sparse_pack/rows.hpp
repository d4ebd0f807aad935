// What the files of this family offer to the table.
#pragma once

#include "kernels/sparse_pack/sparse_pack.hpp"

namespace lpt {

void compress_any_ref(const CompressRequest &request);
void decompress_any_ref(const DecompressRequest &request);
void nonzero_any_ref(const NonzeroRequest &request);

void compress_x86_avx512_vnni(const CompressRequest &request);
void decompress_x86_avx512_vnni(const DecompressRequest &request);

void compress_x86_avx2(const CompressRequest &request);
void decompress_x86_avx2(const DecompressRequest &request);

}  // namespace lpt
