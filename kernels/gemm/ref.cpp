// The reference GEMM: any formats, any layout, one sum in the order of k. Errors of other kernels are measured against it. In
// the portable order it defines every bit.
#include "kernels/gemm/kernels.hpp"
#include "kernels/gemm/reference.hpp"

namespace lpt {
namespace {

// The value of an element is element · (block scale · tensor scale): in f32 rounded as in dequantize, in f64 exact.
struct Whole {
  template <typename T>
  static T value(const OperandMN &lanes, int64_t lane, int64_t p, int64_t) {
    const T element = lanes.element<T>(lane, p);
    if (lanes.view.format.is_plain()) return element;
    return element * (lanes.block_scale<T>(lane, p) * lanes.tensor_scale<T>());
  }
  template <typename T>
  static T add_product(T sum, T a, T b) {
    return sum + a * b;
  }
  template <typename T>
  static T scaled(const GemmRequest &request, int64_t, int64_t, T sum) {
    return static_cast<T>(request.alpha) * sum;
  }
};

// The portable order. Only scales that vary along k multiply the elements; the factor of a lane multiplies the sum.
struct Portable {
  template <typename T>
  static T value(const OperandMN &lanes, int64_t lane, int64_t p, int64_t k) {
    const T element = lanes.element<T>(lane, p);
    return lanes.is_scaled_along_k(k) ? element * lanes.block_scale<T>(lane, p) : element;
  }
  static float add_product(float sum, float a, float b) { return std::fmaf(a, b, sum); }
  static float scaled(const GemmRequest &request, int64_t row, int64_t column, float sum) {
    const float row_factor = rows_of_a(request).lane_factor(row, request.k);
    const float column_factor =
        columns_of_b(request).lane_factor(column, request.k) * static_cast<float>(request.alpha);
    return sum * row_factor * column_factor;
  }
};

// Computes one row of c at a time, for a block of decoded columns of b.
template <typename Order, typename T>
void multiply(const GemmRequest &request) {
  T *const a_row = reinterpret_cast<T *>(request.scratch);
  T *const b_block = a_row + request.k;
  const OperandMN a = rows_of_a(request), b = columns_of_b(request);
  const int64_t k = request.k;
  const auto read_columns = [&](const ColumnBlock &block) {
    for (int64_t p = 0; p < k; ++p) {
      T *const line = b_block + p * kReferenceColumns;
      for (int64_t j = 0; j < block.count; ++j) line[j] = Order::template value<T>(b, block.first + j, p, k);
      for (int64_t j = block.count; j < kReferenceColumns; ++j) line[j] = 0;
    }
  };
  const auto read_row = [&](int64_t row) {
    for (int64_t p = 0; p < k; ++p) a_row[p] = Order::template value<T>(a, row, p, k);
  };
  const auto sum_up = [&](int64_t row, const ColumnBlock &block) {
    T sum[kReferenceColumns] = {};
    for (int64_t p = 0; p < k; ++p) {
      const T *const line = b_block + p * kReferenceColumns;
      for (int64_t j = 0; j < kReferenceColumns; ++j) sum[j] = Order::add_product(sum[j], a_row[p], line[j]);
    }
    for (int64_t j = 0; j < block.count; ++j) {
      store_with_terms(request, row, block.first + j, Order::scaled(request, row, block.first + j, sum[j]));
    }
  };
  for_each_block(request, read_columns, read_row, sum_up);
}

}  // namespace

void gemm_any_ref(const GemmRequest &request) {
  if (request.is_f64) {
    multiply<Whole, double>(request);
  } else if (request.is_portable) {
    multiply<Portable, float>(request);
  } else {
    multiply<Whole, float>(request);
  }
}

size_t gemm_scratch_ref(const GemmRequest &request) {
  const size_t bytes = request.is_f64 ? sizeof(double) : sizeof(float);
  return static_cast<size_t>(request.k) * (1 + kReferenceColumns) * bytes;
}

}  // namespace lpt
