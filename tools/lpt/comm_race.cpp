#include "comm_race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <mutex>
#include <thread>

#include "bench/peaks.hpp"
#include "handles.hpp"

namespace tool {
namespace {

using Group = std::unique_ptr<lpt_comm_group, Destroy<lpt_comm_group_destroy>>;
using Comm = std::unique_ptr<lpt_comm, Destroy<lpt_comm_destroy>>;

constexpr int kFirstCalls = 3;
constexpr int kLeastRounds = 5, kMostRounds = 1000, kMostCalls = 1000;
constexpr double kRoundSeconds = 200e-6;  // many calls per round make the time of the barrier negligible

struct Sizes {
  int64_t part = 0;  // elements of the slice of one rank
  double bytes = 0;  // of all slices
};

Sizes sizes_of(const CommTask &task, int ranks) {
  const int64_t element = describe(task.format).element_bits / 8;
  Sizes sizes;
  sizes.part = std::max<int64_t>(1, task.bytes / element / ranks);
  sizes.bytes = static_cast<double>(sizes.part * ranks * element);
  return sizes;
}

class Ranks {
 public:
  Ranks(const CommRace &race, const std::vector<CommTask> &tasks)
      : race_(race), tasks_(tasks), start_(race.ranks), group_(make_group(race.ranks)) {
    for (const CommTask &task : tasks) {
      most_bytes_ = std::max(most_bytes_, static_cast<size_t>(sizes_of(task, race.ranks).bytes));
    }
  }

  std::string run() {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < race_.ranks; ++rank) threads.emplace_back([this, rank] { live(rank); });
    for (std::thread &thread : threads) thread.join();
    if (!error_.empty()) throw Error(error_);
    return engine_;
  }

 private:
  // One rank: its index, context and comm, and memory for every task.
  struct Self {
    int rank;
    Context context;
    Comm comm;
    std::vector<float> input, output;
    Tensor from, to;
  };

  static Group make_group(int ranks) {
    lpt_comm_group *group = nullptr;
    if (lpt_comm_group_create(nullptr, ranks, &group) != LPT_OK)
      throw Error(fmt::format("no group of {} ranks", ranks));
    return Group(group);
  }

  // A rank that fails releases the others: from the group, which may be waiting for its comm, and from the barrier, by dropping
  // out of it permanently.
  void live(int rank) {
    try {
      work(rank);
    } catch (const std::exception &problem) {
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (error_.empty()) error_ = fmt::format("rank {}: {}", rank, problem.what());
      }
      lpt_comm_group_abort(group_.get());
    }
    start_.arrive_and_drop();
  }

  void work(int rank) {
    Self self{rank, make_context(race_.threads), nullptr, {}, {}, nullptr, nullptr};
    lpt_comm *comm = nullptr;
    lpt_comm_options options = race_.options;
    options.emulation = &race_.link;
    check(self.context.get(), lpt_comm_create_local(self.context.get(), group_.get(), rank, &options, &comm));
    self.comm.reset(comm);
    self.input.assign(most_bytes_ / sizeof(float) + 1, 1.0f);
    self.output.assign(self.input.size(), 0.0f);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const CommTime time = measure(self, tasks_[i]);
      if (rank == 0 && race_.on_time) race_.on_time(i, time);
    }
    if (rank == 0) engine_ = read(self).engine;
  }

  CommTime measure(Self &self, const CommTask &task) {
    const Sizes sizes = sizes_of(task, race_.ranks);
    wrap(self, task, sizes);
    const int64_t sent = read(self).bytes_sent;
    const double first = time_of(self, task, kFirstCalls);
    CommTime time;
    time.bytes = sizes.bytes;
    time.rank_bytes = static_cast<double>(read(self).bytes_sent - sent) / kFirstCalls;
    if (self.rank == 0) plan(first / kFirstCalls);
    start_.arrive_and_wait();  // all ranks read the plan
    const int rounds = rounds_, calls = calls_;
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) seconds.push_back(time_of(self, task, calls) / calls);
    std::sort(seconds.begin(), seconds.end());
    time.seconds = seconds[seconds.size() / 2];
    return time;
  }

  void plan(double call_seconds) {
    const double seconds = std::max(call_seconds, 1e-9);
    calls_ = static_cast<int>(std::clamp(kRoundSeconds / seconds, 1.0, double{kMostCalls}));
    rounds_ =
        static_cast<int>(std::clamp(race_.seconds / (calls_ * seconds), double{kLeastRounds}, double{kMostRounds}));
  }

  // Returns the seconds from the start of the first rank to the end of the last one.
  double time_of(Self &self, const CommTask &task, int calls) {
    start_.arrive_and_wait();
    const double begin = lpt::bench::now();
    for (int i = 0; i < calls; ++i) check(self.context.get(), call(self, task));
    start_.arrive_and_wait();
    return lpt::bench::now() - begin;
  }

  void wrap(Self &self, const CommTask &task, const Sizes &sizes) const {
    const auto matrix = [&](std::vector<float> &memory, bool is_whole) {
      return wrap_matrix(self.context.get(), task.format, memory.data(), is_whole ? race_.ranks : 1, sizes.part);
    };
    self.from = matrix(self.input, task.collective != LPT_COST_COLLECTIVE_ALL_GATHER);
    self.to = matrix(self.output, task.collective != LPT_COST_COLLECTIVE_REDUCE_SCATTER);
  }

  static lpt_status call(Self &self, const CommTask &task) {
    lpt_context *const context = self.context.get();
    lpt_comm *const comm = self.comm.get();
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.wire = task.wire;
    switch (task.collective) {
      case LPT_COST_COLLECTIVE_REDUCE_SCATTER:
        return lpt_reduce_scatter(context, comm, self.from.get(), nullptr, &options, self.to.get(), nullptr);
      case LPT_COST_COLLECTIVE_ALL_GATHER:
        return lpt_all_gather(context, comm, self.from.get(), nullptr, nullptr, self.to.get(), nullptr);
      default:
        return lpt_all_reduce(context, comm, self.from.get(), &options, self.to.get(), nullptr);
    }
  }

  static lpt_comm_info read(const Self &self) {
    lpt_comm_info values = LPT_COMM_INFO_INIT;
    check(self.context.get(), lpt_comm_read(self.context.get(), self.comm.get(), &values));
    return values;
  }

  const CommRace &race_;
  const std::vector<CommTask> &tasks_;
  std::barrier<> start_;
  Group group_;
  size_t most_bytes_ = 0;
  int calls_ = 1, rounds_ = kLeastRounds;  // rank 0 writes them between two barriers
  std::mutex mutex_;
  std::string error_, engine_;
};

}  // namespace

std::string race(const CommRace &race, const std::vector<CommTask> &tasks) { return Ranks(race, tasks).run(); }

}  // namespace tool
