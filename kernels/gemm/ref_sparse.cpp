// The reference GEMM of few rows by a 2:4 matrix. It defines every bit of the result.
#include <cmath>

#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/sparse.hpp"

namespace lpt {
namespace {

bool is_integer(const MatrixView &view) {
  return has_element(view.format.element) && element_of(view.format.element).is_integer;
}

// Calls add(storage index, column, element) for each stored element of a row of b.
template <typename Add>
void for_stored(const MatrixView &b, int64_t row, const Add &add) {
  const uint8_t *indices = b.indices + row * b.index_stride;
  for (int64_t group = 0; 4 * group < b.columns; ++group) {
    const int places = places_of(indices, group);
    const int64_t columns[2] = {4 * group + (places & 3), 4 * group + (places >> 2)};
    for (int i = 0; i < 2; ++i) {
      if (columns[i] < b.columns) add(2 * group + i, columns[i], load_float(b, row * b.row_stride + 2 * group + i));
    }
  }
}

float sum_of(const float *a, const MatrixView &b, int64_t row) {
  float lanes[kSparseLanes] = {};
  for_stored(b, row, [&](int64_t place, int64_t column, float number) {
    float &lane = lanes[place % kSparseLanes];
    lane = std::fmaf(a[column], number, lane);
  });
  if (has_unstored_nonfinite(a, b.indices + row * b.index_stride, b.columns)) return NAN;
  return add_up_lanes(lanes);
}

float integer_sum_of(const float *a, const MatrixView &b, int64_t row) {
  int64_t sum = 0;
  for_stored(b, row, [&](int64_t, int64_t column, float number) {
    sum += static_cast<int64_t>(a[column]) * static_cast<int64_t>(number);
  });
  return static_cast<float>(sum);
}

}  // namespace

void gemm_sparse_any_ref(const GemmRequest &request) {
  auto *a = reinterpret_cast<float *>(request.scratch);
  const bool is_exact = is_integer(request.a) && is_integer(request.b);
  for (int64_t row = request.first_row; row < request.first_row + request.m; ++row) {
    for (int64_t p = 0; p < request.k; ++p) a[p] = load_float(request.a, row * request.a.row_stride + p);
    for (int64_t column = request.first_column; column < request.first_column + request.n; ++column) {
      const float sum = is_exact ? integer_sum_of(a, request.b, column) : sum_of(a, request.b, column);
      store_sum(request, row, column, sum);
    }
  }
}

size_t gemm_scratch_sparse_ref(const GemmRequest &request) { return static_cast<size_t>(request.k) * sizeof(float); }

}  // namespace lpt
