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
  reject(half.branch, sum, output, {"branch is bf16", "f32", "residual"});
  reject(s.branch, half.residual, output, {"sum is bf16", "f32"});
  reject(nullptr, sum, output, {"branch is NULL"});
  reject(s.branch, nullptr, output, {"sum is NULL"});
  reject(s.branch, sum, s.branch, {"output", "overlaps branch"});
  reject(s.branch, sum, s.residual, {"output", "overlaps residual"});
  reject(s.branch, sum, sum, {"output", "overlaps sum"});
}

}  // namespace
}  // namespace lpt::test
