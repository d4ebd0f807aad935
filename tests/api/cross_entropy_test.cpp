// Targets of cross entropy: formats and shapes. tests/comm/suite_cross_entropy.cpp tests the losses against the definition.
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kClasses = 9;

struct LossResults {
  std::vector<uint8_t> loss, gradient;
  bool operator==(const LossResults &) const = default;
};

LossResults results_of(lpt_context *context, const lpt_tensor *logits, const lpt_tensor *targets) {
  const int64_t rows = 6;
  const lpt_tensor_description facts = describe(context, logits);
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  options.reduction = LPT_LOSS_REDUCTION_NONE;
  const Tensor loss = make_tensor(context, LPT_FORMAT_F64, {rows}), logs = make_tensor(context, LPT_FORMAT_F64, {rows});
  const Tensor gradient = make_tensor(context, LPT_FORMAT_F32, {facts.extents, facts.extents + facts.rank});
  EXPECT_TRUE(ok(context, lpt_cross_entropy_forward(context, logits, targets, &options, loss.get(), logs.get())));
  EXPECT_TRUE(
      ok(context, lpt_cross_entropy_backward(context, logits, targets, logs.get(), nullptr, &options, gradient.get())));
  return {bytes_of(context, loss.get()), bytes_of(context, gradient.get())};
}

class CrossEntropyTargets : public testing::Test {
 protected:
  const Context context_ = make_context();
  lpt_context *const c = context_.get();
  const std::vector<float> numbers_ = [] {
    const std::vector<double> drawn = draw_normal(77, 6 * kClasses);
    return std::vector<float>(drawn.begin(), drawn.end());
  }();
  const Tensor matrix_ = wrap_axes(c, LPT_FORMAT_F32, numbers_.data(), {6, kClasses});
  const Tensor batch_ = wrap_axes(c, LPT_FORMAT_F32, numbers_.data(), {2, 3, kClasses});
  const std::vector<int64_t> wide_ = {0, 8, -1, 3, 3, 1};
  const std::vector<int32_t> narrow_ = {0, 8, -1, 3, 3, 1};
};

TEST_F(CrossEntropyTargets, MayBeNarrowOrHaveTheLeadingAxesOfLogits) {
  const LossResults expected = results_of(c, matrix_.get(), indices_of(c, wide_).get());
  const auto check = [&](const Tensor &logits, const Tensor &targets) {
    EXPECT_EQ(expected, results_of(c, logits.get(), targets.get()));
  };
  check(matrix_, wrap_axes(c, LPT_FORMAT_INT32, narrow_.data(), {6}));
  check(matrix_, wrap_axes(c, LPT_FORMAT_INT64, wide_.data(), {6}));
  check(batch_, wrap_axes(c, LPT_FORMAT_INT32, narrow_.data(), {6}));
  check(batch_, wrap_axes(c, LPT_FORMAT_INT32, narrow_.data(), {2, 3}));
  check(batch_, wrap_axes(c, LPT_FORMAT_INT64, wide_.data(), {2, 3}));
}

TEST_F(CrossEntropyTargets, OfOtherShapesOrFormatsAreRejected) {
  const Tensor loss = make_tensor(c, LPT_FORMAT_F32, {1});
  const auto reject = [&](const Tensor &logits, const Tensor &targets, lpt_status status,
                          const std::vector<const char *> &words) {
    EXPECT_EQ(status, lpt_cross_entropy_forward(c, logits.get(), targets.get(), nullptr, loss.get(), nullptr));
    expect_words(words, lpt_context_error(c));
  };
  reject(batch_, wrap_axes(c, LPT_FORMAT_INT64, wide_.data(), {3, 2}), LPT_INVALID_ARGUMENT,
         {"targets is 3 x 2 int64", "vector of 6", "2 x 3 x 9"});
  reject(matrix_, wrap_axes(c, LPT_FORMAT_INT64, wide_.data(), {6, 1}), LPT_INVALID_ARGUMENT, {"targets is 6 x 1"});
  reject(matrix_, wrap_axes(c, LPT_FORMAT_INT64, wide_.data(), {5}), LPT_INVALID_ARGUMENT, {"targets is 5"});
  reject(matrix_, wrap_axes(c, LPT_FORMAT_F64, wide_.data(), {6}), LPT_INVALID_ARGUMENT,
         {"targets is f64", "int32 or int64"});
  reject(matrix_, wrap_axes(c, LPT_FORMAT_INT32, wide_.data(), {6}, {2}), LPT_UNSUPPORTED, {"targets has stride 2"});
  reject(batch_, wrap_axes(c, LPT_FORMAT_INT32, wide_.data(), {2, 3}, {6, 1}), LPT_UNSUPPORTED,
         {"targets has stride 6", "dense"});
}

// A call can be checked before its tensors have data.
TEST_F(CrossEntropyTargets, NeedNoDataForACheck) {
  lpt_cross_entropy_options options = LPT_CROSS_ENTROPY_OPTIONS_INIT;
  const Tensor none = wrap_axes(c, LPT_FORMAT_INT64, nullptr, {6}), loss = make_tensor(c, LPT_FORMAT_F32, {1});
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_cross_entropy_forward(c, matrix_.get(), none.get(), &options, loss.get(), nullptr));
  expect_words({"targets is 6 int64 without data"}, lpt_context_error(c));
  options.flags = LPT_CHECK_ONLY;
  EXPECT_TRUE(ok(c, lpt_cross_entropy_forward(c, matrix_.get(), none.get(), &options, loss.get(), nullptr)));
}

}  // namespace
}  // namespace lpt::test
