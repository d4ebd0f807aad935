// Ranks that shard the state of an optimizer compute the bits of one rank with the full state.
#include <cmath>

#include "tests/comm/suite.hpp"

namespace lpt::test {
namespace {

// Elements of the parameters: several shards, or less than one, so that some ranks have no elements.
const std::vector<int64_t> kSizes = {9000, 100, 2, 4097, 1, 300};
constexpr uint32_t kSteps = 3;  // the third step uses delayed scales stored by the second

struct Kind {
  const char *name;
  lpt_optimizer_method method;
  lpt_format first, second;
  bool is_expanded;
  lpt_scaler_kind scaling;
  lpt_format value;
  lpt_format compensation;
};

constexpr lpt_format kNone = LPT_FORMAT_NONE, kF32 = LPT_FORMAT_F32, kBf16 = LPT_FORMAT_BF16;
constexpr lpt_scaler_kind kCurrent = LPT_SCALER_KIND_CURRENT, kDelayed = LPT_SCALER_KIND_DELAYED;
constexpr lpt_format kE4M3 = LPT_FORMAT_E4M3FN_TENSOR, kE5M2 = LPT_FORMAT_E5M2_TENSOR;
constexpr lpt_format kGroups = LPT_FORMAT_E4M3FN_1X128, kWideGroups = LPT_FORMAT_E5M2_1X128;
constexpr lpt_format kTrees = LPT_FORMAT_DYNAMIC_1X256;

// Every method with every kind of state.
std::vector<Kind> kinds() {
  std::vector<Kind> kinds;
  for (const lpt_optimizer_method method :
       {LPT_OPTIMIZER_METHOD_ADAMW, LPT_OPTIMIZER_METHOD_ADAM, LPT_OPTIMIZER_METHOD_SGD, LPT_OPTIMIZER_METHOD_LION}) {
    kinds.push_back({"f32", method, kF32, kF32, false, kCurrent, kF32, kNone});
    kinds.push_back({"bf16 of bf16", method, kBf16, kBf16, false, kCurrent, kBf16, kNone});
    kinds.push_back({"one scale", method, kE4M3, kE5M2, false, kCurrent, kF32, kNone});
    kinds.push_back({"one delayed scale", method, kE4M3, kE5M2, false, kDelayed, kF32, kNone});
    kinds.push_back({"f16 of scaled f16", method, LPT_FORMAT_F16_TENSOR, LPT_FORMAT_F16_TENSOR, false, kCurrent,
                     LPT_FORMAT_F16_TENSOR, kNone});
    kinds.push_back({"groups", method, kGroups, kWideGroups, false, kCurrent, kF32, kNone});
    kinds.push_back({"expanded groups", method, kGroups, kGroups, true, kCurrent, kF32, kNone});
    kinds.push_back({"trees", method, kTrees, kTrees, false, kCurrent, kF32, kNone});
    kinds.push_back({"compensated", method, kF32, kF32, false, kCurrent, kBf16, kBf16});
  }
  return kinds;
}

lpt_optimizer_parameter parameter_of(const Kind &kind, int64_t elements) {
  lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
  parameter.elements = elements;
  parameter.first_moment = kind.first;
  parameter.second_moment = kind.second;
  parameter.is_first_expanded = parameter.is_second_expanded = kind.is_expanded ? 1 : 0;
  parameter.first_scaling = parameter.second_scaling = kind.scaling;
  parameter.compensation = kind.compensation;
  parameter.weight_decay = 0.1;
  return parameter;
}

Optimizer make_optimizer(const Rank &self, const Kind &kind) {
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  options.method = kind.method;
  options.second_underflow = LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC;
  Optimizer optimizer;
  EXPECT_TRUE(self.ok(lpt_optimizer_create(self.context, &options, out(optimizer))));
  return optimizer;
}

// Parameters and gradients, stepped without shards or in shards.
class Training {
 public:
  Training(const Rank &self, const Kind &kind, bool is_sharded)
      : self_(self), is_sharded_(is_sharded), optimizer(make_optimizer(self, kind)) {
    std::vector<lpt_optimizer_parameter> requests;
    std::vector<const lpt_optimizer_parameter *> pointers;
    for (const int64_t elements : kSizes) requests.push_back(parameter_of(kind, elements));
    for (const lpt_optimizer_parameter &option : requests) pointers.push_back(&option);
    indices_.resize(kSizes.size(), -1);
    if (is_sharded) {
      EXPECT_TRUE(self.ok(lpt_optimizer_add_shards(self.context, self.comm, optimizer.get(), nullptr, pointers.data(),
                                                   static_cast<int64_t>(pointers.size()), indices_.data())));
    }
    for (size_t i = 0; i < kSizes.size(); ++i) {
      if (!is_sharded) {
        EXPECT_TRUE(self.ok(lpt_optimizer_add(self.context, optimizer.get(), nullptr, pointers[i], &indices_[i])));
      }
      EXPECT_EQ(static_cast<int64_t>(i), indices_[i]);
      const std::vector<float> start = numbers_of(0, 800 + i, kSizes[i]);
      values.push_back(vector_of(self.context, kind.value, std::vector<double>(start.begin(), start.end())));
    }
  }

