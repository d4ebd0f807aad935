// Scalers on a GPU: casts, values and saved state equal those of the CPU.
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

struct Kind {
  lpt_scaler_kind kind;
  int32_t length, margin;
  lpt_scaler_history_rule history = LPT_SCALER_HISTORY_RULE_MAX;
  lpt_scaler_zero_rule zero = LPT_SCALER_ZERO_RULE_USE_CURRENT;
  float decay = 0.0f;
};

constexpr Kind kKinds[] = {
    {LPT_SCALER_KIND_CURRENT, 1, 0},
    {LPT_SCALER_KIND_CURRENT, 3, 2},
    {LPT_SCALER_KIND_DELAYED, 4, 0},
    {LPT_SCALER_KIND_DELAYED, 1000, -1},
    {LPT_SCALER_KIND_DELAYED, 2, 0, LPT_SCALER_HISTORY_RULE_LATEST, LPT_SCALER_ZERO_RULE_ONE},
    {LPT_SCALER_KIND_DELAYED, 1, 1, LPT_SCALER_HISTORY_RULE_MAX, LPT_SCALER_ZERO_RULE_USE_LAST},
    {LPT_SCALER_KIND_DELAYED, 40, 64, LPT_SCALER_HISTORY_RULE_LATEST, LPT_SCALER_ZERO_RULE_USE_CURRENT},
    {LPT_SCALER_KIND_DELAYED, 1, 0, LPT_SCALER_HISTORY_RULE_AVERAGE, LPT_SCALER_ZERO_RULE_USE_CURRENT, 0.9f},
    {LPT_SCALER_KIND_DELAYED, 40, 0, LPT_SCALER_HISTORY_RULE_AVERAGE, LPT_SCALER_ZERO_RULE_USE_LAST, 0.3f}};

// Standard deviations of the cast values, by step; 0: zeros.
constexpr double kSigmas[] = {1.0, 0.0, 0.0, 0.0, 3.0, 0.25, 0.0, 40.0};

class DeviceScalers : public Devices {
 protected:
  void make(const Kind &kind) {
    lpt_scaler_options options = LPT_SCALER_OPTIONS_INIT;
    options.kind = kind.kind;
    options.history_length = kind.length;
    options.margin = kind.margin;
    options.history_rule = kind.history;
    options.zero_rule = kind.zero;
    options.history_decay = kind.decay;
    ASSERT_TRUE(ok(cpu(), lpt_scaler_create(cpu(), &options, out(here_))));
    ASSERT_TRUE(ok(gpu(), lpt_scaler_create(gpu(), &options, out(there_))));
  }

  // Casts the same values on both devices.
  void cast(double sigma, uint64_t place, bool is_transposed = false, uint64_t flags = 0) {
    const Tensor source = tensor_of(cpu(), LPT_FORMAT_BF16, 5, 70, draw_normal(place, 5 * 70, sigma));
    const int64_t rows = is_transposed ? 70 : 5, columns = is_transposed ? 5 : 70;
    const Tensor expected = make_tensor(cpu(), LPT_FORMAT_E4M3FN_TENSOR, rows, columns);
    const Tensor found = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, rows, columns);
    quantize(cpu(), here_.get(), source.get(), is_transposed, flags, expected.get());
    quantize(gpu(), there_.get(), there(source.get()).get(), is_transposed, flags, found.get());
    EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get())) << "place " << place;
  }

  static void quantize(lpt_context *context, lpt_scaler *scaler, const lpt_tensor *source, bool is_transposed,
                       uint64_t flags, lpt_tensor *target) {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scaler = scaler;
    options.flags = flags;
    ASSERT_TRUE(ok(context, lpt_quantize(context, source, &options, is_transposed ? nullptr : target,
                                         is_transposed ? target : nullptr)));
  }

  void update() {
    lpt_scaler *const here[] = {here_.get()}, *const there[] = {there_.get()};
    ASSERT_TRUE(ok(cpu(), lpt_scaler_update(cpu(), here, 1)));
    ASSERT_TRUE(ok(gpu(), lpt_scaler_update(gpu(), there, 1)));
  }

  std::vector<uint8_t> saved(lpt_context *context, const Scaler &scaler) {
    size_t bytes = 0;
    EXPECT_TRUE(ok(context, lpt_scaler_state_size(context, scaler.get(), &bytes)));
    std::vector<uint8_t> state(bytes);
    EXPECT_TRUE(ok(context, lpt_scaler_state_save(context, scaler.get(), state.data(), bytes)));
    return state;
  }

  void expect_equal(const std::string &what) {
    EXPECT_EQ(saved(cpu(), here_), saved(gpu(), there_)) << what;
    lpt_scaler_info expected = LPT_SCALER_INFO_INIT, found = LPT_SCALER_INFO_INIT;
    ASSERT_TRUE(ok(cpu(), lpt_scaler_read(cpu(), here_.get(), &expected)));
    ASSERT_TRUE(ok(gpu(), lpt_scaler_read(gpu(), there_.get(), &found)));
    EXPECT_EQ(expected.amax, found.amax) << what;
    EXPECT_EQ(expected.running_amax, found.running_amax) << what;
    EXPECT_EQ(expected.update_count, found.update_count) << what;
  }

  Scaler here_, there_;
};

