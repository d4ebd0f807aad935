// Collectives by packets, against scalar sums of what has arrived.
#include <numeric>

#include "tests/comm/lossy.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kColumns = 23, kStride = 30, kBegin = 3;

// The input of one rank and its output, each with gaps between rows.
struct Operands {
  Operands(const Rank &self, const std::vector<int64_t> &counts, uint64_t place)
      : rows(std::accumulate(counts.begin(), counts.end(), int64_t{0})),
        part_rows(counts[static_cast<size_t>(self.rank)]),
        first(kColumns * std::accumulate(counts.begin(), counts.begin() + self.rank, int64_t{0})),
        all(numbers_of_all(self.ranks, place, rows * kColumns)),
        input_memory(static_cast<size_t>(rows * kStride), -7.0f),
        output_memory(static_cast<size_t>(part_rows * kStride), -7.0f) {
    const std::vector<float> &own = all[static_cast<size_t>(self.rank)];
    for (int64_t i = 0; i < rows * kColumns; ++i) input_memory[index(i)] = own[static_cast<size_t>(i)];
    const Tensor wide = wrap(self.context, LPT_FORMAT_F32, input_memory.data(), rows, kStride);
    const Tensor wide_output = wrap(self.context, LPT_FORMAT_F32, output_memory.data(), part_rows, kStride);
    input = view(self.context, wide.get(), {0, kBegin}, {rows, kColumns});
    output = view(self.context, wide_output.get(), {0, kBegin}, {part_rows, kColumns});
  }

  static size_t index(int64_t i) { return static_cast<size_t>(i / kColumns * kStride + kBegin + i % kColumns); }

  // Compares the output with value(i, k) for each element i of the full tensor and its packet k. Gaps are unchanged.
  template <typename Value>
  void expect(int64_t packet_elements, const Value &value) const {
    std::vector<float> expected(output_memory.size(), -7.0f);
    for (int64_t i = 0; i < part_rows * kColumns; ++i) {
      expected[index(i)] = value(static_cast<size_t>(first + i), static_cast<size_t>(i / packet_elements));
    }
    EXPECT_EQ(expected, output_memory);
  }

  const int64_t rows, part_rows, first;
  const std::vector<std::vector<float>> all;
  std::vector<float> input_memory, output_memory;
  Tensor input, output;
};

void lossless_averages_are_exact(const Rank &self) {
  const LossyLink link = make_link(self, lossy_options(64));
  std::vector<int64_t> counts = uneven_counts(self.ranks, 4);
  if (self.ranks > 2) counts[1] = 0;
  for (const lpt_lossy_mode mode : {LPT_LOSSY_MODE_COUNT, LPT_LOSSY_MODE_HORVITZ_THOMPSON}) {
    const Operands of(self, counts, 300 + static_cast<uint64_t>(mode));
    ASSERT_TRUE(self.ok(lpt_lossy_reduce_scatter(self.context, link.get(), of.input.get(), counts.data(), mode, nullptr,
                                                 0, of.output.get(), nullptr)));
    of.expect(16, [&](size_t i, size_t) { return sum_of(of.all, i) / static_cast<float>(self.ranks); });
  }
  EXPECT_EQ(0, read(self, link).lost_count);
}

