// Cost estimates of collectives: formulas against simulated messages, against the counters of ranks, and against published
// values.
#include <cmath>

#include "tests/api/cost_simulation.hpp"
#include "tests/comm/local.hpp"

namespace lpt::test {
namespace {

lpt_cost_link link_of(double latency, double bytes_per_second, double reduce_bytes_per_second = 0.0) {
  lpt_cost_link link = LPT_COST_LINK_INIT;
  link.latency_seconds = latency;
  link.bytes_per_second = bytes_per_second;
  link.reduce_bytes_per_second = reduce_bytes_per_second;
  return link;
}

lpt_cost_info cost(lpt_context *context, lpt_cost_collective collective, lpt_cost_algorithm algorithm, int32_t ranks,
                   int64_t elements, lpt_format payload, const lpt_cost_link *link) {
  lpt_cost_info values = LPT_COST_INFO_INIT;
  EXPECT_TRUE(ok(context, lpt_cost_estimate(context, collective, algorithm, ranks, elements, payload, link, &values)));
  return values;
}

lpt_cost_info all_reduce_cost(lpt_context *context, lpt_cost_algorithm algorithm, int32_t ranks, int64_t elements,
                              const lpt_cost_link &link) {
  return cost(context, LPT_COST_COLLECTIVE_ALL_REDUCE, algorithm, ranks, elements, LPT_FORMAT_F32, &link);
}

constexpr lpt_cost_algorithm kAlgorithms[] = {LPT_COST_ALGORITHM_RING, LPT_COST_ALGORITHM_TREE,
                                              LPT_COST_ALGORITHM_TWO_SHOT, LPT_COST_ALGORITHM_ONE_SHOT,
                                              LPT_COST_ALGORITHM_STAR};

// Comparison with simulated messages.

// Sets the chunks that each rank has before the collective.
void fill(Play &play, lpt_cost_collective collective, int ranks) {
  for (int q = 0; q < ranks; ++q) {
    for (int c = 0; c < ranks; ++c) {
      const bool has_it = collective == LPT_COST_COLLECTIVE_ALL_GATHER  ? q == c
                          : collective == LPT_COST_COLLECTIVE_BROADCAST ? q == 0
                                                                        : true;
      play.held(q, c) = has_it ? 1u << q : 0u;
    }
  }
}

void expect_complete(Play &play, lpt_cost_collective collective, int ranks) {
  for (int q = 0; q < ranks; ++q) {
    for (int c = 0; c < ranks; ++c) {
      if (collective == LPT_COST_COLLECTIVE_ALL_REDUCE) {
        EXPECT_EQ(play.all(), play.held(q, c)) << q << ", " << c;
      }
      if (collective == LPT_COST_COLLECTIVE_ALL_GATHER) {
        EXPECT_EQ(1u << c, play.held(q, c)) << q << ", " << c;
      }
      if (collective == LPT_COST_COLLECTIVE_BROADCAST) {
        EXPECT_EQ(1u, play.held(q, c)) << q << ", " << c;
      }
    }
    if (collective == LPT_COST_COLLECTIVE_REDUCE_SCATTER) {
      EXPECT_EQ(play.all(), play.held(q, q)) << q;
    }
  }
}

void expect_as_played(const lpt_cost_info &found, const Played &played) {
  EXPECT_EQ(played.steps, found.step_count);
  double most = 0.0, total = 0.0;
  for (const double sent : played.sent) most = std::max(most, sent), total += sent;
  EXPECT_NEAR(most, found.rank_bytes, 1e-12 * most);
  EXPECT_NEAR(total, found.total_bytes, 1e-12 * total);
  EXPECT_NEAR(played.seconds, found.seconds, 1e-12 * played.seconds);
}

TEST(CollectiveCost, IsThatOfItsMessages) {
  const Context context = make_context();
  const lpt_cost_link links[] = {link_of(5e-6, 12.5e9), link_of(1e-3, 125e6, 8e9), link_of(0.0, 1e9, 1e9),
                                 link_of(1e-6, 0.0, 2e9)};
  int played_count = 0;
  for (lpt_cost_collective collective = 0; collective <= LPT_COST_COLLECTIVE_ALL_TO_ALL; ++collective) {
    for (const lpt_cost_algorithm algorithm : kAlgorithms) {
      for (int ranks = 2; ranks <= 9; ++ranks) {
        const std::vector<Step> steps = steps_of(collective, algorithm, ranks);
        if (steps.empty()) continue;
        for (const lpt_cost_link &link : links) {
          constexpr int64_t kElements = 2520 * 7;
          SCOPED_TRACE(testing::Message() << collective << ", " << algorithm << ", ranks " << ranks);
          Play play(ranks, 4.0 * kElements, link);
          fill(play, collective, ranks);
          for (const Step &step : steps) play.run(step);
          expect_complete(play, collective, ranks);
          expect_as_played(cost(context.get(), collective, algorithm, ranks, kElements, LPT_FORMAT_F32, &link),
                           play.played());
          ++played_count;
        }
      }
    }
  }
  EXPECT_EQ(14 * 8 * 4, played_count);
}

// lpt_cost_estimate() rejects exactly the algorithms that the simulation lacks.
TEST(CollectiveCost, KnowsTheWaysThatThereAre) {
  const Context context = make_context();
  for (lpt_cost_collective collective = 0; collective <= LPT_COST_COLLECTIVE_ALL_TO_ALL; ++collective) {
    for (const lpt_cost_algorithm algorithm : kAlgorithms) {
      lpt_cost_info values = LPT_COST_INFO_INIT;
      const lpt_status status =
          lpt_cost_estimate(context.get(), collective, algorithm, 4, 8, LPT_FORMAT_F32, nullptr, &values);
      EXPECT_EQ(steps_of(collective, algorithm, 4).empty() ? LPT_UNSUPPORTED : LPT_OK, status)
          << collective << ", " << algorithm;
    }
  }
}

// Published values.

// CAAT-Net, 7B: activations of 32768 tokens × 4096 columns in bf16 on 8 ranks. All, half or a quarter of the columns is shared.
TEST(CollectiveCost, OfPartlySharedActivationsIsThePublishedOne) {
  const Context context = make_context();
  const double expected[] = {469762048.0, 234881024.0, 117440512.0};
  for (int i = 0; i < 3; ++i) {
    const lpt_cost_info values = cost(context.get(), LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_RING, 8,
                                      int64_t{32768} * (4096 >> i), LPT_FORMAT_BF16, nullptr);
    EXPECT_EQ(expected[i], values.rank_bytes);
    EXPECT_EQ(8.0 * expected[i], values.total_bytes);
    EXPECT_EQ(268435456.0 / (1 << i), values.payload_bytes);
    EXPECT_EQ(14, values.step_count);
  }
}

// TPI-LLM: on links with latency a star is faster than a ring below a size that both formulas give.
TEST(CollectiveCost, OfAStarIsLessThanThatOfARingBelowOneSize) {
  const Context context = make_context();
  constexpr double kLatency = 1e-3, kRate = 125e6;
  const lpt_cost_link link = link_of(kLatency, kRate);
  for (int ranks = 3; ranks <= 9; ++ranks) {
    const double r = ranks, edge = kLatency * kRate * r * (r - 2) / ((r - 1) * (r - 1));
    for (const double part : {0.1, 0.98, 1.02, 10.0}) {
      const auto bytes = static_cast<int64_t>(part * edge);
      double model[2], played[2];
      for (int i = 0; i < 2; ++i) {
        const lpt_cost_algorithm algorithm = i == 0 ? LPT_COST_ALGORITHM_STAR : LPT_COST_ALGORITHM_RING;
        model[i] = cost(context.get(), LPT_COST_COLLECTIVE_ALL_REDUCE, algorithm, ranks, bytes, LPT_FORMAT_INT8, &link)
                       .seconds;
        Play play(ranks, static_cast<double>(bytes), link);
        fill(play, LPT_COST_COLLECTIVE_ALL_REDUCE, ranks);
        for (const Step &step : steps_of(LPT_COST_COLLECTIVE_ALL_REDUCE, algorithm, ranks)) play.run(step);
        played[i] = play.played().seconds;
      }
      EXPECT_EQ(part < 1.0, model[0] < model[1]) << ranks << ", " << part;
      EXPECT_EQ(part < 1.0, played[0] < played[1]) << ranks << ", " << part;
    }
  }
}

// The best algorithm.

TEST(CollectiveCost, OfTheBestIsTheLeast) {
  const Context context = make_context();
  const lpt_cost_link link = link_of(20e-6, 1e9, 10e9);
  for (int ranks = 2; ranks <= 17; ++ranks) {
    for (int64_t elements = 1; elements < int64_t{1} << 28; elements *= 8) {
      const lpt_cost_info best = all_reduce_cost(context.get(), LPT_COST_ALGORITHM_BEST, ranks, elements, link);
      double least = INFINITY;
      for (const lpt_cost_algorithm algorithm : kAlgorithms) {
        const lpt_cost_info values = all_reduce_cost(context.get(), algorithm, ranks, elements, link);
        EXPECT_EQ(algorithm, values.algorithm);
        least = std::min(least, values.seconds);
        if (algorithm == best.algorithm) {
          EXPECT_EQ(values.seconds, best.seconds);
        }
      }
      EXPECT_EQ(least, best.seconds) << ranks << ", " << elements;
    }
  }
}

TEST(CollectiveCost, OfTheBestIsOneShotForLittleAndTwoShotForMuch) {
  const Context context = make_context();
  const lpt_cost_link link = link_of(20e-6, 1e9);
  EXPECT_EQ(LPT_COST_ALGORITHM_ONE_SHOT,
            all_reduce_cost(context.get(), LPT_COST_ALGORITHM_BEST, 8, 64, link).algorithm);
  EXPECT_EQ(LPT_COST_ALGORITHM_TWO_SHOT,
            all_reduce_cost(context.get(), LPT_COST_ALGORITHM_BEST, 8, 1 << 20, link).algorithm);
}

// Without a link no time is estimated. The algorithm with the fewest bytes is best, and of those the one with the fewest steps.
TEST(CollectiveCost, WithoutALinkCountsBytes) {
  const Context context = make_context();
  const lpt_cost_info values =
      cost(context.get(), LPT_COST_COLLECTIVE_ALL_REDUCE, LPT_COST_ALGORITHM_BEST, 4, 64, LPT_FORMAT_F32, nullptr);
  EXPECT_EQ(LPT_COST_ALGORITHM_TWO_SHOT, values.algorithm);
  EXPECT_EQ(2, values.step_count);
  EXPECT_EQ(256.0, values.payload_bytes);
  EXPECT_EQ(384.0, values.rank_bytes);
  EXPECT_EQ(1536.0, values.total_bytes);
  EXPECT_EQ(0.0, values.seconds);
}

TEST(CollectiveCost, OfOneRankIsNothing) {
  const Context context = make_context();
  const lpt_cost_link link = link_of(1.0, 1.0, 1.0);
  for (lpt_cost_collective collective = 0; collective <= LPT_COST_COLLECTIVE_ALL_TO_ALL; ++collective) {
    const lpt_cost_info values =
        cost(context.get(), collective, LPT_COST_ALGORITHM_BEST, 1, 1000, LPT_FORMAT_F32, &link);
    EXPECT_NE(LPT_COST_ALGORITHM_BEST, values.algorithm);
    EXPECT_EQ(0, values.step_count);
    EXPECT_EQ(4000.0, values.payload_bytes);
    EXPECT_EQ(0.0, values.rank_bytes);
    EXPECT_EQ(0.0, values.total_bytes);
    EXPECT_EQ(0.0, values.seconds);
  }
}

// Bytes.

TEST(CollectiveCost, CountsScales) {
  const Context context = make_context();
  struct {
    const char *name;
    double bytes;  // of 4096 elements
  } constexpr kCases[] = {{"f64", 32768},
                          {"bf16", 8192},
                          {"int8_1x32", 4096.0 * 36 / 32},
                          {"int8/1x32/e8m0fnu", 4096.0 * 33 / 32},
                          {"mxfp4", 4096.0 * 17 / 32},
                          {"nvfp4", 4096.0 * 9 / 16 + 4},
                          {"e4m3fn_128x128", 4096.0 + 1},
                          {"e4m3fn_row", 4096 + 4},
                          {"e4m3fn/row/f32/f32", 4096 + 8},
                          {"e4m3fn_tensor", 4096 + 4},
                          {"uint4_1x32", 2048 + 128 * 5},
                          {"e4m3fn/column/e8m0fnu/f32", 8192 + 4}};
  for (const auto &item : kCases) {
    const lpt_cost_info values = cost(context.get(), LPT_COST_COLLECTIVE_ALL_GATHER, LPT_COST_ALGORITHM_BEST, 2, 4096,
                                      format_named(item.name), nullptr);
    EXPECT_EQ(item.bytes, values.payload_bytes) << item.name;
    const lpt_cost_info nothing = cost(context.get(), LPT_COST_COLLECTIVE_ALL_GATHER, LPT_COST_ALGORITHM_BEST, 2, 0,
                                       format_named(item.name), nullptr);
    EXPECT_EQ(0.0, nothing.payload_bytes) << item.name;
  }
}

// The estimate counts the bytes of a tensor of the library.
TEST(CollectiveCost, CountsTheBytesOfATensor) {
  const Context context = make_context();
  for (const char *name : {"f32", "bf16", "mxfp8_e4m3", "mxfp4", "nvfp4", "int8_1x32", "int4_1x128", "uint4_1x32",
                           "e4m3fn_row", "e4m3fn_tensor", "e2m1fn", "int8/1x32/e8m0fnu"}) {
    const Tensor tensor = make_tensor(context.get(), format_named(name), 1, 8192);
    size_t bytes = 0;
    ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), tensor.get(), &bytes)));
    const lpt_cost_info values = cost(context.get(), LPT_COST_COLLECTIVE_BROADCAST, LPT_COST_ALGORITHM_BEST, 2, 8192,
                                      format_named(name), nullptr);
    EXPECT_EQ(static_cast<double>(bytes), values.payload_bytes) << name;
  }
}

