// Assigns steps and paths to sends.
#pragma once

#include "src/schedule/schedule.hpp"

namespace lpt {

// Collects sends in the order in which an algorithm makes them. place() gives each the first step in which its rank has the
// chunks and a shortest path is free; add() takes a step and a path.
class SendPlacer {
 public:
  explicit SendPlacer(const SendPlan &plan);

  void place(int32_t from, int32_t to, int32_t first_chunk, int32_t chunk_count, lpt_schedule_operation operation);
  void add(const lpt_schedule_send &send, const std::vector<int32_t> &path);

  // Moves the sends to the plan, in the order of steps. Sends of one step keep their order.
  void finish(SendPlan &plan);

 private:
  int32_t &ready(int32_t rank, int32_t chunk) {
    return ready_[static_cast<size_t>(rank) * static_cast<size_t>(chunk_count_) + static_cast<size_t>(chunk)];
  }
  bool is_free(int32_t link, int32_t step) const;

  int32_t chunk_count_;
  Router router_;
  std::vector<std::vector<bool>> busy_;  // steps in which each link is in use
  std::vector<int32_t> ready_;           // first step in which a rank may send each chunk
  std::vector<lpt_schedule_send> sends_;
  std::vector<int32_t> hops_;
  std::vector<int64_t> path_ends_;
};

// Builds one tree for each rank by MultiTree.
void build_multitree(const Network &network, SendPlacer &placer);

}  // namespace lpt
