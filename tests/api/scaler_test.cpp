// Scalers: the amax that a cast uses, and the history.
#include <cfloat>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

Scaler create(lpt_context *context, const lpt_scaler_options &options) {
  Scaler scaler;
  EXPECT_TRUE(ok(context, lpt_scaler_create(context, &options, out(scaler))));
  return scaler;
}

Scaler make_scaler(lpt_context *context, lpt_scaler_kind kind, int32_t history_length = 1, int32_t margin = 0) {
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  options.kind = kind;
  options.history_length = history_length;
  options.margin = margin;
  return create(context, options);
}

// Casts a tensor with this amax, and returns the amax that corresponds to its scale.
double cast(lpt_context *context, lpt_scaler *scaler, double amax, lpt_format format = LPT_FORMAT_E4M3FN_TENSOR) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scaler = scaler;
  options.scale_rule = LPT_SCALE_RULE_POWER_OF_TWO;
  const std::vector<double> numbers = {amax / 2, -amax, 0.0};
  const Tensor source = wrap(context, numbers, 1, 3);
  const Tensor target = make_tensor(context, format, 1, 3);
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), &options, target.get(), nullptr)));
  return static_cast<double>(tensor_scale_of(context, target.get())) * describe(format).largest;
}

void update(lpt_context *context, lpt_scaler *scaler) {
  EXPECT_TRUE(ok(context, lpt_scaler_update(context, &scaler, 1)));
}

lpt_scaler_info read(lpt_context *context, const lpt_scaler *scaler) {
  lpt_scaler_info values = LPT_SCALER_INFO_INIT;
  EXPECT_TRUE(ok(context, lpt_scaler_read(context, scaler, &values)));
  return values;
}

// Each amax is a power of two times 448, so that power-of-two scales are exact.
constexpr double kUnit = 448.0;

TEST(ScalerCurrent, TakesTheAmaxAtHandAndRecordsIt) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_CURRENT);
  EXPECT_EQ(4 * kUnit, cast(context.get(), scaler.get(), 4 * kUnit));
  update(context.get(), scaler.get());
  EXPECT_EQ(kUnit, cast(context.get(), scaler.get(), kUnit));
  EXPECT_EQ(4 * kUnit, static_cast<double>(read(context.get(), scaler.get()).amax));
}

TEST(ScalerDelayed, TakesTheAmaxAtHandWhileItKnowsNothing) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  EXPECT_EQ(8 * kUnit, cast(context.get(), scaler.get(), 8 * kUnit));
  EXPECT_EQ(2 * kUnit, cast(context.get(), scaler.get(), 2 * kUnit)) << "before the first update";
}

TEST(ScalerDelayed, TakesItsHistoryAfterTheFirstUpdate) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  cast(context.get(), scaler.get(), 8 * kUnit);
  update(context.get(), scaler.get());
  EXPECT_EQ(8 * kUnit, cast(context.get(), scaler.get(), kUnit));
  update(context.get(), scaler.get());
  EXPECT_EQ(kUnit, cast(context.get(), scaler.get(), 16 * kUnit)) << "a history of one forgets";
}

TEST(ScalerDelayed, CastsAllMicroBatchesOfAStepAlike) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  cast(context.get(), scaler.get(), 2 * kUnit);
  update(context.get(), scaler.get());
  for (const double amax : {kUnit, 4 * kUnit, kUnit}) EXPECT_EQ(2 * kUnit, cast(context.get(), scaler.get(), amax));
  update(context.get(), scaler.get());
  EXPECT_EQ(4 * kUnit, cast(context.get(), scaler.get(), kUnit)) << "the largest of the step";
}

TEST(ScalerDelayed, RemembersTheLargestOfItsHistory) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED, 3);
  for (const double amax : {kUnit, 16 * kUnit, 2 * kUnit}) {
    cast(context.get(), scaler.get(), amax);
    update(context.get(), scaler.get());
  }
  EXPECT_EQ(16 * kUnit, cast(context.get(), scaler.get(), 4 * kUnit));
  update(context.get(), scaler.get());
  EXPECT_EQ(16 * kUnit, cast(context.get(), scaler.get(), kUnit)) << "two updates ago";
  update(context.get(), scaler.get());
  EXPECT_EQ(4 * kUnit, cast(context.get(), scaler.get(), kUnit)) << "sixteen is out of the history";
}

