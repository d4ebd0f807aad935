// The one-bit average against its definition, and the sum of its errors.
#include <cmath>

#include "tests/comm/wire_oracle.hpp"

namespace lpt::test {
namespace {

// The error tensors that a rank keeps.
struct Site {
  Numbers worker_error, server_error;
};

Site new_site(const Rank &self, int64_t count) {
  int64_t share = -1;
  EXPECT_TRUE(self.ok(lpt_all_reduce_signs_share(self.context, self.comm, count, &share)));
  return {Numbers(static_cast<size_t>(count)), Numbers(static_cast<size_t>(share))};
}

lpt_status reduce_signs(const Rank &self, Site &site, const lpt_tensor *input, lpt_tensor *output) {
  const Tensor worker = wrap(self.context, site.worker_error, 1, static_cast<int64_t>(site.worker_error.size()));
  const Tensor server = wrap(self.context, site.server_error, 1, static_cast<int64_t>(site.server_error.size()));
  return lpt_all_reduce_signs(self.context, self.comm, input, worker.get(), server.get(), output, nullptr);
}

// Returns signs times scale. The error remains in `numbers`.
Numbers one_bit(Numbers &numbers, size_t begin, size_t end) {
  double squares = 0.0;
  for (size_t i = begin; i < end; ++i) squares += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  const auto scale = static_cast<float>(std::sqrt(squares / static_cast<double>(end - begin)));
  Numbers signs(end - begin);
  for (size_t i = begin; i < end; ++i) {
    signs[i - begin] = numbers[i] >= 0.0f ? scale : -scale;
    numbers[i] -= signs[i - begin];
  }
  return signs;
}

struct World {
  std::vector<Numbers> worker_errors;
  Numbers server_error;  // of all shards
};

Numbers averaged(World &world, const std::vector<Numbers> &all) {
  const size_t count = all[0].size();
  const std::vector<int64_t> edges = share_edges(static_cast<int64_t>(count), static_cast<int32_t>(all.size()));
  for (size_t q = 0; q < all.size(); ++q) {
    for (size_t i = 0; i < count; ++i) world.worker_errors[q][i] += all[q][i];
  }
  Numbers result;
  for (size_t s = 0; s < all.size(); ++s) {
    const auto begin = static_cast<size_t>(edges[s]), end = static_cast<size_t>(edges[s + 1]);
    if (begin == end) continue;
    Numbers sum(end - begin);
    for (size_t q = 0; q < all.size(); ++q) {
      const Numbers signs = one_bit(world.worker_errors[q], begin, end);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] = q == 0 ? signs[i] : sum[i] + signs[i];
    }
    for (size_t i = 0; i < sum.size(); ++i) world.server_error[begin + i] += sum[i] / static_cast<float>(all.size());
    const Numbers signs = one_bit(world.server_error, begin, end);
    result.insert(result.end(), signs.begin(), signs.end());
  }
  return result;
}

// One assertion for all elements: one assertion of gtest per element would take most of the time.
::testing::AssertionResult are_near(const Numbers &expected, const Numbers &found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::fabs(expected[i] - found[i]) <= 1e-5f) continue;
    return ::testing::AssertionFailure() << "element " << i << " of " << expected.size() << ": " << found[i]
                                         << ", expected " << expected[i];
  }
  return ::testing::AssertionSuccess();
}

// Scales may differ by a rounding, because squares are added in a different order.
void averages_signs_and_keeps_errors(const Rank &self) {
  for (const int64_t count : {1, 7, 512, 1500, 9001, 200003}) {
    const auto size = static_cast<size_t>(count);
    World world{std::vector<Numbers>(static_cast<size_t>(self.ranks), Numbers(size)), Numbers(size)};
    Site site = new_site(self, count);
    for (uint64_t step = 0; step < 3; ++step) {
      const std::vector<Numbers> all = numbers_of_all(self.ranks, 200 + step, count);
      const Numbers expected = averaged(world, all);
      Numbers both = all[static_cast<size_t>(self.rank)];
      const Tensor tensor = wrap(self.context, both, 1, count);
      ASSERT_TRUE(self.ok(reduce_signs(self, site, tensor.get(), tensor.get())));
      ASSERT_TRUE(are_near(expected, both));
      ASSERT_TRUE(are_near(world.worker_errors[static_cast<size_t>(self.rank)], site.worker_error));
    }
  }
}

void takes_zero_for_positive(const Rank &self) {
  constexpr int64_t kCount = 600;
  Numbers both(kCount, -0.0f);
  both[3] = -2.0f;
  Site site = new_site(self, kCount);
  const Tensor tensor = wrap(self.context, both, 1, kCount);
  ASSERT_TRUE(self.ok(reduce_signs(self, site, tensor.get(), tensor.get())));
  for (size_t i = 0; i < 300; ++i) ASSERT_EQ(i == 3, both[i] < 0.0f) << i;
}

