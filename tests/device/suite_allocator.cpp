// GPU memory from the caller's allocator: all memory, and every failed allocation is an error after which all objects remain
// usable.
#include "tests/device/device_pool.hpp"

namespace lpt::test {
namespace {

struct DestroyStatistics {
  void operator()(lpt_statistics *handle) const { lpt_statistics_destroy(handle); }
};

#define LPT_TEST_TRY(call)                       \
  do {                                           \
    const lpt_status try_status = (call);        \
    if (try_status != LPT_OK) return try_status; \
  } while (0)

// A training scenario that returns the first status other than LPT_OK. Handles keep their memory until its end.
class Scenario {
 public:
  Scenario(lpt_context *cpu, lpt_context *gpu)
      : c_(gpu),
        x_(tensor_of(cpu, LPT_FORMAT_F32, 32, 64, draw_normal(1, 32 * 64))),
        w_(tensor_of(cpu, LPT_FORMAT_F32, 48, 64, draw_normal(2, 48 * 64))),
        found_y_(make_tensor(cpu, LPT_FORMAT_F32, 32, 48)),
        found_w_(make_tensor(cpu, LPT_FORMAT_F32, 48, 64)),
        found_codes_(make_tensor(cpu, LPT_FORMAT_NVFP4, 32, 64)) {}

  lpt_status run() {
    LPT_TEST_TRY(send());
    LPT_TEST_TRY(cast());
    LPT_TEST_TRY(multiply());
    LPT_TEST_TRY(train());
    LPT_TEST_TRY(lpt_tensor_copy(c_, y_.get(), found_y_.get()));
    LPT_TEST_TRY(lpt_tensor_copy(c_, weight_.get(), found_w_.get()));
    LPT_TEST_TRY(lpt_tensor_copy(c_, codes_.get(), found_codes_.get()));
    return lpt_context_synchronize(c_);
  }

