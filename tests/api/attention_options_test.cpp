// Options of attention, by the CPU kernel or by GEMMs: windows, masks, the log of the sums, levels and key lengths.
#include "tests/api/attention_model.hpp"

namespace lpt::test {
namespace {

void expect_log_sums_near(const Numbers &expected, const Numbers &found) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool is_near =
        expected[i] == found[i] || std::fabs(expected[i] - found[i]) < (1 + std::fabs(expected[i])) * 1e-5;
    ASSERT_TRUE(is_near) << expected[i] << ", found " << found[i];
  }
}

// The tensors of a forward pass in one format.
struct Forward {
  const Tensor &query, &key, &value, &output;
};

// Runs a forward pass, and expects the output and the log of the sums of the definition.
void expect_forward(lpt_context *c, const Sizes &s, const Forward &t, const lpt_attention_options &options,
                    const Rules &rules) {
  ASSERT_TRUE(ok(c, lpt_attention_forward(c, t.query.get(), t.key.get(), t.value.get(), &options, t.output.get())));
  Numbers expected_sums;
  const Numbers expected = attend(s, numbers_of(c, t.query.get()), numbers_of(c, t.key.get()),
                                  numbers_of(c, t.value.get()), rules, &expected_sums);
  expect_near(expected, numbers_of(c, t.output.get()), bound_of(describe(c, t.output.get()).format));
  expect_log_sums_near(expected_sums, numbers_of(c, options.log_sum_exp));
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
        expect_forward(c, s, {query, key, value, output}, options, rules);
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
        expect_forward(c, s, {query, key, value, output}, options, rules);
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

}  // namespace
}  // namespace lpt::test
