// Device plugins: invalid plugins, and runtime failures.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/device/support.hpp"
#include "tests/support/program_folder.hpp"

namespace lpt::test {
namespace {

const std::string kFolder = program_folder();

class DevicePlugins : public testing::Test {
 protected:
  ~DevicePlugins() override {
    for (const char *name : {"LPT_PLUGIN_PATH", "CUDA_VISIBLE_DEVICES", "LPT_TEST_DRIVER", "LPT_TEST_CAPABILITY",
                             "LPT_TEST_FAILS_AT", "LPT_TEST_CONTEXTS"}) {
      unsetenv(name);
    }
  }

  void look_in(const std::string &folder) { setenv("LPT_PLUGIN_PATH", folder.c_str(), 1); }
  void look_on_cpu() { look_in(kFolder + "/on_cpu"); }

  // Creates a folder with these bytes as a plugin.
  std::string folder_of(const char *name, const std::string &bytes) {
    const std::string folder = testing::TempDir() + "lpt_device_" + name;
    std::system(("mkdir -p " + folder).c_str());
    std::ofstream(folder + "/liblpt_cuda.so", std::ios::binary) << bytes;
    return folder;
  }

  // Checks that creating a context and describing the device both fail with these messages.
  void is_rejected(const std::vector<const char *> &words, int32_t index = 0) {
    Context context;
    std::string error;
    EXPECT_EQ(LPT_UNSUPPORTED, create_on_gpu(context, error, gpu_options(index)));
    expect_words(words, error);
    EXPECT_EQ(nullptr, context.get());
    lpt_device_info gpu = LPT_DEVICE_INFO_INIT;
    EXPECT_EQ(LPT_OK, lpt_device_describe(nullptr, LPT_DEVICE_CUDA, index, &gpu));
    EXPECT_EQ(0, gpu.is_usable);
    expect_words(words, gpu.reason);
  }
};

TEST_F(DevicePlugins, OneOfAnotherInterfaceIsRejected) {
  look_in(kFolder + "/other_abi");
  is_rejected({"other_abi/liblpt_cuda.so", "another interface than"});
}

TEST_F(DevicePlugins, OneOfAnotherBuildIsRejected) {
  look_in(kFolder + "/other_build");
  is_rejected({"other_build/liblpt_cuda.so", "0.0.0-other", "expected both of one build"});
}

TEST_F(DevicePlugins, ATextIsRejected) {
  look_in(folder_of("text", std::string(4096, '?')));
  is_rejected({"lpt_device_text/liblpt_cuda.so", "invalid ELF header"});
}

TEST_F(DevicePlugins, HalfAFileIsRejected) {
  std::ifstream file(kFolder + "/on_cpu/liblpt_cuda.so", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_GT(bytes.size(), 8192u);
  look_in(folder_of("half", bytes.substr(0, 4096)));
  is_rejected({"lpt_device_half/liblpt_cuda.so", "the file is cut short"});
}

TEST_F(DevicePlugins, AMissingOneIsReported) {
  // Copies the library, because the original folder may contain a plugin.
  const std::string folder = testing::TempDir() + "lpt_device_none";
  std::system(("mkdir -p " + folder + " && cp --remove-destination \"$(grep -m1 -o '/[^ ]*liblpt.so[^ ]*' /proc/" +
               std::to_string(getpid()) + "/maps)\" " + folder + "/liblpt.so.1")
                  .c_str());
  // Disables the check of AddressSanitizer that it is the first library.
  const std::string command = "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=" + folder + "/liblpt.so.1 " + kFolder +
                              "/lpt_gpu_test --probe";
  FILE *const pipe = popen(command.c_str(), "r");
  ASSERT_NE(nullptr, pipe);
  char words[1024] = "";
  const size_t count = fread(words, 1, sizeof words - 1, pipe);
  words[count] = '\0';
  EXPECT_EQ(77, WEXITSTATUS(pclose(pipe)));
  expect_words({"no GPU", (folder + "/liblpt_cuda.so").c_str(), "No such file"}, words);
}

TEST_F(DevicePlugins, NoDriverIsReportedInTheRuntimesWords) {
  look_on_cpu();
  setenv("LPT_TEST_DRIVER", "0", 1);
  is_rejected({"CUDA driver version is insufficient for CUDA runtime version", "driver 0", "runtime 13000"});
}

TEST_F(DevicePlugins, HiddenDevicesAreAbsent) {
  look_on_cpu();
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  is_rejected({"no CUDA-capable device is detected", "CUDA_VISIBLE_DEVICES is empty"});
}

TEST_F(DevicePlugins, AnIndexBeyondTheLastIsReported) {
  look_on_cpu();
  is_rejected({"there are 2 devices", "0 to 1"}, 2);
}

TEST_F(DevicePlugins, AnOldDeviceIsReported) {
  look_on_cpu();
  setenv("LPT_TEST_CAPABILITY", "75", 1);
  is_rejected({"compute capability 7.5", "expected 8.0 or later"});
}

TEST_F(DevicePlugins, AUsableDeviceIsDescribed) {
  look_on_cpu();
  lpt_device_info gpu = LPT_DEVICE_INFO_INIT;
  ASSERT_EQ(LPT_OK, lpt_device_describe(nullptr, LPT_DEVICE_CUDA, 1, &gpu));
  EXPECT_EQ(1, gpu.is_usable);
  EXPECT_EQ(LPT_DEVICE_CUDA, gpu.device);
  EXPECT_EQ(1, gpu.index);
  EXPECT_EQ(2, gpu.count);
  EXPECT_EQ(9, gpu.capability_major);
  EXPECT_STREQ("", gpu.reason);
  EXPECT_GT(gpu.memory_bytes, 0);
}

TEST_F(DevicePlugins, TheCpuIsAlwaysAvailable) {
  lpt_device_info cpu = LPT_DEVICE_INFO_INIT;
  ASSERT_EQ(LPT_OK, lpt_device_describe(nullptr, LPT_DEVICE_CPU, 0, &cpu));
  EXPECT_EQ(1, cpu.is_usable);
  EXPECT_EQ(1, cpu.count);
  EXPECT_GE(cpu.processor_count, 1);
  EXPECT_GT(cpu.memory_bytes, 0);
}

TEST_F(DevicePlugins, WrongNumbersAreRejected) {
  lpt_device_info any = LPT_DEVICE_INFO_INIT;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_device_describe(nullptr, 7, 0, &any));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_device_describe(nullptr, LPT_DEVICE_CPU, 1, &any));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_device_describe(nullptr, LPT_DEVICE_CUDA, -1, &any));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_device_describe(nullptr, LPT_DEVICE_CUDA, 0, nullptr));
}

