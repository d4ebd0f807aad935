// Embedding against its definition: rows are copied or decoded, gradients are added in row order.
#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr int64_t kClasses = 37, kColumns = 70, kRows = 200;

std::vector<int64_t> draw_indices(int64_t lowest) {
  Random random(31);
  std::vector<int64_t> indices;
  for (int64_t r = 0; r < kRows; ++r) indices.push_back(lowest + random.below(kClasses - lowest));
  return indices;
}

Tensor table_of(lpt_context *context, lpt_format format) {
  const Tensor numbers = vector_of(context, LPT_FORMAT_F32, draw_normal(32, kClasses * kColumns));
  const Tensor matrix = wrap(context, LPT_FORMAT_F32, describe(context, numbers.get()).data, kClasses, kColumns);
  Tensor table = make_tensor(context, format, kClasses, kColumns);
  EXPECT_TRUE(ok(context, lpt_quantize(context, matrix.get(), nullptr, table.get(), nullptr)));
  return table;
}

// Every output row equals a row of the dequantized table.
TEST(Embedding, RowsAreThoseOfTheDecodedTable) {
  const Context context = make_context(3);
  lpt_context *const c = context.get();
  const std::vector<int64_t> indices = draw_indices(0);
  for (const char *name : {"f32", "bf16", "f16", "f64", "int8", "nf4", "e4m3fn_tensor", "int8_row", "nvfp4", "mxfp4",
                           "uint4_1x32", "e4m3fn/column/f32"}) {
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64}) {
      SCOPED_TRACE(std::string(name) + " to " + name_of(format));
      const Tensor table = table_of(c, format_named(name)), decoded = make_tensor(c, format, kClasses, kColumns);
      ASSERT_TRUE(ok(c, lpt_dequantize(c, table.get(), nullptr, decoded.get())));
      const Tensor output = make_tensor(c, format, kRows, kColumns);
      ASSERT_TRUE(ok(c, lpt_embedding_forward(c, table.get(), indices_of(c, indices).get(), nullptr, output.get())));
      const std::vector<double> rows = numbers_of(c, decoded.get()), found = numbers_of(c, output.get());
      for (size_t i = 0; i < found.size(); ++i) {
        const auto row = static_cast<size_t>(indices[i / kColumns]);
        ASSERT_EQ(rows[row * kColumns + i % kColumns], found[i]) << i;
      }
    }
  }
}

TEST(Embedding, BlocksOfMoreRowsAreRejected) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Tensor table = table_of(c, format_named("e4m3fn_128x128")),
               output = make_tensor(c, LPT_FORMAT_F32, 1, kColumns);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_embedding_forward(c, table.get(), indices_of(c, {0}).get(), nullptr, output.get()));
  expect_words({"weight is e4m3fn_128x128", "one row high"}, lpt_context_error(c));
}

// Adds the rows of each index in `Number`, in row order, starting from `begin`. Rows with the padding index are skipped.
template <typename Number>
std::vector<double> sums_of(const std::vector<int64_t> &indices, const std::vector<double> &rows, double begin) {
  std::vector<Number> sums(kClasses * kColumns, static_cast<Number>(begin));
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t index = indices[i / kColumns];
    if (index < 0) continue;
    Number &sum = sums[static_cast<size_t>(index) * kColumns + i % kColumns];
    sum = sum + static_cast<Number>(rows[i]);
  }
  return {sums.begin(), sums.end()};
}

TEST(Embedding, GradientsAreSumsInTheOrderOfRows) {
  const std::vector<int64_t> indices = draw_indices(-1);  // -1: the padding index
  for (const lpt_isa isa : {LPT_ISA_AUTO, LPT_ISA_REFERENCE}) {
    for (const int32_t threads : {1, 3}) {
      const Context context = make_context(threads, isa);
      lpt_context *const c = context.get();
      for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64}) {
        for (const bool is_accumulated : {false, true}) {
          SCOPED_TRACE(name_of(format) + (is_accumulated ? " accumulated" : ""));
          const bool is_f64 = format == LPT_FORMAT_F64;
          const lpt_format sum_format = is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
          const Tensor rows = tensor_of(c, format, kRows, kColumns, draw_normal(33, kRows * kColumns));
          const std::vector<double> given(kClasses * kColumns, 0.3);
          const Tensor gradient = tensor_of(c, sum_format, kClasses, kColumns, given);
          lpt_embedding_options options = LPT_EMBEDDING_OPTIONS_INIT;
          options.is_accumulated = is_accumulated;
          ASSERT_TRUE(
              ok(c, lpt_embedding_backward(c, indices_of(c, indices).get(), rows.get(), &options, gradient.get())));
          const double begin = is_accumulated ? 0.3 : 0.0;
          const std::vector<double> numbers = numbers_of(c, rows.get());
          EXPECT_EQ(is_f64 ? sums_of<double>(indices, numbers, begin) : sums_of<float>(indices, numbers, begin),
                    numbers_of(c, gradient.get()));
        }
      }
    }
  }
}

TEST(Embedding, AnyIndexMayBeThePadding) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  lpt_embedding_options options = LPT_EMBEDDING_OPTIONS_INIT;
  options.padding_index = 1;
  const Tensor rows = tensor_of(c, LPT_FORMAT_F32, 3, 1, {2, 4, 8}), gradient = make_tensor(c, LPT_FORMAT_F32, 3, 1);
  ASSERT_TRUE(ok(c, lpt_embedding_backward(c, indices_of(c, {1, 2, 1}).get(), rows.get(), &options, gradient.get())));
  EXPECT_EQ((std::vector<double>{0, 0, 4}), numbers_of(c, gradient.get()));
}

}  // namespace
}  // namespace lpt::test
