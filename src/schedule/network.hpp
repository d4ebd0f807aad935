// Networks of ranks, switches and directed links.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "lpt/research/schedule.h"
#include "src/call/context.hpp"

namespace lpt {

constexpr int32_t kMostScheduleRanks = 1024;
constexpr int32_t kMostSwitches = 1024;
constexpr int64_t kMostLinks = 1 << 20;

// Nodes are the ranks, then the switches.
struct Network {
  lpt_topology_kind kind = LPT_TOPOLOGY_KIND_GRAPH;
  std::vector<int64_t> extents;
  int32_t ranks = 0, switches = 0;
  std::vector<lpt_topology_link> links;

  // Links of each node in the order of `links`. The incoming links are in the order of the opposite outgoing ones, then come
  // those without an opposite: a search against the links then finds the mirror image of a search along them.
  std::vector<std::vector<int32_t>> outgoing, incoming;

  std::unordered_map<uint64_t, int32_t> numbers;  // of links, by pair_of() their nodes

  int32_t nodes() const { return ranks + switches; }
  bool is_rank(int32_t node) const { return node < ranks; }
};

inline uint64_t pair_of(int32_t source, int32_t target) {
  return static_cast<uint64_t>(static_cast<uint32_t>(source)) << 32 | static_cast<uint32_t>(target);
}

// Fills all members after `links`. Rejects invalid links, and networks whose ranks cannot all reach each other.
Status connect(Network &network);

Status make_network(lpt_topology_kind kind, const int64_t *extents, int32_t extent_count, const lpt_cost_link &link,
                    const lpt_cost_link &upper_link, Network &out_network);

// Searches shortest paths over links that the caller has not occupied.
class Router {
 public:
  explicit Router(const Network &network);

  // Appends the links of the first shortest path from rank to rank whose links satisfy is_free(link). Returns false if there is
  // none; `blocked` is then a link of a shortest path that is not free.
  template <typename IsFree>
  bool find(int32_t from, int32_t to, const IsFree &is_free, std::vector<int32_t> &out_path, int32_t &out_blocked);

 private:
  const std::vector<int32_t> &distances_to(int32_t node);

  const Network &network_;
  std::vector<std::vector<int32_t>> distances_;  // links to each node, computed on the first use
  std::vector<int32_t> arrived_by_;              // link by which the current search reached a node; -1: not reached
  std::vector<int32_t> reached_;
};

template <typename IsFree>
bool Router::find(int32_t from, int32_t to, const IsFree &is_free, std::vector<int32_t> &out_path,
                  int32_t &out_blocked) {
  const auto direct = network_.numbers.find(pair_of(from, to));
  if (direct != network_.numbers.end()) {
    out_blocked = direct->second;
    if (!is_free(direct->second)) return false;
    out_path.push_back(direct->second);
    return true;
  }
  const std::vector<int32_t> &distance = distances_to(to);
  for (const int32_t node : reached_) arrived_by_[static_cast<size_t>(node)] = -1;
  reached_.assign(1, from);
  for (size_t i = 0; i < reached_.size(); ++i) {
    const int32_t node = reached_[i];
    if (node == to) break;
    for (const int32_t link : network_.outgoing[static_cast<size_t>(node)]) {
      const int32_t next = network_.links[static_cast<size_t>(link)].target;
      if (distance[static_cast<size_t>(next)] != distance[static_cast<size_t>(node)] - 1) continue;
      if (!is_free(link)) {
        out_blocked = link;
        continue;
      }
      if (arrived_by_[static_cast<size_t>(next)] >= 0) continue;
      arrived_by_[static_cast<size_t>(next)] = link;
      reached_.push_back(next);
    }
  }
  if (arrived_by_[static_cast<size_t>(to)] < 0) return false;
  const auto begin = static_cast<std::ptrdiff_t>(out_path.size());
  for (int32_t node = to; node != from;) {
    const int32_t link = arrived_by_[static_cast<size_t>(node)];
    out_path.insert(out_path.begin() + begin, link);
    node = network_.links[static_cast<size_t>(link)].source;
  }
  return true;
}

}  // namespace lpt

struct lpt_topology {
  lpt::HandleKind kind = lpt::HandleKind::kTopology;
  std::shared_ptr<const lpt::Network> network;
};

namespace lpt {
using Topology = lpt_topology;
}
