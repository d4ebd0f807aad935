// Thresholds of DropCompute: the model against simulated ranks and published values, the fit against its definition, and sums of
// gradients of ranks that stop.
#include <algorithm>
#include <cmath>

#include "tests/comm/buckets.hpp"
#include "tests/comm/local.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// Times of micro-batches, [ranks][steps][micro_batches].
struct Times {
  int32_t ranks;
  int64_t steps;
  int32_t micro_batches;
  std::vector<double> seconds;

  double at(int64_t rank, int64_t step, int64_t micro_batch) const {
    return seconds[static_cast<size_t>((rank * steps + step) * micro_batches + micro_batch)];
  }
};

double normal_time(Random &random, double deviation) { return 1.0 + deviation * random.normal(); }

// With mean 1.
double log_normal_time(Random &random, double deviation) {
  const double square = std::log1p(deviation * deviation);
  return std::exp(std::sqrt(square) * random.normal() - 0.5 * square);
}

Times draw_times(uint64_t place, int32_t ranks, int64_t steps, int32_t micro_batches, double deviation,
                 double (*draw_time)(Random &, double)) {
  Random random(place);
  Times times{ranks, steps, micro_batches, {}};
  for (int64_t i = 0; i < ranks * steps * micro_batches; ++i) {
    times.seconds.push_back(std::max(draw_time(random, deviation), 0.01));
  }
  return times;
}

lpt_drop_compute_info fit(lpt_context *context, const Times &times, double serial, double threshold = 0.0) {
  lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
  EXPECT_TRUE(ok(context, lpt_drop_compute_fit(context, times.seconds.data(), times.ranks, times.steps,
                                               times.micro_batches, serial, threshold, &info)));
  return info;
}

lpt_drop_compute_info estimate(lpt_context *context, int32_t ranks, int32_t micro_batches, double mean,
                               double deviation, double serial, double threshold = 0.0) {
  lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
  EXPECT_TRUE(
      ok(context, lpt_drop_compute_estimate(context, ranks, micro_batches, mean, deviation, serial, threshold, &info)));
  return info;
}

// What the ranks of the times do with a threshold. It has the definitions of the header, one step after another.
struct Simulated {
  double kept = 0.0, full_seconds = 0.0, step_seconds = 0.0;
  double full_error = 0.0;  // standard deviation of full_seconds

  double speedup() const { return kept * full_seconds / step_seconds; }
};

Simulated simulate(const Times &times, double serial, double threshold) {
  Simulated found;
  double squares = 0.0;
  for (int64_t step = 0; step < times.steps; ++step) {
    double slowest = 0.0;
    for (int64_t rank = 0; rank < times.ranks; ++rank) {
      double clock = 0.0;
      for (int64_t i = 0; i < times.micro_batches; ++i) {
        clock += times.at(rank, step, i);
        found.kept += clock <= threshold ? 1.0 : 0.0;
      }
      slowest = std::max(slowest, clock);
    }
    found.full_seconds += slowest + serial;
    found.step_seconds += std::min(slowest, threshold) + serial;
    squares += (slowest + serial) * (slowest + serial);
  }
  const auto steps = static_cast<double>(times.steps);
  found.kept /= static_cast<double>(times.seconds.size());
  found.full_seconds /= steps;
  found.step_seconds /= steps;
  found.full_error = std::sqrt(std::max(squares / steps - found.full_seconds * found.full_seconds, 0.0) / steps);
  return found;
}

void expect_simulated(const Simulated &expected, const lpt_drop_compute_info &found, double relative) {
  EXPECT_NEAR(expected.kept, found.kept_fraction, relative);
  EXPECT_NEAR(expected.full_seconds, found.full_seconds, relative * expected.full_seconds);
  EXPECT_NEAR(expected.step_seconds, found.step_seconds, relative * expected.step_seconds);
  EXPECT_NEAR(expected.speedup(), found.speedup, relative * expected.speedup());
}

// The model.

