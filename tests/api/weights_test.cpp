// Packed weights: the same products as the rows they were made of, slices, orders, and saved states.
#include <array>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

// One of each kind of panel, with lane scales, blocks along k, blocks of many rows, and zero points.
const lpt_format kFormats[] = {
    LPT_FORMAT_F32,           LPT_FORMAT_BF16,       LPT_FORMAT_F16,          LPT_FORMAT_E4M3FN,
    LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_E5M2_ROW,   LPT_FORMAT_E4M3FN_1X128, LPT_FORMAT_E4M3FN_128X128,
    LPT_FORMAT_MXFP8_E4M3,    LPT_FORMAT_MXFP6_E2M3, LPT_FORMAT_MXFP4,        LPT_FORMAT_NVFP4,
    LPT_FORMAT_NVFP4_16X16,   LPT_FORMAT_INT8_ROW,   LPT_FORMAT_INT8_1X32,    LPT_FORMAT_INT4_1X128,
    LPT_FORMAT_INT4_1X32,     LPT_FORMAT_UINT4_1X64, LPT_FORMAT_NF4_1X64,     LPT_FORMAT_TERNARY_TENSOR,
    LPT_FORMAT_E3M0_TENSOR,   LPT_FORMAT_MXINT8};

Tensor pack(lpt_context *context, const lpt_tensor *weights, const lpt_weights_options *options = nullptr) {
  Tensor packed;
  EXPECT_TRUE(ok(context, lpt_weights_pack(context, weights, options, out(packed))));
  return packed;
}

std::vector<double> product_of(lpt_context *context, const lpt_tensor *a, const lpt_tensor *b, int64_t m, int64_t n) {
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  const Tensor c = make_tensor(context, LPT_FORMAT_F32, m, n);
  EXPECT_TRUE(ok(context, lpt_gemm(context, a, b, &options, c.get())));
  return numbers_of(context, c.get());
}

TEST(Weights, GiveTheProductsOfTheirRows) {
  const Context context = make_context(2);
  for (const lpt_format format : kFormats) {
    for (const auto &[m, n, k] : {std::array<int64_t, 3>{1, 31, 7}, {3, 33, 130}, {17, 64, 256}, {40, 100, 333}}) {
      SCOPED_TRACE(name_of(format) + " " + std::to_string(m) + "×" + std::to_string(n) + "×" + std::to_string(k));
      const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(501, n * k));
      const std::vector<double> right = transposed(numbers_of(context.get(), weights.get()), n, k);
      const Tensor packed = pack(context.get(), weights.get());
      for (const lpt_format a_format :
           {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP4, LPT_FORMAT_INT8_ROW}) {
        const Tensor a = tensor_of(context.get(), a_format, m, k, draw_normal(502, m * k));
        expect_product(multiply(numbers_of(context.get(), a.get()), right, m, n, k),
                       product_of(context.get(), a.get(), packed.get(), m, n), k);
      }
    }
  }
}

TEST(Weights, AreUnpackedToTheSameCodesAndScales) {
  const Context context = make_context(2);
  const int64_t n = 70, k = 150;
  for (const lpt_format format : kFormats) {
    const lpt_format_description description = describe(format);
    if (description.block_scale != LPT_FORMAT_NONE && description.block_rows != 1) continue;
    const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(503, n * k));
    const Tensor packed = pack(context.get(), weights.get());
    const Tensor back = make_tensor(context.get(), format, n, k);
    ASSERT_TRUE(ok(context.get(), lpt_weights_unpack(context.get(), packed.get(), back.get()))) << name_of(format);
    EXPECT_EQ(bytes_of(context.get(), weights.get()), bytes_of(context.get(), back.get())) << name_of(format);
  }
}

// A prefix of the rows is a smaller layer: bit for bit that of the rows packed by themselves.
TEST(Weights, AreCutAlongTheirRows) {
  const Context context = make_context(1);
  const int64_t m = 5, n = 130, k = 96;
  for (const lpt_format format : {LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_NVFP4, LPT_FORMAT_INT4_1X32, LPT_FORMAT_BF16}) {
    const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(504, n * k));
    const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, m, k, draw_normal(505, m * k));
    const Tensor packed = pack(context.get(), weights.get());
    for (const auto &[begin, rows] : {std::array<int64_t, 2>{0, 130}, {0, 40}, {0, 32}, {32, 64}, {96, 34}, {64, 0}}) {
      SCOPED_TRACE(name_of(format) + " rows " + std::to_string(begin) + " + " + std::to_string(rows));
      const Tensor slice = view(context.get(), packed.get(), {begin, 0}, {rows, k});
      const Tensor alone = pack(context.get(), view(context.get(), weights.get(), {begin, 0}, {rows, k}).get());
      EXPECT_EQ(product_of(context.get(), a.get(), alone.get(), m, rows),
                product_of(context.get(), a.get(), slice.get(), m, rows));
    }
  }
  const Tensor packed = pack(context.get(), make_tensor(context.get(), LPT_FORMAT_BF16, n, k).get());
  const auto cut = [&](std::vector<int64_t> begins, std::vector<int64_t> extents) {
    Tensor part;
    return lpt_tensor_view(context.get(), packed.get(), begins.data(), extents.data(), out(part));
  };
  EXPECT_EQ(LPT_INVALID_ARGUMENT, cut({1, 0}, {32, k}));
  expect_words({"begins[0] is 1", "multiples of 32"}, lpt_context_error(context.get()));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, cut({0, 0}, {32, 32}));
  expect_words({"axis 1", "all of its 96 columns"}, lpt_context_error(context.get()));
}

