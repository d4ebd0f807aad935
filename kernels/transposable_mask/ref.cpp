// Reference kernel of transposable masks, which defines every bit.
#include "kernels/transposable_mask/tile.hpp"
#include "kernels/transposable_mask/transposable_mask.hpp"
#include "src/formats/numbers.hpp"

namespace lpt {
namespace {

using Request = TransposableMaskRequest;

// First row and column of a tile, and its size inside the matrix.
struct TileBounds {
  int64_t row, column;
  int rows, columns;
};

int within(int64_t left, int size) { return static_cast<int>(left < size ? left : size); }

void read_tile(const Request &request, const Numbers &source, const TileBounds &place, Tile &tile) {
  tile.size = request.of;
  tile.kept = request.kept;
  for (int i = 0; i < tile.size; ++i) {
    for (int j = 0; j < tile.size; ++j) {
      float weight = 0.0f;
      if (i < place.rows && j < place.columns) {
        weight = __builtin_fabsf(source.load(place.row + i, place.column + j));
        if (request.importance != nullptr) weight *= request.importance[place.column + j];
      }
      tile.weights[i * tile.size + j] = weight;
    }
  }
}

TileMask solve(const Request &request, const Tile &tile) {
  switch (request.solver) {
    case LPT_SPARSE_SOLVER_GREEDY:
      return solve_greedy(tile);
    case LPT_SPARSE_SOLVER_SEARCH:
      return solve_search(tile);
    case LPT_SPARSE_SOLVER_PRUNE:
      return solve_prune(tile);
    case LPT_SPARSE_SOLVER_ENTROPY:
      return solve_entropy(tile, request.iterations, request.sharpness);
    default:
      return solve_exact(tile);
  }
}

// Reads the mask of GREEDY for one full tile.
TileMask read_mask(const MatrixView &view, const TileBounds &place) {
  const uint8_t *const data = static_cast<const uint8_t *>(view.data);
  TileMask mask{};
  for (int i = 0; i < place.rows; ++i) {
    for (int j = 0; j < place.columns; ++j) {
      const int64_t at = (place.row + i) * view.row_stride + (place.column + j) * view.column_stride;
      mask.rows[i] |= static_cast<uint32_t>(data[at]) << j;
    }
  }
  return mask;
}

TileMask improve(const Request &request, const TileBounds &place, const Tile &tile) {
  if (place.rows < tile.size || place.columns < tile.size) return solve_search(tile);
  IntegerWeights integer_weights;
  find_integer_weights(tile, integer_weights);
  TileMask mask = read_mask(request.mask, place);
  improve_mask(tile, integer_weights, mask);
  return mask;
}

void write_tile(const MatrixView &view, const TileBounds &place, const TileMask &mask) {
  uint8_t *const data = static_cast<uint8_t *>(view.data);
  for (int i = 0; i < place.rows; ++i) {
    for (int j = 0; j < place.columns; ++j) {
      data[(place.row + i) * view.row_stride + (place.column + j) * view.column_stride] = stays(mask, i, j);
    }
  }
}

template <typename Solve>
void solve_tiles(const Request &request, const Solve &solve_tile) {
  const Numbers source(request.source);
  const int64_t rows = request.source.rows, columns = request.source.columns;
  Tile tile;
  for (int64_t row = 0; row < rows; row += request.of) {
    for (int64_t column = 0; column < columns; column += request.of) {
      const TileBounds place = {row, column, within(rows - row, request.of), within(columns - column, request.of)};
      read_tile(request, source, place, tile);
      write_tile(request.mask, place, solve_tile(place, tile));
    }
  }
}

}  // namespace

void transposable_mask_any_ref(const Request &request) {
  solve_tiles(request, [&](const TileBounds &, const Tile &tile) { return solve(request, tile); });
}

void improve_greedy_masks(const Request &request) {
  solve_tiles(request, [&](const TileBounds &place, const Tile &tile) { return improve(request, place, tile); });
}

}  // namespace lpt
