// Memory: every allocation is released. Every failed allocation returns an error and leaves all objects usable.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/api/failing_memory.hpp"
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

// Counts allocations, and fails allocation number `fails_at` once.
struct Counter {
  std::atomic<int64_t> live_bytes{0};
  std::atomic<int64_t> live_count{0};
  std::atomic<int64_t> taken{0};
  std::atomic<int64_t> fails_at{-1};
};

void *take(void *user, size_t bytes, size_t alignment) {
  Counter &counter = *static_cast<Counter *>(user);
  if (counter.taken++ == counter.fails_at) return nullptr;
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) return nullptr;
  std::memset(memory, 0xC7, bytes);  // not zeroed
  counter.live_bytes += static_cast<int64_t>(bytes);
  ++counter.live_count;
  return memory;
}

void give_back(void *user, void *memory, size_t bytes) {
  Counter &counter = *static_cast<Counter *>(user);
  counter.live_bytes -= static_cast<int64_t>(bytes);
  --counter.live_count;
  std::free(memory);
}

Context make_counted(Counter &counter, int32_t threads) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = threads;
  options.allocate = take;
  options.release = give_back;
  options.allocator_user = &counter;
  Context context;
  EXPECT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
  return context;
}

// A training step that returns the first status other than OK: it creates tensors, casts, multiplies, and runs a layer,
// a softmax and an optimizer step. It allocates no other memory while it runs.
class Scenario {
 public:
  explicit Scenario(lpt_context *context) : c_(context) {}

  lpt_status run() {
    lpt_status status = make_tensors();
    if (status == LPT_OK) status = cast_and_multiply();
    return status == LPT_OK ? train() : status;
  }

  const std::vector<float> &numbers() const { return numbers_; }

 private:
#define LPT_TEST_TRY(call)                       \
  do {                                           \
    const lpt_status try_status = (call);        \
    if (try_status != LPT_OK) return try_status; \
  } while (0)

  lpt_status create(lpt_format format, int64_t rows, int64_t columns, Tensor &tensor) {
    const int64_t extents[] = {rows, columns};
    return lpt_tensor_create(c_, format, 2, extents, out(tensor));
  }

  lpt_status make_tensors() {
    LPT_TEST_TRY(lpt_tensor_wrap_matrix(c_, LPT_FORMAT_F32, input_, 40, 32, 0, out(x_)));
    LPT_TEST_TRY(lpt_tensor_wrap_matrix(c_, LPT_FORMAT_F32, weight_, 24, 32, 0, out(w_)));
    LPT_TEST_TRY(lpt_tensor_wrap_matrix(c_, LPT_FORMAT_F32, numbers_.data(), 40, 24, 0, out(y_)));
    LPT_TEST_TRY(create(LPT_FORMAT_F32, 24, 32, dw_));
    LPT_TEST_TRY(create(LPT_FORMAT_F32, 40, 32, dx_));
    LPT_TEST_TRY(create(LPT_FORMAT_F32, 40, 24, probabilities_));
    return LPT_OK;
  }

  lpt_status cast_and_multiply() {
    Tensor codes, transposed_copy, part;
    LPT_TEST_TRY(create(LPT_FORMAT_NVFP4, 40, 32, codes));
    LPT_TEST_TRY(create(LPT_FORMAT_E5M2_TENSOR, 32, 40, transposed_copy));
    LPT_TEST_TRY(lpt_quantize(c_, x_.get(), nullptr, codes.get(), transposed_copy.get()));
    LPT_TEST_TRY(lpt_tensor_view_part(c_, codes.get(), LPT_TENSOR_PART_BLOCK_SCALES, out(part)));
    lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
    options.is_b_transposed = 1;
    return lpt_gemm(c_, codes.get(), w_.get(), &options, y_.get());
  }

