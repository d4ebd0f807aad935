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

}  // namespace
}  // namespace lpt::test
