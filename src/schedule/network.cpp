#include "src/schedule/network.hpp"

#include <algorithm>

#include "src/call/operation.hpp"

namespace lpt {
namespace {

constexpr double kMostLinkSeconds = 1e9;
constexpr double kMostLinkRate = 1e30;  // bytes per second
constexpr int32_t kMostAxes = 4;

Status check_node(const Network &network, int64_t index, const char *member, int32_t node) {
  if (node >= 0 && node < network.nodes()) return {};
  return invalid("%s.%s is %d: expected 0 to %d", item("links", index).c_str(), member, node, network.nodes() - 1);
}

Status check_links(Network &network) {
  network.numbers.reserve(network.links.size());
  for (size_t i = 0; i < network.links.size(); ++i) {
    const lpt_topology_link &link = network.links[i];
    const auto index = static_cast<int64_t>(i);
    const std::string name = item("links", index);
    LPT_TRY(check_node(network, index, "source", link.source));
    LPT_TRY(check_node(network, index, "target", link.target));
    if (link.source == link.target)
      return invalid("%s.target is %d: expected another node than source", name.c_str(), link.target);
    LPT_TRY(check_finite((name + ".latency_seconds").c_str(), link.latency_seconds, 0.0, kMostLinkSeconds));
    LPT_TRY(check_finite((name + ".bytes_per_second").c_str(), link.bytes_per_second, 0.0, kMostLinkRate));
    const auto [first, is_new] = network.numbers.emplace(pair_of(link.source, link.target), static_cast<int32_t>(i));
    if (is_new) continue;
    return invalid("%s is from node %d to node %d, as links[%d]: expected one link", name.c_str(), link.source,
                   link.target, first->second);
  }
  return {};
}

void list_links(Network &network) {
  const auto nodes = static_cast<size_t>(network.nodes());
  network.outgoing.assign(nodes, {});
  network.incoming.assign(nodes, {});
  const auto opposite_of = [&](const lpt_topology_link &link) {
    return network.numbers.find(pair_of(link.target, link.source));
  };
  for (size_t i = 0; i < network.links.size(); ++i) {
    const lpt_topology_link &link = network.links[i];
    network.outgoing[static_cast<size_t>(link.source)].push_back(static_cast<int32_t>(i));
    const auto opposite = opposite_of(link);
    if (opposite != network.numbers.end())
      network.incoming[static_cast<size_t>(link.source)].push_back(opposite->second);
  }
  for (size_t i = 0; i < network.links.size(); ++i) {
    const lpt_topology_link &link = network.links[i];
    if (opposite_of(link) == network.numbers.end()) {
      network.incoming[static_cast<size_t>(link.target)].push_back(static_cast<int32_t>(i));
    }
  }
}

// Returns the number of links from `node` to each node, or to `node` if `is_backward`; -1: unreachable.
std::vector<int32_t> distances_of(const Network &network, int32_t node, bool is_backward) {
  std::vector<int32_t> distances(static_cast<size_t>(network.nodes()), -1), reached = {node};
  distances[static_cast<size_t>(node)] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    const auto here = static_cast<size_t>(reached[i]);
    for (const int32_t link : is_backward ? network.incoming[here] : network.outgoing[here]) {
      const lpt_topology_link &ends = network.links[static_cast<size_t>(link)];
      const int32_t next = is_backward ? ends.source : ends.target;
      if (distances[static_cast<size_t>(next)] >= 0) continue;
      distances[static_cast<size_t>(next)] = distances[here] + 1;
      reached.push_back(next);
    }
  }
  return distances;
}

// Shapes.

class NetworkBuilder {
 public:
  NetworkBuilder(const lpt_cost_link &link, const lpt_cost_link &upper_link, Network &network)
      : link_(link), upper_link_(upper_link), network_(network) {}

  void add_grid(bool has_wrap) {
    int64_t after = network_.ranks;
    std::vector<int64_t> steps;  // between neighbors of each axis
    for (const int64_t extent : network_.extents) steps.push_back(after /= extent);
    for (int32_t rank = 0; rank < network_.ranks; ++rank) {
      for (size_t axis = 0; axis < steps.size(); ++axis)
        add_neighbors(rank, network_.extents[axis], steps[axis], has_wrap);
    }
  }

  void add_complete(int32_t first, int32_t count, const lpt_cost_link &link) {
    for (int32_t i = 0; i < count; ++i) {
      for (int32_t j = 0; j < count; ++j) {
        if (i != j) add(first + i, first + j, link);
      }
    }
  }

  // `groups` switches, each with the same number of ranks.
  void add_switches(int32_t groups) {
    const int32_t group_ranks = network_.ranks / groups;
    for (int32_t rank = 0; rank < network_.ranks; ++rank) add_both(network_.ranks + rank / group_ranks, rank, link_);
  }

  void add_spines(int32_t leaves, int32_t spines) {
    for (int32_t leaf = 0; leaf < leaves; ++leaf) {
      for (int32_t spine = 0; spine < spines; ++spine) {
        add_both(network_.ranks + leaf, network_.ranks + leaves + spine, upper_link_);
      }
    }
  }

  void add_sites(int32_t sites) {
    const int32_t site_ranks = network_.ranks / sites;
    for (int32_t site = 0; site < sites; ++site) add_complete(site * site_ranks, site_ranks, link_);
    add_switches(sites);
    add_complete(network_.ranks, sites, upper_link_);
  }

 private:
  void add(int64_t from, int64_t to, const lpt_cost_link &link) {
    network_.links.push_back(
        {static_cast<int32_t>(from), static_cast<int32_t>(to), link.latency_seconds, link.bytes_per_second});
  }

