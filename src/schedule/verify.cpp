// Checks of schedules. They read only the list of sends and its paths, whatever has built them.
#include <algorithm>

#include "src/call/operation.hpp"
#include "src/schedule/schedule.hpp"

namespace lpt {
namespace {

// Names a send in an error text.
std::string name_of(const SendPlan &plan, size_t index) {
  const lpt_schedule_send &send = plan.sends[index];
  return text("sends[%zu] (step %d, rank %d to rank %d, chunks %d to %d)", index, send.step, send.source, send.target,
              send.first_chunk, send.first_chunk + send.chunk_count - 1);
}

Status check_member(size_t index, const char *member, int32_t value, int32_t first, int32_t last) {
  if (value >= first && value <= last) return {};
  return invalid("sends[%zu].%s is %d: expected %d to %d", index, member, value, first, last);
}

std::string text_of_link(const Network &network, int32_t link) {
  const lpt_topology_link &ends = network.links[static_cast<size_t>(link)];
  return text("links[%d], node %d to node %d", link, ends.source, ends.target);
}

// The state of all chunks on all ranks between two sends.
//
// A rank passes its sum of a chunk on once at most, and adds nothing afterwards. Sums on different ranks therefore have no part
// in common, and their numbers of parts can be added. A sum of as many parts as there are ranks has the part of each once.
class ChunkStates {
 public:
  explicit ChunkStates(SendPlan &plan)
      : plan_(plan),
        states_(static_cast<size_t>(plan.network->ranks) * static_cast<size_t>(plan.chunk_count)),
        ranks_(plan.network->ranks) {
    plan_.last_adds.assign(static_cast<size_t>(plan.chunk_count), -1);
  }

  // All sends of a step leave before any arrives.
  Status run_step(size_t begin, size_t end) {
    parts_.clear();
    for (size_t i = begin; i < end; ++i) LPT_TRY(for_chunks(i, [&](int32_t chunk) { return leave(i, chunk); }));
    size_t next = 0;
    for (size_t i = begin; i < end; ++i) {
      const bool is_added = plan_.sends[i].operation == LPT_SCHEDULE_OPERATION_ADD;
      LPT_TRY(for_chunks(i, [&](int32_t chunk) { return arrive(i, chunk, is_added ? parts_[next++] : ranks_); }));
    }
    return {};
  }

  Status check_end() {
    for (int32_t chunk = 0; chunk < plan_.chunk_count; ++chunk) {
      if (ranks_ > 1 && plan_.last_adds[static_cast<size_t>(chunk)] < 0) return missing_sum(chunk);
      for (int32_t rank = 0; rank < ranks_; ++rank) {
        if (at(rank, chunk).parts == ranks_) continue;
        return invalid("sends end without a copy of chunk %d for rank %d: expected one for every rank", chunk, rank);
      }
    }
    return {};
  }

 private:
  struct State {
    int32_t parts = 1;  // ranks whose parts are in the sum
    bool has_left = false;
  };

  State &at(int32_t rank, int32_t chunk) {
    return states_[static_cast<size_t>(rank) * static_cast<size_t>(plan_.chunk_count) + static_cast<size_t>(chunk)];
  }

  template <typename Body>
  Status for_chunks(size_t index, const Body &body) {
    const lpt_schedule_send &send = plan_.sends[index];
    for (int32_t i = 0; i < send.chunk_count; ++i) LPT_TRY(body(send.first_chunk + i));
    return {};
  }

  Status leave(size_t index, int32_t chunk) {
    const lpt_schedule_send &send = plan_.sends[index];
    State &from = at(send.source, chunk);
    const bool is_complete = from.parts == ranks_;
    if (send.operation == LPT_SCHEDULE_OPERATION_COPY) {
      if (is_complete) return {};
      return invalid("%s copies chunk %d: rank %d has the parts of %d of %d ranks", name_of(plan_, index).c_str(),
                     chunk, send.source, from.parts, ranks_);
    }
    if (is_complete || from.has_left) {
      return invalid("%s adds chunk %d: rank %d has sent its part before: expected once", name_of(plan_, index).c_str(),
                     chunk, send.source);
    }
    from.has_left = true;
    parts_.push_back(from.parts);
    return {};
  }

