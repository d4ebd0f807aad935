// Compares attention with its definition in double, gradients with finite differences, and formats and views with plain calls.
#include <cmath>
#include <functional>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

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

int64_t product(const std::vector<int64_t> &extents) {
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
Numbers attend(const Sizes &s, const Numbers &query, const Numbers &key, const Numbers &value, const Rules &rules,
               Numbers *log_sums = nullptr) {
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
Tensor make(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents, const Numbers &numbers) {
  Tensor tensor = make_tensor(context, format, extents);
  const Tensor source = wrap(context, numbers, product(extents) / extents.back(), extents.back());
  const lpt_tensor_description facts = describe(context, tensor.get());
  const Tensor rows = wrap(context, format, facts.data, product(extents) / extents.back(), extents.back());
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), nullptr, rows.get(), nullptr)));
  return tensor;
}

Tensor make_f64(lpt_context *context, const std::vector<int64_t> &extents, const Numbers &numbers) {
  Tensor tensor = make_tensor(context, LPT_FORMAT_F64, extents);
  std::memcpy(lpt_tensor_data(tensor.get()), numbers.data(), numbers.size() * sizeof(double));
  return tensor;
}

Tensor any(lpt_context *context, lpt_format format, const std::vector<int64_t> &extents, uint64_t place) {
  const Numbers numbers = draw_normal(place, product(extents));
  return format == LPT_FORMAT_F64 ? make_f64(context, extents, numbers) : make(context, format, extents, numbers);
}

lpt_attention_options options_of(bool is_causal, double scale = 0.0) {
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = is_causal;
  options.scale = scale;
  return options;
}

void expect_near(const Numbers &expected, const Numbers &found, double bound) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(expected[i], found[i], bound * (1 + std::fabs(expected[i]))) << i;
}

// Relative tolerance. Probabilities in bf16 have an error of 2^-9, results in f16 and bf16 of half a unit in the last place.
// The error of f32 sums is below these.
double bound_of(lpt_format format) {
  return format == LPT_FORMAT_F64 ? 1e-13 : format == LPT_FORMAT_F32 ? 2e-5 : format == LPT_FORMAT_F16 ? 2e-3 : 2e-2;
}

TEST(Attention, IsItsDefinition) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const Sizes &s : kSizes) {
      for (const bool is_causal : {false, true}) {
        SCOPED_TRACE(name_of(format) + " " + s.text() + (is_causal ? " causal" : ""));
        const Tensor query = any(c, format, s.query(), 71), key = any(c, format, s.key(), 72),
                     value = any(c, format, s.value(), 73), output = make_tensor(c, format, s.output());
        const lpt_attention_options options = options_of(is_causal);
        ASSERT_TRUE(ok(c, lpt_attention_forward(c, query.get(), key.get(), value.get(), &options, output.get())));
        expect_near(attend(s, numbers_of(c, query.get()), numbers_of(c, key.get()), numbers_of(c, value.get()),
                           {is_causal, 1 / std::sqrt(static_cast<double>(s.width))}),
                    numbers_of(c, output.get()), bound_of(format));
      }
    }
  }
}

struct Gradients {
  Tensor query, key, value;
};