// All ranks send only to rank 0, which waits for them and has to get more packets than its receive buffer holds.
void large_lossless_averages_have_the_bits_of_reliable_ones(const Rank &self) {
  constexpr int64_t kCount = 60'000, kPackets = kCount / 4;
  const LossyLink link = make_link(self, lossy_options(8));
  const std::vector<float> numbers = numbers_of(self.rank, 310, kCount);
  std::vector<uint16_t> halves;
  for (const float x : numbers) halves.push_back(bf16_of(x));
  std::vector<int64_t> counts(static_cast<size_t>(self.ranks), 0);
  counts[0] = kCount;
  const int64_t part = self.rank == 0 ? kCount : 0;
  const Tensor input = wrap_axes(self.context, LPT_FORMAT_BF16, halves.data(), {kCount});
  for (const lpt_lossy_mode mode : {LPT_LOSSY_MODE_COUNT, LPT_LOSSY_MODE_HORVITZ_THOMPSON}) {
    std::vector<uint16_t> found(kCount), expected(kCount);
    const Tensor output = wrap_axes(self.context, LPT_FORMAT_BF16, found.data(), {part});
    const Tensor reliable = wrap_axes(self.context, LPT_FORMAT_BF16, expected.data(), {part});
    lpt_reduce_options average = LPT_REDUCE_OPTIONS_INIT;
    average.reduction = LPT_REDUCTION_AVERAGE;
    ASSERT_TRUE(self.ok(
        lpt_reduce_scatter(self.context, self.comm, input.get(), counts.data(), &average, reliable.get(), nullptr)));
    ASSERT_TRUE(self.ok(lpt_lossy_reduce_scatter(self.context, link.get(), input.get(), counts.data(), mode, nullptr, 0,
                                                 output.get(), nullptr)));
    EXPECT_EQ(expected, found);
  }
  const lpt_lossy_link_info info = read(self, link);
  EXPECT_EQ(0, info.lost_count + info.unsent_count);
  EXPECT_EQ(self.rank == 0 ? 0 : 2 * kPackets, info.sent_count);
  EXPECT_EQ(self.rank == 0 ? 2 * (self.ranks - 1) * kPackets : 0, info.received_count);
}

// Ranks lose different fractions of what they send. The result is computed from the arrivals that the call returns.
void averages_have_what_arrives(const Rank &self) {
  std::vector<double> loss;
  for (int32_t q = 0; q < self.ranks; ++q) loss.push_back(0.2 + 0.1 * (q % 5));
  const LossyLink link = make_link(self, lossy_options(64, loss[static_cast<size_t>(self.rank)], 320));
  const std::vector<int64_t> counts = uneven_counts(self.ranks, 20);
  const auto ranks = static_cast<size_t>(self.ranks);
  int64_t lost = 0;
  for (const bool is_estimated : {false, true}) {
    for (const lpt_lossy_mode mode : {LPT_LOSSY_MODE_COUNT, LPT_LOSSY_MODE_HORVITZ_THOMPSON}) {
      const bool is_weighted = mode == LPT_LOSSY_MODE_HORVITZ_THOMPSON;
      std::vector<float> weights(ranks, 1.0f);
      for (int32_t q = 0; is_weighted && q < self.ranks; ++q) {
        if (q == self.rank) continue;
        const lpt_lossy_link_info peer = read(self, link, q);
        const double estimate =
            static_cast<double>(peer.lost_count) / static_cast<double>(peer.lost_count + peer.received_count + 1);
        const double p = is_estimated ? estimate : loss[static_cast<size_t>(q)];
        weights[static_cast<size_t>(q)] = static_cast<float>(1.0 / (1.0 - p));
      }
      const Operands of(self, counts, 320 + static_cast<uint64_t>(mode));
      const int64_t packets = (of.part_rows * kColumns + 15) / 16;
      std::vector<uint8_t> arrivals(static_cast<size_t>(packets) * ranks, 0xC7);
      ASSERT_TRUE(
          self.ok(lpt_lossy_reduce_scatter(self.context, link.get(), of.input.get(), counts.data(), mode,
                                           is_weighted && !is_estimated ? loss.data() : nullptr,
                                           static_cast<int64_t>(arrivals.size()), of.output.get(), arrivals.data())));
      lost += std::count(arrivals.begin(), arrivals.end(), 0);
      of.expect(16, [&](size_t i, size_t k) {
        float sum = -0.0f, number = 0.0f;
        for (size_t q = 0; q < ranks; ++q) {
          const uint8_t has_arrived = arrivals[k * ranks + q];
          EXPECT_LE(has_arrived, 1);
          EXPECT_TRUE(has_arrived == 1 || q != static_cast<size_t>(self.rank));
          number += has_arrived;
          if (has_arrived != 0) sum += is_weighted ? of.all[q][i] * weights[q] : of.all[q][i];
        }
        return sum / (is_weighted ? static_cast<float>(ranks) : number);
      });
    }
  }
  EXPECT_EQ(lost, read(self, link).lost_count);
  EXPECT_TRUE(self.ranks == 1 || lost > 0);
}

