// Attention over sequences that are divided among ranks, against attention of one rank over the full sequence.
#include "tests/api/attention_model.hpp"
#include "tests/comm/suite.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// 48 positions and 8 key heads: every division among 1, 2, 3, 4 or 8 ranks.
constexpr int64_t kPositions = 48;
constexpr Sizes kWhole{2, 16, 8, kPositions, kPositions, 8, 5};

// Ranks of a grid: `head_ranks` adjacent ones exchange heads, those with the same index there are a ring.
struct Grid {
  Grid(const Rank &self, int32_t head_ranks, lpt_sequence_layout layout = LPT_SEQUENCE_LAYOUT_CONTIGUOUS)
      : head_ranks(head_ranks), layout(layout) {
    lpt_comm *raw = nullptr;
    EXPECT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank % head_ranks, self.rank, &raw)));
    ring.reset(raw);
    EXPECT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank / head_ranks, self.rank, &raw)));
    heads.reset(raw);
    const int64_t ring_ranks = self.ranks / head_ranks, index = self.rank / head_ranks;
    const int64_t parts = layout == LPT_SEQUENCE_LAYOUT_ZIGZAG ? 2 * ring_ranks : ring_ranks, part = kPositions / parts;
    for (int64_t i = 0; i < part; ++i) ring_positions.push_back(index * part + i);
    for (int64_t i = 0; i < part && parts != ring_ranks; ++i) ring_positions.push_back((parts - 1 - index) * part + i);
    const int64_t mine = static_cast<int64_t>(ring_positions.size()) / head_ranks;
    const auto first = ring_positions.begin() + self.rank % head_ranks * mine;
    positions.assign(first, first + mine);
  }

  int64_t count() const { return static_cast<int64_t>(positions.size()); }

  int32_t head_ranks;
  lpt_sequence_layout layout;
  Comm ring, heads;
  std::vector<int64_t> ring_positions, positions;  // of the ranks that exchange heads, and of this rank
};

// Returns some positions of batch × heads × positions × width.
Numbers cut(const Numbers &whole, int64_t heads, int64_t width, const std::vector<int64_t> &positions,
            int64_t first_head = 0, int64_t head_count = 0) {
  Numbers part;
  const int64_t count = head_count == 0 ? heads : head_count;
  for (int64_t b = 0; b < kWhole.batch; ++b) {
    for (int64_t h = first_head; h < first_head + count; ++h) {
      for (const int64_t position : positions) {
        const auto row = whole.begin() + ((b * heads + h) * kPositions + position) * width;
        part.insert(part.end(), row, row + width);
      }
    }
  }
  return part;
}

struct Sequence {
  Numbers query, key, value, gradient;
};

Sequence draw_sequence(uint64_t place) {
  return {draw_normal(place, product(kWhole.query())), draw_normal(place + 1, product(kWhole.key())),
          draw_normal(place + 2, product(kWhole.value())), draw_normal(place + 3, product(kWhole.output()))};
}

// The positions of one rank in a format, and results in the same or in another format.
struct Part {
  Part(const Rank &self, const Grid &grid, lpt_format format, const Sequence &whole)
      : Part(self, grid, format, whole, format) {}
  Part(const Rank &self, const Grid &grid, lpt_format format, const Sequence &whole, lpt_format result)
      : query(make(self.context, format, {kWhole.batch, kWhole.heads, grid.count(), kWhole.width},
                   cut(whole.query, kWhole.heads, kWhole.width, grid.positions))),
        key(make(self.context, format, {kWhole.batch, kWhole.key_heads, grid.count(), kWhole.width},
                 cut(whole.key, kWhole.key_heads, kWhole.width, grid.positions))),
        value(make(self.context, format, {kWhole.batch, kWhole.key_heads, grid.count(), kWhole.value_width},
                   cut(whole.value, kWhole.key_heads, kWhole.value_width, grid.positions))),
        gradient(make(self.context, format, {kWhole.batch, kWhole.heads, grid.count(), kWhole.value_width},
                      cut(whole.gradient, kWhole.heads, kWhole.value_width, grid.positions))),
        output(make_tensor(self.context, result, {kWhole.batch, kWhole.heads, grid.count(), kWhole.value_width})),
        log_sums(make_tensor(self.context, result == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32,
                             {kWhole.batch, kWhole.heads / grid.head_ranks, grid.count() * grid.head_ranks})),
        results{make_tensor(self.context, result, {kWhole.batch, kWhole.heads, grid.count(), kWhole.width}),
                make_tensor(self.context, result, {kWhole.batch, kWhole.key_heads, grid.count(), kWhole.width}),
                make_tensor(self.context, result, {kWhole.batch, kWhole.key_heads, grid.count(), kWhole.value_width})} {
  }

