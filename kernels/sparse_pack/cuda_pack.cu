// 2:4 compression and decompression: one thread processes sixteen columns: four groups, eight stored codes, two index bytes.
#include "kernels/common/cuda_fragment.hpp"
#include "kernels/sparse_pack/cuda_kernels.hpp"

namespace lpt {
namespace {

constexpr int32_t kGroups = kFragment / 4;

// Returns a table of index nibbles by the four mask bits of a group: kept columns, padded with the lowest other columns to two.
// Same as pair_of() of ref.cpp.
constexpr uint64_t halves_of_masks() {
  uint64_t halves = 0;
  for (uint32_t mask = 0; mask < 16; ++mask) {
    int32_t fillers = 2;
    for (uint32_t i = 0; i < 4; ++i) fillers -= static_cast<int32_t>(mask >> i & 1);
    uint32_t half = 0, count = 0;
    for (uint32_t i = 0; i < 4 && count < 2; ++i) {
      const bool stays = (mask >> i & 1) != 0;
      if (!stays && fillers-- <= 0) continue;
      half |= i << (2 * count++);
    }
    halves |= uint64_t{half} << (4 * mask);
  }
  return halves;
}
constexpr uint64_t kHalves = halves_of_masks();

struct PackJob {
  const void *dense;
  const uint8_t *mask;
  void *stored;
  uint8_t *indices;
  int64_t rows, columns;                                           // dense matrix
  int64_t dense_stride, mask_stride, stored_stride, index_stride;  // in bytes
  bool is_dense_whole, is_mask_whole, is_stored_whole;
};

// Half a fragment: eight codes.
template <int32_t kBits>
struct StoredFragment {
  uint32_t word[kBits / 4];
};

// Stores the bytes of a stored fragment, in vectors of 8 or 16 bytes if alignment permits.
template <int32_t kBits>
__device__ __forceinline__ void store_stored(unsigned char *bytes, int32_t count, bool is_whole,
                                             const StoredFragment<kBits> &fragment) {
  if (is_whole && count == 8) {
#pragma unroll
    for (int32_t i = 0; i < kBits / 4; i += 2) {
      __stcs(reinterpret_cast<uint2 *>(bytes + 4 * i), uint2{fragment.word[i], fragment.word[i + 1]});
    }
    return;
  }
#pragma unroll
  for (int32_t i = 0; i < kBits; ++i) {
    if (i < count * kBits / 8) bytes[i] = static_cast<unsigned char>(fragment.word[i / 4] >> (8 * (i % 4)));
  }
}

template <int32_t kBits>
__device__ __forceinline__ StoredFragment<kBits> load_stored(const unsigned char *bytes, int32_t count, bool is_whole) {
  StoredFragment<kBits> fragment = {};
  if (is_whole && count == 8) {
#pragma unroll
    for (int32_t i = 0; i < kBits / 4; i += 2) {
      const uint2 two = __ldcs(reinterpret_cast<const uint2 *>(bytes + 4 * i));
      fragment.word[i] = two.x;
      fragment.word[i + 1] = two.y;
    }
    return fragment;
  }
#pragma unroll
  for (int32_t i = 0; i < kBits; ++i) {
    if (i < count * kBits / 8) fragment.word[i / 4] |= static_cast<uint32_t>(bytes[i]) << (8 * (i % 4));
  }
  return fragment;
}

// Returns the code at `place` of a group, where `place` is not a compile-time constant.
template <int32_t kBits>
__device__ __forceinline__ uint32_t chosen_code(const CodeFragment<kBits> &codes, int32_t group, uint32_t place) {
  uint32_t code = code_at(codes, 4 * group);
#pragma unroll
  for (uint32_t i = 1; i < 4; ++i) code = place == i ? code_at(codes, 4 * group + static_cast<int32_t>(i)) : code;
  return code;
}

__device__ __forceinline__ uint32_t mask_bits(const CodeFragment<8> &mask, int32_t group) {
  uint32_t bits = 0;
#pragma unroll
  for (int32_t i = 0; i < 4; ++i) bits |= static_cast<uint32_t>(code_at(mask, 4 * group + i) != 0) << i;
  return bits;
}

struct FragmentCounts {
  int64_t column;
  int32_t columns, stored, index_bytes;
};

__device__ __forceinline__ FragmentCounts counts_of(const PackJob &job) {
  FragmentCounts counts = {};
  counts.column = first_column_of_grid();
  counts.columns = fragment_count(job.columns, counts.column);
  counts.stored = (counts.columns + 3) / 4 * 2;
  counts.index_bytes = (counts.columns + 7) / 8;
  return counts;
}

__device__ __forceinline__ void store_places(const PackJob &job, int64_t row, const FragmentCounts &counts,
                                             uint32_t places) {
  uint8_t *indices = job.indices + row * job.index_stride + counts.column / 8;
  if (counts.index_bytes > 0) indices[0] = static_cast<uint8_t>(places);
  if (counts.index_bytes > 1) indices[1] = static_cast<uint8_t>(places >> 8);
}

template <int32_t kBits>
__global__ void __launch_bounds__(kBlockThreads) compress(PackJob job) {
  const FragmentCounts counts = counts_of(job);
  if (counts.columns == 0) return;
  const bool is_full = counts.columns == kFragment;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const CodeFragment<kBits> dense = load_codes<kBits>(job.dense, row * job.dense_stride + counts.column * kBits / 8,
                                                        counts.columns, is_full && job.is_dense_whole);
    const CodeFragment<8> mask =
        load_codes<8>(job.mask, row * job.mask_stride + counts.column, counts.columns, is_full && job.is_mask_whole);
    StoredFragment<kBits> stored = {};
    uint32_t places = 0;
#pragma unroll
    for (int32_t group = 0; group < kGroups; ++group) {
      const uint32_t bits = mask_bits(mask, group);
      const auto half = static_cast<uint32_t>(kHalves >> (4 * bits)) & 15u;
      places |= half << (4 * group);
#pragma unroll
      for (int32_t i = 0; i < 2; ++i) {
        const uint32_t place = half >> (2 * i) & 3u;
        const uint32_t code = (bits >> place & 1) != 0 ? chosen_code(dense, group, place) : 0;
        const int32_t bit = (2 * group + i) * kBits;
        stored.word[bit / 32] |= code << (bit % 32);
      }
    }
    store_places(job, row, counts, places);
    store_stored(static_cast<unsigned char *>(job.stored) + row * job.stored_stride + counts.column * kBits / 16,
                 counts.stored, job.is_stored_whole, stored);
  }
}

template <int32_t kBits>
__global__ void __launch_bounds__(kBlockThreads) decompress(PackJob job) {
  const FragmentCounts counts = counts_of(job);
  if (counts.columns == 0) return;
  const bool is_full = counts.columns == kFragment;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const StoredFragment<kBits> stored = load_stored<kBits>(
        static_cast<const unsigned char *>(job.stored) + row * job.stored_stride + counts.column * kBits / 16,
        counts.stored, job.is_stored_whole);
    const uint8_t *indices = job.indices + row * job.index_stride + counts.column / 8;
    const uint32_t places = indices[0] | (counts.index_bytes > 1 ? static_cast<uint32_t>(indices[1]) << 8 : 0);
    CodeFragment<kBits> dense = {};
#pragma unroll
    for (int32_t column = 0; column < kFragment; ++column) {
      const int32_t group = column / 4;
      const uint32_t half = places >> (4 * group) & 15u;
      uint32_t code = 0;
#pragma unroll
      for (int32_t i = 0; i < 2; ++i) {
        const int32_t bit = (2 * group + i) * kBits;
        const bool is_here = (half >> (2 * i) & 3u) == static_cast<uint32_t>(column % 4);
        if (is_here) code = stored.word[bit / 32] >> (bit % 32) & (kBits == 32 ? ~0u : (1u << (kBits % 32)) - 1);
      }
      put_code(dense, column, code);
    }
    store_codes(const_cast<void *>(job.dense), row * job.dense_stride + counts.column * kBits / 8, counts.columns,
                is_full && job.is_dense_whole, dense);
  }
}

