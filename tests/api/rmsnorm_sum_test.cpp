// RMS norm of a sum: the same bits as a separate addition and norm.
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

struct Stream {
  Context context = make_context(2);
  Tensor residual, branch, weight;
  int64_t rows, columns;
  lpt_format format;

  Stream(lpt_format of, int64_t row_count, int64_t column_count) : rows(row_count), columns(column_count), format(of) {
    residual = tensor_of(context.get(), format, rows, columns, draw_normal(1, rows * columns));
    branch = tensor_of(context.get(), format, rows, columns, draw_normal(2, rows * columns));
    weight = vector_of(context.get(), wide(), draw_normal(3, columns));
  }
  lpt_format wide() const { return format == LPT_FORMAT_F64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32; }
  Tensor matrix() const { return make_tensor(context.get(), format, rows, columns); }
  Tensor column() const { return make_tensor(context.get(), wide(), {rows}); }
};

TEST(RmsnormForwardSum, HasTheBitsOfBothStepsApart) {
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const auto &[rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {5, 37}, {300, 257}, {0, 4}}) {
      const Stream s(format, rows, columns);
      lpt_context *const c = s.context.get();
      const Tensor sum = s.matrix(), output = s.matrix(), inverse = s.column(), expected = s.matrix(),
                   expected_inverse = s.column();
      ASSERT_TRUE(ok(c, lpt_rmsnorm_forward_sum(c, s.residual.get(), s.branch.get(), s.weight.get(), nullptr, sum.get(),
                                                output.get(), inverse.get())));
      const std::vector<double> a = numbers_of(c, s.residual.get()), b = numbers_of(c, s.branch.get());
      std::vector<double> added(a.size());
      for (size_t i = 0; i < a.size(); ++i) {
        // The sum of two f32, bf16 or f16 values rounds to f32 the same way after a rounding to f64.
        added[i] = a[i] + b[i];
      }
      const std::vector<double> rounded = numbers_of(c, tensor_of(c, format, rows, columns, added).get());
      EXPECT_EQ(rounded, numbers_of(c, sum.get())) << name_of(format);
      ASSERT_TRUE(
          ok(c, lpt_rmsnorm_forward(c, sum.get(), s.weight.get(), nullptr, expected.get(), expected_inverse.get())));
      EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, output.get())) << name_of(format);
      EXPECT_EQ(bytes_of(c, expected_inverse.get()), bytes_of(c, inverse.get())) << name_of(format);
    }
  }
}

// More columns than are widened at a time, and a sum in the place of the residual.
TEST(RmsnormForwardSum, WidensTheBranch) {
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const auto &[rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {5, 37}, {70, 2500}, {0, 4}}) {
      const Stream wide(LPT_FORMAT_F32, rows, columns), narrow(format, rows, columns);
      lpt_context *const c = wide.context.get();
      const Tensor branch = tensor_of(c, LPT_FORMAT_F32, rows, columns, numbers_of(c, narrow.branch.get()));
      const Tensor sum = wide.matrix(), output = narrow.matrix(), expected = narrow.matrix();
      ASSERT_TRUE(ok(c, lpt_rmsnorm_forward_sum(c, wide.residual.get(), branch.get(), wide.weight.get(), nullptr,
                                                sum.get(), expected.get(), nullptr)));
      ASSERT_TRUE(ok(c, lpt_rmsnorm_forward_sum(c, wide.residual.get(), narrow.branch.get(), wide.weight.get(), nullptr,
                                                wide.residual.get(), output.get(), nullptr)));
      EXPECT_EQ(bytes_of(c, sum.get()), bytes_of(c, wide.residual.get())) << name_of(format);
      EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, output.get())) << name_of(format);
    }
  }
}

TEST(RmsnormForwardSum, MayTakeThePlaceOfAnAddend) {
  const Stream s(LPT_FORMAT_F32, 6, 33);
  lpt_context *const c = s.context.get();
  const Tensor sum = s.matrix(), output = s.matrix(), again = s.matrix();
  ASSERT_TRUE(ok(c, lpt_rmsnorm_forward_sum(c, s.residual.get(), s.branch.get(), s.weight.get(), nullptr, sum.get(),
                                            output.get(), nullptr)));
  ASSERT_TRUE(ok(c, lpt_rmsnorm_forward_sum(c, s.residual.get(), s.branch.get(), s.weight.get(), nullptr,
                                            s.residual.get(), again.get(), nullptr)));
  EXPECT_EQ(bytes_of(c, sum.get()), bytes_of(c, s.residual.get()));
  EXPECT_EQ(bytes_of(c, output.get()), bytes_of(c, again.get()));
}

