#include "src/collective/cost_table.hpp"

#include <cmath>

namespace lpt {
namespace {

// Steps of a tree that doubles the number of reached ranks per step. For these numbers of ranks log2 is exact at powers of two.
double tree_steps(double r) { return std::ceil(std::log2(r)); }

// All-reduce.

AlgorithmCost two_shot_all_reduce(double r) {
  const double others = (r - 1) / r;
  return {.steps = 2,
          .critical_bytes = 2 * others,
          .busiest = 2 * others,
          .total = 2 * (r - 1),
          .added = others,
          .encoded = 1 + 1 / r,
          .decoded = 2};
}

AlgorithmCost one_shot_all_reduce(double r) {
  return {.steps = 1,
          .critical_bytes = r - 1,
          .busiest = r - 1,
          .total = r * (r - 1),
          .added = r - 1,
          .encoded = 1,
          .decoded = r};
}

// Elements are cast at every hop.
AlgorithmCost ring_all_reduce(double r) {
  const double others = (r - 1) / r;
  return {.steps = 2 * (r - 1),
          .critical_bytes = 2 * others,
          .busiest = 2 * others,
          .total = 2 * (r - 1),
          .added = others,
          .encoded = 1,
          .decoded = 1 + others};
}

// Rank 0 sends most: once in every step of the broadcast phase. Another rank sends once in the reduction phase, and in the
// broadcast steps after the one that reached it.
AlgorithmCost tree_all_reduce(double r) {
  const double steps = tree_steps(r);
  return {.steps = 2 * steps,
          .critical_bytes = 2 * steps,
          .busiest = steps,
          .total = 2 * (r - 1),
          .added = steps,
          .encoded = steps + 1,
          .decoded = steps + 1};
}

AlgorithmCost star_all_reduce(double r) {
  return {.steps = 2,
          .critical_bytes = 2 * (r - 1),
          .busiest = r - 1,
          .total = 2 * (r - 1),
          .added = r - 1,
          .encoded = 2,
          .decoded = r + 1};
}

// Reduce-scatter.

AlgorithmCost two_shot_reduce_scatter(double r) {
  const double others = (r - 1) / r;
  return {.steps = 1,
          .critical_bytes = others,
          .busiest = others,
          .total = r - 1,
          .added = others,
          .encoded = 1,
          .decoded = 1};
}

AlgorithmCost ring_reduce_scatter(double r) {
  const double others = (r - 1) / r;
  return {.steps = r - 1,
          .critical_bytes = others,
          .busiest = others,
          .total = r - 1,
          .added = others,
          .encoded = others,
          .decoded = others};
}

// The root casts the sums for all ranks; the other ranks decode their parts.
AlgorithmCost star_reduce_scatter(double r) {
  const double others = (r - 1) / r;
  return {.steps = 2,
          .critical_bytes = r - 1 + others,
          .busiest = 1,
          .total = r - 1 + others,
          .added = r - 1,
          .encoded = 2,
          .decoded = r + 1 / r};
}

// Collectives without arithmetic.

AlgorithmCost two_shot_all_gather(double r) {
  const double others = (r - 1) / r;
  return {.steps = 1,
          .critical_bytes = others,
          .busiest = others,
          .total = r - 1,
          .added = 0,
          .encoded = 1 / r,
          .decoded = 1};
}

AlgorithmCost ring_all_gather(double r) {
  AlgorithmCost cost = two_shot_all_gather(r);
  cost.steps = r - 1;
  return cost;
}

// The root sends each rank all parts except the part of that rank.
AlgorithmCost star_all_gather(double r) {
  return {.steps = 2,
          .critical_bytes = r - 1,
          .busiest = (r - 1) * (r - 1) / r,
          .total = r - 1,
          .added = 0,
          .encoded = 1 / r,
          .decoded = 1};
}

AlgorithmCost one_shot_broadcast(double r) {
  return {
      .steps = 1, .critical_bytes = r - 1, .busiest = r - 1, .total = r - 1, .added = 0, .encoded = 1, .decoded = 1};
}

AlgorithmCost tree_broadcast(double r) {
  const double steps = tree_steps(r);
  return {.steps = steps,
          .critical_bytes = steps,
          .busiest = steps,
          .total = r - 1,
          .added = 0,
          .encoded = 1,
          .decoded = 1};
}

AlgorithmCost one_shot_all_to_all(double r) {
  const double others = (r - 1) / r;
  return {
      .steps = 1, .critical_bytes = others, .busiest = others, .total = r - 1, .added = 0, .encoded = 1, .decoded = 1};
}

constexpr AlgorithmEntry kWays[] = {
    {LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_TWO_SHOT, two_shot_all_reduce},
    {LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_ONE_SHOT, one_shot_all_reduce},
    {LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_RING, ring_all_reduce},
    {LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_TREE, tree_all_reduce},
    {LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_STAR, star_all_reduce},
    {LPT_COST_COLLECTIVE_REDUCE_SCATTER, LPT_COST_ALGORITHM_TWO_SHOT, two_shot_reduce_scatter},
    {LPT_COST_COLLECTIVE_REDUCE_SCATTER, LPT_COST_ALGORITHM_RING, ring_reduce_scatter},
    {LPT_COST_COLLECTIVE_REDUCE_SCATTER, LPT_COST_ALGORITHM_STAR, star_reduce_scatter},
    {LPT_COST_COLLECTIVE_ALL_GATHER, LPT_COST_ALGORITHM_TWO_SHOT, two_shot_all_gather},
    {LPT_COST_COLLECTIVE_ALL_GATHER, LPT_COST_ALGORITHM_RING, ring_all_gather},
    {LPT_COST_COLLECTIVE_ALL_GATHER, LPT_COST_ALGORITHM_STAR, star_all_gather},
    {LPT_COST_COLLECTIVE_BROADCAST, LPT_COST_ALGORITHM_ONE_SHOT, one_shot_broadcast},
    {LPT_COST_COLLECTIVE_BROADCAST, LPT_COST_ALGORITHM_TREE, tree_broadcast},
    {LPT_COST_COLLECTIVE_ALL_TO_ALL, LPT_COST_ALGORITHM_ONE_SHOT, one_shot_all_to_all},
};

}  // namespace

std::span<const AlgorithmEntry> costs() { return kWays; }

const char *name_of_collective(lpt_cost_collective collective) {
  constexpr const char *kNames[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"};
  return kNames[collective];
}

const char *name_of_algorithm(lpt_cost_algorithm algorithm) {
  constexpr const char *kNames[] = {"best", "ring", "tree", "two_shot", "one_shot", "star"};
  return kNames[algorithm];
}

}  // namespace lpt
