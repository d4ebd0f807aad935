// Cross entropy with classes split among ranks, against the definition on all classes in double.
#include <cmath>

#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

using Numbers = std::vector<double>;

constexpr int64_t kRows = 7, kClasses = 40;
constexpr int64_t kIgnored = -100;

// Returns uneven shards. Rank 1 of more than two has no class, the last rank has all remaining ones.
std::vector<int64_t> shares_of(int32_t ranks) {
  std::vector<int64_t> shares;
  int64_t left = kClasses;
  for (int32_t q = 0; q + 1 < ranks; ++q) {
    shares.push_back(q == 1 ? 0 : std::min<int64_t>(left, 3 + 2 * q));
    left -= shares.back();
  }
  shares.push_back(left);
  return shares;
}

struct Problem {
  Numbers logits = draw_normal(500, kRows *kClasses, 3.0);  // of all classes
  std::vector<int64_t> targets;
  int64_t first = 0, own = 0;  // the classes of this rank

  explicit Problem(const Rank &self, bool has_ignored = true) {
    for (int64_t r = 0; r < kRows; ++r) targets.push_back((r * 17 + 2) % kClasses);
    if (has_ignored) targets[3] = kIgnored;
    const std::vector<int64_t> shares = shares_of(self.ranks);
    for (int32_t q = 0; q < self.rank; ++q) first += shares[static_cast<size_t>(q)];
    own = shares[static_cast<size_t>(self.rank)];
  }

  Numbers own_logits() const {
    Numbers part;
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = first; c < first + own; ++c) part.push_back(logits[static_cast<size_t>(r * kClasses + c)]);
    }
    return part;
  }
  bool counts(int64_t row) const { return targets[static_cast<size_t>(row)] != kIgnored; }
};

lpt_cross_entropy_options options_of(const Rank &self, double smoothing, lpt_loss_reduction reduction) {
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.comm = self.comm;
  options.ignored_target = kIgnored;
  options.label_smoothing = smoothing;
  options.reduction = reduction;
  return options;
}

// The definition: q is the target distribution, p softmax.
struct Exact {
  Numbers losses, p, q;
  explicit Exact(const Problem &problem, double smoothing)
      : losses(kRows, 0.0), p(problem.logits.size()), q(p.size(), smoothing / kClasses) {
    for (int64_t r = 0; r < kRows; ++r) {
      double sum = 0.0;
      for (int64_t c = 0; c < kClasses; ++c) sum += std::exp(problem.logits[at(r, c)]);
      if (problem.counts(r)) q[at(r, problem.targets[static_cast<size_t>(r)])] += 1.0 - smoothing;
      for (int64_t c = 0; c < kClasses; ++c) {
        p[at(r, c)] = std::exp(problem.logits[at(r, c)]) / sum;
        if (problem.counts(r)) losses[static_cast<size_t>(r)] -= q[at(r, c)] * std::log(p[at(r, c)]);
      }
    }
  }
  static size_t at(int64_t row, int64_t column) { return static_cast<size_t>(row * kClasses + column); }
};

double reduced(const Numbers &losses, lpt_loss_reduction reduction) {
  double sum = 0.0;
  for (const double loss : losses) sum += loss;
  return reduction == LPT_LOSS_REDUCTION_MEAN ? sum / (kRows - 1) : sum;
}

bool is_same(const Rank &self, const Tensor &tensor) {
  int32_t is_same = -1;
  EXPECT_TRUE(self.ok(lpt_comm_compare(self.context, self.comm, tensor.get(), &is_same)));
  return is_same == 1;
}

