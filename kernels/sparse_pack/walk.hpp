// Loops over the rows of 2:4 matrices, shared by all instruction sets. Included by ISA files: all names have internal linkage.
//
// A Step provides all or some of
//   kBits, kColumns                                   bits of a code; columns of a step, which fill cache lines
//   compress<kIsStreamed>(source, mask, stored, indices)
//   decompress<kIsStreamed>(stored, indices, target)  pointers to bytes; streamed: the output is aligned to a cache line
//   nonzero(source, significant, mask)                marks codes that have one of the significant bits
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/common/prefetcher.hpp"
#include "kernels/sparse_pack/sparse_pack.hpp"

namespace lpt {
namespace {

template <typename Step>
constexpr int64_t code_bytes(int64_t columns) {
  return (columns * Step::kBits + 7) / 8;
}

constexpr int64_t stored_of(int64_t columns) { return (columns + 3) / 4 * 2; }
constexpr int64_t bytes_of_places(int64_t columns) { return (columns + 7) / 8; }

// The end of a row, processed as a zero-padded step.
template <typename Step>
struct LastStep {
  uint8_t dense[code_bytes<Step>(Step::kColumns)] = {};
  uint8_t stored[code_bytes<Step>(Step::kColumns / 2)] = {};
  uint8_t mask[Step::kColumns] = {};
  uint8_t indices[Step::kColumns / 8];

