// Activations whose first columns are shared by the ranks: the operator, its adjoint, equal and private columns.
#include <cmath>

#include "tests/comm/partial.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows = 19, kHidden = 90;

// Returns the result of rank `rank` from the matrices of all ranks, for a plan with `shared` columns.
template <typename Number, typename Sum>
std::vector<Number> expected_of(const std::vector<std::vector<Number>> &all, int32_t rank, int64_t shared, Number scale,
                                const Sum &sum) {
  std::vector<Number> expected(all[0].size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool is_shared = static_cast<int64_t>(i) % kHidden < shared;
    expected[i] = is_shared ? sum(all, i) : scale * all[static_cast<size_t>(rank)][i];
  }
  return expected;
}

void adds_shared_and_scales_private(const Rank &self) {
  const auto all = numbers_of_all(self.ranks, 41, kRows * kHidden);
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(self.ranks)));
  for (const int64_t shared : {0, 1, 31, 45, 64, 89, 90}) {
    const PartialPlan plan = make_plan(self, kHidden, shared);
    const std::vector<float> expected = expected_of(all, self.rank, shared, scale, sum_of);
    std::vector<float> mine = all[static_cast<size_t>(self.rank)], found(mine.size(), -7.0f);
    const Tensor input = wrap(self.context, mine, kRows, kHidden), output = wrap(self.context, found, kRows, kHidden);
    ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_FORWARD, input, output)));
    EXPECT_EQ(all[static_cast<size_t>(self.rank)], mine);
    EXPECT_EQ(expected, found) << shared;
    ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_BACKWARD, input, input)));
    EXPECT_EQ(expected, mine) << "backward, in place, " << shared;
  }
}

// Every rank has a different row stride; memory outside the columns is unchanged.
void keeps_what_lies_beside_its_columns(const Rank &self) {
  const int64_t stride = kHidden + 7 * (self.rank % 3), to_stride = kHidden + 5;
  const auto all = numbers_of_all(self.ranks, 42, kRows * kHidden);
  const PartialPlan plan = make_plan(self, kHidden, 50);
  std::vector<float> from(static_cast<size_t>(kRows * stride), 5.0f), to(static_cast<size_t>(kRows * to_stride), 7.0f);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kHidden; ++c) {
      from[static_cast<size_t>(r * stride + c)] =
          all[static_cast<size_t>(self.rank)][static_cast<size_t>(r * kHidden + c)];
    }
  }
  const Tensor input = wrap(self.context, LPT_FORMAT_F32, from.data(), kRows, kHidden, stride);
  const Tensor output = wrap(self.context, LPT_FORMAT_F32, to.data(), kRows, kHidden, to_stride);
  ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_FORWARD, input, output)));
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(self.ranks)));
  const std::vector<float> expected = expected_of(all, self.rank, 50, scale, sum_of);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < to_stride; ++c) {
      const float found = to[static_cast<size_t>(r * to_stride + c)];
      ASSERT_EQ(c < kHidden ? expected[static_cast<size_t>(r * kHidden + c)] : 7.0f, found) << r << ", " << c;
    }
  }
}

// f32 and bf16 payloads are added in f32. With bf16 the sum of the sent values is rounded once.
void rounds_halves_once(const Rank &self) {
  const int64_t shared = 40;
  std::vector<std::vector<float>> all;
  for (const auto &numbers : numbers_of_all(self.ranks, 43, kRows * kHidden)) {
    std::vector<float> rounded;
    for (const uint16_t half : halves_of(numbers)) rounded.push_back(float_of_bits(static_cast<uint32_t>(half) << 16));
    all.push_back(rounded);
  }
  const PartialPlan plan = make_plan(self, kHidden, shared);
  std::vector<uint16_t> mine = halves_of(all[static_cast<size_t>(self.rank)]), found(mine.size());
  const Tensor input = wrap(self.context, LPT_FORMAT_BF16, mine.data(), kRows, kHidden);
  const Tensor output = wrap(self.context, LPT_FORMAT_BF16, found.data(), kRows, kHidden);
  ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_BACKWARD, input, output)));
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(self.ranks)));
  const std::vector<float> expected = expected_of(all, self.rank, shared, scale, sum_of);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(bf16_of(expected[i]), found[i]) << i;
}

