// Activations whose rows are split among ranks: gathers and scatters that are adjoint to each other.
#include "tests/comm/partial.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kColumns = 50;

// Uneven counts, one of them zero.
std::vector<int64_t> row_counts_of(int32_t ranks) {
  std::vector<int64_t> counts;
  for (int32_t q = 0; q < ranks; ++q) counts.push_back(q == 1 ? 0 : 2 + q);
  return counts;
}

struct Split {
  std::vector<int64_t> counts;
  int64_t rows = 0, first = 0, own = 0;
  explicit Split(const Rank &self) : counts(row_counts_of(self.ranks)) {
    for (int32_t q = 0; q < self.ranks; ++q) {
      if (q == self.rank) first = rows;
      rows += counts[static_cast<size_t>(q)];
    }
    own = counts[static_cast<size_t>(self.rank)];
  }
};

void gathers_rows(const Rank &self) {
  const Split split(self);
  std::vector<float> expected, mine = numbers_of(self.rank, 600, split.own * kColumns);
  for (int32_t q = 0; q < self.ranks; ++q) {
    const std::vector<float> rows = numbers_of(q, 600, split.counts[static_cast<size_t>(q)] * kColumns);
    expected.insert(expected.end(), rows.begin(), rows.end());
  }
  std::vector<float> found(expected.size(), -1.0f);
  const Tensor input = wrap(self.context, mine, split.own, kColumns),
               output = wrap(self.context, found, split.rows, kColumns);
  ASSERT_TRUE(self.ok(
      lpt_sequence_gather(self.context, self.comm, nullptr, input.get(), split.counts.data(), output.get(), nullptr)));
  EXPECT_EQ(expected, found);
}

void scatters_sums_of_rows(const Rank &self) {
  const Split split(self);
  const auto all = numbers_of_all(self.ranks, 601, split.rows * kColumns);
  std::vector<float> mine = all[static_cast<size_t>(self.rank)],
                     found(static_cast<size_t>(split.own * kColumns), -1.0f);
  const Tensor input = wrap(self.context, mine, split.rows, kColumns),
               output = wrap(self.context, found, split.own, kColumns);
  const PartialPlan plan = make_plan(self, kColumns, kColumns);
  ASSERT_TRUE(self.ok(lpt_sequence_scatter(self.context, self.comm, plan.get(), LPT_PARTIAL_PASS_FORWARD, input.get(),
                                           split.counts.data(), output.get(), nullptr)));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(sum_of(all, static_cast<size_t>(split.first * kColumns) + i), found[i]) << i;
  }
}

// Σ⟨gather(x), g⟩ = Σ⟨x, scatter(g)⟩ over ranks, in f64.
void is_a_pair_of_adjoints(const Rank &self) {
  const Split split(self);
  const std::vector<double> x = draw_normal(610 + static_cast<uint64_t>(self.rank), split.own * kColumns);
  const std::vector<double> g = draw_normal(630 + static_cast<uint64_t>(self.rank), split.rows * kColumns);
  std::vector<double> gathered(g.size()), scattered(x.size());
  const Tensor x_tensor = wrap(self.context, x, split.own, kColumns),
               g_tensor = wrap(self.context, g, split.rows, kColumns);
  const Tensor up = wrap(self.context, gathered, split.rows, kColumns),
               down = wrap(self.context, scattered, split.own, kColumns);
  ASSERT_TRUE(self.ok(
      lpt_sequence_gather(self.context, self.comm, nullptr, x_tensor.get(), split.counts.data(), up.get(), nullptr)));
  ASSERT_TRUE(self.ok(lpt_sequence_scatter(self.context, self.comm, nullptr, LPT_PARTIAL_PASS_BACKWARD, g_tensor.get(),
                                           split.counts.data(), down.get(), nullptr)));
  std::vector<double> sums = {0.0, 0.0, 0.0};
  for (size_t i = 0; i < g.size(); ++i) sums[0] += gathered[i] * g[i];
  for (size_t i = 0; i < x.size(); ++i) sums[1] += x[i] * scattered[i];
  for (size_t i = 0; i < g.size(); ++i) sums[2] += std::fabs(gathered[i] * g[i]);
  const Tensor both = wrap(self.context, sums, 1, 3);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr)));
  EXPECT_NEAR(sums[0], sums[1], 1e-12 * sums[2]);
}

