// Compares attention with its definition in double, gradients with finite differences, and formats and views with plain calls.
#include <functional>

#include "tests/api/attention_model.hpp"

namespace lpt::test {
namespace {

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