  void compress(const uint8_t *source, const uint8_t *source_mask, int64_t columns, uint8_t *to, uint8_t *to_indices) {
    memcpy(dense, source, static_cast<size_t>(code_bytes<Step>(columns)));
    memcpy(mask, source_mask, static_cast<size_t>(columns));
    Step::template compress<false>(dense, mask, stored, indices);
    memcpy(to, stored, static_cast<size_t>(code_bytes<Step>(stored_of(columns))));
    memcpy(to_indices, indices, static_cast<size_t>(bytes_of_places(columns)));
  }
  void decompress(const uint8_t *from, const uint8_t *from_indices, int64_t columns, uint8_t *target) {
    memset(indices, 0x44, sizeof indices);
    memcpy(indices, from_indices, static_cast<size_t>(bytes_of_places(columns)));
    memcpy(stored, from, static_cast<size_t>(code_bytes<Step>(stored_of(columns))));
    Step::template decompress<false>(stored, indices, dense);
    // Clears the padding after the last column, for which the last group may store a code.
    if (Step::kBits == 4 && columns % 2 != 0) dense[columns / 2] &= 0x0F;
    memcpy(target, dense, static_cast<size_t>(code_bytes<Step>(columns)));
  }
};

template <typename Step>
uint8_t *row_at(const MatrixView &matrix, int64_t row) {
  return static_cast<uint8_t *>(matrix.data) + row * code_bytes<Step>(matrix.row_stride);
}

// Returns true if each row begins at a cache line.
template <typename Step>
bool has_lines(const MatrixView &matrix) {
  return reinterpret_cast<uintptr_t>(matrix.data) % 64 == 0 && code_bytes<Step>(matrix.row_stride) % 64 == 0;
}

template <typename Step>
Prefetcher prefetcher_of(const MatrixView &matrix) {
  return prefetcher_over(matrix.data, matrix.rows * code_bytes<Step>(matrix.row_stride));
}

// Always inlined, because gcc removes calls of functions that only prefetch.
template <int64_t kBytes>
[[gnu::always_inline]] inline void prefetch(const Prefetcher &prefetcher, const uint8_t *from) {
  constexpr int64_t kLines = kBytes < 512 ? kBytes / 64 : 8;
  for (int64_t i = 0; i < kBytes; i += 64 * kLines) prefetcher.prefetch<kLines>(from + i);
}

template <typename Step>
void compress_rows(const CompressRequest &request) {
  const int64_t columns = request.source.columns;
  const bool is_past_caches = request.is_streamed && has_lines<Step>(request.stored);
  const Prefetcher source_prefetcher = prefetcher_of<Step>(request.source);
  const Prefetcher mask_prefetcher = prefetcher_over(request.mask.data, request.mask.rows * request.mask.row_stride);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    const uint8_t *source = row_at<Step>(request.source, row);
    const uint8_t *mask = static_cast<const uint8_t *>(request.mask.data) + row * request.mask.row_stride;
    uint8_t *stored = row_at<Step>(request.stored, row);
    uint8_t *indices = request.indices + row * request.index_stride;
    int64_t c = 0;
    for (; c + Step::kColumns <= columns; c += Step::kColumns) {
      const uint8_t *from = source + code_bytes<Step>(c);
      uint8_t *to = stored + code_bytes<Step>(c / 2);
      prefetch<Step::kColumns>(mask_prefetcher, mask + c);
      prefetch<code_bytes<Step>(Step::kColumns)>(source_prefetcher, from);
      if (is_past_caches) {
        Step::template compress<true>(from, mask + c, to, indices + c / 8);
      } else {
        Step::template compress<false>(from, mask + c, to, indices + c / 8);
      }
    }
    if (c == columns) continue;
    LastStep<Step> last;
    last.compress(source + code_bytes<Step>(c), mask + c, columns - c, stored + code_bytes<Step>(c / 2),
                  indices + c / 8);
  }
  if (is_past_caches) _mm_sfence();
}

template <typename Step>
void decompress_rows(const DecompressRequest &request) {
  const int64_t columns = request.target.columns;
  const bool is_past_caches = request.is_streamed && has_lines<Step>(request.target);
  const Prefetcher prefetcher = prefetcher_of<Step>(request.stored);
  for (int64_t row = 0; row < request.target.rows; ++row) {
    const uint8_t *stored = row_at<Step>(request.stored, row);
    const uint8_t *indices = request.indices + row * request.index_stride;
    uint8_t *target = row_at<Step>(request.target, row);
    int64_t c = 0;
    for (; c + Step::kColumns <= columns; c += Step::kColumns) {
      const uint8_t *from = stored + code_bytes<Step>(c / 2);
      uint8_t *to = target + code_bytes<Step>(c);
      prefetch<code_bytes<Step>(Step::kColumns / 2)>(prefetcher, from);
      if (is_past_caches) {
        Step::template decompress<true>(from, indices + c / 8, to);
      } else {
        Step::template decompress<false>(from, indices + c / 8, to);
      }
    }
    if (c == columns) continue;
    LastStep<Step> last;
    last.decompress(stored + code_bytes<Step>(c / 2), indices + c / 8, columns - c, target + code_bytes<Step>(c));
  }
  if (is_past_caches) _mm_sfence();
}

template <typename Step>
void nonzero_rows(const NonzeroRequest &request) {
  const int64_t columns = request.source.columns;
  const uint32_t significant = significant_bits(request.source.format.element);
  const Prefetcher prefetcher = prefetcher_of<Step>(request.source);
  for (int64_t row = 0; row < request.source.rows; ++row) {
    const uint8_t *source = row_at<Step>(request.source, row);
    uint8_t *mask = static_cast<uint8_t *>(request.mask.data) + row * request.mask.row_stride;
    int64_t c = 0;
    for (; c + Step::kColumns <= columns; c += Step::kColumns) {
      // In-line streams are left to the hardware prefetcher.
      if (prefetcher.is_spread()) prefetch<code_bytes<Step>(Step::kColumns)>(prefetcher, source + code_bytes<Step>(c));
      Step::nonzero(source + code_bytes<Step>(c), significant, mask + c);
    }
    if (c == columns) continue;
    uint8_t last[code_bytes<Step>(Step::kColumns)] = {};
    uint8_t last_mask[Step::kColumns];
    memcpy(last, source + code_bytes<Step>(c), static_cast<size_t>(code_bytes<Step>(columns - c)));
    Step::nonzero(last, significant, last_mask);
    memcpy(mask + c, last_mask, static_cast<size_t>(columns - c));
  }
}

// Selects a Step by the bits of a code.

template <template <int> typename Step>
void compress_codes(const CompressRequest &request) {
  switch (element_bits(request.source.format.element)) {
    case 4:
      return compress_rows<Step<4>>(request);
    case 8:
      return compress_rows<Step<8>>(request);
    case 16:
      return compress_rows<Step<16>>(request);
    default:
      return compress_rows<Step<32>>(request);
  }
}

template <template <int> typename Step>
void decompress_codes(const DecompressRequest &request) {
  switch (element_bits(request.target.format.element)) {
    case 4:
      return decompress_rows<Step<4>>(request);
    case 8:
      return decompress_rows<Step<8>>(request);
    case 16:
      return decompress_rows<Step<16>>(request);
    default:
      return decompress_rows<Step<32>>(request);
  }
}

template <template <int> typename Step>
void nonzero_codes(const NonzeroRequest &request) {
  switch (element_bits(request.source.format.element)) {
    case 4:
      return nonzero_rows<Step<4>>(request);
    case 8:
      return nonzero_rows<Step<8>>(request);
    case 16:
      return nonzero_rows<Step<16>>(request);
    default:
      return nonzero_rows<Step<32>>(request);
  }
}

}  // namespace
}  // namespace lpt
