// Layers on a GPU against the CPU; other tests check the CPU. Results have the same bits where docs/reference/numerics.md
// states exact, else they are within both bounds.
#include <algorithm>
#include <cmath>

#include "tests/device/support.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};

class DeviceLayers : public Devices {
 protected:
  Tensor numbers(lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    return tensor_of(cpu(), format, rows, columns, draw_normal(place, rows * columns, 2.0));
  }
  Tensor vector(int64_t count, uint64_t place) {
    return tensor_of(cpu(), LPT_FORMAT_F32, 1, count, draw_normal(place, count));
  }

  // Outputs of one shape, on CPU and GPU.
  struct Both {
    Tensor here, there;
  };
  Both both(lpt_format format, const std::vector<int64_t> &extents) {
    return {make_tensor(cpu(), format, extents), make_tensor(gpu(), format, extents)};
  }

  void expect_equal(const Both &both, const char *what) {
    EXPECT_EQ(bytes_of(cpu(), both.here.get()), bytes_on_device(both.there.get())) << what;
  }

  // Checks |difference| <= units · (2^-21 for f32, or one unit in the last place of the format).
  void expect_near(const Both &both, double unit, const char *what) {
    const lpt_format format = describe(cpu(), both.here.get()).format;
    const double share = format == LPT_FORMAT_F32 || format == LPT_FORMAT_F64 ? 0x1p-21
                         : format == LPT_FORMAT_BF16                          ? 0x1p-7
                                                                              : 0x1p-10;
    const std::vector<double> oracle = numbers_of(cpu(), both.here.get());
    const std::vector<double> found = numbers_of(cpu(), here(both.there.get()).get());
    ASSERT_EQ(oracle.size(), found.size());
    for (size_t i = 0; i < oracle.size(); ++i) {
      ASSERT_NEAR(oracle[i], found[i], share * std::max(std::fabs(oracle[i]), unit)) << what << " at " << i;
    }
  }
};

TEST_F(DeviceLayers, SwigluHasTheBitsOfTheCpu) {
  for (const lpt_format format : kFormats) {
    const Tensor gate = numbers(format, 37, 272, 1), up = numbers(format, 37, 272, 2);
    const Both output = both(format, {37, 272});
    ASSERT_TRUE(ok(cpu(), lpt_swiglu_forward(cpu(), gate.get(), up.get(), nullptr, output.here.get(), nullptr)));
    ASSERT_TRUE(ok(gpu(), lpt_swiglu_forward(gpu(), there(gate.get()).get(), there(up.get()).get(), nullptr,
                                             output.there.get(), nullptr)));
    expect_equal(output, "output");
  }
}

TEST_F(DeviceLayers, SmoothSwigluHasTheFactorsOfTheCpu) {
  lpt_swiglu_options options = LPT_SWIGLU_OPTIONS_INIT;
  options.smoothing = LPT_SWIGLU_SMOOTHING_CHANNEL;
  const Tensor gate = numbers(LPT_FORMAT_BF16, 65, 100, 3), up = numbers(LPT_FORMAT_BF16, 65, 100, 4);
  const Both output = both(LPT_FORMAT_BF16, {65, 100}), smoothing = both(LPT_FORMAT_E8M0FNU, {100});
  ASSERT_TRUE(
      ok(cpu(), lpt_swiglu_forward(cpu(), gate.get(), up.get(), &options, output.here.get(), smoothing.here.get())));
  ASSERT_TRUE(ok(gpu(), lpt_swiglu_forward(gpu(), there(gate.get()).get(), there(up.get()).get(), &options,
                                           output.there.get(), smoothing.there.get())));
  expect_equal(output, "output");
  expect_equal(smoothing, "smoothing");
}