Gradients gradients_of(lpt_context *c, lpt_format format, const Sizes &s, const Tensor &query, const Tensor &key,
                       const Tensor &value, const Tensor &output_gradient, const lpt_attention_options &options) {
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

// Computes central differences of sum(output · given) in double.
TEST(Attention, GradientsAreFiniteDifferences) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  for (const Sizes &s : {kSizes[0], kSizes[1], Sizes{1, 2, 1, 131, 3, 2, 3}, Sizes{1, 2, 1, 4, 9, 3, 2}}) {
    for (const bool is_causal : {false, true}) {
      SCOPED_TRACE(s.text() + (is_causal ? " causal" : ""));
      Numbers inputs[] = {draw_normal(74, product(s.query())), draw_normal(75, product(s.key())),
                          draw_normal(76, product(s.value()))};
      const Numbers given = draw_normal(77, product(s.output()));
      const Tensor query = make_f64(c, s.query(), inputs[0]), key = make_f64(c, s.key(), inputs[1]),
                   value = make_f64(c, s.value(), inputs[2]), gradient = make_f64(c, s.output(), given);
      const Rules rules{is_causal, 0.7, is_causal ? 5 : 0, draw_normal(78, s.heads * s.queries * s.keys)};
      const Tensor mask = make_f64(c, {s.heads, s.queries, s.keys}, rules.mask);
      lpt_attention_options options = options_of(is_causal, 0.7);
      options.window = rules.window;
      options.mask = mask.get();
      const Gradients found = gradients_of(c, LPT_FORMAT_F64, s, query, key, value, gradient, options);
      const Numbers numbers[] = {numbers_of(c, found.query.get()), numbers_of(c, found.key.get()),
                                 numbers_of(c, found.value.get())};
      const auto loss = [&] {
        const Numbers output = attend(s, inputs[0], inputs[1], inputs[2], rules);
        double sum = 0;
        for (size_t i = 0; i < output.size(); ++i) sum += output[i] * given[i];
        return sum;
      };
      for (size_t which = 0; which < 3; ++which) {
        const size_t step = std::max<size_t>(inputs[which].size() / 24, 1);
        for (size_t i = 0; i < inputs[which].size(); i += step) {
          double &x = inputs[which][i];
          const double kept = x, h = 1e-5;
          x = kept + h;
          const double above = loss();
          x = kept - h;
          const double below = loss();
          x = kept;
          ASSERT_NEAR((above - below) / (2 * h), numbers[which][i], 1e-7) << which << ", " << i;
        }
      }
    }
  }
}

// Low precision is compared with f64 on the same inputs, which are rounded to the low precision once.
TEST(Attention, GradientsOfLowPrecisionAreNearThoseOfF64) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const Sizes &s : {kSizes[2], kSizes[4], kSizes[5]}) {
      SCOPED_TRACE(name_of(format) + " " + s.text());
      const Tensor query = any(c, format, s.query(), 81), key = any(c, format, s.key(), 82),
                   value = any(c, format, s.value(), 83), gradient = any(c, format, s.output(), 84);
      const auto wide = [&](const Tensor &tensor, const std::vector<int64_t> &extents) {
        return make_f64(c, extents, numbers_of(c, tensor.get()));
      };
      const lpt_attention_options options = options_of(true);
      const Gradients found = gradients_of(c, format, s, query, key, value, gradient, options);
      const Gradients exact = gradients_of(c, LPT_FORMAT_F64, s, wide(query, s.query()), wide(key, s.key()),
                                           wide(value, s.value()), wide(gradient, s.output()), options);
      const double bound = 4 * bound_of(format);
      expect_near(numbers_of(c, exact.query.get()), numbers_of(c, found.query.get()), bound);
      expect_near(numbers_of(c, exact.key.get()), numbers_of(c, found.key.get()), bound);
      expect_near(numbers_of(c, exact.value.get()), numbers_of(c, found.value.get()), bound);
    }
  }
}

void expect_log_sums_near(const Numbers &expected, const Numbers &found) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool is_near =
        expected[i] == found[i] || std::fabs(expected[i] - found[i]) < (1 + std::fabs(expected[i])) * 1e-5;
    ASSERT_TRUE(is_near) << expected[i] << ", found " << found[i];
  }
}

