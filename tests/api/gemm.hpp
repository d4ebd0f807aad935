// Common parts of the GEMM tests: tensors with strides and any number of axes, packed weights, and their dense GEMM.
#pragma once

#include "tests/api/support.hpp"

namespace lpt::test {

inline lpt_gemm_options transposed_b() {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  return options;
}

// Creates a tensor with any number of axes from these values, rounded to its format.
inline Tensor tensor_of(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents,
                        const std::vector<double> &numbers) {
  Tensor tensor = make_tensor(context, format, extents);
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < extents.size(); ++i) rows *= extents[i];
  const Tensor source = wrap(context, numbers, rows, extents.back());
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), nullptr, tensor.get(), nullptr)));
  return tensor;
}

// Returns a bf16 copy of the tensor, cast by lpt_quantize().
inline Tensor bf16_of(lpt_context *context, const lpt_tensor *tensor) {
  const lpt_tensor_description description = describe(context, tensor);
  Tensor rounded = make_tensor(context, LPT_FORMAT_BF16, {description.extents, description.extents + description.rank});
  EXPECT_TRUE(ok(context, lpt_quantize(context, tensor, nullptr, rounded.get(), nullptr)));
  return rounded;
}

inline std::vector<double> part(const std::vector<double> &numbers, int64_t begin, int64_t count) {
  return {numbers.begin() + begin, numbers.begin() + begin + count};
}

inline Tensor pack(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options = nullptr) {
  Tensor packed;
  EXPECT_TRUE(ok(context, lpt_weights_pack(context, weights, options, out(packed))));
  return packed;
}

// Returns a (m × k) · b, where b is stored transposed (n × k), in f32.
inline std::vector<double> gemm_of(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, int64_t m,
                                   int64_t n) {
  const lpt_gemm_options options = transposed_b();
  const Tensor c = make_tensor(context, LPT_FORMAT_F32, m, n);
  EXPECT_TRUE(ok(context, lpt_gemm(context, a, b, &options, c.get())));
  return numbers_of(context, c.get());
}

}  // namespace lpt::test