TEST_F(DeviceLayers, SwigluGradientsHaveTheBitsOfTheCpuAlsoOfCodes) {
  for (const lpt_format stored : {LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_MXFP8_E4M3}) {
    const Tensor gate = numbers(stored, 21, 160, 5), up = numbers(stored, 21, 160, 6);
    const Tensor dy = numbers(LPT_FORMAT_BF16, 21, 160, 7);
    const Both of_gate = both(LPT_FORMAT_BF16, {21, 160}), of_up = both(LPT_FORMAT_F32, {21, 160});
    ASSERT_TRUE(ok(cpu(), lpt_swiglu_backward(cpu(), gate.get(), up.get(), dy.get(), nullptr, of_gate.here.get(),
                                              of_up.here.get())));
    ASSERT_TRUE(ok(gpu(), lpt_swiglu_backward(gpu(), there(gate.get()).get(), there(up.get()).get(),
                                              there(dy.get()).get(), nullptr, of_gate.there.get(), of_up.there.get())));
    expect_equal(of_gate, name_of(stored).c_str());
    expect_equal(of_up, name_of(stored).c_str());
  }
}

TEST_F(DeviceLayers, RmsnormIsNearTheCpu) {
  for (const lpt_format format : kFormats) {
    const Tensor input = numbers(format, 9, 272, 8), weight = vector(272, 9);
    const Both output = both(format, {9, 272}), rms = both(LPT_FORMAT_F32, {9});
    ASSERT_TRUE(
        ok(cpu(), lpt_rmsnorm_forward(cpu(), input.get(), weight.get(), nullptr, output.here.get(), rms.here.get())));
    ASSERT_TRUE(ok(gpu(), lpt_rmsnorm_forward(gpu(), there(input.get()).get(), there(weight.get()).get(), nullptr,
                                              output.there.get(), rms.there.get())));
    expect_near(output, 0, "output");
    expect_near(rms, 0, "inverse_rms");
  }
}

TEST_F(DeviceLayers, ASumHasTheBitsOfTheCpuAndItsNormIsNear) {
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_F32}) {
    const Tensor residual = numbers(format, 9, 100, 10), branch = numbers(LPT_FORMAT_BF16, 9, 100, 11);
    const Tensor weight = vector(100, 12);
    const Both sum = both(format, {9, 100}), output = both(LPT_FORMAT_F32, {9, 100});
    ASSERT_TRUE(ok(cpu(), lpt_rmsnorm_forward_sum(cpu(), residual.get(), branch.get(), weight.get(), nullptr,
                                                  sum.here.get(), output.here.get(), nullptr)));
    ASSERT_TRUE(ok(gpu(), lpt_rmsnorm_forward_sum(gpu(), there(residual.get()).get(), there(branch.get()).get(),
                                                  there(weight.get()).get(), nullptr, sum.there.get(),
                                                  output.there.get(), nullptr)));
    expect_equal(sum, "sum");
    expect_near(output, 0, "output");
  }
}

// 80 rows are two parts of the weight gradient.
TEST_F(DeviceLayers, RmsnormGradientsAreNearTheCpuAlsoOfCodes) {
  constexpr int64_t kRows = 80, kColumns = 96;
  for (const lpt_format stored : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_MXFP8_E4M3}) {
    lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
    options.is_accumulated = stored == LPT_FORMAT_BF16 ? 1 : 0;
    const Tensor input = numbers(stored, kRows, kColumns, 13), dy = numbers(LPT_FORMAT_BF16, kRows, kColumns, 14);
    const Tensor weight = vector(kColumns, 15), before = vector(kColumns, 16);
    const Tensor rms = tensor_of(cpu(), LPT_FORMAT_F32, 1, kRows, std::vector<double>(kRows, 0.5));
    const Both dx = both(LPT_FORMAT_F32, {kRows, kColumns});
    const Both dw{here(there(before.get()).get()), there(before.get())};
    ASSERT_TRUE(ok(cpu(), lpt_rmsnorm_backward(cpu(), input.get(), weight.get(), rms.get(), dy.get(), &options,
                                               dx.here.get(), dw.here.get())));
    ASSERT_TRUE(ok(
        gpu(), lpt_rmsnorm_backward(gpu(), there(input.get()).get(), there(weight.get()).get(), there(rms.get()).get(),
                                    there(dy.get()).get(), &options, dx.there.get(), dw.there.get())));
    expect_near(dx, 8, "input_gradient");
    expect_near(dw, 100, "weight_gradient");
  }
}