// The sum over ranks of <P(x), g> equals that of <x, P(g)>, in f64.
void is_its_own_adjoint(const Rank &self) {
  const auto doubles = [&](uint64_t place) {
    std::vector<double> numbers;
    for (const float number : numbers_of(self.rank, place, kRows * kHidden)) numbers.push_back(number);
    return numbers;
  };
  for (const int64_t shared : {0, 33, 90}) {
    const PartialPlan plan = make_plan(self, kHidden, shared);
    const std::vector<double> x = doubles(44), g = doubles(45);
    std::vector<double> px(x.size()), pg(g.size());
    const Tensor tensors[] = {wrap(self.context, x, kRows, kHidden), wrap(self.context, px, kRows, kHidden),
                              wrap(self.context, g, kRows, kHidden), wrap(self.context, pg, kRows, kHidden)};
    ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_FORWARD, tensors[0], tensors[1])));
    ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_BACKWARD, tensors[2], tensors[3])));
    std::vector<double> gemms = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < x.size(); ++i) {
      gemms[0] += px[i] * g[i];
      gemms[1] += x[i] * pg[i];
      gemms[2] += std::fabs(px[i] * g[i]);
    }
    const Tensor sums = wrap(self.context, gemms, 1, 3);
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, sums.get(), nullptr, sums.get(), nullptr)));
    EXPECT_NEAR(gemms[0], gemms[1], 1e-12 * gemms[2]) << shared;
    EXPECT_GT(std::fabs(gemms[0]), 1e-6 * gemms[2]) << "a zero would prove nothing";
  }
}

// All columns shared: the bits of lpt_all_reduce(). One rank: those of the input, for any number of shared columns.
void is_a_whole_reduction_at_the_end(const Rank &self) {
  const std::vector<float> mine = numbers_of(self.rank, 46, kRows * kHidden);
  std::vector<float> whole(mine.size()), found(mine.size(), -1.0f);
  const Tensor input = wrap(self.context, mine, kRows, kHidden), sums = wrap(self.context, whole, kRows, kHidden);
  const Tensor output = wrap(self.context, found, kRows, kHidden);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, input.get(), nullptr, sums.get(), nullptr)));
  ASSERT_TRUE(self.ok(partial(self, make_plan(self, kHidden, kHidden), LPT_PARTIAL_PASS_FORWARD, input, output)));
  EXPECT_EQ(bytes_of(self.context, sums.get()), bytes_of(self.context, output.get()));
  if (self.ranks > 1) return;
  ASSERT_TRUE(self.ok(partial(self, make_plan(self, kHidden, 30), LPT_PARTIAL_PASS_FORWARD, input, output)));
  EXPECT_EQ(bytes_of(self.context, input.get()), bytes_of(self.context, output.get()));
}

// A residual stream through 32 small layers, each a function of the stream of the rank.
void shares_its_columns_for_ever(const Rank &self) {
  constexpr int64_t kShared = 45;
  const PartialPlan plan = make_plan(self, kHidden, kShared);
  std::vector<float> stream = numbers_of(0, 47, kRows * kHidden), block(stream.size());
  const Tensor whole = wrap(self.context, stream, kRows, kHidden), update = wrap(self.context, block, kRows, kHidden);
  const Tensor shared = view(self.context, whole.get(), {0, 0}, {kRows, kShared});
  const Tensor own = view(self.context, whole.get(), {0, kShared}, {kRows, kHidden - kShared});
  EXPECT_TRUE(is_same(self, whole)) << "the embeddings are";
  for (uint64_t layer = 0; layer < 32; ++layer) {
    const std::vector<float> weights = numbers_of(self.rank, 1000 + layer, kHidden);
    for (size_t i = 0; i < block.size(); ++i) {
      const size_t row = i / kHidden * kHidden;
      block[i] = std::tanh(weights[i % kHidden] * stream[row + (i * 7 + 3) % kHidden]);
    }
    ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_FORWARD, update, update)));
    for (size_t i = 0; i < block.size(); ++i) stream[i] += block[i];
  }
  EXPECT_TRUE(is_same(self, shared));
  EXPECT_EQ(self.ranks == 1, is_same(self, own));
}

