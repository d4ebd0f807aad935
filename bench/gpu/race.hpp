// Measurements of one group. The runs of its contenders are interleaved, so that clocks and heat affect all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/gpu/machine.hpp"

namespace lpt::bench {

struct Contender {
  std::string who;
  std::function<void()> run;  // enqueues the work once
  double bytes = 0, flops = 0, elements = 0;
  std::string missing;        // why it is not measured; empty: it is measured
  bool is_host_cost = false;  // measures the CPU time of the call, not the device time
  double seconds = 0;         // median of the rounds
  double spread = 0;          // (maximum - minimum) / median
};

// Creates a contender. `make` sets the function that enqueues the work, or throws Missing.
template <typename Make>
Contender contender(std::string who, const Make &make) {
  Contender result;
  result.who = std::move(who);
  try {
    make(result);
  } catch (const Missing &why) {
    result.missing = why.what();
    result.run = nullptr;
  }
  return result;
}

void race(const Machine &machine, std::vector<Contender> &contenders);

}  // namespace lpt::bench
