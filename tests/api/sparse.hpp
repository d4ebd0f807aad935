// Common parts of the tests of sparse masks.
#pragma once

#include <vector>

#include "tests/api/support.hpp"

namespace lpt::test {

inline Tensor mask_of(lpt_context *context, int64_t rows, int64_t columns, const std::vector<uint8_t> &bytes) {
  Tensor mask = make_tensor(context, LPT_FORMAT_UINT8, rows, columns);
  if (!bytes.empty()) std::memcpy(describe(context, mask.get()).data, bytes.data(), bytes.size());
  return mask;
}

inline lpt_sparse_options selection(int32_t kept, int32_t of, lpt_sparse_direction direction = LPT_SPARSE_DIRECTION_ROW,
                                    lpt_sparse_rule rule = LPT_SPARSE_RULE_MAGNITUDE) {
  lpt_sparse_options options = LPT_SPARSE_OPTIONS_INIT;
  options.kept = kept;
  options.of = of;
  options.direction = direction;
  options.rule = rule;
  return options;
}

// Returns the mask of a source for the options.
inline std::vector<uint8_t> selected(lpt_context *context, const lpt_tensor *source,
                                     const lpt_sparse_options &options) {
  const Shape shape = shape_of(context, source);
  const Tensor mask = make_tensor(context, LPT_FORMAT_UINT8, shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_sparse_mask_select(context, source, &options, mask.get(), nullptr, nullptr)));
  return bytes_of(context, mask.get());
}

inline int64_t violations(lpt_context *context, const std::vector<uint8_t> &mask, int64_t rows, int64_t columns,
                          int32_t kept, int32_t of, lpt_sparse_direction direction) {
  int64_t count = -1;
  const Tensor tensor = mask_of(context, rows, columns, mask);
  EXPECT_TRUE(ok(context, lpt_sparse_mask_check(context, tensor.get(), kept, of, direction, &count)));
  return count;
}

// A 2:4 matrix, and its dense form.
struct Weights {
  Tensor dense, sparse;
};

// Creates weights that keep the two largest of every four values, in the format `name`.
inline Weights make_weights(lpt_context *context, const std::string &name, int64_t rows, int64_t columns,
                            const std::vector<double> &numbers) {
  Weights weights;
  const Tensor source = tensor_of(context, LPT_FORMAT_F32, rows, columns, numbers);
  EXPECT_TRUE(ok(context, lpt_sparse_mask_select(context, source.get(), nullptr, nullptr, source.get(), nullptr)));
  weights.dense = tensor_of(context, format_named(name.c_str()), rows, columns, numbers_of(context, source.get()));
  weights.sparse = make_tensor(context, format_named((name + "/2:4").c_str()), rows, columns);
  EXPECT_TRUE(ok(context, lpt_sparse_compress(context, weights.dense.get(), nullptr, weights.sparse.get(), nullptr)));
  return weights;
}

inline Weights make_weights(lpt_context *context, const std::string &name, int64_t rows, int64_t columns) {
  return make_weights(context, name, rows, columns, draw_normal(541, rows * columns));
}

}  // namespace lpt::test