void expect_counted(const Rank &self, lpt_cost_collective collective, int64_t elements, lpt_format format,
                    const lpt_comm_info &before) {
  const lpt_cost_info values =
      cost(self.context, collective, LPT_COST_ALGORITHM_TWO_SHOT, self.ranks, elements, format, nullptr);
  EXPECT_EQ(values.rank_bytes, static_cast<double>(read(self).bytes_sent - before.bytes_sent))
      << collective << ", " << self.ranks << " ranks";
}

TEST(CollectiveCost, CountsWhatRanksSend) {
  for (const int32_t ranks : {2, 3, 4}) {
    run_ranks(ranks, LPT_COMM_OPTIONS_INIT, [](const Rank &self, Comm &) {
      const int64_t part = 1 << 13, whole = part * self.ranks;
      for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
        const Tensor all = make_tensor(self.context, format, {whole}), mine = make_tensor(self.context, format, {part});
        lpt_comm_info before = read(self);
        ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, all.get(), nullptr, all.get(), nullptr)));
        expect_counted(self, LPT_COST_COLLECTIVE_ALL_REDUCE, whole, format, before);
        before = read(self);
        ASSERT_TRUE(
            self.ok(lpt_reduce_scatter(self.context, self.comm, all.get(), nullptr, nullptr, mine.get(), nullptr)));
        expect_counted(self, LPT_COST_COLLECTIVE_REDUCE_SCATTER, whole, format, before);
        before = read(self);
        ASSERT_TRUE(self.ok(lpt_all_gather(self.context, self.comm, mine.get(), nullptr, nullptr, all.get(), nullptr)));
        expect_counted(self, LPT_COST_COLLECTIVE_ALL_GATHER, whole, format, before);
      }
    });
  }
}

