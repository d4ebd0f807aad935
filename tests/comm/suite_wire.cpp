// Reductions with a wire format, against their definition and against the theoretical errors.
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/comm/wire_oracle.hpp"
#include "tests/support/bounds.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr const char *kWires[] = {
    "int8_1x32", "int8/1x64/f32", "int8/1x32/e8m0fnu", "e4m3fn_1x128", "mxfp8_e4m3", "mxfp6_e3m2",    "mxfp4",
    "mxint8",    "nvfp4",         "int4_1x32",         "uint4_1x64",   "int8_row",   "e4m3fn_tensor", "e4m3fn_128x128",
    "bf16",      "f16",           "ternary_tensor"};
constexpr lpt_reduce_algorithm kWays[] = {LPT_REDUCE_ALGORITHM_ONE_SHOT, LPT_REDUCE_ALGORITHM_TWO_SHOT};

lpt_status all_reduce(const Rank &self, const Plan &plan, const lpt_tensor *input, lpt_tensor *output) {
  const lpt_reduce_options options = options_of(plan);
  return lpt_all_reduce(self.context, self.comm, input, &options, output, nullptr);
}

// Returns the result for a dense f32 vector.
Numbers all_reduced(const Rank &self, const Plan &plan, Numbers mine) {
  Numbers result(mine.size(), -1.0f);
  const auto count = static_cast<int64_t>(mine.size());
  const Tensor input = wrap(self.context, mine, 1, count), output = wrap(self.context, result, 1, count);
  EXPECT_TRUE(self.ok(all_reduce(self, plan, input.get(), output.get())));
  return result;
}

::testing::AssertionResult are_same(const Numbers &expected, const Numbers &found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(&expected[i], &found[i], sizeof(float)) == 0) continue;
    return ::testing::AssertionFailure() << "element " << i << " of " << expected.size() << ": " << found[i]
                                         << ", expected " << expected[i];
  }
  return ::testing::AssertionSuccess();
}

const Numbers &of(const Rank &self, const std::vector<Numbers> &all) { return all[static_cast<size_t>(self.rank)]; }

void casts_shares_as_quantize_does(const Rank &self) {
  for (const char *name : kWires) {
    Plan plan;
    plan.wire = format_named(name);
    for (const int64_t count : {1, 511, 513, 3000, 9001}) {
      const std::vector<Numbers> all = numbers_of_all(self.ranks, 100, count);
      for (const lpt_reduce_algorithm way : kWays) {
        plan.algorithm = way;
        ASSERT_TRUE(are_same(reduced(self.context, plan, all), all_reduced(self, plan, of(self, all)))) << name << way;
      }
    }
  }
}

// A chunk has 2^16 elements, so that a shard of two ranks has two or three chunks.
void casts_pieces_of_long_shares(const Rank &self) {
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 101, kIsSanitized ? 140001 : 300001);
  for (const char *name : {"int8_1x32", "int8_row", "nvfp4"}) {
    Plan plan;
    plan.wire = format_named(name);
    plan.rounding = name[0] == 'n' ? LPT_ROUNDING_NEAREST_EVEN : LPT_ROUNDING_STOCHASTIC;
    ASSERT_TRUE(are_same(reduced(self.context, plan, all), all_reduced(self, plan, of(self, all)))) << name;
  }
}

void draws_bits_of_the_whole_tensor(const Rank &self) {
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 102, 5000);
  for (const char *name : {"int8_1x32", "mxfp8_e4m3", "nvfp4", "bf16"}) {
    Plan plan;
    plan.wire = format_named(name);
    plan.rounding = LPT_ROUNDING_STOCHASTIC;
    plan.random = {77, 1003, 0, 12, 34};
    for (const lpt_reduce_algorithm way : kWays) {
      plan.algorithm = way;
      ASSERT_TRUE(are_same(reduced(self.context, plan, all), all_reduced(self, plan, of(self, all)))) << name << way;
    }
  }
}

void reduces_by_a_wire_as_requested(const Rank &self) {
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 103, 4000);
  Plan plan;
  plan.wire = LPT_FORMAT_INT8_1X32;
  for (const lpt_reduction reduction : {LPT_REDUCTION_AVERAGE, LPT_REDUCTION_MAXIMUM, LPT_REDUCTION_SUM}) {
    plan.reduction = reduction;
    plan.factor = reduction == LPT_REDUCTION_SUM ? 0.375 : 1.0;
    for (const lpt_reduce_algorithm way : kWays) {
      plan.algorithm = way;
      EXPECT_TRUE(are_same(reduced(self.context, plan, all), all_reduced(self, plan, of(self, all)))) << reduction;
    }
  }
}