  lpt_status train() {
    Recipe recipe;
    Linear linear;
    Tensor saved;
    Optimizer optimizer;
    lpt_linear_shape shape = {sizeof shape, 32, 24};
    LPT_TEST_TRY(lpt_recipe_create(c_, "fp8_trillion", out(recipe)));
    LPT_TEST_TRY(lpt_linear_create(c_, recipe.get(), &shape, out(linear)));
    LPT_TEST_TRY(lpt_linear_prepare(c_, linear.get(), w_.get(), nullptr));
    size_t bytes = 0;
    LPT_TEST_TRY(lpt_linear_saved_size(c_, linear.get(), 40, &bytes));
    const int64_t extents[] = {static_cast<int64_t>(bytes)};
    LPT_TEST_TRY(lpt_tensor_create(c_, LPT_FORMAT_UINT8, 1, extents, out(saved)));
    LPT_TEST_TRY(lpt_linear_forward(c_, linear.get(), x_.get(), nullptr, saved.get(), y_.get()));
    LPT_TEST_TRY(lpt_softmax_forward(c_, y_.get(), nullptr, probabilities_.get()));
    LPT_TEST_TRY(lpt_linear_backward(c_, linear.get(), saved.get(), probabilities_.get(), nullptr, dx_.get(), dw_.get(),
                                     nullptr));
    lpt_linear *const linears[] = {linear.get()};
    LPT_TEST_TRY(lpt_linear_update_scalers(c_, linears, 1));
    LPT_TEST_TRY(lpt_optimizer_create(c_, nullptr, out(optimizer)));
    lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
    parameter.elements = 24 * 32;
    parameter.first_moment = LPT_FORMAT_E4M3FN_TENSOR;
    parameter.second_moment = LPT_FORMAT_E5M2_TENSOR;
    int64_t index = -1;
    LPT_TEST_TRY(lpt_optimizer_add(c_, optimizer.get(), nullptr, &parameter, &index));
    const lpt_tensor *const gradients[] = {dw_.get()};
    lpt_tensor *const parameters[] = {w_.get()};
    return lpt_optimizer_step(c_, optimizer.get(), &index, 1, gradients, nullptr, parameters);
  }
#undef LPT_TEST_TRY

  static constexpr float kPattern[] = {0.5f, -1.25f, 3.0f, 0.01f, -2.0f, 7.0f, 0.125f};
  lpt_context *c_;
  float input_[40 * 32] = {}, weight_[24 * 32] = {};
  std::vector<float> numbers_ = fill();
  Tensor x_, w_, y_, dw_, dx_, probabilities_;

  std::vector<float> fill() {
    for (size_t i = 0; i < std::size(input_); ++i) input_[i] = kPattern[i % 7] * static_cast<float>(i % 11);
    for (size_t i = 0; i < std::size(weight_); ++i) weight_[i] = kPattern[i % 5] * 0.1f;
    return std::vector<float>(40 * 24);
  }
};

lpt_status run(lpt_context *context, std::vector<float> &result) {
  Scenario scenario(context);
  const lpt_status status = scenario.run();
  result = scenario.numbers();
  return status;
}

TEST(Allocator, OfTheCallerGetsEverythingBack) {
  Counter counter;
  {
    const Context context = make_counted(counter, 2);
    std::vector<float> result;
    ASSERT_TRUE(ok(context.get(), run(context.get(), result)));
    EXPECT_GT(counter.taken, 0);
  }
  EXPECT_EQ(0, counter.live_bytes);
  EXPECT_EQ(0, counter.live_count);
}