// Link parameters fitted to measurements.

constexpr double kSizes[] = {64, 1e3, 4e3, 16e3, 65e3, 262e3, 1e6, 4e6, 16e6, 67e6};

std::vector<double> sizes() { return {std::begin(kSizes), std::end(kSizes)}; }

TEST(LinkFit, FindsTheLinkOfExactTimes) {
  const Context context = make_context();
  for (const lpt_cost_link &flag :
       {link_of(3e-6, 12.5e9), link_of(1e-3, 1e6), link_of(0.0, 5e9), link_of(10.0, 1e12)}) {
    std::vector<double> seconds;
    for (const double bytes : kSizes) seconds.push_back(flag.latency_seconds + bytes / flag.bytes_per_second);
    lpt_cost_link found = LPT_COST_LINK_INIT;
    ASSERT_TRUE(ok(context.get(), lpt_cost_fit_link(context.get(), sizes().data(), seconds.data(), 10, &found)));
    // Tolerances of sums of ten terms. The terms of alpha and of B differ by the factor bytes / (alpha · B): 1e-5 for the last
    // link.
    EXPECT_NEAR(flag.latency_seconds, found.latency_seconds, 1e-12 * seconds.front());
    EXPECT_NEAR(1.0, found.bytes_per_second / flag.bytes_per_second, 1e-9);
    EXPECT_EQ(0.0, found.reduce_bytes_per_second);
  }
}

