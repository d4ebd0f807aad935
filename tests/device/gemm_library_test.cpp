// Behavior with a missing, old or broken GEMM library, and the selection of its algorithms, with the stub of cublas/.
#include <dlfcn.h>

#include <fstream>

#include "tests/device/support.hpp"
#include "tests/support/program_folder.hpp"

namespace lpt::test {
namespace {

const std::string kFolder = program_folder() + "/on_cpu";
const std::string kStub = kFolder + "/libcublasLt.so.13";

class GemmLibraries : public testing::Test {
 protected:
  GemmLibraries() {
    setenv("LPT_PLUGIN_PATH", kFolder.c_str(), 1);
    setenv("LPT_CUBLASLT", kStub.c_str(), 1);
  }
  ~GemmLibraries() override {
    for (const char *name : {"LPT_PLUGIN_PATH", "LPT_CUBLASLT", "LPT_TEST_CUBLASLT_VERSION", "LPT_TEST_CUBLASLT_FAILS",
                             "LPT_TEST_CAPABILITY", "LPT_GEMM_TUNE", "LPT_GEMM_CHOICES"}) {
      unsetenv(name);
    }
  }

  // Results of GEMMs in a new context, which reopens the library.
  struct Answer {
    lpt_status status;
    std::string words;  // the error, or the explanation
    std::vector<double> numbers;
  };
  static Answer multiply_on_device(lpt_format format, int repeat = 1, lpt_flags flags = 0) {
    const Context cpu = make_context(1), gpu = make_gpu_context();
    const Tensor a = tensor_of(cpu.get(), format, 16, 64, draw_normal(1, 16 * 64));
    const Tensor b = tensor_of(cpu.get(), format, 32, 64, draw_normal(2, 32 * 64));
    const Tensor there_a = make_tensor(gpu.get(), format, 16, 64), there_b = make_tensor(gpu.get(), format, 32, 64);
    const Tensor there_c = make_tensor(gpu.get(), LPT_FORMAT_F32, 16, 32),
                 c = make_tensor(cpu.get(), LPT_FORMAT_F32, 16, 32);
    EXPECT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), a.get(), there_a.get())));
    EXPECT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), b.get(), there_b.get())));
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    options.flags = flags;
    lpt_status status = LPT_OK;
    for (int i = 0; i < repeat; ++i)
      status = lpt_gemm(gpu.get(), there_a.get(), there_b.get(), &options, there_c.get());
    if (status != LPT_OK) return {status, lpt_context_error(gpu.get()), {}};
    const std::string words = lpt_context_explanation(gpu.get());
    EXPECT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), there_c.get(), c.get())));
    return {status, words, numbers_of(cpu.get(), c.get())};
  }

  static void is_rejected(const std::vector<const char *> &words, lpt_status status = LPT_UNSUPPORTED) {
    const Answer answer = multiply_on_device(LPT_FORMAT_BF16);
    EXPECT_EQ(status, answer.status);
    expect_words(words, answer.words);
  }

  // Returns a counter of the stub.
  static int stub(const char *function) {
    void *const library = dlopen(kStub.c_str(), RTLD_NOW);
    EXPECT_NE(nullptr, library);
    return library == nullptr ? -1 : reinterpret_cast<int (*)()>(dlsym(library, function))();
  }
  static int multiplied() { return stub("lpt_stub_multiplied"); }
};

TEST_F(GemmLibraries, AMissingOneIsReported) {
  setenv("LPT_CUBLASLT", "/nowhere/libcublasLt.so.13", 1);
  is_rejected({"gemm: no kernel takes bf16, bf16, f32 on cuda:0", "cublaslt: /nowhere/libcublasLt.so.13: cannot open"});
}

TEST_F(GemmLibraries, ALibraryOfAnotherKindIsReported) {
  setenv("LPT_CUBLASLT", (kFolder + "/liblpt_cuda.so").c_str(), 1);
  is_rejected({"liblpt_cuda.so has no cublasLtGetVersion"});
}

TEST_F(GemmLibraries, AnOldOneIsReported) {
  setenv("LPT_TEST_CUBLASLT_VERSION", "111103", 1);
  is_rejected({"libcublasLt.so.13 is of version 111103: expected 120000 or later"});
}

TEST_F(GemmLibraries, OneThatDoesNotStartIsReported) {
  setenv("LPT_TEST_CUBLASLT_FAILS", "create", 1);
  is_rejected({"cublaslt: cublasLtCreate: CUBLAS_STATUS_NOT_INITIALIZED"});
}

