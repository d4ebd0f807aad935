// Speed of the selection of N:M masks, relative to memcpy of the f32 source and to the reference kernel in the same run;
// operations with given masks relative to memcpy; transposable masks relative to reading the source; compression of 2:4
// matrices relative to memcpy, and their GEMMs relative to dense ones. The tables include targets. One thread.
//
//   sparse_bench [MEBIBYTES] [--json FILE]
//
// MEBIBYTES is the size of the f32 source out of cache: the default is 256, 0 omits this half. Each result is the fastest of
// several runs, interleaved with a memcpy.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/peaks.hpp"
#include "bench/report.hpp"
#include "bench/sparse_cases.hpp"
#include "bench/sparse_gemm_rates.hpp"
#include "bench/sparse_given_rates.hpp"
#include "bench/sparse_pack_rates.hpp"
#include "bench/transposable_rates.hpp"

namespace lpt::bench {
namespace {

constexpr int64_t kColumns = 4096, kColumnsInCache = 1024;
constexpr int64_t kBytesInCache = int64_t{256} << 10;
constexpr double kBarOfMagnitude = 0.95, kBarOfDrawn = 0.4;  // of the bytes of memcpy, out of cache
constexpr double kBarOfPlain = 60;                           // times the speed of the reference kernel, in cache

constexpr lpt_sparse_rule kMagnitude = LPT_SPARSE_RULE_MAGNITUDE, kMvue = LPT_SPARSE_RULE_MVUE;
constexpr lpt_format kF32 = LPT_FORMAT_F32, kBf16 = LPT_FORMAT_BF16;

const SparseCase kPrune = {"2:4 of f32", 2, 4};
const SparseCase kDrawn[] = {{"2:4 MVUE of f32", 2, 4, kMvue}, {"1:2 MVUE of f32", 1, 2, kMvue}};
const SparseCase kOtherMagnitudes[] = {
    {"2:4 of f32, in place", 2, 4, kMagnitude, false, kF32, false, true, true},
    {"2:4 of f32, mask alone", 2, 4, kMagnitude, false, kF32, true, false},
    {"2:4 of f32, mask as well", 2, 4, kMagnitude, false, kF32, true, true},
    {"2:4 of f32, columns", 2, 4, kMagnitude, true},
    {"2:4 of bf16", 2, 4, kMagnitude, false, kBf16},
    {"2:4 of bf16, columns", 2, 4, kMagnitude, true, kBf16},
    {"1:2 of f32", 1, 2},
    {"4:8 of f32", 4, 8},
    {"4:8 of f32, columns", 4, 8, kMagnitude, true},
    {"8:16 of f32", 8, 16},
    {"8:16 of f32, columns", 8, 16, kMagnitude, true},
    {"16:32 of f32, columns", 16, 32, kMagnitude, true},
};
const SparseCase kOtherDrawn[] = {
    {"2:4 MVUE of f32, 10 rounds", 2, 4, kMvue, false, kF32, false, true, false, 10},
    {"2:4 MVUE of f32, mask as well", 2, 4, kMvue, false, kF32, true, true},
    {"2:4 MVUE of f32, columns", 2, 4, kMvue, true},
    {"1:2 MVUE of f32, columns", 1, 2, kMvue, true},
};

void begin(const std::string &name, const std::string &unit, Report &report) {
  report.begin(
      name, 1, unit,
      with_ratio({{"operation", -38}, {"kernel", -30}, {"ms", 9}, {"Gelem/s"}, {"GB/s", 7}, {"memcpy, GB/s"}}));
}

void add(const SparseRate &rate, Report &report) {
  report.add({rate.name, rate.row, fixed(rate.seconds * 1e3, 3), fixed(rate.gigaelements, 2), fixed(rate.gigabytes, 2),
              rate.memcpy_gigabytes > 0 ? fixed(rate.memcpy_gigabytes, 2) : ""},
             rate.ratio, rate.measure, rate.bar);
}

// All results of one size.
class Table {
 public:
  Table(int64_t source_bytes, bool is_in_cache, Report &report)
      : report_(report),
        is_in_cache_(is_in_cache),
        matrix_(source_bytes / 4 / (is_in_cache ? kColumnsInCache : kColumns), is_in_cache ? kColumnsInCache : kColumns,
                !is_in_cache) {}