// Columns of a wider matrix, in-place; other columns are unchanged.
void casts_columns_of_a_matrix(const Rank &self) {
  constexpr int64_t kRows = 61, kColumns = 147, kStride = 160;
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 104, kRows * kColumns);
  for (const char *name : {"int8_1x32", "int8_row"}) {
    for (const lpt_reduce_algorithm way : kWays) {
      Plan plan;
      plan.wire = format_named(name);
      plan.algorithm = way;
      const Numbers expected = reduced(self.context, plan, all);
      Numbers wide(kRows * kStride, 7.0f);
      for (int64_t i = 0; i < kRows * kColumns; ++i) {
        wide[static_cast<size_t>(i / kColumns * kStride + i % kColumns)] = of(self, all)[static_cast<size_t>(i)];
      }
      const Tensor both = wrap(self.context, LPT_FORMAT_F32, wide.data(), kRows, kColumns, kStride);
      ASSERT_TRUE(self.ok(all_reduce(self, plan, both.get(), both.get())));
      for (int64_t r = 0; r < kRows; ++r) {
        for (int64_t c = 0; c < kStride; ++c) {
          const float number = c < kColumns ? expected[static_cast<size_t>(r * kColumns + c)] : 7.0f;
          ASSERT_EQ(number, wide[static_cast<size_t>(r * kStride + c)]) << name << way << ": " << r << ", " << c;
        }
      }
    }
  }
}

// Casts from bf16 and back to bf16: the sum is cast once more, then rounded.
void casts_bf16(const Rank &self) {
  constexpr int64_t kCount = 5000;
  std::vector<std::vector<uint16_t>> halves;
  std::vector<Numbers> all;
  for (int32_t q = 0; q < self.ranks; ++q) {
    halves.push_back(halves_of(numbers_of(q, 105, kCount)));
    all.emplace_back();
    for (const uint16_t half : halves.back()) all.back().push_back(float_of_bits(static_cast<uint32_t>(half) << 16));
  }
  Plan plan;
  plan.wire = LPT_FORMAT_MXFP8_E4M3;  // its values are exact in bf16, so that two-shot rounds no more often
  std::vector<uint16_t> found(kCount);
  const Tensor input = wrap(self.context, LPT_FORMAT_BF16, halves[static_cast<size_t>(self.rank)].data(), 1, kCount);
  const Tensor output = wrap(self.context, LPT_FORMAT_BF16, found.data(), 1, kCount);
  ASSERT_TRUE(self.ok(all_reduce(self, plan, input.get(), output.get())));
  const Numbers expected = reduced(self.context, plan, all);
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(expected[i], float_of_bits(static_cast<uint32_t>(found[i]) << 16)) << i;
  }
}

void scatters_by_a_wire(const Rank &self) {
  std::vector<int64_t> counts;
  int64_t whole = 0, begin = 0;
  for (int32_t q = 0; q < self.ranks; ++q) {
    if (q == self.rank) begin = whole;
    counts.push_back(q == 1 ? 0 : 700 + 13 * q);
    whole += counts.back();
  }
  const int64_t mine = counts[static_cast<size_t>(self.rank)];
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 106, whole);
  for (const char *name : {"int8_1x32", "int8_row", "int4_1x32", "nvfp4"}) {
    Plan plan;
    plan.wire = format_named(name);
    Numbers part(static_cast<size_t>(mine));
    lpt_tensor_description from = LPT_TENSOR_DESCRIPTION_INIT;
    from.format = LPT_FORMAT_F32;
    from.data = const_cast<float *>(of(self, all).data());
    from.rank = 1;
    from.extents = &whole;
    Tensor input;
    ASSERT_TRUE(self.ok(lpt_tensor_wrap(self.context, &from, out(input))));
    const Tensor output = wrap(self.context, part, 1, mine);
    const lpt_reduce_options options = options_of(plan);
    const lpt_comm_info before = read(self);
    ASSERT_TRUE(self.ok(
        lpt_reduce_scatter(self.context, self.comm, input.get(), counts.data(), &options, output.get(), nullptr)));
    EXPECT_TRUE(are_same(reduced_share(self.context, plan, all, begin, begin + mine), part)) << name;
    const lpt_comm_info after = read(self);
    int64_t sent = 0;
    for (int32_t q = 0; q < self.ranks; ++q) {
      if (q != self.rank) sent += bytes_on_wire(plan.wire, counts[static_cast<size_t>(q)]);
    }
    EXPECT_EQ(sent, after.bytes_sent - before.bytes_sent) << name;
    EXPECT_EQ((self.ranks - 1) * bytes_on_wire(plan.wire, mine), after.bytes_received - before.bytes_received) << name;
  }
}

