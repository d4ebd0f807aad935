// Means of lossy collectives, injected faults, packets of strangers, and ranks that fail.
#include "tests/comm/lossy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <latch>

#include "tests/comm/local.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

lpt_comm_options comm_options(double timeout_seconds = 100.0) {
  lpt_comm_options options = LPT_COMM_OPTIONS_INIT;
  options.timeout_seconds = timeout_seconds;
  return options;
}

// Mean of samples, and how many standard errors it is from an expectation.
struct Mean {
  double sum = 0.0, squares = 0.0, count = 0.0;

  void add(double x) {
    sum += x;
    squares += x * x;
    count += 1.0;
  }
  double mean() const { return sum / count; }
  double sigmas(double expected) const {
    const double variance = squares / count - mean() * mean();
    return std::abs(mean() - expected) / std::sqrt(variance / (count - 1.0));
  }
};

lpt_lossy_info estimate(double loss, int32_t ranks) {
  const Context context = make_context(1);
  lpt_lossy_info info = LPT_LOSSY_INFO_INIT;
  EXPECT_TRUE(ok(context.get(), lpt_lossy_estimate(context.get(), loss, ranks, &info)));
  return info;
}

// Returns the mean of N / |S|, where the number |S| of parts that arrive is 1 plus a binomial number. The own part has the weight
// 1 / |S|, and the average of |S| parts has 1 / |S| of the variance of one. The distribution is built rank by rank.
double mean_of_counts(double loss, int32_t ranks) {
  std::vector<double> chance{1.0};
  for (int32_t q = 1; q < ranks; ++q) {
    chance.push_back(0.0);
    for (size_t n = chance.size() - 1; n > 0; --n) chance[n] = chance[n] * loss + chance[n - 1] * (1.0 - loss);
    chance[0] *= loss;
  }
  double mean = 0.0;
  for (size_t n = 0; n < chance.size(); ++n) mean += chance[n] * ranks / (static_cast<double>(n) + 1.0);
  return mean;
}

TEST(LossyEstimate, HasTheSumsOfTheirDefinitions) {
  for (const double p : {0.0, 1e-9, 0.05, 0.1, 0.4, 0.8, 0.999}) {
    for (const int32_t ranks : {1, 2, 3, 8, 64}) {
      const lpt_lossy_info info = estimate(p, ranks);
      const double expected = mean_of_counts(p, ranks);
      EXPECT_NEAR(expected, info.owner_weight, 1e-12 * expected);
      EXPECT_NEAR(ranks, info.owner_weight + (ranks - 1) * info.other_weight, 1e-11 * ranks);
      double variance = 1.0 / ranks;  // of N times the average: the own part, and N - 1 parts that arrive or not
      for (int32_t q = 1; q < ranks; ++q) variance += (1.0 - p) / ((1.0 - p) * (1.0 - p)) / ranks;
      EXPECT_NEAR(variance, info.horvitz_thompson_variance, 1e-12 * variance);
    }
  }
  EXPECT_NEAR(1.1111, estimate(0.1, 64).owner_weight, 5e-5);
}

// Both replicas lose an update: the difference remains. One does: it is that of one update. None does: it is 0.
TEST(LossyEstimate, HasTheFixedPointsOfTheDrift) {
  for (const double p : {0.0, 0.05, 0.1, 0.2, 0.4, 0.9}) {
    const lpt_lossy_info info = estimate(p, 2);
    double drift = 0.0;
    for (int step = 0; step < 2000; ++step) drift = p * p * drift + 2.0 * p * (1.0 - p);
    EXPECT_NEAR(drift, info.one_step_drift, 1e-12);
    double exact = 0.0, age = 0.0;  // over the ages a and b of two replicas, P(a) = (1 - p) p^a
    for (int a = 0; a < 400; ++a) {
      age += a * (1.0 - p) * std::pow(p, a);
      for (int b = 0; b < 400; ++b) exact += std::abs(a - b) * (1.0 - p) * (1.0 - p) * std::pow(p, a + b);
    }
    EXPECT_NEAR(exact, info.drift, 1e-12 * std::max(1.0, exact));
    EXPECT_NEAR(age, info.mean_age, 1e-12 * std::max(1.0, age));
  }
}

