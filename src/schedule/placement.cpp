#include "src/schedule/placement.hpp"

#include <algorithm>
#include <numeric>

namespace lpt {

SendPlacer::SendPlacer(const SendPlan &plan)
    : chunk_count_(plan.chunk_count),
      router_(*plan.network),
      busy_(plan.network->links.size()),
      ready_(static_cast<size_t>(plan.network->ranks) * static_cast<size_t>(plan.chunk_count), 0) {}

bool SendPlacer::is_free(int32_t link, int32_t step) const {
  const std::vector<bool> &steps = busy_[static_cast<size_t>(link)];
  return static_cast<size_t>(step) >= steps.size() || !steps[static_cast<size_t>(step)];
}

// It ends, as every path is free in a step after all others.
void SendPlacer::place(int32_t from, int32_t to, int32_t first_chunk, int32_t chunk_count,
                       lpt_schedule_operation operation) {
  int32_t step = 0;
  for (int32_t c = 0; c < chunk_count; ++c) step = std::max(step, ready(from, first_chunk + c));
  std::vector<int32_t> path;
  int32_t blocked = 0;
  while (!router_.find(
      from, to, [&](int32_t link) { return is_free(link, step); }, path, blocked))
    ++step;
  for (const int32_t link : path) {
    std::vector<bool> &steps = busy_[static_cast<size_t>(link)];
    if (steps.size() <= static_cast<size_t>(step)) steps.resize(static_cast<size_t>(step) + 1);
    steps[static_cast<size_t>(step)] = true;
  }
  for (int32_t c = 0; c < chunk_count; ++c) {
    int32_t &first = ready(to, first_chunk + c);
    first = std::max(first, step + 1);
  }
  add({step, from, to, first_chunk, chunk_count, operation}, path);
}

void SendPlacer::add(const lpt_schedule_send &send, const std::vector<int32_t> &path) {
  sends_.push_back(send);
  hops_.insert(hops_.end(), path.begin(), path.end());
  path_ends_.push_back(static_cast<int64_t>(hops_.size()));
}

void SendPlacer::finish(SendPlan &plan) {
  std::vector<size_t> order(sends_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return sends_[a].step < sends_[b].step; });
  for (const size_t i : order) {
    plan.sends.push_back(sends_[i]);
    const int64_t begin = i == 0 ? 0 : path_ends_[i - 1];
    plan.hops.insert(plan.hops.end(), hops_.begin() + begin, hops_.begin() + path_ends_[i]);
    plan.path_ends.push_back(static_cast<int64_t>(plan.hops.size()));
  }
}

}  // namespace lpt