// Partial sums of variance 1: scaled by the root, shared and private columns have equal variance.
void keeps_the_variance(const Rank &self) {
  constexpr int64_t kTall = 1500, kShared = kHidden / 2;
  std::vector<float> numbers = numbers_of(self.rank, 48, kTall * kHidden);
  const Tensor both = wrap(self.context, numbers, kTall, kHidden);
  ASSERT_TRUE(self.ok(partial(self, make_plan(self, kHidden, kShared), LPT_PARTIAL_PASS_FORWARD, both, both)));
  double squares[2] = {};
  for (size_t i = 0; i < numbers.size(); ++i) {
    squares[static_cast<int64_t>(i % kHidden) < kShared] += static_cast<double>(numbers[i]) * numbers[i];
  }
  EXPECT_NEAR(1.0, std::sqrt(squares[1] / squares[0]), 0.01) << self.ranks;
}

// Half of the columns send half of the bytes, none sends none, and the plan reports these bytes.
void sends_what_the_plan_says(const Rank &self) {
  constexpr int64_t kTall = 1024, kWide = 64;
  std::vector<float> numbers(kTall * kWide, 1.0f);
  const Tensor both = wrap(self.context, numbers, kTall, kWide);
  std::vector<double> sent;
  for (const int64_t shared : {kWide, kWide / 2, kWide / 4, int64_t{0}}) {
    const PartialPlan plan = make_plan(self, kWide, shared);
    const lpt_comm_info before = read(self);
    ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_FORWARD, both, both)));
    const lpt_comm_info after = read(self);
    sent.push_back(static_cast<double>(after.bytes_sent - before.bytes_sent));
    EXPECT_EQ(shared == 0 ? 0 : 1, after.collectives - before.collectives);
    lpt_partial_plan_info values = LPT_PARTIAL_PLAN_INFO_INIT;
    ASSERT_TRUE(self.ok(lpt_partial_plan_read(self.context, plan.get(), LPT_FORMAT_F32, &values)));
    EXPECT_DOUBLE_EQ(values.forward_row_bytes, 2.0 * (self.ranks - 1) / self.ranks * static_cast<double>(shared) * 4);
    EXPECT_DOUBLE_EQ(values.forward_row_bytes, values.backward_row_bytes);
  }
  const Tensor sums = wrap(self.context, sent, 1, 4);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, sums.get(), nullptr, sums.get(), nullptr)));
  EXPECT_EQ(2.0 * (self.ranks - 1) * kTall * kWide * 4, sent[0]);
  EXPECT_EQ(sent[0] / 2, sent[1]);
  EXPECT_EQ(sent[0] / 4, sent[2]);
  EXPECT_EQ(0.0, sent[3]);
}

// Returns the bytes that a step of a stack sends over all ranks: P of each layer in both passes, and all columns at the entry.
int64_t sent_by_a_stack(const Rank &self, int64_t layers, int64_t shared, std::vector<uint16_t> &stream, int64_t wide) {
  const auto rows = static_cast<int64_t>(stream.size()) / wide;
  const Tensor both = wrap(self.context, LPT_FORMAT_BF16, stream.data(), rows, wide);
  const PartialPlan plan = make_plan(self, wide, shared);
  const int64_t before = read(self).bytes_sent;
  for (const lpt_partial_pass pass : {LPT_PARTIAL_PASS_FORWARD, LPT_PARTIAL_PASS_BACKWARD}) {
    for (int64_t i = 0; i < layers; ++i) EXPECT_TRUE(self.ok(partial(self, plan, pass, both, both)));
  }
  EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr)));
  std::vector<double> sent = {static_cast<double>(read(self).bytes_sent - before)};
  const Tensor sum = wrap(self.context, sent, 1, 1);
  EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, sum.get(), nullptr, sum.get(), nullptr)));
  return static_cast<int64_t>(sent[0]);
}

void sends_what_a_stack_is_said_to(const Rank &self) {
  constexpr int64_t kTall = 1024, kWide = 128, kBytes = 2;
  std::vector<uint16_t> stream(kTall * kWide, 0);
  for (const int64_t layers : {1, 3}) {
    for (const int64_t shared : {kWide, kWide / 2, kWide / 4}) {
      const int64_t row_elements = 2 * layers * shared + kWide;
      EXPECT_EQ(2 * (self.ranks - 1) * kTall * row_elements * kBytes,
                sent_by_a_stack(self, layers, shared, stream, kWide))
          << layers << " layers, " << shared << " shared";
    }
  }
}

