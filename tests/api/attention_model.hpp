// Attention by its definition in double, and tensors for its tests.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {

using Numbers = std::vector<double>;

struct Sizes {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;

  std::string text() const {
    return "batch " + std::to_string(batch) + " heads " + std::to_string(heads) + " of " + std::to_string(key_heads) +
           " queries " + std::to_string(queries) + " keys " + std::to_string(keys) + " width " + std::to_string(width);
  }
  std::vector<int64_t> query() const { return {batch, heads, queries, width}; }
  std::vector<int64_t> key() const { return {batch, key_heads, keys, width}; }
  std::vector<int64_t> value() const { return {batch, key_heads, keys, value_width}; }
  std::vector<int64_t> output() const { return {batch, heads, queries, value_width}; }
};

// Includes more queries than one block, grouped heads, fewer keys than queries, and more keys than queries.
constexpr Sizes kSizes[] = {{1, 1, 1, 1, 1, 4, 4},     {2, 4, 2, 5, 5, 8, 8},    {1, 6, 2, 150, 150, 16, 8},
                            {1, 2, 2, 300, 40, 8, 16}, {2, 2, 1, 3, 70, 16, 16}, {1, 3, 1, 130, 131, 5, 7}};

inline int64_t product(const std::vector<int64_t> &extents) {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

// The options as values of the reference.
struct Rules {
  bool is_causal;
  double scale;
  int64_t window = 0;
  Numbers mask = {};      // heads × queries × keys, shared by all batches; empty: no mask
  int32_t exaq_bits = 0;  // 0: no levels
  double exaq_clip = 0;

  // Returns the argument of exp, at most 0, rounded to its level.
  double at_level(double argument) const {
    if (exaq_bits == 0 || argument == -INFINITY) return argument;
    const double last = std::ldexp(1.0, exaq_bits) - 1, step = -exaq_clip / last;
    return (std::max(std::nearbyint(argument / step + last), 0.0) - last) * step;
  }
};

// Computes attention by its definition in double, head by head. `log_sums` receives one value for each row of the output.
inline Numbers attend(const Sizes &s, const Numbers &query, const Numbers &key, const Numbers &value,
                      const Rules &rules, Numbers *log_sums = nullptr) {
  Numbers output;
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const int64_t shared = b * s.key_heads + h / (s.heads / s.key_heads);
      for (int64_t i = 0; i < s.queries; ++i) {
        const int64_t end = rules.is_causal ? i + 1 + s.keys - s.queries : s.keys;
        const int64_t seen = std::clamp<int64_t>(end, 0, s.keys);
        const int64_t begin = rules.window == 0 ? 0 : std::clamp<int64_t>(end - rules.window, 0, s.keys);
        Numbers weights;
        double largest = -INFINITY, sum = 0;
        for (int64_t j = 0; j < seen; ++j) {
          double score = 0;
          for (int64_t c = 0; c < s.width; ++c) {
            score += query[static_cast<size_t>(((b * s.heads + h) * s.queries + i) * s.width + c)] *
                     key[static_cast<size_t>((shared * s.keys + j) * s.width + c)];
          }
          score *= rules.scale;
          if (!rules.mask.empty()) score += rules.mask[static_cast<size_t>((h * s.queries + i) * s.keys + j)];
          weights.push_back(j < begin ? -INFINITY : score);
          largest = std::max(largest, weights.back());
        }
        if (largest == -INFINITY) weights.clear();
        for (double &weight : weights) sum += weight = std::exp(rules.at_level(weight - largest));
        if (log_sums != nullptr) log_sums->push_back(weights.empty() ? -INFINITY : largest + std::log(sum));
        for (int64_t c = 0; c < s.value_width; ++c) {
          double result = 0;
          for (int64_t j = 0; j < static_cast<int64_t>(weights.size()); ++j) {
            result += weights[static_cast<size_t>(j)] / sum *
                      value[static_cast<size_t>((shared * s.keys + j) * s.value_width + c)];
          }
          output.push_back(result);
        }
      }
    }
  }
  return output;
}

// Creates a tensor with any axes from these values, rounded to its format.
inline Tensor make(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents,
                   const Numbers &numbers) {
  Tensor tensor = make_tensor(context, format, extents);
  const Tensor source = wrap(context, numbers, product(extents) / extents.back(), extents.back());
  const lpt_tensor_description facts = describe(context, tensor.get());
  const Tensor rows = wrap(context, format, facts.data, product(extents) / extents.back(), extents.back());
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), nullptr, rows.get(), nullptr)));
  return tensor;
}

inline Tensor make_f64(lpt_context *context, const std::vector<int64_t> &extents, const Numbers &numbers) {
  Tensor tensor = make_tensor(context, LPT_FORMAT_F64, extents);
  std::memcpy(lpt_tensor_data(tensor.get()), numbers.data(), numbers.size() * sizeof(double));
  return tensor;
}

inline Tensor any(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents, uint64_t place) {
  const Numbers numbers = draw_normal(place, product(extents));
  return format == LPT_FORMAT_F64 ? make_f64(context, extents, numbers) : make(context, format, extents, numbers);
}

inline lpt_attention_options options_of(bool is_causal, double scale = 0.0) {
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = is_causal;
  options.scale = scale;
  return options;
}

inline void expect_near(const Numbers &expected, const Numbers &found, double bound) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(expected[i], found[i], bound * (1 + std::fabs(expected[i]))) << i;
}

// Relative tolerance. Probabilities in bf16 have an error of 2^-9, results in f16 and bf16 of half a unit in the last place.
// The error of f32 sums is below these.
inline double bound_of(lpt_format format) {
  return format == LPT_FORMAT_F64 ? 1e-13 : format == LPT_FORMAT_F32 ? 2e-5 : format == LPT_FORMAT_F16 ? 2e-3 : 2e-2;
}

struct Gradients {
  Tensor query, key, value;
};

inline Gradients gradients_of(lpt_context *c, lpt_format format, const Sizes &s, const Tensor &query, const Tensor &key,
                              const Tensor &value, const Tensor &output_gradient,
                              const lpt_attention_options &options) {
  Gradients found{make_tensor(c, format, s.query()), make_tensor(c, format, s.key()),
                  make_tensor(c, format, s.value())};
  for (const Tensor *tensor : {&found.query, &found.key, &found.value}) {
    size_t bytes = 0;
    EXPECT_TRUE(ok(c, lpt_tensor_size(c, tensor->get(), &bytes)));
    std::memset(lpt_tensor_data(tensor->get()), 0xFF, bytes);  // NaN: all elements are to be written
  }
  EXPECT_TRUE(ok(c, lpt_attention_backward(c, query.get(), key.get(), value.get(), output_gradient.get(), &options,
                                           found.query.get(), found.key.get(), found.value.get())));
  return found;
}

}  // namespace lpt::test