  lpt_sequence_attention_options options(const Grid &grid, bool is_causal) const {
    lpt_sequence_attention_options options = LPT_SEQUENCE_ATTENTION_OPTIONS_INIT;
    options.is_causal = is_causal;
    options.layout = grid.layout;
    options.log_sum_exp = log_sums.get();
    return options;
  }
  void forward(const Rank &self, const Grid &grid, const lpt_sequence_attention_options &options) {
    ASSERT_TRUE(self.ok(lpt_sequence_attention_forward(self.context, grid.ring.get(), grid.heads.get(), query.get(),
                                                       key.get(), value.get(), &options, output.get())));
  }
  void backward(const Rank &self, const Grid &grid, lpt_sequence_attention_options options) {
    options.output = output.get();
    ASSERT_TRUE(self.ok(lpt_sequence_attention_backward(self.context, grid.ring.get(), grid.heads.get(), query.get(),
                                                        key.get(), value.get(), gradient.get(), &options,
                                                        results.query.get(), results.key.get(), results.value.get())));
  }

  Tensor query, key, value, gradient, output, log_sums;
  Gradients results;
};

std::vector<int32_t> head_ranks_of(int32_t ranks) {
  std::vector<int32_t> counts;
  for (int32_t count = 1; count <= ranks; ++count) {
    if (ranks % count == 0 && kWhole.key_heads % count == 0) counts.push_back(count);
  }
  return counts;
}

// Attention by its definition in double, and the gradients of one rank in f64.
struct Exact {
  Exact(const Sequence &whole, bool is_causal)
      : output(attend(kWhole, whole.query, whole.key, whole.value,
                      {is_causal, 1 / std::sqrt(static_cast<double>(kWhole.width))}, &log_sums)) {
    const Context context = make_context(1);
    lpt_context *const c = context.get();
    const Gradients found = gradients_of(c, LPT_FORMAT_F64, kWhole, make_f64(c, kWhole.query(), whole.query),
                                         make_f64(c, kWhole.key(), whole.key), make_f64(c, kWhole.value(), whole.value),
                                         make_f64(c, kWhole.output(), whole.gradient), options_of(is_causal));
    query = numbers_of(c, found.query.get());
    key = numbers_of(c, found.key.get());
    value = numbers_of(c, found.value.get());
  }

  Numbers log_sums, output, query, key, value;
};

void expect_part(const Rank &self, const Grid &grid, const Exact &exact, const Part &part, double bound) {
  const auto expect = [&](const Numbers &all, int64_t heads, int64_t width, const Tensor &found) {
    expect_near(cut(all, heads, width, grid.positions), numbers_of(self.context, found.get()), bound);
  };
  expect(exact.output, kWhole.heads, kWhole.value_width, part.output);
  expect(exact.query, kWhole.heads, kWhole.width, part.results.query);
  expect(exact.key, kWhole.key_heads, kWhole.width, part.results.key);
  expect(exact.value, kWhole.key_heads, kWhole.value_width, part.results.value);
  const int64_t share = kWhole.heads / grid.head_ranks;
  expect_near(cut(exact.log_sums, kWhole.heads, 1, grid.ring_positions, self.rank % grid.head_ranks * share, share),
              numbers_of(self.context, part.log_sums.get()), bound);
}

