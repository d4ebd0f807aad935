// Times collectives of local ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lpt.h"
#include "lpt/research/cost.h"
#include "lpt/research/emulation.h"

namespace tool {

// One repeated collective. `bytes` is approximate and of the full tensor: every rank has the same number of elements.
struct CommTask {
  lpt_cost_collective collective;  // ALL_REDUCE, REDUCE_SCATTER or ALL_GATHER
  lpt_format format;
  int64_t bytes;
  lpt_format wire = LPT_FORMAT_NONE;  // of reductions
};

struct CommTime {
  double bytes = 0;       // of the full tensor
  double rank_bytes = 0;  // sent by rank 0 in one call, by its counter
  double seconds = 0;     // of one call: the median over rounds
  int steps = 0;          // sequential latencies; set by the fit of a link
};

struct CommRace {
  int ranks = 2;
  int threads = 1;        // of each rank
  double seconds = 0.05;  // for each task; at least five rounds
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  std::function<void(size_t task, const CommTime &)> on_time;  // called in a separate thread, sequentially
};

// Runs all tasks in order. Returns the name of the engine. Throws Error with the error text of a failed rank.
std::string race(const CommRace &race, const std::vector<CommTask> &tasks);

}  // namespace tool