void flies_while_the_caller_goes_on(const Rank &self) {
  const auto all = numbers_of_all(self.ranks, 49, kRows * kHidden);
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(self.ranks)));
  for (const int64_t shared : {int64_t{0}, int64_t{45}, kHidden}) {
    const PartialPlan plan = make_plan(self, kHidden, shared);
    std::vector<float> mine = all[static_cast<size_t>(self.rank)];
    const Tensor both = wrap(self.context, mine, kRows, kHidden);
    lpt_future *raw = nullptr;
    ASSERT_TRUE(self.ok(lpt_partial_all_reduce(self.context, self.comm, plan.get(), LPT_PARTIAL_PASS_FORWARD,
                                               both.get(), both.get(), &raw)));
    const Future future(raw);
    const float last = scale * all[static_cast<size_t>(self.rank)].back();
    EXPECT_TRUE(shared == kHidden || mine.back() == last) << "done already";
    ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future.get())));
    EXPECT_EQ(expected_of(all, self.rank, shared, scale, sum_of), mine) << shared;
  }
}

void takes_other_scales(const Rank &self) {
  const auto all = numbers_of_all(self.ranks, 50, kRows * kHidden);
  const std::pair<lpt_partial_scale, float> rules[] = {{LPT_PARTIAL_SCALE_ONE, 1.0f},
                                                       {LPT_PARTIAL_SCALE_CUSTOM, -0.3f}};
  for (const auto &[rule, scale] : rules) {
    lpt_partial_plan_options options = options_of(self, kHidden, 20);
    options.private_scale = rule;
    options.custom_scale = static_cast<double>(scale);
    const PartialPlan plan = make_plan(self, options);
    std::vector<float> mine = all[static_cast<size_t>(self.rank)];
    const Tensor both = wrap(self.context, mine, kRows, kHidden);
    ASSERT_TRUE(self.ok(partial(self, plan, LPT_PARTIAL_PASS_FORWARD, both, both)));
    EXPECT_EQ(expected_of(all, self.rank, 20, scale, sum_of), mine) << rule;
  }
}

// Scaled weights and a plan without scale: the outputs are equal except for the order of a rounding.
void scales_weights_instead(const Rank &self) {
  constexpr int64_t kInner = 12, kShared = 40;
  const std::vector<float> weight = numbers_of(self.rank, 51, kHidden * kInner);
  std::vector<float> scaled = weight;
  const PartialPlan plan = make_plan(self, kHidden, kShared);
  const Tensor tensor = wrap(self.context, scaled, kHidden, kInner);
  ASSERT_TRUE(self.ok(lpt_partial_scale_weight(self.context, plan.get(), tensor.get())));
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(self.ranks)));
  for (size_t i = 0; i < weight.size(); ++i) {
    const bool is_shared = static_cast<int64_t>(i) / kInner < kShared;
    ASSERT_EQ(is_shared ? weight[i] : scale * weight[i], scaled[i]) << i;
  }
}

// Different plans on the ranks are an error.
void finds_plans_that_differ(const Rank &self) {
  if (self.ranks == 1) return;
  std::vector<float> mine(kRows * kHidden, 1.0f);
  const Tensor both = wrap(self.context, mine, kRows, kHidden);
  // On a split comm, because the comm is unusable after the error.
  lpt_comm *raw = nullptr;
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, 0, self.rank, &raw)));
  const Comm part(raw);
  const Rank there{self.context, part.get(), self.rank, self.ranks};
  EXPECT_EQ(LPT_MISMATCH,
            partial(there, make_plan(there, kHidden, self.rank == 0 ? 44 : 45), LPT_PARTIAL_PASS_FORWARD, both, both));
  expect_words({"partial_all_reduce", "44", "45"}, lpt_context_error(self.context));
}

void finds_passes_that_differ(const Rank &self) {
  if (self.ranks == 1) return;
  std::vector<float> mine(kRows * kHidden, 1.0f);
  const Tensor both = wrap(self.context, mine, kRows, kHidden);
  lpt_comm *raw = nullptr;
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, 0, self.rank, &raw)));
  const Comm part(raw);
  const Rank there{self.context, part.get(), self.rank, self.ranks};
  const lpt_partial_pass pass = self.rank == 0 ? LPT_PARTIAL_PASS_FORWARD : LPT_PARTIAL_PASS_BACKWARD;
  EXPECT_EQ(LPT_MISMATCH, partial(there, make_plan(there, kHidden, 44), pass, both, both));
  expect_words({"forward", "backward"}, lpt_context_error(self.context));
}