// The gradient of a residual connection: the bits of the gradient of the norm in f32 and an addition.
TEST(RmsnormForwardSum, GradientAddsThatOfTheSum) {
  for (const lpt_format format : {LPT_FORMAT_F64, LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16}) {
    for (const auto &[rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {5, 37}, {300, 257}, {0, 4}}) {
      const Stream s(format, rows, columns);
      lpt_context *const c = s.context.get();
      const Tensor inverse = vector_of(c, s.wide(), std::vector<double>(static_cast<size_t>(rows), 0.7));
      const Tensor alone = make_tensor(c, s.wide(), rows, columns), gradient = s.matrix(), mean = s.column();
      const Tensor given = tensor_of(c, format, rows, columns, draw_normal(4, rows * columns));
      const std::vector<double> b = numbers_of(c, given.get());
      for (const bool is_layernorm : {false, true}) {
        const auto backward = [&](const lpt_tensor *residual, lpt_tensor *out) {
          lpt_rmsnorm_options rmsnorm = LPT_RMSNORM_OPTIONS_INIT;
          lpt_layernorm_options layernorm = LPT_LAYERNORM_OPTIONS_INIT;
          rmsnorm.residual_gradient = layernorm.residual_gradient = residual;
          return is_layernorm ? lpt_layernorm_backward(c, s.residual.get(), s.weight.get(), mean.get(), inverse.get(),
                                                       s.branch.get(), &layernorm, out, nullptr, nullptr)
                              : lpt_rmsnorm_backward(c, s.residual.get(), s.weight.get(), inverse.get(), s.branch.get(),
                                                     &rmsnorm, out, nullptr);
        };
        ASSERT_TRUE(ok(c, backward(nullptr, alone.get())));
        const std::vector<double> a = numbers_of(c, alone.get());
        std::vector<double> added(a.size());
        for (size_t i = 0; i < a.size(); ++i) {
          added[i] = format == LPT_FORMAT_F64 ? a[i] + b[i] : static_cast<double>(static_cast<float>(a[i] + b[i]));
        }
        const Tensor expected = tensor_of(c, format, rows, columns, added);
        ASSERT_TRUE(ok(c, backward(given.get(), gradient.get())));
        EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, gradient.get())) << name_of(format);
        const Tensor in_place = tensor_of(c, format, rows, columns, b);
        ASSERT_TRUE(ok(c, backward(in_place.get(), in_place.get())));
        EXPECT_EQ(bytes_of(c, expected.get()), bytes_of(c, in_place.get())) << name_of(format);
      }
    }
  }
}

TEST(RmsnormForwardSum, GradientRejectsWhatDoesNotFit) {
  const Stream s(LPT_FORMAT_F32, 6, 33), narrow(LPT_FORMAT_F32, 6, 32);
  lpt_context *const c = s.context.get();
  const Tensor inverse = s.column(), output = s.matrix(), vector = make_tensor(c, LPT_FORMAT_F32, {33});
  lpt_rmsnorm_options options = LPT_RMSNORM_OPTIONS_INIT;
  options.residual_gradient = s.branch.get();
  EXPECT_EQ(LPT_INVALID_ARGUMENT,
            lpt_rmsnorm_forward(c, s.residual.get(), s.weight.get(), &options, output.get(), nullptr));
  expect_words({"residual_gradient is set", "NULL in a forward pass"}, lpt_context_error(c));
  const auto reject = [&](const lpt_tensor *residual, lpt_tensor *gradient, lpt_tensor *weight_gradient,
                          const std::vector<const char *> &words) {
    options.residual_gradient = residual;
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_rmsnorm_backward(c, s.residual.get(), s.weight.get(), inverse.get(),
                                                         s.branch.get(), &options, gradient, weight_gradient));
    expect_words(words, lpt_context_error(c));
  };
  reject(narrow.branch.get(), output.get(), nullptr, {"residual_gradient is 6 x 32", "6 x 33"});
  reject(s.branch.get(), nullptr, vector.get(), {"input_gradient is NULL", "expected both"});
  // Views of one matrix: rows 0 to 5 and 1 to 6, and the first row as a vector.
  const Tensor memory = make_tensor(c, LPT_FORMAT_F32, 7, 33);
  auto *const data = static_cast<float *>(lpt_tensor_data(memory.get()));
  const Tensor first = wrap(c, LPT_FORMAT_F32, data, 6, 33), second = wrap(c, LPT_FORMAT_F32, data + 33, 6, 33);
  reject(first.get(), second.get(), nullptr, {"input_gradient", "overlaps residual_gradient"});
}

TEST(RmsnormForwardSum, RejectsWhatDoesNotFit) {
  const Stream s(LPT_FORMAT_F32, 6, 33), narrow(LPT_FORMAT_F32, 6, 32), half(LPT_FORMAT_BF16, 6, 33);
  lpt_context *const c = s.context.get();
  const Tensor sum = s.matrix(), output = s.matrix();
  const auto reject = [&](const Tensor &branch, const Tensor &target, const Tensor &normed,
                          const std::vector<const char *> &words) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_rmsnorm_forward_sum(c, s.residual.get(), branch.get(), s.weight.get(), nullptr,
                                                            target.get(), normed.get(), nullptr));
    expect_words(words, lpt_context_error(c));
  };
  reject(narrow.branch, sum, output, {"branch is 6 x 32", "6 x 33", "residual"});
  const Tensor wide = make_tensor(c, LPT_FORMAT_F64, 6, 33);
  reject(wide, sum, output, {"branch is f64", "f32, as residual, or bf16 or f16"});
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_rmsnorm_forward_sum(c, half.residual.get(), s.branch.get(), s.weight.get(),
                                                          nullptr, half.branch.get(), output.get(), nullptr));
  expect_words({"branch is f32: expected bf16, as residual"}, lpt_context_error(c));
  Stream in_place(LPT_FORMAT_BF16, 6, 33);
  reject(in_place.branch, in_place.branch, output, {"sum is bf16", "f32"});
  reject(s.branch, half.residual, output, {"sum is bf16", "f32"});
  reject(nullptr, sum, output, {"branch is NULL"});
  reject(s.branch, nullptr, output, {"sum is NULL"});
  reject(s.branch, sum, s.branch, {"output", "overlaps branch"});
  reject(s.branch, sum, s.residual, {"output", "overlaps residual"});
  reject(s.branch, sum, sum, {"output", "overlaps sum"});
}

}  // namespace
}  // namespace lpt::test
