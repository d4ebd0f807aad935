// Shards and threads do not change the bits. Delayed scales.
#include "tests/api/optimizer.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kElements = 9000;
constexpr int kSteps = 3;

struct Kind {
  const char *name;
  lpt_optimizer_method method;
  Option option;
  lpt_format value_format;
};

std::vector<Kind> kinds() {
  std::vector<Kind> kinds = {{"f32", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"adam, bf16", LPT_OPTIMIZER_METHOD_ADAM, {}, kF32},
                             {"sgd", LPT_OPTIMIZER_METHOD_SGD, {}, LPT_FORMAT_BF16},
                             {"lion, groups", LPT_OPTIMIZER_METHOD_LION, {}, kF32},
                             {"groups", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"expanded", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"trees", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"compensated", LPT_OPTIMIZER_METHOD_ADAMW, {}, LPT_FORMAT_BF16}};
  for (Kind &kind : kinds) kind.option.weight_decay = 0.1;
  kinds[1].option.first = kinds[1].option.second = LPT_FORMAT_BF16;
  kinds[3].option.first = e4m3_groups();
  kinds[4].option.first = LPT_FORMAT_E4M3FN_1X128;
  kinds[4].option.second = LPT_FORMAT_E5M2_1X128;
  kinds[5].option = kinds[4].option;
  kinds[5].option.is_first_expanded = kinds[5].option.is_second_expanded = true;
  kinds[6].option.first = kinds[6].option.second = LPT_FORMAT_DYNAMIC_1X256;
  kinds[7].option.compensation = LPT_FORMAT_BF16;
  return kinds;
}

template <typename Number>
std::vector<Number> slice_of(const std::vector<Number> &whole, int64_t begin, int64_t end) {
  return std::vector<Number>(whole.begin() + begin, whole.begin() + end);
}

// Returns the values after steps of one shard. All roundings are stochastic, underflow included.
std::vector<double> trained(const Kind &kind, int64_t begin, int64_t end, int32_t threads, lpt_isa isa = LPT_ISA_AUTO) {
  const Context context = make_context(threads, isa);
  lpt_optimizer_options options = options_of(kind.method);
  options.second_underflow = LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC;
  Option option = kind.option;
  if (end - begin != kElements) {
    option.whole_elements = kElements;
    option.begin = begin;
  }
  Trainee trainee(context.get(), options, option, slice_of(draw_normal(550, kElements), begin, end), kind.value_format);
  for (int t = 0; t < kSteps; ++t) {
    std::vector<double> gradient = draw_normal(551 + static_cast<uint64_t>(t), kElements);
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] = std::ldexp(gradient[i], -static_cast<int>(i % 40));
    lpt_optimizer_step_options step = stochastic_at(0.01, static_cast<uint32_t>(t));
    step.random.offset = 5;
    trainee.step(slice_of(floats(gradient), begin, end), step);
  }
  return trainee.values();
}

