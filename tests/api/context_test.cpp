// Contexts: error text, log, threads, creation and destruction.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tests/api/support.hpp"
#include "tests/support/sanitized.hpp"

namespace lpt::test {
namespace {

// Error text and explanation.

TEST(ContextError, IsEmptyInANewContext) {
  const Context context = make_context();
  EXPECT_STREQ("", lpt_context_error(context.get()));
}

TEST(ContextError, StaysUntilTheNextCall) {
  const Context context = make_context();
  ASSERT_EQ(LPT_INVALID_ARGUMENT, lpt_context_set_threads(context.get(), -7));
  const std::string first = lpt_context_error(context.get());
  EXPECT_NE(std::string::npos, first.find("-7"));
  EXPECT_EQ(first, lpt_context_error(context.get()));
  EXPECT_STREQ("", lpt_context_explanation(context.get()));
  EXPECT_EQ(first, lpt_context_error(context.get()));
}

TEST(ContextError, IsEmptyAfterSuccess) {
  const Context context = make_context();
  ASSERT_EQ(LPT_INVALID_ARGUMENT, lpt_context_set_threads(context.get(), -7));
  ASSERT_EQ(LPT_OK, lpt_context_set_threads(context.get(), 1));
  EXPECT_STREQ("", lpt_context_error(context.get()));
}

TEST(ContextError, BelongsToItsContextAlone) {
  const Context one = make_context();
  const Context other = make_context();
  ASSERT_EQ(LPT_INVALID_ARGUMENT, lpt_context_set_threads(one.get(), -7));
  EXPECT_STREQ("", lpt_context_error(other.get()));
}

TEST(ContextError, OfNullIsASentence) { EXPECT_NE(nullptr, std::strstr(lpt_context_error(nullptr), "NULL")); }

TEST(ContextExplanation, NamesTheKernelAndWhyOthersWerePassedOver) {
  const Context context = make_context(1, LPT_ISA_REFERENCE);
  run_some_gemm(context.get());
  const Tensor a = make_tensor(context.get(), LPT_FORMAT_F32, 4, 4);
  const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, 4, 4);
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), a.get(), nullptr, c.get())));
  const std::string explanation = lpt_context_explanation(context.get());
  EXPECT_EQ(0u, explanation.find("gemm: gemm_"));
  EXPECT_NE(std::string::npos, explanation.find("ref"));
}

TEST(ContextExplanation, OfNullIsEmpty) { EXPECT_STREQ("", lpt_context_explanation(nullptr)); }

// Creation.

TEST(ContextCreate, WritesTheReasonOfAFailureToTheCallersText) {
  char reason[200] = "";
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = -3;
  options.error_text = reason;
  options.error_text_bytes = sizeof reason;
  lpt_context *context = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_context_create(&options, &context));
  EXPECT_EQ(nullptr, context);
  EXPECT_NE(nullptr, std::strstr(reason, "thread_count is -3"));
}

TEST(ContextCreate, CutsTheReasonToTheCallersSpace) {
  char reason[16];
  std::memset(reason, 'x', sizeof reason);
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = -3;
  options.error_text = reason;
  options.error_text_bytes = 10;
  lpt_context *context = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_context_create(&options, &context));
  EXPECT_STREQ("thread_co", reason);
  for (size_t i = 10; i < sizeof reason; ++i) EXPECT_EQ('x', reason[i]);
}

TEST(ContextCreate, TellsANewerCallerWhatIsUnknown) {
  struct Newer {
    lpt_context_options known;
    uint64_t unknown;
  };
  char reason[200] = "";
  Newer newer = {LPT_CONTEXT_OPTIONS_INIT, 1};
  newer.known.struct_size = sizeof newer;
  newer.known.error_text = reason;
  newer.known.error_text_bytes = sizeof reason;
  lpt_context *context = nullptr;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_context_create(&newer.known, &context));
  EXPECT_NE(nullptr, std::strstr(reason, "does not know"));
}

TEST(ContextCreate, TakesNullForTheDefaults) {
  Context context;
  EXPECT_EQ(LPT_OK, lpt_context_create(nullptr, out(context)));
  EXPECT_NE(nullptr, context);
}

