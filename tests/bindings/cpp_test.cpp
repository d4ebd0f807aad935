// What lpt.hpp adds to lpt.h: exceptions, spans that are too short, handles that end themselves.
#include <gtest/gtest.h>

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

TEST(CppBinding, MovesHandlesAndNeverCopiesThem) {
  EXPECT_FALSE(std::is_copy_constructible_v<lpt::Tensor>);
  const lpt::Context context;
  auto first = lpt::tensor_create(context, LPT_FORMAT_F32, 2, 2);
  const lpt::Tensor second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
}

}  // namespace
