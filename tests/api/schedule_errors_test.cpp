// Topologies and schedules that the library rejects, with texts that name what is wrong.
#include <cmath>

#include "tests/api/schedules.hpp"

namespace lpt::test {
namespace {

struct BadGraph {
  const char *name;
  int32_t ranks, switches;
  std::vector<lpt_topology_link> links;
  std::vector<const char *> words;
};

TEST(Topology, RejectsHostileGraphs) {
  const Context context = make_context();
  const lpt_topology_link there{0, 1, 0, 0}, back{1, 0, 0, 0};
  const double inf = HUGE_VAL;
  const BadGraph graphs[] = {
      {"no ranks", 0, 2, {}, {"rank_count is 0", "1 to 1024"}},
      {"too many ranks", 1025, 0, {}, {"rank_count is 1025"}},
      {"switches", 2, -1, {}, {"switch_count is -1"}},
      {"disconnected", 3, 0, {there, back}, {"no path from rank 0 to rank 2"}},
      {"one direction", 2, 0, {there}, {"no path from rank 1 to rank 0"}},
      {"switch without a way on", 2, 1, {{0, 2, 0, 0}, {1, 2, 0, 0}}, {"no path from rank 0 to rank 1"}},
      {"duplicate", 2, 0, {there, back, there}, {"links[2]", "node 0 to node 1", "links[0]"}},
      {"loop", 2, 0, {there, back, {1, 1, 0, 0}}, {"links[2].target is 1", "another node"}},
      {"node", 2, 1, {there, {1, 3, 0, 0}}, {"links[1].target is 3", "0 to 2"}},
      {"negative node", 2, 0, {{-1, 0, 0, 0}}, {"links[0].source is -1"}},
      {"latency", 2, 0, {{0, 1, -1e-9, 0}, back}, {"links[0].latency_seconds is -1e-09"}},
      {"bandwidth", 2, 0, {there, {1, 0, 0, -5}}, {"links[1].bytes_per_second is -5"}},
      {"infinite bandwidth", 2, 0, {there, {1, 0, 0, inf}}, {"links[1].bytes_per_second is inf"}},
  };
  for (const BadGraph &graph : graphs) {
    Topology topology;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_topology_create_graph(context.get(), graph.ranks, graph.switches, graph.links.data(),
                                        static_cast<int64_t>(graph.links.size()), out(topology)))
        << graph.name;
    expect_words(graph.words, lpt_context_error(context.get()), graph.name);
  }
}

TEST(Topology, RejectsImpossibleShapes) {
  const Context context = make_context();
  const lpt_cost_link bad = cost_link(-1.0, 0.0);
  lpt_cost_link adding = cost_link(0.0, 0.0);
  adding.reduce_bytes_per_second = 1.0;
  struct {
    lpt_topology_kind kind;
    std::vector<int64_t> extents;
    const lpt_cost_link *link, *upper;
    std::vector<const char *> words;
  } const shapes[] = {
      {5, {4}, nullptr, nullptr, {"kind is 5", "0 to 4"}},
      {LPT_TOPOLOGY_KIND_TORUS, {}, nullptr, nullptr, {"extent_count is 0", "1 to 4"}},
      {LPT_TOPOLOGY_KIND_MESH, {1, 1, 1, 1, 1}, nullptr, nullptr, {"extent_count is 5"}},
      {LPT_TOPOLOGY_KIND_TWO_LEVEL, {4}, nullptr, nullptr, {"extent_count is 1", "2 to 2"}},
      {LPT_TOPOLOGY_KIND_TORUS, {4, 0}, nullptr, nullptr, {"extents[1] is 0", "1 to 1024"}},
      {LPT_TOPOLOGY_KIND_TORUS, {64, 64}, nullptr, nullptr, {"4096 ranks", "at most 1024"}},
      {LPT_TOPOLOGY_KIND_FAT_TREE, {0, 2, 2}, nullptr, nullptr, {"extents[0] is 0", "1 to 1022"}},
      {LPT_TOPOLOGY_KIND_FAT_TREE, {1, 1024, 1}, nullptr, nullptr, {"extents[0] is 1", "1 to 0"}},
      {LPT_TOPOLOGY_KIND_TORUS, {4}, &bad, nullptr, {"link->latency_seconds is -1"}},
      {LPT_TOPOLOGY_KIND_TWO_LEVEL, {2, 2}, nullptr, &adding, {"upper_link->reduce_bytes_per_second is 1"}},
  };
  for (const auto &shape : shapes) {
    Topology topology;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_topology_create(context.get(), shape.kind, shape.extents.data(),
                                  static_cast<int32_t>(shape.extents.size()), shape.link, shape.upper, out(topology)));
    expect_words(shape.words, lpt_context_error(context.get()));
  }
}