// A window, a mask shared by all batches and the log of the sums, computed by the CPU kernel or by GEMMs.
TEST(Attention, TakesWindowsAndMasks) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const Sizes sizes[] = {{2, 4, 2, 40, 50, 16, 8}, {1, 2, 1, 150, 140, 8, 8}, {2, 2, 1, 3, 70, 16, 16}};
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const Sizes &s : sizes) {
      for (const int64_t window : {0, 7}) {
        SCOPED_TRACE(name_of(format) + " " + s.text() + " window " + std::to_string(window));
        const Tensor query = any(c, format, s.query(), 95), key = any(c, format, s.key(), 96),
                     value = any(c, format, s.value(), 97), output = make_tensor(c, format, s.output()),
                     gradient = any(c, format, s.output(), 98);
        Rules rules{window != 0, 0.3, window, draw_normal(99, s.heads * s.queries * s.keys)};
        for (size_t i = 0; i < rules.mask.size(); i += 3) rules.mask[i] = -INFINITY;
        const Tensor mask = make(c, LPT_FORMAT_F32, {s.heads, s.queries, s.keys}, rules.mask);
        rules.mask = numbers_of(c, mask.get());
        const lpt_format sums = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
        const Tensor log_sums = make_tensor(c, sums, {s.batch, s.heads, s.queries});
        lpt_attention_options options = options_of(rules.is_causal, rules.scale);
        options.window = window;
        options.mask = mask.get();
        options.log_sum_exp = log_sums.get();
        ASSERT_TRUE(ok(c, lpt_attention_forward(c, query.get(), key.get(), value.get(), &options, output.get())));
        Numbers expected_sums;
        const Numbers expected = attend(s, numbers_of(c, query.get()), numbers_of(c, key.get()),
                                        numbers_of(c, value.get()), rules, &expected_sums);
        expect_near(expected, numbers_of(c, output.get()), bound_of(format));
        expect_log_sums_near(expected_sums, numbers_of(c, log_sums.get()));
        // Gradients with and without the stored results of the forward pass.
        options.output = output.get();
        const Gradients kept = gradients_of(c, format, s, query, key, value, gradient, options);
        options.output = nullptr;
        options.log_sum_exp = nullptr;
        const Gradients alone = gradients_of(c, format, s, query, key, value, gradient, options);
        const auto wide = [&](const Tensor &tensor, const std::vector<int64_t> &extents) {
          return make_f64(c, extents, numbers_of(c, tensor.get()));
        };
        const Gradients exact = gradients_of(c, LPT_FORMAT_F64, s, wide(query, s.query()), wide(key, s.key()),
                                             wide(value, s.value()), wide(gradient, s.output()), options);
        for (const Gradients *found : {&kept, &alone}) {
          expect_near(numbers_of(c, exact.query.get()), numbers_of(c, found->query.get()), 4 * bound_of(format));
          expect_near(numbers_of(c, exact.key.get()), numbers_of(c, found->key.get()), 4 * bound_of(format));
          expect_near(numbers_of(c, exact.value.get()), numbers_of(c, found->value.get()), 4 * bound_of(format));
        }
      }
    }
  }
}

// Scores are multiples of 1/2 and levels are integers, so that every rounding to a level is exact, or a tie.
TEST(Attention, RoundsArgumentsToLevels) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const Sizes sizes[] = {{2, 4, 2, 40, 50, 16, 8}, {1, 2, 1, 150, 140, 8, 8}, {2, 2, 1, 3, 70, 16, 16}};
  const auto integers = [](const std::vector<int64_t> &extents, uint64_t place) {
    Numbers numbers = draw_normal(place, product(extents));
    for (double &number : numbers) number = std::clamp(std::nearbyint(number), -1.0, 1.0);
    return numbers;
  };
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const Sizes &s : sizes) {
      for (const int32_t bits : {2, 3, 4}) {
        SCOPED_TRACE(name_of(format) + " " + s.text() + " bits " + std::to_string(bits));
        const Tensor query = make(c, format, s.query(), integers(s.query(), 111)),
                     key = make(c, format, s.key(), integers(s.key(), 112)), value = any(c, format, s.value(), 113),
                     output = make_tensor(c, format, s.output()),
                     log_sums = make_tensor(c, LPT_FORMAT_F32, {s.batch, s.heads, s.queries});
        Rules rules{true, 0.5, bits == 3 ? 0 : 11, integers({s.heads, s.queries, s.keys}, 114)};
        for (size_t i = 0; i < rules.mask.size(); i += 5) rules.mask[i] = -INFINITY;
        rules.exaq_bits = bits;
        rules.exaq_clip = 1 - (1 << bits);
        const Tensor mask = make(c, LPT_FORMAT_F32, {s.heads, s.queries, s.keys}, rules.mask);
        lpt_exaq_options exaq = LPT_EXAQ_OPTIONS_INIT;
        exaq.bits = bits;
        exaq.clip = rules.exaq_clip;
        lpt_attention_options options = options_of(true, rules.scale);
        options.window = rules.window;
        options.mask = mask.get();
        options.log_sum_exp = log_sums.get();
        options.exaq = &exaq;
        ASSERT_TRUE(ok(c, lpt_attention_forward(c, query.get(), key.get(), value.get(), &options, output.get())));
        Numbers expected_sums;
        const Numbers expected = attend(s, numbers_of(c, query.get()), numbers_of(c, key.get()),
                                        numbers_of(c, value.get()), rules, &expected_sums);
        expect_near(expected, numbers_of(c, output.get()), bound_of(format));
        expect_log_sums_near(expected_sums, numbers_of(c, log_sums.get()));
      }
    }
  }
}

