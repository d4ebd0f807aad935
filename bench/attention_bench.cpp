// The rate of attention next to the dot peak of its type: f32 and bf16, forward and backward, causal and not. The speed of EXAQ
// softmax relative to the softmax of f32, with rows in the L2 cache.
//
//   attention_bench [THREADS] [ROUNDS] [--json FILE]
//
// The first tables are for one thread; THREADS above 1 add others. With ROUNDS of 0, only dot peaks and the rate of reading memory
// are measured.
// Flops count visible pairs of queries and keys, for width w and value width v: 2 pairs (w + v) forward, 2 pairs (3 w + 2 v)
// backward. The backward pass reads the output and the log of the sums. Each round measures the dot peak before each pass, so
// that a drifting clock affects both.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/peaks.hpp"
#include "bench/report.hpp"
#include "lpt/research/exaq.h"

namespace lpt::bench {
namespace {

constexpr double kTarget = 0.7, kExaqTarget = 1.35, kVisitSeconds = 0.01;
constexpr int kPeakRuns = 5, kReadRuns = 7;  // without rounds

struct AttentionShape {
  int64_t batch, heads, positions, width;
  bool is_causal;
  double target = 0;
};

constexpr AttentionShape kShapes[] = {
    {1, 8, 2048, 64, true, kTarget},
    {1, 8, 2048, 64, false, kTarget},
    {1, 8, 2048, 128, true, kTarget},
    {1, 8, 2048, 128, false, kTarget},
    {1, 8, 512, 64, true},
    {1, 8, 512, 64, false},
    {8, 4, 128, 32, true},  // of samples/train_lm
};

struct SoftmaxShape {
  int64_t rows, columns;
};

constexpr SoftmaxShape kSoftmaxShapes[] = {{512, 128}, {128, 512}, {32, 2048}};  // 256 KiB of f32
constexpr int32_t kExaqBits[] = {2, 3, 4};

struct Type {
  const char *name;
  lpt_format format;
  Dot dot;
};

constexpr Type kTypes[] = {{"f32", LPT_FORMAT_F32, Dot::kF32}, {"bf16", LPT_FORMAT_BF16, Dot::kBf16}};

void demand(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "attention_bench: %s: %s\n", lpt_status_string(status),
               context == nullptr ? "" : lpt_context_error(context));
  std::exit(1);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

std::string text_of(const AttentionShape &shape) {
  const std::string batch = shape.batch == 1 ? "" : std::to_string(shape.batch) + " x ";
  return batch + std::to_string(shape.heads) + " x " + std::to_string(shape.positions) + " x " +
         std::to_string(shape.width) + (shape.is_causal ? ", causal" : "");
}

// Returns the highest rate of one thread for elements in bf16: of tiles, of dot products of vectors, or of f32.
double bf16_peak() { return std::max({dot_peak(Dot::kBf16Tiles), dot_peak(Dot::kBf16), dot_peak(Dot::kF32)}); }

// Returns the sum of measure(thread) over concurrent threads.
double sum_over_threads(int threads, const std::function<double(size_t)> &measure) {
  std::vector<double> rates(static_cast<size_t>(threads));
  std::vector<std::thread> others;
  for (size_t i = 1; i < rates.size(); ++i) others.emplace_back([&, i] { rates[i] = measure(i); });
  rates[0] = measure(0);
  for (std::thread &other : others) other.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

double peak_of(const Type &type, int threads) {
  return sum_over_threads(threads, [&](size_t) { return type.dot == Dot::kBf16 ? bf16_peak() : dot_peak(type.dot); });
}

// Returns the GB/s of threads that read memory which no cache holds: the best of some runs.
double read_rate(int threads) {
  const size_t part = (size_t{1} << 30) / static_cast<size_t>(threads);
  const std::vector<char> memory(part * static_cast<size_t>(threads), 1);
  double best = 0;
  for (int run = 0; run < kReadRuns; ++run) {
    best = std::max(best, sum_over_threads(threads, [&](size_t thread) {
                      return static_cast<double>(part) / read_seconds(memory.data() + thread * part, part) * 1e-9;
                    }));
  }
  return best;
}

// The tensors of one shape and type, and both passes.
class AttentionRun {
 public:
  AttentionRun(lpt_context *context, const AttentionShape &shape, lpt_format format) : context_(context) {
    const int64_t extents[] = {shape.batch, shape.heads, shape.positions, shape.width};
    for (lpt_tensor *&tensor : tensors_) {
      demand(context, lpt_tensor_create(context, format, 4, extents, &tensor));
    }
    demand(context, lpt_tensor_create(context, LPT_FORMAT_F32, 3, extents, &log_sum_exp_));
    const int64_t count = shape.batch * shape.heads * shape.positions * shape.width;
    for (int i = 0; i < kInputs; ++i) fill(tensors_[i], format, count);
    options_.is_causal = shape.is_causal ? 1 : 0;
    options_.log_sum_exp = log_sum_exp_;
    forward();  // backward() reads its results
  }
  ~AttentionRun() {
    for (lpt_tensor *tensor : tensors_) lpt_tensor_destroy(tensor);
    lpt_tensor_destroy(log_sum_exp_);
  }
  AttentionRun(const AttentionRun &) = delete;
  AttentionRun &operator=(const AttentionRun &) = delete;

  void forward() {
    options_.output = nullptr;
    demand(context_, lpt_attention_forward(context_, tensors_[0], tensors_[1], tensors_[2], &options_, tensors_[4]));
  }
  void backward() {
    options_.output = tensors_[4];
    demand(context_, lpt_attention_backward(context_, tensors_[0], tensors_[1], tensors_[2], tensors_[3], &options_,
                                            tensors_[5], tensors_[6], tensors_[7]));
  }

 private:
  static constexpr int kInputs = 4;

  void fill(lpt_tensor *tensor, lpt_format format, int64_t count) {
    std::normal_distribution<float> distribution;
    for (int64_t i = 0; i < count; ++i) {
      const float value = distribution(random_);
      if (format == LPT_FORMAT_F32) {
        static_cast<float *>(lpt_tensor_data(tensor))[i] = value;
      } else {
        static_cast<uint16_t *>(lpt_tensor_data(tensor))[i] = upper_half(value);
      }
    }
  }
  static uint16_t upper_half(float value) {
    uint32_t bits;
    static_assert(sizeof bits == sizeof value);
    std::copy_n(reinterpret_cast<const uint8_t *>(&value), sizeof bits, reinterpret_cast<uint8_t *>(&bits));
    return static_cast<uint16_t>(bits >> 16);
  }

  lpt_context *context_;
  std::mt19937 random_{1};
  lpt_tensor *tensors_[8] = {};  // query, key, value, output gradient, output, gradients of the first three
  lpt_tensor *log_sum_exp_ = nullptr;
  lpt_attention_options options_ = LPT_ATTENTION_OPTIONS_INIT;
};

// Returns the seconds of one call. Short calls are repeated.
double visit(const std::function<void()> &run) {
  int repeats = 0;
  const double begin = now();
  double seconds = 0;
  do {
    run();
    ++repeats;
    seconds = now() - begin;
  } while (seconds < kVisitSeconds);
  return seconds / repeats;
}

// A matrix of f32 of normal values, and its softmax by exponentials or by EXAQ.
class SoftmaxRun {
 public:
  SoftmaxRun(lpt_context *context, const SoftmaxShape &shape) : context_(context) {
    for (lpt_tensor **tensor : {&input_, &output_}) {
      demand(context, lpt_tensor_create_matrix(context, LPT_FORMAT_F32, shape.rows, shape.columns, tensor));
    }
    std::mt19937 random(1);
    std::normal_distribution<float> distribution;
    auto *const values = static_cast<float *>(lpt_tensor_data(input_));
    std::generate_n(values, shape.rows * shape.columns, [&] { return distribution(random); });
  }
  ~SoftmaxRun() {
    lpt_tensor_destroy(input_);
    lpt_tensor_destroy(output_);
  }
  SoftmaxRun(const SoftmaxRun &) = delete;
  SoftmaxRun &operator=(const SoftmaxRun &) = delete;

  // 0 bits: exponentials.
  void run(int32_t bits) {
    if (bits == 0) return demand(context_, lpt_softmax_forward(context_, input_, nullptr, output_));
    lpt_exaq_options options = LPT_EXAQ_OPTIONS_INIT;
    options.bits = bits;
    demand(context_, lpt_exaq_softmax_forward(context_, input_, &options, output_));
  }

 private:
  lpt_context *context_;
  lpt_tensor *input_ = nullptr, *output_ = nullptr;
};

// One pass, with the seconds and shares of its rounds.
struct Pass {
  const Type *type;
  std::string name;
  double flops;
  std::function<void()> run;
  std::vector<double> seconds, shares;
};

// All shapes on one number of threads.
class Table {
 public:
  Table(int threads, int rounds, Report &report) : threads_(threads), rounds_(rounds), report_(report) {
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = threads;
    demand(nullptr, lpt_context_create(&options, &context_));
  }
  ~Table() { lpt_context_destroy(context_); }
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;

  void run() {
    if (rounds_ > 0) {
      report_.begin("attention-" + std::to_string(threads_), threads_, "medians of the rounds; best is the best share",
                    with_ratio({{"attention", -40}, {"ms", 9}, {"GFLOP/s", 8}, {"best", 6}}));
      for (const AttentionShape &shape : kShapes) measure(shape);
      report_.begin("softmax-" + std::to_string(threads_), threads_, "medians of the rounds",
                    with_ratio({{"EXAQ, f32", -24}, {"us", 9}, {"softmax, us", 11}}));
      for (const SoftmaxShape &shape : kSoftmaxShapes) measure(shape);
    }
    report_.begin("peaks-" + std::to_string(threads_), threads_, "GFLOP/s", {{"dot peak", -8}, {"GFLOP/s", 8}});
    for (size_t i = 0; i < std::size(kTypes); ++i) {
      for (int run = rounds_ > 0 ? kPeakRuns : 0; run < kPeakRuns; ++run) peak(kTypes[i]);
      report_.add({kTypes[i].name, fixed(median(peaks_[i]), 1)});
    }
    if (rounds_ > 0) return;
    report_.begin("memory-" + std::to_string(threads_), threads_, "GB/s", {{"memory", -8}, {"GB/s", 8}});
    report_.add({"read", fixed(read_rate(threads_), 1)});
  }

 private:
  double peak(const Type &type) {
    std::vector<double> &peaks = peaks_[static_cast<size_t>(&type - kTypes)];
    peaks.push_back(peak_of(type, threads_));
    return peaks.back();
  }

  void measure(const AttentionShape &shape) {
    const auto positions = static_cast<double>(shape.positions);
    const double pairs = static_cast<double>(shape.batch * shape.heads) *
                         (shape.is_causal ? positions * (positions + 1) / 2 : positions * positions);
    const double flops = 2 * pairs * static_cast<double>(shape.width);
    AttentionRun f32(context_, shape, kTypes[0].format), bf16(context_, shape, kTypes[1].format);
    AttentionRun *const runs[] = {&f32, &bf16};
    std::vector<Pass> passes;
    for (size_t i = 0; i < std::size(kTypes); ++i) {
      AttentionRun *const run = runs[i];
      const std::string end = ", " + text_of(shape);
      passes.push_back({&kTypes[i], kTypes[i].name + (" forward" + end), 2 * flops, [run] { run->forward(); }, {}, {}});
      passes.push_back(
          {&kTypes[i], kTypes[i].name + (" backward" + end), 5 * flops, [run] { run->backward(); }, {}, {}});
    }
    run_rounds(passes);
    for (const Pass &pass : passes) {
      const double seconds = median(pass.seconds);
      report_.add({pass.name, fixed(seconds * 1e3, 3), fixed(pass.flops / seconds * 1e-9, 1),
                   fixed(*std::max_element(pass.shares.begin(), pass.shares.end()), 2)},
                  median(pass.shares), std::string("of the dot peak of ") + pass.type->name, shape.target);
    }
  }

  void measure(const SoftmaxShape &shape) {
    SoftmaxRun softmax(context_, shape);
    for (const int32_t bits : kExaqBits) {
      std::vector<double> seconds, exact, speeds;
      for (int round = -1; round < rounds_; ++round) {
        const double base = visit([&] { softmax.run(0); }), one = visit([&] { softmax.run(bits); });
        if (round < 0) continue;  // warms up caches and memory
        seconds.push_back(one);
        exact.push_back(base);
        speeds.push_back(base / one);
      }
      const std::string name =
          std::to_string(bits) + " bits, " + std::to_string(shape.rows) + " x " + std::to_string(shape.columns);
      report_.add({name, fixed(median(seconds) * 1e6, 2), fixed(median(exact) * 1e6, 2)}, median(speeds),
                  "of the speed of softmax", kExaqTarget);
    }
  }

  void run_rounds(std::vector<Pass> &passes) {
    for (int round = -1; round < rounds_; ++round) {
      for (Pass &pass : passes) {
        const double limit = peak(*pass.type) * 1e9;
        const double seconds = visit(pass.run);
        if (round < 0) continue;  // warms up caches and memory
        pass.seconds.push_back(seconds);
        pass.shares.push_back(pass.flops / pass.seconds.back() / limit);
      }
    }
  }

  int threads_, rounds_;
  Report &report_;
  lpt_context *context_ = nullptr;
  std::vector<double> peaks_[std::size(kTypes)];
};

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  double threads = 1, rounds = 7;
  lpt::bench::Report report(count, words, "Attention relative to the dot peak, on one thread and on more",
                            {{"THREADS", "Threads of a second table; 1: none", &threads, 1, 4096},
                             {"ROUNDS", "Rounds of each pass; 0: dot peaks and reads of memory alone", &rounds}});
  lpt::bench::Table(1, static_cast<int>(rounds), report).run();
  if (threads > 1) lpt::bench::Table(static_cast<int>(threads), static_cast<int>(rounds), report).run();
  return report.end();
}
