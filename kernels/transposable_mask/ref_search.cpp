// SEARCH: fills rows and columns with fewer than N elements, then lets two rows exchange two columns while the sum of integer
// weights increases. The loop terminates, because the sum is a bounded integer.
#include "kernels/transposable_mask/tile.hpp"

namespace lpt {
namespace {

struct Exchange {
  int row, column;
  int64_t gain;
};

class Search {
 public:
  Search(const Tile &tile, const IntegerWeights &integer_weights, TileMask &mask)
      : size_(tile.size), kept_(tile.kept), integer_weights_(integer_weights), mask_(mask) {
    for (int column = 0; column < size_; ++column) in_column_[column] = count_column(mask, size_, column);
  }

  // Each step adds one element to the first row and the first column with fewer than N elements.
  void fill() {
    for (int row = 0; row < size_; ++row) {
      while (count_row(mask_, row) < kept_) fill_place(row, first_short_column());
    }
  }

  // Compares all pairs of rows repeatedly, except pairs whose rows did not change since their last comparison.
  void exchange() {
    uint32_t before = ~0u;
    while (before != 0) {
      uint32_t now = 0;
      for (int a = 0; a < size_; ++a) {
        for (int b = a + 1; b < size_; ++b) {
          const uint32_t pair = 1u << a | 1u << b;
          if (((before | now) & pair) == 0) continue;
          while (exchange_best(a, b)) now |= pair;
        }
      }
      before = now;
    }
  }

 private:
  int64_t worth(int row, int column) const { return integer_weights_.at[row * size_ + column]; }
  void flip(int row, int column) { mask_.rows[row] ^= 1u << column; }

  int first_short_column() const {
    int column = 0;
    while (in_column_[column] >= kept_) ++column;
    return column;
  }

  void keep(int row, int column) {
    flip(row, column);
    ++in_column_[column];
  }

  // Returns the best kept element whose row can keep `column` and whose column can be kept by `row`; of equal ones, the first.
  Exchange best_detour(int row, int column) const {
    Exchange best{-1, -1, 0};
    for (int i = 0; i < size_; ++i) {
      if (stays(mask_, i, column)) continue;
      for (uint32_t left = mask_.rows[i] & ~mask_.rows[row]; left != 0; left &= left - 1) {
        const int j = __builtin_ctz(left);
        const int64_t gain = worth(row, j) + worth(i, column) - worth(i, j);
        if (best.row < 0 || gain > best.gain) best = {i, j, gain};
      }
    }
    return best;
  }

  // Keeps a free element whose row and column both have fewer than N. If no such element exists, every pair of such a row and
  // column has a detour. Proof: otherwise all rows that lack `column` and all columns that `row` lacks have fewer than N. Then
  // their crossings are free.
  void keep_any_free() {
    for (int row = 0; row < size_; ++row) {
      if (count_row(mask_, row) >= kept_) continue;
      for (int column = 0; column < size_; ++column) {
        if (in_column_[column] < kept_ && !stays(mask_, row, column)) return keep(row, column);
      }
    }
  }

  void fill_place(int row, int column) {
    if (!stays(mask_, row, column)) return keep(row, column);
    const Exchange detour = best_detour(row, column);
    if (detour.row < 0) return keep_any_free();
    flip(detour.row, detour.column);
    flip(row, detour.column);
    flip(detour.row, column);
    ++in_column_[column];
  }

  // Returns the column kept by `from` and not by `to` whose move gains most; of equal ones, the first.
  Exchange best_move(int from, int to) const {
    Exchange best{from, -1, 0};
    for (uint32_t left = mask_.rows[from] & ~mask_.rows[to]; left != 0; left &= left - 1) {
      const int column = __builtin_ctz(left);
      const int64_t gain = worth(to, column) - worth(from, column);
      if (best.column < 0 || gain > best.gain) best = {from, column, gain};
    }
    return best;
  }

  bool exchange_best(int a, int b) {
    const Exchange one = best_move(a, b);
    const Exchange other = best_move(b, a);
    if (one.column < 0 || other.column < 0 || one.gain + other.gain <= 0) return false;
    const uint32_t columns = 1u << one.column | 1u << other.column;
    mask_.rows[a] ^= columns;
    mask_.rows[b] ^= columns;
    return true;
  }

  int size_, kept_;
  const IntegerWeights &integer_weights_;
  TileMask &mask_;
  int in_column_[kLargestTile];
};

}  // namespace

void improve_mask(const Tile &tile, const IntegerWeights &integer_weights, TileMask &mask) {
  Search search(tile, integer_weights, mask);
  search.fill();
  search.exchange();
}

TileMask solve_search(const Tile &tile) {
  IntegerWeights integer_weights;
  find_integer_weights(tile, integer_weights);
  TileMask mask = solve_greedy(tile);
  improve_mask(tile, integer_weights, mask);
  return mask;
}

}  // namespace lpt