// A context needs some hundred megabytes of a GPU: work on the second GPU does not create one on the first.
TEST_F(DevicePlugins, OnlyTheGpuThatWorksGetsAContext) {
  look_on_cpu();
  const std::string path = testing::TempDir() + "lpt_contexts_" + std::to_string(getpid()) + "_";
  setenv("LPT_TEST_CONTEXTS", path.c_str(), 1);
  {
    const Context cpu = make_context(1), context = make_gpu_context(1);
    const Tensor here = tensor_of(cpu.get(), LPT_FORMAT_F32, 2, 16, draw_normal(1, 32));
    const Tensor there = make_tensor(context.get(), LPT_FORMAT_F32, 2, 16);
    const Tensor codes = make_tensor(context.get(), LPT_FORMAT_MXFP8_E4M3, 2, 16);
    EXPECT_TRUE(ok(context.get(), lpt_tensor_copy(context.get(), here.get(), there.get())));
    EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), there.get(), nullptr, codes.get(), nullptr)));
    EXPECT_TRUE(ok(context.get(), lpt_context_synchronize(context.get())));
  }
  EXPECT_TRUE(std::ifstream(path + "1").good());
  EXPECT_FALSE(std::ifstream(path + "0").good());
  for (const char *device : {"0", "1"}) std::remove((path + device).c_str());
}