struct BadSends {
  const char *name;
  int32_t chunks;
  std::vector<lpt_schedule_send> sends;
  std::vector<const char *> words;
};

// Ranks 0 - 1 - 2 in a line, and one chunk unless stated otherwise.
TEST(Schedule, RejectsEveryDefect) {
  const Context context = make_context();
  const Topology topology = make_topology(context.get(), LPT_TOPOLOGY_KIND_MESH, {3});
  constexpr lpt_schedule_operation kAdd = LPT_SCHEDULE_OPERATION_ADD, kCopy = LPT_SCHEDULE_OPERATION_COPY;
  const std::vector<lpt_schedule_send> good = {
      {0, 0, 1, 0, 1, kAdd}, {0, 2, 1, 0, 1, kAdd}, {1, 1, 0, 0, 1, kCopy}, {1, 1, 2, 0, 1, kCopy}};
  Schedule schedule;
  ASSERT_TRUE(
      ok(context.get(), lpt_schedule_create_sends(context.get(), topology.get(), 1, good.data(), 4, out(schedule))));
  EXPECT_EQ(LPT_SCHEDULE_ALGORITHM_CUSTOM, list_of(context.get(), schedule.get()).info.algorithm);
  const auto with = [&](size_t index, const lpt_schedule_send &send) {
    std::vector<lpt_schedule_send> sends = good;
    sends[index] = send;
    return sends;
  };
  const auto first = [&](size_t count) {
    return std::vector<lpt_schedule_send>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(count));
  };
  const BadSends bad[] = {
      {"chunks", 0, {}, {"chunk_count is 0", "1 to 4096"}},
      {"too many chunks", 4097, {}, {"chunk_count is 4097"}},
      {"negative step", 1, with(0, {-1, 0, 1, 0, 1, kAdd}), {"sends[0].step is -1", "0 to 0"}},
      {"step that is left out", 1, with(2, {2, 1, 0, 0, 1, kCopy}), {"sends[2].step is 2", "0 to 1"}},
      {"step that goes back", 1, with(3, {0, 1, 2, 0, 1, kCopy}), {"sends[3].step is 0", "1 to 2"}},
      {"source", 1, with(0, {0, 3, 1, 0, 1, kAdd}), {"sends[0].source is 3", "0 to 2"}},
      {"target", 1, with(0, {0, 0, -1, 0, 1, kAdd}), {"sends[0].target is -1"}},
      {"itself", 1, with(0, {0, 1, 1, 0, 1, kAdd}), {"sends[0].target is 1", "another rank"}},
      {"chunk", 1, with(0, {0, 0, 1, 1, 1, kAdd}), {"sends[0].first_chunk is 1", "0 to 0"}},
      {"chunk count", 2, with(0, {0, 0, 1, 1, 2, kAdd}), {"sends[0].chunk_count is 2", "1 to 1"}},
      {"operation", 1, with(0, {0, 0, 1, 0, 1, 2}), {"sends[0].operation is 2"}},
      {"link twice", 1, {{0, 0, 1, 0, 1, kAdd}, {0, 0, 2, 0, 1, kAdd}}, {"sends[1]", "step 0", "node 0 to node 1"}},
      {"part twice",
       1,
       {good[0], good[1], {1, 0, 1, 0, 1, kAdd}},
       {"sends[2]", "step 1", "chunk 0", "rank 0 has sent"}},
      {"sum added", 1, {good[0], good[1], {1, 1, 0, 0, 1, kAdd}}, {"sends[2]", "chunk 0", "rank 1 has sent"}},
      {"part that comes too late", 1, {good[0], {1, 2, 0, 0, 1, kAdd}}, {"sends[1]", "rank 0 has sent its sum"}},
      {"both at once", 1, {good[0], {0, 1, 0, 0, 1, kAdd}}, {"sends[0]", "rank 1 has sent its sum"}},
      {"copy of a part", 1, {good[0], {1, 1, 0, 0, 1, kCopy}}, {"sends[1]", "rank 1 has the parts of 2 of 3"}},
      {"copy before its sum", 1, {good[0], good[1], {0, 1, 0, 0, 1, kCopy}}, {"sends[2]", "1 of 3"}},
      {"copy twice",
       1,
       {good[0], good[1], good[2], good[3], {2, 1, 0, 0, 1, kCopy}},
       {"sends[4]", "rank 0 has the sum"}},
      {"nothing", 1, {}, {"without a sum of chunk 0", "0, 1, 2"}},
      {"no sum", 1, first(1), {"without a sum of chunk 0", "ranks 1, 2"}},
      {"no copy", 1, first(3), {"without a copy of chunk 0 for rank 2"}},
      {"second chunk", 2, good, {"without a sum of chunk 1", "0, 1, 2"}},
  };
  for (const BadSends &one : bad) {
    Schedule made;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_schedule_create_sends(context.get(), topology.get(), one.chunks, one.sends.data(),
                                        static_cast<int64_t>(one.sends.size()), out(made)))
        << one.name;
    expect_words(one.words, lpt_context_error(context.get()), one.name);
  }
}