TEST_F(GemmLibraries, OneWithoutAWayIsPassedOver) {
  for (const char *failure : {"find", "find_nothing"}) {
    setenv("LPT_TEST_CUBLASLT_FAILS", failure, 1);
    is_rejected(
        {"cublaslt_numbers: the library has no way to run it", "cublaslt_f32: the library has no way to run it"});
  }
}

TEST_F(GemmLibraries, AFailureOfARunIsReported) {
  setenv("LPT_TEST_CUBLASLT_FAILS", "multiply", 1);
  is_rejected({"cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED"}, LPT_WORK_FAILED);
}

void expect_near(const std::vector<double> &expected, const std::vector<double> &found) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(expected[i], found[i], 1e-4) << "element " << i;
}

TEST_F(GemmLibraries, AnOlderOneIsGivenLess) {
  const Answer newer = multiply_on_device(LPT_FORMAT_E4M3FN_ROW);
  expect_words({"gemm: cublaslt_fp8_rows"}, newer.words);
  setenv("LPT_TEST_CUBLASLT_VERSION", "120100", 1);
  const Answer older = multiply_on_device(LPT_FORMAT_E4M3FN_ROW);
  expect_words({"gemm: cublaslt_fp8_finish", "cublaslt_fp8_rows: the library is older than that"}, older.words);
  expect_near(newer.numbers, older.numbers);
}

TEST_F(GemmLibraries, BlocksOfBytesAreTheDevicesWhereItHasThem) {
  for (const lpt_format format : {LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP8_E4M3}) {
    setenv("LPT_TEST_CAPABILITY", "90", 1);
    const Answer lifted = multiply_on_device(format);
    expect_words({"gemm: cublaslt_half"}, lifted.words);
    setenv("LPT_TEST_CAPABILITY", "100", 1);
    const Answer native = multiply_on_device(format);
    expect_words({format == LPT_FORMAT_NVFP4 ? "gemm: cublaslt_nvfp4" : "gemm: cublaslt_mxfp8"}, native.words);
    expect_near(lifted.numbers, native.numbers);
  }
}

// The descriptor selects the memory of alpha; in the stub all memory is host memory.
TEST_F(GemmLibraries, TensorScalesAndAlphaOnTheDevice) {
  expect_words({"gemm_factors: gemm_factors_cuda"}, multiply_on_device(LPT_FORMAT_NVFP4).words);
  EXPECT_EQ(1, stub("lpt_stub_last_pointer_mode"));
  multiply_on_device(LPT_FORMAT_BF16);
  EXPECT_EQ(0, stub("lpt_stub_last_pointer_mode"));
}

struct FastCase {
  lpt_format format;
  const char *capability, *kernel;
  int is_fast;
};
constexpr FastCase kFastCases[] = {
    {LPT_FORMAT_E4M3FN, "89", "gemm: cublaslt_fp8_fast\n", 1},
    {LPT_FORMAT_E4M3FN_TENSOR, "90", "gemm: cublaslt_fp8_fast\n", 1},
    {LPT_FORMAT_E4M3FN_ROW, "90", "gemm: cublaslt_fp8_rows_fast\n", 1},
    {LPT_FORMAT_E4M3FN_ROW, "89", "gemm: cublaslt_fp8_finish_fast\n", 1},
    {LPT_FORMAT_E4M3FN_TENSOR, "100", "gemm: cublaslt_fp8\n", 0},
    {LPT_FORMAT_E4M3FN, "80", "gemm: cublaslt_half\n", 0},
    {LPT_FORMAT_INT8_ROW, "90", "gemm: cublaslt_int8\n", 0},
    {LPT_FORMAT_BF16, "90", "gemm: cublaslt_numbers\n", 0},
};

TEST_F(GemmLibraries, FastAccumulationIsForBytesOnDevicesThatHaveIt) {
  for (const FastCase &c : kFastCases) {
    SCOPED_TRACE(name_of(c.format) + " on " + c.capability);
    setenv("LPT_TEST_CAPABILITY", c.capability, 1);
    const Answer fast = multiply_on_device(c.format, 1, LPT_GEMM_FAST_ACCUMULATE);
    ASSERT_EQ(LPT_OK, fast.status) << fast.words;
    expect_words({c.kernel}, fast.words + "\n");
    EXPECT_EQ(c.is_fast, stub("lpt_stub_last_is_fast"));
    const Answer full = multiply_on_device(c.format);
    EXPECT_EQ(0, stub("lpt_stub_last_is_fast"));
    EXPECT_EQ(std::string::npos, full.words.find("_fast\n")) << full.words;
    expect_near(full.numbers, fast.numbers);
  }
}