// Returns `positions` positions of each head of a batch, from `first` on.
Numbers positions_of(const Numbers &numbers, const std::vector<int64_t> &extents, int64_t batch, int64_t first,
                     int64_t positions) {
  Numbers part;
  for (int64_t h = 0; h < extents[1]; ++h) {
    const auto begin = numbers.begin() + ((batch * extents[1] + h) * extents[2] + first) * extents[3];
    part.insert(part.end(), begin, begin + positions * extents[3]);
  }
  return part;
}

// Each batch is like one that has only its keys, by the CPU kernel or by GEMMs. Its other keys and values are NaN.
TEST(Attention, TakesKeyLengths) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const std::pair<Sizes, std::vector<int64_t>> cases[] = {{{5, 4, 2, 40, 50, 16, 8}, {50, 13, 13, 0, 49}},
                                                          {{3, 2, 1, 3, 70, 16, 16}, {0, 1, 70}}};
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const auto &[s, lengths] : cases) {
      for (const bool is_causal : {false, true}) {
        SCOPED_TRACE(name_of(format) + " " + s.text() + (is_causal ? " causal" : ""));
        const auto with_nans = [&, &s = s, &lengths = lengths](const std::vector<int64_t> &extents, uint64_t place) {
          Numbers numbers = numbers_of(c, any(c, format, extents, place).get());
          for (size_t i = 0; i < numbers.size(); ++i) {
            const int64_t row = static_cast<int64_t>(i) / extents[3];
            if (row % s.keys >= lengths[static_cast<size_t>(row / s.keys / extents[1])]) numbers[i] = NAN;
          }
          return format == LPT_FORMAT_F64 ? make_f64(c, extents, numbers) : make(c, format, extents, numbers);
        };
        const Tensor query = any(c, format, s.query(), 101), key = with_nans(s.key(), 102),
                     value = with_nans(s.value(), 103), gradient = any(c, format, s.output(), 104),
                     output = make_tensor(c, format, s.output()), given = indices_of(c, lengths);
        const lpt_format sums = format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
        const Tensor log_sums = make_tensor(c, sums, {s.batch, s.heads, s.queries});
        lpt_attention_options options = options_of(is_causal, 0.3);
        options.key_lengths = given.get();
        options.log_sum_exp = log_sums.get();
        ASSERT_TRUE(ok(c, lpt_attention_forward(c, query.get(), key.get(), value.get(), &options, output.get())));
        options.output = output.get();
        const Gradients kept = gradients_of(c, format, s, query, key, value, gradient, options);
        options.output = nullptr;
        options.log_sum_exp = nullptr;
        const Gradients alone = gradients_of(c, format, s, query, key, value, gradient, options);
        const double bound = 4 * bound_of(format);
        for (int64_t b = 0; b < s.batch; ++b) {
          const int64_t length = lengths[static_cast<size_t>(b)];
          const Sizes one{1, s.heads, s.key_heads, s.queries, length, s.width, s.value_width};
          const auto part = [&, &s = s](const Tensor &tensor, const std::vector<int64_t> &extents) {
            return positions_of(numbers_of(c, tensor.get()), extents, b, 0, extents[2] == s.keys ? length : s.queries);
          };
          const auto rest = [&, &s = s](const Tensor &tensor, const std::vector<int64_t> &extents) {
            return positions_of(numbers_of(c, tensor.get()), extents, b, length, s.keys - length);
          };
          Numbers expected_sums;
          const Numbers inputs[] = {part(query, s.query()), part(key, s.key()), part(value, s.value())};
          expect_near(attend(one, inputs[0], inputs[1], inputs[2], {is_causal, 0.3}, &expected_sums),
                      part(output, s.output()), bound_of(format));
          expect_log_sums_near(expected_sums, part(log_sums, {s.batch, s.heads, s.queries, 1}));
          for (const Gradients *found : {&kept, &alone}) {
            for (const Numbers &unused : {rest(found->key, s.key()), rest(found->value, s.value())}) {
              ASSERT_EQ(Numbers(unused.size()), unused);
            }
            if (length == 0) {
              ASSERT_EQ(Numbers(inputs[0].size()), part(found->query, s.query()));
              continue;
            }
            const Gradients exact =
                gradients_of(c, LPT_FORMAT_F64, one, make_f64(c, one.query(), inputs[0]),
                             make_f64(c, one.key(), inputs[1]), make_f64(c, one.value(), inputs[2]),
                             make_f64(c, one.output(), part(gradient, s.output())), options_of(is_causal, 0.3));
            expect_near(numbers_of(c, exact.query.get()), part(found->query, s.query()), bound);
            expect_near(numbers_of(c, exact.key.get()), part(found->key, s.key()), bound);
            expect_near(numbers_of(c, exact.value.get()), part(found->value, s.value()), bound);
          }
        }
      }
    }
  }
}