// Q2: the error of the mean decreases as 1 / steps.
void mean_of_outputs_goes_to_the_mean_of_inputs(const Rank &self) {
  constexpr int64_t kCount = 3000;
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 210, kCount);
  Site site = new_site(self, kCount);
  std::vector<double> sums(kCount);
  const auto error_after = [&](int32_t steps) {
    double squares = 0.0;
    for (size_t i = 0; i < kCount; ++i) {
      double exact = 0.0;
      for (const Numbers &numbers : all) exact += static_cast<double>(numbers[i]) / self.ranks;
      squares += std::pow(sums[i] / steps - exact, 2.0);
    }
    return std::sqrt(squares / kCount);
  };
  double early = 0.0;
  for (int32_t step = 1; step <= 640; ++step) {
    Numbers found(kCount);
    const Tensor input = wrap(self.context, all[static_cast<size_t>(self.rank)], 1, kCount);
    const Tensor output = wrap(self.context, found, 1, kCount);
    ASSERT_TRUE(self.ok(reduce_signs(self, site, input.get(), output.get())));
    for (size_t i = 0; i < kCount; ++i) sums[i] += static_cast<double>(found[i]);
    if (step == 40) early = error_after(step);
  }
  EXPECT_LT(error_after(640), early / 8.0) << "of 16 that one over the steps would be";
  EXPECT_LT(error_after(640), 0.02);
}

void sends_a_bit_for_each_element(const Rank &self) {
  constexpr int64_t kCount = 12345;
  const std::vector<int64_t> edges = share_edges(kCount, self.ranks);
  int64_t whole = 0, mine = 0;
  for (size_t q = 0; q + 1 < edges.size(); ++q) {
    const int64_t count = edges[q + 1] - edges[q], bytes = count == 0 ? 0 : 4 + (count + 7) / 8;
    whole += bytes;
    if (static_cast<int32_t>(q) == self.rank) mine = bytes;
  }
  Site site = new_site(self, kCount);
  EXPECT_EQ(edges[static_cast<size_t>(self.rank) + 1] - edges[static_cast<size_t>(self.rank)],
            static_cast<int64_t>(site.server_error.size()));
  Numbers both(kCount, 1.0f);
  const Tensor tensor = wrap(self.context, both, 1, kCount);
  const lpt_comm_info before = read(self);
  ASSERT_TRUE(self.ok(reduce_signs(self, site, tensor.get(), tensor.get())));
  EXPECT_EQ(whole - mine + (self.ranks - 1) * mine, read(self).bytes_sent - before.bytes_sent);
}

void averages_signs_of_columns(const Rank &self) {
  constexpr int64_t kRows = 41, kColumns = 75, kStride = 80;
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 220, kRows * kColumns);
  World world{std::vector<Numbers>(all.size(), Numbers(kRows * kColumns)), Numbers(kRows * kColumns)};
  const Numbers expected = averaged(world, all);
  Numbers wide(kRows * kStride, 7.0f);
  for (size_t i = 0; i < kRows * kColumns; ++i) {
    wide[i / kColumns * kStride + i % kColumns] = all[static_cast<size_t>(self.rank)][i];
  }
  Site site = new_site(self, kRows * kColumns);
  const Tensor both = wrap(self.context, LPT_FORMAT_F32, wide.data(), kRows, kColumns, kStride);
  ASSERT_TRUE(self.ok(reduce_signs(self, site, both.get(), both.get())));
  for (size_t i = 0; i < wide.size(); ++i) {
    const size_t r = i / kStride, c = i % kStride;
    ASSERT_NEAR(c < kColumns ? expected[r * kColumns + c] : 7.0f, wide[i], 1e-5f) << i;
  }
}

void rejects_errors_of_other_sizes(const Rank &self) {
  Numbers both(1000);
  const Tensor tensor = wrap(self.context, both, 1, 1000);
  Site site = new_site(self, 1000);
  site.worker_error.pop_back();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, reduce_signs(self, site, tensor.get(), tensor.get()));
  expect_words({"worker_error has 999", "expected 1000"}, lpt_context_error(self.context));
  site = new_site(self, 1000);
  site.server_error.push_back(0.0f);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, reduce_signs(self, site, tensor.get(), tensor.get()));
  expect_words({"server_error has"}, lpt_context_error(self.context));
  std::vector<uint16_t> halves(1000);
  const Tensor half = wrap(self.context, LPT_FORMAT_BF16, halves.data(), 1, 1000);
  site = new_site(self, 1000);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, reduce_signs(self, site, half.get(), half.get()));
  expect_words({"input is bf16", "f32"}, lpt_context_error(self.context));
  int64_t share = 0;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_all_reduce_signs_share(self.context, self.comm, -1, &share));
}

}  // namespace

std::vector<Case> signs_cases() {
  return {{"AveragesSignsAndKeepsErrors", averages_signs_and_keeps_errors},
          {"TakesZeroForPositive", takes_zero_for_positive},
          {"MeanOfOutputsGoesToTheMeanOfInputs", mean_of_outputs_goes_to_the_mean_of_inputs},
          {"SendsABitForEachElement", sends_a_bit_for_each_element},
          {"AveragesSignsOfColumns", averages_signs_of_columns},
          {"RejectsErrorsOfOtherSizes", rejects_errors_of_other_sizes}};
}

}  // namespace lpt::test