// More elements than one decoding step.
TEST_F(DeviceLayers, CodesAreDecodedPieceByPiece) {
  if (kIsSanitized) GTEST_SKIP() << "the same paths, for many seconds";
  constexpr int64_t kRows = 1030, kColumns = 4096;
  const Tensor codes = numbers(LPT_FORMAT_E4M3FN_1X128, kRows, kColumns, 22), codes_on_device = there(codes.get());
  const Tensor dy = numbers(LPT_FORMAT_BF16, kRows, kColumns, 23), dy_on_device = there(dy.get());
  const Both of_gate = both(LPT_FORMAT_BF16, {kRows, kColumns}), of_up = both(LPT_FORMAT_BF16, {kRows, kColumns});
  ASSERT_TRUE(ok(cpu(), lpt_swiglu_backward(cpu(), codes.get(), codes.get(), dy.get(), nullptr, of_gate.here.get(),
                                            of_up.here.get())));
  ASSERT_TRUE(ok(gpu(), lpt_swiglu_backward(gpu(), codes_on_device.get(), codes_on_device.get(), dy_on_device.get(),
                                            nullptr, of_gate.there.get(), of_up.there.get())));
  expect_equal(of_gate, "gate_gradient");
  expect_equal(of_up, "up_gradient");
  const Tensor weight = vector(kColumns, 24);
  const Tensor rms = tensor_of(cpu(), LPT_FORMAT_F32, 1, kRows, draw_normal(25, kRows));
  const Both dw = both(LPT_FORMAT_F32, {kColumns});
  ASSERT_TRUE(ok(cpu(), lpt_rmsnorm_backward(cpu(), codes.get(), weight.get(), rms.get(), dy.get(), nullptr, nullptr,
                                             dw.here.get())));
  ASSERT_TRUE(
      ok(gpu(), lpt_rmsnorm_backward(gpu(), codes_on_device.get(), there(weight.get()).get(), there(rms.get()).get(),
                                     dy_on_device.get(), nullptr, nullptr, dw.there.get())));
  expect_near(dw, 1000, "weight_gradient");
  const Tensor mean = tensor_of(cpu(), LPT_FORMAT_F32, 1, kRows, draw_normal(32, kRows));
  ASSERT_TRUE(ok(cpu(), lpt_layernorm_backward(cpu(), codes.get(), nullptr, mean.get(), rms.get(), dy.get(), nullptr,
                                               nullptr, dw.here.get(), nullptr)));
  ASSERT_TRUE(ok(gpu(), lpt_layernorm_backward(gpu(), codes_on_device.get(), nullptr, there(mean.get()).get(),
                                               there(rms.get()).get(), dy_on_device.get(), nullptr, nullptr,
                                               dw.there.get(), nullptr)));
  expect_near(dw, 1000, "weight_gradient of LayerNorm");
}

