// The library of GEMMs where it is missing, old or broken, and how its ways are chosen: by the stub of cublas/.
#include <dlfcn.h>

#include <fstream>

#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

const std::string kFolder = std::string(LPT_PLUGINS) + "/on_cpu";
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

  // One GEMM in a new context, which opens the library again.
  struct Answer {
    lpt_status status;
    std::string words;  // of the error, or the explanation
    std::vector<double> numbers;
  };
  static Answer multiply_on_device(lpt_format format, int repeat = 1) {
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

  // What the stub counted.
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

// The library reads alpha where the descriptor says; the stub's memory is all the CPU's.
TEST_F(GemmLibraries, TensorScalesAndAlphaOnTheDevice) {
  expect_words({"gemm_factors: gemm_factors_cuda"}, multiply_on_device(LPT_FORMAT_NVFP4).words);
  EXPECT_EQ(1, stub("lpt_stub_last_pointer_mode"));
  multiply_on_device(LPT_FORMAT_BF16);
  EXPECT_EQ(0, stub("lpt_stub_last_pointer_mode"));
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

TEST_F(GemmLibraries, AFolderThatIsNotThereIsNoError) {
  setenv("LPT_GEMM_CHOICES", "/nowhere", 1);
  setenv("LPT_GEMM_TUNE", "1", 1);
  EXPECT_EQ(LPT_OK, multiply_on_device(LPT_FORMAT_BF16).status);
}

}  // namespace
}  // namespace lpt::test
