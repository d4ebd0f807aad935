// Finds an order of rows that reduces the number of nonzero tiles.
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/gemm/panels.hpp"
#include "src/tensor/checks.hpp"
#include "src/tensor/packed.hpp"
#include "src/tensor/sparse_matrix.hpp"
#include "src/weights/sparse.hpp"
#include "src/weights/weights.hpp"

namespace lpt {
namespace {

// Bit t of row i is set if row i has a nonzero element in tile t.
class RowTiles {
 public:
  RowTiles(int64_t rows, int64_t tiles) : words_((tiles + 63) / 64), bits_(static_cast<size_t>(rows * words_)) {}

  void set(int64_t row, int64_t tile) { bits_[at(row) + static_cast<size_t>(tile / 64)] |= uint64_t{1} << (tile % 64); }
  int64_t count(int64_t row) const {
    int64_t sum = 0;
    for (int64_t w = 0; w < words_; ++w) sum += std::popcount(word(row, w));
    return sum;
  }
  // Returns the number of tiles that a row adds to those of a line.
  int64_t added(const std::vector<uint64_t> &line, int64_t row) const {
    int64_t sum = 0;
    for (int64_t w = 0; w < words_; ++w) sum += std::popcount(word(row, w) & ~line[static_cast<size_t>(w)]);
    return sum;
  }
  void add_to(std::vector<uint64_t> &line, int64_t row) const {
    for (int64_t w = 0; w < words_; ++w) line[static_cast<size_t>(w)] |= word(row, w);
  }
  std::vector<uint64_t> none() const { return std::vector<uint64_t>(static_cast<size_t>(words_)); }

 private:
  size_t at(int64_t row) const { return static_cast<size_t>(row * words_); }
  uint64_t word(int64_t row, int64_t w) const { return bits_[at(row) + static_cast<size_t>(w)]; }

  int64_t words_;
  std::vector<uint64_t> bits_;
};

int64_t count_tiles(const RowTiles &tiles, const std::vector<int32_t> &order, int64_t tile_rows) {
  int64_t count = 0;
  for (size_t begin = 0; begin < order.size(); begin += static_cast<size_t>(tile_rows)) {
    std::vector<uint64_t> line = tiles.none();
    const size_t end = std::min(order.size(), begin + static_cast<size_t>(tile_rows));
    for (size_t i = begin; i < end; ++i) tiles.add_to(line, order[i]);
    for (const uint64_t word : line) count += std::popcount(word);
  }
  return count;
}

// The rows that are not in the order, sorted by descending number of tiles, then by index.
struct UnorderedRows {
  std::vector<int32_t> rows;
  std::vector<int64_t> counts;  // by row index

  int32_t take(size_t place) {
    const int32_t row = rows[place];
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(place));
    return row;
  }
};

size_t find_nearest(const RowTiles &tiles, const UnorderedRows &left, const std::vector<uint64_t> &line) {
  size_t best = 0;
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < left.rows.size() && least > 0; ++i) {
    const int64_t added = tiles.added(line, left.rows[i]);
    if (added >= least) continue;
    least = added;
    best = i;
  }
  return best;
}

Status cluster(Context &context, const RowTiles &tiles, int64_t rows, int64_t tile_rows, std::vector<int32_t> &order) {
  UnorderedRows left;
  left.rows.resize(static_cast<size_t>(rows));
  left.counts.resize(static_cast<size_t>(rows));
  std::iota(left.rows.begin(), left.rows.end(), 0);
  for (int64_t row = 0; row < rows; ++row) left.counts[static_cast<size_t>(row)] = tiles.count(row);
  std::stable_sort(left.rows.begin(), left.rows.end(), [&](int32_t a, int32_t b) {
    return left.counts[static_cast<size_t>(a)] > left.counts[static_cast<size_t>(b)];
  });
  order.clear();
  while (!left.rows.empty()) {
    std::vector<uint64_t> line = tiles.none();
    for (int64_t i = 0; i < tile_rows && !left.rows.empty(); ++i) {
      const int32_t row = left.take(i == 0 ? 0 : find_nearest(tiles, left, line));
      tiles.add_to(line, row);
      order.push_back(row);
    }
    if (context.progress == nullptr) continue;
    const auto done = static_cast<int64_t>(order.size());
    if (context.progress(context.progress_user, done, rows) != 0) return cancelled(done, rows);
  }
  return {};
}

}  // namespace

Status order_weights(Context &context, const Tensor *weights, const lpt_weights_options &options, int32_t *order,
                     int64_t &out_given_count, int64_t &out_count) {
  LPT_TRY(check_flags("flags", options.flags, 0));
  if (options.storage != LPT_WEIGHTS_STORAGE_BLOCK_SPARSE) {
    return invalid("storage is %d: expected BLOCK_SPARSE, %d", options.storage, LPT_WEIGHTS_STORAGE_BLOCK_SPARSE);
  }
  if (options.output_order != nullptr || options.input_order != nullptr) {
    return unsupported("%s is given: expected NULL", options.output_order != nullptr ? "output_order" : "input_order");
  }
  MatrixView view;
  LPT_TRY(check_matrix(weights, "weights", true, view));
  if (weights->rank != 2) return invalid("weights is %s: expected n x k", tensor_text(*weights).c_str());
  if (!is_packable(view.format)) {
    return unsupported("weights is %s: GEMMs with packed weights do not take it", tensor_text(*weights).c_str());
  }
  SparsePacking packing{};
  LPT_TRY(check_packing(view.format, options, packing));
  MatrixView mask;
  LPT_TRY(find_nonzero(context, view, mask));
  RowTiles tiles(view.rows, (view.columns + packing.tile_columns - 1) / packing.tile_columns);
  for (int64_t row = 0; row < view.rows; ++row) {
    const uint8_t *const bytes = static_cast<const uint8_t *>(mask.data) + row * mask.row_stride;
    for (int64_t p = 0; p < view.columns; ++p) {
      if (bytes[p] != 0) tiles.set(row, p / packing.tile_columns);
    }
  }
  std::vector<int32_t> given(static_cast<size_t>(view.rows)), found;
  std::iota(given.begin(), given.end(), 0);
  LPT_TRY(cluster(context, tiles, view.rows, packing.tile_rows, found));
  out_given_count = count_tiles(tiles, given, packing.tile_rows);
  out_count = count_tiles(tiles, found, packing.tile_rows);
  if (out_count >= out_given_count) {
    found = given;
    out_count = out_given_count;
  }
  std::copy(found.begin(), found.end(), order);
  return {};
}

}  // namespace lpt