// Parameters change by +1 or -1 in each step. Replicas that do not own them differ by the updates that only one has.
TEST(LossyGather, DriftsAsEstimated) {
  constexpr int32_t kRanks = 3;
  constexpr int64_t kPackets = 1000, kPart = 2 * kPackets, kAll = kPart * kRanks;
  const int steps = kIsSanitized ? 30 : 200;
  std::vector<std::vector<float>> replicas(kRanks, std::vector<float>(kAll, 0.0f));
  std::vector<std::vector<double>> sums(kRanks, std::vector<double>(kPackets, 0.0));
  std::atomic<int> late{0};
  run_ranks(kRanks, comm_options(), [&](const Rank &self, Comm &) {
    const LossyLink link = make_link(self, lossy_options(8, 0.2, 340));
    std::vector<float> &mine = replicas[static_cast<size_t>(self.rank)];
    const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, mine.data(), {kAll});
    const Tensor part = view(self.context, output.get(), {self.rank * kPart}, {kPart});
    Random random(341 + static_cast<uint64_t>(self.rank));
    for (int step = 0; step < steps; ++step) {
      for (int64_t i = 0; i < kPart; ++i) {
        mine[static_cast<size_t>(self.rank * kPart + i)] += random.chance(0.5) ? 1.0f : -1.0f;
      }
      ASSERT_TRUE(
          self.ok(lpt_lossy_all_gather(self.context, link.get(), part.get(), nullptr, 0, output.get(), nullptr)));
      ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
      const auto owner = static_cast<size_t>(self.rank);
      const std::vector<float> &a = replicas[(owner + 1) % kRanks], &b = replicas[(owner + 2) % kRanks];
      for (size_t i = 0; step >= 10 && i < kPart; ++i) {
        const double difference = a[owner * kPart + i] - b[owner * kPart + i];
        sums[owner][i / 2] += difference * difference / 2.0;
      }
      ASSERT_TRUE(self.ok(lpt_barrier(self.context, self.comm)));
    }
    late += static_cast<int>(read(self, link).late_count);
  });
  Mean drift;  // packets are independent
  for (const auto &of_rank : sums) {
    for (const double sum : of_rank) drift.add(sum / (steps - 10));
  }
  const double expected = 2.0 * 0.2 / (1.0 - 0.2 * 0.2);
  EXPECT_LT(drift.sigmas(expected), 4.0) << drift.mean();
  EXPECT_TRUE(kIsSanitized || std::abs(drift.mean() - expected) < 0.02 * expected) << drift.mean();
  EXPECT_EQ(0, late);
}

// Averages of constant parts g_q = 1, 3, 5, 7 over many packets, on each rank.
template <typename Expected>
void expect_mean(const std::vector<double> &loss, lpt_lossy_mode mode, const Expected &expected) {
  constexpr int64_t kPackets = 10'000;
  const auto ranks = static_cast<int32_t>(loss.size());
  run_ranks(ranks, comm_options(), [&](const Rank &self, Comm &) {
    const LossyLink link = make_link(self, lossy_options(8, loss[static_cast<size_t>(self.rank)], 350));
    const std::vector<double> own(static_cast<size_t>(kPackets * ranks), 2.0 * self.rank + 1.0);
    std::vector<double> found(kPackets);
    const Tensor input = wrap_axes(self.context, LPT_FORMAT_F64, own.data(), {kPackets * ranks});
    const Tensor output = wrap_axes(self.context, LPT_FORMAT_F64, found.data(), {kPackets});
    const double *given = mode == LPT_LOSSY_MODE_COUNT ? nullptr : loss.data();
    ASSERT_TRUE(self.ok(lpt_lossy_reduce_scatter(self.context, link.get(), input.get(), nullptr, mode, given, 0,
                                                 output.get(), nullptr)));
    Mean mean;
    for (const double x : found) mean.add(x);
    EXPECT_LT(mean.sigmas(expected(self.rank)), 4.0) << "rank " << self.rank << " has " << mean.mean();
  });
}

TEST(LossyReduceScatter, IsUnbiasedByProbabilitiesOfArrival) {
  expect_mean({0.1, 0.5, 0.3, 0.7}, LPT_LOSSY_MODE_HORVITZ_THOMPSON, [](int32_t) { return 4.0; });
}

TEST(LossyReduceScatter, GivesTheOwnerMoreWeightByCounts) {
  expect_mean({0.4, 0.4, 0.4, 0.4}, LPT_LOSSY_MODE_COUNT, [](int32_t rank) {
    const double own = 2.0 * rank + 1.0, weight = mean_of_counts(0.4, 4) / 4.0;
    return weight * own + (1.0 - weight) * (16.0 - own) / 3.0;
  });
}