// Returns a batch × heads × positions × width view of a batch × positions × heads × width tensor.
Tensor seen_by_heads(lpt_context *c, const Tensor &tensor) {
  const lpt_tensor_description facts = describe(c, tensor.get());
  return with_axes(c, tensor, {facts.extents[0], facts.extents[2], facts.extents[1], facts.extents[3]},
                   {facts.strides[0], facts.strides[2], facts.strides[1], facts.strides[3]});
}

TEST(Attention, TakesViewsAndFewerAxes) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const int64_t heads = 3, positions = 9, width = 8;
  const Tensor stored[] = {any(c, LPT_FORMAT_F32, {1, positions, heads, width}, 85),
                           any(c, LPT_FORMAT_F32, {1, positions, heads, width}, 86),
                           any(c, LPT_FORMAT_F32, {1, positions, heads, width}, 87),
                           make_tensor(c, LPT_FORMAT_F32, {1, positions, heads, width})};
  Tensor views[4];
  for (int i = 0; i < 4; ++i) views[i] = seen_by_heads(c, stored[i]);
  ASSERT_TRUE(ok(c, lpt_attention_forward(c, views[0].get(), views[1].get(), views[2].get(), nullptr, views[3].get())));
  for (int64_t h = 0; h < heads; ++h) {
    Tensor matrices[4];
    for (int i = 0; i < 4; ++i) {
      const auto *const data = static_cast<const float *>(describe(c, stored[i].get()).data) + h * width;
      matrices[i] = wrap(c, LPT_FORMAT_F32, data, positions, width, heads * width);
    }
    const Tensor alone = make_tensor(c, LPT_FORMAT_F32, positions, width);
    ASSERT_TRUE(
        ok(c, lpt_attention_forward(c, matrices[0].get(), matrices[1].get(), matrices[2].get(), nullptr, alone.get())));
    EXPECT_EQ(numbers_of(c, alone.get()), numbers_of(c, matrices[3].get()));
  }
}