TEST_F(DevicePlugins, AFailureOfQueuedWorkSurfacesLater) {
  look_on_cpu();
  const Context context = make_gpu_context();
  const Tensor tensor = make_tensor(context.get(), LPT_FORMAT_F32, 2, 2);
  const Tensor other = make_tensor(context.get(), LPT_FORMAT_F32, 2, 2);
  setenv("LPT_TEST_FAILS_AT", "1", 1);  // the work that is already queued has failed
  EXPECT_EQ(LPT_WORK_FAILED, lpt_context_synchronize(context.get()));
  expect_words({"work queued before on cuda:0", "an illegal memory access"}, lpt_context_error(context.get()));
  EXPECT_EQ(LPT_WORK_FAILED, lpt_tensor_copy(context.get(), tensor.get(), other.get()));
  expect_words({"copying on cuda:0", "an illegal memory access"}, lpt_context_error(context.get()));
  unsetenv("LPT_TEST_FAILS_AT");
  EXPECT_TRUE(ok(context.get(), lpt_tensor_copy(context.get(), tensor.get(), other.get())));
}

TEST_F(DevicePlugins, TensorsOfAnotherGpuAreRejected) {
  look_on_cpu();
  const Context first = make_gpu_context(0), second = make_gpu_context(1);
  const Tensor here = make_tensor(first.get(), LPT_FORMAT_F32, 2, 2);
  const Tensor there = make_tensor(second.get(), LPT_FORMAT_F32, 2, 2);
  const Tensor also_on_device = make_tensor(second.get(), LPT_FORMAT_F32, 2, 2);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_copy(first.get(), also_on_device.get(), there.get()));
  expect_words({"source is 2 x 2 f32 on cuda:1", "cuda:0"}, lpt_context_error(first.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_quantize(first.get(), here.get(), nullptr, there.get(), nullptr));
  Tensor wrapped;
  void *const data = describe(second.get(), there.get()).data;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_tensor_wrap_matrix(first.get(), LPT_FORMAT_F32, data, 2, 2, 0, out(wrapped)));
  expect_words({"expected memory of cuda:0, it is of cuda:1"}, lpt_context_error(first.get()));
}

// Copies by either context, with all parts of the formats, and with gaps between rows.
TEST_F(DevicePlugins, TensorsAreCopiedBetweenGpus) {
  look_on_cpu();
  const Context cpu = make_context(), first = make_gpu_context(0), second = make_gpu_context(1);
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_NVFP4, LPT_FORMAT_MXFP8_E4M3}) {
    const Tensor source = tensor_of(cpu.get(), format, 6, 128, draw_normal(1, 6 * 128));
    const Tensor here = make_tensor(first.get(), format, 6, 128), there = make_tensor(second.get(), format, 6, 128);
    const Tensor back = make_tensor(first.get(), format, 6, 128), found = make_tensor(cpu.get(), format, 6, 128);
    ASSERT_TRUE(ok(first.get(), lpt_tensor_copy(first.get(), source.get(), here.get())));
    ASSERT_TRUE(ok(first.get(), lpt_tensor_copy(first.get(), here.get(), there.get())));
    for (const int64_t column : {0, 64}) {
      const Tensor from = view(second.get(), there.get(), {0, column}, {6, 64});
      const Tensor to = view(first.get(), back.get(), {0, column}, {6, 64});
      ASSERT_TRUE(ok(second.get(), lpt_tensor_copy(second.get(), from.get(), to.get())));
    }
    ASSERT_TRUE(ok(first.get(), lpt_tensor_copy(first.get(), back.get(), found.get())));
    EXPECT_EQ(bytes_of(cpu.get(), source.get()), bytes_of(cpu.get(), found.get())) << name_of(format);
  }
}

}  // namespace
}  // namespace lpt::test
