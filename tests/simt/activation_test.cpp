// CUDA layers on the CPU against the reference kernels: SwiGLU and the epilogue of a GEMM bit for bit, RMSNorm and softmax
// within the error of another order of an f64 sum.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/activation/cuda/cuda_kernels.hpp"
#include "src/base/status.hpp"
#include "tests/simt/device_kernels.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/kernels.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16};
constexpr int64_t kColumns[] = {1, 15, 16, 17, 40, 130, 4096, 4100};

struct Extents {
  int64_t rows, columns;
};

Extents any_extents(Random &random) { return {1 + random.below(3), random.of(kColumns)}; }

// Returns a matrix of any format, with rows aligned to 16 bytes or not.
Matrix any_matrix(Random &random, Extents e) {
  const int64_t padding = random.chance(0.5) ? (16 - e.columns % 16) % 16 : random.below(5);
  return Matrix(random.of(kFormats), e.rows, e.columns, padding, random.chance(0.5) ? 0 : 4);
}

Matrix like(Matrix &other) {
  return Matrix(other.format().id, other.rows(), other.columns(), other.view().row_stride - other.columns());
}

std::string text_of(Extents e, Values values) {
  return text("%lldx%lld %s", static_cast<long long>(e.rows), static_cast<long long>(e.columns), name_of(values));
}

TEST(SimtSwiglu, ForwardEqualsTheReference) {
  Random random(81);
  for (int i = 0; i < (kIsSanitized ? 16 : 64); ++i) {
    const Values values = kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)];
    const Extents e = any_extents(random);
    Matrix gate = any_matrix(random, e), up = any_matrix(random, e), found = any_matrix(random, e);
    Matrix oracle = like(found);
    gate.fill(random, values);
    up.fill(random, values);
    std::vector<float> found_amax(static_cast<std::size_t>(e.columns), 0.5f), expected_amax = found_amax;
    const bool wants_amax = random.chance(0.5);
    SwigluForwardRequest request = {gate.view(), up.view(), found.view(), wants_amax ? found_amax.data() : nullptr};
    ASSERT_EQ(swiglu_forward_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    swiglu_forward_device_kernels().front().queue(request, nullptr);
    request.output = oracle.view();
    request.column_amax = wants_amax ? expected_amax.data() : nullptr;
    reference_of(swiglu_forward_kernels()).run(request);
    EXPECT_TRUE(found.is_intact() && found.data.equals(oracle.data)) << text_of(e, values);
    EXPECT_EQ(found_amax, expected_amax) << text_of(e, values);
  }
}

TEST(SimtSwiglu, BackwardEqualsTheReference) {
  Random random(82);
  for (int i = 0; i < (kIsSanitized ? 16 : 48); ++i) {
    const Values values = kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)];
    const Extents e = any_extents(random);
    Matrix gate = any_matrix(random, e), up = any_matrix(random, e), dy = any_matrix(random, e);
    Matrix of_gate = any_matrix(random, e), of_up = any_matrix(random, e);
    Matrix expected_gate = like(of_gate), expected_up = like(of_up);
    for (Matrix *matrix : {&gate, &up, &dy}) matrix->fill(random, values);
    SwigluBackwardRequest request = {gate.view(), up.view(), dy.view(), of_gate.view(), of_up.view()};
    ASSERT_EQ(swiglu_backward_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    swiglu_backward_device_kernels().front().queue(request, nullptr);
    request.gate_gradient = expected_gate.view();
    request.up_gradient = expected_up.view();
    reference_of(swiglu_backward_kernels()).run(request);
    EXPECT_TRUE(of_gate.is_intact() && of_gate.data.equals(expected_gate.data)) << text_of(e, values);
    EXPECT_TRUE(of_up.is_intact() && of_up.data.equals(expected_up.data)) << text_of(e, values);
  }
}

constexpr lpt_activation kActivations[] = {LPT_ACTIVATION_NONE, LPT_ACTIVATION_GELU, LPT_ACTIVATION_GELU_TANH,
                                           LPT_ACTIVATION_SILU, LPT_ACTIVATION_SWIGLU};

