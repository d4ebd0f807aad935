// Schedules: lists of sends of an all-reduce, with their paths.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/schedule/network.hpp"

namespace lpt {

constexpr int32_t kMostChunks = 4096;

struct SendPlan {
  std::shared_ptr<const Network> network;
  lpt_schedule_algorithm algorithm = LPT_SCHEDULE_ALGORITHM_CUSTOM;
  int32_t chunk_count = 1;
  std::vector<lpt_schedule_send> sends;  // in the order of steps
  std::vector<int32_t> hops;             // links of the paths of all sends, one send after another
  std::vector<int64_t> path_ends;        // of each send, in `hops`
  std::vector<int64_t> last_adds;        // the send that completes the sum of each chunk; -1: none, one rank

  int32_t steps() const { return sends.empty() ? 0 : sends.back().step + 1; }

  std::span<const int32_t> path(size_t send) const {
    const int64_t begin = send == 0 ? 0 : path_ends[send - 1];
    return std::span(hops).subspan(static_cast<size_t>(begin), static_cast<size_t>(path_ends[send] - begin));
  }
};

// Calls body(begin, end) with the range of sends of each step.
template <typename Body>
Status for_steps(const SendPlan &plan, const Body &body) {
  for (size_t begin = 0, end = 0; begin < plan.sends.size(); begin = end) {
    while (end < plan.sends.size() && plan.sends[end].step == plan.sends[begin].step) ++end;
    LPT_TRY(body(begin, end));
  }
  return {};
}

// Builds the sends and paths of an algorithm. `plan` has its network and algorithm.
Status build_sends(const lpt_schedule_options &options, SendPlan &plan);

// Checks the members of sends. Runs before all other checks.
Status check_sends(const SendPlan &plan);

// Selects a path for each send, in their order. Rejects sends of the same step that need the same link.
Status route_sends(SendPlan &plan);

// Checks paths, and that the sends are an all-reduce, whatever has built them. Sets last_adds.
Status verify_sends(SendPlan &plan);

lpt_schedule_info info_of(const SendPlan &plan);

// Returns a hash of the chunks and sends, which ranks compare.
int64_t hash_of(const SendPlan &plan);

// Simulates the schedule. `out_link_seconds` has an entry for each link.
Status simulate_sends(const SendPlan &plan, double bytes, double reduce_bytes_per_second, double &out_seconds,
                      std::span<double> out_link_seconds);

}  // namespace lpt

struct lpt_schedule {
  lpt::HandleKind kind = lpt::HandleKind::kSchedule;
  std::shared_ptr<const lpt::SendPlan> plan;
};

namespace lpt {
using Schedule = lpt_schedule;
}
