// 2:4 matrices: compression with a mask, and decompression.
#include <atomic>
#include <cstring>

#include "kernels/quantize/quantize.hpp"
#include "kernels/sparse_pack/sparse_pack.hpp"
#include "src/call/launch.hpp"
#include "src/cast/device_cast.hpp"
#include "src/gemm/run.hpp"
#include "src/sparse/parts.hpp"
#include "src/tensor/checks.hpp"
#include "src/tensor/sparse_matrix.hpp"

namespace lpt {
namespace {

constexpr int32_t kKept = 2;
constexpr int32_t kOf = 4;

// Checks.

// Rejects a sparse and a dense matrix that differ in element, scales or shape.
Status check_pair(const MatrixView &sparse, const char *sparse_name, const MatrixView &dense, const char *dense_name) {
  if (dense_format(sparse.format.id) != dense.format.id) {
    return invalid("%s is %s and %s %s: expected the same format with and without /2:4", sparse_name,
                   format_name(sparse.format.id).c_str(), dense_name, format_name(dense.format.id).c_str());
  }
  if (sparse.rows != dense.rows || sparse.columns != dense.columns) {
    return invalid("%s is %lld x %lld and %s %lld x %lld: expected the same", sparse_name, number(sparse.rows),
                   number(sparse.columns), dense_name, number(dense.rows), number(dense.columns));
  }
  return {};
}

// Returns whether a group of a row keeps too many elements. It tests eight columns at a time: nonzero bytes become 1, and the
// four bytes of a group are added.
bool has_full_group(const uint8_t *bytes, int64_t columns) {
  constexpr uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  uint64_t found = 0;
  for (int64_t begin = 0; begin < columns; begin += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes + begin, static_cast<size_t>(std::min<int64_t>(8, columns - begin)));
    uint64_t sums = ((((eight & kLow) + kLow) | eight) & ~kLow) >> 7;
    sums += sums >> 8;
    sums += sums >> 16;
    found |= (sums & 0x0000000700000007) + 0x0000000500000005;  // bit 3 is set for sums of at least 3
  }
  return (found & 0x0000000800000008) != 0;
}

// Rejects a mask that keeps too many elements of a group. The error names the first such group.
Status check_groups(Context &context, const MatrixView &mask, const char *line_name) {
  std::atomic<int64_t> first{mask.rows};
  parallel_parts(context, mask.rows, mask.columns, [&](int64_t begin, int64_t count) {
    for (int64_t row = begin; row < std::min(begin + count, first.load()); ++row) {
      if (!has_full_group(static_cast<const uint8_t *>(mask.data) + row * mask.row_stride, mask.columns)) continue;
      for (int64_t before = first; row < before && !first.compare_exchange_weak(before, row);) {
      }
    }
  });
  if (first == mask.rows) return {};
  int64_t group = 0;
  while (count_kept(mask, first, group, kOf) <= kKept) group += kOf;
  return invalid("mask keeps %d of the 4 numbers from %lld of %s %lld: expected at most %d",
                 count_kept(mask, first, group, kOf), number(group), line_name, number(first), kKept);
}

// Operations on the CPU.

Status compress(Context &context, const MatrixView &source, const MatrixView &mask, const MatrixView &target) {
  const bool is_streamed = view_bytes(target) >= kStreamedBytes;
  const CompressRequest whole{plain_view(source),  mask,       plain_view(target), target.indices,
                              target.index_stride, is_streamed};
  const KernelEntry<CompressRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "compress", compress_kernels(), whole, {source.format.id}, &kernel));
  const ProfileScope measure(context, "compress", kernel->name, view_bytes(source) + view_bytes(target));
  parallel_parts(context, source.rows, source.columns, [&](int64_t begin, int64_t count) {
    kernel->run({cut_rows(whole.source, begin, count), cut_rows(mask, begin, count),
                 cut_rows(whole.stored, begin, count), target.indices + begin * target.index_stride,
                 target.index_stride, is_streamed});
  });
  copy_scales(source, target);
  return {};
}

