// Layers whose columns are divided among ranks with one GPU each, and gathers with host comparison.
#include <cmath>

#include "tests/device/ranks.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows = 7, kClasses = 40, kIgnored = -100;

class NcclLayers : public testing::TestWithParam<int32_t> {
 private:
  const Surroundings surroundings_;
};
INSTANTIATE_TEST_SUITE_P(Suite, NcclLayers, testing::Values(1, 2, 3, 4));

// Cross entropy.

// The classes of a rank. With more than two ranks, rank 1 has no class; the last rank has the remaining classes.
struct Share {
  int64_t first = 0, count = 0;

  explicit Share(const GpuRank &self) {
    int64_t left = kClasses;
    for (int32_t q = 0; q <= self.rank; ++q) {
      first += count;
      count = q + 1 == self.ranks ? left : q == 1 ? 0 : 3 + 2 * q;
      left -= count;
    }
  }
};

struct Problem {
  std::vector<double> logits = draw_normal(500, kRows *kClasses, 3.0);  // of all classes
  std::vector<int64_t> targets;

  Problem() {
    for (int64_t r = 0; r < kRows; ++r) targets.push_back(r == 3 ? kIgnored : (r * 17 + 2) % kClasses);
  }
  Tensor cut(const GpuRank &self, const std::vector<double> &numbers) const {
    const Share share(self);
    std::vector<double> part;
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = share.first; c < share.first + share.count; ++c) part.push_back(numbers[at(r, c)]);
    }
    return tensor_of(self.cpu, LPT_FORMAT_F32, kRows, share.count, part);
  }
  static size_t at(int64_t row, int64_t column) { return static_cast<size_t>(row * kClasses + column); }
};

lpt_cross_entropy_options options_of(lpt_comm *comm, double smoothing, lpt_loss_reduction reduction) {
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.comm = comm;
  options.ignored_target = kIgnored;
  options.label_smoothing = smoothing;
  options.reduction = reduction;
  return options;
}

// Losses, logarithms of sums, and the gradient of this rank, from ranks on CPUs or from one rank with all classes.
struct Passes {
  std::vector<double> losses, log_sums, gradient;
};

Passes passes_of(lpt_context *context, const lpt_tensor *logits, const lpt_tensor *targets,
                 const lpt_cross_entropy_options &options, const std::function<Tensor(const lpt_tensor *)> &read) {
  const int64_t losses = options.reduction == LPT_LOSS_REDUCTION_NONE ? kRows : 1;
  const lpt_tensor_description facts = describe(context, logits);
  const Tensor loss = make_tensor(context, LPT_FORMAT_F64, {losses}),
               log_sums = make_tensor(context, LPT_FORMAT_F64, {kRows}),
               gradient = make_tensor(context, LPT_FORMAT_F32, {facts.extents, facts.extents + facts.rank});
  EXPECT_TRUE(ok(context, lpt_cross_entropy_forward(context, logits, targets, &options, loss.get(), log_sums.get())));
  EXPECT_TRUE(ok(context, lpt_cross_entropy_backward(context, logits, targets, log_sums.get(), nullptr, &options,
                                                     gradient.get())));
  const Context reader = make_context(1);
  const auto numbers = [&](const Tensor &tensor) { return numbers_of(reader.get(), read(tensor.get()).get()); };
  return {numbers(loss), numbers(log_sums), numbers(gradient)};
}