// c is another matrix, the sums, or the residual.
TEST(SimtFinish, EqualsTheReference) {
  Random random(84);
  for (int i = 0; i < (kIsSanitized ? 30 : 150); ++i) {
    const lpt_activation activation = kActivations[static_cast<std::size_t>(i) % std::size(kActivations)];
    const Values values = kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)];
    const Extents e = any_extents(random);
    const int64_t widths = activation == LPT_ACTIVATION_SWIGLU ? 2 : 1, padding = random.below(5);
    Matrix x(LPT_FORMAT_F32, e.rows, widths * e.columns, padding, random.chance(0.5) ? 0 : 4);
    Matrix residual = any_matrix(random, e), found = any_matrix(random, e), oracle = like(found);
    x.fill(random, values);
    residual.fill(random, values);
    found.fill(random, values);
    EpilogueRequest request{};
    request.x = reinterpret_cast<const float *>(x.data.data());
    request.x_stride = x.view().row_stride;
    request.rows = e.rows;
    request.columns = e.columns;
    request.activation = activation;
    const bool is_residual_c = random.chance(0.25);
    if (is_residual_c || random.chance(0.5)) request.residual = is_residual_c ? found.view() : residual.view();
    const bool is_x_c = !is_residual_c && widths == 1 && random.chance(0.25);
    request.out = oracle.view();
    Matrix there(LPT_FORMAT_F32, e.rows, e.columns, padding);
    if (is_x_c) request.out = there.view();
    reference_of(epilogue_kernels()).run(request);
    request.out = is_x_c ? x.view() : found.view();
    ASSERT_EQ(epilogue_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    epilogue_device_kernels().front().queue(request, nullptr);
    const bool is_equal = is_x_c ? x.data.equals(there.data) : found.data.equals(oracle.data);
    EXPECT_TRUE(is_equal && found.is_intact() && x.is_intact()) << activation << ": " << text_of(e, values);
  }
}

// The f64 sums of both kernels round to the same f32 or to adjacent values. Products with it, and their rounding to the output,
// propagate the difference: two units of f32 and one of the output.
void expect_close(const Matrix &found, const Matrix &oracle, const std::string &where) {
  const int bits = found.format().id == LPT_FORMAT_F32 ? 23 : found.format().id == LPT_FORMAT_BF16 ? 7 : 10;
  const float share = bits == 23 ? 0x1p-21f : std::ldexp(1.0f, -bits);
  const float least = bits == 10 ? 0x1p-24f : bits == 7 ? 0x1p-133f : 0x1p-148f;
  EXPECT_TRUE(found.is_intact()) << where;
  for (int64_t row = 0; row < found.rows(); ++row) {
    for (int64_t column = 0; column < found.columns(); ++column) {
      const float a = found.get(row, column), b = oracle.get(row, column);
      if (std::isnan(a) && std::isnan(b)) continue;
      if (a == b) continue;
      ASSERT_LE(std::fabs(a - b), share * std::fabs(b) + least) << where << " at " << row << ", " << column;
    }
  }
}

constexpr Values kInRange[] = {Values::kNormal, Values::kOutliers, Values::kZeroRuns, Values::kSpecials, Values::kTies};

