// Contexts of a GPU, and copies of tensors to and from it.
#pragma once

#include <cstdlib>

#include "tests/api/support.hpp"

namespace lpt::test {

inline lpt_context_options gpu_options(int32_t index = 0) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = 1;
  options.device = LPT_DEVICE_CUDA;
  options.device_index = index;
  return options;
}

inline lpt_status create_on_gpu(Context &context, std::string &error, lpt_context_options options) {
  char text[1024] = "";
  options.error_text = text;
  options.error_text_bytes = sizeof text;
  const lpt_status status = lpt_context_create(&options, out(context));
  error = text;
  return status;
}

inline Context make_gpu_context(const lpt_context_options &options) {
  Context context;
  std::string error;
  EXPECT_EQ(LPT_OK, create_on_gpu(context, error, options)) << error;
  return context;
}

inline Context make_gpu_context(int32_t index = 0) { return make_gpu_context(gpu_options(index)); }

// A CPU context and a GPU context.
class Devices : public testing::Test {
 protected:
  // Copies a tensor to the GPU.
  Tensor there(const lpt_tensor *here) {
    const lpt_tensor_description facts = describe(cpu(), here);
    Tensor copy = make_tensor(gpu(), facts.format, {facts.extents, facts.extents + facts.rank});
    EXPECT_TRUE(ok(gpu(), lpt_tensor_copy(gpu(), here, copy.get())));
    EXPECT_TRUE(ok(gpu(), lpt_context_synchronize(gpu())));
    return copy;
  }

  // Copies a tensor to the CPU.
  Tensor here(const lpt_tensor *there) {
    const lpt_tensor_description facts = describe(gpu(), there);
    Tensor copy = make_tensor(cpu(), facts.format, {facts.extents, facts.extents + facts.rank});
    EXPECT_TRUE(ok(gpu(), lpt_tensor_copy(gpu(), there, copy.get())));
    EXPECT_TRUE(ok(gpu(), lpt_context_synchronize(gpu())));
    return copy;
  }

  std::vector<uint8_t> bytes_on_device(const lpt_tensor *tensor) { return bytes_of(cpu(), here(tensor).get()); }

  lpt_context *cpu() const { return cpu_.get(); }
  lpt_context *gpu() const { return gpu_.get(); }

  // Sets an environment variable, or removes it for nullptr, and creates a new GPU context, which reads it.
  void set_variable(const char *name, const char *value) {
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    gpu_ = make_gpu_context();
  }

 private:
  const Context cpu_ = make_context(1);
  Context gpu_ = make_gpu_context();
};

}  // namespace lpt::test
