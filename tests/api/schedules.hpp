// Schedules as lists, for the tests of them.
#pragma once

#include "tests/api/support.hpp"

namespace lpt::test {

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

}  // namespace lpt::test
