// Collectives of local ranks against the clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lpt.h"
#include "lpt/research/cost.h"
#include "lpt/research/emulation.h"

namespace tool {

// One collective, again and again. `bytes` of the whole tensor, about: its elements are as many for each rank.
struct CommTask {
  lpt_cost_collective collective;  // ALL_REDUCE, REDUCE_SCATTER or ALL_GATHER
  lpt_format format;
  int64_t bytes;
  lpt_format wire = LPT_FORMAT_NONE;  // of reductions
};

struct CommTime {
  double bytes = 0;       // of the whole tensor
  double rank_bytes = 0;  // that rank 0 sent in one call, by its own count
  double seconds = 0;     // of one call: the median over rounds
  int steps = 0;          // latencies in a row; whoever fits a link sets it
};

struct CommRace {
  int ranks = 2;
  int threads = 1;        // of each rank
  double seconds = 0.05;  // for each task; five rounds at least
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  std::function<void(size_t task, const CommTime &)> on_time;  // on a thread of its own, one after the other
};

// Runs all tasks in their order. Gives the engine's name; throws Error with a rank's words where one fails.
std::string race(const CommRace &race, const std::vector<CommTask> &tasks);

}  // namespace tool
