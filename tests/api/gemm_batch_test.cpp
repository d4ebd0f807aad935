// Batches and groups of products, against sums in double.
#include <array>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

std::vector<double> part(const std::vector<double> &numbers, int64_t begin, int64_t count) {
  return {numbers.begin() + begin, numbers.begin() + begin + count};
}

Tensor tensor3_of(lpt_context *context, lpt_format format, std::array<int64_t, 3> extents,
                  const std::vector<double> &numbers) {
  Tensor tensor = make_tensor(context, format, {extents[0], extents[1], extents[2]});
  const Tensor source = wrap(context, numbers, extents[0] * extents[1], extents[2]);
  EXPECT_TRUE(ok(context, lpt_quantize(context, source.get(), nullptr, tensor.get(), nullptr)));
  return tensor;
}

void expect_products(const std::vector<double> &left, const std::vector<double> &right,
                     const std::vector<double> &given, std::array<int64_t, 4> sizes) {
  const auto [count, m, n, k] = sizes;
  for (int64_t i = 0; i < count; ++i) {
    SCOPED_TRACE("matrix " + std::to_string(i));
    expect_product(multiply(part(left, i * m * k, m * k), part(right, i * k * n, k * n), m, n, k),
                   part(given, i * m * n, m * n), k);
  }
}

TEST(GemmBatch, MultipliesMatrixByMatrix) {
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_MXFP8_E4M3}) {
      for (const auto &[count, m, n, k] :
           {std::array<int64_t, 4>{1, 3, 5, 7}, {7, 16, 32, 64}, {3, 130, 70, 65}, {0, 2, 2, 2}}) {
        SCOPED_TRACE(name_of(format) + " " + std::to_string(count) + " of " + std::to_string(m));
        const Tensor a = tensor3_of(context.get(), format, {count, m, k}, draw_normal(601, count * m * k));
        const Tensor b = tensor3_of(context.get(), format, {count, k, n}, draw_normal(602, count * k * n));
        const Tensor c = make_tensor(context.get(), LPT_FORMAT_F32, {count, m, n});
        ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), a.get(), b.get(), nullptr, c.get())));
        expect_products(numbers_of(context.get(), a.get()), numbers_of(context.get(), b.get()),
                        numbers_of(context.get(), c.get()), {count, m, n, k});
      }
    }
  }
}

// Heads of attention: matrices lie between one another, c too.
TEST(GemmBatch, TakesStridesAndOneMatrixForAll) {
  const Context context = make_context(2);
  const int64_t heads = 3, m = 10, n = 12, k = 8;
  const std::vector<double> a = draw_normal(603, m * heads * k);
  const std::vector<float> stored(a.begin(), a.end());  // m × heads × k
  const int64_t extents[] = {heads, m, k}, strides[] = {k, heads * k, 1};
  lpt_tensor_description description = LPT_TENSOR_DESCRIPTION_INIT;
  description.format = LPT_FORMAT_F32;
  description.data = const_cast<float *>(stored.data());
  description.rank = 3;
  description.extents = extents;
  description.strides = strides;
  Tensor left;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_wrap(context.get(), &description, out(left))));
  std::vector<float> written(static_cast<size_t>(m * heads * n));
  const int64_t c_extents[] = {heads, m, n}, c_strides[] = {n, heads * n, 1};
  description.data = written.data();
  description.extents = c_extents;
  description.strides = c_strides;
  Tensor c;
  ASSERT_TRUE(ok(context.get(), lpt_tensor_wrap(context.get(), &description, out(c))));
  const std::vector<double> b = draw_normal(604, heads * n * k);
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_b_transposed = 1;
  const Tensor each = tensor3_of(context.get(), LPT_FORMAT_F32, {heads, n, k}, b);
  const Tensor shared = tensor_of(context.get(), LPT_FORMAT_F32, n, k, part(b, 0, n * k));
  for (const lpt_tensor *right : {each.get(), shared.get()}) {
    ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), left.get(), right, &options, c.get())));
    for (int64_t h = 0; h < heads; ++h) {
      std::vector<double> head(static_cast<size_t>(m * k)), given(static_cast<size_t>(m * n));
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t p = 0; p < k; ++p) {
          head[static_cast<size_t>(i * k + p)] = a[static_cast<size_t>((i * heads + h) * k + p)];
        }
        for (int64_t j = 0; j < n; ++j) {
          given[static_cast<size_t>(i * n + j)] =
              static_cast<double>(written[static_cast<size_t>((i * heads + h) * n + j)]);
        }
      }
      const int64_t matrix = right == shared.get() ? 0 : h;
      expect_product(multiply(head, transposed(part(b, matrix * n * k, n * k), n, k), m, n, k), given, k);
    }
  }
  // One a for all matrices of b.
  const Tensor one = tensor_of(context.get(), LPT_FORMAT_F32, m, k, part(a, 0, m * k));
  const Tensor dense = make_tensor(context.get(), LPT_FORMAT_F32, {heads, m, n});
  ASSERT_TRUE(ok(context.get(), lpt_gemm(context.get(), one.get(), each.get(), &options, dense.get())));
  const std::vector<double> given = numbers_of(context.get(), dense.get());
  for (int64_t h = 0; h < heads; ++h) {
    expect_product(multiply(part(a, 0, m * k), transposed(part(b, h * n * k, n * k), n, k), m, n, k),
                   part(given, h * m * n, m * n), k);
  }
}

