// Reductions against their definition: ranks are added in rank order, in f32, and rounded once.
#include <cmath>

#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kCounts[] = {0, 1, 31, 32, 33, 1000, 70001};

float float_of(uint16_t half) { return float_of_bits(static_cast<uint32_t>(half) << 16); }

void adds_in_the_order_of_ranks(const Rank &self) {
  for (const int64_t count : kCounts) {
    const auto all = numbers_of_all(self.ranks, 1, count);
    std::vector<float> mine = all[static_cast<size_t>(self.rank)], sum(mine.size(), -1.0f);
    const Tensor input = wrap(self.context, mine, 1, count), output = wrap(self.context, sum, 1, count);
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, input.get(), nullptr, output.get(), nullptr)));
    for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum_of(all, i), sum[i]) << i << " of " << count;
    EXPECT_EQ(all[static_cast<size_t>(self.rank)], mine);
  }
}

void adds_in_place(const Rank &self) {
  for (const int64_t count : {7, 5000, 40000}) {
    const auto all = numbers_of_all(self.ranks, 2, count);
    std::vector<float> mine = all[static_cast<size_t>(self.rank)];
    const Tensor both = wrap(self.context, mine, 1, count);
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr)));
    for (size_t i = 0; i < mine.size(); ++i) ASSERT_EQ(sum_of(all, i), mine[i]) << i << " of " << count;
  }
}

// Columns of a wider matrix. Every rank has a different width; other columns are unchanged.
void adds_columns_of_a_matrix(const Rank &self) {
  constexpr int64_t kRows = 37, kColumns = 150;
  const int64_t stride = kColumns + 10 * (self.rank % 3);
  const auto all = numbers_of_all(self.ranks, 3, kRows * kColumns);
  std::vector<float> from(static_cast<size_t>(kRows * stride), 5.0f), to(static_cast<size_t>(kRows * stride), 7.0f);
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      from[static_cast<size_t>(r * stride + c)] =
          all[static_cast<size_t>(self.rank)][static_cast<size_t>(r * kColumns + c)];
    }
  }
  const Tensor input = wrap(self.context, LPT_FORMAT_F32, from.data(), kRows, kColumns, stride);
  const Tensor output = wrap(self.context, LPT_FORMAT_F32, to.data(), kRows, kColumns, stride);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, input.get(), nullptr, output.get(), nullptr)));
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < stride; ++c) {
      const float found = to[static_cast<size_t>(r * stride + c)];
      ASSERT_EQ(c < kColumns ? sum_of(all, static_cast<size_t>(r * kColumns + c)) : 7.0f, found) << r << ", " << c;
    }
  }
}

void adds_bf16_in_f32_and_rounds_once(const Rank &self) {
  constexpr int64_t kCount = 33333;
  std::vector<std::vector<uint16_t>> all;
  for (int32_t q = 0; q < self.ranks; ++q) all.push_back(halves_of(numbers_of(q, 4, kCount)));
  std::vector<uint16_t> sum(kCount);
  const Tensor input = wrap(self.context, LPT_FORMAT_BF16, all[static_cast<size_t>(self.rank)].data(), 1, kCount);
  const Tensor output = wrap(self.context, LPT_FORMAT_BF16, sum.data(), 1, kCount);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, input.get(), nullptr, output.get(), nullptr)));
  for (size_t i = 0; i < sum.size(); ++i) {
    float expected = float_of(all[0][i]);
    for (size_t q = 1; q < all.size(); ++q) expected += float_of(all[q][i]);
    ASSERT_EQ(bf16_of(expected), sum[i]) << i;
  }
}

void adds_f64(const Rank &self) {
  std::vector<double> mine(100), sum(100);
  for (size_t i = 0; i < mine.size(); ++i) mine[i] = 1.0 + std::ldexp(static_cast<double>(self.rank + 1), -40);
  const Tensor input = wrap(self.context, mine, 4, 25), output = wrap(self.context, sum, 4, 25);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, input.get(), nullptr, output.get(), nullptr)));
  const double expected = self.ranks + std::ldexp(self.ranks * (self.ranks + 1) / 2.0, -40);
  for (const double found : sum) ASSERT_EQ(expected, found);
}

void finds_averages_largest_and_smallest(const Rank &self) {
  constexpr int64_t kCount = 9000;
  const auto all = numbers_of_all(self.ranks, 5, kCount);
  std::vector<float> found(kCount);
  const Tensor input = wrap(self.context, all[static_cast<size_t>(self.rank)], 1, kCount);
  const Tensor output = wrap(self.context, found, 1, kCount);
  const auto reduce = [&](lpt_reduction reduction, double factor) {
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.reduction = reduction;
    options.factor = factor;
    EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, input.get(), &options, output.get(), nullptr)));
  };
  reduce(LPT_REDUCTION_AVERAGE, 1.0);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(sum_of(all, i) / static_cast<float>(self.ranks), found[i]) << i;
  reduce(LPT_REDUCTION_SUM, 0.375);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(0.375f * sum_of(all, i), found[i]) << i;
  reduce(LPT_REDUCTION_MAXIMUM, 1.0);
  for (size_t i = 0; i < found.size(); ++i) {
    float largest = all[0][i];
    for (const auto &numbers : all) largest = std::max(largest, numbers[i]);
    ASSERT_EQ(largest, found[i]) << i;
  }
  reduce(LPT_REDUCTION_MINIMUM, 1.0);
  for (size_t i = 0; i < found.size(); ++i) {
    float smallest = all[0][i];
    for (const auto &numbers : all) smallest = std::min(smallest, numbers[i]);
    ASSERT_EQ(smallest, found[i]) << i;
  }
}

