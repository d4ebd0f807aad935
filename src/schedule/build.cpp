// The sends of each algorithm.
#include <bit>

#include "src/call/operation.hpp"
#include "src/schedule/placement.hpp"

namespace lpt {
namespace {

constexpr int32_t kMostTreeChunks = 1024;
constexpr lpt_schedule_operation kAdd = LPT_SCHEDULE_OPERATION_ADD, kCopy = LPT_SCHEDULE_OPERATION_COPY;

// Ring.

// Returns the ranks of a grid, neighbors one after another: the coordinates count up, then down.
std::vector<int32_t> snake_of(const std::vector<int64_t> &extents) {
  std::vector<int32_t> order = {0};
  for (const int64_t extent : extents) {
    std::vector<int32_t> next;
    for (size_t i = 0; i < order.size(); ++i) {
      for (int64_t j = 0; j < extent; ++j) {
        const int64_t at = i % 2 == 0 ? j : extent - 1 - j;
        next.push_back(static_cast<int32_t>(order[i] * extent + at));
      }
    }
    order = std::move(next);
  }
  return order;
}

// Returns a cycle of neighbors of a grid of `lines` times the ranks of a snake; `lines` is even. It goes through all lines
// without their first rank, and back through the first ranks.
template <typename RankAt>
std::vector<int32_t> cycle_of(int64_t lines, int64_t length, const RankAt &rank_at) {
  std::vector<int32_t> order;
  for (int64_t line = 0; line < lines; ++line) {
    for (int64_t i = 1; i < length; ++i) order.push_back(rank_at(line, line % 2 == 0 ? i : length - i));
  }
  for (int64_t line = lines; line-- > 0;) order.push_back(rank_at(line, 0));
  return order;
}

std::vector<int32_t> ring_of(const Network &network) {
  std::vector<int32_t> order;
  if (network.kind != LPT_TOPOLOGY_KIND_TORUS && network.kind != LPT_TOPOLOGY_KIND_MESH) {
    for (int32_t rank = 0; rank < network.ranks; ++rank) order.push_back(rank);
    return order;
  }
  int64_t after = network.ranks;  // ranks between neighbors of the axis
  for (size_t axis = 0; axis < network.extents.size(); ++axis) {
    const int64_t lines = network.extents[axis], length = network.ranks / lines;
    after /= lines;
    if (lines % 2 != 0 || length == 1) continue;
    std::vector<int64_t> others = network.extents;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(axis));
    const std::vector<int32_t> snake = snake_of(others);
    return cycle_of(lines, length, [&, step = after](int64_t line, int64_t i) {
      const int64_t other = snake[static_cast<size_t>(i)];
      return static_cast<int32_t>((other / step * lines + line) * step + other % step);
    });
  }
  return snake_of(network.extents);
}

void build_ring(const SendPlan &plan, SendPlacer &placer) {
  const std::vector<int32_t> ring = ring_of(*plan.network);
  const auto ranks = static_cast<int32_t>(ring.size());
  for (const auto operation : {kAdd, kCopy}) {
    for (int32_t step = 0; step + 1 < ranks; ++step) {
      for (int32_t i = 0; i < ranks; ++i) {
        const int32_t chunk = (i - step + (operation == kAdd ? 0 : 1) + ranks) % ranks;
        placer.place(ring[static_cast<size_t>(i)], ring[static_cast<size_t>((i + 1) % ranks)], chunk, 1, operation);
      }
    }
  }
}

// Double binary tree.

// Returns the parent in a tree that is ordered by rank: a rank with the lowest set bit b has children at distance b / 2. Rank 0
// is the root, so that all odd ranks are leaves. Returns -1 for the root.
int32_t parent_of(int32_t rank, int32_t ranks) {
  if (rank == 0) return -1;
  const int32_t bit = rank & -rank;
  const int32_t above = (rank - bit) | (bit << 1);
  return above < ranks ? above : rank - bit;
}

// Ranks of a tree with every parent before its children.
std::vector<int32_t> ranks_from_root(int32_t ranks) {
  std::vector<int32_t> order = {0};
  for (auto bit = static_cast<int32_t>(std::bit_floor(static_cast<uint32_t>(ranks))); bit > 0; bit /= 2) {
    for (int32_t rank = bit; rank < ranks; rank += 2 * bit) order.push_back(rank);
  }
  return order;
}

// The second tree is the first with all ranks shifted by one, which exchanges odd and even ranks; with an odd number of ranks
// one rank adds in both.
void build_double_tree(const SendPlan &plan, SendPlacer &placer) {
  const int32_t ranks = plan.network->ranks, tree_chunks = plan.chunk_count / 2;
  const std::vector<int32_t> order = ranks_from_root(ranks);
  for (int32_t chunk = 0; chunk < tree_chunks; ++chunk) {
    for (const int32_t shift : {0, 1}) {
      const int32_t index = shift * tree_chunks + chunk;
      const auto send = [&](int32_t from, int32_t to, lpt_schedule_operation operation) {
        placer.place((from + shift) % ranks, (to + shift) % ranks, index, 1, operation);
      };
      for (size_t i = order.size(); i-- > 1;) send(order[i], parent_of(order[i], ranks), kAdd);
      for (size_t i = 1; i < order.size(); ++i) send(parent_of(order[i], ranks), order[i], kCopy);
    }
  }
}

// Recursive halving and doubling, on the largest power of two of ranks. Each other rank gives its part to one of them, and gets
// the result from it.
void build_halving(const SendPlan &plan, SendPlacer &placer) {
  const int32_t ranks = plan.network->ranks, count = plan.chunk_count;
  for (int32_t rank = count; rank < ranks; ++rank) placer.place(rank, rank - count, 0, count, kAdd);
  const auto exchange = [&](int32_t distance, lpt_schedule_operation operation) {
    for (int32_t rank = 0; rank < count; ++rank) {
      const int32_t own = rank & -distance, partner = rank ^ distance;  // first chunk of this rank after the step
      placer.place(rank, partner, operation == kAdd ? partner & -distance : own, distance, operation);
    }
  };
  for (int32_t distance = count / 2; distance > 0; distance /= 2) exchange(distance, kAdd);
  for (int32_t distance = 1; distance < count; distance *= 2) exchange(distance, kCopy);
  for (int32_t rank = count; rank < ranks; ++rank) placer.place(rank - count, rank, 0, count, kCopy);
}

// Hierarchical: member i of group g sums chunk i · groups + g. Within a group, each rank receives the chunks of its index
// directly from the others; then ranks with the same index exchange them directly.
void build_hierarchical(const SendPlan &plan, int32_t members, SendPlacer &placer) {
  const int32_t ranks = plan.network->ranks, groups = ranks / members;
  // Calls send(a, b) for each rank a and the others of its group, nearest first; is_across: those of its index in other groups.
  const auto for_pairs = [&](bool is_across, const auto &send) {
    for (int32_t distance = 1; distance < (is_across ? groups : members); ++distance) {
      for (int32_t rank = 0; rank < ranks; ++rank) {
        const int32_t group = rank / members, index = rank % members;
        send(rank, is_across ? (group + distance) % groups * members + index
                             : group * members + (index + distance) % members);
      }
    }
  };
  const auto chunk_of = [&](int32_t rank) { return rank % members * groups + rank / members; };
  for_pairs(false, [&](int32_t a, int32_t b) { placer.place(a, b, b % members * groups, groups, kAdd); });
  for_pairs(true, [&](int32_t a, int32_t b) { placer.place(a, b, chunk_of(b), 1, kAdd); });
  for_pairs(true, [&](int32_t a, int32_t b) { placer.place(a, b, chunk_of(a), 1, kCopy); });
  for_pairs(false, [&](int32_t a, int32_t b) { placer.place(a, b, a % members * groups, groups, kCopy); });
}

Status find_members(const lpt_schedule_options &options, const Network &network, int32_t &out_members) {
  out_members = options.group_ranks;
  if (out_members == 0 && !network.extents.empty()) out_members = static_cast<int32_t>(network.extents.back());
  if (out_members >= 1 && network.ranks % out_members == 0) return {};
  return invalid("options->group_ranks is %d: expected a divisor of %d, the ranks of topology%s", options.group_ranks,
                 network.ranks, options.group_ranks == 0 ? ", which has no extents" : "");
}

}  // namespace