  lpt_status step(const std::vector<std::vector<float>> &gradients, const lpt_optimizer_step_options &options,
                  const lpt_reduce_options *reduce = nullptr) {
    std::vector<Tensor> owners;
    std::vector<const lpt_tensor *> from;
    std::vector<lpt_tensor *> to;
    for (size_t i = 0; i < gradients.size(); ++i) {
      owners.push_back(wrap(self_.context, gradients[i], 1, kSizes[i]));
      from.push_back(owners.back().get());
      to.push_back(values[i].get());
    }
    const auto count = static_cast<int64_t>(indices_.size());
    if (!is_sharded_) {
      return lpt_optimizer_step(self_.context, optimizer.get(), indices_.data(), count, from.data(), &options,
                                to.data());
    }
    lpt_optimizer_shard_options shards = LPT_OPTIMIZER_SHARD_OPTIONS_INIT;
    shards.reduce = reduce;
    return lpt_optimizer_step_shards(self_.context, self_.comm, optimizer.get(), indices_.data(), count, from.data(),
                                     &options, &shards, to.data());
  }

  std::vector<std::vector<uint8_t>> bits() const {
    std::vector<std::vector<uint8_t>> all;
    for (const Tensor &value : values) all.push_back(bytes_of(self_.context, value.get()));
    return all;
  }

  lpt_optimizer_info read() const {
    lpt_optimizer_info read = LPT_OPTIMIZER_INFO_INIT;
    EXPECT_TRUE(self_.ok(lpt_optimizer_read(self_.context, optimizer.get(), &read)));
    return read;
  }

  std::vector<uint8_t> state(int64_t index) const {
    size_t bytes = 0;
    EXPECT_TRUE(self_.ok(lpt_optimizer_state_size(self_.context, optimizer.get(), index, &bytes)));
    std::vector<uint8_t> state(bytes);
    EXPECT_TRUE(self_.ok(lpt_optimizer_state_save(self_.context, optimizer.get(), index, state.data(), bytes)));
    return state;
  }

 private:
  const Rank &self_;
  bool is_sharded_;
  std::vector<int64_t> indices_;

