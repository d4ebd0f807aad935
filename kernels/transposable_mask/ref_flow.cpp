// EXACT: a flow of least cost from rows to columns. It starts with the N largest integer weights of each row, the lower column first,
// which is best where columns may keep any number. Then each column that keeps too many, the first one first, sends one
// place after the other along a shortest path to a column that keeps too few:
//   column c → row r  where (r, c) stays: it goes, at the cost of its worth;
//   row r → column c  where (r, c) does not: it stays, and gives its worth.
// Potentials keep all costs at zero or above, so that the paths are Dijkstra's, and the sum stays the largest that its
// column counts allow. Nodes are the rows, then the columns; the last of equally near ones is taken first, so that of equal
// places the lower ones stay.
#include "kernels/transposable_mask/tile.hpp"

namespace lpt {
namespace {

constexpr int64_t kFar = INT64_MAX;
constexpr int kLargestNodes = 2 * kLargestTile;

struct Paths {
  int64_t distances[kLargestNodes];
  int from[kLargestNodes];
  bool is_done[kLargestNodes];
};

class Flow {
 public:
  Flow(const Tile &tile, const IntegerWeights &integer_weights)
      : size_(tile.size), kept_(tile.kept), integer_weights_(integer_weights) {
    for (int row = 0; row < size_; ++row) keep_largest(row);
    for (int column = 0; column < size_; ++column) in_column_[column] = count_column(mask_, size_, column);
  }

  TileMask solve() {
    for (int column = 0; column < size_; ++column) {
      while (in_column_[column] > kept_) send_from(column);
    }
    return mask_;
  }

 private:
  int64_t worth(int row, int column) const { return integer_weights_.at[row * size_ + column]; }

  // The row's potential is the least worth that stays: no place that stays is below it, none that goes above.
  void keep_largest(int row) {
    int64_t least = INT64_MAX;
    for (int j = 0; j < size_; ++j) {
      int before = 0;
      for (int k = 0; k < size_; ++k)
        before += worth(row, k) > worth(row, j) || (worth(row, k) == worth(row, j) && k < j);
      if (before >= kept_) continue;
      mask_.rows[row] |= 1u << j;
      least = worth(row, j) < least ? worth(row, j) : least;
    }
    potentials_[row] = least;
  }

  int nearest(const Paths &paths) const {
    int best = -1;
    for (int node = 2 * size_ - 1; node >= 0; --node) {
      if (paths.is_done[node] || paths.distances[node] == kFar) continue;
      if (best < 0 || paths.distances[node] < paths.distances[best]) best = node;
    }
    return best;
  }

  void reach(Paths &paths, int node, int next, int64_t cost) const {
    const int64_t distance = paths.distances[node] + cost + potentials_[node] - potentials_[next];
    if (distance >= paths.distances[next]) return;
    paths.distances[next] = distance;
    paths.from[next] = node;
  }

  void go_on(Paths &paths, int node) const {
    const bool is_row = node < size_;
    for (int other = 0; other < size_; ++other) {
      const int row = is_row ? node : other;
      const int column = is_row ? other : node - size_;
      if (stays(mask_, row, column) == is_row) continue;
      reach(paths, node, is_row ? size_ + column : row, is_row ? -worth(row, column) : worth(row, column));
    }
  }

  // The nearest column that keeps too few. There is one: rows that are reached keep all columns that are not.
  int find_target(Paths &paths, int source) const {
    for (int node = 0; node < 2 * size_; ++node) {
      paths.distances[node] = node == size_ + source ? 0 : kFar;
      paths.is_done[node] = false;
    }
    for (;;) {
      const int node = nearest(paths);
      if (node >= size_ && in_column_[node - size_] < kept_) return node - size_;
      paths.is_done[node] = true;
      go_on(paths, node);
    }
  }

  void send_from(int source) {
    Paths paths;
    const int target = find_target(paths, source);
    const int64_t reached = paths.distances[size_ + target];
    for (int node = 0; node < 2 * size_; ++node) {
      potentials_[node] += paths.distances[node] < reached ? paths.distances[node] : reached;
    }
    for (int node = size_ + target; node != size_ + source; node = paths.from[node]) {
      const int before = paths.from[node];
      const int row = node < size_ ? node : before;
      mask_.rows[row] ^= 1u << ((node < size_ ? before : node) - size_);
    }
    --in_column_[source];
    ++in_column_[target];
  }

  int size_, kept_;
  const IntegerWeights &integer_weights_;
  TileMask mask_{};
  int in_column_[kLargestTile];
  int64_t potentials_[kLargestNodes] = {};
};

}  // namespace

TileMask solve_flow(const Tile &tile) {
  IntegerWeights integer_weights;
  find_integer_weights(tile, integer_weights);
  return Flow(tile, integer_weights).solve();
}

}  // namespace lpt
