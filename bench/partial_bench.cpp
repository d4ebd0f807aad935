// Measures how much of the GEMM of private columns overlaps with the reduction of the shared ones. Two ranks on an emulated
// link run lpt_partial_gemm(), and lpt_gemm() followed by lpt_partial_all_reduce(), in alternation.
//
//   partial_bench [ROWS] [INNER] [HIDDEN] [FRACTION] [--json FILE]
//
// Defaults: 512 rows, 1024 inner columns of each rank, 4096 hidden ones, half of them shared. The link speed follows from the
// private GEMM: the shared columns take as long as the private ones, then twice that, and half. hidden = (separate - together)
// / private GEMM. 1.00 is the maximum; the target is 0.80 for links that need at least the time of the private GEMM.
#include <algorithm>
#include <barrier>
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

constexpr int kRounds = 11;
constexpr int32_t kRanks = 2;

struct Size {
  int64_t rows, inner, hidden, shared;
};

void demand(lpt_context *context, lpt_status status) {
  if (status == LPT_OK) return;
  std::fprintf(stderr, "partial_bench: %s: %s\n", lpt_status_string(status),
               context == nullptr ? "" : lpt_context_error(context));
  std::exit(1);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// The matrices and calls of one rank.
class RankBench {
 public:
  RankBench(const Size &size, std::barrier<> &start) : size_(size), start_(start) {
    lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
    options.thread_count = 1;
    demand(nullptr, lpt_context_create(&options, &context_));
    a_ = matrix(size.rows, size.inner);
    b_ = matrix(size.hidden, size.inner);
    c_ = matrix(size.rows, size.hidden);
    const int64_t begins[] = {size.shared, 0}, lanes[] = {size.hidden - size.shared, size.inner};
    const int64_t c_begins[] = {0, size.shared}, c_extents[] = {size.rows, size.hidden - size.shared};
    demand(context_, lpt_tensor_view(context_, b_, begins, lanes, &private_b_));
    demand(context_, lpt_tensor_view(context_, c_, c_begins, c_extents, &private_c_));
    gemm_.is_b_transposed = 1;
    lpt_partial_plan_options plan = LPT_PARTIAL_PLAN_OPTIONS_INIT;
    plan.hidden_columns = size.hidden;
    plan.shared_columns = size.shared;
    plan.rank_count = kRanks;
    demand(context_, lpt_partial_plan_create(context_, &plan, &plan_));
  }
  ~RankBench() {
    lpt_partial_plan_destroy(plan_);
    for (lpt_tensor *tensor : {private_c_, private_b_, c_, b_, a_}) lpt_tensor_destroy(tensor);
    lpt_context_destroy(context_);
  }
  RankBench(const RankBench &) = delete;
  RankBench &operator=(const RankBench &) = delete;

  // Returns the seconds of the GEMM of the private columns while all ranks compute, after a warm-up.
  double private_seconds() {
    const double begin = now();
    while (now() - begin < 0.5) demand(context_, lpt_gemm(context_, a_, b_, &gemm_, c_));
    return seconds({[this] { demand(context_, lpt_gemm(context_, a_, private_b_, &gemm_, private_c_)); }})[0];
  }

  // Returns the seconds of both methods, and of the reduction alone, on a link.
  std::vector<double> over_link(lpt_comm_group *group, int32_t rank, double bytes_per_second) {
    lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
    options.flags = LPT_COMM_MESSAGES;
    lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
    link.link_bytes_per_second = bytes_per_second;
    options.emulation = &link;
    lpt_comm *comm = nullptr;
    demand(context_, lpt_comm_create_local(context_, group, rank, &options, &comm));
    const auto reduce = [&] {
      demand(context_, lpt_partial_all_reduce(context_, comm, plan_, LPT_PARTIAL_PASS_FORWARD, c_, c_, nullptr));
    };
    const std::vector<double> found = seconds({
        [&] {
          demand(context_, lpt_gemm(context_, a_, b_, &gemm_, c_));
          reduce();
        },
        [&] { demand(context_, lpt_partial_gemm(context_, comm, plan_, a_, b_, &gemm_, c_)); },
        reduce,
    });
    lpt_comm_info values = LPT_COMM_INFO_INIT;
    demand(context_, lpt_comm_read(context_, comm, &values));
    engine_ = values.engine;
    lpt_comm_destroy(comm);
    return found;
  }

  const std::string &engine() const { return engine_; }

 private:
  lpt_tensor *matrix(int64_t rows, int64_t columns) {
    const int64_t extents[] = {rows, columns};
    lpt_tensor *tensor = nullptr;
    demand(context_, lpt_tensor_create(context_, LPT_FORMAT_F32, 2, extents, &tensor));
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    demand(context_, lpt_tensor_describe(context_, tensor, &description));
    std::fill_n(static_cast<float *>(description.data), rows * columns, 0.01f);
    return tensor;
  }

  // Returns median seconds, from the start of the first rank to the end of the last one.
  std::vector<double> seconds(const std::vector<std::function<void()>> &bodies) {
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
    std::vector<double> medians;
    for (const std::vector<double> &of_one : times) medians.push_back(median(of_one));
    return medians;
  }

  const Size size_;
  std::barrier<> &start_;
  lpt_context *context_ = nullptr;
  lpt_tensor *a_, *b_, *c_, *private_b_ = nullptr, *private_c_ = nullptr;
  lpt_partial_plan *plan_ = nullptr;
  lpt_gemm_options gemm_ = LPT_GEMM_OPTIONS_INIT;
  std::string engine_;
};

// State shared by the ranks.
struct Common {
  Size size;
  std::barrier<> start{kRanks};
  std::vector<lpt_comm_group *> groups;
  double private_seconds = 0.0;  // measured by the first rank; the links of all ranks are equal
};

void work(Common &common, int32_t rank, Report &report) {
  constexpr double kFactors[] = {0.5, 1.0, 2.0};
  const Size &size = common.size;
  RankBench bench(size, common.start);
  const double mine = bench.private_seconds();
  if (rank == 0) common.private_seconds = mine;
  common.start.arrive_and_wait();
  const double alone = common.private_seconds;
  const double bytes = static_cast<double>(size.rows * size.shared) * sizeof(float);  // to the other rank
  if (rank == 0) {
    const auto text = [](int64_t value) { return std::to_string(value); };
    report.begin("hidden", kRanks,
                 "those of a GEMM of " + text(size.rows) + " x " + text(size.inner) + " by " + text(size.hidden) +
                     " columns, " + text(size.shared) + " shared; the private GEMM takes " + fixed(1e3 * alone, 2) +
                     " ms, the other rank receives " + fixed(1e-6 * bytes, 2) + " MB",
                 {{"link / GEMM"}, {"reduction, ms"}, {"apart, ms"}, {"together, ms"}, {"hidden"}, {"engine", -1}});
  }
  for (size_t i = 0; i < common.groups.size(); ++i) {
    const std::vector<double> found = bench.over_link(common.groups[i], rank, bytes / (alone * kFactors[i]));
    if (rank != 0) continue;
    report.add({fixed(kFactors[i], 1), fixed(1e3 * found[2], 2), fixed(1e3 * found[0], 2), fixed(1e3 * found[1], 2),
                fixed((found[0] - found[1]) / alone, 2), bench.engine()});
  }
}

}  // namespace
}  // namespace lpt::bench

