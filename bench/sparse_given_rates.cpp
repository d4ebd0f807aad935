#include "bench/sparse_given_rates.hpp"

#include <bit>
#include <cstring>
#include <span>

namespace lpt::bench {
namespace {

constexpr int64_t kColumns = 4096;
constexpr int64_t kCached = int64_t{8} << 20;       // bytes; above this size one run is long enough
constexpr int64_t kPlainElements = 256 * kColumns;  // size for slow kernels

// Values with their 2:4 mask, and the outputs.
struct Given {
  Given(lpt_format plain, int64_t count)
      : rows(std::max<int64_t>(count / kColumns, 1)), bytes(element_bits(plain) / 8) {
    const auto size = static_cast<size_t>(rows * kColumns);
    find_format(plain, format);
    source.resize(size * static_cast<size_t>(bytes));
    target.resize(source.size(), 1);
    mask.resize(size);
    gradient.resize(size, 1.0f);
    sums.resize(static_cast<size_t>(kColumns));
    uint32_t state = 1;
    for (size_t i = 0; i < size; ++i) {
      state = state * 1664525 + 1013904223;
      const float number = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
      const uint32_t code = std::bit_cast<uint32_t>(number);
      const uint16_t half = static_cast<uint16_t>(code >> 16);
      std::memcpy(&source[i * static_cast<size_t>(bytes)], bytes == 4 ? static_cast<const void *>(&code) : &half,
                  static_cast<size_t>(bytes));
      if (i % 4 == 0) mask[i + (state >> 9) % 4] = mask[i + ((state >> 9) + 1 + (state >> 20) % 3) % 4] = 1;
    }
  }

  MatrixView view(const Format &of, void *data, int64_t row_count) const {
    MatrixView result;
    result.format = of;
    result.data = data;
    result.rows = row_count;
    result.columns = result.row_stride = kColumns;
    return result;
  }
  MatrixView plain(lpt_format of, void *data, int64_t row_count) const {
    Format found;
    find_format(of, found);
    return view(found, data, row_count);
  }
  MaskApplyRequest apply(int64_t row_count) {
    return {view(format, source.data(), row_count), plain(LPT_FORMAT_UINT8, mask.data(), row_count),
            view(format, target.data(), row_count), static_cast<int64_t>(source.size()) > kCached};
  }
  MaskDecayRequest decay(int64_t row_count) {
    return {view(format, source.data(), row_count), plain(LPT_FORMAT_UINT8, mask.data(), row_count),
            plain(LPT_FORMAT_F32, gradient.data(), row_count), 2e-4f};
  }
  SparseMeasureRequest measure(int64_t row_count, bool is_transposed) {
    sums.resize(static_cast<size_t>(std::max(row_count, kColumns)));
    SparseMeasureRequest request{view(format, source.data(), row_count),
                                 plain(LPT_FORMAT_UINT8, mask.data(), row_count),
                                 2,
                                 4,
                                 LPT_SPARSE_RULE_MAGNITUDE,
                                 sums.data()};
    for (MatrixView *one : {&request.source, &request.mask}) {
      if (!is_transposed) continue;
      std::swap(one->rows, one->columns);
      std::swap(one->row_stride, one->column_stride);
    }
    return request;
  }

  int64_t rows, bytes;
  Format format;
  std::vector<uint8_t> source, target, mask;
  std::vector<float> gradient;
  std::vector<SparseSums> sums;
};

// `make` returns the request for a number of rows. `moved` is the number of bytes read and written per element.
template <typename Request, typename Make>
void add(Given &given, const char *name, std::span<const KernelEntry<Request>> kernels, const Make &make, int64_t moved,
         std::vector<SparseRate> &rates) {
  const int64_t few = std::min(given.rows, kPlainElements / kColumns);
  for (const KernelEntry<Request> &kernel : kernels) {
    const int64_t row_count = kernel.needs.cpu == 0 ? few : given.rows;
    const Request request = make(row_count);
    if ((kernel.needs.cpu & ~cpu_features()) != 0 ||
        (kernel.unsupported_reason != nullptr && kernel.unsupported_reason(request) != nullptr))
      continue;
    SparseRate rate = {name + (" of " + format_name(given.format.id)), kernel.name, "of memcpy's bytes"};
    const auto elements = static_cast<double>(row_count * kColumns);
    const size_t copied = static_cast<size_t>(row_count * kColumns * given.bytes);
    double copy_seconds = 0;
    std::vector<uint8_t> to(copied, 1);
    race(
        static_cast<int64_t>(copied) <= kCached && kernel.needs.cpu != 0,
        [&] { std::memcpy(to.data(), given.source.data(), copied); }, [&] { kernel.run(request); }, copy_seconds,
        rate.seconds);
    rate.gigaelements = elements / rate.seconds * 1e-9;
    rate.gigabytes = static_cast<double>(moved) * rate.gigaelements;
    rate.memcpy_gigabytes = 2 * static_cast<double>(copied) / copy_seconds * 1e-9;
    rate.ratio = rate.gigabytes / rate.memcpy_gigabytes;
    rates.push_back(rate);
  }
}

}  // namespace

std::vector<SparseRate> given_mask_rates(int64_t f32_bytes) {
  std::vector<SparseRate> rates;
  for (const lpt_format plain : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    Given given(plain, f32_bytes / 4);
    const int64_t bytes = given.bytes;
    add(
        given, "mask apply", mask_apply_kernels(), [&](int64_t rows) { return given.apply(rows); }, 2 * bytes + 1,
        rates);
    add(
        given, "mask decay", mask_decay_kernels(), [&](int64_t rows) { return given.decay(rows); }, bytes + 9, rates);
    add(
        given, "measure 2:4", sparse_measure_kernels(), [&](int64_t rows) { return given.measure(rows, false); },
        bytes + 1, rates);
    add(
        given, "measure 2:4 columns", sparse_measure_kernels(), [&](int64_t rows) { return given.measure(rows, true); },
        bytes + 1, rates);
  }
  return rates;
}

}  // namespace lpt::bench