TEST(Allocator, OutlivesItsContextInTensors) {
  Counter counter;
  Context context = make_counted(counter, 1);
  Tensor tensor = make_tensor(context.get(), LPT_FORMAT_NVFP4, 16, 64);
  Tensor part = part_of(context.get(), tensor.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  context.reset();
  tensor.reset();
  EXPECT_GT(counter.live_bytes, 0) << "the part keeps the memory";
  part.reset();
  EXPECT_EQ(0, counter.live_bytes);
}

TEST(Allocator, DoesNotGrowOverSteps) {
  Counter counter;
  const Context context = make_counted(counter, 1);
  std::vector<float> result;
  ASSERT_TRUE(ok(context.get(), run(context.get(), result)));
  ASSERT_TRUE(ok(context.get(), run(context.get(), result)));
  const int64_t after_two = counter.live_bytes;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(ok(context.get(), run(context.get(), result)));
  EXPECT_EQ(after_two, counter.live_bytes);
}

TEST(Allocator, TrimFreesScratchOnly) {
  Counter counter;
  const Context context = make_counted(counter, 1);
  const Tensor source = make_tensor(context.get(), LPT_FORMAT_F32, 64, 64);
  const Tensor target = make_tensor(context.get(), LPT_FORMAT_NVFP4, 64, 64);
  const int64_t tensors = counter.live_bytes;
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.hadamard_size = 16;  // rotated in scratch
  const auto cast = [&] {
    EXPECT_TRUE(ok(context.get(), lpt_quantize(context.get(), source.get(), &options, nullptr, target.get())));
  };
  cast();
  cast();  // scratch of the first call becomes one block
  const int64_t all = counter.live_bytes;
  EXPECT_LT(tensors, all);
  EXPECT_TRUE(ok(context.get(), lpt_context_trim(context.get(), static_cast<size_t>(all - tensors))));
  EXPECT_EQ(all, counter.live_bytes);
  EXPECT_TRUE(ok(context.get(), lpt_context_trim(context.get(), static_cast<size_t>(all - tensors - 1))));
  EXPECT_EQ(tensors, counter.live_bytes);
  cast();
  EXPECT_TRUE(ok(context.get(), lpt_context_trim(context.get(), 0)));
  EXPECT_EQ(tensors, counter.live_bytes);
}

// Two layers of one shape: each prepare reuses the memory of the casts that the other layer replaced.
// Batches of different lengths are computed one after another.
TEST(Allocator, GivesTheScratchOfABatchToTheNext) {
  size_t scratch[2];
  for (const int is_varied : {0, 1}) {
    Counter counter;
    const Context context = make_counted(counter, 2);
    lpt_context *const c = context.get();
    const std::vector<int64_t> extents = {16, 2, 64, 32};
    const Tensor heads = make_tensor(c, LPT_FORMAT_F32, extents), output = make_tensor(c, LPT_FORMAT_F32, extents),
                 key_gradient = make_tensor(c, LPT_FORMAT_F32, extents),
                 value_gradient = make_tensor(c, LPT_FORMAT_F32, extents);
    std::vector<int64_t> lengths(16, 64);
    for (size_t b = 1; b < lengths.size(); b += 2) lengths[b] -= is_varied;
    const Tensor given = indices_of(c, lengths);
    lpt_attention_options options = LPT_ATTENTION_OPTIONS_INIT;
    options.key_lengths = given.get();
    const int64_t before = counter.live_bytes;
    ASSERT_TRUE(ok(c, lpt_attention_backward(c, heads.get(), heads.get(), heads.get(), heads.get(), &options,
                                             output.get(), key_gradient.get(), value_gradient.get())));
    scratch[is_varied] = static_cast<size_t>(counter.live_bytes - before);
  }
  EXPECT_LE(scratch[1], scratch[0]);
}

TEST(Allocator, IsNotUsedForCastsThatReplaceOthers) {
  Counter counter;
  const Context context = make_counted(counter, 1);
  lpt_context *const c = context.get();
  const Tensor weight = tensor_of(c, LPT_FORMAT_F32, 24, 32, draw_normal(3, 24 * 32));
  Recipe recipe;
  ASSERT_TRUE(ok(c, lpt_recipe_create(c, "mxfp8", out(recipe))));
  Linear layers[2];
  const lpt_linear_shape shape = {sizeof shape, 32, 24};
  for (Linear &layer : layers) ASSERT_TRUE(ok(c, lpt_linear_create(c, recipe.get(), &shape, out(layer))));
  const auto prepare = [&] {
    for (const Linear &layer : layers) {
      ASSERT_TRUE(ok(c, lpt_linear_prepare(c, layer.get(), weight.get(), nullptr)));
    }
  };
  prepare();
  prepare();  // the first layer allocates a second time
  const int64_t taken = counter.taken;
  for (int step = 0; step < 5; ++step) prepare();
  EXPECT_EQ(taken, counter.taken);
  ASSERT_TRUE(ok(c, lpt_context_trim(c, 0)));
  prepare();
  EXPECT_LT(taken, counter.taken);
}

TEST(Allocator, GivesTheSameBitsFromMemoryThatIsNotClean) {
  Counter counter;
  const Context counted = make_counted(counter, 1);
  const Context usual = make_context(1);
  std::vector<float> expected, given;
  ASSERT_TRUE(ok(usual.get(), run(usual.get(), expected)));
  ASSERT_TRUE(ok(counted.get(), run(counted.get(), given)));
  EXPECT_EQ(expected, given);
}

TEST(Allocator, FailingAnywhereIsOutOfMemoryAndNothingLeaks) {
  for (const int32_t threads : {1, 2}) {
    const Context usual = make_context(1);
    std::vector<float> expected;
    ASSERT_TRUE(ok(usual.get(), run(usual.get(), expected)));
    int64_t failures = 0;
    for (bool is_done = false; !is_done;) {
      Counter counter;
      {
        const Context context = make_counted(counter, threads);
        counter.fails_at = failures;
        std::vector<float> result;
        const lpt_status status = run(context.get(), result);
        is_done = counter.taken <= failures;
        if (!is_done) {
          ASSERT_EQ(LPT_OUT_OF_MEMORY, status) << "allocation " << failures;
          EXPECT_NE(nullptr, std::strstr(lpt_context_error(context.get()), "bytes"))
              << lpt_context_error(context.get());
          ++failures;
        }
        counter.fails_at = -1;
        ASSERT_TRUE(ok(context.get(), run(context.get(), result))) << "afterwards";
        EXPECT_EQ(expected, result);
      }
      ASSERT_EQ(0, counter.live_bytes) << "allocation " << failures;
    }
    EXPECT_GT(failures, 10);
  }
}

// Runs `body` with allocation `number` of operator new failing. Returns whether an allocation failed.
template <typename Body>
bool fail_new(int64_t number, Body body) {
  FailingMemory &memory = failing_memory();
  memory = {number};
  body();
  memory.left = -1;
  return memory.has_failed;
}

// Runs the scenario with the n-th operator new failing, for n from 0 until none fails. Returns the number of failures.
int64_t fail_every_new(lpt_context *context, const std::vector<float> &expected) {
  for (int64_t failures = 0;; ++failures) {
    Scenario scenario(context);
    lpt_status status = LPT_OK;
    if (!fail_new(failures, [&] { status = scenario.run(); })) {
      EXPECT_TRUE(ok(context, status));
      return failures;
    }
    if (status != LPT_OUT_OF_MEMORY) {
      // If a thread cannot start, the call runs without it and has the same result.
      EXPECT_TRUE(ok(context, status)) << "operator new " << failures;
      EXPECT_EQ(expected, scenario.numbers()) << "operator new " << failures;
    }
    if (testing::Test::HasFailure() || failures == 100000) return failures;
  }
}

TEST(OperatorNew, FailingAnywhereIsOutOfMemoryAndNothingLeaks) {
  const Context usual = make_context(1);
  std::vector<float> expected;
  ASSERT_TRUE(ok(usual.get(), run(usual.get(), expected)));
  for (const int32_t threads : {1, 2}) {
    Counter counter;
    {
      const Context context = make_counted(counter, threads);
      EXPECT_GT(fail_every_new(context.get(), expected), 20);
      std::vector<float> result;
      ASSERT_TRUE(ok(context.get(), run(context.get(), result))) << "afterwards";
      EXPECT_EQ(expected, result);
    }
    EXPECT_EQ(0, counter.live_bytes);
  }
}

// An optimizer with two parameters, so that a failure between them is detected. Each try uses a new context with new threads.
class Stepping {
 public:
  explicit Stepping(lpt_context *context) : c_(context) {
    EXPECT_TRUE(ok(c_, lpt_optimizer_create(c_, nullptr, out(optimizer_))));
    for (size_t k = 0; k < 2; ++k) {
      const int64_t elements = k == 0 ? 1000 : 1 << 17;  // one task, then several that start the threads
      lpt_optimizer_parameter parameter = LPT_OPTIMIZER_PARAMETER_INIT;
      parameter.elements = elements;
      parameter.first_moment = LPT_FORMAT_E4M3FN_TENSOR;
      parameter.second_moment = LPT_FORMAT_E5M2_1X128;
      EXPECT_TRUE(ok(c_, lpt_optimizer_add(c_, optimizer_.get(), nullptr, &parameter, &indices_[k])));
      gradients_[k] = tensor_of(c_, LPT_FORMAT_F32, 1, elements, draw_normal(570 + k, elements));
      values_[k] = tensor_of(c_, LPT_FORMAT_F32, 1, elements, draw_normal(580 + k, elements));
    }
    EXPECT_TRUE(ok(c_, lpt_context_set_threads(c_, 2)));  // no thread has started
  }

  lpt_status step(double largest_norm) {
    const lpt_tensor *const gradients[] = {gradients_[0].get(), gradients_[1].get()};
    lpt_tensor *const values[] = {values_[0].get(), values_[1].get()};
    lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
    options.largest_norm = largest_norm;
    return lpt_optimizer_step(c_, optimizer_.get(), indices_, 2, gradients, &options, values);
  }

  // Returns the values and states of both parameters.
  std::vector<uint8_t> bits() {
    std::vector<uint8_t> all;
    for (size_t k = 0; k < 2; ++k) {
      size_t bytes = 0;
      EXPECT_TRUE(ok(c_, lpt_optimizer_state_size(c_, optimizer_.get(), indices_[k], &bytes)));
      std::vector<uint8_t> part(bytes);
      EXPECT_TRUE(ok(c_, lpt_optimizer_state_save(c_, optimizer_.get(), indices_[k], part.data(), bytes)));
      const std::vector<uint8_t> values = bytes_of(c_, values_[k].get());
      part.insert(part.end(), values.begin(), values.end());
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

 private:
  lpt_context *c_;
  Optimizer optimizer_;
  int64_t indices_[2] = {};
  Tensor gradients_[2], values_[2];
};

// `fail(counter, number, body)` runs a step with allocation `number` failing, and returns whether an allocation failed.
template <typename Fail>
void expect_all_or_nothing(double largest_norm, int64_t least_failures, const Fail &fail) {
  int64_t failures = 0;
  for (bool is_done = false; !is_done; ++failures) {
    Counter counter;
    const Context context = make_counted(counter, 1);
    Stepping stepping(context.get());
    const std::vector<uint8_t> before = stepping.bits();
    lpt_status status = LPT_OK;
    is_done = !fail(counter, failures, [&] { status = stepping.step(largest_norm); });
    if (status == LPT_OK) {  // also if it ran with fewer threads
      EXPECT_NE(before, stepping.bits());
    } else {
      EXPECT_EQ(LPT_OUT_OF_MEMORY, status) << "allocation " << failures;
      EXPECT_EQ(before, stepping.bits()) << "allocation " << failures;
      EXPECT_TRUE(ok(context.get(), stepping.step(largest_norm))) << "afterwards";
    }
    ASSERT_LT(failures, 10000);
  }
  EXPECT_GE(failures, least_failures);
}

TEST(OperatorNew, FailingInAnOptimizersStepChangesNothing) {
  for (const double largest_norm : {0.0, 1.0}) {
    expect_all_or_nothing(largest_norm, 5, [](Counter &, int64_t number, auto body) { return fail_new(number, body); });
  }
}

TEST(Allocator, FailingInAnOptimizersStepChangesNothing) {
  expect_all_or_nothing(1.0, 2, [](Counter &counter, int64_t number, auto body) {
    const int64_t taken = counter.taken;
    counter.fails_at = taken + number;
    body();
    counter.fails_at = -1;
    return counter.taken > taken + number;
  });
}

TEST(OperatorNew, FailingWhileAProfileIsTakenIsOutOfMemory) {
  const Context context = make_context(1);
  std::vector<float> expected;
  ASSERT_TRUE(ok(context.get(), run(context.get(), expected)));
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  EXPECT_GT(fail_every_new(context.get(), expected), 20);
}

TEST(OperatorNew, FailingInCreateIsOutOfMemory) {
  for (int64_t failures = 0;; ++failures) {
    lpt_context *context = nullptr;
    lpt_status status = LPT_OK;
    if (!fail_new(failures, [&] { status = lpt_context_create(nullptr, &context); })) {
      EXPECT_EQ(LPT_OK, status);
      EXPECT_GT(failures, 2);
      lpt_context_destroy(context);
      return;
    }
    ASSERT_EQ(LPT_OUT_OF_MEMORY, status) << "operator new " << failures;
    ASSERT_EQ(nullptr, context);
  }
}

TEST(Memory, ThatCannotBeAddressedIsOutOfMemory) {
  Counter counter;
  const Context context = make_counted(counter, 1);
  counter.fails_at = 0;
  const int64_t extents[] = {int64_t{1} << 28, int64_t{1} << 28};
  Tensor tensor;
  EXPECT_EQ(LPT_OUT_OF_MEMORY, lpt_tensor_create(context.get(), LPT_FORMAT_F64, 2, extents, out(tensor)));
  EXPECT_EQ(nullptr, tensor);
}

// Returns the flags of the mapping that contains an address, from /proc/self/smaps.
std::string flags_of_mapping(const void *address) {
  std::ifstream maps("/proc/self/smaps");
  const auto oracle = reinterpret_cast<uintptr_t>(address);
  bool is_expected = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) is_expected = begin <= oracle && oracle < end;
    if (is_expected && line.starts_with("VmFlags:")) return line + " ";
  }
  return "";
}

TEST(Memory, LargeTensorsLieInHugePagesWhereThereAreSome) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "this system has no huge pages";
  const Context context = make_context();
  for (const int64_t rows : {512, 1025}) {  // of 4 KiB each: the first size is exactly a huge page
    const int64_t extents[] = {rows, 1024};
    Tensor tensor;
    ASSERT_TRUE(ok(context.get(), lpt_tensor_create(context.get(), LPT_FORMAT_F32, 2, extents, out(tensor))));
    lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
    ASSERT_TRUE(ok(context.get(), lpt_tensor_describe(context.get(), tensor.get(), &description)));
    const std::string flags = flags_of_mapping(description.data);
    EXPECT_NE(std::string::npos, flags.find(" hg ")) << rows << ": " << flags;
  }
}

}  // namespace
}  // namespace lpt::test
