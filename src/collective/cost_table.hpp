// The ways of collectives, each as a handful of numbers.
#pragma once

#include <cstdint>
#include <span>

#include "lpt.h"
#include "lpt/research/cost.h"

namespace lpt {

// All but steps counts in units of the payload: 1 is every byte, or the cast of every element.
struct AlgorithmCost {
  double steps = 0.0;    // latencies that are waited for, one after the other
  double in_row = 0.0;   // through the links that are waited for, over all steps
  double busiest = 0.0;  // sent by the rank that sends most
  double total = 0.0;    // sent by all
  double added = 0.0;    // by the ranks that are waited for
  double encoded = 0.0;  // casts of the ranks that are waited for; every rank decodes what it encoded itself, too
  double decoded = 0.0;
};

struct AlgorithmEntry {
  lpt_cost_collective collective;
  lpt_cost_algorithm algorithm;
  AlgorithmCost (*of)(double ranks);  // at least 2
};

// In the order in which they are taken where nothing speaks for one: what LPT does itself first.
std::span<const AlgorithmEntry> costs();

// The way of one rank is none.
inline AlgorithmCost cost_of(const AlgorithmEntry &row, int32_t ranks) {
  return ranks == 1 ? AlgorithmCost{} : row.of(ranks);
}

const char *name_of_collective(lpt_cost_collective collective);
const char *name_of_algorithm(lpt_cost_algorithm algorithm);

}  // namespace lpt