void compare(const Rank &self, const Grid &grid, lpt_format format, bool is_causal, double bound) {
  SCOPED_TRACE(name_of(format) + ", " + std::to_string(grid.head_ranks) + " ranks exchange heads, layout " +
               std::to_string(grid.layout) + (is_causal ? ", causal" : ""));
  static const Sequence whole = draw_sequence(1200);
  static const Exact exact[] = {{whole, false}, {whole, true}};
  Part part(self, grid, format, whole);
  const lpt_sequence_attention_options options = part.options(grid, is_causal);
  part.forward(self, grid, options);
  part.backward(self, grid, options);
  expect_part(self, grid, exact[is_causal ? 1 : 0], part, bound);
}

void is_attention_over_the_full_sequence(const Rank &self) {
  for (const int32_t head_ranks : head_ranks_of(self.ranks)) {
    for (const lpt_sequence_layout layout : {LPT_SEQUENCE_LAYOUT_CONTIGUOUS, LPT_SEQUENCE_LAYOUT_ZIGZAG}) {
      const Grid grid(self, head_ranks, layout);
      for (const bool is_causal : {false, true}) compare(self, grid, LPT_FORMAT_F64, is_causal, 1e-12);
    }
  }
}

// Inputs are rounded to the format, so the bounds are those of their rounding.
void has_the_accuracy_of_its_format(const Rank &self) {
  const Grid grid(self, self.ranks % 4 == 0 ? 2 : 1, LPT_SEQUENCE_LAYOUT_ZIGZAG);
  compare(self, grid, LPT_FORMAT_F32, true, bound_of(LPT_FORMAT_F32));
  compare(self, grid, LPT_FORMAT_BF16, true, 4 * bound_of(LPT_FORMAT_BF16));
  const Context scalar = make_context(1, LPT_ISA_REFERENCE);  // by GEMMs
  compare({scalar.get(), self.comm, self.rank, self.ranks}, grid, LPT_FORMAT_BF16, true, 4 * bound_of(LPT_FORMAT_BF16));
}

// Numbers that f32 represents: with results in f64, all sums are in f64.
void adds_in_f64_for_results_in_f64(const Rank &self) {
  const Grid grid(self, 1);
  Sequence whole = draw_sequence(1205);
  for (Numbers *numbers : {&whole.query, &whole.key, &whole.value, &whole.gradient}) {
    for (double &number : *numbers) number = static_cast<double>(static_cast<float>(number));
  }
  Part part(self, grid, LPT_FORMAT_F32, whole, LPT_FORMAT_F64);
  const lpt_sequence_attention_options options = part.options(grid, true);
  part.forward(self, grid, options);
  part.backward(self, grid, options);
  expect_part(self, grid, {whole, true}, part, 1e-12);
}

// Query i gives 60000 / (i + 1) to the first value: more than f16 has.
void overflows_to_infinity(const Rank &self) {
  const Grid grid(self, 1);
  Sequence whole = draw_sequence(1206);
  std::fill(whole.query.begin(), whole.query.end(), 0.0);
  std::fill(whole.gradient.begin(), whole.gradient.end(), 60000.0);
  Part part(self, grid, LPT_FORMAT_F16, whole);
  const lpt_sequence_attention_options options = part.options(grid, true);
  part.forward(self, grid, options);
  part.backward(self, grid, options);
  const double first = numbers_of(self.context, part.results.value.get())[0];
  EXPECT_TRUE(grid.positions[0] != 0 || first == HUGE_VAL) << first;
}

// One rank alone has the bits of plain attention.
void is_plain_attention_on_one_rank(const Rank &self) {
  lpt_comm *raw = nullptr;
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, self.rank, 0, &raw)));
  const Comm alone(raw);
  lpt_context *const c = self.context;
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    const Tensor query = any(c, format, kWhole.query(), 1210), key = any(c, format, kWhole.key(), 1211),
                 value = any(c, format, kWhole.value(), 1212), found = make_tensor(c, format, kWhole.output()),
                 expected = make_tensor(c, format, kWhole.output());
    lpt_sequence_attention_options options = LPT_SEQUENCE_ATTENTION_OPTIONS_INIT;
    options.is_causal = 1;
    options.scale = 0.7;
    const lpt_attention_options plain = options_of(true, 0.7);
    ASSERT_TRUE(ok(c, lpt_attention_forward(c, query.get(), key.get(), value.get(), &plain, expected.get())));
    for (const bool is_ring : {false, true}) {
      ASSERT_TRUE(ok(c, lpt_sequence_attention_forward(c, is_ring ? raw : nullptr, is_ring ? nullptr : raw, query.get(),
                                                       key.get(), value.get(), &options, found.get())));
      EXPECT_EQ(plain_bytes(c, expected.get()), plain_bytes(c, found.get())) << name_of(format);
    }
  }
}

