// Epilogues of GEMMs on a GPU against the CPU bit for bit. Operands are small integers with power-of-two scales, so that sums
// are exact in any order.
#include <cmath>

#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kF32 = LPT_FORMAT_F32, kBf16 = LPT_FORMAT_BF16, kF16 = LPT_FORMAT_F16;
constexpr lpt_activation kActivations[] = {LPT_ACTIVATION_NONE, LPT_ACTIVATION_GELU, LPT_ACTIVATION_GELU_TANH,
                                           LPT_ACTIVATION_SILU, LPT_ACTIVATION_SWIGLU};

// Operands of a call on one device.
struct Side {
  lpt_context *context;
  Tensor a, b, bias, residual, c;
};

struct FinishCase {
  lpt_activation activation;
  lpt_format residual;  // NONE: no residual; C: c itself
  lpt_format c;
  double beta;
};

constexpr lpt_format kC = -1;

class DeviceFinishes : public Devices {
 protected:
  static std::vector<double> draw_integers(uint64_t place, int64_t count) {
    std::vector<double> numbers = draw_normal(place, count, 2.0);
    for (double &number : numbers) number = std::round(number);
    return numbers;
  }

  Tensor integers(lpt_format format, int64_t rows, int64_t columns, uint64_t place) {
    return tensor_of(cpu(), format, rows, columns, draw_integers(place, rows * columns));
  }

  Side here_of(const FinishCase &x, int64_t m, int64_t n, int64_t k) {
    const int64_t width = x.activation == LPT_ACTIVATION_SWIGLU ? n / 2 : n;
    Side side{
        cpu(), integers(kBf16, m, k, 1), integers(kBf16, n, k, 2), vector_of(cpu(), kF32, draw_integers(3, n)), {}, {}};
    side.c = integers(x.c, m, width, 4);
    if (x.residual != LPT_FORMAT_NONE && x.residual != kC) side.residual = integers(x.residual, m, width, 5);
    return side;
  }

  Side there_of(const Side &side) {
    Side copy{gpu(), there(side.a.get()), there(side.b.get()), there(side.bias.get()), {}, there(side.c.get())};
    if (side.residual != nullptr) copy.residual = there(side.residual.get());
    return copy;
  }

  static lpt_status run(const Side &side, const FinishCase &x, const lpt_quantize_options *quantize = nullptr) {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    options.alpha = 0.125;
    options.beta = x.beta;
    options.bias = side.bias.get();
    options.activation = x.activation;
    options.residual = x.residual == kC ? side.c.get() : side.residual.get();
    options.quantize = quantize;
    return lpt_gemm(side.context, side.a.get(), side.b.get(), &options, side.c.get());
  }

  void expect_equal(const FinishCase &x, int64_t m, int64_t n, int64_t k, const std::string &where) {
    const Side on_cpu = here_of(x, m, n, k), on_gpu = there_of(on_cpu);
    ASSERT_TRUE(ok(cpu(), run(on_cpu, x))) << where;
    ASSERT_TRUE(ok(gpu(), run(on_gpu, x))) << where;
    const std::string why = lpt_context_explanation(gpu());
    ASSERT_EQ(bytes_of(cpu(), on_cpu.c.get()), bytes_on_device(on_gpu.c.get())) << where << "\n" << why;
    expect_words({"gemm: cublaslt_numbers"}, why, where.c_str());
  }
};

std::string text_of(const FinishCase &x) {
  return "activation " + std::to_string(x.activation) + ", residual " +
         (x.residual == kC                ? "c"
          : x.residual == LPT_FORMAT_NONE ? "none"
                                          : name_of(x.residual)) +
         ", c " + name_of(x.c) + ", beta " + std::to_string(x.beta);
}

TEST_F(DeviceFinishes, OfNumbersHaveTheBitsOfTheCpu) {
  for (const lpt_activation activation : kActivations) {
    for (const lpt_format residual : {lpt_format{LPT_FORMAT_NONE}, kC, kF32, kBf16, kF16}) {
      for (const lpt_format c : {kF32, kBf16, kF16}) {
        for (const double beta : {0.0, 0.5}) {
          const FinishCase x{activation, residual, c, beta};
          if (beta != 0.0 && activation == LPT_ACTIVATION_SWIGLU) continue;  // not supported on any device
          expect_equal(x, 5, 24, 32, text_of(x));
        }
      }
    }
  }
}