TEST_F(GemmLibraries, FastAccumulationIsNeverRejected) {
  setenv("LPT_TEST_CUBLASLT_FAILS", "find_fast", 1);
  const Answer found = multiply_on_device(LPT_FORMAT_E4M3FN_ROW, 1, LPT_GEMM_FAST_ACCUMULATE);
  ASSERT_EQ(LPT_OK, found.status) << found.words;
  expect_words({"gemm: cublaslt_fp8_rows\n", "cublaslt_fp8_rows_fast: the library has no way to run it"},
               found.words + "\n");
}

TEST_F(GemmLibraries, APlanNamesFastAccumulation) {
  const Context gpu = make_gpu_context();
  const Tensor a = make_tensor(gpu.get(), LPT_FORMAT_E4M3FN, 16, 64),
               b = make_tensor(gpu.get(), LPT_FORMAT_E4M3FN, 32, 64),
               c = make_tensor(gpu.get(), LPT_FORMAT_F32, 16, 32);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  options.flags = LPT_GEMM_FAST_ACCUMULATE;
  lpt_gemm_plan *plan = nullptr;
  ASSERT_TRUE(ok(gpu.get(), lpt_gemm_plan_create(gpu.get(), a.get(), b.get(), &options, c.get(), &plan)));
  lpt_gemm_plan_info info = LPT_GEMM_PLAN_INFO_INIT;
  EXPECT_TRUE(ok(gpu.get(), lpt_gemm_plan_read(gpu.get(), plan, &info)));
  EXPECT_STREQ("cublaslt_fp8_fast", info.kernel);
  EXPECT_TRUE(ok(gpu.get(), lpt_gemm_plan_run(gpu.get(), plan, a.get(), b.get(), nullptr, c.get())));
  EXPECT_EQ(1, stub("lpt_stub_last_is_fast"));
  lpt_gemm_plan_destroy(plan);
}

// Fast accumulation is selected separately for each GEMM of a layer.
TEST_F(GemmLibraries, RecipesPermitFastAccumulation) {
  const Context cpu = make_context(), gpu = make_gpu_context();
  const Tensor x = make_tensor(gpu.get(), LPT_FORMAT_F32, 32, 64), w = make_tensor(gpu.get(), LPT_FORMAT_F32, 48, 64),
               y = make_tensor(gpu.get(), LPT_FORMAT_F32, 32, 48), dx = make_tensor(gpu.get(), LPT_FORMAT_F32, 32, 64),
               dw = make_tensor(gpu.get(), LPT_FORMAT_F32, 48, 64);
  for (const lpt_linear_gemm fast : {LPT_LINEAR_GEMM_FORWARD, LPT_LINEAR_GEMM_DGRAD, LPT_LINEAR_GEMM_WGRAD}) {
    Recipe recipe;
    Linear linear;
    ASSERT_TRUE(ok(cpu.get(), lpt_recipe_create(cpu.get(), "fp8_current", out(recipe))));
    lpt_linear_gemm_options options = LPT_LINEAR_GEMM_OPTIONS_INIT;
    options.flags = LPT_GEMM_FAST_ACCUMULATE;
    ASSERT_TRUE(ok(cpu.get(), lpt_recipe_set_gemm(cpu.get(), recipe.get(), fast, &options)));
    const lpt_linear_shape shape = {sizeof shape, 64, 48};
    ASSERT_TRUE(ok(gpu.get(), lpt_linear_create(gpu.get(), recipe.get(), &shape, out(linear))));
    ASSERT_TRUE(ok(gpu.get(), lpt_linear_prepare(gpu.get(), linear.get(), w.get(), nullptr)));
    size_t bytes = 0;
    ASSERT_TRUE(ok(gpu.get(), lpt_linear_saved_size(gpu.get(), linear.get(), 32, &bytes)));
    const Tensor saved = make_tensor(gpu.get(), LPT_FORMAT_UINT8, {static_cast<int64_t>(bytes)});
    const auto count_fast = [&] {
      const std::string words = lpt_context_explanation(gpu.get());
      int count = 0;
      for (size_t at = words.find("_fast\n"); at != std::string::npos; at = words.find("_fast\n", at + 1)) ++count;
      return count;
    };
    ASSERT_TRUE(ok(gpu.get(), lpt_linear_forward(gpu.get(), linear.get(), x.get(), nullptr, saved.get(), y.get())));
    EXPECT_EQ(fast == LPT_LINEAR_GEMM_FORWARD, count_fast() > 0) << fast;
    const auto backward = [&](lpt_tensor *input, lpt_tensor *weight) {
      EXPECT_TRUE(ok(gpu.get(), lpt_linear_backward(gpu.get(), linear.get(), saved.get(), y.get(), nullptr, input,
                                                    weight, nullptr)));
      return count_fast();
    };
    EXPECT_EQ(fast == LPT_LINEAR_GEMM_DGRAD, backward(dx.get(), nullptr) > 0) << fast;
    EXPECT_EQ(fast == LPT_LINEAR_GEMM_WGRAD, backward(nullptr, dw.get()) > 0) << fast;
  }
}

