#include <algorithm>

#include "src/api/guard.hpp"
#include "src/call/operation.hpp"
#include "src/schedule/execute.hpp"

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

lpt_status lpt_schedule_create(lpt_context *context, const lpt_topology *topology, lpt_schedule_algorithm algorithm,
                               const lpt_schedule_options *options, lpt_schedule **out_schedule) {
  return guard(context, [&](Context &) -> Status {
    lpt_schedule_options known = LPT_SCHEDULE_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_handle(topology, HandleKind::kTopology, "topology"));
    LPT_TRY(check_out(out_schedule, "out_schedule"));
    auto plan = std::make_shared<SendPlan>();
    plan->network = topology->network;
    plan->algorithm = algorithm;
    LPT_TRY(build_sends(known, *plan));
    LPT_TRY(check_sends(*plan));
    LPT_TRY(verify_sends(*plan));
    *out_schedule = new Schedule{HandleKind::kSchedule, std::move(plan)};
    return {};
  });
}

lpt_status lpt_schedule_create_sends(lpt_context *context, const lpt_topology *topology, int32_t chunk_count,
                                     const lpt_schedule_send *sends, int64_t send_count, lpt_schedule **out_schedule) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(topology, HandleKind::kTopology, "topology"));
    LPT_TRY(check_out(out_schedule, "out_schedule"));
    LPT_TRY(check_count("chunk_count", chunk_count, 1, kMostChunks));
    const int64_t most =
        int64_t{2} * topology->network->ranks * chunk_count;  // every rank sends and receives each chunk once
    LPT_TRY(check_count("send_count", send_count, 0, most));
    if (sends == nullptr && send_count > 0) return invalid("sends is NULL: expected an array of sends");
    auto plan = std::make_shared<SendPlan>();
    plan->network = topology->network;
    plan->chunk_count = chunk_count;
    plan->sends.assign(sends, sends + send_count);
    LPT_TRY(check_sends(*plan));
    LPT_TRY(route_sends(*plan));
    LPT_TRY(verify_sends(*plan));
    *out_schedule = new Schedule{HandleKind::kSchedule, std::move(plan)};
    return {};
  });
}

lpt_status lpt_schedule_read(lpt_context *context, const lpt_schedule *schedule, lpt_schedule_info *out_info) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(schedule, HandleKind::kSchedule, "schedule"));
    return write_values(info_of(*schedule->plan), "out_info", out_info);
  });
}

lpt_status lpt_schedule_sends(lpt_context *context, const lpt_schedule *schedule, int64_t send_count, int64_t hop_count,
                              lpt_schedule_send *out_sends, int32_t *out_hop_counts, int32_t *out_hops) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(schedule, HandleKind::kSchedule, "schedule"));
    const SendPlan &plan = *schedule->plan;
    LPT_TRY(check_length("send_count", send_count, plan.sends.size()));
    LPT_TRY(check_length("hop_count", hop_count, plan.hops.size()));
    if (send_count > 0) LPT_TRY(check_out(out_sends, "out_sends"));
    std::copy(plan.sends.begin(), plan.sends.end(), out_sends);
    for (size_t i = 0; out_hop_counts != nullptr && i < plan.sends.size(); ++i) {
      out_hop_counts[i] = static_cast<int32_t>(plan.path(i).size());
    }
    if (out_hops != nullptr) std::copy(plan.hops.begin(), plan.hops.end(), out_hops);
    return {};
  });
}

lpt_status lpt_schedule_simulate(lpt_context *context, const lpt_schedule *schedule, double bytes,
                                 double reduce_bytes_per_second, int64_t link_count, double *out_seconds,
                                 double *out_link_seconds) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(schedule, HandleKind::kSchedule, "schedule"));
    LPT_TRY(check_out(out_seconds, "out_seconds"));
    std::span<double> link_seconds;
    if (out_link_seconds != nullptr) {
      LPT_TRY(check_length("link_count", link_count, schedule->plan->network->links.size()));
      link_seconds = {out_link_seconds, static_cast<size_t>(link_count)};
    }
    return simulate_sends(*schedule->plan, bytes, reduce_bytes_per_second, *out_seconds, link_seconds);
  });
}

lpt_status lpt_schedule_all_reduce(lpt_context *context, lpt_comm *comm, const lpt_schedule *schedule,
                                   const lpt_tensor *input, const lpt_reduce_options *options, lpt_tensor *output,
                                   lpt_future **out_future) {
  return guard(context, [&](Context &self) -> Status {
    lpt_reduce_options known = LPT_REDUCE_OPTIONS_INIT;
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_handle(comm, HandleKind::kComm, "comm"));
    LPT_TRY(check_writable(output, "output"));
    LPT_TRY(check_handle(schedule, HandleKind::kSchedule, "schedule"));
    return all_reduce_by_schedule(self, *comm, *schedule, input, known, output, out_future);
  });
}

void lpt_schedule_destroy(lpt_schedule *schedule) { destroy(schedule, HandleKind::kSchedule); }
