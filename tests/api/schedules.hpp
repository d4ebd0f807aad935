// Schedules as lists, for the tests of them.
#pragma once

#include "tests/api/support.hpp"

namespace lpt::test {

// A schedule with everything that the interface returns about it.
struct SendList {
  lpt_schedule_info info = LPT_SCHEDULE_INFO_INIT;
  std::vector<lpt_schedule_send> sends;
  std::vector<std::vector<int32_t>> paths;  // links of each send
};

inline SendList list_of(lpt_context *context, const lpt_schedule *schedule) {
  SendList list;
  EXPECT_TRUE(ok(context, lpt_schedule_read(context, schedule, &list.info)));
  list.sends.resize(static_cast<size_t>(list.info.send_count));
  std::vector<int32_t> counts(list.sends.size()), hops(static_cast<size_t>(list.info.hop_count));
  EXPECT_TRUE(ok(context, lpt_schedule_sends(context, schedule, list.info.send_count, list.info.hop_count,
                                             list.sends.data(), counts.data(), hops.data())));
  size_t begin = 0;
  for (const int32_t count : counts) {
    const auto end = begin + static_cast<size_t>(count);
    EXPECT_LE(end, hops.size());
    list.paths.emplace_back(hops.begin() + static_cast<std::ptrdiff_t>(begin),
                            hops.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  EXPECT_EQ(begin, hops.size());
  return list;
}

inline std::vector<lpt_topology_link> links_of(lpt_context *context, const lpt_topology *topology) {
  lpt_topology_info info = LPT_TOPOLOGY_INFO_INIT;
  EXPECT_TRUE(ok(context, lpt_topology_read(context, topology, &info)));
  std::vector<lpt_topology_link> links(static_cast<size_t>(info.link_count));
  EXPECT_TRUE(ok(context, lpt_topology_links(context, topology, info.link_count, links.data())));
  return links;
}

inline lpt_cost_link cost_link(double latency, double bytes_per_second) {
  lpt_cost_link link = LPT_COST_LINK_INIT;
  link.latency_seconds = latency;
  link.bytes_per_second = bytes_per_second;
  return link;
}

inline Topology make_topology(lpt_context *context, lpt_topology_kind kind, const std::vector<int64_t> &extents,
                              const lpt_cost_link *link = nullptr, const lpt_cost_link *upper_link = nullptr) {
  Topology topology;
  EXPECT_TRUE(ok(context, lpt_topology_create(context, kind, extents.data(), static_cast<int32_t>(extents.size()), link,
                                              upper_link, out(topology))));
  return topology;
}

inline Schedule make_schedule(lpt_context *context, const Topology &topology, lpt_schedule_algorithm algorithm,
                              int32_t group_ranks = 0, int32_t tree_chunks = 8) {
  lpt_schedule_options options = LPT_SCHEDULE_OPTIONS_INIT;
  options.group_ranks = group_ranks;
  options.tree_chunks = tree_chunks;
  Schedule schedule;
  EXPECT_TRUE(ok(context, lpt_schedule_create(context, topology.get(), algorithm, &options, out(schedule))));
  return schedule;
}

constexpr lpt_schedule_algorithm kScheduleAlgorithms[] = {
    LPT_SCHEDULE_ALGORITHM_MULTITREE, LPT_SCHEDULE_ALGORITHM_RING, LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE,
    LPT_SCHEDULE_ALGORITHM_HALVING, LPT_SCHEDULE_ALGORITHM_HIERARCHICAL};

}  // namespace lpt::test