 public:
  Optimizer optimizer;
  std::vector<Tensor> values;
};

// Gradients of one rank, over forty binades, so that moments underflow.
std::vector<std::vector<float>> gradients_of(int32_t rank, uint32_t step) {
  std::vector<std::vector<float>> gradients;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    gradients.push_back(numbers_of(rank, 820 + 10 * step + i, kSizes[i]));
    for (size_t k = 0; k < gradients[i].size(); ++k) {
      gradients[i][k] = std::ldexp(gradients[i][k], -static_cast<int>(k % 40));
    }
  }
  return gradients;
}

std::vector<std::vector<float>> summed_gradients(int32_t ranks, uint32_t step) {
  std::vector<std::vector<float>> sums = gradients_of(0, step);
  for (int32_t q = 1; q < ranks; ++q) {
    const std::vector<std::vector<float>> theirs = gradients_of(q, step);
    for (size_t i = 0; i < sums.size(); ++i) {
      for (size_t k = 0; k < sums[i].size(); ++k) sums[i][k] += theirs[i][k];
    }
  }
  return sums;
}

// All roundings are stochastic, and gradients are clipped.
lpt_optimizer_step_options step_at(uint32_t step) {
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 0.01;
  options.largest_norm = 0.5;
  options.is_nonfinite_skipped = 1;
  options.random.seed = 77;
  options.random.step = step;
  options.first_moment_rounding = options.second_moment_rounding = options.parameter_rounding = LPT_ROUNDING_STOCHASTIC;
  return options;
}

// The reference is a step of one rank with the full state. tests/api/optimizer_* compare its values with the formulas.
void steps_as_one_rank_would(const Rank &self) {
  std::vector<std::vector<float>> sums[kSteps], own[kSteps];
  for (uint32_t step = 0; step < kSteps; ++step) {
    sums[step] = summed_gradients(self.ranks, step);
    own[step] = gradients_of(self.rank, step);
  }
  const lpt_reduce_options sum = LPT_REDUCE_OPTIONS_INIT;
  for (const Kind &kind : kinds()) {
    if (self.ranks > 4 && kind.method != LPT_OPTIMIZER_METHOD_ADAMW) continue;  // many ranks on few cores are slow
    Training whole(self, kind, false), reduced(self, kind, true), scattered(self, kind, true);
    for (uint32_t step = 0; step < kSteps; ++step) {
      ASSERT_TRUE(self.ok(whole.step(sums[step], step_at(step))));
      ASSERT_TRUE(self.ok(reduced.step(sums[step], step_at(step)))) << kind.name;
      ASSERT_TRUE(self.ok(scattered.step(own[step], step_at(step), &sum))) << kind.name;
      ASSERT_LT(whole.read().clip_factor, 1.0);
      EXPECT_EQ(whole.read().gradient_norm, reduced.read().gradient_norm);
      EXPECT_EQ(whole.read().gradient_norm, scattered.read().gradient_norm);
    }
    EXPECT_EQ(whole.bits(), reduced.bits()) << kind.name << ", method " << kind.method;
    EXPECT_EQ(whole.bits(), scattered.bits()) << kind.name << ", method " << kind.method << ", reduced by shards";
  }
}

void shares_the_state_out_evenly(const Rank &self) {
  const Kind kind = kinds()[0];
  const Training whole(self, kind, false), shared(self, kind, true);
  size_t all = 0, mine = 0;
  ASSERT_TRUE(self.ok(lpt_optimizer_size(self.context, whole.optimizer.get(), &all)));
  ASSERT_TRUE(self.ok(lpt_optimizer_size(self.context, shared.optimizer.get(), &mine)));
  double sum = static_cast<double>(mine);
  const Tensor number = wrap(self.context, LPT_FORMAT_F64, &sum, 1, 1);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, number.get(), nullptr, number.get(), nullptr)));
  EXPECT_EQ(static_cast<double>(all), sum);
  // 8 shard units of 4096 elements with two moments in f32.
  const size_t cuts = (8 + static_cast<size_t>(self.ranks) - 1) / static_cast<size_t>(self.ranks);
  EXPECT_LE(mine, cuts * 4096 * 8);
}

void skips_a_step_on_all_ranks(const Rank &self) {
  for (const bool is_reduced : {false, true}) {
    Training shared(self, kinds()[3], true);
    const auto before = shared.bits();
    auto gradients = gradients_of(self.rank, 0);
    const lpt_reduce_options sum = LPT_REDUCE_OPTIONS_INIT;
    if (self.rank == self.ranks - 1 || !is_reduced) gradients[3][7] = INFINITY;
    if (!is_reduced) gradients = summed_gradients(self.ranks, 0), gradients[0][8999] = NAN;
    ASSERT_TRUE(self.ok(shared.step(gradients, step_at(0), is_reduced ? &sum : nullptr)));
    EXPECT_EQ(1, shared.read().is_skipped);
    EXPECT_EQ(before, shared.bits());
  }
}