TEST_F(DeviceFinishes, OfCodesHaveTheBitsOfTheCpu) {
  for (const lpt_activation activation : {LPT_ACTIVATION_NONE, LPT_ACTIVATION_GELU, LPT_ACTIVATION_SWIGLU}) {
    for (const lpt_format residual : {lpt_format{LPT_FORMAT_NONE}, kBf16}) {
      for (const lpt_format c :
           {LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_E4M3FN_1X128,
            LPT_FORMAT_INT8_ROW, LPT_FORMAT_INT4_1X32, LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_MXFP4, LPT_FORMAT_NVFP4}) {
        const FinishCase x{activation, residual, c, 0.0};
        expect_equal(x, 5, 128, 32, text_of(x));
      }
    }
  }
}

TEST_F(DeviceFinishes, CastAsTheOptionsSay) {
  const FinishCase x{LPT_ACTIVATION_SILU, kBf16, LPT_FORMAT_E4M3FN_TENSOR, 0.0};
  const Side on_cpu = here_of(x, 6, 40, 32), on_gpu = there_of(on_cpu);
  lpt_random random = LPT_RANDOM_INIT;
  random.seed = 7;
  lpt_quantize_options quantize = LPT_QUANTIZE_OPTIONS_INIT;
  quantize.rounding = LPT_ROUNDING_STOCHASTIC;
  quantize.random = random;
  lpt_statistics_info found[2] = {LPT_STATISTICS_INFO_INIT, LPT_STATISTICS_INFO_INIT};
  for (const Side *side : {&on_cpu, &on_gpu}) {
    lpt_statistics *statistics = nullptr;
    ASSERT_TRUE(ok(side->context, lpt_statistics_create(side->context, &statistics)));
    quantize.statistics = statistics;
    EXPECT_TRUE(ok(side->context, run(*side, x, &quantize)));
    EXPECT_TRUE(ok(side->context, lpt_statistics_read(side->context, statistics, &found[side == &on_gpu])));
    lpt_statistics_destroy(statistics);
  }
  EXPECT_EQ(bytes_of(cpu(), on_cpu.c.get()), bytes_on_device(on_gpu.c.get()));
  EXPECT_GT(found[0].amax, 0.0);
  EXPECT_EQ(found[0].amax, found[1].amax);
  EXPECT_EQ(found[0].squared_error, found[1].squared_error);
}

TEST_F(DeviceFinishes, OfBatchesAndGroupsAreTheSame) {
  const Tensor a = integers(kBf16, 16, 32, 11), b = make_tensor(cpu(), kBf16, {4, 24, 32});
  const std::vector<double> numbers = draw_integers(12, 4 * 24 * 32);
  const Tensor source = make_tensor(cpu(), kF32, {4, 24, 32});
  std::copy(numbers.begin(), numbers.end(), static_cast<float *>(describe(cpu(), source.get()).data));
  ASSERT_TRUE(ok(cpu(), lpt_quantize(cpu(), source.get(), nullptr, b.get(), nullptr)));
  const Tensor there_a = there(a.get()), there_b = there(b.get());
  const std::vector<int64_t> ends = {3, 3, 12, 16};
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  options.activation = LPT_ACTIVATION_SWIGLU;
  const Tensor c = make_tensor(cpu(), LPT_FORMAT_E4M3FN_ROW, 16, 12);
  const Tensor there_c = make_tensor(gpu(), LPT_FORMAT_E4M3FN_ROW, 16, 12);
  ASSERT_TRUE(ok(cpu(), lpt_gemm_grouped(cpu(), a.get(), b.get(), indices_of(cpu(), ends).get(), &options, c.get())));
  ASSERT_TRUE(ok(gpu(), lpt_gemm_grouped(gpu(), there_a.get(), there_b.get(), indices_of(cpu(), ends).get(), &options,
                                         there_c.get())));
  EXPECT_EQ(bytes_of(cpu(), c.get()), bytes_on_device(there_c.get()));
  const Tensor all = make_tensor(cpu(), kBf16, {4, 16, 24}), there_all = make_tensor(gpu(), kBf16, {4, 16, 24});
  options.activation = LPT_ACTIVATION_GELU;
  ASSERT_TRUE(ok(cpu(), lpt_gemm(cpu(), a.get(), b.get(), &options, all.get())));
  ASSERT_TRUE(ok(gpu(), lpt_gemm(gpu(), there_a.get(), there_b.get(), &options, there_all.get())));
  EXPECT_EQ(bytes_of(cpu(), all.get()), bytes_on_device(there_all.get()));
}