// Kernel selection.

TEST(ContextIsa, OfTheReferenceRunsReferenceRows) {
  const Context context = make_context();
  ASSERT_TRUE(ok(context.get(), lpt_context_set_isa(context.get(), LPT_ISA_REFERENCE)));
  ASSERT_TRUE(ok(context.get(), lpt_context_set_profile(context.get(), 1)));
  run_some_gemm(context.get());
  int64_t count = 0;
  ASSERT_TRUE(ok(context.get(), lpt_context_profile_count(context.get(), &count)));
  ASSERT_GT(count, 0);
  for (int64_t i = 0; i < count; ++i) {
    lpt_profile_entry entry = LPT_PROFILE_ENTRY_INIT;
    ASSERT_TRUE(ok(context.get(), lpt_context_profile_entry(context.get(), i, &entry)));
    EXPECT_EQ(nullptr, std::strstr(entry.kernel, "x86")) << entry.kernel;
  }
}

TEST(ContextIsa, IsRejectedWhereTheCpuLacksIt) {
  const Context context = make_context();
  for (lpt_isa isa = LPT_ISA_AUTO; isa <= LPT_ISA_X86_AMX; ++isa) {
    const lpt_status status = lpt_context_set_isa(context.get(), isa);
    EXPECT_TRUE(status == LPT_OK || status == LPT_UNSUPPORTED);
    if (status == LPT_UNSUPPORTED) {
      EXPECT_NE(nullptr, std::strstr(lpt_context_error(context.get()), "lacks"));
    }
  }
}

// Log.

struct Log {
  std::vector<std::string> lines;
  std::set<std::thread::id> threads;
  lpt_log_level highest = LPT_LOG_LEVEL_NONE;
};

void write_log(void *user, lpt_log_level level, const char *text) {
  Log &log = *static_cast<Log *>(user);
  log.lines.push_back(text);
  log.threads.insert(std::this_thread::get_id());
  log.highest = std::max(log.highest, level);
}

TEST(ContextLog, ReceivesEveryChoiceOnTheCallingThread) {
  const Context context = make_context(3);
  Log log;
  ASSERT_TRUE(ok(context.get(), lpt_context_set_log(context.get(), LPT_LOG_LEVEL_DISPATCH, write_log, &log)));
  run_some_gemm(context.get());
  ASSERT_FALSE(log.lines.empty());
  EXPECT_EQ((std::set<std::thread::id>{std::this_thread::get_id()}), log.threads);
  const auto names_gemm = [](const std::string &line) { return line.find("gemm") != line.npos; };
  EXPECT_TRUE(std::any_of(log.lines.begin(), log.lines.end(), names_gemm));
}

TEST(ContextLog, HasNothingBeyondItsLevel) {
  const Context context = make_context();
  Log log;
  ASSERT_TRUE(ok(context.get(), lpt_context_set_log(context.get(), LPT_LOG_LEVEL_INFO, write_log, &log)));
  run_some_gemm(context.get());
  ASSERT_TRUE(ok(context.get(), lpt_context_set_isa(context.get(), LPT_ISA_REFERENCE)));
  EXPECT_EQ(LPT_LOG_LEVEL_INFO, log.highest);
}

TEST(ContextLog, IsSilentWithoutAFunction) {
  const Context context = make_context();
  ASSERT_TRUE(ok(context.get(), lpt_context_set_log(context.get(), LPT_LOG_LEVEL_DISPATCH, nullptr, nullptr)));
  run_some_gemm(context.get());
}

// Threads.

TEST(ContextThreads, LeaveTheBitsAlone) {
  const Context context = make_context(1);
  const std::vector<uint8_t> expected = run_some_gemm(context.get());
  for (const int32_t count : {2, 3, 5, 0, 1}) {
    ASSERT_TRUE(ok(context.get(), lpt_context_set_threads(context.get(), count)));
    EXPECT_EQ(expected, run_some_gemm(context.get())) << count << " threads";
  }
}

struct Host {
  int32_t width = 3;
  int64_t loops = 0;
  std::mutex mutex;
  std::set<int64_t> indices;
  bool is_complete = true;
};

