// Speed of all-reduce on ranks that are threads, compared with the memory bandwidth in the same run: threads that add their
// shard of the arrays in a loop and store it to every output, and memcpy.
//
//   comm_bench [RANKS] [MEBIBYTES] [--json FILE]
//
// Defaults: 2 ranks, 64 MiB for each. Each result is the median of interleaved runs. Times are from the start of the first rank
// to the end of the last one.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "bench/peaks.hpp"
#include "bench/report.hpp"

namespace lpt::bench {
namespace {

constexpr int kRounds = 15;
constexpr double kTarget = 0.7;  // of the speed of the loop: 2 ranks, 64 MiB

void demand(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "comm_bench: %s\n", lpt_context_error(context));
  std::exit(1);
}

class Bench {
 public:
  Bench(int32_t ranks, int64_t bytes, Report &report)
      : ranks_(ranks), count_(bytes / 4), report_(report), start_(ranks) {
    for (int32_t q = 0; q < ranks; ++q) {
      inputs_.emplace_back(static_cast<size_t>(count_), 1.0f);
      outputs_.emplace_back(static_cast<size_t>(count_), 0.0f);  // 16-byte alignment of the allocator
    }
  }

  void run() {
    lpt_comm_group *group = nullptr;
    demand(nullptr, lpt_comm_group_create(nullptr, ranks_, &group));
    std::vector<std::thread> threads;
    for (int32_t q = 0; q < ranks_; ++q) threads.emplace_back([this, group, q] { work(group, q); });
    for (std::thread &thread : threads) thread.join();
    lpt_comm_group_destroy(group);
  }

 private:
  void work(lpt_comm_group *group, int32_t rank) {
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    lpt_context *context = nullptr;
    lpt_comm *comm = nullptr;
    demand(nullptr, lpt_context_create(&options, &context));
    demand(context, lpt_comm_create_local(context, group, rank, nullptr, &comm));
    lpt_tensor *input = nullptr, *output = nullptr;
    const auto self = static_cast<size_t>(rank);
    demand(context, lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, inputs_[self].data(), 1, count_, 0, &input));
    demand(context, lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, outputs_[self].data(), 1, count_, 0, &output));
    const std::vector<std::function<void()>> bodies = {
        [&] { demand(context, lpt_all_reduce(context, comm, input, nullptr, output, nullptr)); },
        [&] { demand(context, lpt_all_reduce(context, comm, output, nullptr, output, nullptr)); },
        [&] { add_by_hand(rank); },
        [&] { add_past_caches(rank); },
        [&] { std::memcpy(outputs_[self].data(), inputs_[self].data(), static_cast<size_t>(count_) * 4); },
    };
    std::vector<std::vector<double>> times(bodies.size());
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < bodies.size(); ++i) {
        start_.arrive_and_wait();
        const double begin = now();
        bodies[i]();
        start_.arrive_and_wait();
        times[i].push_back(now() - begin);
      }
    }
    if (rank == 0) add(times);
    lpt_tensor_destroy(output);
    lpt_tensor_destroy(input);
    lpt_comm_destroy(comm);
    lpt_context_destroy(context);
  }

  // The same with streaming stores, for two ranks.
  void add_past_caches(int32_t rank) {
#if defined(__SSE2__)
    if (ranks_ != 2) return;
    const int64_t quarter = count_ / 8, begin = quarter * rank * 4, end = quarter * (rank + 1) * 4;
    const float *const a = inputs_[0].data(), *const b = inputs_[1].data();
    for (int64_t i = begin; i < end; i += 4) {
      const __m128 sum = _mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i));
      _mm_stream_ps(outputs_[0].data() + i, sum);
      _mm_stream_ps(outputs_[1].data() + i, sum);
    }
    _mm_sfence();
#else
    static_cast<void>(rank);
#endif
  }

  void add_by_hand(int32_t rank) {
    const int64_t begin = count_ * rank / ranks_, end = count_ * (rank + 1) / ranks_;
    if (ranks_ == 2) {  // the compiler vectorizes this loop
      const float *const a = inputs_[0].data(), *const b = inputs_[1].data();
      float *__restrict const first = outputs_[0].data(), *__restrict const second = outputs_[1].data();
      for (int64_t i = begin; i < end; ++i) first[i] = second[i] = a[i] + b[i];
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      float sum = inputs_[0][static_cast<size_t>(i)];
      for (size_t q = 1; q < inputs_.size(); ++q) sum += inputs_[q][static_cast<size_t>(i)];
      for (std::vector<float> &output : outputs_) output[static_cast<size_t>(i)] = sum;
    }
  }

  void add(std::vector<std::vector<double>> &times) const {
    std::vector<double> medians;
    for (std::vector<double> &of_one : times) {
      std::sort(of_one.begin(), of_one.end());
      medians.push_back(of_one[of_one.size() / 2]);
    }
    report_.begin(
        "all-reduce", ranks_,
        "those of " + std::to_string(ranks_) + " ranks with " + std::to_string(count_ >> 8) + " KiB of f32 each",
        with_ratio({{"operation", -30}, {"us", 10}}));
    const double loop = ranks_ == 2 ? std::min(medians[2], medians[3]) : medians[2];
    const bool has_target = ranks_ == 2 && count_ == int64_t{16} << 20;
    const char *const measure = "of the loop's speed";
    const auto microseconds = [&](size_t i) { return fixed(1e6 * medians[i], 1); };
    report_.add({"all_reduce", microseconds(0)}, loop / medians[0], measure, has_target ? kTarget : 0);
    report_.add({"all_reduce in place", microseconds(1)}, loop / medians[1], measure);
    report_.add({"loop", microseconds(2)}, 0, "");
    if (ranks_ == 2) report_.add({"loop, past the caches", microseconds(3)}, 0, "");
    report_.add({"memcpy of each array", microseconds(4)}, 0, "");
  }

  const int32_t ranks_;
  const int64_t count_;
  Report &report_;
  std::barrier<> start_;
  std::vector<std::vector<float>> inputs_, outputs_;
};

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  double ranks = 2, mebibytes = 64;
  lpt::bench::Report report(count, words, "All-reduce of ranks that are threads, relative to a loop",
                            {{"RANKS", "Threads", &ranks, 1, 64}, {"MEBIBYTES", "Of each rank", &mebibytes, 0.001}});
  lpt::bench::Bench(static_cast<int32_t>(ranks), static_cast<int64_t>(mebibytes * (1 << 20)), report).run();
  return report.end();
}