// 80 rows are two parts of the gradients of vectors.
TEST_F(DeviceLayers, LayernormIsNearTheCpuThereAndBackAlsoOfCodes) {
  constexpr int64_t kRows = 80, kColumns = 96;
  for (const lpt_format stored : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_MXFP8_E4M3}) {
    const Tensor input = numbers(stored == LPT_FORMAT_F32 ? LPT_FORMAT_F32 : LPT_FORMAT_BF16, kRows, kColumns, 28);
    const Tensor dy = numbers(LPT_FORMAT_BF16, kRows, kColumns, 29), weight = vector(kColumns, 30);
    const Tensor bias = vector(kColumns, 31), saved = numbers(stored, kRows, kColumns, 28);
    const bool has_weight = stored != LPT_FORMAT_BF16;
    const Tensor gpu_weight = there(weight.get()), gpu_bias = there(bias.get());
    const Both y = both(LPT_FORMAT_F32, {kRows, kColumns}), mean = both(LPT_FORMAT_F32, {kRows});
    const Both inverse = both(LPT_FORMAT_F32, {kRows}), dx = both(LPT_FORMAT_F32, {kRows, kColumns});
    const Both dw = both(LPT_FORMAT_F32, {kColumns}), db = both(LPT_FORMAT_F32, {kColumns});
    ASSERT_TRUE(ok(cpu(), lpt_layernorm_forward(cpu(), input.get(), has_weight ? weight.get() : nullptr, bias.get(),
                                                nullptr, y.here.get(), mean.here.get(), inverse.here.get())));
    ASSERT_TRUE(ok(
        gpu(), lpt_layernorm_forward(gpu(), there(input.get()).get(), has_weight ? gpu_weight.get() : nullptr,
                                     gpu_bias.get(), nullptr, y.there.get(), mean.there.get(), inverse.there.get())));
    expect_near(y, 1, "output");
    expect_near(mean, 1, "mean");
    expect_near(inverse, 0, "inverse_deviation");
    ASSERT_TRUE(ok(cpu(), lpt_layernorm_backward(cpu(), saved.get(), has_weight ? weight.get() : nullptr,
                                                 mean.here.get(), inverse.here.get(), dy.get(), nullptr, dx.here.get(),
                                                 dw.here.get(), db.here.get())));
    ASSERT_TRUE(ok(
        gpu(), lpt_layernorm_backward(gpu(), there(saved.get()).get(), has_weight ? gpu_weight.get() : nullptr,
                                      there(mean.here.get()).get(), there(inverse.here.get()).get(),
                                      there(dy.get()).get(), nullptr, dx.there.get(), dw.there.get(), db.there.get())));
    expect_near(dx, 8, "input_gradient");
    expect_near(dw, 100, "weight_gradient");
    expect_near(db, 100, "bias_gradient");
  }
}

// Heads of a batch as a view of their memory, with positions in CPU memory, in GPU memory, and counted.
TEST_F(DeviceLayers, RotaryHasTheBitsOfTheCpu) {
  const auto as_heads = [](lpt_context *c, const Tensor &memory) {
    return with_axes(c, memory, {2, 3, 5, 40}, {600, 40, 120, 1});
  };
  const std::vector<int64_t> in_order = {4, 0, 90000, -7, 1};
  std::vector<int64_t> memory = in_order;
  set_variable("LPT_TEST_LATE", "1");
  const Tensor positions = indices_of(cpu(), memory), gpu_positions = there(positions.get());
  const Both frequencies = both(LPT_FORMAT_F64, {18});
  ASSERT_TRUE(ok(cpu(), lpt_rotary_frequencies(cpu(), nullptr, frequencies.here.get())));
  ASSERT_TRUE(ok(gpu(), lpt_rotary_frequencies(gpu(), nullptr, frequencies.there.get())));
  expect_equal(frequencies, "frequencies");
  for (const lpt_format format : kFormats) {
    for (const lpt_rotary_layout layout : {LPT_ROTARY_LAYOUT_HALVES, LPT_ROTARY_LAYOUT_INTERLEAVED}) {
      const Tensor x = numbers(format, 30, 40, 27), x_on_device = there(x.get());
      for (const lpt_tensor *given : {positions.get(), gpu_positions.get(), static_cast<lpt_tensor *>(nullptr)}) {
        lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
        options.layout = layout;
        options.first_position = 12;
        const Both output = both(LPT_FORMAT_F32, {30, 40});
        options.positions = given == nullptr ? nullptr : positions.get();
        ASSERT_TRUE(ok(cpu(), lpt_rotary(cpu(), as_heads(cpu(), x).get(), frequencies.here.get(), &options,
                                         as_heads(cpu(), output.here).get())));
        options.positions = given;
        ASSERT_TRUE(ok(gpu(), lpt_rotary(gpu(), as_heads(gpu(), x_on_device).get(), frequencies.there.get(), &options,
                                         as_heads(gpu(), output.there).get())));
        std::fill(memory.begin(), memory.end(), 77);  // the call has read them already
        expect_equal(output, "output");
        std::copy(in_order.begin(), in_order.end(), memory.begin());
      }
    }
  }
  set_variable("LPT_TEST_LATE", nullptr);
}