// The explanation names the kernels of all steps, and a plan includes the memory of the sums.
TEST_F(DeviceFinishes, AreReportedWithTheirGemm) {
  const FinishCase x{LPT_ACTIVATION_GELU, kBf16, LPT_FORMAT_E4M3FN_TENSOR, 0.0};
  const Side on_cpu = here_of(x, 5, 24, 32), on_gpu = there_of(on_cpu);
  ASSERT_TRUE(ok(gpu(), run(on_gpu, x)));
  expect_words(
      {"gemm: cublaslt_numbers", "finish: finish_cuda", "amax: amax_cuda", "quantize: quantize_fragments_cuda"},
      lpt_context_explanation(gpu()));
  const auto workspace_of = [&](lpt_activation activation) {
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    options.activation = activation;
    lpt_gemm_plan *plan = nullptr;
    lpt_gemm_plan_info values = LPT_GEMM_PLAN_INFO_INIT;
    EXPECT_TRUE(
        ok(gpu(), lpt_gemm_plan_create(gpu(), on_gpu.a.get(), on_gpu.b.get(), &options, on_gpu.residual.get(), &plan)));
    EXPECT_TRUE(ok(gpu(), lpt_gemm_plan_read(gpu(), plan, &values)));
    lpt_gemm_plan_destroy(plan);
    return values.workspace_bytes;
  };
  const auto sums = static_cast<decltype(workspace_of(0))>(5 * 24 * sizeof(float));
  EXPECT_GE(workspace_of(LPT_ACTIVATION_GELU), workspace_of(LPT_ACTIVATION_NONE) + sums);
}

TEST_F(DeviceFinishes, AreRejectedBeforeAnythingIsWritten) {
  const FinishCase x{LPT_ACTIVATION_GELU, kBf16, LPT_FORMAT_E4M3FN_TENSOR, 0.0};
  const Side on_cpu = here_of(x, 5, 32, 32), on_gpu = there_of(on_cpu);
  const std::vector<uint8_t> before = bytes_on_device(on_gpu.c.get());
  const auto expect_rejected = [&](const lpt_gemm_options &options, const Tensor &c, lpt_status status,
                                   const std::vector<const char *> &words) {
    EXPECT_EQ(status, lpt_gemm(gpu(), on_gpu.a.get(), on_gpu.b.get(), &options, c.get()));
    expect_words(words, lpt_context_error(gpu()));
  };
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  options.residual = on_cpu.residual.get();
  expect_rejected(options, on_gpu.c, LPT_INVALID_ARGUMENT, {"residual is 5 x 32 bf16 on cpu: expected cuda:0"});
  options.residual = nullptr;
  options.outlier_threshold = 6.0;
  expect_rejected(options, on_gpu.c, LPT_UNSUPPORTED, {"outlier_threshold is 6: a GEMM on a GPU takes 0"});
  options.outlier_threshold = 0.0;
  lpt_quantize_options quantize = LPT_QUANTIZE_OPTIONS_INIT;
  quantize.scale_rule = LPT_SCALE_RULE_MEAN;
  quantize.hadamard_size = 16;
  options.quantize = &quantize;
  expect_rejected(options, on_gpu.c, LPT_UNSUPPORTED, {"LPT_SCALE_RULE_MEAN with smoothing or a rotation"});
  options.quantize = nullptr;
  options.flags = LPT_GEMM_PORTABLE_ORDER;
  expect_rejected(options, on_gpu.c, LPT_UNSUPPORTED, {"the order of its sums is its own"});
  options.flags = 0;
  EXPECT_EQ(before, bytes_on_device(on_gpu.c.get()));
}

}  // namespace
}  // namespace lpt::test