// Runs the indices of a loop on threads of the host, the last indices first.
void run_on_host(void *user, int64_t count, lpt_task_function task, void *argument) {
  Host &host = *static_cast<Host *>(user);
  ++host.loops;
  std::set<int64_t> done;
  std::vector<std::thread> threads;
  for (int32_t t = 0; t < host.width; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = count - 1 - t; i >= 0; i -= host.width) {
        task(argument, i);
        const std::lock_guard<std::mutex> lock(host.mutex);
        done.insert(i);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  host.is_complete = host.is_complete && static_cast<int64_t>(done.size()) == count;
}

TEST(ContextParallelFor, OfTheHostIsUsedAndGivesTheSameBits) {
  const Context alone = make_context(1);
  const std::vector<uint8_t> expected = run_some_gemm(alone.get());
  Host host;
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.parallel_for = run_on_host;
  options.parallel_for_user = &host;
  options.parallel_for_width = host.width;
  Context context;
  ASSERT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
  EXPECT_EQ(expected, run_some_gemm(context.get()));
  EXPECT_GT(host.loops, 0);
  EXPECT_TRUE(host.is_complete);
}

// Creates a context that shares the threads of `other`.
Context make_sharing(const lpt_context *other) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.threads_of = other;
  Context context;
  EXPECT_EQ(LPT_OK, lpt_context_create(&options, out(context)));
  return context;
}

int64_t process_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(ContextThreadsOf, AnotherContextAreShared) {
  Context first = make_context(3);
  const std::vector<uint8_t> expected = run_some_gemm(first.get());
  const int64_t threads = process_threads();
  const Context second = make_sharing(first.get());
  EXPECT_EQ(expected, run_some_gemm(second.get()));
  EXPECT_EQ(threads, process_threads());
  first.reset();
  EXPECT_EQ(expected, run_some_gemm(second.get()));
  EXPECT_EQ(threads, process_threads());
}

TEST(ContextThreadsOf, AnotherContextServeCallsOfSeveralThreads) {
  const Context first = make_context(2);
  const std::vector<uint8_t> expected = run_some_gemm(first.get());
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      const Context own = make_sharing(first.get());
      for (int i = 0; i < 5; ++i) same[t] += run_some_gemm(own.get()) == expected ? 1 : 0;
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ((std::vector<int>(4, 5)), same);
}

TEST(ContextThreadsOf, RejectsAThreadCountAndAStrayPointer) {
  const Context other = make_context(2);
  const uint64_t zeros[8] = {};
  char reason[200] = "";
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.error_text = reason;
  options.error_text_bytes = sizeof reason;
  options.threads_of = other.get();
  options.thread_count = 2;
  lpt_context *context = nullptr;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_context_create(&options, &context));
  expect_words({"thread_count is 2", "expected 0"}, reason);
  options.thread_count = 0;
  options.threads_of = reinterpret_cast<const lpt_context *>(zeros);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_context_create(&options, &context));
  expect_words({"threads_of", "live context"}, reason);
  EXPECT_EQ(nullptr, context);
}

// Calls of a context that is in use.

// Runs `probe` once, during a call of `context`.
void run_inside_a_call(lpt_context *context, std::function<void()> probe) {
  const lpt_log_function log = [](void *user, lpt_log_level, const char *) {
    auto &function = *static_cast<std::function<void()> *>(user);
    if (function) std::exchange(function, nullptr)();
  };
  ASSERT_TRUE(ok(context, lpt_context_set_log(context, LPT_LOG_LEVEL_DISPATCH, log, &probe)));
  const std::vector<uint8_t> during = run_some_gemm(context);
  ASSERT_TRUE(ok(context, lpt_context_set_log(context, LPT_LOG_LEVEL_NONE, nullptr, nullptr)));
  EXPECT_FALSE(probe) << "the call logged nothing";
  EXPECT_EQ(run_some_gemm(context), during);
}

void expect_busy(lpt_context *context, const lpt_tensor *source, lpt_tensor *output) {
  EXPECT_EQ(LPT_BUSY, lpt_quantize(context, source, nullptr, output, nullptr));
  EXPECT_EQ(LPT_BUSY, lpt_context_set_threads(context, 1));
  EXPECT_STREQ(lpt_status_string(LPT_BUSY), lpt_context_error(context));
  EXPECT_STREQ("", lpt_context_explanation(context));
}