// A scale of 2^16 is exact. An infinity of one rank halves the scale of all ranks.
void divides_by_a_loss_scale(const Rank &self) {
  lpt_loss_scaler *raw = nullptr;
  ASSERT_TRUE(self.ok(lpt_loss_scaler_create(self.context, nullptr, &raw)));
  const std::unique_ptr<lpt_loss_scaler, void (*)(lpt_loss_scaler *)> scaler(raw, lpt_loss_scaler_destroy);
  const auto scale_of = [&] {
    lpt_loss_scaler_info info = LPT_LOSS_SCALER_INFO_INIT;
    EXPECT_TRUE(self.ok(lpt_loss_scaler_read(self.context, scaler.get(), &info)));
    return info.scale;
  };
  auto scaled = gradients_of(self.rank, 0);
  for (std::vector<float> &gradient : scaled) {
    for (float &number : gradient) number *= 0x1p16f;
  }
  lpt_optimizer_step_options options = step_at(0);
  const lpt_reduce_options sum = LPT_REDUCE_OPTIONS_INIT;
  Training whole(self, kinds()[3], false), shared(self, kinds()[3], true);
  ASSERT_TRUE(self.ok(whole.step(summed_gradients(self.ranks, 0), options)));
  options.loss_scaler = scaler.get();
  ASSERT_TRUE(self.ok(shared.step(scaled, options, &sum)));
  EXPECT_EQ(whole.bits(), shared.bits());
  EXPECT_EQ(whole.read().gradient_norm, shared.read().gradient_norm);
  ASSERT_TRUE(self.ok(lpt_loss_scaler_update(self.context, scaler.get())));
  EXPECT_EQ(0x1p16, scale_of());
  if (self.rank == self.ranks - 1) scaled[4][0] = INFINITY;
  ASSERT_TRUE(self.ok(shared.step(scaled, options, &sum)));
  EXPECT_EQ(whole.bits(), shared.bits());
  ASSERT_TRUE(self.ok(lpt_loss_scaler_update(self.context, scaler.get())));
  EXPECT_EQ(0x1p15, scale_of());
  ASSERT_TRUE(self.ok(lpt_optimizer_step_shards(self.context, self.comm, shared.optimizer.get(), nullptr, 0, nullptr,
                                                &options, nullptr, nullptr)));
  EXPECT_TRUE(self.ok(lpt_loss_scaler_update(self.context, scaler.get()))) << "a step of no parameters is one";
}

// bf16 gradients with a low-precision wire format: every rank has the same bits, close to the exact sum.
void reduces_gradients_by_a_wire(const Rank &self) {
  lpt_reduce_options wire = LPT_REDUCE_OPTIONS_INIT;
  wire.wire = LPT_FORMAT_E4M3FN_1X128;
  wire.algorithm = LPT_REDUCE_ALGORITHM_TWO_SHOT;
  const Kind sgd = kinds()[18];
  ASSERT_EQ(LPT_OPTIMIZER_METHOD_SGD, sgd.method);
  Training exact(self, sgd, true), cast(self, sgd, true);
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.learning_rate = 1.0;
  std::vector<std::vector<float>> mine;
  for (size_t i = 0; i < kSizes.size(); ++i) mine.push_back(numbers_of(self.rank, 900 + i, kSizes[i]));
  const lpt_reduce_options sum = LPT_REDUCE_OPTIONS_INIT;
  ASSERT_TRUE(self.ok(exact.step(mine, options, &sum)));
  ASSERT_TRUE(self.ok(cast.step(mine, options, &wire)));
  for (size_t i = 0; i < kSizes.size(); ++i) {
    int32_t is_same = 0;
    ASSERT_TRUE(self.ok(lpt_comm_compare(self.context, self.comm, cast.values[i].get(), &is_same)));
    EXPECT_EQ(1, is_same);
    const std::vector<double> a = numbers_of(self.context, exact.values[i].get());
    const std::vector<double> b = numbers_of(self.context, cast.values[i].get());
    // The amax of a block is below 8. A cast has an error of at most 2^-4 of the value, for each rank.
    for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], self.ranks * 8.0 / 16) << i << ", " << k;
  }
}