// Calls a reduction of `count` numbers on each rank, and returns whether the result is exact.
bool reduces_exactly(const Rank &self, const LossyLink &link, int64_t count) {
  const std::vector<std::vector<float>> all = numbers_of_all(self.ranks, 360, count * self.ranks);
  std::vector<float> found(static_cast<size_t>(count));
  const Tensor input =
      wrap_axes(self.context, LPT_FORMAT_F32, all[static_cast<size_t>(self.rank)].data(), {count * self.ranks});
  const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, found.data(), {count});
  EXPECT_TRUE(self.ok(lpt_lossy_reduce_scatter(self.context, link.get(), input.get(), nullptr, LPT_LOSSY_MODE_COUNT,
                                               nullptr, 0, output.get(), nullptr)));
  for (size_t i = 0; i < found.size(); ++i) {
    const size_t at = static_cast<size_t>(self.rank * count) + i;
    if (found[i] != sum_of(all, at) / static_cast<float>(self.ranks)) return false;
  }
  return true;
}

TEST(LossyLink, DropsAndCountsInjectedFaults) {
  run_ranks(3, comm_options(), [](const Rank &self, Comm &) {
    lpt_lossy_link_options options = lossy_options(64, 0.0, 370);
    options.injected_reordering = 0.5;
    options.injected_duplication = 1.0;
    LossyLink link = make_link(self, options);
    EXPECT_TRUE(reduces_exactly(self, link, 4000));
    lpt_lossy_link_info info = read(self, link);
    EXPECT_EQ(500, info.sent_count);
    EXPECT_EQ(500, info.received_count);
    EXPECT_EQ(500, info.duplicate_count);
    EXPECT_EQ(250, read(self, link, (self.rank + 1) % 3).duplicate_count);
    options = lossy_options(64, 0.0, 371);
    options.injected_corruption = 0.25;
    link = make_link(self, options);
    EXPECT_FALSE(reduces_exactly(self, link, 4000));
    info = read(self, link);
    EXPECT_EQ(500, info.lost_count + info.received_count);
    EXPECT_EQ(info.lost_count, info.corrupted_count + info.stranger_count + info.malformed_count);
    EXPECT_NEAR(125, info.lost_count, 4 * std::sqrt(500 * 0.25 * 0.75));
    EXPECT_GT(info.corrupted_count, 0);
  });
}

std::vector<uint8_t> arrivals_of(const Rank &self, uint64_t seed) {
  const LossyLink link = make_link(self, lossy_options(8, 0.5, seed));
  std::vector<float> numbers(400), part(200);
  const Tensor input = wrap_axes(self.context, LPT_FORMAT_F32, numbers.data(), {400});
  const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, part.data(), {200});
  std::vector<uint8_t> all;
  for (int call = 0; call < 2; ++call) {
    std::vector<uint8_t> arrivals(200);
    EXPECT_TRUE(self.ok(lpt_lossy_reduce_scatter(self.context, link.get(), input.get(), nullptr, LPT_LOSSY_MODE_COUNT,
                                                 nullptr, 200, output.get(), arrivals.data())));
    all.insert(all.end(), arrivals.begin(), arrivals.end());
  }
  return all;
}

TEST(LossyLink, InjectsTheSameFaultsForASeed) {
  std::vector<std::vector<uint8_t>> of_ranks(2);
  run_ranks(2, comm_options(), [&](const Rank &self, Comm &) {
    const std::vector<uint8_t> first = arrivals_of(self, 1), again = arrivals_of(self, 1), other = arrivals_of(self, 2);
    EXPECT_EQ(first, again);
    EXPECT_NE(first, other);
    EXPECT_NE(std::vector<uint8_t>(first.begin(), first.begin() + 200),
              std::vector<uint8_t>(first.begin() + 200, first.end()));
    for (size_t k = 0; k < 200; ++k)
      of_ranks[static_cast<size_t>(self.rank)].push_back(first[2 * k + 1 - static_cast<size_t>(self.rank)]);
  });
  EXPECT_NE(of_ranks[0], of_ranks[1]) << "both directions lose the same packets";
}

// A socket of no rank.
class Stranger {
 public:
  Stranger() : file_(socket(AF_INET, SOCK_DGRAM, 0)) { EXPECT_GE(file_, 0); }
  ~Stranger() { close(file_); }
  Stranger(const Stranger &) = delete;
  Stranger &operator=(const Stranger &) = delete;