void counts_bytes_of_a_wire(const Rank &self) {
  constexpr int64_t kCount = 12345;
  for (const char *name : kWires) {
    for (const lpt_reduce_algorithm way : kWays) {
      Plan plan;
      plan.wire = format_named(name);
      plan.algorithm = way;
      const std::vector<int64_t> edges = share_edges(kCount, self.ranks);
      int64_t whole = 0, mine = 0;
      for (int32_t q = 0; q < self.ranks; ++q) {
        const auto place = static_cast<size_t>(q);
        const int64_t bytes = bytes_on_wire(plan.wire, edges[place + 1] - edges[place]);
        whole += bytes;
        if (q == self.rank) mine = bytes;
      }
      const int64_t others = self.ranks - 1;
      const int64_t expected = way == LPT_REDUCE_ALGORITHM_ONE_SHOT ? others * whole : whole - mine + others * mine;
      const lpt_comm_info before = read(self);
      all_reduced(self, plan, Numbers(kCount, 1.0f));
      const lpt_comm_info after = read(self);
      EXPECT_EQ(expected, after.bytes_sent - before.bytes_sent) << name << way;
      EXPECT_EQ(expected, after.bytes_received - before.bytes_received) << name << way;
    }
  }
}

// int8 with e8m0fnu scales has 33 bytes for 128 bytes of f32, and 68 bytes with an f32 scale for 256.
void needs_a_quarter_of_the_bytes(const Rank &self) {
  if (self.ranks == 1) return;
  struct Block {
    const char *name;
    int64_t elements, bytes;
  };
  constexpr int64_t kCount = 512 * 840;  // equal shards of 2, 3, 4, 8 ranks
  for (const Block &block : {Block{"int8/1x32/e8m0fnu", 32, 33}, Block{"int8/1x64/f32", 64, 68}}) {
    Plan plan;
    plan.wire = format_named(block.name);
    const int64_t before = read(self).bytes_sent;
    all_reduced(self, plan, Numbers(kCount, 1.0f));
    const int64_t sent = read(self).bytes_sent - before;
    EXPECT_EQ(2 * (self.ranks - 1) * (kCount / self.ranks) / block.elements * block.bytes, sent);
    EXPECT_LE(static_cast<double>(sent), 0.27 * 2 * (self.ranks - 1) / self.ranks * kCount * 4);
  }
}

double error_of(const Numbers &exact, const Numbers &found) {
  double squares = 0.0, errors = 0.0;
  for (size_t i = 0; i < exact.size(); ++i) {
    squares += static_cast<double>(exact[i]) * static_cast<double>(exact[i]);
    errors += std::pow(static_cast<double>(found[i]) - static_cast<double>(exact[i]), 2.0);
  }
  return std::sqrt(errors / squares);
}

// Relative errors of the sum of normal values after one and two casts, for any number of ranks.
void errs_as_theory_says(const Rank &self) {
  struct Band {
    const char *name;
    double one_shot, two_shot;
  };
  constexpr Band kBands[] = {{"int8_1x32", 0.0053, 0.0076},        {"int8/1x64/f32", 0.0059, 0.0084},
                             {"int8/1x256/f32", 0.0070, 0.0098},   {"e4m3fn/1x32/f32", 0.0240, 0.0340},
                             {"e4m3fn/1x256/f32", 0.0261, 0.0369}, {"int4_1x32", 0.0970, 0.1374}};
  constexpr int64_t kCount = 1 << 18;
  Numbers exact(kCount, 0.0f);
  for (int32_t q = 0; q < self.ranks; ++q) {
    const Numbers numbers = numbers_of(q, 107, kCount);
    for (size_t i = 0; i < exact.size(); ++i) exact[i] += numbers[i];
  }
  const Numbers mine = numbers_of(self.rank, 107, kCount);
  for (const Band &band : kBands) {
    Plan plan;
    plan.wire = format_named(band.name);
    if (self.ranks == 1) continue;  // with one rank the second cast is exact
    EXPECT_NEAR(band.two_shot, error_of(exact, all_reduced(self, plan, mine)), 0.05 * band.two_shot) << band.name;
    plan.algorithm = LPT_REDUCE_ALGORITHM_ONE_SHOT;
    EXPECT_NEAR(band.one_shot, error_of(exact, all_reduced(self, plan, mine)), 0.05 * band.one_shot) << band.name;
  }
}

