// Schedules of all-reduces: steps against published ones, every schedule against a symbolic all-reduce, and simulated times
// against closed forms and the definition.
#include <bitset>
#include <cmath>
#include <map>
#include <set>

#include "tests/api/schedules.hpp"

namespace lpt::test {
namespace {

// Symbolic all-reduce: the set of ranks whose parts are in each chunk of each rank.

constexpr size_t kMostTestRanks = 256;
using Parts = std::bitset<kMostTestRanks>;

void expect_all_reduce(const SendList &list) {
  const int32_t ranks = list.info.rank_count;
  std::vector<std::vector<Parts>> held(static_cast<size_t>(ranks),
                                       std::vector<Parts>(static_cast<size_t>(list.info.chunk_count)));
  Parts all;
  for (size_t rank = 0; rank < held.size(); ++rank) {
    all.set(rank);
    for (Parts &parts : held[rank]) parts.set(rank);
  }
  for (size_t begin = 0, end = 0; begin < list.sends.size(); begin = end) {
    std::vector<Parts> sent;
    for (; end < list.sends.size() && list.sends[end].step == list.sends[begin].step; ++end) {
      const lpt_schedule_send &send = list.sends[end];
      for (int32_t c = 0; c < send.chunk_count; ++c) {
        sent.push_back(held[static_cast<size_t>(send.source)][static_cast<size_t>(send.first_chunk + c)]);
      }
    }
    size_t next = 0;
    for (size_t i = begin; i < end; ++i) {
      const lpt_schedule_send &send = list.sends[i];
      for (int32_t c = 0; c < send.chunk_count; ++c) {
        Parts &to = held[static_cast<size_t>(send.target)][static_cast<size_t>(send.first_chunk + c)];
        const Parts &from = sent[next++];
        if (send.operation == LPT_SCHEDULE_OPERATION_ADD) {
          ASSERT_TRUE((to & from).none()) << "send " << i << " adds a part twice";
          to |= from;
        } else {
          ASSERT_TRUE(from == all) << "send " << i << " copies a part of the sum";
          ASSERT_FALSE(to == all) << "send " << i << " copies what its rank has";
          to = from;
        }
      }
    }
  }
  for (const auto &chunks : held) {
    for (const Parts &parts : chunks) ASSERT_TRUE(parts == all);
  }
}

// Each path leads from rank to rank, and no link is used twice in a step.
void expect_free_paths(const SendList &list, const std::vector<lpt_topology_link> &links) {
  std::set<std::pair<int32_t, int32_t>> used;  // step, link
  int32_t last = 0;
  for (size_t i = 0; i < list.sends.size(); ++i) {
    const lpt_schedule_send &send = list.sends[i];
    ASSERT_GE(send.step, last);
    last = send.step;
    int32_t node = send.source;
    for (const int32_t link : list.paths[i]) {
      ASSERT_EQ(node, links[static_cast<size_t>(link)].source);
      node = links[static_cast<size_t>(link)].target;
      ASSERT_TRUE(used.emplace(send.step, link).second) << "link " << link << " in step " << send.step;
    }
    ASSERT_EQ(send.target, node);
  }
  EXPECT_EQ(list.sends.empty() ? 0 : last + 1, list.info.step_count);
}

void expect_valid(lpt_context *context, const Topology &topology, const SendList &list) {
  expect_all_reduce(list);
  expect_free_paths(list, links_of(context, topology.get()));
}

// Published steps.

struct TableRow {
  lpt_topology_kind kind;
  std::vector<int64_t> extents;
  int32_t ranks, links, steps, bound, ring_steps;
};

// Steps of each phase, by the algorithm of the paper with neighbors in the order +y, -y, +x, -x.
TEST(MultiTree, TakesTheStepsOfThePaper) {
  const Context context = make_context();
  const TableRow rows[] = {{LPT_TOPOLOGY_KIND_MESH, {2, 2}, 4, 8, 2, 2, 3},
                           {LPT_TOPOLOGY_KIND_TORUS, {4, 4}, 16, 64, 5, 4, 15},
                           {LPT_TOPOLOGY_KIND_MESH, {4, 4}, 16, 48, 10, 5, 15},
                           {LPT_TOPOLOGY_KIND_TORUS, {8, 8}, 64, 256, 17, 16, 63},
                           {LPT_TOPOLOGY_KIND_MESH, {8, 8}, 64, 224, 32, 18, 63},
                           {LPT_TOPOLOGY_KIND_TORUS, {8}, 8, 16, 4, 4, 7},
                           {LPT_TOPOLOGY_KIND_TORUS, {16}, 16, 32, 8, 8, 15},
                           {LPT_TOPOLOGY_KIND_FULLY_CONNECTED, {8}, 8, 56, 1, 1, 7},
                           {LPT_TOPOLOGY_KIND_TORUS, {16, 16}, 256, 1024, 64, 64, 255}};
  for (const TableRow &row : rows) {
    SCOPED_TRACE(testing::Message() << row.kind << ", " << row.ranks);
    const Topology topology = make_topology(context.get(), row.kind, row.extents);
    const SendList trees =
        list_of(context.get(), make_schedule(context.get(), topology, LPT_SCHEDULE_ALGORITHM_MULTITREE).get());
    const SendList ring =
        list_of(context.get(), make_schedule(context.get(), topology, LPT_SCHEDULE_ALGORITHM_RING).get());
    EXPECT_EQ(row.ranks, trees.info.rank_count);
    EXPECT_EQ(static_cast<size_t>(row.links), links_of(context.get(), topology.get()).size());
    EXPECT_EQ(row.steps, trees.info.add_step_count);
    EXPECT_EQ(row.steps, trees.info.copy_step_count);
    EXPECT_EQ(2 * row.steps, trees.info.step_count);
    EXPECT_EQ(row.bound, trees.info.least_step_count);
    EXPECT_EQ(int64_t{2} * row.ranks * (row.ranks - 1), trees.info.send_count);
    EXPECT_EQ(trees.info.send_count, trees.info.hop_count);
    EXPECT_EQ(row.ring_steps, ring.info.add_step_count);
    EXPECT_EQ(row.ring_steps, ring.info.copy_step_count);
    EXPECT_EQ(ring.info.send_count, ring.info.hop_count);
    expect_valid(context.get(), topology, trees);
    expect_valid(context.get(), topology, ring);
  }
}

// Any topology.

// A cycle through all ranks, and random links between ranks and switches, most of them in one direction.
Topology random_topology(lpt_context *context, Random &random) {
  const auto ranks = static_cast<int32_t>(1 + random.below(12)), switches = static_cast<int32_t>(random.below(4));
  std::vector<lpt_topology_link> links;
  std::set<std::pair<int32_t, int32_t>> known;
  const auto add = [&](int32_t from, int32_t to) {
    if (from == to || !known.emplace(from, to).second) return;
    links.push_back(
        {from, to, 1e-6 * static_cast<double>(random.below(9)), 1e9 * static_cast<double>(random.below(4))});
  };
  for (int32_t rank = 0; rank < ranks; ++rank) add(rank, (rank + 1) % ranks);
  for (int64_t i = random.below(30); i > 0; --i) {
    add(static_cast<int32_t>(random.below(ranks + switches)), static_cast<int32_t>(random.below(ranks + switches)));
  }
  Topology topology;
  EXPECT_TRUE(ok(context, lpt_topology_create_graph(context, ranks, switches, links.data(),
                                                    static_cast<int64_t>(links.size()), out(topology))));
  return topology;
}

// Returns a time by the definition: each send waits for all sends that bring its chunks, and for those before it on its links.
double seconds_by_definition(const SendList &list, const std::vector<lpt_topology_link> &links, double bytes) {
  struct Flight {
    std::map<int32_t, double> ends;  // when each link is free again
    double arrival;
  };
  std::vector<Flight> flights;
  double last = 0.0;
  for (size_t i = 0; i < list.sends.size(); ++i) {
    const lpt_schedule_send &send = list.sends[i];
    double start = 0.0, byte_seconds = 0.0;
    for (const int32_t link : list.paths[i]) {
      const double rate = links[static_cast<size_t>(link)].bytes_per_second;
      if (rate > 0.0) byte_seconds = std::max(byte_seconds, 1.0 / rate);
    }
    for (size_t j = 0; j < i; ++j) {
      const lpt_schedule_send &other = list.sends[j];
      const bool has_chunk = other.first_chunk < send.first_chunk + send.chunk_count &&
                             send.first_chunk < other.first_chunk + other.chunk_count;
      if (other.step < send.step && other.target == send.source && has_chunk)
        start = std::max(start, flights[j].arrival);
      double delay = 0.0;
      for (const int32_t link : list.paths[i]) {
        const auto end = flights[j].ends.find(link);
        if (end != flights[j].ends.end()) start = std::max(start, end->second - delay);
        delay += links[static_cast<size_t>(link)].latency_seconds;
      }
    }
    const double occupied = send.chunk_count * (bytes / list.info.chunk_count) * byte_seconds;
    Flight flight{{}, start};
    for (const int32_t link : list.paths[i]) {
      flight.ends[link] = flight.arrival + occupied;
      flight.arrival += links[static_cast<size_t>(link)].latency_seconds;
    }
    flight.arrival += occupied;
    last = std::max(last, flight.arrival);
    flights.push_back(flight);
  }
  return last;
}

double simulated(lpt_context *context, const Schedule &schedule, double bytes, double reduce_rate = 0.0) {
  double seconds = -1.0;
  EXPECT_TRUE(ok(context, lpt_schedule_simulate(context, schedule.get(), bytes, reduce_rate, 0, &seconds, nullptr)));
  return seconds;
}

void expect_all_algorithms(lpt_context *context, const Topology &topology, int32_t group_ranks) {
  for (const lpt_schedule_algorithm algorithm : kScheduleAlgorithms) {
    for (const int32_t tree_chunks : {1, 3}) {
      if (algorithm != LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE && tree_chunks > 1) continue;
      SCOPED_TRACE(testing::Message() << "algorithm " << algorithm << ", chunks " << tree_chunks);
      const Schedule schedule = make_schedule(context, topology, algorithm, group_ranks, tree_chunks);
      const SendList list = list_of(context, schedule.get());
      EXPECT_EQ(algorithm, list.info.algorithm);
      expect_valid(context, topology, list);
      const double expected = seconds_by_definition(list, links_of(context, topology.get()), 1e6);
      EXPECT_NEAR(expected, simulated(context, schedule, 1e6), 1e-12 * expected);
      // A list of the same sends is verified again. Its paths may differ, as another order of the search leaves other links.
      Schedule again;
      const lpt_status status = lpt_schedule_create_sends(context, topology.get(), list.info.chunk_count,
                                                          list.sends.data(), list.info.send_count, out(again));
      if (list.info.hop_count == list.info.send_count) {
        EXPECT_TRUE(ok(context, status));
      }
    }
  }
}

TEST(Schedule, IsAnAllReduceOnEveryTopology) {
  const Context context = make_context();
  const std::pair<lpt_topology_kind, std::vector<int64_t>> shapes[] = {
      {LPT_TOPOLOGY_KIND_TORUS, {1}},          {LPT_TOPOLOGY_KIND_TORUS, {2, 2}},
      {LPT_TOPOLOGY_KIND_TORUS, {3, 5}},       {LPT_TOPOLOGY_KIND_TORUS, {3, 2, 3}},
      {LPT_TOPOLOGY_KIND_TORUS, {2, 1, 2, 3}}, {LPT_TOPOLOGY_KIND_MESH, {7}},
      {LPT_TOPOLOGY_KIND_MESH, {3, 3}},        {LPT_TOPOLOGY_KIND_MESH, {3, 4}},
      {LPT_TOPOLOGY_KIND_MESH, {3, 3, 2}},     {LPT_TOPOLOGY_KIND_FULLY_CONNECTED, {6}},
      {LPT_TOPOLOGY_KIND_FAT_TREE, {2, 3, 4}}, {LPT_TOPOLOGY_KIND_FAT_TREE, {1, 1, 5}},
      {LPT_TOPOLOGY_KIND_TWO_LEVEL, {3, 4}},   {LPT_TOPOLOGY_KIND_TWO_LEVEL, {1, 1}},
      {LPT_TOPOLOGY_KIND_TWO_LEVEL, {4, 1}}};
  for (const auto &[kind, extents] : shapes) {
    SCOPED_TRACE(testing::Message() << "kind " << kind << ", " << testing::PrintToString(extents));
    expect_all_algorithms(context.get(), make_topology(context.get(), kind, extents), 0);
  }
  Random random(1300);
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(testing::Message() << "graph " << i);
    const Topology topology = random_topology(context.get(), random);
    lpt_topology_info info = LPT_TOPOLOGY_INFO_INIT;
    ASSERT_TRUE(ok(context.get(), lpt_topology_read(context.get(), topology.get(), &info)));
    EXPECT_EQ(LPT_TOPOLOGY_KIND_GRAPH, info.kind);
    expect_all_algorithms(context.get(), topology, info.rank_count % 2 == 0 ? info.rank_count / 2 : 1);
  }
}

// The ring follows links, so that every send takes one of them, if the grid has a cycle through all ranks.
TEST(Ring, FollowsLinksOfGridsWithACycle) {
  const Context context = make_context();
  for (const std::vector<int64_t> &extents :
       {std::vector<int64_t>{2, 3}, {3, 4}, {5, 3, 2}, {3, 2, 5}, {1, 4, 3}, {2, 2, 2, 2}}) {
    const Topology topology = make_topology(context.get(), LPT_TOPOLOGY_KIND_MESH, extents);
    const SendList list =
        list_of(context.get(), make_schedule(context.get(), topology, LPT_SCHEDULE_ALGORITHM_RING).get());
    EXPECT_EQ(list.info.send_count, list.info.hop_count) << testing::PrintToString(extents);
    EXPECT_EQ(2 * (list.info.rank_count - 1), list.info.step_count) << testing::PrintToString(extents);
  }
}

// Simulated times.

TEST(SimulatedTime, HasTheClosedForms) {
  const Context context = make_context();
  constexpr double kLatency = 2e-6, kRate = 5e9, kReduceRate = 20e9, kBytes = 3e6;
  const lpt_cost_link link = cost_link(kLatency, kRate);
  for (const int64_t ranks : {2, 8, 16}) {
    SCOPED_TRACE(ranks);
    const Topology ring = make_topology(context.get(), LPT_TOPOLOGY_KIND_TORUS, {ranks}, &link);
    const Topology full = make_topology(context.get(), LPT_TOPOLOGY_KIND_FULLY_CONNECTED, {ranks}, &link);
    const double r = static_cast<double>(ranks), part = kBytes / r;
    const auto time_of = [&](const Topology &topology, lpt_schedule_algorithm algorithm) {
      return simulated(context.get(), make_schedule(context.get(), topology, algorithm), kBytes, kReduceRate);
    };
    // The formula of lpt_cost_estimate().
    const double of_ring = 2 * (r - 1) * (kLatency + part / kRate) + (r - 1) * part / kReduceRate;
    EXPECT_NEAR(of_ring, time_of(ring, LPT_SCHEDULE_ALGORITHM_RING), 1e-12);
    // Every rank sends to all others at once.
    const double of_trees = 2 * (kLatency + part / kRate) + (r - 1) * part / kReduceRate;
    EXPECT_NEAR(of_trees, time_of(full, LPT_SCHEDULE_ALGORITHM_MULTITREE), 1e-12);
    const double of_halving = 2 * (std::log2(r) * kLatency + (r - 1) * part / kRate) + (r - 1) * part / kReduceRate;
    EXPECT_NEAR(of_halving, time_of(full, LPT_SCHEDULE_ALGORITHM_HALVING), 1e-12);
  }
}

// Between S sites of M ranks each link carries M chunks of the payload over S · M, once per phase. The copies of the first ones
// follow the last additions without a gap, so that one latency remains.
TEST(SimulatedTime, OfALinkBetweenSitesIsThatOfItsBytes) {
  const Context context = make_context();
  constexpr int64_t kSites = 3, kMembers = 4;
  constexpr double kBytes = 6e6, kRate = 1e8, kLatency = 1e-2;
  const lpt_cost_link near = cost_link(0.0, 0.0), far = cost_link(kLatency, kRate);
  const Topology topology = make_topology(context.get(), LPT_TOPOLOGY_KIND_TWO_LEVEL, {kSites, kMembers}, &near, &far);
  const std::vector<lpt_topology_link> links = links_of(context.get(), topology.get());
  const Schedule schedule = make_schedule(context.get(), topology, LPT_SCHEDULE_ALGORITHM_HIERARCHICAL);
  std::vector<double> link_seconds(links.size(), -1.0);
  double seconds = 0.0;
  ASSERT_TRUE(
      ok(context.get(), lpt_schedule_simulate(context.get(), schedule.get(), kBytes, 0.0,
                                              static_cast<int64_t>(links.size()), &seconds, link_seconds.data())));
  const double phase = kBytes / kSites / kRate;
  for (size_t i = 0; i < links.size(); ++i) {
    const bool is_far = links[i].source >= kSites * kMembers && links[i].target >= kSites * kMembers;
    if (is_far) {
      EXPECT_NEAR(2 * phase, link_seconds[i], 1e-12);
    }
  }
  EXPECT_NEAR(kLatency + 2 * phase, seconds, 1e-12);
}

// A random change of one member of a valid list is either rejected or again an all-reduce.
TEST(Schedule, AcceptsNoChangedListThatIsNoAllReduce) {
  const Context context = make_context();
  const Topology topology = make_topology(context.get(), LPT_TOPOLOGY_KIND_TORUS, {2, 3});
  const SendList list =
      list_of(context.get(), make_schedule(context.get(), topology, LPT_SCHEDULE_ALGORITHM_MULTITREE).get());
  Random random(1301);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    SendList changed = list;
    lpt_schedule_send &send = changed.sends[static_cast<size_t>(random.below(list.info.send_count))];
    int32_t *const members[] = {&send.step,        &send.source,      &send.target,
                                &send.first_chunk, &send.chunk_count, &send.operation};
    int32_t *const member = random.of(members);
    *member += static_cast<int32_t>(random.below(5)) - 2;
    std::stable_sort(changed.sends.begin(), changed.sends.end(),
                     [](const auto &a, const auto &b) { return a.step < b.step; });
    Schedule made;
    if (lpt_schedule_create_sends(context.get(), topology.get(), list.info.chunk_count, changed.sends.data(),
                                  list.info.send_count, out(made)) != LPT_OK) {
      continue;
    }
    ++accepted;
    expect_valid(context.get(), topology, list_of(context.get(), made.get()));
  }
  EXPECT_GT(accepted, 300);  // a fifth of the changes is by 0
  EXPECT_LT(accepted, 1500);
}

}  // namespace
}  // namespace lpt::test
