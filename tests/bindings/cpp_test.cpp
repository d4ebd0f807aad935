// Features of lpt.hpp beyond lpt.h: exceptions, checks of span sizes, and owning handles.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <thread>
#include <type_traits>

#include "bindings/cpp/lpt.hpp"

namespace {

template <typename Call>
std::string rejection(Call &&call) {
  try {
    call();
  } catch (const lpt::Error &error) {
    return std::string(lpt_status_string(error.status())) + ": " + error.what();
  }
  return "no rejection";
}

TEST(CppBinding, ThrowsTheTextOfAContextThatCannotBe) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = -1;
  EXPECT_NE(rejection([&] { lpt::Context context(options); }).find("thread_count is -1"), std::string::npos);
}

TEST(CppBinding, RejectsASpanThatIsTooShortForItsMatrix) {
  const lpt::Context context;
  std::vector<float> numbers(11);
  const auto wrap = [&](std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    return rejection([&] { lpt::matrix_wrap(context, std::span(numbers), rows, columns, stride); });
  };
  EXPECT_EQ(wrap(3, 4, 0), "invalid argument: numbers has 11 elements: expected 3 rows of 4");
  EXPECT_EQ(wrap(2, 4, 8), "invalid argument: numbers has 11 elements: expected 2 rows of 4");
  EXPECT_EQ(wrap(2, 4, 7), "no rejection");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(wrap(kMost, 4, 0), "no rejection");
  EXPECT_NE(wrap(2, 4, kMost), "no rejection");
  EXPECT_EQ(wrap(0, 4, 0), "no rejection");
}

template <typename Numbers>
concept Wrapped = requires(const lpt::Context &context, Numbers &&numbers) {
  lpt::matrix_wrap(context, std::forward<Numbers>(numbers), 1, 1);
};

TEST(CppBinding, WrapsConstNumbersToBeRead) {
  const lpt::Context context;
  const std::vector<float> numbers{0.5f, 700.0f, -2.0f, 0.004f};
  std::vector<float> restored(4);
  const auto source = lpt::matrix_wrap(context, numbers, 2, 2);
  static_assert(std::is_same_v<decltype(source), const lpt::ReadOnly>);
  static_assert(std::is_same_v<decltype(lpt::matrix_wrap(context, std::span(numbers), 2, 2)), lpt::ReadOnly>);
  static_assert(std::is_same_v<decltype(lpt::matrix_wrap(context, restored, 2, 2)), lpt::Tensor>);
  auto target = lpt::matrix_wrap(context, restored, 2, 2);
  lpt::quantize(context, source, target);
  EXPECT_EQ(restored, numbers);
  const auto part = lpt::tensor_part(context, source, LPT_TENSOR_PART_PAYLOAD);
  EXPECT_EQ(lpt::tensor_bytes(context, part).data(), reinterpret_cast<const std::byte *>(numbers.data()));
  EXPECT_EQ(rejection([&] { lpt::matrix_wrap(context, numbers, 2, 3); }),
            "invalid argument: numbers has 4 elements: expected 2 rows of 3");
}

// Code that writes const memory or reads freed memory does not compile.
static_assert(!std::is_convertible_v<lpt::ReadOnly, lpt::Tensor &>);
static_assert(!std::is_constructible_v<lpt::Tensor, const lpt::ReadOnly &>);
static_assert(Wrapped<std::vector<float> &> && Wrapped<std::span<const float>> && Wrapped<float (&)[4]>);
static_assert(!Wrapped<std::vector<float>>);

