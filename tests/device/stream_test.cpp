// Stream order: work that the library queues on the caller's stream runs after the queued work of the caller, and before later
// work. The test runtime runs work only when its stream is synchronized, so that work on another stream is incomplete when the
// caller's stream is synchronized.
#include <functional>

#include "tests/device/device_pool.hpp"
#include "tests/support/program_folder.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kRows = 20, kColumns = 144;

// A GPU context on a separate stream; in the test runtime, stream handles are arbitrary values.
Context context_on(uintptr_t stream) {
  Context context = make_gpu_context();
  EXPECT_TRUE(ok(context.get(), lpt_context_set_stream(context.get(), reinterpret_cast<void *>(stream))));
  return context;
}

// Sets two of every four elements to zero.
std::vector<double> half_of(std::vector<double> numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= i % 4 < 2 ? 1.0 : 0.0;
  return numbers;
}

class StreamOrder : public testing::Test {
 protected:
  StreamOrder() {
    setenv("LPT_PLUGIN_PATH", (program_folder() + "/on_cpu").c_str(), 1);
    setenv("LPT_TEST_LATE", "1", 1);
  }
  ~StreamOrder() override {
    unsetenv("LPT_PLUGIN_PATH");
    unsetenv("LPT_TEST_LATE");
  }

  using Call = std::function<lpt_status(lpt_context *, const lpt_tensor *source, lpt_tensor *target)>;

  // `call` reads a source that the caller's queued work writes, and queued work reads its result.
  void expect_in_order(lpt_format source_format, lpt_format target_format, bool is_transposed, const Call &call) {
    const Context cpu = make_context(), caller = context_on(7), library = context_on(7);
    const Tensor source =
        tensor_of(cpu.get(), source_format, kRows, kColumns, half_of(draw_normal(1, kRows * kColumns)));
    const int64_t rows = is_transposed ? kColumns : kRows, columns = is_transposed ? kRows : kColumns;
    const auto make = [&](const Context &context) { return make_tensor(context.get(), target_format, rows, columns); };
    const Tensor expected = make(cpu), there = make(library), found = make(cpu);
    ASSERT_TRUE(ok(cpu.get(), call(cpu.get(), source.get(), expected.get())));

    const Tensor kept = make_tensor(caller.get(), source_format, kRows, kColumns);
    const Tensor moved = make_tensor(caller.get(), source_format, kRows, kColumns);
    ASSERT_TRUE(ok(caller.get(), lpt_tensor_copy(caller.get(), source.get(), kept.get())));
    ASSERT_TRUE(ok(caller.get(), lpt_tensor_copy(caller.get(), kept.get(), moved.get())));  // not executed yet
    ASSERT_TRUE(ok(library.get(), call(library.get(), moved.get(), there.get())));
    const Tensor copy = make(caller);
    ASSERT_TRUE(ok(caller.get(), lpt_tensor_copy(caller.get(), there.get(), copy.get())));
    ASSERT_TRUE(ok(caller.get(), lpt_context_synchronize(caller.get())));
    ASSERT_TRUE(ok(caller.get(), lpt_tensor_copy(caller.get(), copy.get(), found.get())));
    EXPECT_EQ(bytes_of(cpu.get(), expected.get()), bytes_of(cpu.get(), found.get())) << name_of(target_format);
  }
};

TEST_F(StreamOrder, WorkOfAnotherStreamIsNotWaitedFor) {
  const Context cpu = make_context(), one = context_on(7), other = context_on(8);
  const Tensor source = tensor_of(cpu.get(), LPT_FORMAT_F32, 1, 4, {1, 2, 3, 4});
  const Tensor there = make_tensor(one.get(), LPT_FORMAT_F32, 1, 4),
               copy = make_tensor(one.get(), LPT_FORMAT_F32, 1, 4);
  const Tensor found = make_tensor(cpu.get(), LPT_FORMAT_F32, 1, 4);
  ASSERT_TRUE(ok(one.get(), lpt_tensor_copy(one.get(), source.get(), there.get())));
  ASSERT_TRUE(ok(other.get(), lpt_tensor_copy(other.get(), there.get(), copy.get())));
  ASSERT_TRUE(ok(one.get(), lpt_tensor_copy(one.get(), copy.get(), found.get())));
  EXPECT_EQ((std::vector<double>{0, 0, 0, 0}), numbers_of(cpu.get(), found.get()));
  ASSERT_TRUE(ok(other.get(), lpt_context_synchronize(other.get())));
  ASSERT_TRUE(ok(one.get(), lpt_tensor_copy(one.get(), copy.get(), found.get())));
  EXPECT_EQ((std::vector<double>{1, 2, 3, 4}), numbers_of(cpu.get(), found.get()));
}