uint64_t hash_of(const Numbers &numbers) {
  uint64_t hash = 14695981039346656037u;
  for (const float number : numbers) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    hash = (hash ^ bits) * 1099511628211u;
  }
  return hash;
}

void gives_all_ranks_the_same_bits(const Rank &self) {
  for (const char *name : kWires) {
    for (const lpt_rounding rounding : {LPT_ROUNDING_NEAREST_EVEN, LPT_ROUNDING_STOCHASTIC}) {
      for (const lpt_reduce_algorithm way : kWays) {
        Plan plan;
        plan.wire = format_named(name);
        plan.rounding = rounding;
        plan.algorithm = way;
        Numbers mine = numbers_of(self.rank, 108, 20001);
        if (self.rank == 0) mine[1234] = std::nanf("");
        const Numbers found = all_reduced(self, plan, mine);
        EXPECT_TRUE(std::isnan(found[1234])) << name;
        const std::vector<int64_t> hash = {static_cast<int64_t>(hash_of(found))};
        std::vector<int64_t> hashes(static_cast<size_t>(self.ranks));
        const Tensor input = wrap(self.context, LPT_FORMAT_F64, hash.data(), 1, 1);
        const Tensor output = wrap(self.context, LPT_FORMAT_F64, hashes.data(), self.ranks, 1);
        ASSERT_TRUE(
            self.ok(lpt_all_gather(self.context, self.comm, input.get(), nullptr, nullptr, output.get(), nullptr)));
        for (const int64_t theirs : hashes) EXPECT_EQ(hash[0], theirs) << name << rounding << way;
      }
    }
  }
}

// The mean over draws of every element equals the sum.
void rounds_stochastically_without_bias(const Rank &self) {
  constexpr int64_t kCount = 64;
  constexpr uint32_t kDraws = 400;
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 109, kCount);
  double step_size = 0;  // at least that of all partial sums
  for (const Numbers &numbers : all) {
    float largest = 0;
    for (const float number : numbers) largest = std::max(largest, std::fabs(number));
    step_size += largest / 127.0;
  }
  for (const lpt_reduce_algorithm way : kWays) {
    std::vector<double> sums(kCount), squares(kCount);
    Plan plan;
    plan.wire = LPT_FORMAT_INT8_1X32;
    plan.rounding = LPT_ROUNDING_STOCHASTIC;
    plan.algorithm = way;
    for (uint32_t step = 0; step < kDraws; ++step) {
      plan.random.step = step;
      const Numbers found = all_reduced(self, plan, of(self, all));
      for (size_t i = 0; i < found.size(); ++i) {
        sums[i] += static_cast<double>(found[i]);
        squares[i] += static_cast<double>(found[i]) * static_cast<double>(found[i]);
      }
    }
    for (size_t i = 0; i < kCount; ++i) {
      double exact = 0.0;
      for (const Numbers &numbers : all) exact += static_cast<double>(numbers[i]);
      const double mean = sums[i] / kDraws, variance = std::max(squares[i] / kDraws - mean * mean, 0.0);
      EXPECT_NEAR(exact, mean, mean_tolerance(variance, step_size, kDraws)) << i;
    }
  }
}

std::string reported(const Rank &self, const Plan &plan, int64_t count) {
  all_reduced(self, plan, Numbers(static_cast<size_t>(count), 1.0f));
  return lpt_context_explanation(self.context);
}

void tells_which_way_it_takes(const Rank &self) {
  Plan plan;
  plan.wire = LPT_FORMAT_INT8_1X32;
  plan.algorithm = LPT_REDUCE_ALGORITHM_AUTO;
  const std::string small = reported(self, plan, 512 * self.ranks - 1);
  expect_words({"all_reduce: as it is", self.ranks == 1 ? "nothing is sent" : "fewer than 512"}, small);
  if (self.ranks == 1) return;
  expect_words({"all_reduce: one-shot"}, reported(self, plan, 512 * self.ranks));
  expect_words({self.ranks == 2 ? "all_reduce: one-shot" : "all_reduce: two-shot"}, reported(self, plan, 20000));
}