  std::vector<uint8_t> bytes(lpt_context *cpu) const {
    std::vector<uint8_t> all;
    for (const Tensor *const tensor : {&found_y_, &found_w_, &found_codes_}) {
      const std::vector<uint8_t> some = bytes_of(cpu, tensor->get());
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

 private:
  lpt_status create(lpt_format format, int64_t rows, int64_t columns, Tensor &tensor) {
    return lpt_tensor_create_matrix(c_, format, rows, columns, out(tensor));
  }

  lpt_status send() {
    LPT_TEST_TRY(create(LPT_FORMAT_F32, 32, 64, input_));
    LPT_TEST_TRY(create(LPT_FORMAT_F32, 48, 64, weight_));
    LPT_TEST_TRY(create(LPT_FORMAT_F32, 32, 48, y_));
    LPT_TEST_TRY(create(LPT_FORMAT_F32, 48, 64, gradient_));
    LPT_TEST_TRY(lpt_tensor_copy(c_, x_.get(), input_.get()));
    return lpt_tensor_copy(c_, w_.get(), weight_.get());
  }

  lpt_status cast() {
    LPT_TEST_TRY(create(LPT_FORMAT_NVFP4, 32, 64, codes_));
    lpt_scaler_options delayed = LPT_SCALER_OPTIONS_INIT;
    delayed.kind = LPT_SCALER_KIND_DELAYED;
    LPT_TEST_TRY(lpt_scaler_create(c_, &delayed, out(scaler_)));
    lpt_statistics *raw = nullptr;
    LPT_TEST_TRY(lpt_statistics_create(c_, &raw));
    statistics_.reset(raw);
    Tensor bytes;
    LPT_TEST_TRY(create(LPT_FORMAT_E4M3FN_TENSOR, 32, 64, bytes));
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scaler = scaler_.get();
    options.statistics = raw;
    LPT_TEST_TRY(lpt_quantize(c_, input_.get(), &options, bytes.get(), nullptr));
    options = LPT_QUANTIZE_OPTIONS_INIT;
    options.hadamard_size = 16;  // rotated in scratch
    return lpt_quantize(c_, input_.get(), &options, codes_.get(), nullptr);
  }

  lpt_status multiply() {
    Tensor a, b, c;
    LPT_TEST_TRY(create(LPT_FORMAT_E4M3FN_ROW, 32, 64, a));
    LPT_TEST_TRY(create(LPT_FORMAT_E4M3FN_ROW, 48, 64, b));
    LPT_TEST_TRY(create(LPT_FORMAT_BF16, 32, 48, c));
    LPT_TEST_TRY(lpt_quantize(c_, input_.get(), nullptr, a.get(), nullptr));
    LPT_TEST_TRY(lpt_quantize(c_, weight_.get(), nullptr, b.get(), nullptr));
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    options.activation = LPT_ACTIVATION_GELU;  // with sums in scratch
    return lpt_gemm(c_, a.get(), b.get(), &options, c.get());
  }

  lpt_status train() {
    Recipe recipe;
    LPT_TEST_TRY(lpt_recipe_create(c_, "fp8_trillion", out(recipe)));
    lpt_linear_shape shape = {sizeof shape, 64, 48};
    LPT_TEST_TRY(lpt_linear_create(c_, recipe.get(), &shape, out(linear_)));
    LPT_TEST_TRY(lpt_linear_prepare(c_, linear_.get(), weight_.get(), nullptr));
    size_t bytes = 0;
    LPT_TEST_TRY(lpt_linear_saved_size(c_, linear_.get(), 32, &bytes));
    LPT_TEST_TRY(create(LPT_FORMAT_UINT8, 1, static_cast<int64_t>(bytes), saved_));
    LPT_TEST_TRY(lpt_linear_forward(c_, linear_.get(), input_.get(), nullptr, saved_.get(), y_.get()));
    LPT_TEST_TRY(
        lpt_linear_backward(c_, linear_.get(), saved_.get(), y_.get(), nullptr, nullptr, gradient_.get(), nullptr));
    lpt_linear *const linears[] = {linear_.get()};
    LPT_TEST_TRY(lpt_linear_update_scalers(c_, linears, 1));
    return step();
  }

  lpt_status step() {
    LPT_TEST_TRY(lpt_optimizer_create(c_, nullptr, out(optimizer_)));
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    parameter.elements = 48 * 64;
    parameter.first_moment = LPT_FORMAT_E4M3FN_TENSOR;
    parameter.second_moment = LPT_FORMAT_E5M2_TENSOR;
    int64_t index = -1;
    LPT_TEST_TRY(lpt_optimizer_add(c_, optimizer_.get(), nullptr, &parameter, &index));
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    options.largest_norm = 1.0;
    const lpt_tensor *const gradients[] = {gradient_.get()};
    lpt_tensor *const parameters[] = {weight_.get()};
    return lpt_optimizer_step(c_, optimizer_.get(), &index, 1, gradients, &options, parameters);
  }

  lpt_context *const c_;
  const Tensor x_, w_, found_y_, found_w_, found_codes_;  // on the CPU
  Tensor input_, weight_, y_, gradient_, codes_, saved_;
  Scaler scaler_;
  std::unique_ptr<lpt_statistics, DestroyStatistics> statistics_;
  Linear linear_;
  Optimizer optimizer_;
};
#undef LPT_TEST_TRY

class DeviceAllocator : public Devices {
 protected:
  DeviceAllocator() {
    Scenario scenario(cpu(), gpu());
    EXPECT_TRUE(ok(gpu(), scenario.run()));
    expected_ = scenario.bytes(cpu());
    setenv("LPT_TEST_NO_MEMORY", "1", 1);  // the test runtime rejects all further allocations
  }
  ~DeviceAllocator() override { unsetenv("LPT_TEST_NO_MEMORY"); }

  const std::vector<uint8_t> &expected() const { return expected_; }
  DevicePool &pool() { return pool_; }

 private:
  DevicePool pool_;
  std::vector<uint8_t> expected_;
};

TEST_F(DeviceAllocator, OfTheCallerGivesAllMemoryAndGetsItBack) {
  {
    const Context context = make_gpu_context(pool().options());
    Scenario scenario(cpu(), context.get());
    ASSERT_TRUE(ok(context.get(), scenario.run()));
    EXPECT_EQ(expected(), scenario.bytes(cpu()));
    EXPECT_GT(pool().live_count(), 5);
    for (void *const stream : pool().streams()) EXPECT_EQ(nullptr, stream);
  }
  EXPECT_EQ(0, pool().live_count());
}

TEST_F(DeviceAllocator, OutlivesItsContextInTensors) {
  Context context = make_gpu_context(pool().options());
  Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NVFP4, 16, 64);
  Tensor part = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  context.reset();
  tensor.reset();
  EXPECT_EQ(1, pool().live_count()) << "the part keeps the memory";
  part.reset();
  EXPECT_EQ(0, pool().live_count());
}

TEST_F(DeviceAllocator, DoesNotGrowOverSteps) {
  const Context context = make_gpu_context(pool().options());
  const auto run = [&] { EXPECT_TRUE(ok(context.get(), Scenario(cpu(), context.get()).run())); };
  run();
  run();
  const int64_t after_two = pool().live_count();
  for (int i = 0; i < 3; ++i) run();
  EXPECT_EQ(after_two, pool().live_count());
  EXPECT_TRUE(ok(context.get(), lpt_context_trim(context.get(), 0)));
  EXPECT_EQ(0, pool().live_count());
}

TEST_F(DeviceAllocator, FailingAnywhereIsOutOfMemoryAndNothingLeaks) {
  int64_t failures = 0;
  for (bool is_done = false; !is_done;) {
    const Context context = make_gpu_context(pool().options());
    {
      Scenario scenario(cpu(), context.get());
      pool().fail_at(failures);
      const lpt_status status = scenario.run();
      is_done = static_cast<int64_t>(pool().streams().size()) <= failures;
      pool().fail_at(-1);
      if (!is_done) {
        ASSERT_EQ(LPT_OUT_OF_MEMORY, status) << "allocation " << failures;
        expect_words({"device_allocate returned NULL: expected ", " bytes"}, lpt_context_error(context.get()));
        ++failures;
      }
    }
    Scenario again(cpu(), context.get());
    ASSERT_TRUE(ok(context.get(), again.run())) << "afterwards";
    EXPECT_EQ(expected(), again.bytes(cpu()));
  }
  EXPECT_GT(failures, 10);
}

}  // namespace
}  // namespace lpt::test