TEST_F(DeviceLayers, SoftmaxIsNearTheCpuThereAndBack) {
  lpt_softmax_options options = LPT_SOFTMAX_OPTIONS_INIT;
  options.scale = 0.7;
  for (const int32_t is_causal : {0, 1}) {
    options.is_causal = is_causal;
    const Tensor input = numbers(LPT_FORMAT_F32, 20, 24, 17), dy = numbers(LPT_FORMAT_F32, 20, 24, 18);
    const Both output = both(LPT_FORMAT_F32, {20, 24}), dx = both(LPT_FORMAT_F32, {20, 24});
    ASSERT_TRUE(ok(cpu(), lpt_softmax_forward(cpu(), input.get(), &options, output.here.get())));
    ASSERT_TRUE(ok(gpu(), lpt_softmax_forward(gpu(), there(input.get()).get(), &options, output.there.get())));
    expect_near(output, 0, "output");
    ASSERT_TRUE(ok(cpu(), lpt_softmax_backward(cpu(), output.here.get(), dy.get(), &options, dx.here.get())));
    ASSERT_TRUE(ok(gpu(), lpt_softmax_backward(gpu(), there(output.here.get()).get(), there(dy.get()).get(), &options,
                                               dx.there.get())));
    expect_near(dx, 1, "input_gradient");
  }
}

TEST_F(DeviceLayers, SoftmaxOfLevelsHasTheBitsOfTheCpu) {
  lpt_exaq_options options = LPT_EXAQ_OPTIONS_INIT;
  options.is_causal = 1;
  options.clip = -3.5;
  for (const int32_t bits : {2, 3, 4}) {
    options.bits = bits;
    const Tensor input = numbers(LPT_FORMAT_BF16, 20, 24, 26);
    const Both output = both(LPT_FORMAT_F32, {20, 24});
    ASSERT_TRUE(ok(cpu(), lpt_exaq_softmax_forward(cpu(), input.get(), &options, output.here.get())));
    ASSERT_TRUE(ok(gpu(), lpt_exaq_softmax_forward(gpu(), there(input.get()).get(), &options, output.there.get())));
    expect_equal(output, "output");
  }
}

// Six classes; the third row is ignored. Tests the loss of every row, the sum and the mean, with targets on GPU and CPU.
TEST_F(DeviceLayers, CrossEntropyIsNearTheCpuThereAndBack) {
  const Tensor targets = indices_of(cpu(), {0, 5, -7, 3, 2});
  const int32_t narrow[] = {0, 5, -7, 3, 2};
  const Tensor gpu_targets = there(wrap(cpu(), LPT_FORMAT_INT32, narrow, 1, 5).get());
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.ignored_target = -7;
  for (const lpt_loss_reduction reduction :
       {LPT_LOSS_REDUCTION_MEAN, LPT_LOSS_REDUCTION_SUM, LPT_LOSS_REDUCTION_NONE}) {
    options.reduction = reduction;
    options.label_smoothing = reduction == LPT_LOSS_REDUCTION_SUM ? 0.1 : 0.0;
    const lpt_format precision = reduction == LPT_LOSS_REDUCTION_MEAN ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
    const int64_t count = reduction == LPT_LOSS_REDUCTION_NONE ? 5 : 1;
    const Tensor logits = numbers(LPT_FORMAT_BF16, 5, 6, 19), factors = vector(count, 20);
    for (const lpt_tensor *given_targets : {targets.get(), gpu_targets.get()}) {
      const Both loss = both(precision, {count}), logs = both(LPT_FORMAT_F64, {5}), dx = both(LPT_FORMAT_F32, {5, 6});
      ASSERT_TRUE(ok(cpu(), lpt_cross_entropy_forward(cpu(), logits.get(), targets.get(), &options, loss.here.get(),
                                                      logs.here.get())));
      ASSERT_TRUE(ok(gpu(), lpt_cross_entropy_forward(gpu(), there(logits.get()).get(), given_targets, &options,
                                                      loss.there.get(), logs.there.get())));
      expect_near(loss, 0, "loss");
      expect_near(logs, 0, "log_sums");
      const lpt_tensor *const given = reduction == LPT_LOSS_REDUCTION_SUM ? nullptr : factors.get();
      const Tensor given_on_device = there(factors.get());
      ASSERT_TRUE(ok(cpu(), lpt_cross_entropy_backward(cpu(), logits.get(), targets.get(), logs.here.get(), given,
                                                       &options, dx.here.get())));
      ASSERT_TRUE(ok(gpu(), lpt_cross_entropy_backward(
                                gpu(), there(logits.get()).get(), given_targets, there(logs.here.get()).get(),
                                given == nullptr ? nullptr : given_on_device.get(), &options, dx.there.get())));
      expect_near(dx, 1, "logits_gradient");
    }
  }
}