// Batch × positions × heads × width in memory, and other columns beside it, which stay.
void reads_and_writes_views(const Rank &self) {
  const Grid grid(self, 1);
  const Sequence whole = draw_sequence(1220);
  Part part(self, grid, LPT_FORMAT_F32, whole);
  part.forward(self, grid, part.options(grid, true));
  const int64_t count = grid.count(), stride = kWhole.value_width + 3;
  const auto seen = [&](const std::vector<float> &memory, int64_t heads, int64_t width, int64_t row) {
    return wrap_axes(self.context, LPT_FORMAT_F32, memory.data(), {kWhole.batch, heads, count, width},
                     {count * heads * row, row, heads * row, 1});
  };
  const auto stored = [&](const Tensor &tensor, int64_t heads, int64_t width) {
    std::vector<float> memory;
    const Numbers numbers = numbers_of(self.context, tensor.get());
    for (int64_t b = 0; b < kWhole.batch; ++b) {
      for (int64_t i = 0; i < count * heads; ++i) {
        const auto row = numbers.begin() + ((b * heads + i % heads) * count + i / heads) * width;
        memory.insert(memory.end(), row, row + width);
      }
    }
    return memory;
  };
  const std::vector<float> query = stored(part.query, kWhole.heads, kWhole.width),
                           key = stored(part.key, kWhole.key_heads, kWhole.width),
                           value = stored(part.value, kWhole.key_heads, kWhole.value_width);
  std::vector<float> output(static_cast<size_t>(kWhole.batch * count * kWhole.heads * stride), 7.0f);
  lpt_sequence_attention_options options = part.options(grid, true);
  options.log_sum_exp = nullptr;
  ASSERT_TRUE(self.ok(lpt_sequence_attention_forward(
      self.context, grid.ring.get(), grid.heads.get(), seen(query, kWhole.heads, kWhole.width, kWhole.width).get(),
      seen(key, kWhole.key_heads, kWhole.width, kWhole.width).get(),
      seen(value, kWhole.key_heads, kWhole.value_width, kWhole.value_width).get(), &options,
      seen(output, kWhole.heads, kWhole.value_width, stride).get())));
  const std::vector<float> expected = stored(part.output, kWhole.heads, kWhole.value_width);
  for (size_t i = 0; i < output.size(); ++i) {
    const size_t row = i / static_cast<size_t>(stride), column = i % static_cast<size_t>(stride);
    const bool is_element = column < static_cast<size_t>(kWhole.value_width);
    ASSERT_EQ(is_element ? expected[row * static_cast<size_t>(kWhole.value_width) + column] : 7.0f, output[i]) << i;
  }
}