TEST(CppBinding, StepsManyParametersByOneNorm) {
  const lpt::Context context;
  auto optimizer = lpt::optimizer_create(context);
  lpt_optimizer_parameter kind = LPT_OPTIMIZER_PARAMETER_INIT;
  kind.elements = 1;
  std::array<lpt::Tensor, 2> parameters, gradients;
  std::array<float, 2> numbers{1.0f, 1.0f}, slopes{3.0f, 4.0f};
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(lpt::optimizer_add(context, optimizer, kind), static_cast<std::int64_t>(i));
    parameters[i] = lpt::matrix_wrap(context, std::span(&numbers[i], 1), 1, 1);
    gradients[i] = lpt::matrix_wrap(context, std::span(&slopes[i], 1), 1, 1);
  }
  const std::array<std::int64_t, 2> indices{0, 1};
  lpt_optimizer_step_options options = LPT_OPTIMIZER_STEP_OPTIONS_INIT;
  options.largest_norm = 100.0;  // requests the norm
  lpt::optimizer_step(context, optimizer, indices, gradients, parameters, &options);
  lpt_optimizer_info values = LPT_OPTIMIZER_INFO_INIT;
  lpt::check(context, lpt_optimizer_read(context.get(), optimizer.get(), &values));
  EXPECT_EQ(values.gradient_norm, 5.0);
  EXPECT_EQ(
      rejection([&] { lpt::optimizer_step(context, optimizer, std::span(indices).first(1), gradients, parameters); }),
      "invalid argument: gradients has 2 elements, parameters has 2: expected as many as indices, 1");
}

TEST(CppBinding, CopiesTensors) {
  const lpt::Context context;
  const std::array<float, 4> numbers{1.0f, 2.0f, 3.0f, 4.0f};
  auto target = lpt::tensor_create(context, LPT_FORMAT_F32, 2, 2);
  lpt::tensor_copy(context, lpt::matrix_wrap(context, numbers, 2, 2), target);
  EXPECT_EQ(std::memcmp(lpt::tensor_bytes(context, target).data(), numbers.data(), sizeof numbers), 0);
}

TEST(CppBinding, NamesFormatsBothWays) {
  EXPECT_EQ(lpt::format_name(lpt::format_from_name("mxfp8_e4m3")), "mxfp8_e4m3");
  EXPECT_EQ(rejection([] { lpt::format_from_name("e9m9"); }), "invalid argument: name is 'e9m9': expected a format");
}

TEST(CppBinding, GivesBytesOfDenseTensorsOnly) {
  const lpt::Context context;
  std::vector<float> numbers(12);
  const auto wide = lpt::matrix_wrap(context, std::span(numbers), 2, 4, 6);
  EXPECT_EQ(rejection([&] { lpt::tensor_bytes(context, wide); }),
            "invalid argument: tensor has gaps: expected a dense one");
  const auto dense = lpt::matrix_wrap(context, std::span(numbers), 2, 6);
  EXPECT_EQ(lpt::tensor_bytes(context, dense).size(), 48u);
}