// States of one number of ranks are loaded by another number: first by one rank, then by all ranks.
void loads_states_that_were_cut_otherwise(const Rank &self) {
  const auto sums = summed_gradients(self.ranks, 0);
  for (const Kind &kind : kinds()) {
    if (kind.method != LPT_OPTIMIZER_METHOD_ADAMW) continue;
    Training whole(self, kind, false), shared(self, kind, true);
    const Training joined(self, kind, false), again(self, kind, true);
    ASSERT_TRUE(self.ok(whole.step(sums, step_at(0))));
    ASSERT_TRUE(self.ok(shared.step(sums, step_at(0))));
    for (int64_t index = 0; index < static_cast<int64_t>(kSizes.size()); ++index) {
      // The states of all ranks, as a job with another number of ranks would save them.
      const std::vector<uint8_t> mine = shared.state(index);
      std::vector<float> lengths(static_cast<size_t>(self.ranks));
      std::vector<float> length = {static_cast<float>(mine.size())};
      const Tensor one = wrap(self.context, length, 1, 1), many = wrap(self.context, lengths, self.ranks, 1);
      ASSERT_TRUE(self.ok(lpt_all_gather(self.context, self.comm, one.get(), nullptr, nullptr, many.get(), nullptr)));
      std::vector<std::vector<uint8_t>> states;
      std::vector<const void *> buffers;
      std::vector<size_t> bytes;
      for (int32_t q = 0; q < self.ranks; ++q) {
        std::vector<uint8_t> theirs = mine;
        theirs.resize(static_cast<size_t>(lengths[static_cast<size_t>(q)]));
        const Tensor tensor =
            wrap(self.context, LPT_FORMAT_UINT8, theirs.data(), 1, static_cast<int64_t>(theirs.size()));
        ASSERT_TRUE(self.ok(lpt_broadcast(self.context, self.comm, q, tensor.get(), nullptr)));
        states.insert(states.begin(), std::move(theirs));
      }
      for (const std::vector<uint8_t> &state : states) {
        buffers.push_back(state.data());
        bytes.push_back(state.size());
      }
      ASSERT_TRUE(self.ok(lpt_optimizer_state_load_many(self.context, joined.optimizer.get(), index, buffers.data(),
                                                        bytes.data(), self.ranks)));
      EXPECT_EQ(whole.state(index), joined.state(index)) << kind.name << ", " << index;
      const std::vector<uint8_t> one_state = whole.state(index);
      const void *one_buffer = one_state.data();
      const size_t one_bytes = one_state.size();
      ASSERT_TRUE(self.ok(
          lpt_optimizer_state_load_many(self.context, again.optimizer.get(), index, &one_buffer, &one_bytes, 1)));
      EXPECT_EQ(mine, again.state(index)) << kind.name << ", " << index;
    }
  }
}