TEST(ContextInUse, IsBusyForItsOwnCallbacks) {
  const Context context = make_context(2);
  const Context other = make_context();
  const std::vector<double> values = {1, 2, 3, 4};
  const Tensor source = tensor_of(other.get(), LPT_FORMAT_F32, 1, 4, values);
  const Tensor output = tensor_of(other.get(), LPT_FORMAT_BF16, 1, 4, {5, 6, 7, 8});
  run_inside_a_call(context.get(), [&] {
    expect_busy(context.get(), source.get(), output.get());
    EXPECT_EQ((std::vector<double>{5, 6, 7, 8}), numbers_of(other.get(), output.get()));
    EXPECT_TRUE(ok(other.get(), lpt_quantize(other.get(), source.get(), nullptr, output.get(), nullptr)));
  });
  EXPECT_EQ(values, numbers_of(other.get(), output.get()));
}

TEST(ContextInUse, IsBusyForAnotherThread) {
  const Context context = make_context(2);
  const Context other = make_context();
  const Tensor source = tensor_of(other.get(), LPT_FORMAT_F32, 1, 4, {1, 2, 3, 4});
  const Tensor output = tensor_of(other.get(), LPT_FORMAT_BF16, 1, 4, {5, 6, 7, 8});
  run_inside_a_call(context.get(),
                    [&] { std::thread([&] { expect_busy(context.get(), source.get(), output.get()); }).join(); });
  EXPECT_EQ((std::vector<double>{5, 6, 7, 8}), numbers_of(other.get(), output.get()));
}

TEST(ContextInUse, LeavesTheErrorTextOfTheCallThatRuns) {
  const Context context = make_context();
  const lpt_progress_function cancel = [](void *user, int64_t, int64_t) -> int32_t {
    EXPECT_EQ(LPT_BUSY, lpt_context_set_threads(static_cast<lpt_context *>(user), -7));
    return 1;
  };
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 4, {1, 2, 3, 4});
  const Tensor output = make_tensor(context.get(), LPT_FORMAT_BF16, 1, 4);
  ASSERT_TRUE(ok(context.get(), lpt_context_set_progress(context.get(), cancel, context.get())));
  EXPECT_EQ(LPT_CANCELLED, lpt_quantize(context.get(), source.get(), nullptr, output.get(), nullptr));
  expect_words({"cancelled"}, lpt_context_error(context.get()));
}

