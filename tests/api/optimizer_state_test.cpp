// Saved states of earlier releases and of every current kind. A damaged state is rejected without any change.
#include <fstream>
#include <iterator>

#include "tests/api/optimizer.hpp"
#include "tests/api/states.hpp"

namespace lpt::test {
namespace {

using states::resealed;

constexpr int64_t kStateElements = 300;  // full blocks and a partial block

struct Kind {
  const char *name;
  lpt_optimizer_method method;
  Option option;
  lpt_format value_format;
};

std::vector<Kind> kinds() {
  std::vector<Kind> kinds = {{"adam, f32", LPT_OPTIMIZER_METHOD_ADAM, {}, kF32},
                             {"sgd, bf16", LPT_OPTIMIZER_METHOD_SGD, {}, kF32},
                             {"lion, groups", LPT_OPTIMIZER_METHOD_LION, {}, kF32},
                             {"groups", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"expanded groups", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"trees", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"delayed", LPT_OPTIMIZER_METHOD_ADAMW, {}, kF32},
                             {"compensated shard", LPT_OPTIMIZER_METHOD_ADAMW, {}, LPT_FORMAT_BF16}};
  kinds[1].option.first = LPT_FORMAT_BF16;
  kinds[2].option.first = e4m3_groups();
  kinds[3].option.first = LPT_FORMAT_E4M3FN_1X128;
  kinds[3].option.second = LPT_FORMAT_E5M2_1X128;
  kinds[4].option = kinds[3].option;
  kinds[4].option.is_first_expanded = kinds[4].option.is_second_expanded = true;
  kinds[5].option.first = kinds[5].option.second = LPT_FORMAT_DYNAMIC_1X256;
  kinds[6].option.first = LPT_FORMAT_E4M3FN_TENSOR;
  kinds[6].option.second = LPT_FORMAT_E5M2_TENSOR;
  kinds[6].option.scaling = LPT_SCALER_KIND_DELAYED;
  kinds[7].option.compensation = LPT_FORMAT_BF16;
  kinds[7].option.whole_elements = 10 * kStateElements;
  kinds[7].option.begin = 7;
  return kinds;
}

Trainee trainee_of(lpt_context *c, const Kind &kind) {
  return Trainee(c, options_of(kind.method), kind.option, draw_normal(520, kStateElements), kind.value_format);
}

void train(Trainee &trainee, int begin, int end) {
  for (int t = begin; t < end; ++t) {
    trainee.step(floats(draw_normal(521 + static_cast<uint64_t>(t), kStateElements)),
                 stochastic_at(0.01, static_cast<uint32_t>(t)));
  }
}

TEST(OptimizerStateKinds, GoOnAfterALoadAsIfNeverSaved) {
  for (const Kind &kind : kinds()) {
    const Context context = make_context();
    Trainee whole = trainee_of(context.get(), kind), first = trainee_of(context.get(), kind),
            second = trainee_of(context.get(), kind);
    train(whole, 0, 4);
    train(first, 0, 2);
    EXPECT_TRUE(ok(context.get(), second.load(first.state()))) << kind.name;
    EXPECT_EQ(first.state(), second.state()) << kind.name;
    std::memcpy(describe(context.get(), second.value()).data, describe(context.get(), first.value()).data,
                bytes_of(context.get(), first.value()).size());
    train(second, 2, 4);
    EXPECT_EQ(whole.bits(), second.bits()) << kind.name;
  }
}

void expect_rejected(lpt_context *c, Trainee &trainee, const std::vector<uint8_t> &state, const std::string &where) {
  const std::vector<uint8_t> before = trainee.bits();
  EXPECT_EQ(LPT_INVALID_STATE, trainee.load(state)) << where;
  EXPECT_NE(std::string(), lpt_context_error(c)) << where;
  EXPECT_EQ(before, trainee.bits()) << where;
}

TEST(OptimizerStateKinds, AreRejectedWhenCutAnywhere) {
  for (const Kind &kind : kinds()) {
    const Context context = make_context();
    Trainee trainee = trainee_of(context.get(), kind);
    train(trainee, 0, 1);
    const std::vector<uint8_t> state = trainee.state();
    for (size_t length = 32; length < state.size(); length += 1 + length / 16) {
      const std::vector<uint8_t> cut(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(length));
      expect_rejected(context.get(), trainee, cut, kind.name);
      expect_rejected(context.get(), trainee, resealed(cut), kind.name);
    }
    std::vector<uint8_t> longer = state;
    longer.push_back(0);
    expect_rejected(context.get(), trainee, resealed(longer), kind.name);
  }
}

TEST(OptimizerStateKinds, AreRejectedByOneAnother) {
  const std::vector<Kind> all = kinds();
  for (size_t a = 0; a < all.size(); ++a) {
    const Context context = make_context();
    const std::vector<uint8_t> state = trainee_of(context.get(), all[a]).state();
    for (size_t b = 0; b < all.size(); ++b) {
      Trainee other = trainee_of(context.get(), all[b]);
      if (a != b) expect_rejected(context.get(), other, state, std::string(all[a].name) + " for " + all[b].name);
    }
  }
}

// Each changed bit, with a matching checksum: the load rejects the state without any change, or loads the changed content.
TEST(OptimizerStateKinds, AreReadOrRejectedWithAnyBitChanged) {
  for (const Kind &kind : kinds()) {
    const Context context = make_context();
    Trainee trainee = trainee_of(context.get(), kind);
    train(trainee, 0, 1);
    const std::vector<uint8_t> state = trainee.state();
    Random random(530);
    for (size_t i = 32; i < state.size(); i += 1 + static_cast<size_t>(random.below(6))) {
      std::vector<uint8_t> changed = state;
      changed[i] = static_cast<uint8_t>(changed[i] ^ 1u << random.below(8));
      if (trainee.load(changed) == LPT_OK) ADD_FAILURE() << kind.name << ": the checksum let byte " << i << " pass";
      changed = resealed(changed);
      const std::vector<uint8_t> before = trainee.state();
      const lpt_status status = trainee.load(changed);
      EXPECT_TRUE(status == LPT_OK || status == LPT_INVALID_STATE) << kind.name << ' ' << i;
      EXPECT_EQ(status == LPT_OK ? changed : before, trainee.state()) << kind.name << ' ' << i;
    }
  }
}

// Values that no step writes.
TEST(OptimizerStateKinds, AreRejectedWithImpossibleNumbers) {
  const Context context = make_context();
  const std::vector<Kind> all = kinds();
  const auto expect_rejection = [&](const Kind &kind, size_t from_end, auto number) {
    Trainee trainee = trainee_of(context.get(), kind);
    train(trainee, 0, 1);
    std::vector<uint8_t> state = trainee.state();
    std::memcpy(&state[state.size() - from_end], &number, sizeof number);
    expect_rejected(context.get(), trainee, resealed(state), kind.name);
  };
  constexpr size_t kBlocks = 3, kSection = 12;
  for (const float scale : {0.0f, -1.0f, INFINITY, NAN}) {
    expect_rejection(all[3], 4, scale);
    expect_rejection(all[4], 2 * (kSection + 2 * kBlocks) + 4, scale);
    if (scale != 0.0f) expect_rejection(all[6], 4, scale);
  }
  for (const uint16_t exponent : {uint16_t{0}, uint16_t{1025}, uint16_t{65535}}) expect_rejection(all[4], 2, exponent);
}

// States of earlier releases, and of this release for later ones.

std::vector<uint8_t> fixture(const std::string &name) {
  std::ifstream file(LPT_GOLDEN_DIR "/optimizer/" + name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

void expect_readable(const std::string &name, int64_t elements, const Option &option) {
  const Context context = make_context();
  Trainee trainee(context.get(), LPT_OPTIMIZER_OPTIONS_INIT, option,
                  std::vector<double>(static_cast<size_t>(elements), 0.0));
  const std::vector<uint8_t> state = fixture(name);
  EXPECT_TRUE(ok(context.get(), trainee.load(state))) << name;
  EXPECT_EQ(state, trainee.state()) << name;
}

TEST(OptimizerStateFixtures, OfRelease01AreReadAndWritten) {
  Option fp8;
  fp8.first = LPT_FORMAT_E4M3FN_TENSOR;
  fp8.second = LPT_FORMAT_E5M2_TENSOR;
  expect_readable("state_fp8.bin", 37, fp8);
  Option wide;
  wide.first = LPT_FORMAT_BF16;
  wide.second = LPT_FORMAT_F16_TENSOR;
  expect_readable("state_wide.bin", 5, wide);
  expect_readable("state_f32.bin", 9, {});
}

// Gradients of the fixtures: ((37 i + 11 t) mod 23 - 11) / 8 in each of 3 steps.
std::vector<float> fixture_gradient(int t, int64_t elements) {
  std::vector<float> gradient(static_cast<size_t>(elements));
  for (size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = static_cast<float>((static_cast<int>(i) * 37 + t * 11) % 23 - 11) / 8.0f;
  }
  return gradient;
}

// A fixture equals the result of the same steps in this release.
void expect_made(const std::string &name, int64_t elements, const Option &option) {
  const Context context = make_context();
  Trainee trainee(context.get(), options_of(LPT_OPTIMIZER_METHOD_ADAMW), option,
                  std::vector<double>(static_cast<size_t>(elements), 0.0));
  for (int t = 0; t < 3; ++t) trainee.step(fixture_gradient(t, elements), LPT_OPTIMIZER_STEP_OPTIONS_INIT);
  if (const char *folder = std::getenv("LPT_WRITE_FIXTURES")) {
    const std::vector<uint8_t> state = trainee.state();
    std::ofstream(folder + ("/" + name), std::ios::binary)
        .write(reinterpret_cast<const char *>(state.data()), static_cast<std::streamsize>(state.size()));
  }
  EXPECT_EQ(fixture(name), trainee.state()) << name;
}

Option expanded() {
  Option option;
  option.first = option.second = LPT_FORMAT_E4M3FN_1X128;
  option.is_first_expanded = option.is_second_expanded = true;
  return option;
}

Option trees_of_a_shard() {
  Option option;
  option.first = LPT_FORMAT_DYNAMIC_1X256;
  option.second = LPT_FORMAT_DYNAMIC_1X256;
  option.whole_elements = 1000;
  option.begin = 256;
  return option;
}

TEST(OptimizerStateFixtures, AreWhatTheSameStepsGive) {
  Option fp8;
  fp8.first = LPT_FORMAT_E4M3FN_TENSOR;
  fp8.second = LPT_FORMAT_E5M2_TENSOR;
  expect_made("state_fp8.bin", 37, fp8);
  expect_made("state_f32.bin", 9, {});
  expect_made("state_expanded.bin", 140, expanded());
  expect_made("state_trees.bin", 270, trees_of_a_shard());
}

TEST(OptimizerStateFixtures, WithSectionsAreReadAndWritten) {
  expect_readable("state_expanded.bin", 140, expanded());
  expect_readable("state_trees.bin", 270, trees_of_a_shard());
}

}  // namespace
}  // namespace lpt::test
