#include <algorithm>

#include "src/api/guard.hpp"
#include "src/call/operation.hpp"
#include "src/schedule/network.hpp"

using namespace lpt;

namespace {

Status check_count(const char *name, int64_t count, int64_t least, int64_t most) {
  if (count >= least && count <= most) return {};
  return invalid("%s is %lld: expected %lld to %lld", name, number(count), number(least), number(most));
}

// Checks the length of an array of the caller for results, which exists if there are any.
Status check_length(const char *name, int64_t count, size_t expected) {
  return count == static_cast<int64_t>(expected) ? Status()
                                                 : invalid("%s is %lld: expected %zu", name, number(count), expected);
}

}  // namespace

lpt_status lpt_topology_create(lpt_context *context, lpt_topology_kind kind, const int64_t *extents,
                               int32_t extent_count, const lpt_cost_link *link, const lpt_cost_link *upper_link,
                               lpt_topology **out_topology) {
  return guard(context, [&](Context &) -> Status {
    lpt_cost_link known = LPT_COST_LINK_INIT;
    LPT_TRY(read_options(link, "link", known));
    lpt_cost_link upper = known;
    LPT_TRY(read_options(upper_link, "upper_link", upper));
    LPT_TRY(check_out(out_topology, "out_topology"));
    auto network = std::make_shared<Network>();
    LPT_TRY(make_network(kind, extents, extent_count, known, upper, *network));
    *out_topology = new Topology{HandleKind::kTopology, std::move(network)};
    return {};
  });
}

lpt_status lpt_topology_create_graph(lpt_context *context, int32_t rank_count, int32_t switch_count,
                                     const lpt_topology_link *links, int64_t link_count, lpt_topology **out_topology) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_out(out_topology, "out_topology"));
    LPT_TRY(check_count("rank_count", rank_count, 1, kMostScheduleRanks));
    LPT_TRY(check_count("switch_count", switch_count, 0, kMostSwitches));
    LPT_TRY(check_count("link_count", link_count, 0, kMostLinks));
    if (links == nullptr && link_count > 0) return invalid("links is NULL: expected an array of links");
    auto network = std::make_shared<Network>();
    network->ranks = rank_count;
    network->switches = switch_count;
    network->links.assign(links, links + link_count);
    LPT_TRY(connect(*network));
    *out_topology = new Topology{HandleKind::kTopology, std::move(network)};
    return {};
  });
}

lpt_status lpt_topology_read(lpt_context *context, const lpt_topology *topology, lpt_topology_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(topology, HandleKind::kTopology, "topology"));
    const Network &network = *topology->network;
    lpt_topology_info info = LPT_TOPOLOGY_INFO_INIT;
    info.kind = network.kind;
    info.rank_count = network.ranks;
    info.switch_count = network.switches;
    info.link_count = static_cast<int32_t>(network.links.size());
    return write_values(info, "out_info", out_info);
  });
}

lpt_status lpt_topology_links(lpt_context *context, const lpt_topology *topology, int64_t link_count,
                              lpt_topology_link *out_links) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(topology, HandleKind::kTopology, "topology"));
    const std::vector<lpt_topology_link> &links = topology->network->links;
    LPT_TRY(check_length("link_count", link_count, links.size()));
    if (link_count > 0) LPT_TRY(check_out(out_links, "out_links"));
    std::copy(links.begin(), links.end(), out_links);
    return {};
  });
}

void lpt_topology_destroy(lpt_topology *topology) { destroy(topology, HandleKind::kTopology); }