TEST_F(DeviceLayers, CrossEntropyRejectsTargetsOfTheCpuThatAreNoClass) {
  const Tensor logits = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64), loss = make_tensor(gpu(), LPT_FORMAT_F32, {1});
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_cross_entropy_forward(gpu(), logits.get(), indices_of(cpu(), {0, 1, 64, 2}).get(),
                                                            nullptr, loss.get(), nullptr));
  expect_words({"targets[2] is 64", "0 to 63"}, lpt_context_error(gpu()));
}

// The host does not read the targets: rows with invalid targets are NaN, and no other row.
TEST_F(DeviceLayers, CrossEntropyGivesNanForTargetsOfTheGpuThatAreNoClass) {
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.reduction = LPT_LOSS_REDUCTION_NONE;
  const Tensor targets = there(indices_of(cpu(), {0, 64, -1, -2}).get());
  const Tensor logits = there(numbers(LPT_FORMAT_F32, 4, 64, 21).get());
  const Tensor loss = make_tensor(gpu(), LPT_FORMAT_F32, {4}), logs = make_tensor(gpu(), LPT_FORMAT_F64, {4});
  const Tensor dx = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64);
  ASSERT_TRUE(
      ok(gpu(), lpt_cross_entropy_forward(gpu(), logits.get(), targets.get(), &options, loss.get(), logs.get())));
  ASSERT_TRUE(ok(
      gpu(), lpt_cross_entropy_backward(gpu(), logits.get(), targets.get(), logs.get(), nullptr, &options, dx.get())));
  const std::vector<double> losses = numbers_of(cpu(), here(loss.get()).get());
  const std::vector<double> gradient = numbers_of(cpu(), here(dx.get()).get());
  const bool is_nan[] = {false, true, false, true};
  for (size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(is_nan[row], std::isnan(losses[row])) << row;
    for (size_t c = 0; c < 64; ++c) EXPECT_EQ(is_nan[row], std::isnan(gradient[row * 64 + c])) << row << ", " << c;
  }
  EXPECT_EQ(0.0, losses[2]);
}