  Status arrive(size_t index, int32_t chunk, int32_t parts) {
    const lpt_schedule_send &send = plan_.sends[index];
    State &to = at(send.target, chunk);
    if (to.parts == ranks_) {
      return invalid("%s has chunk %d: rank %d has the sum of all ranks already", name_of(plan_, index).c_str(), chunk,
                     send.target);
    }
    if (send.operation == LPT_SCHEDULE_OPERATION_COPY) {
      to.parts = parts;
      return {};
    }
    if (to.has_left) {
      return invalid("%s adds chunk %d: rank %d has sent its sum already, which then lacks this part",
                     name_of(plan_, index).c_str(), chunk, send.target);
    }
    to.parts += parts;
    if (to.parts == ranks_) plan_.last_adds[static_cast<size_t>(chunk)] = static_cast<int64_t>(index);
    return {};
  }

  Status missing_sum(int32_t chunk) {
    std::string waiting;
    for (int32_t rank = 0; rank < ranks_; ++rank) {
      if (!at(rank, chunk).has_left) waiting += (waiting.empty() ? "" : ", ") + std::to_string(rank);
    }
    return invalid("sends end without a sum of chunk %d: its parts remain on ranks %s", chunk, waiting.c_str());
  }

  SendPlan &plan_;
  std::vector<State> states_;
  std::vector<int32_t> parts_;  // in each sum that left in this step
  const int32_t ranks_;
};

// Checks that the path of a send leads from its rank to the other one, and marks its links as used in this step.
Status check_path(const SendPlan &plan, size_t index, std::vector<int32_t> &used_in) {
  const lpt_schedule_send &send = plan.sends[index];
  int32_t node = send.source;
  for (const int32_t link : plan.path(index)) {
    const lpt_topology_link &ends = plan.network->links[static_cast<size_t>(link)];
    if (ends.source != node) return Status(LPT_INTERNAL, name_of(plan, index) + " has a path with a gap");
    node = ends.target;
    int32_t &last = used_in[static_cast<size_t>(link)];
    if (last == send.step) {
      return Status(LPT_INTERNAL, name_of(plan, index) + ": " + text_of_link(*plan.network, link) + ", is used twice");
    }
    last = send.step;
  }
  return node == send.target ? Status() : Status(LPT_INTERNAL, name_of(plan, index) + " has a path to another rank");
}

}  // namespace

Status check_sends(const SendPlan &plan) {
  const int32_t ranks = plan.network->ranks;
  int32_t last_step = -1;
  for (size_t i = 0; i < plan.sends.size(); ++i) {
    const lpt_schedule_send &send = plan.sends[i];
    LPT_TRY(check_member(i, "step", send.step, std::max(last_step, 0), last_step + 1));
    LPT_TRY(check_member(i, "source", send.source, 0, ranks - 1));
    LPT_TRY(check_member(i, "target", send.target, 0, ranks - 1));
    LPT_TRY(check_member(i, "first_chunk", send.first_chunk, 0, plan.chunk_count - 1));
    LPT_TRY(check_member(i, "chunk_count", send.chunk_count, 1, plan.chunk_count - send.first_chunk));
    LPT_TRY(check_member(i, "operation", send.operation, LPT_SCHEDULE_OPERATION_ADD, LPT_SCHEDULE_OPERATION_COPY));
    if (send.source == send.target)
      return invalid("sends[%zu].target is %d: expected another rank than source", i, send.target);
    last_step = send.step;
  }
  return {};
}

Status route_sends(SendPlan &plan) {
  Router router(*plan.network);
  std::vector<int32_t> used_in(plan.network->links.size(), -1);
  for (size_t i = 0; i < plan.sends.size(); ++i) {
    const lpt_schedule_send &send = plan.sends[i];
    const size_t begin = plan.hops.size();
    int32_t blocked = 0;
    const auto is_free = [&](int32_t link) { return used_in[static_cast<size_t>(link)] != send.step; };
    if (!router.find(send.source, send.target, is_free, plan.hops, blocked)) {
      return invalid("%s needs %s: another send of the step uses it", name_of(plan, i).c_str(),
                     text_of_link(*plan.network, blocked).c_str());
    }
    for (size_t hop = begin; hop < plan.hops.size(); ++hop) used_in[static_cast<size_t>(plan.hops[hop])] = send.step;
    plan.path_ends.push_back(static_cast<int64_t>(plan.hops.size()));
  }
  return {};
}

Status verify_sends(SendPlan &plan) {
  std::vector<int32_t> used_in(plan.network->links.size(), -1);
  for (size_t i = 0; i < plan.sends.size(); ++i) LPT_TRY(check_path(plan, i, used_in));
  ChunkStates states(plan);
  LPT_TRY(for_steps(plan, [&](size_t begin, size_t end) { return states.run_step(begin, end); }));
  return states.check_end();
}

}  // namespace lpt