// A parameter in three shards, added separately.
void names_what_saved_states_lack(const Rank &self) {
  const Optimizer shards = make_optimizer(self, kinds()[0]), whole = make_optimizer(self, kinds()[0]);
  const int64_t edges[] = {0, 256, 512, 1000};
  std::vector<std::vector<uint8_t>> states;
  for (size_t i = 0; i < 3; ++i) {
    lpt_optimizer_parameter shard = parameter_of(kinds()[0], edges[i + 1] - edges[i]);
    shard.whole_elements = 1000;
    shard.begin = edges[i];
    int64_t index = -1;
    size_t bytes = 0;
    ASSERT_TRUE(self.ok(lpt_optimizer_add(self.context, shards.get(), nullptr, &shard, &index)));
    ASSERT_TRUE(self.ok(lpt_optimizer_state_size(self.context, shards.get(), index, &bytes)));
    states.emplace_back(bytes);
    ASSERT_TRUE(self.ok(lpt_optimizer_state_save(self.context, shards.get(), index, states[i].data(), bytes)));
  }
  const lpt_optimizer_parameter option = parameter_of(kinds()[0], 1000);
  int64_t index = -1;
  ASSERT_TRUE(self.ok(lpt_optimizer_add(self.context, whole.get(), nullptr, &option, &index)));
  const auto load = [&](const std::vector<size_t> &which) {
    std::vector<const void *> buffers;
    std::vector<size_t> bytes;
    for (const size_t i : which) {
      buffers.push_back(states[i].data());
      bytes.push_back(states[i].size());
    }
    return lpt_optimizer_state_load_many(self.context, whole.get(), index, buffers.data(), bytes.data(),
                                         static_cast<int64_t>(which.size()));
  };
  EXPECT_EQ(LPT_INVALID_STATE, load({0, 2}));
  expect_words({"elements 256 to 512 are missing", "0 to 1000"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_STATE, load({1, 0}));
  expect_words({"elements 512 to 1000 are missing"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_STATE, load({0, 1, 1, 2}));
  expect_words({"elements 256 to 512 are there twice"}, lpt_context_error(self.context));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, load({}));
  EXPECT_TRUE(self.ok(load({2, 0, 1})));
  states[1].back() ^= 1;
  EXPECT_EQ(LPT_INVALID_STATE, load({0, 1, 2}));
  expect_words({"buffers[1]", "checksum"}, lpt_context_error(self.context));
}

void rejects_what_is_not_shared_so(const Rank &self) {
  Training whole(self, kinds()[0], false);
  const int64_t index = 0;
  const auto gradients = gradients_of(0, 0);
  const Tensor gradient = wrap(self.context, gradients[0], 1, kSizes[0]);
  const lpt_tensor *from = gradient.get();
  lpt_tensor *to = whole.values[0].get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_optimizer_step_shards(self.context, self.comm, whole.optimizer.get(), &index, 1,
                                                            &from, nullptr, nullptr, &to));
  expect_words({"indices[0] is 0", "lpt_optimizer_add_shards"}, lpt_context_error(self.context));
  Training shared(self, kinds()[0], true);
  lpt_optimizer_step_options options = step_at(0);
  options.learning_rate = -1.0;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, shared.step(gradients, options));
  expect_words({"learning_rate is -1"}, lpt_context_error(self.context));
  auto wrong = gradients;
  to = shared.values[1].get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_optimizer_step_shards(self.context, self.comm, shared.optimizer.get(), &index, 1,
                                                            &from, nullptr, nullptr, &to));
  expect_words({"parameters[0]", "9000 elements"}, lpt_context_error(self.context));
  lpt_reduce_options reduce = LPT_REDUCE_OPTIONS_INIT;
  reduce.wire = 123456789;
  EXPECT_NE(LPT_OK, shared.step(gradients, step_at(0), &reduce));
  // The comm is usable, because no rank had started the call.
  ASSERT_TRUE(self.ok(shared.step(summed_gradients(self.ranks, 0), step_at(0))));
}

}  // namespace

std::vector<Case> shard_cases() {
  return {{"StepsAsOneRankWould", steps_as_one_rank_would},
          {"SharesTheStateOutEvenly", shares_the_state_out_evenly},
          {"SkipsAStepOnAllRanks", skips_a_step_on_all_ranks},
          {"DividesByALossScale", divides_by_a_loss_scale},
          {"ReducesGradientsByAWire", reduces_gradients_by_a_wire},
          {"LoadsStatesThatWereCutOtherwise", loads_states_that_were_cut_otherwise},
          {"NamesWhatSavedStatesLack", names_what_saved_states_lack},
          {"RejectsWhatIsNotSharedSo", rejects_what_is_not_shared_so}};
}

}  // namespace lpt::test
