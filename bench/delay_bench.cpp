// Measures how much of an all-reduce overlaps with the next gradient if ranks average their parameters one step late
// (lpt_delay_compensate()). Two ranks use an emulated link; forward and backward are a sleep.
//
//   delay_bench [PARAMETERS] [MILLISECONDS] [--json FILE]
//
// Defaults: 262144 parameters, 20 ms of forward and backward. The latency of the link follows from the latter: an all-reduce takes
// half of it, as long, or twice that. hidden = (synchronous - delayed) / min(all-reduce, forward and backward). 1.00 is the
// maximum; the target is 0.80.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/peaks.hpp"
#include "bench/report.hpp"
#include "lpt/research.h"

namespace lpt::bench {
namespace {

constexpr int32_t kRanks = 2;
constexpr int kSteps = 31;

struct Size {
  int64_t parameters;
  double seconds;  // of forward and backward
};

// Medians of the seconds of a step.
struct Times {
  double all_reduce, synchronous, delayed;
};

void demand(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "delay_bench: %s: %s\n", lpt_status_string(status),
               context == nullptr ? "" : lpt_context_error(context));
  std::exit(1);
}

// The parameters, the optimizer and the comm of one rank.
class RankBench {
 public:
  RankBench(const Size &size, lpt_comm_group *group, int32_t rank, double latency) : size_(size) {
    lpt_context_options one_thread = LPT_CONTEXT_OPTIONS_INIT;
    one_thread.thread_count = 1;
    demand(nullptr, lpt_context_create(&one_thread, &context_));
    lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
    link.link_latency_seconds = latency;
    lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
    options.emulation = &link;
    demand(context_, lpt_comm_create_local(context_, group, rank, &options, &comm_));
    for (lpt_tensor **tensor : {&parameters_, &mean_, &gradients_}) {
      demand(context_, lpt_tensor_create(context_, LPT_FORMAT_F32, 1, &size.parameters, tensor));
      std::fill_n(static_cast<float *>(lpt_tensor_data(*tensor)), size.parameters,
                  0.01f * static_cast<float>(1 + rank));
    }
    lpt_optimizer_options momentum = LPT_OPTIMIZER_OPTIONS_INIT;
    momentum.method = LPT_OPTIMIZER_METHOD_SGD;
    momentum.beta1 = 0.9;
    demand(context_, lpt_optimizer_create(context_, &momentum, &optimizer_));
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    parameter.elements = size.parameters;
    int64_t index = 0;
    demand(context_, lpt_optimizer_add(context_, optimizer_, nullptr, &parameter, &index));
    average_.reduction = LPT_REDUCTION_AVERAGE;
  }
  ~RankBench() {
    lpt_optimizer_destroy(optimizer_);
    for (lpt_tensor *tensor : {parameters_, mean_, gradients_}) lpt_tensor_destroy(tensor);
    lpt_comm_destroy(comm_);
    lpt_context_destroy(context_);
  }
  RankBench(const RankBench &) = delete;
  RankBench &operator=(const RankBench &) = delete;

  Times times() {
    const Times found = {median_seconds([this] { reduce(gradients_, nullptr); }),
                         median_seconds([this] { step_synchronous(); }), median_seconds([this] { step_delayed(); })};
    demand(context_, lpt_future_wait(context_, future_));
    lpt_future_destroy(future_);
    return found;
  }

 private:
  void compute() const { std::this_thread::sleep_for(std::chrono::duration<double>(size_.seconds)); }
  void reduce(lpt_tensor *tensor, lpt_future **future) {
    demand(context_, lpt_all_reduce(context_, comm_, tensor, &average_, tensor, future));
  }
  void step() {
    const int64_t index = 0;
    const lpt_tensor *const gradients[] = {gradients_};
    demand(context_, lpt_optimizer_step(context_, optimizer_, &index, 1, gradients, nullptr, &parameters_));
  }
  void step_synchronous() {
    compute();
    reduce(gradients_, nullptr);
    step();
  }
  void step_delayed() {
    compute();
    if (future_ != nullptr) {
      demand(context_, lpt_future_wait(context_, future_));
      lpt_future_destroy(future_);
      const lpt_tensor *const own[] = {parameters_}, *const mean[] = {mean_};
      demand(context_, lpt_delay_compensate(context_, own, mean, 1, nullptr, &gradients_));
      demand(context_, lpt_tensor_copy(context_, mean_, parameters_));
    }
    step();
    demand(context_, lpt_tensor_copy(context_, parameters_, mean_));
    reduce(mean_, &future_);
  }
  static double median_seconds(const std::function<void()> &body) {
    std::vector<double> seconds;
    for (int i = 0; i < kSteps; ++i) {
      const double begin = now();
      body();
      seconds.push_back(now() - begin);
    }
    std::nth_element(seconds.begin(), seconds.begin() + kSteps / 2, seconds.end());
    return seconds[kSteps / 2];
  }

  const Size size_;
  lpt_context *context_ = nullptr;
  lpt_comm *comm_ = nullptr;
  lpt_tensor *parameters_ = nullptr, *mean_ = nullptr, *gradients_ = nullptr;
  lpt_optimizer *optimizer_ = nullptr;
  lpt_reduce_options average_ = LPT_REDUCE_OPTIONS_INIT;
  lpt_future *future_ = nullptr;
};

// Returns the times of the first rank over a link whose all-reduce takes `seconds`: two messages, one after another.
Times times_over_link(const Size &size, double seconds) {
  lpt_comm_group *group = nullptr;
  demand(nullptr, lpt_comm_group_create(nullptr, kRanks, &group));
  Times found[kRanks];
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] { found[rank] = RankBench(size, group, rank, seconds / 2.0).times(); });
  }
  for (std::thread &thread : threads) thread.join();
  lpt_comm_group_destroy(group);
  return found[0];
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  using lpt::bench::fixed;
  double parameters = 262144, milliseconds = 20;
  lpt::bench::Report report(count, words, "The part of an all-reduce that the next gradient hides",
                            {{"PARAMETERS", "Number of f32", &parameters, 1},
                             {"MILLISECONDS", "Of forward and backward", &milliseconds, 0.1, 1e4}});
  report.begin("delay", lpt::bench::kRanks, "medians of " + std::to_string(lpt::bench::kSteps) + " steps",
               {{"all-reduce / gradient"}, {"all-reduce, ms"}, {"synchronous, ms"}, {"delayed, ms"}, {"hidden"}});
  const lpt::bench::Size size = {static_cast<int64_t>(parameters), 1e-3 * milliseconds};
  for (const double factor : {0.5, 1.0, 2.0}) {
    const lpt::bench::Times found = lpt::bench::times_over_link(size, factor * size.seconds);
    const double hidden = (found.synchronous - found.delayed) / std::min(found.all_reduce, size.seconds);
    report.add({fixed(factor, 1), fixed(1e3 * found.all_reduce, 2), fixed(1e3 * found.synchronous, 2),
                fixed(1e3 * found.delayed, 2), fixed(hidden, 2)});
  }
  return report.end();
}