int main(int count, char **words) {
  double rows = 512, inner = 1024, hidden = 4096, fraction = 0.5;
  lpt::bench::Report report(count, words, "The part of a GEMM that is hidden behind a reduction, over an emulated link",
                            {{"ROWS", "Of a", &rows, 1},
                             {"INNER", "Columns of a of each rank", &inner, 1},
                             {"HIDDEN", "Columns of the result", &hidden, 1},
                             {"FRACTION", "Of the columns that is shared, below 1", &fraction}});
  lpt::bench::Common common;
  lpt::bench::Size &size =
      common.size = {static_cast<int64_t>(rows), static_cast<int64_t>(inner), static_cast<int64_t>(hidden), 0};
  if (lpt_partial_shared_columns(nullptr, size.hidden, fraction, &size.shared) != LPT_OK ||
      size.shared == size.hidden) {
    std::fprintf(stderr, "partial_bench: FRACTION is %g: expected less than 1\n", fraction);
    return 2;
  }
  common.groups.resize(3, nullptr);
  for (lpt_comm_group *&group : common.groups) lpt::bench::demand(nullptr, lpt_comm_group_create(nullptr, 2, &group));
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < lpt::bench::kRanks; ++rank) {
    threads.emplace_back([&, rank] { lpt::bench::work(common, rank, report); });
  }
  for (std::thread &thread : threads) thread.join();
  for (lpt_comm_group *group : common.groups) lpt_comm_group_destroy(group);
  return report.end();
}