TEST(ScalerDelayed, ClipsWhatOutgrowsItsHistory) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  cast(context.get(), scaler.get(), kUnit);
  update(context.get(), scaler.get());
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scaler = scaler.get();
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 2, {1000 * kUnit, -1000 * kUnit});
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_E4M3FN_TENSOR, 1, 2);
  ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
  EXPECT_EQ((std::vector<double>{kUnit, -kUnit}), numbers_of(context.get(), target.get()));
}

TEST(ScalerDelayed, TakesTheAmaxAtHandWhileItsHistoryIsZero) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED, 2);
  cast(context.get(), scaler.get(), 0.0);
  update(context.get(), scaler.get());
  EXPECT_EQ(1, read(context.get(), scaler.get()).update_count);
  EXPECT_EQ(4 * kUnit, cast(context.get(), scaler.get(), 4 * kUnit));
}

TEST(Scaler, MarginMultipliesByPowersOfTwo) {
  const Context context = make_context();
  for (const lpt_scaler_kind kind : {LPT_SCALER_KIND_CURRENT, LPT_SCALER_KIND_DELAYED}) {
    for (const int32_t margin : {-2, 0, 3}) {
      const Scaler scaler = make_scaler(context.get(), kind, 1, margin);
      EXPECT_EQ(std::ldexp(4 * kUnit, margin), cast(context.get(), scaler.get(), 4 * kUnit));
      update(context.get(), scaler.get());
      EXPECT_EQ(std::ldexp(4 * kUnit, margin), cast(context.get(), scaler.get(), 4 * kUnit));
      EXPECT_EQ(4 * kUnit, static_cast<double>(read(context.get(), scaler.get()).amax)) << "read without margin";
    }
  }
}

TEST(Scaler, MarginKeepsAmaxFinite) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED, 1, 64);
  cast(context.get(), scaler.get(), 1e30);
  update(context.get(), scaler.get());
  EXPECT_TRUE(std::isfinite(cast(context.get(), scaler.get(), 1e30)));
}

TEST(Scaler, UpdateWithoutARecordChangesNothing) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  update(context.get(), scaler.get());
  EXPECT_EQ(0, read(context.get(), scaler.get()).update_count);
  cast(context.get(), scaler.get(), 2 * kUnit);
  update(context.get(), scaler.get());
  update(context.get(), scaler.get());
  EXPECT_EQ(1, read(context.get(), scaler.get()).update_count);
  EXPECT_EQ(2 * kUnit, cast(context.get(), scaler.get(), kUnit));
}

TEST(Scaler, ReadTellsTheRunningAmax) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  cast(context.get(), scaler.get(), 3.0);
  cast(context.get(), scaler.get(), 2.0);
  EXPECT_EQ(3.0f, read(context.get(), scaler.get()).running_amax);
  EXPECT_EQ(0.0f, read(context.get(), scaler.get()).amax);
  update(context.get(), scaler.get());
  EXPECT_EQ(0.0f, read(context.get(), scaler.get()).running_amax);
  EXPECT_EQ(3.0f, read(context.get(), scaler.get()).amax);
}

TEST(Scaler, RecordsInEveryFormatWithOneScaleAndAnyThreads) {
  const std::vector<double> numbers = draw_normal(41, 300 * 300);
  double amax = 0.0;
  for (const double number : numbers) amax = std::max(amax, std::abs(number));
  for (const int32_t threads : {1, 3}) {
    const Context context = make_context(threads);
    for (const lpt_format format :
         {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_TENSOR, LPT_FORMAT_INT8_TENSOR, LPT_FORMAT_F16_TENSOR}) {
      const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
      lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
      options.scaler = scaler.get();
      const Tensor source = wrap(context.get(), numbers, 300, 300);
      const Tensor target = make_tensor(context.get(), format, 300, 300);
      for (int i = 0; i < 2; ++i) {  // first with a separate amax pass, then in one pass
        ASSERT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, target.get(), nullptr)));
        EXPECT_EQ(static_cast<float>(amax), read(context.get(), scaler.get()).running_amax) << name_of(format);
        update(context.get(), scaler.get());
      }
    }
  }
}

