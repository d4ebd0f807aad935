// Properties of every foreign layout: sizes, and tensors without elements.
#include "tests/api/foreign_layout.hpp"

namespace lpt::test {
namespace {

// Creates a 2:4 matrix without data.
Tensor hollow(lpt_context *context, const char *name, int64_t rows, int64_t columns) {
  const lpt_format format = format_named((std::string(name) + "/2:4").c_str());
  const Tensor payload = wrap(context, format_named(name), nullptr, rows, (columns + 3) / 4 * 2);
  const Tensor indices = wrap(context, LPT_FORMAT_UINT8, nullptr, rows, (columns + 7) / 8);
  const lpt_tensor *const parts[] = {payload.get(), nullptr, nullptr, nullptr, indices.get()};
  Tensor tensor;
  EXPECT_TRUE(ok(context, lpt_tensor_combine(context, format, rows, columns, parts, 5, out(tensor))));
  return tensor;
}

TEST(ForeignLayoutSize, NeedsNoData) {
  const Context context = make_context();
  const Tensor codes = wrap(context.get(), LPT_FORMAT_NF4, nullptr, 3, 5);
  EXPECT_EQ(8u, size_of(context.get(), codes.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES));
  const Tensor wide = wrap(context.get(), LPT_FORMAT_BF16, nullptr, 3, 64);
  EXPECT_EQ(120u, size_of(context.get(), wide.get(), LPT_FOREIGN_LAYOUT_GGML_Q4_1));
  const Tensor sparse = hollow(context.get(), "bf16", 32, 64);
  EXPECT_EQ(2 * 1152u, size_of(context.get(), sparse.get(), LPT_FOREIGN_LAYOUT_MMA_SPARSE));
  EXPECT_EQ(32 * 72u, size_of(context.get(), sparse.get(), LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE));
  // The largest number of rows of a tensor: no size overflows.
  const Tensor tall = hollow(context.get(), "bf16", int64_t{1} << 55, 1);
  EXPECT_EQ(size_t{1152} << 51, size_of(context.get(), tall.get(), LPT_FOREIGN_LAYOUT_MMA_SPARSE));
}

TEST(ForeignLayoutEmpty, TakesNoBuffer) {
  const Context context = make_context();
  const struct {
    lpt_format format;
    lpt_foreign_layout foreign_layout;
  } cases[] = {{LPT_FORMAT_INT8_1X32, LPT_FOREIGN_LAYOUT_GGML},
               {LPT_FORMAT_UINT4_1X32, LPT_FOREIGN_LAYOUT_GGML_Q4_1},
               {LPT_FORMAT_NF4, LPT_FOREIGN_LAYOUT_BITSANDBYTES},
               {LPT_FORMAT_NVFP4, LPT_FOREIGN_LAYOUT_CUBLAS_SCALES},
               {format_named("f16/2:4"), LPT_FOREIGN_LAYOUT_MMA_SPARSE}};
  for (const auto &[format, foreign_layout] : cases) {
    for (const Shape shape : {Shape{0, 64}, Shape{7, 0}}) {
      const Tensor tensor = make_tensor(context.get(), format, shape.rows, shape.columns);
      EXPECT_EQ(0u, size_of(context.get(), tensor.get(), foreign_layout));
      EXPECT_TRUE(
          ok(context.get(), lpt_foreign_layout_export(context.get(), tensor.get(), foreign_layout, nullptr, 0)));
      EXPECT_TRUE(
          ok(context.get(), lpt_foreign_layout_import(context.get(), nullptr, 0, foreign_layout, tensor.get())));
    }
  }
  // Rows with gaps and without memory: sanitizers report an address computed from NULL.
  const Tensor codes = wrap(context.get(), LPT_FORMAT_NF4, nullptr, 7, 0, 64);
  EXPECT_TRUE(ok(context.get(),
                 lpt_foreign_layout_export(context.get(), codes.get(), LPT_FOREIGN_LAYOUT_BITSANDBYTES, nullptr, 0)));
  EXPECT_TRUE(ok(context.get(),
                 lpt_foreign_layout_import(context.get(), nullptr, 0, LPT_FOREIGN_LAYOUT_BITSANDBYTES, codes.get())));
  const Tensor none = make_tensor(context.get(), format_named("f16/2:4"), 0, 64);
  EXPECT_EQ(0u, size_of(context.get(), none.get(), LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE));
  EXPECT_TRUE(ok(context.get(),
                 lpt_foreign_layout_import(context.get(), nullptr, 0, LPT_FOREIGN_LAYOUT_CUTLASS_SPARSE, none.get())));
}

}  // namespace
}  // namespace lpt::test