TEST(CppBinding, AddsUpOverRanksThatAreThreads) {
  const auto group = lpt::comm_group_create(2);
  std::array<float, 2> numbers{1.5f, 2.5f};
  const auto run = [&](std::int32_t rank) {
    const lpt::Context context;
    auto comm = lpt::comm_create_local(context, group, rank);
    auto tensor = lpt::matrix_wrap(context, std::span(&numbers[static_cast<std::size_t>(rank)], 1), 1, 1);
    lpt::broadcast(context, comm, 1, tensor);
    lpt::barrier(context, comm);
    lpt::all_reduce(context, comm, tensor, tensor);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  EXPECT_EQ(numbers[0], 5.0f);
  EXPECT_EQ(numbers[1], 5.0f);
}

// A transport that fails at once: its text is thrown, and `user` is released.
TEST(CppBinding, TakesFunctionsOfATransport) {
  lpt_comm_functions functions = LPT_COMM_FUNCTIONS_INIT;
  std::snprintf(functions.name, sizeof functions.name, "broken");
  functions.exchange = [](void *, void *, const void *const *, const std::int64_t *, void *const *,
                          const std::int64_t *, double, char *error, std::size_t error_bytes) -> std::int32_t {
    std::snprintf(error, error_bytes, "no cable");
    return LPT_WORK_FAILED;
  };
  functions.close = [](void *user) { ++*static_cast<int *>(user); };
  const lpt::Context context;
  int closes = 0;
  EXPECT_EQ(rejection([&] { lpt::comm_create_custom(context, functions, &closes, 0, 2); }),
            "work failed: functions->exchange failed: no cable");
  EXPECT_EQ(1, closes);
  {
    const auto alone = lpt::comm_create_custom(context, functions, &closes, 0, 1);
    EXPECT_STREQ("broken", lpt::comm_read(context, alone).engine);
  }
  EXPECT_EQ(2, closes);
}

void cast(const lpt::Context &context) {
  const std::vector<float> numbers(64, 1.5f);
  auto fp8 = lpt::tensor_create(context, LPT_FORMAT_E4M3FN, 8, 8);
  const auto source = lpt::matrix_wrap(context, numbers, 8, 8);
  lpt::quantize(context, source, fp8);
}

std::string thrown(const std::function<void()> &call) {
  try {
    call();
  } catch (const lpt::Error &error) {
    return std::string("lpt: ") + lpt_status_string(error.status());
  } catch (const std::exception &problem) {
    return problem.what();
  }
  return "nothing";
}

TEST(CppBinding, ThrowsWhatCallbacksThrow) {
  lpt::Context made;
  int lines = 0;
  made.set_log(LPT_LOG_LEVEL_DISPATCH, [&](lpt_log_level, std::string_view text) { lines += !text.empty(); });
  lpt::Context context = std::move(made);
  cast(context);
  EXPECT_GT(lines, 0);
  context.set_log(LPT_LOG_LEVEL_DISPATCH,
                  [](lpt_log_level, std::string_view) { throw std::runtime_error("no paper"); });
  EXPECT_EQ(thrown([&] { cast(context); }), "no paper");
  context.set_log(LPT_LOG_LEVEL_NONE, {});
  EXPECT_EQ(thrown([&] { cast(context); }), "nothing");
  std::string busy;
  context.set_log(LPT_LOG_LEVEL_DISPATCH, [&](lpt_log_level, std::string_view) {
    busy = thrown([&] { cast(context); });
    throw std::runtime_error("no paper");
  });
  EXPECT_EQ(thrown([&] { cast(context); }), "no paper");
  EXPECT_EQ(busy, std::string("lpt: ") + lpt_status_string(LPT_BUSY));
  context.set_log(LPT_LOG_LEVEL_NONE, {});

  std::int64_t most = 0;
  context.set_progress([&](std::int64_t done, std::int64_t) { return most = std::max(most, done), false; });
  cast(context);
  EXPECT_EQ(most, 64);
  context.set_progress([](std::int64_t, std::int64_t) { return true; });
  EXPECT_EQ(thrown([&] { cast(context); }), "lpt: cancelled");
  context.set_progress([](std::int64_t, std::int64_t) -> bool { throw std::runtime_error("tea"); });
  EXPECT_EQ(thrown([&] { cast(context); }), "tea");
  context.set_progress({});
  EXPECT_EQ(thrown([&] { cast(context); }), "nothing");
}

// Encodes the upper halves of floats.
class Halves : public lpt::Compression {
 public:
  explicit Halves(std::string failing = "") : failing_(std::move(failing)) {}
  std::int64_t bytes_for(std::int64_t count) const override {
    may_fail("bytes_for");
    ++requested;
    return 2 * count;
  }
  void encode(std::span<const float> numbers, std::span<std::byte> bytes) const override {
    may_fail("encode");
    for (std::size_t i = 0; i < numbers.size(); ++i)
      std::memcpy(&bytes[2 * i], reinterpret_cast<const std::byte *>(&numbers[i]) + 2, 2);
  }
  void decode(std::span<const std::byte> bytes, std::span<float> numbers) const override {
    may_fail("decode");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = 0.0f;
      std::memcpy(reinterpret_cast<std::byte *>(&numbers[i]) + 2, &bytes[2 * i], 2);
    }
  }
  mutable int requested = 0;

 private:
  void may_fail(std::string_view function) const {
    if (function == failing_) throw std::runtime_error("dice");
  }
  std::string failing_;
};