// Marks nonzero codes. `number_bits` selects the bits that are zero for a zero element: all except the sign.
template <int32_t kBits>
__global__ void __launch_bounds__(kBlockThreads) find_nonzero(PackJob job, uint8_t *mask, uint32_t number_bits) {
  const FragmentCounts counts = counts_of(job);
  if (counts.columns == 0) return;
  const bool is_full = counts.columns == kFragment;
  for (int64_t row = first_row_of_grid(); row < job.rows; row += rows_of_grid()) {
    const CodeFragment<kBits> codes = load_codes<kBits>(job.dense, row * job.dense_stride + counts.column * kBits / 8,
                                                        counts.columns, is_full && job.is_dense_whole);
    CodeFragment<8> found = {};
#pragma unroll
    for (int32_t i = 0; i < kFragment; ++i) {
      put_code(found, i, static_cast<uint32_t>((code_at(codes, i) & number_bits) != 0));
    }
    store_codes(mask, row * job.mask_stride + counts.column, counts.columns, is_full && job.is_mask_whole, found);
  }
}

int32_t bits_of(lpt_format element) {
  if (element == LPT_FORMAT_F32) return 32;
  return element == LPT_FORMAT_BF16 || element == LPT_FORMAT_F16 ? 16 : 8;
}

PackJob pack_job(const MatrixView &dense, const MatrixView &stored, int64_t index_stride) {
  const int64_t bytes = bits_of(dense.format.element) / 8;
  PackJob job = {};
  job.dense = dense.data;
  job.stored = stored.data;
  job.rows = dense.rows;
  job.columns = dense.columns;
  job.dense_stride = dense.row_stride * bytes;
  job.stored_stride = stored.row_stride * bytes;
  job.index_stride = index_stride;
  job.is_dense_whole = are_rows_aligned(dense.data, job.dense_stride);
  job.is_stored_whole = are_rows_aligned(stored.data, job.stored_stride, 8);
  return job;
}

