#include "bench/sparse_pack_rates.hpp"

#include <algorithm>
#include <cstring>

#include "bench/peaks.hpp"
#include "kernels/sparse_pack/sparse_pack.hpp"

namespace lpt::bench {
namespace {

constexpr int64_t kColumns = 4096;
constexpr double kBarOfCompress = 0.9;

// A dense matrix, its mask, and memory for the outputs.
struct Packing24 {
  static constexpr size_t kLine = 64;  // matrices begin at cache lines, like those of the library

  Packing24(lpt_format element, int64_t requested_bytes)
      : rows(std::max<int64_t>(requested_bytes / row_bytes(element, kColumns), 1)),
        dense_bytes(static_cast<size_t>(rows * row_bytes(element, kColumns))),
        half_bytes(dense_bytes / 2 + static_cast<size_t>(rows * kColumns / 8)),
        dense(dense_bytes + kLine, 0x3A),
        copy(dense_bytes + kLine, 1),
        mask(static_cast<size_t>(rows * kColumns)),
        stored(dense_bytes / 2 + kLine, 1),
        indices(static_cast<size_t>(rows * kColumns / 8), 1),
        found(mask.size(), 1) {
    uint32_t state = 1;
    for (size_t i = 0; i < mask.size(); i += 4) {
      state = state * 1664525 + 1013904223;
      const uint32_t first = state >> 30;
      mask[i + first] = mask[i + (first + 1 + (state >> 20) % 3) % 4] = 1;
    }
    find_format(element, format);
  }
  MatrixView view(std::vector<uint8_t> &memory, int64_t columns) const {
    MatrixView result;
    result.format = format;
    result.data = reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(memory.data()) + kLine - 1) / kLine * kLine);
    result.rows = rows;
    result.columns = result.row_stride = columns;
    return result;
  }
  MatrixView bytes_view(std::vector<uint8_t> &memory) const {
    MatrixView result = view(memory, kColumns);
    result.data = memory.data();
    find_format(LPT_FORMAT_UINT8, result.format);
    return result;
  }
  CompressRequest compress() {
    return {view(dense, kColumns), bytes_view(mask), view(stored, kColumns / 2),
            indices.data(),        kColumns / 8,     dense_bytes >= (size_t{16} << 20)};
  }
  DecompressRequest decompress() {
    return {view(stored, kColumns / 2), indices.data(), kColumns / 8, view(copy, kColumns),
            dense_bytes >= (size_t{16} << 20)};
  }
  NonzeroRequest nonzero() { return {view(dense, kColumns), bytes_view(found)}; }

  int64_t rows;
  size_t dense_bytes, half_bytes;
  Format format;
  std::vector<uint8_t> dense, copy, mask, stored, indices, found;
};

// `moved` is the number of bytes that a kernel reads and writes.
template <typename Request>
void add(Packing24 &packing, const char *name, std::span<const KernelEntry<Request>> kernels, const Request &request,
         size_t moved, double bar, std::vector<SparseRate> &rates) {
  for (const KernelEntry<Request> &kernel : kernels) {
    if ((kernel.needs.cpu & ~cpu_features()) != 0 || kernel.needs.cpu == 0) continue;
    if (kernel.unsupported_reason != nullptr && kernel.unsupported_reason(request) != nullptr) continue;
    SparseRate rate = {name + (" of " + format_name(packing.format.id)), kernel.name, "of memcpy's bytes"};
    double copy_seconds = 0;
    std::vector<uint8_t> to(packing.dense_bytes, 1);
    race(
        packing.dense_bytes <= (size_t{8} << 20),
        [&] { std::memcpy(to.data(), packing.dense.data(), packing.dense_bytes); }, [&] { kernel.run(request); },
        copy_seconds, rate.seconds);
    rate.gigaelements = static_cast<double>(packing.rows * kColumns) / rate.seconds * 1e-9;
    rate.gigabytes = static_cast<double>(moved) / rate.seconds * 1e-9;
    rate.memcpy_gigabytes = 2 * static_cast<double>(packing.dense_bytes) / copy_seconds * 1e-9;
    rate.ratio = rate.gigabytes / rate.memcpy_gigabytes;
    rate.bar = bar;
    rates.push_back(rate);
  }
}

}  // namespace

std::vector<SparseRate> pack_rates(int64_t dense_bytes) {
  std::vector<SparseRate> rates;
  const bool is_large = dense_bytes > (int64_t{8} << 20);
  for (const lpt_format element : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_INT8, LPT_FORMAT_E2M1FN}) {
    Packing24 packing(element, dense_bytes);
    const size_t half = packing.half_bytes;
    add(packing, "compress", compress_kernels(), packing.compress(), packing.dense_bytes + packing.mask.size() + half,
        is_large && element == LPT_FORMAT_F32 ? kBarOfCompress : 0.0, rates);
    add(packing, "decompress", decompress_kernels(), packing.decompress(), half + packing.dense_bytes, 0.0, rates);
    add(packing, "nonzero", nonzero_kernels(), packing.nonzero(), packing.dense_bytes + packing.found.size(), 0.0,
        rates);
  }
  return rates;
}

}  // namespace lpt::bench
