// Speed of reducing sources to one array at several outputs (kernels/reduce), compared with the memory bandwidth in the same
// run: a loop that adds two arrays and stores to two outputs, and memcpy.
//
//   reduce_bench [MEBIBYTES] [--json FILE]
//
// MEBIBYTES is the size of each array out of cache: the default is 64, 0 omits this half. Bytes are those read and written;
// reads for ownership are not counted. Each result is the fastest of several interleaved runs.
#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/peaks.hpp"
#include "bench/report.hpp"
#include "kernels/common/intrinsics.hpp"
#include "kernels/reduce/reduce.hpp"

namespace lpt::bench {
namespace {

constexpr lpt_format kF32 = LPT_FORMAT_F32, kBf16 = LPT_FORMAT_BF16, kF16 = LPT_FORMAT_F16;
constexpr int64_t kBytesInCache = int64_t{32} << 10;
constexpr int64_t kLine = 64;
constexpr int kMostArrays = 9;
constexpr int kApart = 112;  // elements: seven cache lines

struct ReduceCase {
  std::string name;
  lpt_format format, target_format;
  Reduction reduction;
  int32_t source_count, target_count;
  bool is_in_place = false;
  CpuFeatures isa = 0;  // 0: any
};

constexpr Reduction kSum = Reduction::kSum, kAverage = Reduction::kAverage, kMaximum = Reduction::kMaximum;
const ReduceCase kTwoToTwo = {"f32, sum, 2 to 2", kF32, kF32, kSum, 2, 2};
const ReduceCase kTwoToTwoInPlace = {"f32, sum, 2 to 2 in place", kF32, kF32, kSum, 2, 2, true};
const ReduceCase kTwoToTwoAvx2 = {"f32, sum, 2 to 2, AVX2", kF32, kF32, kSum, 2, 2, false, kCpuAvx2};
const ReduceCase kOthers[] = {
    {"f32, sum, 2 to 1", kF32, kF32, kSum, 2, 1},
    {"f32, sum, 4 to 4", kF32, kF32, kSum, 4, 4},
    {"f32, sum, 8 to 1", kF32, kF32, kSum, 8, 1},
    {"f32, sum, 7 to 1", kF32, kF32, kSum, 7, 1},
    {"f32, sum, 3 to 1", kF32, kF32, kSum, 3, 1},
    {"f32, average, 3 to 1", kF32, kF32, kAverage, 3, 1},
    {"f32, maximum, 2 to 2", kF32, kF32, kMaximum, 2, 2},
    {"bf16, sum, 2 to 2", kBf16, kBf16, kSum, 2, 2},
    {"bf16, sum, 2 to 2 in place", kBf16, kBf16, kSum, 2, 2, true},
    {"bf16, sum, 2 to 2, AVX2", kBf16, kBf16, kSum, 2, 2, false, kCpuAvx2},
    {"bf16 to f32, sum, 8 to 1", kBf16, kF32, kSum, 8, 1},
    {"f32 to bf16, sum, 2 to 2", kF32, kBf16, kSum, 2, 2},
    {"f16, sum, 2 to 2", kF16, kF16, kSum, 2, 2},
    {"f16, sum, 8 to 1, AVX2", kF16, kF16, kSum, 8, 1, false, kCpuAvx2},
};

int64_t bytes_of(lpt_format format) { return format == kF32 ? 4 : 2; }

const KernelEntry<ReduceRequest> *row_of(const ReduceCase &given) {
  for (const KernelEntry<ReduceRequest> &kernel : reduce_kernels()) {
    const bool is_requested = given.isa == 0 || kernel.needs.cpu == given.isa;
    if (is_requested && (kernel.needs.cpu & ~cpu_features()) == 0) return &kernel;
  }
  return nullptr;
}

// Calls body(begin, bytes) for the slice of every thread, in full cache lines.
void share(int64_t bytes, int threads, const std::function<void(int64_t, int64_t)> &body) {
  std::vector<std::thread> others;
  const auto begin_of = [&](int thread) { return bytes / kLine * thread / threads * kLine; };
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&, i] { body(begin_of(i), begin_of(i + 1) - begin_of(i)); });
  }
  body(0, begin_of(1));
  for (std::thread &other : others) other.join();
}