TEST_F(StreamOrder, GroupEndsAreReadAfterTheWorkThatWritesThem) {
  const Context cpu = make_context(), caller = context_on(7);
  lpt_context *const c = caller.get();
  const Tensor a = make_tensor(c, LPT_FORMAT_BF16, 4, 8), b = make_tensor(c, LPT_FORMAT_BF16, {2, 8, 8}),
               result = make_tensor(c, LPT_FORMAT_F32, 4, 8);
  const Tensor ends = indices_of(cpu.get(), {1, 5});
  const Tensor kept = make_tensor(c, LPT_FORMAT_INT64, 1, 2), moved = make_tensor(c, LPT_FORMAT_INT64, 1, 2);
  ASSERT_TRUE(ok(c, lpt_tensor_copy(c, ends.get(), kept.get())));
  ASSERT_TRUE(ok(c, lpt_tensor_copy(c, kept.get(), moved.get())));  // not executed yet: the ends are 0, which is valid
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_gemm_grouped(c, a.get(), b.get(), moved.get(), nullptr, result.get()));
  expect_words({"group_ends[1] is 5", "expected 1 to 4"}, lpt_context_error(c));
}

TEST_F(StreamOrder, OptionsNameTheFirstStream) {
  lpt_context_options options = gpu_options();
  options.stream = reinterpret_cast<void *>(uintptr_t{7});
  const Context cpu = make_context(), first = make_gpu_context(options), other = context_on(8);
  EXPECT_EQ(options.stream, lpt_context_stream(first.get()));
  const Tensor source = tensor_of(cpu.get(), LPT_FORMAT_F32, 1, 4, {1, 2, 3, 4});
  const Tensor kept = make_tensor(first.get(), LPT_FORMAT_F32, 1, 4),
               moved = make_tensor(first.get(), LPT_FORMAT_F32, 1, 4),
               found = make_tensor(cpu.get(), LPT_FORMAT_F32, 1, 4);
  ASSERT_TRUE(ok(first.get(), lpt_tensor_copy(first.get(), source.get(), kept.get())));
  ASSERT_TRUE(ok(first.get(), lpt_tensor_copy(first.get(), kept.get(), moved.get())));  // not executed yet
  ASSERT_TRUE(ok(other.get(), lpt_tensor_copy(other.get(), moved.get(), found.get())));
  EXPECT_EQ((std::vector<double>{0, 0, 0, 0}), numbers_of(cpu.get(), found.get()));
  const Context caller = context_on(7);
  ASSERT_TRUE(ok(caller.get(), lpt_context_synchronize(caller.get())));
  ASSERT_TRUE(ok(other.get(), lpt_tensor_copy(other.get(), moved.get(), found.get())));
  EXPECT_EQ((std::vector<double>{1, 2, 3, 4}), numbers_of(cpu.get(), found.get()));
}

