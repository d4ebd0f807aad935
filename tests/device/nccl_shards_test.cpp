// Ranks with one GPU each that shard the state of an optimizer, against ranks on CPUs. tests/comm compares ranks on CPUs with
// one rank that has the full state.
#include <cmath>

#include "tests/device/ranks.hpp"

namespace lpt::test {
namespace {

// Parameter sizes in elements: several shards, less than one, none.
const std::vector<int64_t> kSizes = {9000, 100, 2, 4097, 1};
constexpr int kSteps = 3;  // the third reads values that the second stored with delayed scales

struct State {
  const char *name;
  lpt_format first, second;
  lpt_scaler_kind scaling;
  lpt_format value;
};
void PrintTo(const State &state, std::ostream *out) { *out << state.name; }

constexpr State kStates[] = {
    {"F32", LPT_FORMAT_F32, LPT_FORMAT_F32, LPT_SCALER_KIND_CURRENT, LPT_FORMAT_F32},
    {"Bf16", LPT_FORMAT_BF16, LPT_FORMAT_BF16, LPT_SCALER_KIND_CURRENT, LPT_FORMAT_BF16},
    {"OneScale", LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, LPT_SCALER_KIND_CURRENT, LPT_FORMAT_F32},
    {"OneDelayedScale", LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, LPT_SCALER_KIND_DELAYED, LPT_FORMAT_BF16},
    {"Groups", LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E5M2_1X128, LPT_SCALER_KIND_CURRENT, LPT_FORMAT_F32},
};

// Options of a step.
struct Option {
  double largest_norm = 0.0;
  bool is_skipping = false, is_reduced = false;
};

// Parameters and state on one side: CPUs or GPUs.
class Side {
 public:
  Side(const GpuRank &self, bool is_gpu, const State &state)
      : self_(self),
        context_(is_gpu ? self.gpu : self.cpu),
        comm_(is_gpu ? self.comm : self.bootstrap),
        is_gpu_(is_gpu) {
    EXPECT_TRUE(ok(context_, lpt_optimizer_create(context_, nullptr, out(optimizer_))));
    std::vector<lpt_optimizer_parameter> requests;
    std::vector<const lpt_optimizer_parameter *> pointers;
    for (const int64_t elements : kSizes) {
      lpt_optimizer_parameter option = LPT_OPTIMIZER_PARAMETER_INIT;
      option.elements = elements;
      option.first_moment = state.first;
      option.second_moment = state.second;
      option.first_scaling = option.second_scaling = state.scaling;
      requests.push_back(option);
      values_.push_back(placed(vector_of(self.cpu, state.value, draw_normal(800 + requests.size(), elements))));
    }
    for (const lpt_optimizer_parameter &option : requests) pointers.push_back(&option);
    indices_.resize(kSizes.size());
    EXPECT_TRUE(ok(context_, lpt_optimizer_add_shards(context_, comm_, optimizer_.get(), nullptr, pointers.data(),
                                                      static_cast<int64_t>(pointers.size()), indices_.data())));
  }

  lpt_status step(const std::vector<std::vector<double>> &gradients, const Option &option) {
    std::vector<Tensor> owners;
    std::vector<const lpt_tensor *> from;
    std::vector<lpt_tensor *> to;
    for (size_t i = 0; i < gradients.size(); ++i) {
      owners.push_back(placed(vector_of(self_.cpu, LPT_FORMAT_F32, gradients[i])));
      from.push_back(owners.back().get());
      to.push_back(values_[i].get());
    }
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    options.learning_rate = 0.01;
    options.largest_norm = option.largest_norm;
    options.is_nonfinite_skipped = option.is_skipping ? 1 : 0;
    lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
    reduce.reduction = LPT_REDUCTION_AVERAGE;
    lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
    if (option.is_reduced) shards.reduce = &reduce;
    return lpt_optimizer_step_shards(context_, comm_, optimizer_.get(), indices_.data(),
                                     static_cast<int64_t>(indices_.size()), from.data(), &options, &shards, to.data());
  }

  std::vector<std::vector<uint8_t>> bits() const {
    std::vector<std::vector<uint8_t>> all;
    for (const Tensor &value : values_) {
      all.push_back(is_gpu_ ? bytes_on_device(self_, value.get()) : bytes_of(self_.cpu, value.get()));
    }
    return all;
  }

  std::vector<std::vector<uint8_t>> states() const {
    std::vector<std::vector<uint8_t>> all;
    for (const int64_t index : indices_) {
      size_t bytes = 0;
      EXPECT_TRUE(ok(context_, lpt_optimizer_state_size(context_, optimizer_.get(), index, &bytes)));
      all.emplace_back(bytes);
      EXPECT_TRUE(ok(context_, lpt_optimizer_state_save(context_, optimizer_.get(), index, all.back().data(), bytes)));
    }
    return all;
  }

  lpt_optimizer_info read() const {
    lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
    EXPECT_TRUE(ok(context_, lpt_optimizer_read(context_, optimizer_.get(), &values)));
    return values;
  }

 private:
  Tensor placed(Tensor here) const { return is_gpu_ ? there(self_, here.get()) : std::move(here); }