// Rows of no group stay, empty groups are legal, and the threads do not change a bit.
TEST(GemmGrouped, MultipliesRowsByTheMatrixOfTheirGroup) {
  const int64_t n = 70, k = 96;
  const std::vector<int64_t> ends = {0, 5, 5, 38, 39, 120, 120};
  const int64_t rows = 125, groups = static_cast<int64_t>(ends.size());
  std::vector<std::vector<double>> results;
  for (const int32_t threads : {1, 2}) {
    const Context context = make_context(threads);
    for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_ROW, LPT_FORMAT_INT4_1X32}) {
      for (const bool is_packed : {false, true}) {
        SCOPED_TRACE(name_of(format) + (is_packed ? " packed" : ""));
        const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, rows, k, draw_normal(605, rows * k));
        const Tensor b = tensor3_of(context.get(), format, {groups, n, k}, draw_normal(606, groups * n * k));
        Tensor packed;
        ASSERT_TRUE(ok(context.get(), lpt_weights_pack(context.get(), b.get(), nullptr, out(packed))));
        const std::vector<double> bias = draw_normal(607, groups * n);
        const Tensor biases = tensor_of(context.get(), LPT_FORMAT_F32, groups, n, bias);
        const Tensor c =
            tensor_of(context.get(), LPT_FORMAT_F32, rows, n, std::vector<double>(static_cast<size_t>(rows * n), 7));
        lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
        options.is_b_transposed = 1;
        options.bias = biases.get();
        ASSERT_TRUE(ok(context.get(), lpt_gemm_grouped(context.get(), a.get(), is_packed ? packed.get() : b.get(),
                                                       ends.data(), groups, &options, c.get())));
        const std::vector<double> left = numbers_of(context.get(), a.get()), right = numbers_of(context.get(), b.get());
        const std::vector<double> given = numbers_of(context.get(), c.get());
        for (int64_t g = 0, begin = 0; g < groups; begin = ends[static_cast<size_t>(g)], ++g) {
          const int64_t m = ends[static_cast<size_t>(g)] - begin;
          ExactProduct exact =
              multiply(part(left, begin * k, m * k), transposed(part(right, g * n * k, n * k), n, k), m, n, k);
          for (size_t i = 0; i < exact.value.size(); ++i) {
            const double added = bias[static_cast<size_t>(g * n) + i % static_cast<size_t>(n)];
            exact.value[i] += added;
            exact.magnitude[i] += std::abs(added);
          }
          expect_product(exact, part(given, begin * n, m * n), k);
        }
        EXPECT_EQ(part(given, 120 * n, 5 * n), std::vector<double>(static_cast<size_t>(5 * n), 7));
        results.push_back(given);
      }
    }
  }
  for (size_t i = 0; i < results.size() / 2; ++i) EXPECT_EQ(results[i], results[i + results.size() / 2]) << i;
}

TEST(GemmGrouped, MultipliesAlongTheRowsOfGroups) {
  const Context context = make_context(2);
  const int64_t m = 20, n = 33;
  const std::vector<int64_t> ends = {30, 30, 31, 100};
  const int64_t rows = 100, groups = static_cast<int64_t>(ends.size());
  const Tensor a = tensor_of(context.get(), LPT_FORMAT_BF16, rows, m, draw_normal(608, rows * m));
  const Tensor b = tensor_of(context.get(), LPT_FORMAT_BF16, rows, n, draw_normal(609, rows * n));
  const Tensor c = tensor3_of(context.get(), LPT_FORMAT_F32, {groups, m, n},
                              std::vector<double>(static_cast<size_t>(groups * m * n), 2));
  lpt_gemm_options options = LPT_GEMM_OPTIONS_INIT;
  options.is_a_transposed = 1;
  options.beta = 0.5;
  ASSERT_TRUE(
      ok(context.get(), lpt_gemm_grouped(context.get(), a.get(), b.get(), ends.data(), groups, &options, c.get())));
  const std::vector<double> left = numbers_of(context.get(), a.get()), right = numbers_of(context.get(), b.get());
  const std::vector<double> given = numbers_of(context.get(), c.get());
  for (int64_t g = 0, begin = 0; g < groups; begin = ends[static_cast<size_t>(g)], ++g) {
    const int64_t k = ends[static_cast<size_t>(g)] - begin;
    ExactProduct exact =
        multiply(transposed(part(left, begin * m, k * m), k, m), part(right, begin * n, k * n), m, n, k);
    for (double &value : exact.value) value += 1.0;
    for (double &magnitude : exact.magnitude) magnitude += 1.0;
    expect_product(exact, part(given, g * m * n, m * n), k);
  }
}

}  // namespace
}  // namespace lpt::test
