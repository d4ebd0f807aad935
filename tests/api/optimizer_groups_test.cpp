// Moments in blocks, read from the saved state. With beta1 = beta2 = 0 they are the gradient and its square.
#include "tests/api/optimizer.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kGroupElements = 1 << 15;
constexpr size_t kFirstCodes = 32 + 16 + 12;
constexpr size_t kSectionBytes = 12;

std::vector<uint8_t> state_after(const Option &option, const std::vector<float> &gradient,
                                 lpt_optimizer_underflow underflow) {
  const Context context = make_context(2);
  lpt_optimizer_options options = options_of(LPT_OPTIMIZER_METHOD_ADAMW);
  options.beta1 = options.beta2 = 0.0;
  options.second_underflow = underflow;
  Trainee trainee(context.get(), options, option, std::vector<double>(gradient.size(), 0.0));
  trainee.step(gradient, step_at(0.0));
  return trainee.state();
}

TEST(OptimizerGroups, HoldWhatQuantizeGivesForOneRow) {
  const Context context = make_context();
  lpt_context *c = context.get();
  std::vector<double> numbers = draw_normal(590, kGroupElements - 50);  // the last group is short
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= std::exp2(static_cast<double>(i / 128 % 80) - 40.0);
  numbers[300] = INFINITY;
  numbers[400] = -INFINITY;
  numbers[600] = NAN;
  for (size_t i = 1024; i < 1152; ++i) numbers[i] = 0.0;
  for (const lpt_format format :
       {lpt_format{LPT_FORMAT_E4M3FN_1X128}, e4m3_groups(), lpt_format{LPT_FORMAT_E5M2_1X128}}) {
    Option option;
    option.first = format;
    const std::vector<uint8_t> state = state_after(option, floats(numbers), LPT_OPTIMIZER_UNDERFLOW_CLAMP);
    const Tensor quantized = vector_of(c, format, numbers);
    const std::vector<uint8_t> codes = plain_bytes(c, part_of(c, quantized.get(), LPT_TENSOR_PART_PAYLOAD).get());
    const std::vector<uint8_t> scales = plain_bytes(c, part_of(c, quantized.get(), LPT_TENSOR_PART_BLOCK_SCALES).get());
    EXPECT_TRUE(std::equal(codes.begin(), codes.end(), state.begin() + kFirstCodes)) << name_of(format);
    EXPECT_TRUE(std::equal(scales.begin(), scales.end(), state.end() - static_cast<std::ptrdiff_t>(scales.size())))
        << name_of(format);
  }
}

struct Kind {
  const char *name;
  lpt_format format;
  int64_t block;
  double smallest;  // code, of a block whose largest magnitude is 1
};

// Counts zero codes, smallest codes and other codes for squares of `share` times the smallest code. Element 0 of a block is 1.
struct Counts {
  int64_t zero = 0, least = 0, other = 0;
};

Counts counts_of(const Kind &kind, double share, lpt_optimizer_underflow underflow) {
  Option option;
  option.second = kind.format;
  const auto root = static_cast<float>(std::sqrt(share * kind.smallest));
  std::vector<float> gradient(kGroupElements, root);
  for (int64_t i = 0; i < kGroupElements; i += kind.block) gradient[static_cast<size_t>(i)] = 1.0f;
  const std::vector<uint8_t> state = state_after(option, gradient, underflow);
  const size_t begin = kFirstCodes + 4 * kGroupElements + 12;  // the first moment is f32
  Counts counts;
  for (int64_t i = 0; i < kGroupElements; ++i) {
    if (i % kind.block == 0) continue;
    const uint8_t code = state[begin + static_cast<size_t>(i)];
    (code == 0 ? counts.zero : code == 1 ? counts.least : counts.other)++;
  }
  return counts;
}

