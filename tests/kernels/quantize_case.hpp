// One cast request with its memory, for the tests of kernels/quantize.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "kernels/quantize/quantize.hpp"
#include "src/formats/block_scale.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"

namespace lpt::test {

inline lpt_format named(const char *name) {
  lpt_format id = LPT_FORMAT_NONE;
  const Status status = format_from_name(name, id);
  EXPECT_TRUE(status.is_ok()) << name << ": " << status.message();
  return id;
}

// Parameters of a cast without the elements.
struct QuantizeCase {
  lpt_format source = LPT_FORMAT_F32;
  lpt_format target = LPT_FORMAT_E4M3FN_TENSOR;
  int64_t rows = 1, columns = 1;
  int64_t source_padding = 0, target_padding = 0;
  std::size_t source_shift = 0, target_shift = 0;  // bytes past a 64-byte boundary
  bool is_transposed = false;                      // rows of the source are adjacent; random bits run along columns
  lpt_rounding rounding = LPT_ROUNDING_NEAREST_EVEN;
  lpt_overflow overflow = LPT_OVERFLOW_SATURATE;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  bool wants_amax = false, wants_nan = false;
  bool has_words = false;  // the caller provides random bits
  bool is_streamed = false;
  float tensor_scale = 0;  // 0: from the source
  RandomSource random = {
      .seed = 0x1234567, .offset = 0, .row_stride = 0, .stream = 3, .step = 5, .rounds = 7, .bits = 16};
};

inline lpt_scale_rule resolved(const Format &format, lpt_scale_rule rule, lpt_rounding rounding) {
  if (rule != LPT_SCALE_RULE_DEFAULT) return rule;
  if (format.block_scale == LPT_FORMAT_E8M0FNU) return LPT_SCALE_RULE_ROUND_UP;
  if (format.block_scale != LPT_FORMAT_E4M3FN) return LPT_SCALE_RULE_AMAX;
  return rounding == LPT_ROUNDING_STOCHASTIC ? LPT_SCALE_RULE_HEADROOM : LPT_SCALE_RULE_NEAREST;
}

inline std::string text_of(const QuantizeCase &c) {
  return format_name(c.source) + (c.is_transposed ? " transposed" : "") + " -> " + format_name(c.target) +
         text(
             " %lldx%lld padding %lld,%lld shift %zu,%zu rounding %d overflow %d rule %d amax %d streamed %d scale %a "
             "random %lld+r*%lld rounds %d bits %d",
             static_cast<long long>(c.rows), static_cast<long long>(c.columns),
             static_cast<long long>(c.source_padding), static_cast<long long>(c.target_padding), c.source_shift,
             c.target_shift, c.rounding, c.overflow, c.rule, c.wants_amax, c.is_streamed,
             static_cast<double>(c.tensor_scale), static_cast<long long>(c.random.offset),
             static_cast<long long>(c.random.row_stride), c.random.rounds, c.random.bits);
}

// Returns the source matrix of a case, without values.
inline Matrix source_of(const QuantizeCase &c) {
  return Matrix(c.source, c.rows, c.columns, c.source_padding, c.source_shift, c.is_transposed);
}

inline float finite_amax(const Matrix &source) {
  float amax = 0;
  for (int64_t row = 0; row < source.rows(); ++row) {
    for (int64_t column = 0; column < source.columns(); ++column) {
      const float magnitude = std::fabs(source.get(row, column));
      if (std::isfinite(magnitude) && magnitude > amax) amax = magnitude;
    }
  }
  return amax;
}

// The target and the request of a case.
class QuantizeRun {
 public:
  QuantizeRun(const QuantizeCase &c, Matrix &source)
      : target(c.target, c.rows, c.columns, c.target_padding, c.target_shift) {
    request.source = source.view();
    request.target = target.view();
    request.rounding = c.rounding;
    request.overflow = c.overflow;
    request.rule = resolved(target.format(), c.rule, c.rounding);
    if (target.format().has_tensor_scale()) {
      target.tensor_scale = c.tensor_scale != 0 ? c.tensor_scale : scale_of_tensor(source);
    }
    request.target.tensor_scale = target.format().has_tensor_scale() ? &target.tensor_scale : nullptr;
    request.tensor_inverse = 1.0f / target.tensor_scale;
    request.scale_list = kGaudi2Scales;
    request.scale_list_count = static_cast<int32_t>(std::size(kGaudi2Scales));
    request.random = c.random;
    if (request.random.row_stride == 0) request.random.row_stride = c.columns;
    request.random_column_stride = 1;
    if (c.is_transposed) {
      request.random_column_stride = c.random.row_stride == 0 ? c.rows : c.random.row_stride;
      request.random.row_stride = 1;
    }
    request.amax = c.wants_amax ? &amax : nullptr;
    request.has_nan = c.wants_nan ? &has_nan : nullptr;
    request.is_streamed = c.is_streamed;
    if (c.has_words) take_words(c);
  }
  QuantizeRun(const QuantizeRun &) = delete;
  QuantizeRun &operator=(const QuantizeRun &) = delete;

  Matrix target;
  float amax = 0.25f;
  bool has_nan = false;
  QuantizeRequest request = {};

 private:
  // Fills random bits that differ between elements; rows begin one element apart.
  void take_words(const QuantizeCase &c) {
    const int64_t elements = (c.rows + 1) * (c.columns + 1);
    words_.resize(static_cast<std::size_t>(elements * c.random.bits / 8));
    Random random(99);
    for (uint8_t &byte : words_) byte = static_cast<uint8_t>(random.bits());
    request.random.words = words_.data();
    request.random.offset = 0;
    request.random.row_stride = c.is_transposed ? 1 : c.columns + 1;
    request.random_column_stride = c.is_transposed ? c.rows + 1 : 1;
  }

  std::vector<uint8_t> words_;
  float scale_of_tensor(const Matrix &source) const {
    return tensor_scale_value(scale_spec(target.format(), request.rule, 1.0f), finite_amax(source));
  }
};

// Runs the kernel that dispatch selects on this machine.
template <typename Request>
void run_fastest(std::span<const KernelEntry<Request>> kernels, const Request &request) {
  for (const KernelEntry<Request> &kernel : kernels) {
    if (is_here(kernel) && takes(kernel, request)) return kernel.run(request);
  }
}

inline void run_reference(const QuantizeRequest &request) { reference_of(quantize_kernels()).run(request); }

}  // namespace lpt::test