  void add_both(int32_t a, int32_t b, const lpt_cost_link &link) {
    add(a, b, link);
    add(b, a, link);
  }

  void add_neighbors(int32_t rank, int64_t extent, int64_t step, bool has_wrap) {
    const int64_t at = rank / step % extent;
    const bool has_next = at + 1 < extent || has_wrap, has_previous = at > 0 || has_wrap;
    if (extent == 1) return;
    const int64_t next = rank + ((at + 1) % extent - at) * step,
                  previous = rank + ((at + extent - 1) % extent - at) * step;
    if (has_next) add(rank, next, link_);
    if (has_previous && (next != previous || !has_next)) add(rank, previous, link_);
  }

  const lpt_cost_link &link_, &upper_link_;
  Network &network_;
};

Status check_cost_link(const char *name, const lpt_cost_link &link) {
  const std::string prefix = std::string(name) + "->";
  LPT_TRY(check_finite((prefix + "latency_seconds").c_str(), link.latency_seconds, 0.0, kMostLinkSeconds));
  LPT_TRY(check_finite((prefix + "bytes_per_second").c_str(), link.bytes_per_second, 0.0, kMostLinkRate));
  return check_finite((prefix + "reduce_bytes_per_second").c_str(), link.reduce_bytes_per_second, 0.0, 0.0);
}

// Multiplies extents from `begin` on; each is at least 1.
Status product_of(const std::vector<int64_t> &extents, size_t begin, const char *what, int64_t most, int64_t &out) {
  out = 1;
  for (size_t i = begin; i < extents.size(); ++i) {
    if (extents[i] < 1 || extents[i] > most) {
      return invalid("%s is %lld: expected 1 to %lld", item("extents", static_cast<int64_t>(i)).c_str(),
                     number(extents[i]), number(most));
    }
    out *= extents[i];
    if (out > most) return invalid("extents have %lld %s: expected at most %lld", number(out), what, number(most));
  }
  return {};
}

Status check_extents(lpt_topology_kind kind, const int64_t *extents, int32_t count) {
  constexpr struct { int32_t least, most; } kCounts[] = {{1, kMostAxes}, {1, kMostAxes}, {1, 1}, {3, 3}, {2, 2}};
  LPT_TRY(check_choice("kind", kind, LPT_TOPOLOGY_KIND_TWO_LEVEL));
  const auto [least, most] = kCounts[kind];
  if (count < least || count > most) {
    return invalid("extent_count is %d: expected %d to %d with this kind", count, least, most);
  }
  return extents != nullptr ? Status() : invalid("extents is NULL: expected an array of %d extents", count);
}

}  // namespace

Status connect(Network &network) {
  LPT_TRY(check_links(network));
  list_links(network);
  for (const bool is_backward : {false, true}) {
    const std::vector<int32_t> distances = distances_of(network, 0, is_backward);
    const auto lost = std::find(distances.begin(), distances.begin() + network.ranks, -1);
    if (lost == distances.begin() + network.ranks) continue;
    const auto rank = static_cast<int32_t>(lost - distances.begin());
    return invalid("links have no path from rank %d to rank %d: expected one between all ranks", is_backward ? rank : 0,
                   is_backward ? 0 : rank);
  }
  return {};
}

Status make_network(lpt_topology_kind kind, const int64_t *extents, int32_t extent_count, const lpt_cost_link &link,
                    const lpt_cost_link &upper_link, Network &out_network) {
  LPT_TRY(check_extents(kind, extents, extent_count));
  LPT_TRY(check_cost_link("link", link));
  LPT_TRY(check_cost_link("upper_link", upper_link));
  Network &network = out_network;
  network.kind = kind;
  network.extents.assign(extents, extents + extent_count);
  const bool is_fat_tree = kind == LPT_TOPOLOGY_KIND_FAT_TREE;
  int64_t ranks = 0;
  LPT_TRY(product_of(network.extents, is_fat_tree ? 1 : 0, "ranks", kMostScheduleRanks, ranks));
  network.ranks = static_cast<int32_t>(ranks);
  const auto first = static_cast<int32_t>(extents[0]);
  NetworkBuilder builder(link, upper_link, network);
  switch (kind) {
    case LPT_TOPOLOGY_KIND_FULLY_CONNECTED:
      builder.add_complete(0, network.ranks, link);
      break;
    case LPT_TOPOLOGY_KIND_FAT_TREE: {
      const auto leaves = static_cast<int32_t>(extents[1]);
      if (extents[0] < 1 || extents[0] > kMostSwitches - leaves) {
        return invalid("extents[0] is %lld: expected 1 to %d", number(extents[0]), kMostSwitches - leaves);
      }
      network.switches = leaves + first;
      builder.add_switches(leaves);
      builder.add_spines(leaves, first);
      break;
    }
    case LPT_TOPOLOGY_KIND_TWO_LEVEL:
      network.switches = first;
      builder.add_sites(first);
      break;
    default:
      builder.add_grid(kind == LPT_TOPOLOGY_KIND_TORUS);
  }
  return connect(network);
}

Router::Router(const Network &network)
    : network_(network),
      distances_(static_cast<size_t>(network.nodes())),
      arrived_by_(static_cast<size_t>(network.nodes()), -1) {}

const std::vector<int32_t> &Router::distances_to(int32_t node) {
  std::vector<int32_t> &distances = distances_[static_cast<size_t>(node)];
  if (distances.empty()) distances = distances_of(network_, node, true);
  return distances;
}

}  // namespace lpt