TEST(SimtRmsnorm, ForwardIsCloseToTheReference) {
  Random random(83);
  for (int i = 0; i < (kIsSanitized ? 10 : 40); ++i) {
    const Values values = kInRange[static_cast<std::size_t>(i) % std::size(kInRange)];
    Extents e = any_extents(random);
    if (i == 7) e.columns = 0;
    Matrix input = any_matrix(random, e), found = any_matrix(random, e);
    Matrix oracle = like(found), weight(LPT_FORMAT_F32, 1, e.columns, 0, random.chance(0.5) ? 0 : 4);
    input.fill(random, values);
    weight.fill(random, Values::kNormal);
    Matrix found_rms(LPT_FORMAT_F32, 1, e.rows), expected_rms(LPT_FORMAT_F32, 1, e.rows);
    RmsnormForwardRequest request = {
        input.view(), weight.data.data(), found.view(), found_rms.data.data(), random.chance(0.5) ? 0.0 : 1e-5, false};
    ASSERT_EQ(rmsnorm_forward_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    rmsnorm_forward_device_kernels().front().queue(request, nullptr);
    request.output = oracle.view();
    request.inverse_rms = expected_rms.data.data();
    reference_of(rmsnorm_forward_kernels()).run(request);
    expect_close(found, oracle, text_of(e, values));
    expect_close(found_rms, expected_rms, text_of(e, values) + ": inverse rms");
  }
}

TEST(SimtSoftmax, ForwardIsCloseToTheReference) {
  Random random(84);
  for (int i = 0; i < (kIsSanitized ? 10 : 50); ++i) {
    const Values values = kInRange[static_cast<std::size_t>(i) % std::size(kInRange)];
    Extents e = any_extents(random);
    if (i % 10 == 7) e = {2, 8100 + random.below(200)};  // a block holds up to 8192 columns in registers
    Matrix input = any_matrix(random, e), found = any_matrix(random, e);
    Matrix oracle = like(found);
    input.fill(random, values);
    if (i % 10 == 3) {
      for (int64_t column = 0; column < e.columns; ++column) input.set(0, column, -INFINITY);
    }
    const int64_t period = 1 + random.below(e.columns + 3);
    SoftmaxForwardRequest request = {input.view(),       found.view(),         random.chance(0.2) ? -0.7 : 0.3,
                                     random.chance(0.5), random.below(period), period};
    if (random.chance(0.5)) request.window = 1 + random.below(e.columns + 3);
    std::vector<float> log_sums(static_cast<std::size_t>(e.rows)), expected(log_sums);
    request.log_sums = log_sums.data();
    ASSERT_EQ(softmax_forward_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    softmax_forward_device_kernels().front().queue(request, nullptr);
    request.output = oracle.view();
    request.log_sums = expected.data();
    reference_of(softmax_forward_kernels()).run(request);
    expect_close(found, oracle, text_of(e, values));
    for (std::size_t row = 0; row < log_sums.size(); ++row) {
      if (std::isfinite(expected[row])) {
        ASSERT_NEAR(expected[row], log_sums[row], 0x1p-21f * (1 + std::fabs(expected[row]))) << text_of(e, values);
      } else {
        ASSERT_EQ(std::isnan(expected[row]), std::isnan(log_sums[row])) << text_of(e, values);
        ASSERT_EQ(std::isinf(expected[row]), std::isinf(log_sums[row])) << text_of(e, values);
      }
    }
  }
}

// Counts do not depend on the order.
TEST(SimtSoftmax, LevelsEqualTheReference) {
  Random random(95);
  for (int i = 0; i < (kIsSanitized ? 5 : 18); ++i) {
    const Values values = kAllValues[static_cast<std::size_t>(i) % std::size(kAllValues)];
    const Extents e = any_extents(random);
    Matrix input = any_matrix(random, e), found = any_matrix(random, e);
    Matrix oracle = like(found);
    input.fill(random, values);
    const int64_t period = 1 + random.below(e.columns + 3);
    Matrix sums(LPT_FORMAT_F32, 1, e.rows), expected_sums(LPT_FORMAT_F32, 1, e.rows);
    SoftmaxExaqRequest request = {
        {input.view(), found.view(), random.chance(0.2) ? -0.7 : 0.3, random.chance(0.5), random.below(period), period,
         random.chance(0.5) ? 1 + random.below(e.columns + 2) : 0, sums.data.data()},
        static_cast<int32_t>(2 + i % 3),
        -0.5 - 5.0 * random.uniform()};
    ASSERT_EQ(softmax_exaq_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    softmax_exaq_device_kernels().front().queue(request, nullptr);
    request.softmax.output = oracle.view();
    request.softmax.log_sums = expected_sums.data.data();
    reference_of(softmax_exaq_kernels()).run(request);
    EXPECT_TRUE(found.is_intact() && found.data.equals(oracle.data)) << text_of(e, values);
    EXPECT_TRUE(sums.is_intact() && sums.data.equals(expected_sums.data)) << text_of(e, values);
  }
}

// dx = scale · y · (dy - sum): the difference cancels, so that the error is relative to the last place of the sum, not of dx.
TEST(SimtSoftmax, BackwardIsCloseToTheReference) {
  Random random(85);
  for (int i = 0; i < (kIsSanitized ? 8 : 30); ++i) {
    const Extents e = any_extents(random);
    Matrix y = any_matrix(random, e), dy = any_matrix(random, e), found(LPT_FORMAT_F32, e.rows, e.columns, 3);
    Matrix oracle = like(found);
    y.fill(random, Values::kNormal);
    dy.fill(random, Values::kNormal);
    SoftmaxBackwardRequest request = {y.view(), dy.view(), found.view(), 0.3};
    ASSERT_EQ(softmax_backward_device_kernels().front().unsupported_reason(request), nullptr);
    take_next_order();
    softmax_backward_device_kernels().front().queue(request, nullptr);
    request.input_gradient = oracle.view();
    reference_of(softmax_backward_kernels()).run(request);
    for (int64_t row = 0; row < e.rows; ++row) {
      double sum = 0;
      for (int64_t c = 0; c < e.columns; ++c) {
        sum += static_cast<double>(y.get(row, c)) * static_cast<double>(dy.get(row, c));
      }
      for (int64_t c = 0; c < e.columns; ++c) {
        const double unit = 0.3 * std::fabs(y.get(row, c)) * (std::fabs(sum) + std::fabs(dy.get(row, c)));
        ASSERT_LE(std::fabs(found.get(row, c) - oracle.get(row, c)), 0x1p-22 * unit) << row << ", " << c;
      }
    }
    EXPECT_TRUE(found.is_intact());
  }
}

TEST(SimtActivation, WhatTheRowsDoNotTakeIsRejected) {
  Matrix matrix(LPT_FORMAT_F32, 2, 8), wide(LPT_FORMAT_F64, 2, 8);
  MatrixView transposed_copy = matrix.view();
  transposed_copy.column_stride = 2;
  const auto &swiglu = swiglu_forward_device_kernels().front();
  EXPECT_STREQ(swiglu.unsupported_reason({matrix.view(), wide.view(), matrix.view(), nullptr}),
               "takes f32, bf16 and f16 only");
  EXPECT_STREQ(swiglu.unsupported_reason({matrix.view(), transposed_copy, matrix.view(), nullptr}),
               "takes adjacent columns only");
  EXPECT_STREQ(rmsnorm_forward_device_kernels().front().unsupported_reason(
                   {matrix.view(), nullptr, matrix.view(), nullptr, 0.0, true}),
               "takes weights of f32 only");
  EXPECT_STREQ(softmax_backward_device_kernels().front().unsupported_reason(
                   {transposed_copy, matrix.view(), matrix.view(), 1.0}),
               "takes adjacent columns only");
  EXPECT_STREQ(
      softmax_forward_device_kernels().front().unsupported_reason({wide.view(), matrix.view(), 1.0, false, 0, 1}),
      "takes f32, bf16 and f16 only");
  EXPECT_STREQ(softmax_exaq_device_kernels().front().unsupported_reason(
                   {{matrix.view(), wide.view(), 1.0, false, 0, 1}, 2, -3.0}),
               "takes f32, bf16 and f16 only");
  EXPECT_STREQ(swiglu_backward_device_kernels().front().unsupported_reason(
                   {matrix.view(), matrix.view(), matrix.view(), matrix.view(), transposed_copy}),
               "takes adjacent columns only");
}

}  // namespace
}  // namespace lpt::test