TEST(DropComputeModel, HasThePublishedMeanOfTheSlowestRank) {
  const Context context = make_context();
  struct {
    int32_t ranks;
    double deviation, seconds;
  } constexpr kCases[] = {
      {16, 0.1, 12.624}, {64, 0.1, 12.821}, {192, 0.1, 12.953}, {1024, 0.1, 13.130}, {192, 0.5, 16.767}};
  for (const auto &item : kCases) {
    const lpt_drop_compute_info found = estimate(context.get(), item.ranks, 12, 1.0, item.deviation, 0.0, 1e9);
    EXPECT_NEAR(item.seconds, found.full_seconds, 6e-4) << item.ranks << ", " << item.deviation;
    EXPECT_EQ(found.full_seconds, found.step_seconds);  // no rank reaches the threshold
  }
  EXPECT_EQ(12.0, estimate(context.get(), 1, 12, 1.0, 0.5, 0.0, 1e9).full_seconds);
}

TEST(DropComputeModel, FindsThePublishedThreshold) {
  const Context context = make_context();
  struct {
    int32_t ranks;
    double deviation, threshold, speedup, dropped;
  } constexpr kCases[] = {{64, 0.1, 12.23, 1.0243, 0.0211},
                          {192, 0.1, 12.23, 1.0345, 0.0211},
                          {192, 0.3, 11.06, 1.170, 0.120},
                          {1024, 0.3, 11.06, 1.210, 0.120}};
  for (const auto &item : kCases) {
    const lpt_drop_compute_info found = estimate(context.get(), item.ranks, 12, 1.0, item.deviation, 0.5);
    EXPECT_NEAR(item.threshold, found.threshold_seconds, 0.01) << item.ranks << ", " << item.deviation;
    EXPECT_NEAR(item.speedup, found.speedup, 6e-4) << item.ranks << ", " << item.deviation;
    EXPECT_NEAR(item.dropped, 1.0 - found.kept_fraction, 1e-3) << item.ranks << ", " << item.deviation;
    // Times scale with their unit.
    const lpt_drop_compute_info scaled = estimate(context.get(), item.ranks, 12, 1e-3, item.deviation * 1e-3, 0.5e-3);
    EXPECT_NEAR(found.threshold_seconds, 1e3 * scaled.threshold_seconds, 1e-3);
    EXPECT_NEAR(found.speedup, scaled.speedup, 1e-9);
  }
}

// The sigma of a fraction kept over ranks · steps sums is below 0.5 / sqrt(ranks · steps). The approximation of the mean maximum
// has an error of 2e-3 of the mean.
TEST(DropComputeModel, IsThatOfSimulatedRanks) {
  const Context context = make_context();
  const int64_t steps = kIsSanitized ? 200 : 2000;
  uint64_t place = 0xD0;
  for (const int32_t ranks : {8, 64}) {
    for (const double deviation : {0.1, 0.3}) {
      const Times times = draw_times(++place, ranks, steps, 12, deviation, normal_time);
      for (const double threshold : {10.0, 11.5, 12.2}) {
        const Simulated expected = simulate(times, 0.5, threshold);
        const lpt_drop_compute_info found = estimate(context.get(), ranks, 12, 1.0, deviation, 0.5, threshold);
        const double sigma = 0.5 / std::sqrt(static_cast<double>(ranks * steps));
        EXPECT_NEAR(expected.kept, found.kept_fraction, 5.0 * sigma) << ranks << ", " << deviation << ", " << threshold;
        EXPECT_NEAR(expected.full_seconds, found.full_seconds, 5.0 * expected.full_error + 2e-3 * found.full_seconds);
      }
    }
  }
}

// A clipped maximum is at most the smaller one of its mean and the threshold, so steps take no longer than in the model.
TEST(DropComputeModel, FindsTheThresholdOfTheFit) {
  const Context context = make_context();
  const Times times = draw_times(0xE0, 64, kIsSanitized ? 100 : 1000, 12, 0.3, normal_time);
  const lpt_drop_compute_info fitted = fit(context.get(), times, 0.5);
  const lpt_drop_compute_info found = estimate(context.get(), 64, 12, 1.0, 0.3, 0.5);
  EXPECT_NEAR(fitted.speedup, found.speedup, 5e-3 * fitted.speedup);
  EXPECT_NEAR(fitted.speedup, simulate(times, 0.5, found.threshold_seconds).speedup(), 5e-3 * fitted.speedup);
}

// The header states the error of 6 %.
TEST(DropComputeModel, IsTooFastForAHeavyTail) {
  const Context context = make_context();
  const Times times = draw_times(0xE1, 192, kIsSanitized ? 100 : 1000, 12, 0.5, log_normal_time);
  const lpt_drop_compute_info fitted = fit(context.get(), times, 0.0);
  const lpt_drop_compute_info found = estimate(context.get(), 192, 12, 1.0, 0.5, 0.0);
  EXPECT_NEAR(1.058, fitted.full_seconds / found.full_seconds, 0.01);
}