Status build_sends(const lpt_schedule_options &options, SendPlan &plan) {
  const Network &network = *plan.network;
  int32_t members = 0;
  LPT_TRY(check_choice("algorithm", plan.algorithm, LPT_SCHEDULE_ALGORITHM_HIERARCHICAL));
  if (options.tree_chunks < 1 || options.tree_chunks > kMostTreeChunks) {
    return invalid("options->tree_chunks is %d: expected 1 to %d", options.tree_chunks, kMostTreeChunks);
  }
  plan.chunk_count = network.ranks;
  if (plan.algorithm == LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE) plan.chunk_count = 2 * options.tree_chunks;
  if (plan.algorithm == LPT_SCHEDULE_ALGORITHM_HALVING) {
    plan.chunk_count = static_cast<int32_t>(std::bit_floor(static_cast<uint32_t>(network.ranks)));
  }
  if (plan.algorithm == LPT_SCHEDULE_ALGORITHM_HIERARCHICAL) LPT_TRY(find_members(options, network, members));
  SendPlacer placer(plan);
  switch (plan.algorithm) {
    case LPT_SCHEDULE_ALGORITHM_MULTITREE:
      build_multitree(network, placer);
      break;
    case LPT_SCHEDULE_ALGORITHM_RING:
      build_ring(plan, placer);
      break;
    case LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE:
      build_double_tree(plan, placer);
      break;
    case LPT_SCHEDULE_ALGORITHM_HALVING:
      build_halving(plan, placer);
      break;
    default:
      build_hierarchical(plan, members, placer);
  }
  placer.finish(plan);
  return {};
}

}  // namespace lpt
