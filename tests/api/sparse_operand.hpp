// GEMM operands that are dense or 2:4.
#pragma once

#include "tests/api/gemm.hpp"
#include "tests/api/sparse.hpp"

namespace lpt::test {

// Returns small integers. Sums of their products are exact in f32, so that no summation order changes a bit.
inline std::vector<double> draw_whole(uint64_t place, int64_t count) {
  Random random(place);
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double &number : numbers) number = static_cast<double>(random.below(9) - 4);
  return numbers;
}

// Returns the dense form of a 2:4 matrix, by lpt_sparse_decompress().
inline Tensor written_out(lpt_context *context, const lpt_tensor *sparse, const char *name) {
  const Shape shape = shape_of(context, sparse);
  Tensor dense = make_tensor(context, format_named(name), shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_sparse_decompress(context, sparse, dense.get())));
  return dense;
}

// One operand: dense, and its 2:4 form if it has one.
struct Operand {
  Tensor dense, sparse;
  const lpt_tensor *given() const { return sparse ? sparse.get() : dense.get(); }
};

inline Operand make_operand(lpt_context *context, const char *name, int64_t rows, int64_t columns, bool is_sparse,
                            const std::vector<double> &numbers) {
  Operand operand;
  if (!is_sparse) {
    operand.dense = tensor_of(context, format_named(name), rows, columns, numbers);
    return operand;
  }
  operand.sparse = make_weights(context, name, rows, columns, numbers).sparse;
  operand.dense = written_out(context, operand.sparse.get(), name);
  return operand;
}

}  // namespace lpt::test