// Grouped heads in bf16, with a window, key lengths and a mask that heads share: GEMMs of the device have another order of
// sums.
TEST_F(DeviceLayers, AttentionIsNearTheCpuThereAndBack) {
  const auto any = [&](const std::vector<int64_t> &extents, uint64_t place) {
    int64_t count = 1;
    for (const int64_t extent : extents) count *= extent;
    Tensor tensor = make_tensor(cpu(), LPT_FORMAT_BF16, extents);
    const std::vector<double> drawn = draw_normal(place, count);
    const Tensor numbers = wrap(cpu(), drawn, count / extents.back(), extents.back());
    const Tensor rows =
        wrap(cpu(), LPT_FORMAT_BF16, lpt_tensor_data(tensor.get()), count / extents.back(), extents.back());
    EXPECT_TRUE(ok(cpu(), lpt_quantize(cpu(), numbers.get(), nullptr, rows.get(), nullptr)));
    return tensor;
  };
  lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
  options.is_causal = 1;
  options.window = 20;
  const Tensor lengths = indices_of(cpu(), {27, 32});
  options.key_lengths = lengths.get();
  const std::vector<int64_t> queries = {2, 4, 24, 16}, keys = {2, 2, 32, 16};
  const Tensor mask = any({2, 1, 24, 32}, 35), there_mask = there(mask.get());
  const Both log_sums = both(LPT_FORMAT_F32, {2, 4, 24});
  lpt_attention_options there_options = options;
  options.mask = mask.get();
  options.log_sum_exp = log_sums.here.get();
  there_options.mask = there_mask.get();
  there_options.log_sum_exp = log_sums.there.get();
  const Tensor query = any(queries, 31), key = any(keys, 32), value = any(keys, 33), gradient = any(queries, 34);
  const Tensor there_query = there(query.get()), there_key = there(key.get()), there_value = there(value.get());
  const Both output = both(LPT_FORMAT_F32, queries), dq = both(LPT_FORMAT_F32, queries),
             dk = both(LPT_FORMAT_BF16, keys), dv = both(LPT_FORMAT_F32, keys);
  ASSERT_TRUE(
      ok(cpu(), lpt_attention_forward(cpu(), query.get(), key.get(), value.get(), &options, output.here.get())));
  ASSERT_TRUE(ok(gpu(), lpt_attention_forward(gpu(), there_query.get(), there_key.get(), there_value.get(),
                                              &there_options, output.there.get())));
  options.log_sum_exp = there_options.log_sum_exp = nullptr;
  ASSERT_TRUE(ok(cpu(), lpt_attention_backward(cpu(), query.get(), key.get(), value.get(), gradient.get(), &options,
                                               dq.here.get(), dk.here.get(), dv.here.get())));
  ASSERT_TRUE(ok(gpu(), lpt_attention_backward(gpu(), there_query.get(), there_key.get(), there_value.get(),
                                               there(gradient.get()).get(), &there_options, dq.there.get(),
                                               dk.there.get(), dv.there.get())));
  const auto compare = [&](const Both &found, const char *what) {
    const std::vector<double> oracle = numbers_of(cpu(), found.here.get());
    const std::vector<double> numbers = numbers_of(cpu(), here(found.there.get()).get());
    ASSERT_EQ(oracle.size(), numbers.size());
    for (size_t i = 0; i < oracle.size(); ++i) {
      // Both sides round probabilities and score gradients to bf16.
      ASSERT_NEAR(oracle[i], numbers[i], 0.02 * (1 + std::fabs(oracle[i]))) << what << " " << i;
    }
  };
  compare(output, "output");
  compare(log_sums, "log_sum_exp");
  compare(dq, "query_gradient");
  compare(dk, "key_gradient");
  compare(dv, "value_gradient");
}

// Indices in both memories; the format of the table may differ from that of the rows.
TEST_F(DeviceLayers, EmbeddingsHaveTheBitsOfTheCpu) {
  const Tensor indices = indices_of(cpu(), {2, 0, 2, 5, 1}), indices_on_device = there(indices.get());
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    const Tensor table = numbers(format, 6, 40, 27), rows = numbers(format, 5, 40, 28);
    for (const lpt_tensor *given : {indices.get(), indices_on_device.get()}) {
      const Both output = both(LPT_FORMAT_BF16, {5, 40}), gradient = both(LPT_FORMAT_F32, {6, 40});
      ASSERT_TRUE(ok(cpu(), lpt_embedding_forward(cpu(), table.get(), indices.get(), nullptr, output.here.get())));
      ASSERT_TRUE(
          ok(gpu(), lpt_embedding_forward(gpu(), there(table.get()).get(), given, nullptr, output.there.get())));
      expect_equal(output, "output");
      lpt_embedding_options options = LPT_EMBEDDING_OPTIONS_INIT;
      options.padding_index = 5;
      ASSERT_TRUE(ok(cpu(), lpt_embedding_backward(cpu(), indices.get(), rows.get(), &options, gradient.here.get())));
      ASSERT_TRUE(
          ok(gpu(), lpt_embedding_backward(gpu(), given, there(rows.get()).get(), &options, gradient.there.get())));
      expect_equal(gradient, "weight_gradient");
    }
  }
}

