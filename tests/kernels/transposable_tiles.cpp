#include "tests/kernels/transposable_tiles.hpp"

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <cmath>
#include <cstddef>

#include "src/base/status.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {
namespace {

Format format_of(lpt_format id) {
  Format format;
  find_format(id, format);
  return format;
}

TransposableMaskRequest request_of(const MaskRule &rule) {
  TransposableMaskRequest request{};
  request.source.format = format_of(LPT_FORMAT_F32);
  request.mask.format = format_of(LPT_FORMAT_UINT8);
  request.source.column_stride = request.mask.column_stride = 1;
  request.kept = rule.kept;
  request.of = rule.of;
  request.solver = rule.solver;
  request.iterations = rule.iterations;
  request.sharpness = rule.sharpness;
  return request;
}

float draw_integer(Random &random, int64_t bound) { return static_cast<float>(random.below(bound)); }

}  // namespace

std::string text_of(const MaskRule &rule) {
  static const char *const names[] = {"auto", "exact", "greedy", "search", "prune", "entropy"};
  return text("%d:%d %s", rule.kept, rule.of, names[rule.solver]);
}

TileNumbers draw_tile(Random &random, TileKind kind, int size) {
  TileNumbers tile(static_cast<std::size_t>(size * size));
  std::vector<float> rows, columns;
  for (int i = 0; i < size; ++i) {
    rows.push_back(draw_integer(random, 1000));
    columns.push_back(draw_integer(random, 1000));
  }
  const int64_t bands = 1 + random.below(size);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      const auto row = static_cast<std::size_t>(i), column = static_cast<std::size_t>(j);
      float number = 0;
      switch (kind) {
        case TileKind::kNormal:
          number = static_cast<float>(random.normal());
          break;
        case TileKind::kIntegers:
          number = draw_integer(random, 1 << 20);
          break;
        case TileKind::kTies:
          number = draw_integer(random, 4);
          break;
        case TileKind::kEqual:
          number = 7;
          break;
        case TileKind::kSparse:
          number = random.chance(0.2) ? draw_integer(random, 1 << 20) : 0.0f;
          break;
        case TileKind::kPowers:
          number = std::ldexp(1.0f, static_cast<int>(random.below(20)));
          break;
        case TileKind::kGemms:
          number = rows[row] * columns[column];
          break;
        case TileKind::kMonge:
          number = static_cast<float>((i + 1) * (j + 1));
          break;
        case TileKind::kHeavyColumn:
          number = draw_integer(random, 100) + (j < size / 2 ? 1000.0f : 0.0f);
          break;
        case TileKind::kBands:
          number = (i * bands + j) % size < size / 2 ? 100.0f : 99.0f;
          break;
      }
      tile[row * static_cast<std::size_t>(size) + column] = random.chance(0.5) ? -number : number;
    }
  }
  return tile;
}

std::vector<TileBits> masks_of(const KernelEntry<TransposableMaskRequest> &kernel, const MaskRule &rule,
                               const std::vector<TileNumbers> &tiles) {
  const std::size_t size = static_cast<std::size_t>(rule.of);
  const std::size_t columns = size * tiles.size();
  std::vector<float> source(size * columns);
  std::vector<uint8_t> mask(size * columns, 9);
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (std::size_t i = 0; i < size * size; ++i) source[i / size * columns + t * size + i % size] = tiles[t][i];
  }
  TransposableMaskRequest request = request_of(rule);
  request.source.data = source.data();
  request.mask.data = mask.data();
  request.source.rows = request.mask.rows = rule.of;
  request.source.columns = request.mask.columns = static_cast<int64_t>(columns);
  request.source.row_stride = request.mask.row_stride = static_cast<int64_t>(columns);
  kernel.run(request);
  std::vector<TileBits> result(tiles.size(), TileBits(size * size));
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (std::size_t i = 0; i < size * size; ++i) result[t][i] = mask[i / size * columns + t * size + i % size];
  }
  return result;
}

bool takes_rule(const KernelEntry<TransposableMaskRequest> &kernel, const MaskRule &rule) {
  return takes(kernel, request_of(rule));
}

std::vector<const KernelEntry<TransposableMaskRequest> *> available_mask_kernels() {
  std::vector<const KernelEntry<TransposableMaskRequest> *> result;
  for (const KernelEntry<TransposableMaskRequest> &kernel : transposable_mask_kernels()) {
    if (can_run(kernel)) result.push_back(&kernel);
  }
  return result;
}

double kept_sum(const TileNumbers &tile, const TileBits &mask) {
  double sum = 0;
  for (std::size_t i = 0; i < tile.size(); ++i) {
    if (mask[i] == 1) sum += std::fabs(static_cast<double>(tile[i]));
  }
  return sum;
}

bool keeps_exactly(const TileBits &mask, int size, int kept) {
  for (int line = 0; line < size; ++line) {
    int in_row = 0, in_column = 0;
    for (int i = 0; i < size; ++i) {
      in_row += mask[static_cast<std::size_t>(line * size + i)];
      in_column += mask[static_cast<std::size_t>(i * size + line)];
    }
    if (in_row != kept || in_column != kept) return false;
  }
  return true;
}

int64_t best_sum(const std::vector<int64_t> &integer_weights, int size, int kept) {
  lemon::SmartDigraph graph;
  std::vector<lemon::SmartDigraph::Node> nodes;
  for (int i = 0; i < 2 * size; ++i) nodes.push_back(graph.addNode());
  lemon::SmartDigraph::NodeMap<int64_t> supply(graph);
  lemon::SmartDigraph::ArcMap<int64_t> capacity(graph), cost(graph);
  for (int i = 0; i < size; ++i) {
    supply[nodes[static_cast<std::size_t>(i)]] = kept;
    supply[nodes[static_cast<std::size_t>(size + i)]] = -kept;
    for (int j = 0; j < size; ++j) {
      const auto arc = graph.addArc(nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(size + j)]);
      capacity[arc] = 1;
      cost[arc] = -integer_weights[static_cast<std::size_t>(i * size + j)];
    }
  }
  lemon::NetworkSimplex<lemon::SmartDigraph, int64_t, int64_t> simplex(graph);
  simplex.upperMap(capacity).costMap(cost).supplyMap(supply);
  if (simplex.run() != simplex.OPTIMAL) return -1;
  return -simplex.totalCost<int64_t>();
}

}  // namespace lpt::test