void rejects_what_no_wire_can_do(const Rank &self) {
  Numbers numbers(1000);
  std::vector<double> wide(1000);
  const Tensor both = wrap(self.context, numbers, 1, 1000), doubles = wrap(self.context, wide, 1, 1000);
  const lpt_comm_info before = read(self);
  const auto rejected = [&](lpt_status status, const Plan &plan, lpt_tensor *tensor,
                            const std::vector<const char *> &words) {
    EXPECT_EQ(status, all_reduce(self, plan, tensor, tensor));
    expect_words(words, lpt_context_error(self.context));
  };
  Plan plan;
  plan.wire = LPT_FORMAT_INT8_1X32;
  rejected(LPT_UNSUPPORTED, plan, doubles.get(), {"options->wire", "int8_1x32", "f64"});
  plan.wire = int64_t{1} << 62;
  rejected(LPT_INVALID_ARGUMENT, plan, both.get(), {"options->wire", "format"});
  for (const char *name : {"uint8", "f64", "int8", "e2m1fn", "e8m0fnu"}) {
    plan.wire = format_named(name);
    rejected(LPT_UNSUPPORTED, plan, both.get(), {"options->wire", name});
  }
  plan.wire = format_named("mxfp8_e4m3/2:4");
  rejected(LPT_UNSUPPORTED, plan, both.get(), {"options->wire", "dense"});
  plan.wire = LPT_FORMAT_INT8_1X32;
  plan.rounding = LPT_ROUNDING_TOWARD_ZERO;
  rejected(LPT_INVALID_ARGUMENT, plan, both.get(), {"options->rounding"});
  plan.rounding = LPT_ROUNDING_STOCHASTIC;
  plan.random.row_stride = 2000;
  rejected(LPT_INVALID_ARGUMENT, plan, both.get(), {"row_stride"});
  plan.random = LPT_RANDOM_INIT;
  plan.random.stream = 1 << 24;
  rejected(LPT_INVALID_ARGUMENT, plan, both.get(), {"stream"});
  plan = Plan();
  plan.algorithm = 4;
  rejected(LPT_INVALID_ARGUMENT, plan, both.get(), {"options->algorithm is 4"});
  plan.algorithm = LPT_REDUCE_ALGORITHM_ONE_SHOT;
  rejected(LPT_INVALID_ARGUMENT, plan, both.get(), {"options->algorithm", "without a wire"});
  plan.algorithm = LPT_REDUCE_ALGORITHM_AUTO;
  plan.rounding = LPT_ROUNDING_STOCHASTIC;
  rejected(LPT_INVALID_ARGUMENT, plan, both.get(), {"options->rounding", "without a wire"});
  EXPECT_EQ(before.bytes_sent, read(self).bytes_sent);
  EXPECT_EQ(before.collectives, read(self).collectives);
}

// A cast that is cancelled on one rank would leave the other ranks waiting.
void tells_no_progress(const Rank &self) {
  const auto stop = [](void *, int64_t, int64_t) -> int32_t { return 1; };
  ASSERT_TRUE(self.ok(lpt_context_set_progress(self.context, stop, nullptr)));
  const std::vector<Numbers> all = numbers_of_all(self.ranks, 110, 5000);
  Plan plan;
  plan.wire = LPT_FORMAT_INT8_ROW;
  plan.algorithm = LPT_REDUCE_ALGORITHM_TWO_SHOT;
  EXPECT_TRUE(are_same(reduced(make_context().get(), plan, all), all_reduced(self, plan, of(self, all))));
  ASSERT_TRUE(self.ok(lpt_context_set_progress(self.context, nullptr, nullptr)));
}

}  // namespace

std::vector<Case> wire_cases() {
  return {{"TellsNoProgress", tells_no_progress},
          {"CastsSharesAsQuantizeDoes", casts_shares_as_quantize_does},
          {"CastsPiecesOfLongShares", casts_pieces_of_long_shares},
          {"DrawsBitsOfTheWholeTensor", draws_bits_of_the_whole_tensor},
          {"ReducesByAWireAsRequested", reduces_by_a_wire_as_requested},
          {"CastsColumnsOfAMatrix", casts_columns_of_a_matrix},
          {"CastsBf16", casts_bf16},
          {"ScattersByAWire", scatters_by_a_wire},
          {"CountsBytesOfAWire", counts_bytes_of_a_wire},
          {"NeedsAQuarterOfTheBytes", needs_a_quarter_of_the_bytes},
          {"ErrsAsTheorySays", errs_as_theory_says},
          {"GivesAllRanksTheSameBits", gives_all_ranks_the_same_bits},
          {"RoundsStochasticallyWithoutBias", rounds_stochastically_without_bias},
          {"TellsWhichWayItTakes", tells_which_way_it_takes},
          {"RejectsWhatNoWireCanDo", rejects_what_no_wire_can_do}};
}

}  // namespace lpt::test
