// How fast N:M masks are selected beside memcpy of the f32 source, in the same run, and beside the plain row; what is
// done by masks that are there beside memcpy; transposable ones beside reading the source; 2:4 matrices compressed
// beside memcpy, and multiplied beside dense ones; with the bars that they have to reach. One thread.
//
//   sparse_bench [MEBIBYTES [JSON]]
//
// MEBIBYTES is the size of the f32 source out of cache: 256 if none is given, 0 leaves that half out. JSON is a file to
// write. Each figure is the fastest of several runs in turn with a memcpy.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "bench/peaks.hpp"
#include "bench/sparse_cases.hpp"
#include "bench/sparse_gemm_rates.hpp"
#include "bench/sparse_given_rates.hpp"
#include "bench/sparse_pack_rates.hpp"
#include "bench/transposable_rates.hpp"

namespace lpt::bench {
namespace {

constexpr int64_t kColumns = 4096, kColumnsInCache = 1024;
constexpr int64_t kBytesInCache = int64_t{256} << 10;
constexpr double kBarOfMagnitude = 0.95, kBarOfDrawn = 0.4;  // of memcpy's bytes, out of cache
constexpr double kBarOfPlain = 60;                           // times the plain row's speed, in cache

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

void print(const SparseRate &rate) {
  std::printf("  %-32s %-30s %9.3f ms %6.2f Gelem/s %6.2f GB/s  memcpy %6.2f  %6.2f %s", rate.name.c_str(),
              rate.row.c_str(), rate.seconds * 1e3, rate.gigaelements, rate.gigabytes, rate.memcpy_gigabytes,
              rate.ratio, rate.measure.c_str());
  if (rate.bar != 0) std::printf(" (bar %.2f: %s)", rate.bar, rate.is_reached() ? "reached" : "not reached");
  std::printf("\n");
  std::fflush(stdout);
}

std::string json_of(const SparseRate &rate) {
  char line[512];
  std::snprintf(line, sizeof line,
                "  {\"name\": \"%s\", \"row\": \"%s\", \"seconds\": %.9f, \"gigabytes_per_second\": %.3f, "
                "\"memcpy_gigabytes_per_second\": %.3f, \"measure\": \"%s\", \"ratio\": %.4f, \"bar\": %.2f}",
                rate.name.c_str(), rate.row.c_str(), rate.seconds, rate.gigabytes, rate.memcpy_gigabytes,
                rate.measure.c_str(), rate.ratio, rate.bar);
  return line;
}

// All figures of one size.
class Table {
 public:
  Table(int64_t source_bytes, bool is_in_cache)
      : is_in_cache_(is_in_cache),
        matrix_(source_bytes / 4 / (is_in_cache ? kColumnsInCache : kColumns), is_in_cache ? kColumnsInCache : kColumns,
                !is_in_cache) {
    std::printf("%s: f32 source of %lld KiB, load average %.1f\n", is_in_cache ? "in cache" : "out of cache",
                static_cast<long long>(source_bytes >> 10), load_average());
  }

  std::vector<SparseRate> run() {
    beside_memcpy(kPrune, 0, is_in_cache_ ? 0 : kBarOfMagnitude);
    for (const SparseCase &one : kDrawn) beside_memcpy(one, 0, is_in_cache_ ? 0 : kBarOfDrawn);
    for (const SparseCase &one : kOtherMagnitudes) beside_memcpy(one, 0, 0);
    for (const SparseCase &one : kOtherDrawn) beside_memcpy(one, 0, 0);
    for (const SparseCase &one : {kPrune, kOtherMagnitudes[4], kDrawn[0], kDrawn[1]}) beside_memcpy(one, kCpuAvx2, 0);
    if (is_in_cache_) {
      beside_plain(kPrune, kBarOfPlain);
      for (const SparseCase &one : {kOtherMagnitudes[7], kDrawn[0]}) beside_plain(one, 0);
    }
    return std::move(rates_);
  }

 private:
  void add(SparseRate rate) {
    print(rate);
    rates_.push_back(std::move(rate));
  }

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
    add(rate);
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
    add(rate);
  }

  bool is_in_cache_;
  SparseMatrix matrix_;
  std::vector<SparseRate> rates_;
};

// Two figures of each: beside reading the source, and beside the plain row, or for 2:4 a scalar search of all patterns.
std::vector<SparseRate> transposable_figures(int64_t elements, bool is_in_cache) {
  std::vector<SparseRate> figures;
  for (const TransposableRate &rate : transposable_rates(elements)) {
    SparseRate figure = {rate.name, rate.row, "of reading the source"};
    figure.seconds = rate.seconds_per_element * static_cast<double>(elements);
    figure.gigaelements = rate.gigaelements();
    figure.ratio = rate.of_read;
    figure.bar = is_in_cache ? 0 : rate.read_bar;
    figures.push_back(figure);
    figure.measure = "times the plain search";
    figure.ratio = rate.of_plain;
    figure.bar = rate.plain_bar;
    figures.push_back(figure);
  }
  return figures;
}

void add_all(const std::vector<SparseRate> &figures, std::vector<SparseRate> &rates) {
  for (const SparseRate &rate : figures) {
    print(rate);
    rates.push_back(rate);
  }
}

bool write_json(const char *path, double load, const std::vector<SparseRate> &rates) {
  std::ofstream file(path);
  char head[128];
  std::snprintf(head, sizeof head, "\", \"load\": %.2f, \"results\": [", load);
  file << "{\"build\": \"" << lpt_build_info() << head;
  const char *separator = "\n";
  for (const SparseRate &rate : rates) {
    file << separator << json_of(rate);
    separator = ",\n";
  }
  file << "\n]}\n" << std::flush;
  if (!file) std::fprintf(stderr, "sparse_bench: %s cannot be written\n", path);
  return static_cast<bool>(file);
}

int main_of(long long mebibytes, const char *json) {
  pin_thread();
  const double load = load_average();
  std::printf("one thread; %s\n", lpt_build_info());
  std::vector<SparseRate> rates;
  if (mebibytes > 0) rates = Table(mebibytes << 20, false).run();
  for (SparseRate &rate : Table(kBytesInCache, true).run()) rates.push_back(std::move(rate));
  for (const int64_t size : {mebibytes << 20, static_cast<long long>(kBytesInCache)}) {
    if (size == 0) continue;
    std::printf("%s\n", size == kBytesInCache ? "in cache" : "out of cache");
    add_all(transposable_figures(size / 4, size == kBytesInCache), rates);
    add_all(given_mask_rates(size), rates);
    add_all(pack_rates(size), rates);
  }
  if (mebibytes > 0) add_all(gemm_rates(), rates);
  const auto bars = std::count_if(rates.begin(), rates.end(), [](const SparseRate &rate) { return rate.bar != 0; });
  const auto reached = std::count_if(rates.begin(), rates.end(),
                                     [](const SparseRate &rate) { return rate.bar != 0 && rate.is_reached(); });
  std::printf("%td of %td bars reached\n", reached, bars);
  return json == nullptr || write_json(json, load, rates) ? 0 : 1;
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **arguments) {
  const long long mebibytes = count > 1 ? std::atoll(arguments[1]) : 256;
  if (count > 3 || mebibytes < 0) {
    std::fprintf(stderr, "usage: sparse_bench [MEBIBYTES [JSON]]\n");
    return 2;
  }
  return lpt::bench::main_of(mebibytes, count > 2 ? arguments[2] : nullptr);
}