// Uses the wire format of the plan for this pass: equals a reduction with this wire format.
void transfers_by_its_wire(const Rank &self) {
  const int64_t rows = 40 * self.ranks;
  const std::vector<float> mine = numbers_of(self.rank, 602, rows * kColumns);
  std::vector<float> found(static_cast<size_t>(40 * kColumns)), expected = found;
  lpt_partial_plan_options given = options_of(self, kColumns, kColumns);
  given.backward_wire = LPT_FORMAT_INT8_1X32;
  const PartialPlan plan = make_plan(self, given);
  const Tensor input = wrap(self.context, mine, rows, kColumns), output = wrap(self.context, found, 40, kColumns);
  const Tensor other = wrap(self.context, expected, 40, kColumns);
  for (const lpt_partial_pass pass : {LPT_PARTIAL_PASS_FORWARD, LPT_PARTIAL_PASS_BACKWARD}) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.wire = pass == LPT_PARTIAL_PASS_BACKWARD ? LPT_FORMAT_INT8_1X32 : LPT_FORMAT_NONE;
    ASSERT_TRUE(self.ok(
        lpt_sequence_scatter(self.context, self.comm, plan.get(), pass, input.get(), nullptr, output.get(), nullptr)));
    ASSERT_TRUE(
        self.ok(lpt_reduce_scatter(self.context, self.comm, input.get(), nullptr, &options, other.get(), nullptr)));
    EXPECT_EQ(expected, found) << pass;
  }
}

void rejects_private_columns(const Rank &self) {
  const PartialPlan plan = make_plan(self, kColumns, kColumns - 1), wide = make_plan(self, kColumns + 1, kColumns + 1);
  const std::vector<float> numbers(static_cast<size_t>(self.ranks * kColumns), 1.0f);
  const Tensor all = wrap(self.context, numbers, self.ranks, kColumns),
               one = make_tensor(self.context, LPT_FORMAT_F32, 1, kColumns);
  const Tensor line = make_tensor(self.context, LPT_FORMAT_F32, {kColumns});
  const auto gather = [&](const PartialPlan &given, const Tensor &input) {
    return lpt_sequence_gather(self.context, self.comm, given.get(), input.get(), nullptr, all.get(), nullptr);
  };
  EXPECT_EQ(LPT_UNSUPPORTED, gather(plan, one));
  expect_words({"49 of 50 columns", "private", "sequence"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_sequence_scatter(self.context, self.comm, plan.get(), LPT_PARTIAL_PASS_FORWARD,
                                                  all.get(), nullptr, one.get(), nullptr));
  expect_words({"49 of 50 columns", "private", "sequence"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, gather(wide, one));
  expect_words({"input has 50 columns", "51", "plan"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, gather(nullptr, line));
  expect_words({"rank 2 or more"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_sequence_scatter(self.context, self.comm, nullptr, 2, all.get(), nullptr, one.get(), nullptr));
  expect_words({"pass is 2"}, lpt_context_error(self.context));
  EXPECT_TRUE(self.ok(lpt_barrier(self.context, self.comm))) << "no one has heard of it";
}

}  // namespace

std::vector<Case> sequence_cases() {
  return {{"SequenceGathersRows", gathers_rows},
          {"SequenceScattersSumsOfRows", scatters_sums_of_rows},
          {"SequenceIsAPairOfAdjoints", is_a_pair_of_adjoints},
          {"SequenceIsSentInItsWireFormat", transfers_by_its_wire},
          {"SequenceRejectsPrivateColumns", rejects_private_columns}};
}

}  // namespace lpt::test