TEST(CppBinding, ReducesByACodec) {
  const lpt::Context context;
  const auto group = lpt::comm_group_create(1);
  auto comm = lpt::comm_create_local(context, group, 0);
  std::array<float, 3> numbers{1.0f, 1.001f, -3.0f};
  auto tensor = lpt::matrix_wrap(context, numbers, 1, 3);
  const Halves halves;
  const lpt::Codec codec("halves", halves);
  lpt_reduce_options options = LPT_REDUCE_OPTIONS_INIT;
  options.codec = codec.get();
  for (int i = 0; i < 2; ++i) lpt::all_reduce(context, comm, tensor, tensor, &options);
  EXPECT_EQ(numbers, (std::array<float, 3>{1.0f, 1.0f, -3.0f}));
  EXPECT_EQ(halves.requested, 1);
  for (const char *function : {"bytes_for", "encode", "decode"}) {
    const Halves failing(function);
    const lpt::Codec of_failing("halves", failing);
    options.codec = of_failing.get();
    const auto own_group = lpt::comm_group_create(1);
    auto own = lpt::comm_create_local(context, own_group, 0);
    EXPECT_EQ(thrown([&] { lpt::all_reduce(context, own, tensor, tensor, &options); }), "dice") << function;
  }
}

template <typename Body>
void on_two_ranks(const Body &body) {
  const auto group = lpt::comm_group_create(2);
  const auto run = [&](std::int32_t rank) {
    const lpt::Context context;
    auto comm = lpt::comm_create_local(context, group, rank);
    body(context, comm, static_cast<std::size_t>(rank));
  };
  std::thread other(run, 1);
  run(0);
  other.join();
}

TEST(CppBinding, ReducesBucketsOfGradients) {
  on_two_ranks([](const lpt::Context &context, lpt::Comm &comm, std::size_t rank) {
    std::array<float, 2> numbers{1.0f + static_cast<float>(rank), 5.0f};
    std::array<lpt::Tensor, 2> gradients;
    for (std::size_t i = 0; i < 2; ++i) gradients[i] = lpt::matrix_wrap(context, std::span(&numbers[i], 1), 1, 1);
    auto buckets = lpt::gradient_buckets_create(context, comm, gradients);
    lpt::gradient_buckets_begin(context, buckets);
    lpt::gradient_buckets_ready(context, buckets, 1);
    EXPECT_NE(rejection([&] { lpt::gradient_buckets_wait(context, buckets); }).find("gradients[0] of 2"),
              std::string::npos);
    lpt::gradient_buckets_ready(context, buckets, 0);
    lpt::gradient_buckets_wait(context, buckets);
    EXPECT_EQ(numbers, (std::array<float, 2>{3.0f, 10.0f}));
  });
}

constexpr std::size_t kElements = 9000;

std::vector<float> filled(float factor) {
  std::vector<float> numbers(kElements);
  for (std::size_t i = 0; i < kElements; ++i) numbers[i] = (static_cast<float>(i * 7 % 13) - 1.0f) * factor;
  return numbers;
}

TEST(CppBinding, StepsShardsAsOneAndPutsThemTogether) {
  lpt_optimizer_parameter kind = LPT_OPTIMIZER_PARAMETER_INIT;
  kind.elements = kElements;
  kind.first_moment = kind.second_moment = LPT_FORMAT_E4M3FN_1X128;
  const std::array<std::int64_t, 1> indices{0};
  const auto wrapped = [](const lpt::Context &context, std::vector<float> &numbers) {
    std::array<lpt::Tensor, 1> tensors{lpt::matrix_wrap(context, numbers, 1, kElements)};
    return tensors;
  };
  const lpt::Context context;
  auto expected = filled(0.25f), slopes = filled(1.0f);
  auto alone = lpt::optimizer_create(context);
  lpt::optimizer_add(context, alone, kind);
  auto parameters = wrapped(context, expected);
  lpt::optimizer_step(context, alone, indices, wrapped(context, slopes), parameters);

  std::array<std::vector<std::byte>, 2> states;
  on_two_ranks([&](const lpt::Context &own, lpt::Comm &comm, std::size_t rank) {
    auto numbers = filled(0.25f), part = filled(rank == 0 ? 1.0f : 0.0f);
    auto optimizer = lpt::optimizer_create(own);
    EXPECT_EQ(lpt::optimizer_add_shards(own, comm, optimizer, std::span(&kind, 1)), std::vector<std::int64_t>{0});
    const lpt_reduce_options sum = LPT_REDUCE_OPTIONS_INIT;
    auto mine = wrapped(own, numbers);
    lpt::optimizer_step_shards(own, comm, optimizer, indices, wrapped(own, part), mine, nullptr, &sum);
    EXPECT_EQ(numbers, expected);
    states[rank] = lpt::optimizer_state_save(own, optimizer, 0);
  });
  auto together = lpt::optimizer_create(context);
  lpt::optimizer_add(context, together, kind);
  std::swap(states[0], states[1]);
  lpt::optimizer_state_load_many(context, together, 0, states);
  EXPECT_EQ(lpt::optimizer_state_save(context, together, 0), lpt::optimizer_state_save(context, alone, 0));
}