// Returns the magnitude bits of a code; for integers, all bits.
uint32_t number_bits_of(lpt_format element) {
  const int32_t bits = bits_of(element);
  return ~0u >> (element == LPT_FORMAT_INT8 ? 24 : 33 - bits);
}

}  // namespace

void compress_cuda(const CompressRequest &request, void *stream) {
  PackJob job = pack_job(request.source, request.stored, request.index_stride);
  job.mask = static_cast<const uint8_t *>(request.mask.data);
  job.indices = request.indices;
  job.mask_stride = request.mask.row_stride;
  job.is_mask_whole = are_rows_aligned(job.mask, job.mask_stride);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid shape = fragment_grid(job.rows, job.columns, kBlockThreads);
  const dim3 grid = blocks_of_grid(shape), block = threads_of_grid(shape);
  switch (bits_of(request.source.format.element)) {
    case 32:
      LPT_LAUNCH(compress<32>, grid, block, 0, stream, job);
      return;
    case 16:
      LPT_LAUNCH(compress<16>, grid, block, 0, stream, job);
      return;
    default:
      LPT_LAUNCH(compress<8>, grid, block, 0, stream, job);
  }
}

void decompress_cuda(const DecompressRequest &request, void *stream) {
  PackJob job = pack_job(request.target, request.stored, request.index_stride);
  job.indices = const_cast<uint8_t *>(request.indices);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid shape = fragment_grid(job.rows, job.columns, kBlockThreads);
  const dim3 grid = blocks_of_grid(shape), block = threads_of_grid(shape);
  switch (bits_of(request.stored.format.element)) {
    case 32:
      LPT_LAUNCH(decompress<32>, grid, block, 0, stream, job);
      return;
    case 16:
      LPT_LAUNCH(decompress<16>, grid, block, 0, stream, job);
      return;
    default:
      LPT_LAUNCH(decompress<8>, grid, block, 0, stream, job);
  }
}

void nonzero_cuda(const NonzeroRequest &request, void *stream) {
  PackJob job = pack_job(request.source, request.mask, 0);
  auto *const mask = static_cast<uint8_t *>(request.mask.data);
  job.mask_stride = request.mask.row_stride;
  job.is_mask_whole = are_rows_aligned(mask, job.mask_stride);
  if (job.rows == 0 || job.columns == 0) return;
  const FragmentGrid shape = fragment_grid(job.rows, job.columns, kBlockThreads);
  const dim3 grid = blocks_of_grid(shape), block = threads_of_grid(shape);
  const uint32_t number_bits = number_bits_of(request.source.format.element);
  switch (bits_of(request.source.format.element)) {
    case 32:
      LPT_LAUNCH(find_nonzero<32>, grid, block, 0, stream, job, mask, number_bits);
      return;
    case 16:
      LPT_LAUNCH(find_nonzero<16>, grid, block, 0, stream, job, mask, number_bits);
      return;
    default:
      LPT_LAUNCH(find_nonzero<8>, grid, block, 0, stream, job, mask, number_bits);
  }
}

}  // namespace lpt
