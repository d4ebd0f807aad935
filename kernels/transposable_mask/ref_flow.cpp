// EXACT: a minimum-cost flow from rows to columns. It starts with the N largest integer weights of each row, the lower column
// first, which is optimal without column constraints. Then each column with more than N elements, in ascending order, sends its
// excess along shortest paths to columns with fewer than N:
//   column c → row r  if (r, c) is kept: the element is dropped, at the cost of its weight;
//   row r → column c  if (r, c) is not kept: the element is kept, and its weight is subtracted from the cost.
// Potentials keep all reduced costs nonnegative, so that Dijkstra's algorithm finds the paths, and the sum remains the largest
// for its column counts. Nodes are the rows, then the columns. Of equally near nodes the last is visited first, so that of
// equal elements the lower ones are kept.
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

  // The potential of the row is its least kept weight: kept weights are at least the potential, dropped weights at most.
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

  // Returns the nearest column with fewer than N elements. One exists, because reachable rows keep all columns that are not
  // reachable.
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
