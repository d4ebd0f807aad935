// Times work that all ranks of a machine do at the same time, each in a thread with its own context.
#pragma once

#include <functional>

#include "lpt.h"

namespace tool {

struct RankTeam {
  int ranks = 1;
  int threads = 1;       // of each rank
  double seconds = 0.1;  // for each measurement; at least three rounds
};

// Makes the work of one rank. It may use the context until it is destroyed.
using MakeWork = std::function<std::function<void()>(lpt_context *)>;

// Returns the median over rounds of the seconds from the start of the first rank to the end of the last one. Throws Error with
// the error text of a failed rank.
double time_together(const RankTeam &team, const MakeWork &make);

}  // namespace tool