// Transposes a matrix and its scales in square tiles, whose cache lines remain in the caches. The side is a multiple of every
// square block of scales and of packs of two codes. Formats with larger packs are transposed as a single tile.
constexpr int64_t kTransposedSide = 256;

Status transpose_matrix(Context &context, const MatrixView &source, MatrixView &out_transposed) {
  LPT_TRY(take_matrix(context, source.format, source.columns, source.rows, false, out_transposed));
  if (source.tensor_scale != nullptr) *out_transposed.tensor_scale = *source.tensor_scale;
  const KernelEntry<TransposeRequest> *kernel = nullptr;
  LPT_TRY(select_kernel(context, "transpose", transpose_kernels(), TransposeRequest{source, out_transposed},
                        {source.format.id}, &kernel));
  const bool is_cut = packing_of(source.format.element).elements <= 2;
  const int64_t side = is_cut ? kTransposedSide : std::max<int64_t>(std::max(source.rows, source.columns), 1);
  const int64_t down = (source.rows + side - 1) / side, across = (source.columns + side - 1) / side;
  parallel_parts(context, down * across, side * side, [&](int64_t begin, int64_t count) {
    for (int64_t square = begin; square < begin + count; ++square) {
      const int64_t r = square / across * side, c = square % across * side;
      const int64_t rows = std::min(side, source.rows - r), columns = std::min(side, source.columns - c);
      kernel->run({cut_columns(cut_rows(source, r, rows), c, columns),
                   cut_columns(cut_rows(out_transposed, c, columns), r, rows)});
    }
  });
  return {};
}

Status check_transposing(const Format &format) {
  if (!format.has_block_scale() || format.block_rows == format.block_columns) return {};
  return unsupported("transposed is requested of %s: expected no block scales, or square blocks",
                     format_name(format.id).c_str());
}

// Operations on a device.

// Checked views. A view without a format is absent: no mask, or an output that is not requested. If a mask keeps more than
// two elements of a group, the first two are kept.
struct DevicePacking {
  MatrixView source, mask;
  MatrixView compressed, transposed;
};

// Copies the scales. Their layout is the same for dense and sparse formats.
Status queue_scales(const Context &context, const MatrixView &source, const MatrixView &target) {
  if (source.tensor_scale != nullptr) {
    constexpr int64_t kBytes = sizeof(float);
    LPT_TRY(context.queue.copy({target.tensor_scale, kBytes, source.tensor_scale, kBytes, kBytes, 1}));
  }
  return source.format.has_block_scale() ? queue_copy(context, scales_of(source), scales_of(target)) : Status();
}

Status compress_rows(Context &context, const MatrixView &source, const MatrixView &mask, const MatrixView &target,
                     bool is_check_only) {
  const CompressRequest request{plain_view(source), mask, plain_view(target), target.indices, target.index_stride};
  LPT_TRY(run_on_device(context, "compress", request, {source.format.id}, is_check_only));
  return is_check_only ? Status() : queue_scales(context, source, target);
}

Status find_nonzero_on_device(Context &context, const MatrixView &source, bool is_check_only, MatrixView &out_mask) {
  LPT_TRY(take_matrix(context, LPT_FORMAT_UINT8, source.rows, source.columns, is_check_only, out_mask));
  const NonzeroRequest request{plain_view(source), out_mask};
  return run_on_device(context, "nonzero", request, {source.format.id}, is_check_only);
}

Status compress_view_on_device(Context &context, const DevicePacking &packing, bool is_check_only) {
  MatrixView mask = packing.mask;
  if (!is_present(mask)) LPT_TRY(find_nonzero_on_device(context, packing.source, is_check_only, mask));
  if (is_present(packing.compressed)) {
    LPT_TRY(compress_rows(context, packing.source, mask, packing.compressed, is_check_only));
  }
  if (!is_present(packing.transposed)) return {};
  MatrixView transposed_source, transposed_mask;
  LPT_TRY(transpose_on_device(context, packing.source, is_check_only, transposed_source));
  LPT_TRY(transpose_on_device(context, mask, is_check_only, transposed_mask));
  return compress_rows(context, transposed_source, transposed_mask, packing.transposed, is_check_only);
}