TEST(CppBinding, GathersAndScattersSequences) {
  on_two_ranks([](const lpt::Context &context, lpt::Comm &comm, std::size_t rank) {
    const std::array<std::int64_t, 2> counts{1, 2};
    const auto rows = static_cast<std::int64_t>(rank) + 1;
    const auto own_value = static_cast<float>(rows);
    const std::vector<float> mine(4 * (rank + 1), own_value);
    std::vector<float> all(12), back(mine.size());
    auto whole = lpt::matrix_wrap(context, all, 3, 4), own = lpt::matrix_wrap(context, back, rows, 4);
    const auto input = lpt::matrix_wrap(context, mine, rows, 4);
    lpt::sequence_gather(context, comm, input, whole, counts);
    EXPECT_EQ(all, (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}));
    lpt::all_gather(context, comm, input, whole, counts);
    EXPECT_EQ(all[4], 2.0f);
    lpt::sequence_scatter(context, comm, LPT_PARTIAL_PASS_BACKWARD, whole, own, counts);
    EXPECT_EQ(back, std::vector<float>(mine.size(), 2.0f * own_value));
    lpt_partial_plan_options options = LPT_PARTIAL_PLAN_OPTIONS_INIT;
    options.hidden_columns = 4;
    options.shared_columns = 2;
    options.rank_count = 2;
    options.private_scale = LPT_PARTIAL_SCALE_ONE;
    const auto plan = lpt::partial_plan_create(context, options);
    EXPECT_EQ(rejection([&] { lpt::sequence_gather(context, comm, input, whole, counts, &plan); }).find("unsupported"),
              0u);
    lpt::partial_all_reduce(context, comm, plan, LPT_PARTIAL_PASS_FORWARD, whole, whole);
    EXPECT_EQ(all, (std::vector<float>{2, 2, 1, 1, 4, 4, 2, 2, 4, 4, 2, 2}));
    EXPECT_EQ(rejection([&] { lpt::all_gather(context, comm, input, whole, std::span(counts).first(1)); }),
              "invalid argument: counts has 1 elements: expected one for each rank, 2");
    EXPECT_EQ(lpt::comm_read(context, comm).rank_count, 2);
  });
}

TEST(CppBinding, TellsWhatDevicesAre) {
  EXPECT_EQ(lpt::device_describe(LPT_DEVICE_CPU).is_usable, 1);
  const auto absent = lpt::device_describe(LPT_DEVICE_CUDA, 1000);
  EXPECT_EQ(absent.is_usable, 0);
  EXPECT_STRNE(absent.reason, "");
  EXPECT_EQ(rejection([] { lpt::device_describe(77); }), "invalid argument: device is 77, index 0: expected a device");
}

TEST(CppBinding, MovesHandlesAndNeverCopiesThem) {
  EXPECT_FALSE(std::is_copy_constructible_v<lpt::Tensor>);
  const lpt::Context context;
  auto first = lpt::tensor_create(context, LPT_FORMAT_F32, 2, 2);
  const lpt::Tensor second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
}

}  // namespace
