// The family of 2:4 matrices: of every four columns two are stored, with their places.
#pragma once

#include <span>

#include "lpt.h"
#include "src/base/kernel_entry.hpp"
#include "src/formats/view.hpp"

namespace lpt {

// A byte of places serves two groups of four columns, the first one in the low half; a half holds the place of the first
// stored column in its low two bits, that of the second in the high two, first < second. Halves without a group are 0x4.
//
// Group g of row r keeps the columns 4·g + i whose mask is not 0, at most two of them; where it keeps fewer, the lowest
// others are stored as code 0. stored(r, 2·g) and stored(r, 2·g + 1) are their codes.
struct CompressRequest {
  MatrixView source;  // codes of any plain element; column_stride 1
  MatrixView mask;    // uint8; any strides
  MatrixView stored;  // the source's element, 2 · (columns / 4, rounded up) columns
  uint8_t *indices;   // (columns + 7) / 8 of each row
  int64_t index_stride;
  // What is stored may be written past the caches: it is a part of something larger than they are.
  bool is_streamed = false;
};

// The inverse: target(r, 4·g + place) = stored, code 0 elsewhere. Places are legal.
struct DecompressRequest {
  MatrixView stored;
  const uint8_t *indices;
  int64_t index_stride;
  MatrixView target;         // codes of the stored element; column_stride 1
  bool is_streamed = false;  // of the target, as above
};

// mask(r, c) = 1 where source(r, c) is not zero, else 0.
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

// The bits of a code that are not all 0 where it is not zero; 0 where no such bits tell it.
uint32_t significant_bits(lpt_format element);

}  // namespace lpt