// No threshold makes these ranks faster.
TEST(DropComputeModel, HasNoThresholdForEqualTimes) {
  const Context context = make_context();
  for (const int32_t ranks : {1, 64}) {
    for (const int32_t micro_batches : {1, 12}) {
      const lpt_drop_compute_info found = estimate(context.get(), ranks, micro_batches, 0.25, 0.0, 0.5);
      EXPECT_EQ(INFINITY, found.threshold_seconds);
      EXPECT_EQ(1.0, found.kept_fraction);
      EXPECT_EQ(1.0, found.speedup);
      EXPECT_EQ(0.25 * micro_batches + 0.5, found.step_seconds);
      EXPECT_EQ(found.full_seconds, found.step_seconds);
    }
  }
  EXPECT_EQ(0.5, estimate(context.get(), 4, 4, 1.0, 0.0, 0.0, 2.5).kept_fraction);
}

// The fit.

TEST(DropComputeFit, IsTheBestOfItsCandidates) {
  const Context context = make_context();
  Random random(0xF0);
  for (int round = 0; round < 60; ++round) {
    const auto ranks = static_cast<int32_t>(1 + random.below(5)),
               micro_batches = static_cast<int32_t>(1 + random.below(8));
    Times times = draw_times(0xF1 + static_cast<uint64_t>(round), ranks, 1 + random.below(7), micro_batches, 0.8,
                             round % 2 == 0 ? log_normal_time : normal_time);
    const double serial = random.below(3) == 0 ? 0.0 : random.uniform();
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << ranks << " ranks, " << micro_batches);
    double first = INFINITY, last = 0.0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      for (int64_t step = 0; step < times.steps; ++step) {
        first = std::min(first, times.at(rank, step, 0));
        double sum = 0.0;
        for (int64_t i = 0; i < micro_batches; ++i) sum += times.at(rank, step, i);
        last = std::max(last, sum);
      }
    }
    double best = 1.0;
    for (int i = 0; i < 200; ++i) {
      const double threshold = first + (last - first) * i / 199;
      if (threshold > 0.0) best = std::max(best, simulate(times, serial, threshold).speedup());
    }
    const lpt_drop_compute_info found = fit(context.get(), times, serial);
    EXPECT_NEAR(best, found.speedup, 1e-12 * best);
    expect_simulated(simulate(times, serial, found.threshold_seconds), found, 1e-12);
    const double given = first + 0.7 * (last - first) + 1e-3;
    const lpt_drop_compute_info at = fit(context.get(), times, serial, given);
    EXPECT_EQ(given, at.threshold_seconds);
    expect_simulated(simulate(times, serial, given), at, 1e-12);
  }
}

TEST(DropComputeFit, ForOneMicroBatchDropsSlowRanks) {
  const Context context = make_context();
  Times times{4, 2, 1, {1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0}};
  const lpt_drop_compute_info found = fit(context.get(), times, 0.0);
  EXPECT_EQ(1.0, found.threshold_seconds);
  EXPECT_EQ(7.0 / 8.0, found.kept_fraction);
  EXPECT_EQ(7.0 / 8.0 * 5.0, found.speedup);
  times.seconds.assign(8, 2.0);
  EXPECT_EQ(INFINITY, fit(context.get(), times, 0.0).threshold_seconds);
  const lpt_drop_compute_info nothing = fit(context.get(), times, 0.0, 1.0);
  EXPECT_EQ(0.0, nothing.kept_fraction);
  EXPECT_EQ(0.0, nothing.speedup);
}

// Times of micro-batches that take no time do not give a threshold of zero, which would select the search.
TEST(DropComputeFit, TakesTimesOfZero) {
  const Context context = make_context();
  const Times times{2, 1, 2, {0.0, 0.0, 0.0, 5.0}};
  const lpt_drop_compute_info found = fit(context.get(), times, 1.0);
  EXPECT_GT(found.threshold_seconds, 0.0);
  EXPECT_EQ(0.75, found.kept_fraction);
}

// Ranks.