// Packing with the next layer's order gives its input in that order: no shuffle in between.
TEST(Weights, TakeTheOrderOfTheNextLayer) {
  const Context context = make_context(1);
  const int64_t m = 3, n = 64, k = 128;
  std::vector<int32_t> rows(static_cast<size_t>(n)), columns(static_cast<size_t>(k));
  for (int64_t i = 0; i < n; ++i) rows[static_cast<size_t>(i)] = static_cast<int32_t>((i * 37 + 5) % n);
  // Whole blocks of 32 change places and are sorted inside.
  for (int64_t p = 0; p < k; ++p)
    columns[static_cast<size_t>(p)] = static_cast<int32_t>((p / 32 * 32 + 64) % k + 31 - p % 32);
  const Tensor weights = tensor_of(context.get(), LPT_FORMAT_INT4_1X32, n, k, draw_normal(506, n * k));
  const std::vector<double> numbers = numbers_of(context.get(), weights.get());
  lpt_weights_options options = LPT_WEIGHTS_OPTIONS_INIT;
  options.output_order = rows.data();
  options.input_order = columns.data();
  const Tensor packed = pack(context.get(), weights.get(), &options);
  const std::vector<double> a = draw_normal(507, m * k);
  std::vector<double> right(static_cast<size_t>(k * n));
  for (size_t j = 0; j < rows.size(); ++j) {
    for (size_t p = 0; p < columns.size(); ++p) {
      right[p * rows.size() + j] =
          numbers[static_cast<size_t>(rows[j]) * columns.size() + static_cast<size_t>(columns[p])];
    }
  }
  const Tensor left = tensor_of(context.get(), LPT_FORMAT_F32, m, k, a);
  expect_product(multiply(a, right, m, n, k), product_of(context.get(), left.get(), packed.get(), m, n), k);
  std::swap(columns[0], columns[40]);
  Tensor mixed;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_weights_pack(context.get(), weights.get(), &options, out(mixed)));
  expect_words({"input_order[1]", "mixes columns of blocks"}, lpt_context_error(context.get()));
}

std::vector<uint8_t> saved(lpt_context *context, const lpt_tensor *packed) {
  size_t bytes = 0;
  EXPECT_TRUE(ok(context, lpt_weights_state_size(context, packed, &bytes)));
  std::vector<uint8_t> state(bytes);
  EXPECT_TRUE(ok(context, lpt_weights_state_save(context, packed, state.data(), state.size())));
  return state;
}

TEST(Weights, AreSavedAndLoaded) {
  const Context context = make_context(1);
  const int64_t m = 4, n = 70, k = 130;
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, m, k, draw_normal(508, m * k));
  for (const lpt_format format : kFormats) {
    const Tensor weights = tensor_of(context.get(), format, n, k, draw_normal(509, n * k));
    const Tensor packed = pack(context.get(), weights.get());
    // A view is saved without the panels behind it.
    const Tensor slice = view(context.get(), packed.get(), {0, 0}, {40, k});
    for (const lpt_tensor *source : {packed.get(), slice.get()}) {
      const int64_t rows = describe(context.get(), source).extents[0];
      const std::vector<uint8_t> state = saved(context.get(), source);
      Tensor loaded;
      ASSERT_TRUE(ok(context.get(), lpt_weights_state_load(context.get(), state.data(), state.size(), out(loaded))));
      EXPECT_EQ(saved(context.get(), loaded.get()), state) << name_of(format);
      EXPECT_EQ(product_of(context.get(), a.get(), source, m, rows),
                product_of(context.get(), a.get(), loaded.get(), m, rows))
          << name_of(format);
    }
  }
}

TEST(Weights, RefuseDamagedStates) {
  const Context context = make_context(1);
  const Tensor packed =
      pack(context.get(), tensor_of(context.get(), LPT_FORMAT_NVFP4, 40, 64, draw_normal(510, 40 * 64)).get());
  const std::vector<uint8_t> state = saved(context.get(), packed.get());
  for (size_t length = 0; length < state.size(); length += 1 + length / 8) {
    Tensor loaded;
    EXPECT_EQ(LPT_INVALID_STATE, lpt_weights_state_load(context.get(), state.data(), length, out(loaded))) << length;
  }
  for (size_t at = 0; at < 80; ++at) {
    std::vector<uint8_t> damaged = state;
    damaged[at] = static_cast<uint8_t>(damaged[at] ^ 0x55);
    Tensor loaded;
    EXPECT_EQ(LPT_INVALID_STATE, lpt_weights_state_load(context.get(), damaged.data(), damaged.size(), out(loaded)))
        << at;
  }
}

TEST(Weights, TellTheirSizeAndAreNoOrdinaryTensors) {
  const Context context = make_context(1);
  const Tensor weights = tensor_of(context.get(), LPT_FORMAT_INT4_1X128, 64, 256, draw_normal(511, 64 * 256));
  const Tensor packed = pack(context.get(), weights.get());
  size_t rows_bytes = 0, packed_bytes = 0;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), weights.get(), &rows_bytes)));
  ASSERT_TRUE(ok(context.get(), lpt_tensor_size(context.get(), packed.get(), &packed_bytes)));
  EXPECT_EQ(rows_bytes, packed_bytes);
  const Tensor wide = make_tensor(context.get(), LPT_FORMAT_F32, 64, 256);
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_dequantize(context.get(), packed.get(), nullptr, wide.get()));
  expect_words({"source is packed weights"}, lpt_context_error(context.get()));
  Tensor part;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_tensor_part(context.get(), packed.get(), LPT_PART_PAYLOAD, out(part)));
}

}  // namespace
}  // namespace lpt::test
