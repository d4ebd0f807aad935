// Algorithms of collectives and their costs.
#pragma once

#include <cstdint>
#include <span>

#include "lpt.h"
#include "lpt/research/cost.h"

namespace lpt {

// All members except `steps` are in units of the payload: 1 is every byte, or the cast of every element.
struct AlgorithmCost {
  double steps = 0.0;           // latencies on the critical path
  double critical_bytes = 0.0;  // bytes through links on the critical path, over all steps
  double busiest = 0.0;         // sent by the rank that sends most
  double total = 0.0;           // sent by all ranks
  double added = 0.0;           // by the ranks on the critical path
  double encoded = 0.0;         // casts of the ranks on the critical path; each rank also decodes what it has encoded
  double decoded = 0.0;
};

struct AlgorithmEntry {
  lpt_cost_collective collective;
  lpt_cost_algorithm algorithm;
  AlgorithmCost (*of)(double ranks);  // `ranks` is at least 2
};

// In the order of preference at equal cost: first the algorithms that LPT implements.
std::span<const AlgorithmEntry> costs();

// A collective of one rank costs nothing.
inline AlgorithmCost cost_of(const AlgorithmEntry &row, int32_t ranks) {
  return ranks == 1 ? AlgorithmCost{} : row.of(ranks);
}

const char *name_of_collective(lpt_cost_collective collective);
const char *name_of_algorithm(lpt_cost_algorithm algorithm);

}  // namespace lpt