TEST(ContextInUse, ByFourThreadsAtOnceDoesACallWhollyOrNotAtAll) {
  const Context context = make_context(2);
  const Context other = make_context();
  const Tensor source = tensor_of(other.get(), LPT_FORMAT_F32, 64, 512, draw_normal(17, 64 * 512));
  const Tensor expected = make_tensor(other.get(), LPT_FORMAT_MXFP4, 64, 512);
  ASSERT_TRUE(ok(other.get(), lpt_quantize(other.get(), source.get(), nullptr, expected.get(), nullptr)));
  const std::vector<double> codes = numbers_of(other.get(), expected.get());
  std::vector<std::thread> threads;
  std::atomic<int32_t> wrong{0};
  std::atomic<int32_t> done{0};
  for (int32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const Context own = make_context();
      for (int32_t i = 0; i < 50; ++i) {
        const Tensor output = make_tensor(own.get(), LPT_FORMAT_MXFP4, 64, 512);
        const std::vector<double> before = numbers_of(own.get(), output.get());
        const lpt_status status = lpt_quantize(context.get(), source.get(), nullptr, output.get(), nullptr);
        const std::vector<double> after = numbers_of(own.get(), output.get());
        done += status == LPT_OK ? 1 : 0;
        wrong += status == LPT_OK ? after != codes : status != LPT_BUSY || after != before;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
  EXPECT_GT(done, 0);
}

// Waits until all other threads have slept for 20 ms.
void wait_for_sleeping_threads() {
  const std::string self = std::to_string(gettid());
  for (int quiet = 0; quiet < 20;) {
    bool are_sleeping = true;
    for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string state;
      std::getline(std::ifstream(thread.path() / "stat").ignore(1000, ')').ignore(), state, ' ');
      are_sleeping = are_sleeping && (state == "S" || thread.path().filename() == self);
    }
    quiet = are_sleeping ? quiet + 1 : 0;
    usleep(1000);
  }
}

TEST(ContextFork, ChildRunsAnOperationAfterTheParentUsedThreads) {
  const Context context = make_context(3);
  const std::vector<uint8_t> expected = run_some_gemm(context.get());
  // A thread that starts allocates memory. If it has a lock of a sanitizer's allocator, the child waits for it forever.
  if (kIsSanitized) wait_for_sleeping_threads();
  const pid_t child = fork();
  ASSERT_NE(-1, child);
  if (child == 0) {
    alarm(60);  // a child that waits for the threads of its parent never returns
    const bool is_same = run_some_gemm(context.get()) == expected;
    lpt_context *own = const_cast<lpt_context *>(context.get());
    lpt_context_destroy(own);
    _exit(is_same ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(expected, run_some_gemm(context.get()));
}

// Destruction.

TEST(Destroy, TakesNull) {
  lpt_context_destroy(nullptr);
  lpt_tensor_destroy(nullptr);
  lpt_scaler_destroy(nullptr);
  lpt_recipe_destroy(nullptr);
  lpt_linear_destroy(nullptr);
  lpt_optimizer_destroy(nullptr);
}

TEST(Destroy, MayEndTheContextBeforeItsTensors) {
  Context context = make_context();
  const Tensor tensor = tensor_of(context.get(), LPT_FORMAT_F32, 1, 3, {1, 2, 3});
  context.reset();
  const Context other = make_context();
  EXPECT_EQ((std::vector<double>{1, 2, 3}), numbers_of(other.get(), tensor.get()));
}

TEST(Destroy, MayRunOnOtherThreadsWhileTheContextWorks) {
  const Context context = make_context(2);
  const std::vector<uint8_t> expected = run_some_gemm(context.get());
  std::vector<Tensor> tensors;
  for (int i = 0; i < 500; ++i) tensors.push_back(make_tensor(context.get(), LPT_FORMAT_NVFP4, 16, 64));
  std::thread finalizer([&] { tensors.clear(); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(expected, run_some_gemm(context.get()));
  finalizer.join();
}

TEST(Destroy, LeavesTheErrorTextAlone) {
  const Context context = make_context();
  Tensor tensor = make_tensor(context.get(), LPT_FORMAT_F32, 1, 1);
  ASSERT_EQ(LPT_INVALID_ARGUMENT, lpt_context_set_threads(context.get(), -7));
  const std::string text = lpt_context_error(context.get());
  tensor.reset();
  EXPECT_EQ(text, lpt_context_error(context.get()));
}

TEST(Destroy, LeavesWrappedMemoryAlone) {
  const Context context = make_context();
  const std::vector<float> data = {1, 2, 3};
  Tensor tensor = wrap(context.get(), data, 1, 3);
  tensor.reset();
  EXPECT_EQ((std::vector<float>{1, 2, 3}), data);
}

TEST(Handles, ServeAnyContext) {
  const Context one = make_context(1);
  const Context other = make_context(2);
  const Tensor tensor = tensor_of(one.get(), LPT_FORMAT_MXFP8_E4M3, 2, 32, draw_normal(13, 64));
  EXPECT_EQ(numbers_of(one.get(), tensor.get()), numbers_of(other.get(), tensor.get()));
}

TEST(Contexts, WorkAtOnceOnDifferentThreads) {
  const Context alone = make_context(1);
  const std::vector<uint8_t> expected = run_some_gemm(alone.get());
  std::vector<std::thread> threads;
  std::vector<int> same(4, 0);
  for (size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      const Context own = make_context(2);
      for (int i = 0; i < 5; ++i) same[t] += run_some_gemm(own.get()) == expected ? 1 : 0;
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ((std::vector<int>(4, 5)), same);
}

}  // namespace
}  // namespace lpt::test