  void send(int32_t port, const std::vector<uint8_t> &bytes) const {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sendto(file_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr *>(&to), sizeof to);
  }

 private:
  const int file_;
};

// A header has checksum, mark, sender, key, call, index and length: 8, 4, 4, 8, 8, 4 and 4 bytes.
std::vector<uint8_t> packet_with_mark(int32_t length, size_t payload) {
  std::vector<uint8_t> packet(40 + payload, 0);
  const uint32_t mark = 0x4C505450;
  std::memcpy(&packet[8], &mark, sizeof mark);
  std::memcpy(&packet[36], &length, sizeof length);
  return packet;
}

TEST(LossyLink, DropsAndCountsPacketsOfStrangers) {
  run_ranks(2, comm_options(), [](const Rank &self, Comm &) {
    const LossyLink link = make_link(self, lossy_options(64));
    const int32_t port = read(self, link).port;
    const Stranger stranger;
    Random random(380 + static_cast<uint64_t>(self.rank));
    int64_t malformed = 0;
    for (size_t bytes : {0, 1, 39, 40, 103, 104, 105, 1000}) {
      std::vector<uint8_t> garbage(bytes);
      for (uint8_t &byte : garbage) byte = static_cast<uint8_t>(random.below(256));
      stranger.send(port, garbage);
      ++malformed;
    }
    stranger.send(port, packet_with_mark(63, 64));
    stranger.send(port, packet_with_mark(128, 128));  // longer than packets of the link
    stranger.send(port, packet_with_mark(64, 64));
    stranger.send(port, packet_with_mark(0, 0));
    EXPECT_TRUE(reduces_exactly(self, link, 500));
    const lpt_lossy_link_info info = read(self, link);
    EXPECT_EQ(malformed + 2, info.malformed_count);
    EXPECT_EQ(2, info.stranger_count);
    EXPECT_EQ(0, info.lost_count + info.corrupted_count + info.late_count + info.duplicate_count);
  });
}

// Calls end while strangers send without pause.
TEST(LossyLink, ReturnsUnderAFlood) {
  std::atomic<int> port{0};
  std::atomic<bool> is_over{false};
  std::thread flood([&] {
    const Stranger stranger;
    while (!is_over) {
      if (port != 0) stranger.send(port, std::vector<uint8_t>(16));
    }
  });
  run_ranks(2, comm_options(), [&](const Rank &self, Comm &) {
    lpt_lossy_link_options options = lossy_options(64, 1.0);
    options.timeout_seconds = 0.05;
    options.quiet_seconds = 3600.0;
    const LossyLink link = make_link(self, options);
    if (self.rank == 0) port = read(self, link).port;
    EXPECT_FALSE(reduces_exactly(self, link, 500));
    EXPECT_EQ(32, read(self, link).lost_count);
  });
  is_over = true;
  flood.join();
}

TEST(LossyLink, WorksWithIpv6) {
  run_ranks(2, comm_options(), [](const Rank &self, Comm &) {
    lpt_lossy_link_options options = lossy_options(64);
    std::snprintf(options.address, sizeof options.address, "::1");
    LossyLink link;
    const lpt_status status = lpt_lossy_link_create(self.context, self.comm, &options, out(link));
    if (status == LPT_UNSUPPORTED || status == LPT_INVALID_ARGUMENT) {
      expect_words({"options->address is \"::1\""}, lpt_context_error(self.context));
      return;  // a system without IPv6: no rank opens a socket
    }
    ASSERT_TRUE(self.ok(status));
    EXPECT_TRUE(reduces_exactly(self, link, 500));
    EXPECT_EQ(0, read(self, link).lost_count);
  });
}

template <typename Call>
void expect_mismatch(const std::vector<const char *> &words, const Call &call) {
  run_ranks(3, comm_options(), [&](const Rank &self, Comm &) {
    EXPECT_EQ(LPT_MISMATCH, call(self));
    expect_words(words, lpt_context_error(self.context));
  });
}