TEST_F(GemmLibraries, TheLikeliestWayRunsWhereNothingIsTimed) {
  const int before = multiplied();
  multiply_on_device(LPT_FORMAT_BF16, 3);
  EXPECT_EQ(before + 3, multiplied());
  EXPECT_EQ(0, stub("lpt_stub_last_way"));
}

TEST_F(GemmLibraries, WaysAreTimedOnceWhereThatIsExpected) {
  setenv("LPT_GEMM_TUNE", "1", 1);
  const int before = multiplied();
  const Answer timed = multiply_on_device(LPT_FORMAT_BF16);
  EXPECT_EQ(before + 3 * 4 + 1, multiplied());
  EXPECT_NE(0, stub("lpt_stub_last_way"));
  multiply_on_device(LPT_FORMAT_BF16, 5);
  EXPECT_EQ(before + 2 * (3 * 4) + 1 + 5, multiplied());
  unsetenv("LPT_GEMM_TUNE");
  EXPECT_EQ(multiply_on_device(LPT_FORMAT_BF16).numbers, timed.numbers);
}

TEST_F(GemmLibraries, ChosenWaysAreKeptInAFolder) {
  const std::string folder = testing::TempDir() + "lpt_gemm_choices";
  std::system(("rm -rf " + folder + " && mkdir -p " + folder).c_str());
  const std::string file = folder + "/cublaslt-130100-threads-of-the-CPU.txt";
  std::ofstream(file) << "no line of ours\n\n1,2 zz\n";
  setenv("LPT_GEMM_CHOICES", folder.c_str(), 1);
  setenv("LPT_GEMM_TUNE", "1", 1);
  multiply_on_device(LPT_FORMAT_BF16);
  const int way = stub("lpt_stub_last_way"), before = multiplied();
  multiply_on_device(LPT_FORMAT_BF16);
  EXPECT_EQ(before + 1, multiplied());
  EXPECT_EQ(way, stub("lpt_stub_last_way"));
  setenv("LPT_TEST_CUBLASLT_VERSION", "130200", 1);
  multiply_on_device(LPT_FORMAT_BF16);
  EXPECT_EQ(before + 1 + 3 * 4 + 1, multiplied());
}

TEST_F(GemmLibraries, KeptWaysOfFastAccumulationAreApart) {
  const std::string folder = testing::TempDir() + "lpt_gemm_fast_choices";
  std::system(("rm -rf " + folder + " && mkdir -p " + folder).c_str());
  setenv("LPT_GEMM_CHOICES", folder.c_str(), 1);
  setenv("LPT_GEMM_TUNE", "1", 1);
  multiply_on_device(LPT_FORMAT_E4M3FN, 1, LPT_GEMM_FAST_ACCUMULATE);
  const int before = multiplied();
  multiply_on_device(LPT_FORMAT_E4M3FN);
  EXPECT_EQ(before + 3 * 4 + 1, multiplied());
  multiply_on_device(LPT_FORMAT_E4M3FN, 1, LPT_GEMM_FAST_ACCUMULATE);
  EXPECT_EQ(before + 3 * 4 + 2, multiplied());
}

TEST_F(GemmLibraries, AFolderThatIsNotThereIsNoError) {
  setenv("LPT_GEMM_CHOICES", "/nowhere", 1);
  setenv("LPT_GEMM_TUNE", "1", 1);
  EXPECT_EQ(LPT_OK, multiply_on_device(LPT_FORMAT_BF16).status);
}

}  // namespace
}  // namespace lpt::test