// Equals an all-reduce of the shared columns with the same wire format. Private columns are exact.
void sends_what_its_wires_are(const Rank &self) {
  constexpr int64_t kWideRows = 200, kShared = 44;
  lpt_partial_plan_options given = options_of(self, kHidden, kShared);
  given.forward_wire = LPT_FORMAT_INT8_1X32;
  given.backward_wire = LPT_FORMAT_BF16;
  const PartialPlan plan = make_plan(self, given);
  for (const lpt_partial_pass pass : {LPT_PARTIAL_PASS_FORWARD, LPT_PARTIAL_PASS_BACKWARD}) {
    std::vector<float> mine = numbers_of(self.rank, 77, kWideRows * kHidden), found(mine.size());
    std::vector<float> expected = mine;
    const Tensor input = wrap(self.context, mine, kWideRows, kHidden);
    const Tensor output = wrap(self.context, found, kWideRows, kHidden);
    ASSERT_TRUE(self.ok(partial(self, plan, pass, input, output)));
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.wire = pass == LPT_PARTIAL_PASS_FORWARD ? given.forward_wire : given.backward_wire;
    const Tensor whole = wrap(self.context, expected, kWideRows, kHidden);
    const Tensor shared = view(self.context, whole.get(), {0, 0}, {kWideRows, kShared});
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, shared.get(), &options, shared.get(), nullptr)));
    const auto scale = static_cast<float>(std::sqrt(static_cast<double>(self.ranks)));
    for (size_t i = 0; i < found.size(); ++i) {
      const bool is_shared = static_cast<int64_t>(i) % kHidden < kShared;
      ASSERT_EQ(is_shared ? expected[i] : scale * mine[i], found[i]) << i;
    }
  }
}

void finds_passes_that_differ_on_a_wire(const Rank &self) {
  if (self.ranks == 1) return;
  constexpr int64_t kWideRows = 200;
  std::vector<float> mine(kWideRows * kHidden, 1.0f);
  const Tensor both = wrap(self.context, mine, kWideRows, kHidden);
  lpt_comm *raw = nullptr;
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, 0, self.rank, &raw)));
  const Comm part(raw);
  const Rank there{self.context, part.get(), self.rank, self.ranks};
  lpt_partial_plan_options options = options_of(there, kHidden, 44);
  options.forward_wire = options.backward_wire = LPT_FORMAT_INT8_1X32;
  const lpt_partial_pass pass = self.rank == 0 ? LPT_PARTIAL_PASS_FORWARD : LPT_PARTIAL_PASS_BACKWARD;
  EXPECT_EQ(LPT_MISMATCH, partial(there, make_plan(there, options), pass, both, both));
}