TEST(Schedule, RejectsBadArguments) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Topology topology = make_topology(c, LPT_TOPOLOGY_KIND_TORUS, {2, 3});
  Topology graph;
  const lpt_topology_link links[] = {{0, 1, 0, 0}, {1, 0, 0, 0}};
  ASSERT_TRUE(ok(c, lpt_topology_create_graph(c, 2, 0, links, 2, out(graph))));
  const auto create = [&](const Topology &on, lpt_schedule_algorithm algorithm, int32_t group_ranks,
                          int32_t tree_chunks) {
    lpt_schedule_options options = LPT_SCHEDULE_OPTIONS_INIT;
    options.group_ranks = group_ranks;
    options.tree_chunks = tree_chunks;
    Schedule made;
    return lpt_schedule_create(c, on.get(), algorithm, &options, out(made));
  };
  const Schedule schedule = make_schedule(c, topology, LPT_SCHEDULE_ALGORITHM_RING);
  const SendList list = list_of(c, schedule.get());
  std::vector<lpt_schedule_send> sends = list.sends;
  double seconds = 0.0, link_seconds[1];
  lpt_topology_link one_link;
  const auto rejects = [&](lpt_status status, const std::vector<const char *> &words) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, status);
    expect_words(words, lpt_context_error(c));
  };
  rejects(create(topology, LPT_SCHEDULE_ALGORITHM_CUSTOM, 0, 8), {"algorithm is 5", "0 to 4"});
  rejects(create(topology, LPT_SCHEDULE_ALGORITHM_HIERARCHICAL, 4, 8), {"options->group_ranks is 4", "divisor of 6"});
  rejects(create(topology, LPT_SCHEDULE_ALGORITHM_HIERARCHICAL, -1, 8), {"options->group_ranks is -1"});
  rejects(create(graph, LPT_SCHEDULE_ALGORITHM_HIERARCHICAL, 0, 8), {"options->group_ranks is 0", "no extents"});
  rejects(create(topology, LPT_SCHEDULE_ALGORITHM_DOUBLE_TREE, 0, 0), {"options->tree_chunks is 0", "1 to 1024"});
  rejects(lpt_schedule_create(c, nullptr, 0, nullptr, nullptr), {"topology is NULL"});
  rejects(lpt_schedule_create(c, topology.get(), 0, nullptr, nullptr), {"out_schedule is NULL"});
  rejects(lpt_schedule_sends(c, schedule.get(), 1, list.info.hop_count, sends.data(), nullptr, nullptr),
          {"send_count is 1", "expected 60"});
  rejects(lpt_schedule_sends(c, schedule.get(), 60, 1, sends.data(), nullptr, nullptr), {"hop_count is 1"});
  rejects(lpt_topology_links(c, topology.get(), 1, &one_link), {"link_count is 1", "expected 18"});
  rejects(lpt_schedule_simulate(c, schedule.get(), -1.0, 0.0, 0, &seconds, nullptr), {"bytes is -1"});
  rejects(lpt_schedule_simulate(c, schedule.get(), 1.0, NAN, 0, &seconds, nullptr), {"reduce_bytes_per_second is nan"});
  rejects(lpt_schedule_simulate(c, schedule.get(), 1.0, 0.0, 1, &seconds, link_seconds),
          {"link_count is 1", "expected 18"});
  rejects(lpt_schedule_create_sends(c, topology.get(), 1, nullptr, 13, nullptr), {"out_schedule is NULL"});
  Schedule made;
  rejects(lpt_schedule_create_sends(c, topology.get(), 1, list.sends.data(), 13, out(made)),
          {"send_count is 13", "0 to 12"});
}

}  // namespace
}  // namespace lpt::test