// Returns the errors of latency and bandwidth that relative errors of sigma cause: five standard deviations of the
// least-squares covariance, and 3 sigma² for the nonlinear terms.
std::pair<double, double> allowed_errors(const lpt_cost_link &flag, double sigma) {
  double pp = 0.0, pq = 0.0, qq = 0.0;
  for (const double bytes : kSizes) {
    const double exact = flag.latency_seconds + bytes / flag.bytes_per_second;
    const double p = flag.latency_seconds / exact, q = 1.0 - p;
    pp += p * p, pq += p * q, qq += q * q;
  }
  const double determinant = pp * qq - pq * pq;
  const double bias = 3.0 * sigma * sigma;
  return {5.0 * sigma * std::sqrt(qq / determinant) + bias, 5.0 * sigma * std::sqrt(pp / determinant) + bias};
}

TEST(LinkFit, FindsTheLinkOfNoisyTimes) {
  const Context context = make_context();
  constexpr double kSigma = 0.05;
  const lpt_cost_link flag = link_of(20e-6, 1e9);
  const auto [of_latency, of_rate] = allowed_errors(flag, kSigma);
  Random random(91);
  for (int draw = 0; draw < 50; ++draw) {
    std::vector<double> seconds;
    for (const double bytes : kSizes) {
      const double exact = flag.latency_seconds + bytes / flag.bytes_per_second;
      seconds.push_back(exact * (1.0 + kSigma * random.normal()));
    }
    lpt_cost_link found = LPT_COST_LINK_INIT;
    ASSERT_TRUE(ok(context.get(), lpt_cost_fit_link(context.get(), sizes().data(), seconds.data(), 10, &found)));
    EXPECT_NEAR(1.0, found.latency_seconds / flag.latency_seconds, of_latency) << draw;
    EXPECT_NEAR(1.0, found.bytes_per_second / flag.bytes_per_second, of_rate) << draw;
  }
}