const Kind kKinds[] = {{"e4m3fn, one scale", LPT_FORMAT_E4M3FN_TENSOR, kGroupElements, 0x1p-9 / 448},
                       {"e5m2, one scale", LPT_FORMAT_E5M2_TENSOR, kGroupElements, 0x1p-16 / 57344},
                       {"e4m3fn, groups", LPT_FORMAT_E4M3FN_1X128, 128, 0x1p-9 / 448},
                       {"e5m2, groups", LPT_FORMAT_E5M2_1X128, 128, 0x1p-16 / 57344},
                       {"trees", LPT_FORMAT_DYNAMIC_1X256, 256, 3.25e-7}};

TEST(OptimizerUnderflow, IsClampedToTheSmallestCode) {
  for (const Kind &kind : kKinds) {
    for (const double share : {1e-6, 0.3, 0.9}) {
      const Counts counts = counts_of(kind, share, LPT_OPTIMIZER_UNDERFLOW_CLAMP);
      EXPECT_EQ(0, counts.zero + counts.other) << kind.name << ' ' << share;
    }
  }
}

TEST(OptimizerUnderflow, IsRoundedWhereItIsAllowed) {
  for (const Kind &kind : kKinds) {
    EXPECT_EQ(0, counts_of(kind, 0.48, LPT_OPTIMIZER_UNDERFLOW_ALLOWED).least) << kind.name;
    EXPECT_EQ(0, counts_of(kind, 0.52, LPT_OPTIMIZER_UNDERFLOW_ALLOWED).zero) << kind.name;
  }
}

TEST(OptimizerUnderflow, IsTheSmallestCodeAsOftenAsItsShare) {
  for (const Kind &kind : kKinds) {
    for (const double share : {0.01, 0.3, 0.9}) {
      const Counts counts = counts_of(kind, share, LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC);
      const auto count = static_cast<double>(counts.zero + counts.least);
      EXPECT_EQ(0, counts.other) << kind.name;
      EXPECT_NEAR(static_cast<double>(counts.least) / count, share, 4.0 * std::sqrt(share * (1 - share) / count))
          << kind.name << ' ' << share;
    }
    EXPECT_EQ(0, counts_of(kind, 0.0, LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC).least) << kind.name;
    const Counts above = counts_of(kind, 1.2, LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC);
    EXPECT_EQ(0, above.zero + above.other) << kind.name << ": above it the nearest";
  }
}

TEST(OptimizerUnderflow, NeverMakesSomethingOfZero) {
  for (const Kind &kind : kKinds) {
    for (const lpt_optimizer_underflow underflow : {lpt_optimizer_underflow{LPT_OPTIMIZER_UNDERFLOW_CLAMP},
                                                    lpt_optimizer_underflow{LPT_OPTIMIZER_UNDERFLOW_ALLOWED},
                                                    lpt_optimizer_underflow{LPT_OPTIMIZER_UNDERFLOW_STOCHASTIC}}) {
      const Counts counts = counts_of(kind, 0.0, underflow);
      EXPECT_EQ(0, counts.least + counts.other) << kind.name;
    }
  }
}

// A block with a NaN has a NaN scale. The scales of the other blocks are unchanged.
TEST(OptimizerTrees, TellANanByTheirScale) {
  std::vector<float> gradient(1024, 0.5f);
  gradient[300] = NAN;
  gradient[700] = INFINITY;
  Option option;
  option.first = option.second = LPT_FORMAT_DYNAMIC_1X256;
  const std::vector<uint8_t> state = state_after(option, gradient, LPT_OPTIMIZER_UNDERFLOW_CLAMP);
  const std::vector<float> second = tail_of<float>(state, 4);
  const std::vector<float> first = tail_of<float>(state, 4, kSectionBytes + 4 * sizeof(float));
  for (const std::vector<float> *scales : {&first, &second}) {
    for (size_t block = 0; block < 4; ++block) EXPECT_EQ(block == 1, std::isnan((*scales)[block])) << block;
  }
  EXPECT_EQ(0.5f, first[2]) << "an infinity is the largest code";
  EXPECT_EQ(255, state[kFirstCodes + 700]);
}

}  // namespace
}  // namespace lpt::test