void check_losses(const Rank &self, double smoothing, lpt_loss_reduction reduction) {
  const Problem problem(self);
  const Exact exact(problem, smoothing);
  const lpt_cross_entropy_options options = options_of(self, smoothing, reduction);
  const bool is_each = reduction == LPT_LOSS_REDUCTION_NONE;
  const Tensor logits = tensor_of(self.context, LPT_FORMAT_F64, kRows, problem.own, problem.own_logits());
  const Tensor loss = make_tensor(self.context, LPT_FORMAT_F64, {is_each ? kRows : 1});
  const Tensor log_sums = make_tensor(self.context, LPT_FORMAT_F64, {kRows});
  ASSERT_TRUE(
      self.ok(lpt_cross_entropy_forward(self.context, logits.get(), indices_of(self.context, problem.targets).get(),
                                        &options, loss.get(), log_sums.get())));
  EXPECT_TRUE(is_same(self, loss));
  EXPECT_TRUE(is_same(self, log_sums));
  const Numbers found = numbers_of(self.context, loss.get());
  if (is_each) {
    for (size_t r = 0; r < exact.losses.size(); ++r) EXPECT_NEAR(exact.losses[r], found[r], 1e-13) << r;
  } else {
    EXPECT_NEAR(reduced(exact.losses, reduction), found[0], 1e-12);
  }
  Numbers factors(is_each ? kRows : 1);
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = 0.5 + static_cast<double>(i);
  const Tensor loss_gradient = vector_of(self.context, LPT_FORMAT_F64, factors);
  ASSERT_TRUE(
      self.ok(lpt_cross_entropy_backward(self.context, logits.get(), indices_of(self.context, problem.targets).get(),
                                         log_sums.get(), loss_gradient.get(), &options, logits.get())));
  const Numbers gradient = numbers_of(self.context, logits.get());
  for (int64_t r = 0; r < kRows; ++r) {
    const double factor =
        factors[is_each ? static_cast<size_t>(r) : 0] / (reduction == LPT_LOSS_REDUCTION_MEAN ? kRows - 1 : 1);
    for (int64_t c = 0; c < problem.own; ++c) {
      const size_t i = Exact::at(r, problem.first + c);
      const double expected = problem.counts(r) ? factor * (exact.p[i] - exact.q[i]) : 0.0;
      EXPECT_NEAR(expected, gradient[static_cast<size_t>(r * problem.own + c)], 1e-14 * (1 + factor)) << r << ", " << c;
    }
  }
}

void is_the_loss_of_all_classes(const Rank &self) {
  for (const double smoothing : {0.0, 0.1, 1.0}) {
    for (const lpt_loss_reduction reduction :
         {LPT_LOSS_REDUCTION_MEAN, LPT_LOSS_REDUCTION_SUM, LPT_LOSS_REDUCTION_NONE}) {
      check_losses(self, smoothing, reduction);
    }
  }
}

// Low-precision formats: the tolerance is the rounding error of the format.
void takes_every_wide_format(const Rank &self) {
  const Problem problem(self);
  const lpt_cross_entropy_options options = options_of(self, 0.0, LPT_LOSS_REDUCTION_MEAN);
  const struct {
    lpt_format format;
    double unit;
  } formats[] = {{LPT_FORMAT_F32, 0x1p-23}, {LPT_FORMAT_BF16, 0x1p-8}, {LPT_FORMAT_F16, 0x1p-11}};
  for (const auto &[format, unit] : formats) {
    const Tensor logits = tensor_of(self.context, format, kRows, problem.own, problem.own_logits());
    // The logits after rounding. Every rank computes those of all ranks.
    Problem rounded = problem;
    rounded.logits = numbers_of(self.context, tensor_of(self.context, format, kRows, kClasses, problem.logits).get());
    const Exact exact(rounded, 0.0);
    const Tensor loss = make_tensor(self.context, LPT_FORMAT_F32, {1});
    const Tensor log_sums = make_tensor(self.context, LPT_FORMAT_F64, {kRows});
    const Tensor gradient = make_tensor(self.context, format, kRows, problem.own);
    ASSERT_TRUE(
        self.ok(lpt_cross_entropy_forward(self.context, logits.get(), indices_of(self.context, problem.targets).get(),
                                          &options, loss.get(), log_sums.get())));
    EXPECT_NEAR(reduced(exact.losses, LPT_LOSS_REDUCTION_MEAN), numbers_of(self.context, loss.get())[0], 4e-6);
    ASSERT_TRUE(
        self.ok(lpt_cross_entropy_backward(self.context, logits.get(), indices_of(self.context, problem.targets).get(),
                                           log_sums.get(), nullptr, &options, gradient.get())));
    const Numbers found = numbers_of(self.context, gradient.get());
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < problem.own; ++c) {
        const size_t i = Exact::at(r, problem.first + c);
        const double expected = problem.counts(r) ? (exact.p[i] - exact.q[i]) / (kRows - 1) : 0.0;
        EXPECT_NEAR(expected, found[static_cast<size_t>(r * problem.own + c)], unit * std::fabs(expected) + 1e-6);
      }
    }
  }
}

// With one rank or without a comm the bits are equal.
void is_the_loss_without_a_comm(const Rank &self) {
  if (self.ranks > 1) return;
  const Problem problem(self);
  lpt_cross_entropy_options options = options_of(self, 0.1, LPT_LOSS_REDUCTION_NONE);
  const Tensor logits = tensor_of(self.context, LPT_FORMAT_F32, kRows, problem.own, problem.own_logits());
  const Tensor with = make_tensor(self.context, LPT_FORMAT_F64, {kRows}),
               without = make_tensor(self.context, LPT_FORMAT_F64, {kRows});
  ASSERT_TRUE(self.ok(lpt_cross_entropy_forward(
      self.context, logits.get(), indices_of(self.context, problem.targets).get(), &options, with.get(), nullptr)));
  options.comm = nullptr;
  ASSERT_TRUE(self.ok(lpt_cross_entropy_forward(
      self.context, logits.get(), indices_of(self.context, problem.targets).get(), &options, without.get(), nullptr)));
  EXPECT_EQ(numbers_of(self.context, with.get()), numbers_of(self.context, without.get()));
}