// The result is the minimum of the sum of squares: no neighbor has a smaller sum.
TEST(LinkFit, IsTheLeastOfRelativeErrors) {
  const Context context = make_context();
  const std::vector<double> bytes = {1e3, 2e3, 5e4, 7e5, 7e5, 3e6}, seconds = {3e-5, 2e-5, 9e-5, 6e-4, 8e-4, 4e-3};
  lpt_cost_link found = LPT_COST_LINK_INIT;
  ASSERT_TRUE(ok(context.get(), lpt_cost_fit_link(context.get(), bytes.data(), seconds.data(), 6, &found)));
  const auto error = [&](double alpha, double beta) {
    double sum = 0.0;
    for (size_t i = 0; i < bytes.size(); ++i) sum += std::pow((alpha + beta * bytes[i]) / seconds[i] - 1.0, 2);
    return sum;
  };
  const double alpha = found.latency_seconds, beta = 1.0 / found.bytes_per_second, least = error(alpha, beta);
  for (const double a : {0.999, 1.0, 1.001}) {
    for (const double b : {0.999, 1.0, 1.001}) EXPECT_GE(error(a * alpha, b * beta), least) << a << ", " << b;
  }
}

TEST(LinkFit, HasNoLatencyBelowZero) {
  const Context context = make_context();
  const double bytes[] = {1e3, 2e3, 4e3}, seconds[] = {1e-3, 2.2e-3, 5e-3};
  lpt_cost_link found = LPT_COST_LINK_INIT;
  ASSERT_TRUE(ok(context.get(), lpt_cost_fit_link(context.get(), bytes, seconds, 3, &found)));
  EXPECT_EQ(0.0, found.latency_seconds);
  // beta = Σ(b / s) / Σ(b / s)²
  const double q[] = {1e6, 2e3 / 2.2e-3, 8e5};
  EXPECT_NEAR((q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) / (q[0] + q[1] + q[2]), found.bytes_per_second, 1e-3);
}

