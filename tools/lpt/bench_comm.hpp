// Results of a benchmark of collectives.
#pragma once

#include <string>
#include <vector>

#include "comm_race.hpp"

namespace tool {

// One collective in one format, from the smallest to the largest size.
struct CommSeries {
  lpt_cost_collective collective = LPT_COST_COLLECTIVE_ALL_REDUCE;
  lpt_format format = LPT_FORMAT_NONE;
  lpt_format wire = LPT_FORMAT_NONE;
  std::vector<CommTime> times;
  bool has_link = false;
  lpt_cost_link link = LPT_COST_LINK_INIT;  // fitted to the times

  std::string name() const;
  std::string link_text() const;
  double modelled_seconds(const CommTime &time) const;
};

// The size from which a wire format saves time.
struct CommBreakEven {
  lpt_format payload = LPT_FORMAT_NONE;
  lpt_cost_cast_rates rates = LPT_COST_CAST_RATES_INIT;
  int64_t elements = -1;
};

// A wire format compared with the format of the tensor, size by size.
struct CommWire {
  std::string name;            // of the series
  std::vector<double> shares;  // of the time without the wire format
  double pays_from = -1;       // bytes: it saves time at all measured sizes from this one; -1: not at the largest
};

struct CommReport {
  std::string build, engine;
  int ranks = 0, threads = 0;
  double load = 0;
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  lpt_comm_emulation link = LPT_COMM_EMULATION_INIT;
  std::vector<CommSeries> series;
  lpt_format plain = LPT_FORMAT_NONE;  // format of the all-reduce for the crossovers; NONE: none was measured
  std::vector<CommBreakEven> break_evens;
  std::vector<CommWire> wires;
};

std::string comm_picture(const CommReport &report);  // SVG

}  // namespace tool
