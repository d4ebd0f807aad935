// int32 and int64 tensors are copied, compared and exported unchanged. Casts and arithmetic reject them.
#include <functional>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kIndexFormats[] = {LPT_FORMAT_INT32, LPT_FORMAT_INT64};

TEST(IndexFormat, HasNoScalesAndNoSparsity) {
  for (const char *name : {"int32/tensor/f32", "int64/1x32/f32", "int32/2:4", "int64/row/f32/uint8"}) {
    lpt_format format = LPT_FORMAT_NONE;
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_format_from_name(nullptr, name, &format)) << name;
  }
  const lpt_format_description is = describe(LPT_FORMAT_INT64);
  EXPECT_EQ(64, is.element_bits);
  EXPECT_EQ(LPT_ELEMENT_SPECIAL_INTEGER, is.special);
}

TEST(IndexFormat, IsCopiedViewedAndExported) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const std::vector<int64_t> numbers = {INT64_MIN, -1, 0, 1, INT64_MAX, 7};
  const Tensor source = wrap(c, LPT_FORMAT_INT64, numbers.data(), 2, 3),
               target = make_tensor(c, LPT_FORMAT_INT64, 2, 3);
  ASSERT_TRUE(ok(c, lpt_tensor_copy(c, source.get(), target.get())));
  EXPECT_EQ(bytes_of(c, source.get()), bytes_of(c, target.get()));
  EXPECT_EQ(7, *static_cast<const int64_t *>(describe(c, view(c, target.get(), {1, 2}, {1, 1}).get()).data));
  for (const lpt_format format : kIndexFormats) {
    const Tensor tensor = make_tensor(c, format, 2, 3);
    void *exported = nullptr;
    ASSERT_TRUE(ok(c, lpt_tensor_to_dlpack(c, tensor.get(), 1, &exported)));
    Tensor imported;
    ASSERT_TRUE(ok(c, lpt_tensor_take_dlpack(c, exported, 1, nullptr, out(imported))));
    EXPECT_EQ(format, lpt_tensor_format(imported.get()));
  }
}

// Each call is valid for f32 tensors `x` and `y` of 16 × 16.
struct Operation {
  const char *name;
  std::function<lpt_status(lpt_context *, lpt_tensor *x, lpt_tensor *y)> call;
};

const std::vector<Operation> kOperations = {
    {"quantize", [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) { return lpt_quantize(c, x, nullptr, y, nullptr); }},
    {"quantize, transposed",
     [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) { return lpt_quantize(c, x, nullptr, nullptr, y); }},
    {"fake_quantize", [](lpt_context *c, lpt_tensor *x,
                         lpt_tensor *y) { return lpt_fake_quantize(c, x, LPT_FORMAT_NVFP4, nullptr, y); }},
    {"dequantize", [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) { return lpt_dequantize(c, x, nullptr, y); }},
    {"hadamard",
     [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) {
       lpt_hadamard_options options = LPT_HADAMARD_OPTIONS_INIT;
       options.size = 16;
       return lpt_hadamard(c, x, &options, y);
     }},
    {"gemm", [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) { return lpt_gemm(c, x, x, nullptr, y); }},
    {"gemm, a transposed view",
     [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) {
       const int64_t extents[] = {16, 16}, strides[] = {1, 16};
       lpt_tensor_description description = describe(c, x);
       description.extents = extents;
       description.strides = strides;
       Tensor transposed;
       EXPECT_TRUE(ok(c, lpt_tensor_wrap(c, &description, out(transposed))));
       return lpt_gemm(c, transposed.get(), y, nullptr, make_tensor(c, LPT_FORMAT_F32, 16, 16).get());
     }},
    {"softmax", [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) { return lpt_softmax_forward(c, x, nullptr, y); }},
    {"swiglu",
     [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) { return lpt_swiglu_forward(c, x, x, nullptr, y, nullptr); }},
    {"rmsnorm",
     [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) {
       const Tensor weight = make_tensor(c, LPT_FORMAT_F32, {16}), inverse = make_tensor(c, LPT_FORMAT_F32, {16});
       return lpt_rmsnorm_forward(c, x, weight.get(), nullptr, y, inverse.get());
     }},
    {"layernorm",
     [](lpt_context *c, lpt_tensor *x, lpt_tensor *y) {
       return lpt_layernorm_forward(c, x, nullptr, nullptr, nullptr, y, nullptr, nullptr);
     }},
    {"rotary", [](lpt_context *c, lpt_tensor *x,
                  lpt_tensor *y) { return lpt_rotary(c, x, make_tensor(c, LPT_FORMAT_F32, {8}).get(), nullptr, y); }},
    {"mask_select", [](lpt_context *c, lpt_tensor *x,
                       lpt_tensor *y) { return lpt_sparse_mask_select(c, x, nullptr, nullptr, y, nullptr); }},
};

TEST(IndexFormat, IsRejectedByCastsAndArithmetic) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  for (const Operation &operation : kOperations) {
    SCOPED_TRACE(operation.name);
    const Tensor x = make_tensor(c, LPT_FORMAT_F32, 16, 16), y = make_tensor(c, LPT_FORMAT_F32, 16, 16);
    ASSERT_TRUE(ok(c, operation.call(c, x.get(), y.get())));
    for (const lpt_format format : kIndexFormats) {
      const Tensor indices = make_tensor(c, format, 16, 16);
      const std::string words = "is " + name_of(format) + ": it holds indices";
      EXPECT_EQ(LPT_UNSUPPORTED, operation.call(c, indices.get(), y.get()));
      expect_words({words.c_str()}, lpt_context_error(c));
      EXPECT_EQ(LPT_UNSUPPORTED, operation.call(c, x.get(), indices.get()));
      expect_words({words.c_str()}, lpt_context_error(c));
    }
  }
}

TEST(IndexFormat, IsNoFormatOfACast) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Tensor x = make_tensor(c, LPT_FORMAT_F32, 4, 4), y = make_tensor(c, LPT_FORMAT_F32, 4, 4);
  lpt_recipe *raw = nullptr;
  ASSERT_TRUE(ok(c, lpt_recipe_create(c, "fp8_current", &raw)));
  for (const lpt_format format : kIndexFormats) {
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_fake_quantize(c, x.get(), format, nullptr, y.get()));
    expect_words({"it holds indices"}, lpt_context_error(c));
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_recipe_set_cast(c, raw, LPT_LINEAR_CAST_FORWARD_INPUT, format, nullptr));
    Tensor packed;
    EXPECT_EQ(LPT_UNSUPPORTED, lpt_weights_pack(c, make_tensor(c, format, 16, 16).get(), nullptr, out(packed)));
  }
  lpt_recipe_destroy(raw);
}

}  // namespace
}  // namespace lpt::test