// Crossover size from which casts save time.

lpt_cost_cast_rates rates_of(double overhead, double encode, double decode) {
  lpt_cost_cast_rates rates = LPT_COST_CAST_RATES_INIT;
  rates.overhead_seconds = overhead;
  rates.encode_bytes_per_second = encode;
  rates.decode_bytes_per_second = decode;
  return rates;
}

int64_t break_even(lpt_context *context, lpt_cost_algorithm algorithm, int32_t ranks, lpt_format payload,
                   const lpt_cost_cast_rates &rates, const lpt_cost_link &link) {
  int64_t elements = 0;
  EXPECT_TRUE(ok(context, lpt_cost_break_even(context, LPT_COST_COLLECTIVE_ALL_REDUCE, algorithm, ranks, LPT_FORMAT_F32,
                                              payload, &rates, &link, &elements)));
  return elements;
}

// Casts per element on four ranks, counted by hand.
struct Casts {
  lpt_cost_algorithm algorithm;
  double encoded, decoded;
};
constexpr Casts kCasts[] = {{LPT_COST_ALGORITHM_RING, 1.0, 1.75},
                            {LPT_COST_ALGORITHM_TREE, 3.0, 3.0},
                            {LPT_COST_ALGORITHM_TWO_SHOT, 1.25, 2.0},
                            {LPT_COST_ALGORITHM_ONE_SHOT, 1.0, 4.0},
                            {LPT_COST_ALGORITHM_STAR, 2.0, 5.0}};

double cast_seconds(const Casts &casts, double elements, const lpt_cost_cast_rates &rates) {
  return rates.overhead_seconds +
         4.0 * elements *
             (casts.encoded / rates.encode_bytes_per_second + casts.decoded / rates.decode_bytes_per_second);
}

// Returns the seconds that casts save. Both alternatives use their fastest algorithm of `known`.
double gain(lpt_context *context, const std::vector<Casts> &known, int64_t elements, lpt_format payload,
            const lpt_cost_cast_rates &rates, const lpt_cost_link &link) {
  double plain = INFINITY, cast = INFINITY;
  for (const Casts &casts : known) {
    plain = std::min(plain, all_reduce_cost(context, casts.algorithm, 4, elements, link).seconds);
    const double sent =
        cost(context, LPT_COST_COLLECTIVE_ALL_REDUCE, casts.algorithm, 4, elements, payload, &link).seconds;
    cast = std::min(cast, sent + cast_seconds(casts, static_cast<double>(elements), rates));
  }
  return plain - cast;
}