TEST_F(DeviceLayers, EmbeddingsCheckIndicesOfTheCpuAlone) {
  const Tensor table = there(numbers(LPT_FORMAT_F32, 6, 40, 29).get()),
               output = make_tensor(gpu(), LPT_FORMAT_F32, 2, 40);
  const Tensor indices = indices_of(cpu(), {1, 6});
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_embedding_forward(gpu(), table.get(), indices.get(), nullptr, output.get()));
  expect_words({"indices[1] is 6", "0 to 5"}, lpt_context_error(gpu()));
  ASSERT_TRUE(ok(gpu(), lpt_embedding_forward(gpu(), table.get(), there(indices.get()).get(), nullptr, output.get())));
  const std::vector<double> found = numbers_of(cpu(), here(output.get()).get());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(i >= 40, std::isnan(found[i])) << i;
}

// Only the rows of private columns.
TEST_F(DeviceLayers, WeightsOfPrivateColumnsAreScaledWithTheBitsOfTheCpu) {
  lpt_partial_plan_options options = LPT_PARTIAL_PLAN_OPTIONS_INIT;
  options.hidden_columns = 24;
  options.shared_columns = 12;
  options.rank_count = 3;
  lpt_partial_plan *plan = nullptr;
  ASSERT_TRUE(ok(cpu(), lpt_partial_plan_create(cpu(), &options, &plan)));
  const Tensor weight = numbers(LPT_FORMAT_BF16, 24, 37, 21);
  const Both both{here(there(weight.get()).get()), there(weight.get())};
  EXPECT_TRUE(ok(cpu(), lpt_partial_scale_weight(cpu(), plan, both.here.get())));
  EXPECT_TRUE(ok(gpu(), lpt_partial_scale_weight(gpu(), plan, both.there.get())));
  expect_equal(both, "weight");
  EXPECT_NE(bytes_of(cpu(), weight.get()), bytes_on_device(both.there.get()));
  lpt_partial_plan_destroy(plan);
}

TEST_F(DeviceLayers, TellTheRowsThatWouldRun) {
  lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
  options.flags = LPT_CHECK_ONLY;
  const Tensor input = make_tensor(gpu(), LPT_FORMAT_MXFP8_E4M3, 4, 64),
               matrix = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64);
  const Tensor gradient = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64), weight = make_tensor(gpu(), LPT_FORMAT_F32, {64});
  const Tensor rms = make_tensor(gpu(), LPT_FORMAT_F32, {4}), sums = make_tensor(gpu(), LPT_FORMAT_F32, {64});
  ASSERT_TRUE(ok(gpu(), lpt_rmsnorm_backward(gpu(), input.get(), weight.get(), rms.get(), matrix.get(), &options,
                                             gradient.get(), sums.get())));
  expect_words({"dequantize: dequantize_fragments_cuda", "rmsnorm_backward: rmsnorm_backward_cuda",
                "gradient_parts: gradient_parts_cuda", "gradient_sum: gradient_sum_cuda"},
               lpt_context_explanation(gpu()));
}

TEST_F(DeviceLayers, RejectDoublesAndTensorsOfTheCpu) {
  const Tensor wide = make_tensor(gpu(), LPT_FORMAT_F64, 4, 64), output = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_softmax_forward(gpu(), wide.get(), nullptr, output.get()));
  expect_words({"softmax_forward: no kernel takes f64, f32 on cuda:0", "takes f32, bf16 and f16 only"},
               lpt_context_error(gpu()));
  const Tensor input = make_tensor(gpu(), LPT_FORMAT_F32, 4, 64), weight = make_tensor(cpu(), LPT_FORMAT_F32, {64});
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_rmsnorm_forward(gpu(), input.get(), weight.get(), nullptr, output.get(), nullptr));
  expect_words({"weight is", "on cpu", "expected cuda:0"}, lpt_context_error(gpu()));
}

}  // namespace
}  // namespace lpt::test