TEST(DropComputeRanks, GetTheSameThreshold) {
  constexpr int64_t kSteps = 9, kOwn = kSteps * 6;
  const Times times = draw_times(0x110, 3, kSteps, 6, 0.5, log_normal_time);
  std::vector<lpt_drop_compute_info> found(3);
  run_ranks(3, LPT_COMM_OPTIONS_INIT, [&](const Rank &self, Comm &) {
    Times gathered{3, kSteps, 6, std::vector<double>(times.seconds.size(), 0.0)};
    const auto begin = static_cast<ptrdiff_t>(self.rank * kOwn);
    std::copy_n(times.seconds.begin() + begin, kOwn, gathered.seconds.begin() + begin);
    const Tensor all = wrap(self.context, gathered.seconds, 1, 3 * kOwn);
    ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, all.get(), nullptr, all.get(), nullptr)));
    found[static_cast<size_t>(self.rank)] = fit(self.context, gathered, 0.25);
  });
  const Context context = make_context();
  const lpt_drop_compute_info expected = fit(context.get(), times, 0.25);
  EXPECT_LT(expected.threshold_seconds, INFINITY);
  for (const lpt_drop_compute_info &one : found) EXPECT_EQ(0, std::memcmp(&expected, &one, sizeof one));
}

// Every micro-batch has the gradient (1, -2) and normal noise of sigma 1. The mean over the micro-batches that all ranks
// completed has the expectation of the gradient. Divided by the nominal number, it has kept_fraction of it.
TEST(DropComputeRanks, ScaleTheirGradients) {
  constexpr int32_t kRanks = 3, kMicroBatches = 6;
  constexpr double kThreshold = 4.5;
  const int64_t steps = kIsSanitized ? 300 : 3000;
  const Times times = draw_times(0x120, kRanks, steps, kMicroBatches, 0.6, log_normal_time);
  const std::vector<double> noise = draw_normal(0x121, 2 * kRanks * steps * kMicroBatches);
  double global[2] = {}, nominal[2] = {}, inverse_counts = 0.0;
  run_ranks(kRanks, LPT_COMM_OPTIONS_INIT, [&](const Rank &self, Comm &) {
    std::vector<float> gradient(2), count(1);
    const Tensor tensors[] = {wrap(self.context, gradient, 1, 2), wrap(self.context, count, 1, 1)};
    const Buckets buckets = make_buckets(self, {tensors[0].get(), tensors[1].get()}, LPT_GRADIENT_BUCKETS_OPTIONS_INIT);
    for (int64_t step = 0; step < steps; ++step) {
      gradient.assign(2, 0.0f), count.assign(1, 0.0f);
      double clock = 0.0;
      for (int64_t i = 0; i < kMicroBatches; ++i) {
        clock += times.at(self.rank, step, i);
        if (clock > kThreshold) break;
        const auto at = static_cast<size_t>(2 * ((self.rank * steps + step) * kMicroBatches + i));
        gradient[0] += static_cast<float>(1.0 + noise[at]);
        gradient[1] += static_cast<float>(-2.0 + noise[at + 1]);
        count[0] += 1.0f;
      }
      ASSERT_TRUE(self.ok(begin(self, buckets)));
      for (int64_t i = 0; i < 2; ++i) ASSERT_TRUE(self.ok(ready(self, buckets, i)));
      ASSERT_TRUE(self.ok(wait_for(self, buckets)));
      ASSERT_GT(count[0], 0.0f);
      for (int i = 0; i < 2 && self.rank == 0; ++i) {
        global[i] += gradient[static_cast<size_t>(i)] / count[0] / static_cast<double>(steps);
        nominal[i] += gradient[static_cast<size_t>(i)] / (kRanks * kMicroBatches) / static_cast<double>(steps);
      }
      if (self.rank == 0) inverse_counts += 1.0 / count[0];
    }
  });
  const Context context = make_context();
  const double kept = fit(context.get(), times, 0.0, kThreshold).kept_fraction;
  EXPECT_GT(kept, 0.5);
  EXPECT_LT(kept, 0.9);
  const double global_sigma = std::sqrt(inverse_counts) / static_cast<double>(steps);
  const double nominal_sigma = std::sqrt(kept / (kRanks * kMicroBatches) / static_cast<double>(steps));
  for (int i = 0; i < 2; ++i) {
    const double expected = i == 0 ? 1.0 : -2.0;
    EXPECT_NEAR(expected, global[i], 5.0 * global_sigma);
    EXPECT_NEAR(kept * expected, nominal[i], 5.0 * nominal_sigma);
  }
}

}  // namespace
}  // namespace lpt::test
