// Figures of one group: what is compared is timed in turn, so that clocks and heat affect all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/gpu/machine.hpp"

namespace lpt::bench {

struct Contender {
  std::string who;
  std::function<void()> run;  // queues the work once
  double bytes = 0, flops = 0, elements = 0;
  std::string missing;        // why it is not measured; empty: it is
  bool is_host_cost = false;  // what queuing costs the CPU, not what the device takes
  double seconds = 0;         // median of the rounds
  double spread = 0;          // (largest - least) / median
};

// `make` gives what queues the work, or throws Missing.
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
