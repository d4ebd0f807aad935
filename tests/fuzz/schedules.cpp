// The fuzz target of topologies and schedules. Bytes are read as a graph, and as a list of sends or as changes of a list that the
// library has built. For any input every call must return a status, and errors must have a text.
#include <cstdlib>
#include <vector>

#include "lpt/research.h"
#include "tests/fuzz/call_reader.hpp"

namespace {

using Reader = lpt::test::CallReader;

void check(const lpt_context *context, lpt_status status) {
  const bool has_text = lpt_context_error(context)[0] != '\0';
  if (has_text != (status != LPT_OK)) std::abort();
}

lpt_topology *topology_of(lpt_context *context, Reader &in) {
  lpt_topology *topology = nullptr;
  if (in.below(2) == 0) {
    const int32_t kind = in.choice(5), count = in.below(5);
    int64_t extents[5];
    for (int64_t &extent : extents) extent = in.below(8) == 0 ? in.extent() : 1 + in.below(4);
    lpt_cost_link link = LPT_COST_LINK_INIT;
    link.latency_seconds = in.real();
    check(context,
          lpt_topology_create(context, kind, extents, count, in.below(2) == 0 ? nullptr : &link, nullptr, &topology));
    return topology;
  }
  const int32_t ranks = in.below(6), switches = in.below(3);
  std::vector<lpt_topology_link> links;
  for (int32_t rank = 0; rank < ranks; ++rank) links.push_back({rank, (rank + 1) % ranks, 0.0, 0.0});
  for (int32_t more = in.below(12); more > 0; --more) {
    lpt_topology_link link{};
    link.source = in.choice(8);
    link.target = in.choice(8);
    if (in.below(8) == 0) link.bytes_per_second = in.real();
    links.push_back(link);
  }
  check(context, lpt_topology_create_graph(context, ranks, switches, links.data(), static_cast<int64_t>(links.size()),
                                           &topology));
  return topology;
}

std::vector<lpt_schedule_send> sends_of(lpt_context *context, const lpt_schedule *schedule) {
  lpt_schedule_info info = LPT_SCHEDULE_INFO_INIT;
  check(context, lpt_schedule_read(context, schedule, &info));
  std::vector<lpt_schedule_send> sends(static_cast<size_t>(info.send_count));
  std::vector<int32_t> hops(static_cast<size_t>(info.hop_count));
  check(context,
        lpt_schedule_sends(context, schedule, info.send_count, info.hop_count, sends.data(), nullptr, hops.data()));
  double seconds = 0.0;
  check(context, lpt_schedule_simulate(context, schedule, 1e6, 0.0, 0, &seconds, nullptr));
  return sends;
}

void run(lpt_context *context, Reader &in, const lpt_topology *topology) {
  lpt_schedule_options options = LPT_SCHEDULE_OPTIONS_INIT;
  if (in.below(2) == 0) options.group_ranks = in.choice(8);
  options.tree_chunks = in.choice(5);
  const int32_t algorithm = in.choice(5);
  lpt_schedule *schedule = nullptr;
  check(context, lpt_schedule_create(context, topology, algorithm, &options, &schedule));
  std::vector<lpt_schedule_send> sends;
  if (schedule != nullptr) sends = sends_of(context, schedule);
  lpt_schedule_destroy(schedule);
  while (!in.is_at_end()) {
    int32_t members[6];
    for (int32_t &member : members) member = in.choice(6);
    const lpt_schedule_send send{members[0], members[1], members[2], members[3], members[4], members[5]};
    if (sends.empty() || in.below(2) == 0) {
      sends.push_back(send);
    } else {
      sends[in.byte() % sends.size()] = send;
    }
  }
  schedule = nullptr;
  check(context, lpt_schedule_create_sends(context, topology, in.choice(20), sends.data(),
                                           static_cast<int64_t>(sends.size()), &schedule));
  if (schedule != nullptr) sends_of(context, schedule);
  lpt_schedule_destroy(schedule);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  lpt_context *context = nullptr;
  if (lpt_context_create(nullptr, &context) != LPT_OK) std::abort();
  Reader in(data, bytes);
  lpt_topology *topology = topology_of(context, in);
  if (topology != nullptr) run(context, in, topology);
  lpt_topology_destroy(topology);
  lpt_context_destroy(context);
  return 0;
}
