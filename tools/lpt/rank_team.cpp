#include "rank_team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/peaks.hpp"
#include "handles.hpp"

namespace tool {
namespace {

constexpr int kLeastTimes = 3, kMostTimes = 1000;
constexpr double kLeastSeconds = 200e-6;  // of a round, so that the time of the barrier is negligible

class Members {
 public:
  Members(const RankTeam &team, const MakeWork &make) : team_(team), make_(make), start_(team.ranks) {}

  double run() {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < team_.ranks; ++rank) threads.emplace_back([this, rank] { live(rank); });
    for (std::thread &thread : threads) thread.join();
    if (!error_.empty()) throw Error(error_);
    return median_;
  }

 private:
  // A rank that fails releases the others by dropping out of the barrier permanently.
  void live(int rank) {
    try {
      const Context context = make_context(team_.threads);
      measure(rank, make_(context.get()));
    } catch (const std::exception &problem) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (error_.empty()) error_ = problem.what();
    }
    start_.arrive_and_drop();
  }

  void measure(int rank, const std::function<void()> &work) {
    work();
    const double first = time_of(work, 1);
    if (rank == 0) {
      calls_ = static_cast<int>(std::clamp(kLeastSeconds / std::max(first, 1e-9), 1.0, double{kMostTimes}));
      times_ = static_cast<int>(
          std::clamp(team_.seconds / (calls_ * std::max(first, 1e-9)), double{kLeastTimes}, double{kMostTimes}));
    }
    start_.arrive_and_wait();  // all ranks read the numbers
    const int times = times_, calls = calls_;
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) seconds.push_back(time_of(work, calls) / calls);
    std::sort(seconds.begin(), seconds.end());
    if (rank == 0) median_ = seconds[seconds.size() / 2];
  }

  double time_of(const std::function<void()> &work, int calls) {
    start_.arrive_and_wait();
    const double begin = lpt::bench::now();
    for (int i = 0; i < calls; ++i) work();
    start_.arrive_and_wait();
    return lpt::bench::now() - begin;
  }

  const RankTeam &team_;
  const MakeWork &make_;
  std::barrier<> start_;
  int calls_ = 1, times_ = kLeastTimes;  // rank 0 writes them between two barriers
  double median_ = 0;
  std::mutex mutex_;
  std::string error_;
};

}  // namespace

double time_together(const RankTeam &team, const MakeWork &make) { return Members(team, make).run(); }

}  // namespace tool