// The reference loop with streaming or normal stores.
void add_to_two(const float *a, const float *b, float *first, float *second, int64_t count, bool is_streamed) {
  for (int64_t i = 0; i < count; i += 16) {
    __m128 sum[4];
    for (int j = 0; j < 4; ++j) sum[j] = _mm_add_ps(_mm_load_ps(a + i + 4 * j), _mm_load_ps(b + i + 4 * j));
    for (float *const to : {first, second}) {
      for (int j = 0; j < 4; ++j) {
        if (is_streamed) {
          _mm_stream_ps(to + i + 4 * j, sum[j]);
        } else {
          _mm_store_ps(to + i + 4 * j, sum[j]);
        }
      }
    }
  }
  _mm_sfence();
}

// f32 arrays that begin at cache lines with different offsets in their pages. Otherwise loads would falsely depend on stores
// with an equal address modulo 4 KiB.
class Arrays {
 public:
  explicit Arrays(int64_t bytes) : bytes_(bytes) {
    for (int i = 0; i < kMostArrays; ++i) {
      memory_.emplace_back(static_cast<size_t>(bytes / 4 + 16 + kApart * i), 1.0f + static_cast<float>(i));
      const auto address = reinterpret_cast<uintptr_t>(memory_.back().data());
      starts_.push_back(memory_.back().data() + (kLine - address % kLine) % kLine / 4 + kApart * i);
    }
  }
  int64_t bytes() const { return bytes_; }
  float *operator[](int i) const { return starts_[static_cast<size_t>(i)]; }

 private:
  int64_t bytes_;
  std::vector<std::vector<float>> memory_;
  std::vector<float *> starts_;
};

class Table {
 public:
  Table(int64_t bytes, int threads, Report &report)
      : report_(report), arrays_(bytes), threads_(threads), is_in_cache_(bytes <= kBytesInCache) {
    report.begin(is_in_cache_ ? "in-cache" : "out-of-cache-" + std::to_string(threads), threads,
                 "those of arrays of " + std::to_string(bytes >> 10) + " KiB",
                 {{"operation", -30}, {"kernel", -18}, {"ms", 9}, {"GB/s", 7}, {"of the loop"}, {"of memcpy's bytes"}});
  }

  void run() {
    if (threads_ == 1) reading();
    headline();
    for (const ReduceCase &one : kOthers) beside_memcpy(one);
  }

 private:
  using Run = std::function<void()>;