// Each rank casts its keys and values once. All ranks use the cast keys and values, including the rank that cast them.
void casts_keys_and_values_for_the_ring(const Rank &self) {
  for (const char *wire : {"int8_1x32", "e4m3fn_row", "mxfp8_e4m3", "e4m3fn_tensor"}) {
    SCOPED_TRACE(wire);
    const Grid grid(self, 1, LPT_SEQUENCE_LAYOUT_ZIGZAG);
    Sequence whole = draw_sequence(1230);
    Part part(self, grid, LPT_FORMAT_F32, whole);
    lpt_sequence_attention_options options = part.options(grid, true);
    options.wire = format_named(wire);
    part.forward(self, grid, options);
    part.backward(self, grid, options);
    // A tensor scale belongs to one rank: all ranks gather the cast keys and values.
    const auto cast = [&](const Tensor &tensor, int64_t width) {
      const int64_t rows = kWhole.batch * kWhole.key_heads * grid.count();
      const Tensor source = wrap(self.context, LPT_FORMAT_F32, lpt_tensor_data(tensor.get()), rows, width);
      const Tensor codes = make_tensor(self.context, options.wire, rows, width);
      const Tensor back = make_tensor(self.context, LPT_FORMAT_F32, rows, width);
      const Tensor all = make_tensor(self.context, LPT_FORMAT_F32, rows * self.ranks, width);
      EXPECT_TRUE(self.ok(lpt_quantize(self.context, source.get(), nullptr, codes.get(), nullptr)));
      EXPECT_TRUE(self.ok(lpt_dequantize(self.context, codes.get(), nullptr, back.get())));
      EXPECT_TRUE(self.ok(lpt_all_gather(self.context, self.comm, back.get(), nullptr, nullptr, all.get(), nullptr)));
      const Numbers parts = numbers_of(self.context, all.get());
      Numbers ordered(parts.size());
      const int64_t half = kPositions / self.ranks / 2, own = grid.count();
      for (size_t i = 0; i < parts.size(); ++i) {
        const auto row = static_cast<int64_t>(i) / width;
        const int64_t rank = row / rows, head = row % rows / own, at = row % own;
        const int64_t position = at < half ? rank * half + at : (2 * self.ranks - 1 - rank) * half + at - half;
        ordered[static_cast<size_t>((head * kPositions + position) * width + static_cast<int64_t>(i) % width)] =
            parts[i];
      }
      return ordered;
    };
    whole.key = cast(part.key, kWhole.width);
    whole.value = cast(part.value, kWhole.value_width);
    expect_part(self, grid, {whole, true}, part, bound_of(LPT_FORMAT_F32));
  }
}

// Keys and values go R - 1 times around the ring, gradients R times; heads are exchanged once.
void sends_each_key_around_the_ring(const Rank &self) {
  const Grid grid(self, 1), crossed(self, head_ranks_of(self.ranks).back());
  const Sequence whole = draw_sequence(1240);
  Part part(self, grid, LPT_FORMAT_F32, whole);
  const Rank ring{self.context, grid.ring.get(), 0, 0};
  lpt_sequence_attention_options options = part.options(grid, true);
  options.wire = LPT_FORMAT_INT8_ROW;
  int64_t before = read(ring).bytes_sent;
  part.forward(self, grid, options);
  const int64_t rows = kWhole.batch * kWhole.key_heads * grid.count(), elements = kWhole.width + kWhole.value_width;
  EXPECT_EQ((self.ranks - 1) * rows * (elements + 8), read(ring).bytes_sent - before);
  before = read(ring).bytes_sent;
  part.backward(self, grid, options);
  const int64_t gradients = self.ranks == 1 ? 0 : self.ranks * rows * elements * 4;
  EXPECT_EQ((self.ranks - 1) * rows * (elements + 8) + gradients, read(ring).bytes_sent - before);
  if (crossed.head_ranks != self.ranks) return;
  Part other(self, crossed, LPT_FORMAT_F32, whole);
  const Rank heads{self.context, crossed.heads.get(), 0, 0};
  before = read(heads).bytes_sent;
  other.forward(self, crossed, other.options(crossed, true));
  const int64_t own = kWhole.batch * crossed.count() * 4 *
                      (kWhole.heads * (kWhole.width + kWhole.value_width) + kWhole.key_heads * elements);
  EXPECT_EQ(own / self.ranks * (self.ranks - 1), read(heads).bytes_sent - before);
}