TEST(OptimizerShards, AreTheWholeBitForBit) {
  for (const Kind &kind : kinds()) {
    const std::vector<double> whole = trained(kind, 0, kElements, 1);
    std::vector<double> joined;
    const int64_t edges[] = {0, 256, 4096, 8704, kElements};
    for (size_t i = 0; i + 1 < std::size(edges); ++i) {
      const std::vector<double> part = trained(kind, edges[i], edges[i + 1], 2);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(whole, joined) << kind.name;
  }
}

TEST(OptimizerShards, MayBeginAnywhereWithoutBlocks) {
  const Kind kind = kinds()[0];
  const std::vector<double> whole = trained(kind, 0, kElements, 1);
  std::vector<double> joined = trained(kind, 0, 1001, 1);
  const std::vector<double> rest = trained(kind, 1001, kElements, 1);
  joined.insert(joined.end(), rest.begin(), rest.end());
  EXPECT_EQ(whole, joined);
}

TEST(OptimizerThreads, AreNotSeenInTheBits) {
  for (const Kind &kind : kinds()) {
    const std::vector<double> expected = trained(kind, 0, kElements, 1);
    for (const int32_t threads : {2, 3, 5}) EXPECT_EQ(expected, trained(kind, 0, kElements, threads)) << kind.name;
  }
}

TEST(OptimizerKernels, GiveTheBitsOfTheReference) {
  for (const Kind &kind : kinds()) {
    EXPECT_EQ(trained(kind, 0, kElements, 1, LPT_ISA_REFERENCE), trained(kind, 0, kElements, 1)) << kind.name;
  }
}

// Delayed scales.

float scale_in(const std::vector<uint8_t> &state, size_t offset) {
  float scale;
  std::memcpy(&scale, state.data() + offset, sizeof scale);
  return scale;
}

// Byte offsets in the state of E4M3FN_TENSOR and E5M2_TENSOR moments.
constexpr size_t kFirstScale = 32 + 16 + 8;
constexpr size_t kSecondScale = kFirstScale + 4 + 1000 + 8;

TEST(OptimizerDelayed, TakesTwiceTheLastAmaxAndLooksAtFirst) {
  const Context context = make_context(2);
  Option option;
  option.first = LPT_FORMAT_E4M3FN_TENSOR;
  option.second = LPT_FORMAT_E5M2_TENSOR;
  option.scaling = LPT_SCALER_KIND_DELAYED;
  lpt_optimizer_options options = LPT_OPTIMIZER_OPTIONS_INIT;
  options.beta1 = options.beta2 = 0.0;  // moments are g and g²
  Trainee trainee(context.get(), options, option, std::vector<double>(1000, 0.0));
  const float amaxes[] = {3.0f, 5.0f, 1.0f, 100.0f};
  for (size_t t = 0; t < std::size(amaxes); ++t) {
    std::vector<float> gradient(1000, 0.25f);
    gradient[700] = -amaxes[t];
    trainee.step(gradient, step_at(0.01));
    const float known = t == 0 ? amaxes[0] : 2.0f * amaxes[t - 1];
    const float square = t == 0 ? amaxes[0] * amaxes[0] : 2.0f * (amaxes[t - 1] * amaxes[t - 1]);
    EXPECT_EQ(known / 448.0f, scale_in(trainee.state(), kFirstScale)) << t;
    EXPECT_EQ(square / 57344.0f, scale_in(trainee.state(), kSecondScale)) << t;
  }
  // The last gradient exceeds the range by far, so it saturates.
  EXPECT_EQ(0xFE, trainee.state()[kFirstScale + 4 + 700]);
}

TEST(OptimizerDelayed, LooksAgainAfterNothingButZeros) {
  const Context context = make_context();
  Option option;
  option.first = LPT_FORMAT_E4M3FN_TENSOR;
  option.scaling = LPT_SCALER_KIND_DELAYED;
  Optimizer optimizer;
  lpt_context *c = context.get();
  ASSERT_TRUE(ok(c, lpt_optimizer_create(c, nullptr, out(optimizer))));
  lpt_optimizer_parameter parameter = parameter_of(option, 10);
  parameter.second_scaling = LPT_SCALER_KIND_CURRENT;
  int64_t index = -1;
  ASSERT_TRUE(ok(c, lpt_optimizer_add(c, optimizer.get(), nullptr, &parameter, &index)));
  const Tensor value = make_tensor(c, kF32, 1, 10);
  for (const float number : {0.0f, 2.0f}) {
    const std::vector<float> numbers(10, number);
    const Tensor gradient = wrap(c, numbers, 1, 10);
    const lpt_tensor *const gradients[] = {gradient.get()};
    lpt_tensor *const values[] = {value.get()};
    ASSERT_TRUE(ok(c, lpt_optimizer_step(c, optimizer.get(), &index, 1, gradients, nullptr, values)));
  }
  std::vector<uint8_t> state(32 + 16 + 12 + 10 + 12 + 40 + 16);
  ASSERT_TRUE(ok(c, lpt_optimizer_state_save(c, optimizer.get(), 0, state.data(), state.size())));
  const float amax = (1.0f - 0.9f) * 2.0f;
  EXPECT_NEAR(scale_in(state, kFirstScale) / (amax / 448.0f), 1.0, 1e-6);
}

}  // namespace
}  // namespace lpt::test