void hands_a_nan_to_all(const Rank &self) {
  for (const lpt_reduction reduction :
       {LPT_REDUCTION_SUM, LPT_REDUCTION_AVERAGE, LPT_REDUCTION_MAXIMUM, LPT_REDUCTION_MINIMUM}) {
    std::vector<float> mine(100, 1.0f);
    if (self.rank == self.ranks - 1) mine[50] = std::nanf("");
    const Tensor both = wrap(self.context, mine, 1, 100);
    lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
    options.reduction = reduction;
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), &options, both.get(), nullptr)));
    for (size_t i = 0; i < mine.size(); ++i) ASSERT_EQ(i == 50, std::isnan(mine[i])) << i;
  }
}

// Shards of different sizes, one of them empty; as a vector and as rows.
std::vector<int64_t> uneven_counts(int32_t ranks) {
  std::vector<int64_t> counts;
  for (int32_t q = 0; q < ranks; ++q) counts.push_back(q == 1 ? 0 : 3 + 40 * q);
  return counts;
}

void scatters_sums(const Rank &self) {
  const std::vector<int64_t> counts = uneven_counts(self.ranks);
  int64_t whole = 0, begin = 0;
  for (int32_t q = 0; q < self.ranks; ++q) {
    if (q == self.rank) begin = whole;
    whole += counts[static_cast<size_t>(q)];
  }
  const int64_t mine = counts[static_cast<size_t>(self.rank)];
  for (const int64_t columns : {1, 77}) {
    const bool is_vector = columns == 1;
    const auto all = numbers_of_all(self.ranks, 6, whole * columns);
    std::vector<float> part(static_cast<size_t>(mine * columns), -1.0f);
    const std::vector<int64_t> extents = is_vector ? std::vector<int64_t>{whole} : std::vector<int64_t>{whole, columns};
    lpt_tensor_description from = LPT_TENSOR_DESCRIPTION_INIT;
    from.format = LPT_FORMAT_F32;
    from.data = const_cast<float *>(all[static_cast<size_t>(self.rank)].data());
    from.rank = static_cast<int32_t>(extents.size());
    from.extents = extents.data();
    Tensor input;
    ASSERT_TRUE(self.ok(lpt_tensor_wrap(self.context, &from, out(input))));
    const Tensor output = is_vector ? wrap(self.context, part, 1, mine) : wrap(self.context, part, mine, columns);
    ASSERT_TRUE(self.ok(
        lpt_reduce_scatter(self.context, self.comm, input.get(), counts.data(), nullptr, output.get(), nullptr)));
    for (size_t i = 0; i < part.size(); ++i) {
      ASSERT_EQ(sum_of(all, static_cast<size_t>(begin * columns) + i), part[i]) << i;
    }
  }
}

void runs_behind_the_caller(const Rank &self) {
  constexpr int64_t kCount = 20000;
  std::vector<std::vector<float>> tensors;
  std::vector<Tensor> handles;
  std::vector<Future> futures;
  for (uint64_t k = 0; k < 5; ++k) tensors.push_back(numbers_of(self.rank, 10 + k, kCount));
  for (std::vector<float> &numbers : tensors) {
    handles.push_back(wrap(self.context, numbers, 1, kCount));
    lpt_future *future = nullptr;
    ASSERT_TRUE(
        self.ok(lpt_all_reduce(self.context, self.comm, handles.back().get(), nullptr, handles.back().get(), &future)));
    futures.emplace_back(future);
  }
  // A call without a future runs after them.
  ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
  for (const Future &future : futures) {
    int32_t is_done = 0;
    ASSERT_TRUE(self.ok(lpt_future_is_done(self.context, future.get(), &is_done)));
    EXPECT_EQ(1, is_done);
    ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future.get())));
    ASSERT_TRUE(self.ok(lpt_future_wait(self.context, future.get())));
  }
  for (uint64_t k = 0; k < 5; ++k) {
    const auto all = numbers_of_all(self.ranks, 10 + k, kCount);
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(sum_of(all, i), tensors[k][i]) << k << ", " << i;
  }
}

// All ranks together send 2 · (R - 1) times the tensor, and receive the same number of bytes.
void counts_its_bytes(const Rank &self) {
  constexpr int64_t kCount = 1 << 16;
  std::vector<float> mine(kCount, 1.0f);
  const Tensor both = wrap(self.context, mine, 1, kCount);
  const lpt_comm_info before = read(self);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr)));
  const lpt_comm_info after = read(self);
  EXPECT_EQ(before.collectives + 1, after.collectives);
  std::vector<double> sent = {static_cast<double>(after.bytes_sent - before.bytes_sent),
                              static_cast<double>(after.bytes_received - before.bytes_received)};
  const Tensor sums = wrap(self.context, sent, 1, 2);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, sums.get(), nullptr, sums.get(), nullptr)));
  EXPECT_EQ(2.0 * (self.ranks - 1) * kCount * 4, sent[0]);
  EXPECT_EQ(sent[0], sent[1]);
}

}  // namespace

std::vector<Case> reduce_cases() {
  return {{"AddsInTheOrderOfRanks", adds_in_the_order_of_ranks},
          {"AddsInPlace", adds_in_place},
          {"AddsColumnsOfAMatrix", adds_columns_of_a_matrix},
          {"AddsBf16InF32AndRoundsOnce", adds_bf16_in_f32_and_rounds_once},
          {"AddsF64", adds_f64},
          {"FindsAveragesLargestAndSmallest", finds_averages_largest_and_smallest},
          {"HandsANanToAll", hands_a_nan_to_all},
          {"ScattersSums", scatters_sums},
          {"RunsBehindTheCaller", runs_behind_the_caller},
          {"CountsItsBytes", counts_its_bytes}};
}

}  // namespace lpt::test