void rejects_what_cannot_be_divided(const Rank &self) {
  const Grid grid(self, 1);
  const Sequence whole = draw_sequence(1250);
  Part part(self, grid, LPT_FORMAT_F32, whole);
  lpt_context *const c = self.context;
  const lpt_sequence_attention_options good = part.options(grid, true);
  const auto rejected = [&](lpt_status status, const char *words, const lpt_sequence_attention_options &options,
                            lpt_comm *ring, lpt_comm *heads, const lpt_tensor *key) {
    EXPECT_EQ(status, lpt_sequence_attention_forward(c, ring, heads, part.query.get(), key, part.value.get(), &options,
                                                     part.output.get()));
    expect_words({words}, lpt_context_error(c));
  };
  lpt_comm *const ring = grid.ring.get(), *const heads = grid.heads.get();
  const lpt_tensor *const key = part.key.get();
  rejected(LPT_INVALID_ARGUMENT, "ring and heads are NULL", good, nullptr, nullptr, key);
  rejected(LPT_INVALID_ARGUMENT, "heads is ring", good, ring, ring, key);
  rejected(LPT_INVALID_ARGUMENT, "ring is not", good, reinterpret_cast<lpt_comm *>(c), heads, key);
  lpt_sequence_attention_options options = good;
  options.layout = 2;
  rejected(LPT_INVALID_ARGUMENT, "options->layout is 2", options, ring, heads, key);
  options = good;
  options.flags = 1;
  rejected(LPT_UNSUPPORTED, "options->flags is 1", options, ring, heads, key);
  options = good;
  options.wire = LPT_FORMAT_E4M3FN_128X128;
  rejected(LPT_UNSUPPORTED, "options->wire: codes is e4m3fn_128x128: expected blocks one row high", options, ring,
           heads, key);
  options = good;
  options.output = part.output.get();
  rejected(LPT_INVALID_ARGUMENT, "options->output is set", options, ring, heads, key);
  options = good;
  options.log_sum_exp = part.output.get();
  rejected(LPT_INVALID_ARGUMENT, "options->log_sum_exp is", options, ring, heads, key);
  const Tensor more = make_tensor(c, LPT_FORMAT_F32, {kWhole.batch, kWhole.heads, grid.count() + 1, kWhole.width}),
               results =
                   make_tensor(c, LPT_FORMAT_F32, {kWhole.batch, kWhole.heads, grid.count() + 1, kWhole.value_width});
  options = good;
  options.log_sum_exp = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_sequence_attention_forward(c, ring, heads, more.get(), key, part.value.get(), &options, results.get()));
  expect_words({"positions: expected", "as query"}, lpt_context_error(c));
  const Tensor odd = view(c, key, {0, 0, 0, 0}, {kWhole.batch, 1, grid.count(), kWhole.width});
  const std::vector<float> seven(7 * 4);
  const Tensor uneven = wrap(c, seven, 7, 4), result = make_tensor(c, LPT_FORMAT_F32, 7, 4);
  options = LPT_SEQUENCE_ATTENTION_OPTIONS_INIT;
  options.layout = LPT_SEQUENCE_LAYOUT_ZIGZAG;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_sequence_attention_forward(c, ring, nullptr, uneven.get(), uneven.get(),
                                                                 uneven.get(), &options, result.get()));
  expect_words({"7 positions", "an even number with ZIGZAG"}, lpt_context_error(c));
  if (self.ranks > 1) {
    const Tensor one = view(c, part.value.get(), {0, 0, 0, 0}, {kWhole.batch, 1, grid.count(), kWhole.value_width});
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_sequence_attention_forward(c, nullptr, self.comm, part.query.get(), odd.get(),
                                                                   one.get(), nullptr, part.output.get()));
    expect_words({"heads: expected a multiple of"}, lpt_context_error(c));
  }
  options = good;
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_sequence_attention_backward(c, ring, heads, part.query.get(), key, part.value.get(),
                                            part.gradient.get(), &options, part.results.query.get(),
                                            part.results.key.get(), part.results.value.get()));
  expect_words({"options->output is NULL"}, lpt_context_error(c));
}

}  // namespace

std::vector<Case> sequence_attention_cases() {
  return {{"IsAttentionOverTheFullSequence", is_attention_over_the_full_sequence, true},
          {"HasTheAccuracyOfItsFormat", has_the_accuracy_of_its_format, true},
          {"AddsInF64ForResultsInF64", adds_in_f64_for_results_in_f64, true},
          {"OverflowsToInfinity", overflows_to_infinity, true},
          {"IsPlainAttentionOnOneRank", is_plain_attention_on_one_rank, true},
          {"ReadsAndWritesViews", reads_and_writes_views, true},
          {"CastsKeysAndValuesForTheRing", casts_keys_and_values_for_the_ring, true},
          {"SendsEachKeyAroundTheRing", sends_each_key_around_the_ring, true},
          {"RejectsWhatCannotBeDivided", rejects_what_cannot_be_divided, true}};
}

}  // namespace lpt::test
