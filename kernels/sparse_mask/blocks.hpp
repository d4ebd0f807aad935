// Loops shared by the SIMD kernels of all selection rules. Included by simd_*.cpp.
//
// The unit of work is a block of full vectors of adjacent elements. If groups run along lines of memory, a block is a segment
// of one line. If groups run across lines, a block is one vector from each line of a group, and each lane holds one group.
#pragma once

#include <cstdint>

#include "kernels/common/prefetcher.hpp"
#include "kernels/common/simd.hpp"
#include "kernels/sparse_mask/sparse_mask.hpp"

#if defined(__AVX512F__)
#include "kernels/sparse_mask/avx512_lanes.hpp"
#else
#include "kernels/sparse_mask/avx2_lanes.hpp"
#endif

namespace lpt {
namespace {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// Addresses of one block; steps are the distances between its vectors. Outputs that are not requested are NULL.
template <typename Code>
struct Block {
  const Code *from;
  int64_t from_step;
  Code *to;
  int64_t to_step;
  uint8_t *mask;
  int64_t mask_step;
  bool is_streamed;  // `to` is aligned for streaming stores, which bypass the caches

  // Returns the block `along` elements further along all lines and `lines` lines further.
  [[gnu::always_inline]] Block moved(int64_t along, int64_t lines = 0) const {
    Block other = *this;
    other.from += along + lines * from_step;
    if (to != nullptr) other.to += along + lines * to_step;
    if (mask != nullptr) other.mask += along + lines * mask_step;
    return other;
  }
};

// Returns the block of the first vectors of all lines. Lines are rows, or columns if the views are transposed.
template <typename Code>
Block<Code> first_block(const SparseMaskRequest &request, bool is_transposed) {
  const auto step = [is_transposed](const MatrixView &view) {
    return is_transposed ? view.column_stride : view.row_stride;
  };
  return {static_cast<const Code *>(request.source.data),
          step(request.source),
          static_cast<Code *>(request.masked.data),
          step(request.masked),
          static_cast<uint8_t *>(request.mask.data),
          step(request.mask),
          request.is_streamed && request.masked.data != nullptr && request.masked.data != request.source.data};
}

constexpr int64_t kCacheLine = 64;

// Returns the number of elements before the first address of a line that is a multiple of `place` bytes and follows full
// groups. If none exists, disables streaming for the block.
template <typename Code>
int64_t head_of(Block<Code> &block, int group, int64_t place = kCacheLine) {
  if (!block.is_streamed) return 0;
  const auto misfit = static_cast<int64_t>(reinterpret_cast<uintptr_t>(block.to) % static_cast<uint64_t>(place));
  const int64_t head = (place - misfit) % place / static_cast<int64_t>(sizeof(Code));
  if (head % group == 0) return head;
  block.is_streamed = false;
  return 0;
}

// Does the same for blocks across lines, with vectors of `width` elements.
template <typename Code>
int64_t head_across(Block<Code> &block, int64_t width) {
  const int64_t place = width * static_cast<int64_t>(sizeof(Code));
  block.is_streamed = block.is_streamed && block.to_step * static_cast<int64_t>(sizeof(Code)) % place == 0;
  return head_of(block, 1, place);
}

// Returns the prefetcher of a source that is read in memory order.
inline Prefetcher line_prefetcher(const SparseMaskRequest &request, int64_t bytes) {
  constexpr int64_t kDistance = 4096;
  return request.is_streamed ? make_prefetcher(request.source.data, kDistance)
                             : prefetcher_over(request.source.data, bytes);
}

// `count` lines of `length` adjacent elements.
struct Lines {
  int64_t count, length;
};

// Merges rows of full groups without gaps between them into one row.
inline Lines lines_of(const SparseMaskRequest &request) {
  const int64_t rows = request.source.rows, columns = request.source.columns;
  const auto has_gaps = [columns](const MatrixView &view) {
    return view.data != nullptr && view.row_stride != columns;
  };
  const bool is_one =
      columns % request.of == 0 && !has_gaps(request.source) && !has_gaps(request.masked) && !has_gaps(request.mask) &&
      (request.rule == LPT_SPARSE_RULE_MAGNITUDE || request.row_draws == static_cast<uint64_t>(columns / request.of));
  return is_one ? Lines{1, rows * columns} : Lines{rows, columns};
}

// Returns the prefetch distance in elements to the same vector of the next group, or 0 for no prefetch. Blocks across lines
// read one stream per line. The prefetch is used if several streams are fastest and the lines of a group fit the L2 cache.
template <typename Code>
int64_t next_group(const SparseMaskRequest &request, const Block<Code> &first) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const int64_t distance = first.from_step * request.of;
  const bool is_near = distance * static_cast<int64_t>(sizeof(Code)) <= kMost;
  return request.is_streamed && is_near && prefers_interleaved_reads() ? distance : 0;
}

template <typename Code>
[[gnu::always_inline]] inline void request_for_lines(const Block<Code> &block, int lines, int64_t distance) {
  if (distance == 0) return;
#pragma GCC unroll 4
  for (int i = 0; i < lines; ++i) {
    _mm_prefetch(reinterpret_cast<const char *>(block.from + distance + i * block.from_step), _MM_HINT_T1);
  }
}

// Runs an incomplete block, with `lines` vectors of `count` elements, on a copy. Missing elements are zeros, which are never
// kept instead of an element. Lines of the copy are `step` elements apart, its vectors kWidth.
template <typename Code, int kSize, int kWidth, typename Run>
[[gnu::noinline]] void run_edge(const Block<Code> &block, int64_t lines, int64_t count, int64_t step, const Run &run) {
  alignas(64) Code from[kSize] = {};
  alignas(64) Code to[kSize];
  alignas(64) uint8_t mask[kSize];
  const auto size = static_cast<size_t>(count);
  for (int64_t i = 0; i < lines; ++i) {
    __builtin_memcpy(from + i * step, block.from + i * block.from_step, size * sizeof *from);
  }
  run(Block<Code>{from, kWidth, block.to == nullptr ? nullptr : to, kWidth, block.mask == nullptr ? nullptr : mask,
                  kWidth, false});
  for (int64_t i = 0; i < lines; ++i) {
    if (block.to != nullptr) __builtin_memcpy(block.to + i * block.to_step, to + i * step, size * sizeof *to);
    if (block.mask != nullptr) __builtin_memcpy(block.mask + i * block.mask_step, mask + i * step, size);
  }
}

}  // namespace
}  // namespace lpt