  std::vector<double> race(const std::vector<Run> &runs) const {
    const int rounds = is_in_cache_ ? 200 : 11, repeats = is_in_cache_ ? 16 : 1;
    std::vector<double> best(runs.size(), 1e9);
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < runs.size(); ++i) {
        const double begin = now();
        for (int repeat = 0; repeat < repeats; ++repeat) runs[i]();
        best[i] = std::min(best[i], (now() - begin) / repeats);
      }
    }
    return best;
  }

  void part(const ReduceCase &given, const KernelEntry<ReduceRequest> &row, int64_t begin, int64_t elements) const {
    const void *sources[kMostArrays];
    void *targets[kMostArrays];
    const int64_t from = bytes_of(given.format), to = bytes_of(given.target_format);
    for (int i = 0; i < given.source_count; ++i) sources[i] = reinterpret_cast<uint8_t *>(arrays_[i]) + begin * from;
    for (int i = 0; i < given.target_count; ++i) {
      const int place = given.is_in_place ? i : given.source_count + i;
      targets[i] = reinterpret_cast<uint8_t *>(arrays_[place]) + begin * to;
    }
    row.run({given.format, given.target_format, given.reduction, given.source_count, given.target_count, 0.5, elements,
             sources, targets, !is_in_cache_});
  }

  // The number of elements is that of f32 in these bytes.
  Run runner(const ReduceCase &given, const KernelEntry<ReduceRequest> &row) const {
    return
        [this, &given, &row] { shared([&](int64_t begin, int64_t bytes) { part(given, row, begin / 4, bytes / 4); }); };
  }
  Run by_hand(bool is_in_place, bool is_streamed) const {
    return [this, is_in_place, is_streamed] {
      shared([&](int64_t begin, int64_t bytes) {
        const int64_t at = begin / 4;
        add_to_two(arrays_[0] + at, arrays_[1] + at, arrays_[is_in_place ? 0 : 2] + at,
                   arrays_[is_in_place ? 1 : 3] + at, bytes / 4, is_streamed);
      });
    };
  }
  Run copy() const {
    return [this] {
      shared([&](int64_t begin, int64_t bytes) {
        std::memcpy(arrays_[1] + begin / 4, arrays_[0] + begin / 4, static_cast<size_t>(bytes));
      });
    };
  }
  void shared(const std::function<void(int64_t, int64_t)> &body) const {
    if (threads_ == 1) return body(0, arrays_.bytes());
    share(arrays_.bytes(), threads_, body);
  }

  void add(const std::string &name, const char *row, double each, double seconds, double of_loop = 0,
           double of_memcpy = 0) const {
    const auto ratio = [](double value) { return value > 0 ? fixed(value, 2) : ""; };
    const double gigabytes = each * static_cast<double>(arrays_.bytes()) / 4 / seconds * 1e-9;
    report_.add({name, row, fixed(seconds * 1e3, 4), fixed(gigabytes, 2), ratio(of_loop), ratio(of_memcpy)});
  }

  // The read bandwidth: an approximate upper bound for sums of many sources.
  void reading() const {
    double seconds = 1e9;
    for (int i = 0; i < 11; ++i) {
      seconds = std::min(seconds, read_seconds(arrays_[0], static_cast<size_t>(arrays_.bytes())));
    }
    add("reading", "", 4, seconds);
  }

  void headline() const {
    const std::vector<std::pair<const ReduceCase *, bool>> cases = {
        {&kTwoToTwo, false}, {&kTwoToTwoAvx2, false}, {&kTwoToTwoInPlace, true}};
    for (const auto &[given, is_in_place] : cases) {
      const KernelEntry<ReduceRequest> *const row = row_of(*given);
      if (row == nullptr) continue;
      const std::vector<double> seconds =
          race({runner(*given, *row), by_hand(is_in_place, false), by_hand(is_in_place, true), copy()});
      add(given->name, row->name, 16, seconds[0], std::min(seconds[1], seconds[2]) / seconds[0],
          2 * seconds[3] / seconds[0]);
      add("the same loop", "", 16, seconds[1]);
      add("the same loop, streamed", "", 16, seconds[2]);
      add("memcpy", "", 8, seconds[3]);
    }
  }

  void beside_memcpy(const ReduceCase &given) const {
    const KernelEntry<ReduceRequest> *const row = row_of(given);
    if (row == nullptr) return;
    const auto each = static_cast<double>(given.source_count * bytes_of(given.format) +
                                          given.target_count * bytes_of(given.target_format));
    const std::vector<double> seconds = race({runner(given, *row), copy()});
    add(given.name, row->name, each, seconds[0], 0, each / 8 * seconds[1] / seconds[0]);
  }

  Report &report_;
  Arrays arrays_;
  int threads_;
  bool is_in_cache_;
};

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  using lpt::bench::Table;
  double mebibytes = 64;
  lpt::bench::Report report(count, words, "Reductions relative to a loop and to memcpy, on one thread and on two",
                            {{"MEBIBYTES", "Size of each array out of cache; 0: only in cache", &mebibytes}});
  Table(lpt::bench::kBytesInCache, 1, report).run();
  for (const int threads : {1, 2}) {
    if (mebibytes >= 1) Table(static_cast<int64_t>(mebibytes) << 20, threads, report).run();
  }
  return report.end();
}