  const GpuRank &self_;
  lpt_context *const context_;
  lpt_comm *const comm_;
  const bool is_gpu_;
  Optimizer optimizer_;
  std::vector<int64_t> indices_;
  std::vector<Tensor> values_;
};

// Gradients of a step, and of a rank if ranks have different gradients.
std::vector<std::vector<double>> draw_gradients(int step, int32_t rank) {
  std::vector<std::vector<double>> all;
  for (const int64_t elements : kSizes) {
    const auto place = static_cast<uint64_t>(1000 * (step + 1) + 50 * rank) + all.size();
    all.push_back(draw_normal(place, elements));
  }
  return all;
}

void expect_equal(const GpuRank &self, const State &state, const Option &option, int step_of_infinity = -1) {
  Side here(self, false, state), there(self, true, state);
  for (int step = 0; step < kSteps; ++step) {
    std::vector<std::vector<double>> gradients = draw_gradients(step, option.is_reduced ? self.rank : 0);
    if (step == step_of_infinity) gradients[3][4096] = INFINITY;  // only in the shard of the last rank
    ASSERT_TRUE(self.ok_on_device(here.step(gradients, option)));
    ASSERT_TRUE(self.ok(there.step(gradients, option)));
    ASSERT_EQ(here.bits(), there.bits()) << state.name << ", step " << step << ", rank " << self.rank;
    ASSERT_EQ(here.states(), there.states()) << state.name << ", step " << step << ", rank " << self.rank;
    const lpt_optimizer_info oracle = here.read(), found = there.read();
    ASSERT_EQ(oracle.gradient_norm, found.gradient_norm);
    ASSERT_EQ(oracle.clip_factor, found.clip_factor);
    ASSERT_EQ(oracle.skipped_count, found.skipped_count);
  }
}

class NcclShards : public testing::TestWithParam<std::tuple<State, int32_t>> {
 private:
  const Surroundings surroundings_;
};

TEST_P(NcclShards, HaveTheBitsOfCpus) {
  const auto &[state, ranks] = GetParam();
  run_gpu_ranks(ranks, {}, [&state = state](const GpuRank &self, Comm &) { expect_equal(self, state, {}); });
}

INSTANTIATE_TEST_SUITE_P(Suite, NcclShards, testing::Combine(testing::ValuesIn(kStates), testing::Values(1, 2, 3)),
                         [](const auto &setting) {
                           return std::string(std::get<0>(setting.param).name) +
                                  std::to_string(std::get<1>(setting.param));
                         });

class NcclShardSteps : public testing::Test {
 private:
  const Surroundings surroundings_;
};

TEST_F(NcclShardSteps, ClipByTheNormOfAll) {
  run_gpu_ranks(3, {}, [](const GpuRank &self, Comm &) { expect_equal(self, kStates[3], {.largest_norm = 0.5}); });
}

TEST_F(NcclShardSteps, AreSkippedByAllWhereOneHasNoNumber) {
  run_gpu_ranks(3, {}, [](const GpuRank &self, Comm &) {
    expect_equal(self, kStates[2], {.largest_norm = 0.5, .is_skipping = true}, 1);
    expect_equal(self, kStates[0], {.largest_norm = 0.5}, 1);
  });
}

TEST_F(NcclShardSteps, ReduceTheGradientsOfRanks) {
  run_gpu_ranks(3, {}, [](const GpuRank &self, Comm &) { expect_equal(self, kStates[0], {.is_reduced = true}); });
}

TEST_F(NcclShardSteps, AreOfStateAndCommOfOneDevice) {
  run_gpu_ranks(2, {}, [](const GpuRank &self, Comm &) {
    Optimizer optimizer;
    ASSERT_TRUE(self.ok(lpt_optimizer_create(self.gpu, nullptr, out(optimizer))));
    lpt_optimizer_parameter option = LPT_OPTIMIZER_PARAMETER_INIT;
    option.elements = 4;
    const lpt_optimizer_parameter *const requests[] = {&option};
    int64_t index = 0;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_optimizer_add_shards(self.gpu, self.bootstrap, optimizer.get(), nullptr, requests, 1, &index));
    expect_words({"optimizer keeps its state on cuda:", "expected cpu, where the comm works"}, self.error());
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_optimizer_add_shards(self.cpu, self.comm, optimizer.get(), nullptr, requests, 1, &index));
    expect_words({"expected a context that works there, not on cpu"}, lpt_context_error(self.cpu));
    ASSERT_TRUE(self.ok(lpt_optimizer_add_shards(self.gpu, self.comm, optimizer.get(), nullptr, requests, 1, &index)));
    const Tensor value = make_tensor(self.gpu, LPT_FORMAT_F32, {4});
    lpt_tensor *const values[] = {value.get()};
    lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
    reduce.algorithm = LPT_REDUCE_ALGORITHM_NATIVE;
    lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
    shards.reduce = &reduce;
    const Tensor gradient = make_tensor(self.gpu, LPT_FORMAT_F32, {4});
    const lpt_tensor *const gradients[] = {gradient.get()};
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_optimizer_step_shards(self.gpu, self.comm, optimizer.get(), &index, 1, gradients,
                                                         nullptr, &shards, values));
    expect_words({"LPT_REDUCE_ALGORITHM_NATIVE", "shares of ranks differ in size"}, self.error());
  });
}

}  // namespace
}  // namespace lpt::test