TEST(Attention, TakesQuantizedKeysAndValues) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const Sizes s{2, 4, 2, 5, 40, 32, 64};
  const Tensor query = any(c, LPT_FORMAT_BF16, s.query(), 88), output = make_tensor(c, LPT_FORMAT_F32, s.output());
  for (const char *name : {"e4m3fn", "e4m3fn_row", "mxfp8_e4m3", "nvfp4", "int8_row", "uint4_1x32"}) {
    SCOPED_TRACE(name);
    Numbers decoded[2];
    Tensor codes[2];
    for (int i = 0; i < 2; ++i) {
      const std::vector<int64_t> extents = i == 0 ? s.key() : s.value();
      codes[i] = make_tensor(c, format_named(name), extents);
      const Tensor numbers = any(c, LPT_FORMAT_F32, extents, 89 + static_cast<uint64_t>(i));
      ASSERT_TRUE(ok(c, lpt_quantize(c, numbers.get(), nullptr, codes[i].get(), nullptr)));
      decoded[i] = numbers_of(c, codes[i].get());
    }
    ASSERT_TRUE(ok(c, lpt_attention_forward(c, query.get(), codes[0].get(), codes[1].get(), nullptr, output.get())));
    expect_near(attend(s, numbers_of(c, query.get()), decoded[0], decoded[1], {false, 1 / std::sqrt(32.0)}),
                numbers_of(c, output.get()), 2e-2);
  }
}

// With one thread the scratch has the scores of three of the four key heads at a time, with two threads of all four.
TEST(Attention, BitsDoNotDependOnThreads) {
  const Sizes s{2, 4, 2, 300, 300, 32, 32};
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_F32}) {
    std::vector<std::vector<uint8_t>> bits;
    for (const int32_t threads : {1, 2, 5}) {
      const Context context = make_context(threads);
      lpt_context *const c = context.get();
      const Tensor query = any(c, LPT_FORMAT_BF16, s.query(), 91), key = any(c, LPT_FORMAT_BF16, s.key(), 92),
                   value = any(c, LPT_FORMAT_BF16, s.value(), 93), gradient = any(c, LPT_FORMAT_BF16, s.output(), 94);
      const Gradients found = gradients_of(c, format, s, query, key, value, gradient, options_of(true));
      bits.push_back(bytes_of(c, found.key.get()));
      for (const Tensor *other : {&found.query, &found.value}) {
        const std::vector<uint8_t> more = bytes_of(c, other->get());
        bits.back().insert(bits.back().end(), more.begin(), more.end());
      }
      EXPECT_EQ(bits.front(), bits.back()) << name_of(format) << ", threads " << threads;
    }
  }
}

TEST(Attention, RejectsAnOutputOverPartOfAnInput) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  std::vector<float> memory(64, 1.0f);
  const Tensor key = make_tensor(c, LPT_FORMAT_F32, 4, 8);
  for (const int64_t first : {0, 24}) {
    const Tensor query = wrap(c, LPT_FORMAT_F32, memory.data() + first, 4, 8);
    const Tensor output = wrap(c, LPT_FORMAT_F32, memory.data() + 24 - first, 4, 8);
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_attention_forward(c, query.get(), key.get(), key.get(), nullptr, output.get()));
    expect_words({"output overlaps query"}, lpt_context_error(c));
    EXPECT_EQ(std::vector<float>(64, 1.0f), memory);
  }
}

TEST(Attention, ACheckNeedsNoData) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  lpt_attention_options options = options_of(true);
  options.flags = LPT_CHECK_ONLY;
  const auto none = [&] {
    lpt_tensor_description facts = LPT_TENSOR_DESCRIPTION_INIT;
    const int64_t extents[] = {2, 4, 6};
    facts.format = LPT_FORMAT_BF16;
    facts.rank = 3;
    facts.extents = extents;
    Tensor tensor;
    EXPECT_TRUE(ok(c, lpt_tensor_wrap(c, &facts, out(tensor))));
    return tensor;
  };
  const Tensor t[] = {none(), none(), none(), none(), none(), none(), none()};
  EXPECT_TRUE(ok(c, lpt_attention_forward(c, t[0].get(), t[1].get(), t[2].get(), &options, t[3].get())));
  EXPECT_TRUE(ok(c, lpt_attention_backward(c, t[0].get(), t[1].get(), t[2].get(), t[3].get(), &options, t[4].get(),
                                           t[5].get(), t[6].get())));
  options.flags = 0;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_attention_forward(c, t[0].get(), t[1].get(), t[2].get(), &options, t[3].get()));
  expect_words({"query is 2 x 4 x 6 bf16 without data"}, lpt_context_error(c));
}

}  // namespace
}  // namespace lpt::test
