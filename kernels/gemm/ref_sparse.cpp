// The plain product of few rows by a 2:4 matrix: it decides every bit.
#include <cmath>

#include "kernels/gemm/rows.hpp"
#include "kernels/gemm/sparse.hpp"

namespace lpt {
namespace {

bool is_integer(const MatrixView &view) {
  return has_element(view.format.element) && element_of(view.format.element).is_integer;
}

// A row of b written out.
void write_out(const MatrixView &b, int64_t row, float *numbers) {
  const uint8_t *indices = b.indices + row * b.index_stride;
  for (int64_t p = 0; p < b.columns; ++p) numbers[p] = 0.0f;
  for (int64_t group = 0; 4 * group < b.columns; ++group) {
    const int half = indices[group / 2] >> (group % 2 == 0 ? 0 : 4) & 15;
    const int64_t places[2] = {4 * group + (half & 3), 4 * group + (half >> 2)};
    for (int i = 0; i < 2; ++i) {
      if (places[i] < b.columns) numbers[places[i]] = load_float(b, row * b.row_stride + 2 * group + i);
    }
  }
}

float sum_of(const MatrixView &a, int64_t row, const float *numbers, int64_t k) {
  float lanes[kSparseLanes] = {};
  for (int64_t p = 0; p < k; ++p) {
    float &lane = lanes[p % kSparseLanes];
    lane = std::fmaf(load_float(a, row * a.row_stride + p), numbers[p], lane);
  }
  return add_up_lanes(lanes);
}

float integer_sum_of(const MatrixView &a, int64_t row, const float *numbers, int64_t k) {
  int64_t sum = 0;
  for (int64_t p = 0; p < k; ++p) {
    sum += static_cast<int64_t>(load_float(a, row * a.row_stride + p)) * static_cast<int64_t>(numbers[p]);
  }
  return static_cast<float>(sum);
}

}  // namespace

void gemm_sparse_any_ref(const GemmRequest &request) {
  auto *numbers = reinterpret_cast<float *>(request.scratch);
  const bool is_exact = is_integer(request.a) && is_integer(request.b);
  for (int64_t column = request.first_column; column < request.first_column + request.n; ++column) {
    write_out(request.b, column, numbers);
    for (int64_t row = request.first_row; row < request.first_row + request.m; ++row) {
      const float sum =
          is_exact ? integer_sum_of(request.a, row, numbers, request.k) : sum_of(request.a, row, numbers, request.k);
      store_sum(request, row, column, sum);
    }
  }
}

size_t gemm_scratch_sparse_ref(const GemmRequest &request) { return static_cast<size_t>(request.k) * sizeof(float); }

}  // namespace lpt
