// MultiTree: one tree for each rank, which grow together. A step of the growth uses every link once at most.
#include <algorithm>

#include "src/schedule/placement.hpp"

namespace lpt {
namespace {

struct TreeEdge {
  int32_t root, parent, child, step;
  std::vector<int32_t> path;  // from parent to child; against the links if they are reversed
};

class TreeGrowth {
 public:
  // Trees along the links distribute chunks; trees against them collect chunks.
  TreeGrowth(const Network &network, bool is_reversed)
      : network_(network),
        is_reversed_(is_reversed),
        used_in_(network.links.size(), -1),
        dead_in_(static_cast<size_t>(network.ranks) * static_cast<size_t>(network.switches), -1),
        reached_in_(static_cast<size_t>(network.nodes()), -1),
        reached_by_(static_cast<size_t>(network.nodes()), -1),
        trees_(static_cast<size_t>(network.ranks)) {
    for (int32_t root = 0; root < network.ranks; ++root) {
      trees_[static_cast<size_t>(root)] = {{{root}}, std::vector<bool>(static_cast<size_t>(network.ranks), false), 1};
      trees_[static_cast<size_t>(root)].has_joined[static_cast<size_t>(root)] = true;
    }
  }

  std::vector<TreeEdge> grow() {
    const auto is_partial = [&](const Tree &tree) { return tree.size < network_.ranks; };
    for (step_ = 0; std::any_of(trees_.begin(), trees_.end(), is_partial); ++step_) {
      std::vector<int32_t> growing;  // roots whose tree may still grow in this step
      for (int32_t root = 0; root < network_.ranks; ++root) growing.push_back(root);
      std::vector<Candidates> candidates;  // ranks that join in this step are no parents in it
      for (const Tree &tree : trees_) candidates.push_back({0, tree.parents.size()});
      while (!growing.empty()) {
        std::erase_if(growing, [&](int32_t root) { return !extend(root, candidates[static_cast<size_t>(root)]); });
      }
    }
    return std::move(edges_);
  }

 private:
  struct Parent {
    int32_t rank;
    size_t first_link = 0;  // links before it lead to ranks of the tree
  };

  struct Tree {
    std::vector<Parent> parents;  // in the order in which they joined, without those that have no rank left to reach
    std::vector<bool> has_joined;
    int32_t size;
  };

  // Parents of a tree in one step. Those before `next` stay blocked, as no link becomes free in the step.
  struct Candidates {
    size_t next, end;
  };

  enum class Outcome : uint8_t { kGrown, kBlocked, kExhausted };

  // Adds at most one rank to the tree. Returns false if it cannot grow in this step.
  bool extend(int32_t root, Candidates &these) {
    Tree &tree = trees_[static_cast<size_t>(root)];
    while (these.next < these.end) {
      const Outcome outcome = extend_at(root, tree, tree.parents[these.next]);
      if (outcome == Outcome::kGrown) return true;
      if (outcome == Outcome::kBlocked) {
        ++these.next;
        continue;
      }
      tree.parents.erase(tree.parents.begin() + static_cast<std::ptrdiff_t>(these.next));
      --these.end;
    }
    return false;
  }

  // Searches the nearest rank outside of the tree, through switches, over links that are free in this step.
  Outcome extend_at(int32_t root, Tree &tree, Parent &parent) {
    bool is_blocked = false;
    const std::vector<int32_t> &own = links_of(parent.rank);
    while (parent.first_link < own.size() && is_in(tree, next_of(own[parent.first_link]))) ++parent.first_link;
    ++search_;
    reached_.assign(1, parent.rank);
    reached_in_[static_cast<size_t>(parent.rank)] = search_;
    for (size_t i = 0; i < reached_.size(); ++i) {
      const std::vector<int32_t> &links = links_of(reached_[i]);
      for (size_t j = i == 0 ? parent.first_link : 0; j < links.size(); ++j) {
        const int32_t link = links[j], next = next_of(link);
        if (is_in(tree, next)) continue;
        if (reached_in_[static_cast<size_t>(next)] == search_) continue;
        if (used_in_[static_cast<size_t>(link)] == step_ || is_dead(root, next)) {
          is_blocked = true;
          continue;
        }
        reached_in_[static_cast<size_t>(next)] = search_;
        reached_by_[static_cast<size_t>(next)] = link;
        if (!network_.is_rank(next)) {
          reached_.push_back(next);
          continue;
        }
        join(root, tree, parent.rank, next);
        return Outcome::kGrown;
      }
    }
    for (size_t i = 1; i < reached_.size(); ++i) dead_in_[index_of(root, reached_[i])] = step_;
    return is_blocked ? Outcome::kBlocked : Outcome::kExhausted;
  }

  // A switch from which a search of this tree has found no rank in this step.
  bool is_dead(int32_t root, int32_t node) const {
    return !network_.is_rank(node) && dead_in_[index_of(root, node)] == step_;
  }

  size_t index_of(int32_t root, int32_t node) const {
    return static_cast<size_t>(root) * static_cast<size_t>(network_.switches) +
           static_cast<size_t>(node - network_.ranks);
  }

  void join(int32_t root, Tree &tree, int32_t parent, int32_t child) {
    TreeEdge edge{root, parent, child, step_, {}};
    for (int32_t node = child; node != parent;) {
      const int32_t link = reached_by_[static_cast<size_t>(node)];
      used_in_[static_cast<size_t>(link)] = step_;
      edge.path.push_back(link);
      const lpt_topology_link &ends = network_.links[static_cast<size_t>(link)];
      node = is_reversed_ ? ends.target : ends.source;
    }
    if (!is_reversed_) std::reverse(edge.path.begin(), edge.path.end());
    edges_.push_back(std::move(edge));
    tree.parents.push_back({child});
    tree.has_joined[static_cast<size_t>(child)] = true;
    ++tree.size;
  }

  bool is_in(const Tree &tree, int32_t node) const {
    return network_.is_rank(node) && tree.has_joined[static_cast<size_t>(node)];
  }

  const std::vector<int32_t> &links_of(int32_t node) const {
    return (is_reversed_ ? network_.incoming : network_.outgoing)[static_cast<size_t>(node)];
  }

  int32_t next_of(int32_t link) const {
    const lpt_topology_link &ends = network_.links[static_cast<size_t>(link)];
    return is_reversed_ ? ends.source : ends.target;
  }

  const Network &network_;
  const bool is_reversed_;
  int32_t step_ = 0;
  std::vector<int32_t> used_in_;  // last step that uses each link
  std::vector<int32_t> dead_in_;  // last step in which each switch was dead for each tree
  int64_t search_ = 0;
  std::vector<int64_t> reached_in_;  // last search that reached each node
  std::vector<int32_t> reached_by_;
  std::vector<int32_t> reached_;
  std::vector<Tree> trees_;
  std::vector<TreeEdge> edges_;
};

}  // namespace

void build_multitree(const Network &network, SendPlacer &placer) {
  const std::vector<TreeEdge> collecting = TreeGrowth(network, true).grow();
  const int32_t adds = collecting.empty() ? 0 : collecting.back().step + 1;
  for (const TreeEdge &edge : collecting) {
    placer.add({adds - 1 - edge.step, edge.child, edge.parent, edge.root, 1, LPT_SCHEDULE_OPERATION_ADD}, edge.path);
  }
  for (const TreeEdge &edge : TreeGrowth(network, false).grow()) {
    placer.add({adds + edge.step, edge.parent, edge.child, edge.root, 1, LPT_SCHEDULE_OPERATION_COPY}, edge.path);
  }
}

}  // namespace lpt