void tells_what_is_not_a_number(const Rank &self) {
  Problem problem(self, false);
  const auto put = [&](int64_t row, int64_t column, double value) { problem.logits[Exact::at(row, column)] = value; };
  put(0, 39, std::nan(""));
  put(1, 0, INFINITY);
  for (int64_t c = 0; c < kClasses; ++c) put(2, c, -INFINITY);
  put(3, problem.targets[3], -INFINITY);
  put(4, (problem.targets[4] + 1) % kClasses, -INFINITY);  // another class: its term of the sum is zero
  const lpt_cross_entropy_options options = options_of(self, 0.0, LPT_LOSS_REDUCTION_NONE);
  const Tensor logits = tensor_of(self.context, LPT_FORMAT_F32, kRows, problem.own, problem.own_logits());
  const Tensor loss = make_tensor(self.context, LPT_FORMAT_F32, {kRows});
  ASSERT_TRUE(self.ok(lpt_cross_entropy_forward(
      self.context, logits.get(), indices_of(self.context, problem.targets).get(), &options, loss.get(), nullptr)));
  const Numbers found = numbers_of(self.context, loss.get());
  for (const size_t row : {0, 1, 2}) EXPECT_TRUE(std::isnan(found[row])) << row;
  EXPECT_EQ(static_cast<double>(INFINITY), found[3]);
  EXPECT_TRUE(std::isfinite(found[4]));
}

void rejects_what_is_no_class(const Rank &self) {
  Problem problem(self);
  const Tensor logits = tensor_of(self.context, LPT_FORMAT_F32, kRows, problem.own, problem.own_logits());
  const Tensor loss = make_tensor(self.context, LPT_FORMAT_F32, {1});
  const auto reject = [&](const lpt_cross_entropy_options &options, const std::vector<const char *> &words) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_cross_entropy_forward(self.context, logits.get(), indices_of(self.context, problem.targets).get(),
                                        &options, loss.get(), nullptr));
    expect_words(words, lpt_context_error(self.context));
  };
  lpt_cross_entropy_options options = options_of(self, 0.0, LPT_LOSS_REDUCTION_MEAN);
  problem.targets[5] = kClasses;
  reject(options, {"targets[5] is 40", "0 to 39", "-100"});
  problem.targets[5] = -1;
  reject(options, {"targets[5] is -1"});
  options.label_smoothing = 1.5;
  reject(options, {"label_smoothing is 1.5"});
  EXPECT_TRUE(self.ok(lpt_barrier(self.context, self.comm))) << "all reject, and go on";
}

// Different targets on the ranks are an error, because each rank would compute another loss.
void finds_targets_that_differ(const Rank &self) {
  if (self.ranks == 1) return;
  Problem problem(self);
  if (self.rank == self.ranks - 1) problem.targets[6] = 0;
  lpt_comm *raw = nullptr;
  ASSERT_TRUE(self.ok(lpt_comm_split(self.context, self.comm, 0, self.rank, &raw)));
  const Comm part(raw);
  lpt_cross_entropy_options options = options_of(self, 0.0, LPT_LOSS_REDUCTION_MEAN);
  options.comm = part.get();
  const Tensor logits = tensor_of(self.context, LPT_FORMAT_F32, kRows, problem.own, problem.own_logits());
  const Tensor loss = make_tensor(self.context, LPT_FORMAT_F32, {1});
  EXPECT_EQ(LPT_MISMATCH,
            lpt_cross_entropy_forward(self.context, logits.get(), indices_of(self.context, problem.targets).get(),
                                      &options, loss.get(), nullptr));
  expect_words({"cross_entropy"}, lpt_context_error(self.context));
}

}  // namespace

std::vector<Case> cross_entropy_cases() {
  return {{"CrossEntropyIsTheLossOfAllClasses", is_the_loss_of_all_classes},
          {"CrossEntropyTakesEveryWideFormat", takes_every_wide_format},
          {"CrossEntropyIsTheLossWithoutAComm", is_the_loss_without_a_comm},
          {"CrossEntropyTellsWhatIsNotANumber", tells_what_is_not_a_number},
          {"CrossEntropyRejectsWhatIsNoClass", rejects_what_is_no_class},
          {"CrossEntropyFindsTargetsThatDiffer", finds_targets_that_differ, true}};
}

}  // namespace lpt::test