void expect_near(const std::vector<double> &oracle, const std::vector<double> &found, double share) {
  ASSERT_EQ(oracle.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(oracle[i], found[i], share * (1.0 + std::abs(oracle[i]))) << i;
}

// Sums of exponentials are computed in f64 in different orders; exponentials are f32.
TEST_P(NcclLayers, ShareTheClassesOfALoss) {
  run_gpu_ranks(GetParam(), {}, [](const GpuRank &self, Comm &) {
    const Problem problem;
    const Tensor all = tensor_of(self.cpu, LPT_FORMAT_F32, kRows, kClasses, problem.logits);
    const Tensor own = there(self, problem.cut(self, problem.logits).get());
    const Tensor targets = indices_of(self.cpu, problem.targets), gpu_targets = there(self, targets.get());
    for (const double smoothing : {0.0, 0.1}) {
      for (const lpt_loss_reduction reduction :
           {LPT_LOSS_REDUCTION_MEAN, LPT_LOSS_REDUCTION_SUM, LPT_LOSS_REDUCTION_NONE}) {
        const Passes alone = passes_of(self.cpu, all.get(), targets.get(), options_of(nullptr, smoothing, reduction),
                                       [&](const lpt_tensor *tensor) {
                                         return tensor_of(self.cpu, describe(self.cpu, tensor).format, 1,
                                                          static_cast<int64_t>(numbers_of(self.cpu, tensor).size()),
                                                          numbers_of(self.cpu, tensor));
                                       });
        const Passes shared = passes_of(self.gpu, own.get(), (smoothing > 0.0 ? gpu_targets : targets).get(),
                                        options_of(self.comm, smoothing, reduction),
                                        [&](const lpt_tensor *tensor) { return here(self, tensor); });
        expect_near(alone.losses, shared.losses, 1e-6);
        expect_near(alone.log_sums, shared.log_sums, 1e-6);
        expect_near(numbers_of(self.cpu, problem.cut(self, alone.gradient).get()), shared.gradient, 1e-6);
        const Tensor losses =
            tensor_of(self.cpu, LPT_FORMAT_F64, 1, static_cast<int64_t>(shared.losses.size()), shared.losses);
        int32_t is_same = 0;
        ASSERT_TRUE(self.ok_on_device(lpt_comm_compare(self.cpu, self.bootstrap, losses.get(), &is_same)));
        EXPECT_EQ(1, is_same);  // all ranks have the same bits
      }
    }
  });
}

class NcclLayerRejections : public testing::Test {
 private:
  const Surroundings surroundings_;
};

TEST_F(NcclLayerRejections, OfALossSayWhereRanksWork) {
  run_gpu_ranks(2, {}, [](const GpuRank &self, Comm &) {
    const Problem problem;
    const Tensor own = there(self, problem.cut(self, problem.logits).get());
    const Tensor loss = make_tensor(self.gpu, LPT_FORMAT_F32, {1});
    const auto forward = [&](lpt_comm *comm) {
      const lpt_cross_entropy_options options = options_of(comm, 0.0, LPT_LOSS_REDUCTION_MEAN);
      return lpt_cross_entropy_forward(self.gpu, own.get(), indices_of(self.cpu, problem.targets).get(), &options,
                                       loss.get(), nullptr);
    };
    EXPECT_EQ(LPT_INVALID_ARGUMENT, forward(self.bootstrap));
    expect_words({"options->comm works on cpu: expected cuda:", ", as the context"}, self.error());
    Comm uncompared;
    ASSERT_TRUE(self.ok(create_nccl(self, {.flags = LPT_COMM_SKIP_CHECKS}, uncompared)));
    EXPECT_EQ(LPT_UNSUPPORTED, forward(uncompared.get()));
    expect_words({"LPT_COMM_SKIP_CHECKS", "tell each other their classes"}, self.error());
    EXPECT_TRUE(self.ok(forward(self.comm)));
  });
}

// Gathers.

// Draws elements with a given largest magnitude, which determines the scale.
Tensor numbers_of_scale(const GpuRank &self, lpt_format format, int64_t rows, double largest) {
  std::vector<double> numbers = draw_normal(static_cast<uint64_t>(700 + self.rank), rows * 64);
  for (double &number : numbers) number = std::tanh(number);
  if (!numbers.empty()) numbers[5] = largest;
  return tensor_of(self.cpu, format, rows, 64, numbers);
}

TEST_P(NcclLayers, GatherPartsOfOneScale) {
  run_gpu_ranks(GetParam(), {}, [](const GpuRank &self, Comm &) {
    std::vector<int64_t> counts(static_cast<size_t>(self.ranks), 3);
    if (self.ranks > 2) counts[1] = 0;
    const int64_t own = counts[static_cast<size_t>(self.rank)], all = 3 * (self.ranks - (self.ranks > 2 ? 1 : 0));
    for (const lpt_format format : {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_NVFP4}) {
      const Tensor part = numbers_of_scale(self, format, own, 8.0);
      const Tensor whole = make_tensor(self.cpu, format, all, 64),
                   whole_on_device = make_tensor(self.gpu, format, all, 64);
      const Tensor part_on_device = there(self, part.get());
      ASSERT_TRUE(self.ok_on_device(
          lpt_all_gather(self.cpu, self.bootstrap, part.get(), counts.data(), nullptr, whole.get(), nullptr)));
      ASSERT_TRUE(self.ok(lpt_all_gather(self.gpu, self.comm, part_on_device.get(), counts.data(), nullptr,
                                         whole_on_device.get(), nullptr)));
      EXPECT_EQ(bytes_of(self.cpu, whole.get()), bytes_on_device(self, whole_on_device.get())) << "rank " << self.rank;
    }
  });
}

TEST_F(NcclLayerRejections, OfGathersNameTheScalesThatDiffer) {
  run_gpu_ranks(3, {}, [](const GpuRank &self, Comm &) {
    const Tensor part =
        there(self, numbers_of_scale(self, LPT_FORMAT_E4M3FN_TENSOR, 2, self.rank == 2 ? 7.0 : 8.0).get());
    const Tensor whole = make_tensor(self.gpu, LPT_FORMAT_E4M3FN_TENSOR, 6, 64);
    const std::vector<uint8_t> before = bytes_on_device(self, whole.get());
    EXPECT_EQ(LPT_MISMATCH, lpt_all_gather(self.gpu, self.comm, part.get(), nullptr, nullptr, whole.get(), nullptr));
    expect_words({"ranks disagree: the tensor scale of rank 0 is", "that of rank 2 is"}, self.error());
    EXPECT_EQ(before, bytes_on_device(self, whole.get()));
  });
}

// Sequence.

TEST_P(NcclLayers, GatherAndScatterTheSequence) {
  run_gpu_ranks(GetParam(), {}, [](const GpuRank &self, Comm &) {
    const Tensor part =
        tensor_of(self.cpu, LPT_FORMAT_BF16, 3, 40, draw_normal(static_cast<uint64_t>(900 + self.rank), 3 * 40));
    const Tensor whole = make_tensor(self.cpu, LPT_FORMAT_BF16, 3 * self.ranks, 40),
                 whole_on_device = make_tensor(self.gpu, LPT_FORMAT_BF16, 3 * self.ranks, 40);
    const Tensor part_on_device = there(self, part.get());
    ASSERT_TRUE(self.ok_on_device(
        lpt_sequence_gather(self.cpu, self.bootstrap, nullptr, part.get(), nullptr, whole.get(), nullptr)));
    ASSERT_TRUE(self.ok(lpt_sequence_gather(self.gpu, self.comm, nullptr, part_on_device.get(), nullptr,
                                            whole_on_device.get(), nullptr)));
    EXPECT_EQ(bytes_of(self.cpu, whole.get()), bytes_on_device(self, whole_on_device.get()));
    ASSERT_TRUE(self.ok_on_device(lpt_sequence_scatter(self.cpu, self.bootstrap, nullptr, LPT_PARTIAL_PASS_BACKWARD,
                                                       whole.get(), nullptr, part.get(), nullptr)));
    ASSERT_TRUE(self.ok(lpt_sequence_scatter(self.gpu, self.comm, nullptr, LPT_PARTIAL_PASS_BACKWARD,
                                             whole_on_device.get(), nullptr, part_on_device.get(), nullptr)));
    EXPECT_EQ(bytes_of(self.cpu, part.get()), bytes_on_device(self, part_on_device.get()));
  });
}

}  // namespace
}  // namespace lpt::test
