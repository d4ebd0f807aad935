#include "bench/gpu/race.hpp"

#include <algorithm>

#include "bench/peaks.hpp"

namespace lpt::bench {
namespace {

constexpr double kSecondsOfRound = 0.02;
constexpr int kRounds = 9, kMostRuns = 1000;
constexpr int kQueued = 200;  // the queue of a device holds about a thousand entries before the CPU waits

double seconds_of(const Machine &machine, const Contender &contender, int runs) {
  const double begin = now();
  for (int i = 0; i < runs; ++i) contender.run();
  const double queued = now();
  machine.synchronize();
  return ((contender.is_host_cost ? queued : now()) - begin) / runs;
}

int runs_of_round(const Machine &machine, const Contender &contender) {
  if (machine.is_tiny()) return 1;
  if (contender.is_host_cost) return kQueued;
  const double once = std::max(seconds_of(machine, contender, 3), 1e-6);
  return static_cast<int>(std::clamp(kSecondsOfRound / once, 1.0, double{kMostRuns}));
}

// Returns the runs per round. The first run detects unsupported operations, and allocates scratch and loads libraries.
int prepared_runs(const Machine &machine, Contender &contender) {
  if (!contender.missing.empty()) return 0;
  try {
    contender.run();
    machine.synchronize();
    return runs_of_round(machine, contender);
  } catch (const Missing &why) {
    contender.missing = why.what();
    return 0;
  }
}

}  // namespace

void race(const Machine &machine, std::vector<Contender> &contenders) {
  std::vector<int> runs;
  for (Contender &one : contenders) runs.push_back(prepared_runs(machine, one));
  std::vector<std::vector<double>> times(contenders.size());
  for (int round = 0; round < (machine.is_tiny() ? 1 : kRounds); ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (runs[i] != 0) times[i].push_back(seconds_of(machine, contenders[i], runs[i]));
    }
  }
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (times[i].empty()) continue;
    std::sort(times[i].begin(), times[i].end());
    contenders[i].seconds = times[i][times[i].size() / 2];
    contenders[i].spread = (times[i].back() - times[i].front()) / contenders[i].seconds;
  }
}

}  // namespace lpt::bench