// Element i of rank q has the value 1000 · q + call after each call. An age tells from which call a value is.
void lost_parameters_keep_their_values_and_have_ages(const Rank &self) {
  const LossyLink link = make_link(self, lossy_options(32, 0.5, 330));
  const std::vector<int64_t> counts = uneven_counts(self.ranks, 30);
  const int64_t rows = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  std::vector<float> memory(static_cast<size_t>(rows), -1.0f),
      own(static_cast<size_t>(counts[static_cast<size_t>(self.rank)]));
  const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, memory.data(), {rows});
  const Tensor input = wrap_axes(self.context, LPT_FORMAT_F32, own.data(), {static_cast<int64_t>(own.size())});
  int64_t packets = 0;
  for (const int64_t count : counts) packets += (count + 7) / 8;
  std::vector<int32_t> ages(static_cast<size_t>(packets), 0);
  int64_t old = 0;
  for (int32_t call = 1; call <= 8; ++call) {
    std::fill(own.begin(), own.end(), static_cast<float>(1000 * self.rank + call));
    ASSERT_TRUE(self.ok(lpt_lossy_all_gather(self.context, link.get(), input.get(), counts.data(), packets,
                                             output.get(), ages.data())));
    size_t packet = 0, element = 0;
    for (int32_t q = 0; q < self.ranks; ++q) {
      for (int64_t i = 0; i < counts[static_cast<size_t>(q)]; ++i, ++element) {
        if (i > 0 && i % 8 == 0) ++packet;
        const int32_t age = ages[packet];
        ASSERT_TRUE(age >= 0 && age <= (q == self.rank ? 0 : call));
        ASSERT_EQ(age == call ? -1.0f : static_cast<float>(1000 * q + call - age), memory[element]) << q << " " << i;
        old += age != 0;
      }
      ++packet;
    }
  }
  const lpt_lossy_link_info info = read(self, link);
  EXPECT_EQ(8 * (packets - (static_cast<int64_t>(own.size()) + 7) / 8), info.lost_count + info.received_count);
  EXPECT_TRUE(self.ranks == 1 || old > 0);
}

void parameters_are_frozen_if_everything_is_lost(const Rank &self) {
  const LossyLink link = make_link(self, lossy_options(32, 1.0));
  std::vector<double> memory(static_cast<size_t>(12 * self.ranks), 5.0), own(12, 1.0);
  const Tensor output = wrap_axes(self.context, LPT_FORMAT_F64, memory.data(), {12 * self.ranks});
  const Tensor input = wrap_axes(self.context, LPT_FORMAT_F64, own.data(), {12});
  std::vector<int32_t> ages(static_cast<size_t>(3 * self.ranks), 0);
  ages[0] = INT32_MAX;
  for (int call = 1; call <= 2; ++call) {
    ASSERT_TRUE(self.ok(lpt_lossy_all_gather(self.context, link.get(), input.get(), nullptr, 3 * self.ranks,
                                             output.get(), ages.data())));
    for (size_t i = 0; i < memory.size(); ++i) {
      const bool is_own = i / 12 == static_cast<size_t>(self.rank);
      EXPECT_EQ(is_own ? 1.0 : 5.0, memory[i]);
      EXPECT_EQ(is_own ? 0 : i / 4 == 0 ? INT32_MAX : call, ages[i / 4]);
    }
  }
  std::vector<double> part(12);
  const Tensor average = wrap_axes(self.context, LPT_FORMAT_F64, part.data(), {12});
  ASSERT_TRUE(self.ok(lpt_lossy_reduce_scatter(self.context, link.get(), output.get(), nullptr, LPT_LOSSY_MODE_COUNT,
                                               nullptr, 0, average.get(), nullptr)));
  EXPECT_EQ(own, part) << "expected the own part";
  EXPECT_EQ(0, read(self, link).received_count);
}

}  // namespace

std::vector<Case> lossy_cases() {
  return {
      {"LosslessAveragesAreExact", lossless_averages_are_exact},
      {"LargeLosslessAveragesHaveTheBitsOfReliableOnes", large_lossless_averages_have_the_bits_of_reliable_ones},
      {"AveragesHaveWhatArrives", averages_have_what_arrives},
      {"LostParametersKeepTheirValuesAndHaveAges", lost_parameters_keep_their_values_and_have_ages},
      {"ParametersAreFrozenIfEverythingIsLost", parameters_are_frozen_if_everything_is_lost},
  };
}

}  // namespace lpt::test
