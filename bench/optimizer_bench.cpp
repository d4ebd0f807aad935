// Time of an optimizer step per parameter: every kind of state compared with f32 AdamW, with a read-modify-write of memory, and
// with memcpy of the same run. The tables include targets.
//
//   optimizer_bench [MILLIONS] [BITSANDBYTES] [--json FILE]
//
// MILLIONS of parameters out of cache: the default is 33.5, 0 omits this half. BITSANDBYTES is the time of its 8-bit kernels
// (quantize and dequantize on the CPU) in nanoseconds per parameter. Each result is the fastest of several runs, interleaved
// with those that it is compared with.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/optimizer_cases.hpp"
#include "bench/peaks.hpp"
#include "bench/report.hpp"

namespace lpt::bench {
namespace {

constexpr int64_t kCountInCache = 16384;
constexpr double kBarOfFp8[] = {0.71, 0.66};                   // of the time of f32 AdamW, by threads
constexpr double kBarOfF32 = 0.85;                             // of the bandwidth of a read-modify-write
constexpr double kBarOfRandom8 = 1.25, kBarOfRandom16 = 1.45;  // of the time with nearest rounding
constexpr double kBarOfBitsandbytes = 30;

constexpr lpt_optimizer_method kAdamw = LPT_OPTIMIZER_METHOD_ADAMW;
constexpr lpt_format kF32 = LPT_FORMAT_F32, kBf16 = LPT_FORMAT_BF16, kF16 = LPT_FORMAT_F16;
constexpr lpt_format kE4m3fn = LPT_FORMAT_E4M3FN, kE5m2 = LPT_FORMAT_E5M2;
constexpr StateCase kGroupE4m3fn = {kE4m3fn, 128}, kGroupE5m2 = {kE5m2, 128}, kExpanded = {kE4m3fn, 128, true};

const OptimizerCase kBaseline = {"AdamW, f32", kAdamw, {kF32}, {kF32}};
const OptimizerCase kFp8[] = {
    {"AdamW, e4m3fn and e5m2 in groups", kAdamw, kGroupE4m3fn, kGroupE5m2},
    {"AdamW, e4m3fn in groups", kAdamw, kGroupE4m3fn, kGroupE4m3fn},
};
// Nearest rounding, with 8 random bits, with 16.
const OptimizerCase kRounded[][3] = {
    {{"bf16 weights, FP8 in groups", kAdamw, kGroupE4m3fn, kGroupE5m2, kBf16, kBf16},
     {"the same, 8 random bits", kAdamw, kGroupE4m3fn, kGroupE5m2, kBf16, kBf16, 8},
     {"the same, 16 random bits", kAdamw, kGroupE4m3fn, kGroupE5m2, kBf16, kBf16, 16}},
    {{"bf16 weights, f32 moments", kAdamw, {kF32}, {kF32}, kBf16, kBf16},
     {"the same, 8 random bits", kAdamw, {kF32}, {kF32}, kBf16, kBf16, 8},
     {"the same, 16 random bits", kAdamw, {kF32}, {kF32}, kBf16, kBf16, 16}},
};
const OptimizerCase kOthers[] = {
    {"AdamW, FP8, underflow by chance", kAdamw, kGroupE4m3fn, kGroupE5m2, kF32, kF32, 0, false,
     LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC},
    {"AdamW, FP8 of delayed scales",
     kAdamw,
     {kE4m3fn},
     {kE5m2},
     kF32,
     kF32,
     0,
     false,
     LPT_OPTIMIZER_UNDERFLOW_CLAMP,
     true},
    {"AdamW, bf16 weights compensated", kAdamw, kGroupE4m3fn, kGroupE5m2, kBf16, kBf16, 0, true},
    {"AdamW, f16 weights", kAdamw, kGroupE4m3fn, kGroupE5m2, kF16, kBf16},
    {"AdamW, bf16", kAdamw, {kBf16}, {kBf16}, kBf16, kBf16},
    {"AdamW, expanded e4m3fn (COAT)", kAdamw, kExpanded, kExpanded},
    {"Adam, e4m3fn and e5m2 in groups", LPT_OPTIMIZER_METHOD_ADAM, kGroupE4m3fn, kGroupE5m2},
    {"SGD, f32", LPT_OPTIMIZER_METHOD_SGD, {kF32}, {}},
    {"SGD, e4m3fn in groups", LPT_OPTIMIZER_METHOD_SGD, kGroupE4m3fn, {}},
    {"Lion, f32", LPT_OPTIMIZER_METHOD_LION, {kF32}, {}},
    {"Lion, e4m3fn in groups", LPT_OPTIMIZER_METHOD_LION, kGroupE4m3fn, {}},
};
const OptimizerCase kTree = {"AdamW, dynamic tree", kAdamw, {kDynamicSigned, 256}, {kDynamicUnsigned, 256}};

// One size and number of threads.
class Table {
 public:
  Table(int64_t count, int threads, double bitsandbytes, Report &report)
      : report_(report),
        count_(count),
        threads_(threads),
        is_in_cache_(count <= kCountInCache),
        bitsandbytes_(bitsandbytes),
        baseline_(kBaseline, count, 0),
        arrays_(4, std::vector<float>(static_cast<size_t>(count), 1.0f)) {}

  void run() {
    report_.begin(is_in_cache_ ? "in-cache" : "out-of-cache-" + std::to_string(threads_), threads_,
                  "those of each of " + std::to_string(count_) + " parameters",
                  with_ratio({{"step", -36}, {"kernel", -24}, {"ns", 7}, {"bytes", 6}, {"GB/s", 7}}));
    limits();
    for (const OptimizerCase &one : kFp8) fp8(one);
    for (const auto &cases : kRounded) rounded(cases);
    for (const OptimizerCase &one : kOthers) beside_baseline(one, 0);
    tree();
    if (is_in_cache_) avx2();
  }