TEST_F(DeviceScalers, GiveTheScalesOfTheCpu) {
  for (const Kind &kind : kKinds) {
    make(kind);
    for (size_t i = 0; i < std::size(kSigmas); ++i) {
      cast(kSigmas[i], i);
      cast(kSigmas[i] / 2, 100 + i, i % 2 == 1);
      expect_equal("before update " + std::to_string(i));
      update();
      expect_equal("after it");
    }
    update();  // without a cast, nothing changes
    expect_equal("an update of nothing");
  }
}

TEST_F(DeviceScalers, FindAnAmaxWhereTheScaleIsFixed) {
  make(kKinds[2]);
  const Tensor source = tensor_of(cpu(), LPT_FORMAT_F32, 3, 33, draw_normal(7, 99, 5.0)), sent = there(source.get());
  const Tensor expected = make_tensor(cpu(), LPT_FORMAT_E5M2_TENSOR, 3, 33);
  const Tensor found = make_tensor(gpu(), LPT_FORMAT_E5M2_TENSOR, 3, 33);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scale_rule = LPT_SCALE_RULE_FIXED;
  options.scaler = here_.get();
  ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), source.get(), &options, expected.get(), nullptr)));
  options.scaler = there_.get();
  ASSERT_TRUE(ok(gpu(), lpt_quantize(gpu(), sent.get(), &options, found.get(), nullptr)));
  EXPECT_EQ(bytes_of(cpu(), expected.get()), bytes_on_device(found.get()));
  expect_equal("a fixed scale");
}

TEST_F(DeviceScalers, AreNotMovedByACheck) {
  make(kKinds[2]);
  const Tensor source = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64);
  const Tensor target = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, 4, 64);
  const std::vector<uint8_t> before = saved(gpu(), there_);
  quantize(gpu(), there_.get(), source.get(), false, LPT_CHECK_ONLY, target.get());
  expect_words(
      {"conditional_amax: conditional_amax_cuda", "scaler_amax: scaler_amax_cuda", "tensor_scale: tensor_scale_cuda"},
      lpt_context_explanation(gpu()));
  EXPECT_EQ(before, saved(gpu(), there_));
}

TEST_F(DeviceScalers, StateMovesBetweenDevices) {
  for (const Kind &kind : kKinds) {
    make(kind);
    for (size_t i = 0; i < 3; ++i) {
      cast(kSigmas[i], i);
      update();
    }
    cast(2.0, 9);
    const std::vector<uint8_t> state = saved(gpu(), there_), other = saved(cpu(), here_);
    make(kind);
    ASSERT_TRUE(ok(cpu(), lpt_scaler_state_load(cpu(), here_.get(), state.data(), state.size())));
    ASSERT_TRUE(ok(gpu(), lpt_scaler_state_load(gpu(), there_.get(), other.data(), other.size())));
    cast(0.5, 10);
    update();
    expect_equal("after a load");
  }
}

TEST_F(DeviceScalers, ServeTheirDeviceAlone) {
  make(kKinds[0]);
  const Tensor source = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64);
  const Tensor target = make_tensor(gpu(), LPT_FORMAT_E4M3FN_TENSOR, 4, 64);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.scaler = here_.get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(gpu(), source.get(), &options, target.get(), nullptr));
  expect_words({"scaler keeps its history on cpu", "cuda:0"}, lpt_context_error(gpu()));
  lpt_scaler *const there[] = {there_.get()};
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_scaler_update(cpu(), there, 1));
  expect_words({"scalers[0] keeps its history on cuda:0", "cpu"}, lpt_context_error(cpu()));
}

}  // namespace
}  // namespace lpt::test