TEST_F(StreamOrder, AnotherStreamIsWaitedForOnRequest) {
  void *const seventh = reinterpret_cast<void *>(uintptr_t{7}), *const eighth = reinterpret_cast<void *>(uintptr_t{8});
  void *const event = reinterpret_cast<void *>(uintptr_t{99});  // event handles are arbitrary values, too
  using Order = std::function<void(lpt_context *, lpt_context *)>;
  const std::vector<std::pair<Order, std::vector<double>>> cases = {
      {[](lpt_context *, lpt_context *) {}, {0, 0, 0, 0}},
      {[&](lpt_context *, lpt_context *later) { EXPECT_TRUE(ok(later, lpt_context_wait_stream(later, seventh))); },
       {1, 2, 3, 4}},
      {[&](lpt_context *earlier, lpt_context *) {
         EXPECT_TRUE(ok(earlier, lpt_context_notify_stream(earlier, eighth)));
       },
       {1, 2, 3, 4}},
      {[&](lpt_context *earlier, lpt_context *later) {
         EXPECT_TRUE(ok(earlier, lpt_context_record_event(earlier, event)));
         EXPECT_TRUE(ok(later, lpt_context_wait_event(later, event)));
       },
       {1, 2, 3, 4}}};
  for (const auto &[order, expected] : cases) {
    const Context cpu = make_context(), one = context_on(7), other = context_on(8);
    EXPECT_EQ(seventh, lpt_context_stream(one.get()));
    const Tensor source = tensor_of(cpu.get(), LPT_FORMAT_F32, 1, 4, {1, 2, 3, 4});
    const auto make = [&](const Context &context) { return make_tensor(context.get(), LPT_FORMAT_F32, 1, 4); };
    const Tensor kept = make(one), moved = make(one), copy = make(other), found = make(cpu);
    ASSERT_TRUE(ok(one.get(), lpt_tensor_copy(one.get(), source.get(), kept.get())));
    ASSERT_TRUE(ok(one.get(), lpt_tensor_copy(one.get(), kept.get(), moved.get())));
    order(one.get(), other.get());
    ASSERT_TRUE(ok(other.get(), lpt_tensor_copy(other.get(), moved.get(), copy.get())));
    ASSERT_TRUE(ok(other.get(), lpt_tensor_copy(other.get(), copy.get(), found.get())));
    EXPECT_EQ(expected, numbers_of(cpu.get(), found.get()));
    ASSERT_TRUE(ok(one.get(), lpt_context_synchronize(one.get())));
  }
  const Context gpu = context_on(7), cpu = make_context();
  EXPECT_EQ(nullptr, lpt_context_stream(nullptr));
  EXPECT_EQ(nullptr, lpt_context_stream(cpu.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_context_wait_event(gpu.get(), nullptr));
  expect_words({"event is NULL"}, lpt_context_error(gpu.get()));
}

TEST_F(StreamOrder, ManyStreamsShareOneContext) {
  // Each change of the stream leaves incomplete work that uses scratch.
  const Context cpu = make_context(), gpu = make_gpu_context();
  const Tensor source = tensor_of(cpu.get(), LPT_FORMAT_F32, 8, 64, draw_normal(1, 8 * 64));
  const Tensor expected = make_tensor(cpu.get(), LPT_FORMAT_NVFP4, 8, 64);
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.hadamard_size = 16;
  ASSERT_TRUE(ok(cpu.get(), lpt_quantize(cpu.get(), source.get(), &options, expected.get(), nullptr)));
  const Tensor there = make_tensor(gpu.get(), LPT_FORMAT_F32, 8, 64);
  ASSERT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), source.get(), there.get())));
  ASSERT_TRUE(ok(gpu.get(), lpt_context_synchronize(gpu.get())));
  std::vector<Tensor> targets;
  constexpr uintptr_t count = 20;  // exceeds the scratch blocks that a context keeps
  for (uintptr_t stream = 1; stream <= count; ++stream) {
    ASSERT_TRUE(ok(gpu.get(), lpt_context_set_stream(gpu.get(), reinterpret_cast<void *>(stream))));
    targets.push_back(make_tensor(gpu.get(), LPT_FORMAT_NVFP4, 8, 64));
    ASSERT_TRUE(ok(gpu.get(), lpt_quantize(gpu.get(), there.get(), &options, targets.back().get(), nullptr)));
  }
  for (uintptr_t stream = 1; stream <= count; ++stream) {
    ASSERT_TRUE(ok(gpu.get(), lpt_context_set_stream(gpu.get(), reinterpret_cast<void *>(stream))));
    const Tensor found = make_tensor(cpu.get(), LPT_FORMAT_NVFP4, 8, 64);
    ASSERT_TRUE(ok(gpu.get(), lpt_tensor_copy(gpu.get(), targets[stream - 1].get(), found.get())));
    EXPECT_EQ(bytes_of(cpu.get(), expected.get()), bytes_of(cpu.get(), found.get())) << stream;
  }
  EXPECT_TRUE(ok(gpu.get(), lpt_context_trim(gpu.get(), 0)));
}