  void run() {
    beside_memcpy(kPrune, 0, is_in_cache_ ? 0 : kBarOfMagnitude);
    for (const SparseCase &one : kDrawn) beside_memcpy(one, 0, is_in_cache_ ? 0 : kBarOfDrawn);
    for (const SparseCase &one : kOtherMagnitudes) beside_memcpy(one, 0, 0);
    for (const SparseCase &one : kOtherDrawn) beside_memcpy(one, 0, 0);
    for (const SparseCase &one : {kPrune, kOtherMagnitudes[4], kDrawn[0], kDrawn[1]}) beside_memcpy(one, kCpuAvx2, 0);
    if (is_in_cache_) {
      beside_plain(kPrune, kBarOfPlain);
      for (const SparseCase &one : {kOtherMagnitudes[7], kDrawn[0]}) beside_plain(one, 0);
    }
  }

 private:
  void beside_memcpy(const SparseCase &given, CpuFeatures isa, double bar) {
    const SparseMaskRequest request = matrix_.request(given);
    const KernelEntry<SparseMaskRequest> *kernel = row_for(request, isa);
    if (kernel == nullptr) return;
    SparseRate rate = {given.name, kernel->name, "of memcpy's bytes"};
    double copy_seconds = 0;
    race(
        is_in_cache_, [&] { matrix_.copy(); }, [&] { kernel->run(request); }, copy_seconds, rate.seconds);
    const auto elements = static_cast<double>(matrix_.elements());
    rate.gigaelements = elements / rate.seconds * 1e-9;
    rate.gigabytes = bytes_of(given) * rate.gigaelements;
    rate.memcpy_gigabytes = 8 * elements / copy_seconds * 1e-9;
    rate.ratio = rate.gigabytes / rate.memcpy_gigabytes;
    rate.bar = bar;
    add(rate, report_);
  }

  void beside_plain(const SparseCase &given, double bar) {
    const SparseMaskRequest request = matrix_.request(given);
    const KernelEntry<SparseMaskRequest> *kernel = row_for(request, 0), &plain = sparse_mask_kernels().back();
    SparseRate rate = {given.name, kernel->name, "times the plain row"};
    double plain_seconds = 0;
    race(
        is_in_cache_, [&] { plain.run(request); }, [&] { kernel->run(request); }, plain_seconds, rate.seconds);
    rate.gigaelements = static_cast<double>(matrix_.elements()) / rate.seconds * 1e-9;
    rate.gigabytes = bytes_of(given) * rate.gigaelements;
    rate.ratio = plain_seconds / rate.seconds;
    rate.bar = bar;
    add(rate, report_);
  }

  Report &report_;
  bool is_in_cache_;
  SparseMatrix matrix_;
};

// Adds two results for each: relative to reading the source, and to the reference kernel, or for 2:4 to a scalar search.
void transposable_figures(int64_t elements, bool is_in_cache, Report &report) {
  for (const TransposableRate &rate : transposable_rates(elements)) {
    SparseRate figure = {rate.name, rate.row, "of reading the source"};
    figure.seconds = rate.seconds_per_element * static_cast<double>(elements);
    figure.gigaelements = rate.gigaelements();
    figure.ratio = rate.of_read;
    figure.bar = is_in_cache ? 0 : rate.read_bar;
    add(figure, report);
    figure.measure = "times the plain search";
    figure.ratio = rate.of_plain;
    figure.bar = rate.plain_bar;
    add(figure, report);
  }
}

void one_size(int64_t source_bytes, bool is_in_cache, Report &report) {
  const std::string suffix = is_in_cache ? "-in-cache" : "-out-of-cache";
  const std::string unit = "those of an f32 source of " + std::to_string(source_bytes >> 10) + " KiB";
  begin("masks" + suffix, unit, report);
  Table(source_bytes, is_in_cache, report).run();
  begin("transposable" + suffix, unit, report);
  transposable_figures(source_bytes / 4, is_in_cache, report);
  begin("existing-masks" + suffix, unit, report);
  for (const SparseRate &rate : given_mask_rates(source_bytes)) add(rate, report);
  begin("compression" + suffix, "those of dense codes of " + std::to_string(source_bytes >> 10) + " KiB", report);
  for (const SparseRate &rate : pack_rates(source_bytes)) add(rate, report);
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  using namespace lpt::bench;
  double mebibytes = 256;
  Report report(count, words, "Masks, compression and GEMM with sparse weights, on one thread",
                {{"MEBIBYTES", "Size of the f32 source out of cache; 0: only in cache", &mebibytes}});
  pin_thread();
  one_size(kBytesInCache, true, report);
  if (mebibytes >= 1) {
    one_size(static_cast<int64_t>(mebibytes) << 20, false, report);
    begin("gemm", "those of weights with zeros relative to packed dense weights", report);
    for (const SparseRate &rate : gemm_rates()) add(rate, report);
  }
  return report.end();
}
