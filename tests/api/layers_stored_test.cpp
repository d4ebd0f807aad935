// Backward passes that read stored codes have the same bits as those that read the decoded values.
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

// Few rows, rows that end inside a block, and more elements than the scratch has at a time.
constexpr Shape kShapes[] = {{1, 1}, {3, 130}, {37, 16}, {700, 1000}};
constexpr const char *kFormats[] = {"e4m3fn_1x128", "e4m3fn/1x16/f32", "e5m2_tensor", "e4m3fn_row",
                                    "mxfp8_e4m3",   "nvfp4",           "int8_tensor"};

Tensor stored_of(lpt_context *context, const char *format, const Tensor &numbers, const Shape &shape) {
  Tensor codes = make_tensor(context, format_named(format), shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_quantize(context, numbers.get(), nullptr, codes.get(), nullptr)));
  return codes;
}

Tensor decoded_of(lpt_context *context, const Tensor &codes, const Shape &shape) {
  Tensor numbers = make_tensor(context, LPT_FORMAT_F32, shape.rows, shape.columns);
  EXPECT_TRUE(ok(context, lpt_dequantize(context, codes.get(), nullptr, numbers.get())));
  return numbers;
}

Tensor draw(lpt_context *context, uint64_t seed, const Shape &shape) {
  return tensor_of(context, LPT_FORMAT_F32, shape.rows, shape.columns, draw_normal(seed, shape.rows * shape.columns));
}

TEST(Stored, SwigluBackwardReadsCodes) {
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    lpt_context *c = context.get();
    for (const Shape &shape : kShapes) {
      const Tensor gate = draw(c, 921, shape), up = draw(c, 922, shape), dy = draw(c, 923, shape);
      for (const char *format : kFormats) {
        SCOPED_TRACE(format);
        const Tensor gate_codes = stored_of(c, format, gate, shape), up_codes = stored_of(c, format, up, shape);
        const Tensor gate_numbers = decoded_of(c, gate_codes, shape), up_numbers = decoded_of(c, up_codes, shape);
        std::vector<uint8_t> expected[2], given[2];
        const auto run = [&](const Tensor &g, const Tensor &u, std::vector<uint8_t>(&bytes)[2]) {
          const Tensor dgate = make_tensor(c, LPT_FORMAT_F32, shape.rows, shape.columns);
          const Tensor dup = make_tensor(c, LPT_FORMAT_F32, shape.rows, shape.columns);
          ASSERT_TRUE(ok(c, lpt_swiglu_backward(c, g.get(), u.get(), dy.get(), nullptr, dgate.get(), dup.get())));
          bytes[0] = plain_bytes(c, dgate.get());
          bytes[1] = plain_bytes(c, dup.get());
        };
        run(gate_numbers, up_numbers, expected);
        run(gate_codes, up_codes, given);
        EXPECT_EQ(expected[0], given[0]);
        EXPECT_EQ(expected[1], given[1]);
        run(gate_numbers, up_codes, given);  // one stored operand is enough
        EXPECT_EQ(expected[0], given[0]);
      }
    }
  }
}

TEST(Stored, RmsnormBackwardReadsCodes) {
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    lpt_context *c = context.get();
    for (const Shape &shape : kShapes) {
      const Tensor x = draw(c, 924, shape), dy = draw(c, 925, shape), w = draw(c, 926, {1, shape.columns});
      const Tensor weight = wrap(c, LPT_FORMAT_F32, describe(c, w.get()).data, 1, shape.columns);
      const Tensor y = make_tensor(c, LPT_FORMAT_F32, shape.rows, shape.columns);
      const Tensor rms = make_tensor(c, LPT_FORMAT_F32, {shape.rows});
      ASSERT_TRUE(ok(c, lpt_rmsnorm_forward(c, x.get(), weight.get(), nullptr, y.get(), rms.get())));
      for (const char *format : kFormats) {
        SCOPED_TRACE(format);
        const Tensor codes = stored_of(c, format, x, shape), numbers = decoded_of(c, codes, shape);
        std::vector<uint8_t> expected[2], given[2];
        const auto run = [&](const Tensor &input, std::vector<uint8_t>(&bytes)[2]) {
          const Tensor dx = make_tensor(c, LPT_FORMAT_F32, shape.rows, shape.columns);
          const Tensor dw = make_tensor(c, LPT_FORMAT_F32, {shape.columns});
          ASSERT_TRUE(ok(
              c, lpt_rmsnorm_backward(c, input.get(), weight.get(), rms.get(), dy.get(), nullptr, dx.get(), dw.get())));
          bytes[0] = plain_bytes(c, dx.get());
          bytes[1] = plain_bytes(c, dw.get());
        };
        run(numbers, expected);
        run(codes, given);
        EXPECT_EQ(expected[0], given[0]);
        EXPECT_EQ(expected[1], given[1]);
      }
    }
  }
}

TEST(Stored, BlocksOfManyRowsAreRejected) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const Shape shape{128, 128};
  const Tensor x = draw(c, 927, shape), out = make_tensor(c, LPT_FORMAT_F32, 128, 128);
  const Tensor other = make_tensor(c, LPT_FORMAT_F32, 128, 128);
  const Tensor codes = stored_of(c, "e4m3fn_128x128", x, shape);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_swiglu_backward(c, codes.get(), x.get(), x.get(), nullptr, out.get(), other.get()));
  expect_words({"gate is e4m3fn_128x128", "blocks one row high"}, lpt_context_error(c));
  const Tensor bytes = make_tensor(c, LPT_FORMAT_UINT8, 128, 128);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_swiglu_backward(c, x.get(), bytes.get(), x.get(), nullptr, out.get(), other.get()));
  expect_words({"up is uint8"}, lpt_context_error(c));
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_swiglu_backward(c, x.get(), x.get(), codes.get(), nullptr, out.get(), other.get()));
  expect_words({"output_gradient is e4m3fn_128x128", "f64, f32, bf16 or f16"}, lpt_context_error(c));
}

}  // namespace
}  // namespace lpt::test