TEST(Scaler, UpdatesManyAtATime) {
  const Context context = make_context();
  const Scaler one = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  const Scaler two = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED);
  cast(context.get(), one.get(), 1.0);
  cast(context.get(), two.get(), 2.0);
  lpt_scaler *const scalers[] = {one.get(), two.get()};
  ASSERT_TRUE(ok(context.get(), lpt_scaler_update(context.get(), scalers, 2)));
  EXPECT_EQ(1.0f, read(context.get(), one.get()).amax);
  EXPECT_EQ(2.0f, read(context.get(), two.get()).amax);
}

TEST(ScalerState, GoesOnAfterALoadAsIfNeverSaved) {
  const Context context = make_context();
  const Scaler scaler = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED, 3, 1);
  for (const double amax : {kUnit, 16 * kUnit, 2 * kUnit, 4 * kUnit}) {
    cast(context.get(), scaler.get(), amax);
    update(context.get(), scaler.get());
  }
  cast(context.get(), scaler.get(), 8 * kUnit);  // recorded, not yet updated
  size_t bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_scaler_state_size(context.get(), scaler.get(), &bytes)));
  std::vector<uint8_t> state(bytes);
  ASSERT_TRUE(ok(context.get(), lpt_scaler_state_save(context.get(), scaler.get(), state.data(), state.size())));
  const Scaler loaded = make_scaler(context.get(), LPT_SCALER_KIND_DELAYED, 3, 1);
  ASSERT_TRUE(ok(context.get(), lpt_scaler_state_load(context.get(), loaded.get(), state.data(), state.size())));
  for (int step = 0; step < 5; ++step) {
    EXPECT_EQ(cast(context.get(), scaler.get(), kUnit), cast(context.get(), loaded.get(), kUnit)) << step;
    update(context.get(), scaler.get());
    update(context.get(), loaded.get());
    EXPECT_EQ(read(context.get(), scaler.get()).update_count, read(context.get(), loaded.get()).update_count);
  }
}

// Rules of the history and of zero.

Scaler make_ruled_scaler(lpt_context *context, lpt_scaler_history_rule history_rule, lpt_scaler_zero_rule zero_rule,
                         int32_t history_length) {
  lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
  options.kind = LPT_SCALER_KIND_DELAYED;
  options.history_length = history_length;
  options.history_rule = history_rule;
  options.zero_rule = zero_rule;
  return create(context, options);
}

// The amax that corresponds to a scale of 1.
constexpr double kScaleOfOne = kUnit;

TEST(ScalerHistory, GivesTheLargestOrTheLatest) {
  const Context context = make_context();
  const Scaler largest =
      make_ruled_scaler(context.get(), LPT_SCALER_HISTORY_RULE_MAX, LPT_SCALER_ZERO_RULE_USE_CURRENT, 3);
  const Scaler latest =
      make_ruled_scaler(context.get(), LPT_SCALER_HISTORY_RULE_LATEST, LPT_SCALER_ZERO_RULE_USE_CURRENT, 3);
  const double amaxes[] = {2 * kUnit, 8 * kUnit, 4 * kUnit, kUnit, 2 * kUnit};
  const double largest_of_three[] = {2 * kUnit, 8 * kUnit, 8 * kUnit, 8 * kUnit, 4 * kUnit};
  for (int step = 0; step < 5; ++step) {
    for (lpt_scaler *scaler : {largest.get(), latest.get()}) {
      cast(context.get(), scaler, amaxes[step]);
      update(context.get(), scaler);
    }
    // Reads the amax that a cast uses, without a cast, which would record another amax.
    EXPECT_EQ(largest_of_three[step], static_cast<double>(read(context.get(), largest.get()).amax)) << step;
  }
  EXPECT_EQ(4 * kUnit, cast(context.get(), largest.get(), 16 * kUnit));
  EXPECT_EQ(2 * kUnit, cast(context.get(), latest.get(), 16 * kUnit));
}

