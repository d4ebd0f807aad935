// 2:4 matrices: two of every four columns are stored, with their indices.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// Compresses a matrix to 2:4. An index byte covers two groups of four columns, the first group in the low nibble. The low two
// bits of a nibble are the index of the first stored column, the high two bits that of the second, first < second. Nibbles
// without a group are 0x4.
//
// Group g of row r keeps the columns 4·g + i whose mask is not 0, at most two. If it keeps fewer, the lowest other columns are
// stored as code 0. stored(r, 2·g) and stored(r, 2·g + 1) are the codes.
struct CompressRequest {
  MatrixView source;  // codes of any plain element; column_stride 1
  MatrixView mask;    // uint8; any strides
  MatrixView stored;  // element of the source, 2 · ceil(columns / 4) columns
  uint8_t *indices;   // (columns + 7) / 8 bytes per row
  int64_t index_stride;
  // Permits streaming stores to `stored`, because it is part of a tensor larger than the caches.
  bool is_streamed = false;
};

// Decompresses: target(r, 4·g + index) = stored code, code 0 elsewhere. Indices are valid.
struct DecompressRequest {
  MatrixView stored;
  const uint8_t *indices;
  int64_t index_stride;
  MatrixView target;         // codes of the stored element; column_stride 1
  bool is_streamed = false;  // as above, for target
};

// Computes mask(r, c) = 1 if source(r, c) is not zero, else 0.
struct NonzeroRequest {
  MatrixView source;  // codes of any plain element; column_stride 1
  MatrixView mask;    // uint8
};

std::span<const KernelEntry<CompressRequest>> compress_kernels();
std::span<const KernelEntry<DecompressRequest>> decompress_kernels();
std::span<const KernelEntry<NonzeroRequest>> nonzero_kernels();

// Kernels of the table.
void compress_any_ref(const CompressRequest &request);
void decompress_any_ref(const DecompressRequest &request);
void nonzero_any_ref(const NonzeroRequest &request);

void compress_x86_avx512_vnni(const CompressRequest &request);
void decompress_x86_avx512_vnni(const DecompressRequest &request);
void nonzero_x86_avx512(const NonzeroRequest &request);

void compress_x86_avx2(const CompressRequest &request);
void decompress_x86_avx2(const DecompressRequest &request);
void nonzero_x86_avx2(const NonzeroRequest &request);

// Returns the bits of a code of which at least one is set if the element is not zero; 0 if no such bits exist.
uint32_t significant_bits(lpt_format element);

}  // namespace lpt