Status queue_compression(Context &context, const DevicePacking &packing) {
  LPT_TRY(compress_view_on_device(context, packing, true));
  context.choices.clear();
  return compress_view_on_device(context, packing, false);
}

// The indices are not checked, because reading them requires a wait for the device.
Status decompress_on_device(Context &context, const MatrixView &sparse, const MatrixView &dense) {
  const DecompressRequest request{plain_view(sparse), sparse.indices, sparse.index_stride, plain_view(dense)};
  LPT_TRY(run_on_device(context, "decompress", request, {sparse.format.id}, false));
  return queue_scales(context, sparse, dense);
}

}  // namespace

Status compress_sparse(Context &context, const Tensor *source, const Tensor *mask, Tensor *compressed,
                       Tensor *transposed) {
  MatrixView dense;
  MatrixView kept;
  MatrixView rows;
  MatrixView columns;
  if (compressed == nullptr && transposed == nullptr) {
    return invalid("compressed and transposed are NULL: expected at least one output");
  }
  const Device &device = context.queue.device();
  LPT_TRY(check_matrix(source, "source", true, dense, device));
  if (mask != nullptr) {
    LPT_TRY(check_mask(mask, "mask", true, kept, device));
    LPT_TRY(check_shape(kept, "mask", dense.rows, dense.columns, "source"));
  }
  if (compressed != nullptr) {
    LPT_TRY(check_sparse_matrix(compressed, "compressed", true, rows, device));
    LPT_TRY(check_pair(rows, "compressed", dense, "source"));
    LPT_TRY(check_no_overlap(rows, "compressed", dense, "source"));
    if (mask != nullptr) LPT_TRY(check_no_overlap(rows, "compressed", kept, "mask"));
  }
  if (transposed != nullptr) {
    LPT_TRY(check_transposing(dense.format));
    LPT_TRY(check_sparse_matrix(transposed, "transposed", true, columns, device));
    LPT_TRY(check_pair(columns, "transposed", transposed_view(dense), "the transposed source"));
    LPT_TRY(check_no_overlap(columns, "transposed", dense, "source"));
    if (mask != nullptr) LPT_TRY(check_no_overlap(columns, "transposed", kept, "mask"));
    if (compressed != nullptr) LPT_TRY(check_no_overlap(columns, "transposed", rows, "compressed"));
  }
  if (!is_on_cpu(context)) return queue_compression(context, {dense, kept, rows, columns});
  if (mask == nullptr) LPT_TRY(find_nonzero(context, dense, kept));
  if (compressed != nullptr) LPT_TRY(check_groups(context, kept, "row"));
  MatrixView other;
  MatrixView other_kept;
  if (transposed != nullptr) {
    LPT_TRY(transpose_matrix(context, kept, other_kept));
    LPT_TRY(check_groups(context, other_kept, "column"));
    LPT_TRY(transpose_matrix(context, dense, other));
  }
  if (compressed != nullptr) LPT_TRY(compress(context, dense, kept, rows));
  return transposed == nullptr ? Status() : compress(context, other, other_kept, columns);
}

Status decompress_sparse(Context &context, const Tensor *compressed, Tensor *output) {
  MatrixView sparse;
  MatrixView dense;
  const Device &device = context.queue.device();
  LPT_TRY(check_sparse_matrix(compressed, "compressed", true, sparse, device));
  LPT_TRY(check_matrix(output, "output", true, dense, device));
  LPT_TRY(check_pair(sparse, "compressed", dense, "output"));
  LPT_TRY(check_no_overlap(sparse, "compressed", dense, "output"));
  if (!is_on_cpu(context)) return decompress_on_device(context, sparse, dense);
  LPT_TRY(check_places(sparse, "compressed"));
  return decompress_view(context, sparse, dense);
}

}  // namespace lpt