// The decay is not a binary fraction: the oracle rounds each entry from double, as the documentation states.
TEST(ScalerHistory, AveragesByItsDecay) {
  const Context context = make_context();
  for (const int32_t length : {1, 3}) {
    lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
    options.kind = LPT_SCALER_KIND_DELAYED;
    options.history_length = length;
    options.history_rule = LPT_SCALER_HISTORY_RULE_AVERAGE;
    options.history_decay = 0.9f;
    const Scaler scaler = create(context.get(), options);
    float expected = 0.0f;
    for (const float amax : {8.0f, 2.0f, 64.0f, 0.0f, 1.0f}) {
      cast(context.get(), scaler.get(), static_cast<double>(amax));
      update(context.get(), scaler.get());
      const double decay = expected == 0.0f ? 0.0 : static_cast<double>(0.9f),
                   weight = static_cast<double>(1.0f - 0.9f);
      expected = static_cast<float>(decay * static_cast<double>(expected) +
                                    (decay == 0.0 ? 1.0 : weight) * static_cast<double>(amax));
      EXPECT_EQ(expected, read(context.get(), scaler.get()).amax) << amax;
    }
    const double amax = static_cast<double>(expected);
    const double power = std::exp2(std::ceil(std::log2(amax / kUnit)));
    EXPECT_EQ(power * kUnit, cast(context.get(), scaler.get(), 1000.0)) << "the average, not the amax of the tensor";
  }
}

TEST(ScalerZero, LooksAtTheTensorOrIsOneOrKeepsTheLast) {
  const Context context = make_context();
  struct Case {
    lpt_scaler_zero_rule rule;
    double at_first, after_zero;
  };
  for (const Case &c : {Case{LPT_SCALER_ZERO_RULE_USE_CURRENT, 4 * kUnit, 4 * kUnit},
                        Case{LPT_SCALER_ZERO_RULE_ONE, kScaleOfOne, kScaleOfOne},
                        Case{LPT_SCALER_ZERO_RULE_USE_LAST, kScaleOfOne, 2 * kUnit}}) {
    const Scaler scaler = make_ruled_scaler(context.get(), LPT_SCALER_HISTORY_RULE_MAX, c.rule, 1);
    EXPECT_EQ(c.at_first, cast(context.get(), scaler.get(), 4 * kUnit)) << c.rule << ": before the first update";
    update(context.get(), scaler.get());
    EXPECT_EQ(4 * kUnit, cast(context.get(), scaler.get(), 2 * kUnit)) << c.rule;
    update(context.get(), scaler.get());
    cast(context.get(), scaler.get(), 0.0);
    update(context.get(), scaler.get());
    EXPECT_EQ(c.after_zero, cast(context.get(), scaler.get(), 4 * kUnit)) << c.rule << ": after a step of zeros";
  }
}

TEST(ScalerState, HoldsTheRulesAndTheKeptAmax) {
  const Context context = make_context();
  const Scaler scaler =
      make_ruled_scaler(context.get(), LPT_SCALER_HISTORY_RULE_LATEST, LPT_SCALER_ZERO_RULE_USE_LAST, 2);
  cast(context.get(), scaler.get(), 8 * kUnit);
  update(context.get(), scaler.get());
  cast(context.get(), scaler.get(), 0.0);
  update(context.get(), scaler.get());
  size_t bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_scaler_state_size(context.get(), scaler.get(), &bytes)));
  std::vector<uint8_t> state(bytes);
  ASSERT_TRUE(ok(context.get(), lpt_scaler_state_save(context.get(), scaler.get(), state.data(), state.size())));
  const Scaler same =
      make_ruled_scaler(context.get(), LPT_SCALER_HISTORY_RULE_LATEST, LPT_SCALER_ZERO_RULE_USE_LAST, 2);
  ASSERT_TRUE(ok(context.get(), lpt_scaler_state_load(context.get(), same.get(), state.data(), state.size())));
  EXPECT_EQ(8 * kUnit, cast(context.get(), same.get(), kUnit));
  // A scaler with other rules rejects the state by name, without any change.
  const Scaler others[] = {
      make_ruled_scaler(context.get(), LPT_SCALER_HISTORY_RULE_MAX, LPT_SCALER_ZERO_RULE_USE_LAST, 2),
      make_ruled_scaler(context.get(), LPT_SCALER_HISTORY_RULE_LATEST, LPT_SCALER_ZERO_RULE_ONE, 2),
      make_scaler(context.get(), LPT_SCALER_KIND_DELAYED, 2)};
  for (const Scaler &other : others) {
    EXPECT_EQ(LPT_INVALID_STATE, lpt_scaler_state_load(context.get(), other.get(), state.data(), state.size()));
    EXPECT_EQ(0, read(context.get(), other.get()).update_count);
  }
}

}  // namespace
}  // namespace lpt::test