TEST(BreakEven, IsWhereTimesAreTheSame) {
  const Context context = make_context();
  const lpt_cost_link link = link_of(20e-6, 1e9, 50e9);
  const lpt_cost_cast_rates rates = rates_of(30e-6, 40e9, 60e9);
  for (const Casts &casts : kCasts) {
    for (const lpt_format payload : {LPT_FORMAT_INT8_1X32, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_MXFP4}) {
      const int64_t edge = break_even(context.get(), casts.algorithm, 4, payload, rates, link);
      ASSERT_GT(edge, 1);
      const int64_t slack = edge / 1000000 + 1;  // for rounding
      EXPECT_GT(gain(context.get(), {casts}, edge + slack, payload, rates, link), 0.0) << casts.algorithm;
      EXPECT_LT(gain(context.get(), {casts}, edge - slack, payload, rates, link), 0.0) << casts.algorithm;
    }
  }
}

// The fastest algorithm depends on the size, so casts can save time in several ranges. The last crossover is returned.
TEST(BreakEven, OfTheBestHoldsForAllThatIsLarger) {
  const Context context = make_context();
  const std::vector<Casts> all(std::begin(kCasts), std::end(kCasts));
  Random random(92);
  int transposed_copy = 0;
  for (int draw = 0; draw < 100; ++draw) {
    const double latency = 1e-4 * std::pow(10.0, 3.0 * random.uniform());  // crossovers from ten thousand elements
    const lpt_cost_link link = link_of(latency, 1e9);
    const lpt_cost_cast_rates rates = rates_of(latency * random.uniform(), 100e9, 2e9 + 4e9 * random.uniform());
    const int64_t edge = break_even(context.get(), LPT_COST_ALGORITHM_BEST, 4, LPT_FORMAT_INT8_1X32, rates, link);
    const int64_t first = edge < 0 ? int64_t{1} << 40 : edge;
    for (int64_t elements = 1; elements < int64_t{1} << 40; elements += elements / 7 + 1) {
      const double gained = gain(context.get(), all, elements, LPT_FORMAT_INT8_1X32, rates, link);
      if (elements > first + first / 1000000 + 1) {
        EXPECT_GT(gained, 0.0) << draw << ", " << elements;
      }
      transposed_copy += elements < first && gained > 0.0;
    }
    if (edge < 2) continue;
    // 1e-9 of the latency allows for rounding.
    EXPECT_LT(gain(context.get(), all, edge - 1, LPT_FORMAT_INT8_1X32, rates, link), 1e-9 * latency) << draw;
  }
  EXPECT_GT(transposed_copy, 0) << "no draw has an edge before the last one";
}

TEST(BreakEven, IsTheFirstElementWhereCastsAreFree) {
  const Context context = make_context();
  EXPECT_EQ(1, break_even(context.get(), LPT_COST_ALGORITHM_BEST, 4, LPT_FORMAT_INT8_1X32, rates_of(0, 0, 0),
                          link_of(20e-6, 1e9)));
}

TEST(BreakEven, IsNoneWhereCastsNeverPay) {
  const Context context = make_context();
  const lpt_cost_link link = link_of(20e-6, 10e9);
  // -1: casts slower than the link, a payload that is not smaller, one rank, no link.
  EXPECT_EQ(-1,
            break_even(context.get(), LPT_COST_ALGORITHM_BEST, 4, LPT_FORMAT_INT8_1X32, rates_of(0, 5e9, 5e9), link));
  EXPECT_EQ(-1, break_even(context.get(), LPT_COST_ALGORITHM_BEST, 4, LPT_FORMAT_F32, rates_of(0, 0, 0), link));
  EXPECT_EQ(-1, break_even(context.get(), LPT_COST_ALGORITHM_BEST, 4, LPT_FORMAT_F64, rates_of(0, 0, 0), link));
  EXPECT_EQ(-1, break_even(context.get(), LPT_COST_ALGORITHM_BEST, 1, LPT_FORMAT_INT8_1X32, rates_of(0, 0, 0), link));
  EXPECT_EQ(-1, break_even(context.get(), LPT_COST_ALGORITHM_BEST, 4, LPT_FORMAT_INT8_1X32, rates_of(0, 0, 0),
                           LPT_COST_LINK_INIT));
}

}  // namespace
}  // namespace lpt::test