TEST(LossyLink, ReportsRanksThatDisagree) {
  expect_mismatch({"ranks disagree", "lossy_link_create"}, [](const Rank &self) {
    const lpt_lossy_link_options options = lossy_options(self.rank == 1 ? 64 : 128);
    LossyLink link;
    return lpt_lossy_link_create(self.context, self.comm, &options, out(link));
  });
  const auto reduce = [](const Rank &self, const int64_t *counts, int64_t part, lpt_lossy_mode mode) {
    const LossyLink link = make_link(self, lossy_options(64));
    std::vector<float> numbers(90);
    const Tensor input = wrap_axes(self.context, LPT_FORMAT_F32, numbers.data(), {90});
    const Tensor output = make_tensor(self.context, LPT_FORMAT_F32, {part});
    return lpt_lossy_reduce_scatter(self.context, link.get(), input.get(), counts, mode, nullptr, 0, output.get(),
                                    nullptr);
  };
  expect_mismatch({"ranks disagree", "lossy_reduce_scatter"}, [&](const Rank &self) {
    return reduce(self, nullptr, 30, self.rank == 2 ? LPT_LOSSY_MODE_COUNT : LPT_LOSSY_MODE_HORVITZ_THOMPSON);
  });
  expect_mismatch({"ranks disagree", "lossy_reduce_scatter"}, [&](const Rank &self) {
    const int64_t even[] = {30, 30, 30}, uneven[] = {20, 40, 30};
    return reduce(self, self.rank == 2 ? uneven : even, 30, LPT_LOSSY_MODE_COUNT);
  });
}

TEST(LossyReduceScatter, RejectsLossesThatAreNoProbabilities) {
  run_ranks(2, comm_options(), [](const Rank &self, Comm &) {
    const LossyLink link = make_link(self, lossy_options(64));
    std::vector<float> numbers(4, 1.0f), part(2, 7.0f);
    const Tensor input = wrap_axes(self.context, LPT_FORMAT_F32, numbers.data(), {4});
    const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, part.data(), {2});
    for (const double bad : {1.0, -0.1, std::nan("")}) {
      double loss[] = {0.5, 0.5};
      loss[1 - self.rank] = bad;
      EXPECT_EQ(LPT_INVALID_ARGUMENT,
                lpt_lossy_reduce_scatter(self.context, link.get(), input.get(), nullptr,
                                         LPT_LOSSY_MODE_HORVITZ_THOMPSON, loss, 0, output.get(), nullptr));
      expect_words({self.rank == 0 ? "loss[1] is" : "loss[0] is", "less than 1"}, lpt_context_error(self.context));
    }
    EXPECT_EQ(std::vector<float>(2, 7.0f), part);
    EXPECT_TRUE(reduces_exactly(self, link, 10)) << "no rank has sent anything";
  });
}

// A rank that leaves, one that stops, and one that is late.
TEST(LossyLink, ReportsRanksThatFail) {
  run_ranks(3, comm_options(), [](const Rank &self, Comm &comm) {
    const LossyLink link = make_link(self, lossy_options(64));
    if (self.rank == 1) return comm.reset();
    std::vector<float> numbers(30), part(10);
    const Tensor input = wrap_axes(self.context, LPT_FORMAT_F32, numbers.data(), {30});
    const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, part.data(), {10});
    EXPECT_EQ(LPT_ABORTED, lpt_lossy_reduce_scatter(self.context, link.get(), input.get(), nullptr,
                                                    LPT_LOSSY_MODE_COUNT, nullptr, 0, output.get(), nullptr));
    expect_words({"rank 1"}, lpt_context_error(self.context));
  });
  std::latch has_ended(2);
  run_ranks(2, comm_options(0.2), [&](const Rank &self, Comm &) {
    const LossyLink link = make_link(self, lossy_options(64));
    if (self.rank == 1) return has_ended.arrive_and_wait();
    std::vector<float> numbers(20);
    const Tensor input = wrap_axes(self.context, LPT_FORMAT_F32, numbers.data(), {10});
    const Tensor output = wrap_axes(self.context, LPT_FORMAT_F32, numbers.data(), {20});
    EXPECT_EQ(LPT_TIMEOUT,
              lpt_lossy_all_gather(self.context, link.get(), input.get(), nullptr, 0, output.get(), nullptr));
    expect_words({"rank"}, lpt_context_error(self.context));
    has_ended.arrive_and_wait();
  });
  run_ranks(2, comm_options(), [](const Rank &self, Comm &) {
    lpt_lossy_link_options options = lossy_options(64);
    options.timeout_seconds = 0.01;  // less than the delay, which does not count
    const LossyLink link = make_link(self, options);
    if (self.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(reduces_exactly(self, link, 500));
  });
}

}  // namespace
}  // namespace lpt::test
