// What lpt.hpp adds to lpt.h: exceptions, spans that are too short, handles that end themselves.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <thread>
#include <type_traits>

#include "bindings/cpp/lpt.hpp"

namespace {

template <typename Call>
std::string refusal(Call &&call) {
  try {
    call();
  } catch (const lpt::Error &error) {
    return std::string(lpt_status_string(error.status())) + ": " + error.what();
  }
  return "no refusal";
}

TEST(CppBinding, ThrowsTheTextOfAContextThatCannotBe) {
  lpt_context_options options = LPT_CONTEXT_OPTIONS_INIT;
  options.thread_count = -1;
  EXPECT_NE(refusal([&] { lpt::Context context(options); }).find("thread_count is -1"), std::string::npos);
}

TEST(CppBinding, RefusesASpanThatIsTooShortForItsMatrix) {
  const lpt::Context context;
  std::vector<float> numbers(11);
  const auto wrap = [&](std::int64_t rows, std::int64_t columns, std::int64_t stride) {
    return refusal([&] { lpt::matrix_wrap(context, std::span(numbers), rows, columns, stride); });
  };
  EXPECT_EQ(wrap(3, 4, 0), "invalid argument: numbers are 11: expected 3 rows of 4");
  EXPECT_EQ(wrap(2, 4, 8), "invalid argument: numbers are 11: expected 2 rows of 4");
  EXPECT_EQ(wrap(2, 4, 7), "no refusal");
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(wrap(kMost, 4, 0), "no refusal");
  EXPECT_NE(wrap(2, 4, kMost), "no refusal");
  EXPECT_EQ(wrap(0, 4, 0), "no refusal");
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
  const auto part = lpt::tensor_part(context, source, LPT_PART_PAYLOAD);
  EXPECT_EQ(lpt::tensor_bytes(context, part).data(), reinterpret_cast<const std::byte *>(numbers.data()));
  EXPECT_EQ(refusal([&] { lpt::matrix_wrap(context, numbers, 2, 3); }),
            "invalid argument: numbers are 4: expected 2 rows of 3");
}

// What would write const memory, or read memory that has gone, does not compile.
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
  lpt_step_options options = LPT_STEP_OPTIONS_INIT;
  options.largest_norm = 100.0;  // asks for the norm
  lpt::optimizer_step(context, optimizer, indices, gradients, parameters, &options);
  lpt_optimizer_values values = LPT_OPTIMIZER_VALUES_INIT;
  lpt::check(context, lpt_optimizer_read(context.get(), optimizer.get(), &values));
  EXPECT_EQ(values.gradient_norm, 5.0);
  EXPECT_EQ(
      refusal([&] { lpt::optimizer_step(context, optimizer, std::span(indices).first(1), gradients, parameters); }),
      "invalid argument: gradients are 2 and parameters 2: expected as many as indices, 1");
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
  EXPECT_EQ(refusal([] { lpt::format_from_name("e9m9"); }), "invalid argument: name is 'e9m9': expected a format");
}

TEST(CppBinding, GivesBytesOfDenseTensorsOnly) {
  const lpt::Context context;
  std::vector<float> numbers(12);
  const auto wide = lpt::matrix_wrap(context, std::span(numbers), 2, 4, 6);
  EXPECT_EQ(refusal([&] { lpt::tensor_bytes(context, wide); }),
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
  made.set_log(LPT_LOG_DISPATCH, [&](lpt_log_level, std::string_view text) { lines += !text.empty(); });
  lpt::Context context = std::move(made);
  cast(context);
  EXPECT_GT(lines, 0);
  context.set_log(LPT_LOG_DISPATCH, [](lpt_log_level, std::string_view) { throw std::runtime_error("no paper"); });
  EXPECT_EQ(thrown([&] { cast(context); }), "no paper");
  context.set_log(LPT_LOG_NONE, {});
  EXPECT_EQ(thrown([&] { cast(context); }), "nothing");

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

// The upper halves of floats.
class Halves : public lpt::Compression {
 public:
  explicit Halves(std::string failing = "") : failing_(std::move(failing)) {}
  std::int64_t bytes_for(std::int64_t count) const override {
    may_fail("bytes_for");
    ++asked;
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
  mutable int asked = 0;

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
  EXPECT_EQ(halves.asked, 1);
  for (const char *function : {"bytes_for", "encode", "decode"}) {
    const Halves failing(function);
    const lpt::Codec of_failing("halves", failing);
    options.codec = of_failing.get();
    const auto own_group = lpt::comm_group_create(1);
    auto own = lpt::comm_create_local(context, own_group, 0);
    EXPECT_EQ(thrown([&] { lpt::all_reduce(context, own, tensor, tensor, &options); }), "dice") << function;
  }
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