void rejects_what_does_not_fit(const Rank &self) {
  const Tensor good = make_tensor(self.context, LPT_FORMAT_F32, 4, kHidden);
  const Tensor narrow = make_tensor(self.context, LPT_FORMAT_F32, 4, kHidden - 1);
  const Tensor half = make_tensor(self.context, LPT_FORMAT_BF16, 4, kHidden);
  const Tensor codes = make_tensor(self.context, LPT_FORMAT_E4M3FN, 4, kHidden);
  const PartialPlan plan = make_plan(self, kHidden, 40);
  const auto reject = [&](const PartialPlan &given, lpt_partial_pass pass, const Tensor &input, const Tensor &output,
                          const std::vector<const char *> &words) {
    EXPECT_NE(LPT_OK, partial(self, given, pass, input, output));
    expect_words(words, lpt_context_error(self.context));
  };
  reject(plan, LPT_PARTIAL_PASS_FORWARD, narrow, narrow, {"input has 89 columns", "90"});
  reject(plan, LPT_PARTIAL_PASS_FORWARD, good, narrow, {"output is 4 x 89", "4 x 90"});
  reject(plan, LPT_PARTIAL_PASS_FORWARD, good, half, {"output is bf16", "f32"});
  reject(plan, LPT_PARTIAL_PASS_FORWARD, codes, codes, {"input is e4m3fn", "bf16"});
  reject(plan, 2, good, good, {"pass is 2"});
  reject(plan, LPT_PARTIAL_PASS_FORWARD, nullptr, good, {"input is NULL"});
  reject(plan, LPT_PARTIAL_PASS_FORWARD, good, nullptr, {"output is NULL"});
  reject(nullptr, LPT_PARTIAL_PASS_FORWARD, good, good, {"plan is NULL"});
  lpt_partial_plan_options options = options_of(self, kHidden, 40);
  options.rank_count += 1;
  reject(make_plan(self, options), LPT_PARTIAL_PASS_FORWARD, good, good, {"comm has", "as the plan"});
  options = options_of(self, kHidden, 40);
  options.backward_wire = LPT_FORMAT_F64;
  reject(make_plan(self, options), LPT_PARTIAL_PASS_BACKWARD, good, good, {"backward_wire", "f64"});
  options.backward_wire = LPT_FORMAT_F32;
  EXPECT_TRUE(self.ok(partial(self, make_plan(self, options), LPT_PARTIAL_PASS_BACKWARD, good, good)));
  EXPECT_NE(LPT_OK, lpt_partial_all_reduce(self.context, nullptr, plan.get(), 0, good.get(), good.get(), nullptr));
  expect_words({"comm is NULL"}, lpt_context_error(self.context));
  EXPECT_NE(LPT_OK, lpt_partial_scale_weight(self.context, plan.get(), good.get()));
  expect_words({"weight has 4 rows", "90"}, lpt_context_error(self.context));
  const auto reject_many = [&](std::vector<lpt_tensor *> tensors, const std::vector<const char *> &words) {
    EXPECT_NE(LPT_OK, lpt_all_reduce_many(self.context, self.comm, tensors.data(), static_cast<int64_t>(tensors.size()),
                                          nullptr, nullptr));
    expect_words(words, lpt_context_error(self.context));
  };
  reject_many({good.get(), half.get()}, {"tensors[1] is bf16", "f32"});
  reject_many({good.get(), narrow.get(), good.get()}, {"tensors[0]", "tensors[2]", "once"});
  reject_many({nullptr}, {"tensors[0] is NULL"});
  EXPECT_NE(LPT_OK, lpt_all_reduce_many(self.context, self.comm, nullptr, -1, nullptr, nullptr));
  EXPECT_NE(LPT_OK, lpt_all_reduce_many(self.context, self.comm, nullptr, 2, nullptr, nullptr));
  EXPECT_NE(LPT_OK, lpt_comm_compare(self.context, self.comm, good.get(), nullptr));
  EXPECT_NE(LPT_OK, lpt_comm_compare(self.context, self.comm, nullptr, nullptr));
}

}  // namespace

std::vector<Case> partial_cases() {
  return {{"AddsSharedAndScalesPrivate", adds_shared_and_scales_private},
          {"KeepsWhatLiesBesideItsColumns", keeps_what_lies_beside_its_columns},
          {"RoundsHalvesOnce", rounds_halves_once},
          {"IsItsOwnAdjoint", is_its_own_adjoint},
          {"IsAWholeReductionAtTheEnd", is_a_whole_reduction_at_the_end},
          {"SharesItsColumnsForEver", shares_its_columns_for_ever},
          {"KeepsTheVariance", keeps_the_variance},
          {"SendsWhatThePlanSays", sends_what_the_plan_says},
          {"SendsWhatAStackIsSaidTo", sends_what_a_stack_is_said_to},
          {"FliesWhileTheCallerGoesOn", flies_while_the_caller_goes_on},
          {"TakesOtherScales", takes_other_scales},
          {"ScalesWeightsInstead", scales_weights_instead},
          {"FindsPlansThatDiffer", finds_plans_that_differ, true},
          {"FindsPassesThatDifferOnAWire", finds_passes_that_differ_on_a_wire, true},
          {"FindsPassesThatDiffer", finds_passes_that_differ, true},
          {"SendsWhatItsWiresAre", sends_what_its_wires_are},
          {"RejectsWhatDoesNotFit", rejects_what_does_not_fit}};
}

}  // namespace lpt::test