// The caller's allocator allocates a block for the stream that uses it first, and the block is released with that stream.
TEST_F(StreamOrder, AllocatorsAreGivenTheStream) {
  void *const seventh = reinterpret_cast<void *>(uintptr_t{7}), *const eighth = reinterpret_cast<void *>(uintptr_t{8});
  DevicePool pool;
  lpt_context_options options = pool.options();
  options.stream = seventh;
  const Context gpu = make_gpu_context(options);
  const Tensor source = make_tensor(gpu.get(), LPT_FORMAT_F32, 8, 64);
  Tensor target = make_tensor(gpu.get(), LPT_FORMAT_NVFP4, 8, 64);
  EXPECT_EQ((std::vector<void *>{seventh, seventh}), pool.streams());
  ASSERT_TRUE(ok(gpu.get(), lpt_context_set_stream(gpu.get(), eighth)));
  target = make_tensor(gpu.get(), LPT_FORMAT_NVFP4, 8, 64);
  EXPECT_EQ((std::vector<void *>{seventh, eighth}), pool.live_streams());
  lpt_quantize_options rotated = LPT_QUANTIZE_OPTIONS_INIT;
  rotated.hadamard_size = 16;
  ASSERT_TRUE(ok(gpu.get(), lpt_quantize(gpu.get(), source.get(), &rotated, target.get(), nullptr)));
  EXPECT_LT(4u, pool.streams().size()) << "no scratch";
  for (size_t i = 3; i < pool.streams().size(); ++i) EXPECT_EQ(eighth, pool.streams()[i]);
  ASSERT_TRUE(ok(gpu.get(), lpt_context_synchronize(gpu.get())));
}

TEST_F(StreamOrder, CastsKeepIt) {
  const auto cast = [](lpt_context *context, const lpt_tensor *source, lpt_tensor *target) {
    return lpt_quantize(context, source, nullptr, target, nullptr);
  };
  expect_in_order(LPT_FORMAT_F32, LPT_FORMAT_NVFP4, false, cast);  // amax, tensor scale, cast
  expect_in_order(LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_128X128, false, cast);
  const auto decode = [](lpt_context *context, const lpt_tensor *source, lpt_tensor *target) {
    return lpt_dequantize(context, source, nullptr, target);
  };
  expect_in_order(LPT_FORMAT_MXFP8_E4M3, LPT_FORMAT_BF16, false, decode);
}

TEST_F(StreamOrder, PreparedCastsKeepIt) {
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  options.hadamard_size = 16;
  expect_in_order(LPT_FORMAT_F32, LPT_FORMAT_MXFP4, true,
                  [&](lpt_context *context, const lpt_tensor *source, lpt_tensor *target) {
                    return lpt_quantize(context, source, &options, nullptr, target);
                  });
}

TEST_F(StreamOrder, MasksAndPackingKeepIt) {
  expect_in_order(LPT_FORMAT_F32, LPT_FORMAT_F32, false,
                  [](lpt_context *context, const lpt_tensor *source, lpt_tensor *target) {
                    return lpt_sparse_mask_select(context, source, nullptr, nullptr, target, nullptr);
                  });
  expect_in_order(LPT_FORMAT_BF16, format_named("bf16/2:4"), false,
                  [](lpt_context *context, const lpt_tensor *source, lpt_tensor *target) {
                    return lpt_sparse_compress(context, source, nullptr, target, nullptr);
                  });
}

}  // namespace
}  // namespace lpt::test