 private:
  double nanoseconds(double seconds) const { return seconds * 1e9 / static_cast<double>(count_); }

  // Returns the fastest time of each. The runs are interleaved.
  template <typename... Run>
  std::vector<double> race(const Run &...runs) const {
    const int rounds = is_in_cache_ ? 200 : 7, repeats = is_in_cache_ ? 8 : 1;
    std::vector<double> best(sizeof...(runs), 1e9);
    for (int round = 0; round < rounds; ++round) {
      size_t place = 0;
      const auto time = [&](const auto &run) {
        for (int i = 0; i < repeats; ++i) {
          const double begin = now();
          run();
          best[place] = std::min(best[place], now() - begin);
        }
        ++place;
      };
      (time(runs), ...);
    }
    return best;
  }

  auto runner(OptimizerRun &run) const {
    return [this, &run] { run.run(threads_); };
  }

  std::vector<std::string> cells(const std::string &name, const char *row, double seconds, double bytes) const {
    return {name, row, fixed(nanoseconds(seconds), 3), fixed(bytes, 2), fixed(bytes / nanoseconds(seconds), 2)};
  }

  void add(const OptimizerCase &given, const OptimizerRun &run, double seconds, double ratio, const char *measure,
           double ceiling) const {
    report_.add(cells(given.name, run.row_name(), seconds, run.bytes_per_parameter()), ratio, measure, ceiling, true);
  }

  void limits() {
    constexpr double kBytes = 28;
    const auto *const from = reinterpret_cast<const uint8_t *>(arrays_[0].data());
    auto *const to = reinterpret_cast<uint8_t *>(arrays_[1].data());
    float *const changed[3] = {arrays_[1].data(), arrays_[2].data(), arrays_[3].data()};
    const std::vector<double> seconds = race(
        runner(baseline_), [&] { read_modify_write(arrays_[0].data(), changed, count_, threads_); },
        [&] { copy_bytes(from, to, 4 * count_, threads_); });
    report_.add(cells(kBaseline.name, baseline_.row_name(), seconds[0], kBytes), seconds[1] / seconds[0],
                "of read, change and write", is_in_cache_ ? 0 : kBarOfF32);
    report_.add(cells("read, change and write", "", seconds[1], kBytes), 0, "");
    report_.add(cells("memcpy of f32", "", seconds[2], 8), 0, "");
  }

  double beside_baseline(const OptimizerCase &given, double bar) {
    OptimizerRun run(given, count_, 0);
    const std::vector<double> seconds = race(runner(baseline_), runner(run));
    add(given, run, seconds[1], seconds[1] / seconds[0], "of f32 AdamW's time", bar);
    return seconds[1];
  }

  void beside_bitsandbytes(const OptimizerCase &given, double seconds) {
    if (bitsandbytes_ == 0) return;
    report_.add({given.name, "", "", "", ""}, bitsandbytes_ / nanoseconds(seconds), "times as fast as bitsandbytes",
                kBarOfBitsandbytes);
  }

  void fp8(const OptimizerCase &given) {
    const double seconds = beside_baseline(given, is_in_cache_ || threads_ > 2 ? 0 : kBarOfFp8[threads_ - 1]);
    if (threads_ == 1) beside_bitsandbytes(given, seconds);
  }

  void tree() {
    const double seconds = beside_baseline(kTree, 0);
    if (threads_ == 1) beside_bitsandbytes(kTree, seconds);
  }

  void rounded(const OptimizerCase (&cases)[3]) {
    OptimizerRun nearest(cases[0], count_, 0), with8(cases[1], count_, 0), with16(cases[2], count_, 0);
    const std::vector<double> seconds = race(runner(baseline_), runner(nearest), runner(with8), runner(with16));
    add(cases[0], nearest, seconds[1], seconds[1] / seconds[0], "of f32 AdamW's time", 0);
    add(cases[1], with8, seconds[2], seconds[2] / seconds[1], "of the time to nearest", kBarOfRandom8);
    add(cases[2], with16, seconds[3], seconds[3] / seconds[1], "of the time to nearest", kBarOfRandom16);
  }

  void avx2() {
    std::vector<OptimizerCase> cases = {kBaseline, kFp8[0], kRounded[0][0], kOthers[5], kTree};
    for (const OptimizerCase &one : cases) {
      OptimizerRun fast(one, count_, 0), slow(one, count_, kCpuAvx2);
      const std::vector<double> seconds = race(runner(fast), runner(slow));
      add(one, slow, seconds[1], seconds[1] / seconds[0], "of the fastest row's time", 0);
    }
  }

  Report &report_;
  int64_t count_;
  int threads_;
  bool is_in_cache_;
  double bitsandbytes_;
  OptimizerRun baseline_;
  std::vector<std::vector<float>> arrays_;
};

int main_of(int64_t count, double bitsandbytes, Report &report) {
  try {
    Table(kCountInCache, 1, bitsandbytes, report).run();
    for (const int threads : {1, 2}) {
      if (count > 0) Table(count, threads, bitsandbytes, report).run();
    }
    return report.end();
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "optimizer_bench: %s\n", failure.what());
    return 1;
  }
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  double millions = 33.5, bitsandbytes = 0;
  lpt::bench::Report report(count, words, "Optimizer steps relative to f32 AdamW, on one thread and on two",
                            {{"MILLIONS", "Parameters out of cache; 0: only in cache", &millions},
                             {"BITSANDBYTES", "Nanoseconds for each parameter of its 8-bit kernels", &bitsandbytes}});
  return lpt::bench::main_of(static_cast<int64_t>(millions * 1e6), bitsandbytes, report);
}
