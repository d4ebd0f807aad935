// What holds for every dialect: sizes, and tensors of nothing.
#include "tests/api/dialect.hpp"

namespace lpt::test {
namespace {

TEST(DialectSize, NeedsNoData) {
  const Context context = make_context();
  const Tensor codes = wrap(context.get(), LPT_FORMAT_NF4, nullptr, 3, 5);
  EXPECT_EQ(8u, size_of(context.get(), codes.get(), LPT_DIALECT_BITSANDBYTES));
  const Tensor wide = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 3, 64);
  EXPECT_EQ(120u, size_of(context.get(), wide.get(), LPT_DIALECT_GGML_Q4_1));
}

TEST(DialectEmpty, TakesNoBuffer) {
  const Context context = make_context();
  const struct {
    lpt_format format;
    lpt_dialect dialect;
  } cases[] = {{LPT_FORMAT_INT8_1X32, LPT_DIALECT_GGML},
               {LPT_FORMAT_UINT4_1X32, LPT_DIALECT_GGML_Q4_1},
               {LPT_FORMAT_NF4, LPT_DIALECT_BITSANDBYTES},
               {LPT_FORMAT_NVFP4, LPT_DIALECT_CUBLAS_SCALES}};
  for (const auto &[format, dialect] : cases) {
    for (const Shape shape : {Shape{0, 64}, Shape{7, 0}}) {
      const Tensor tensor = make_tensor(context.get(), format, shape.rows, shape.columns);
      EXPECT_EQ(0u, size_of(context.get(), tensor.get(), dialect));
      EXPECT_TRUE(ok(context.get(), lpt_dialect_export(context.get(), tensor.get(), dialect, nullptr, 0)));
      EXPECT_TRUE(ok(context.get(), lpt_dialect_import(context.get(), nullptr, 0, dialect, tensor.get())));
    }
  }
}

}  // namespace
}  // namespace lpt::test
