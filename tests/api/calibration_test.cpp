// Statistics of calibration data against their definitions in double.
#include <numeric>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

using Numbers = std::vector<double>;

struct DestroyCalibration {
  void operator()(lpt_calibration *handle) const { lpt_calibration_destroy(handle); }
};
using Calibration = std::unique_ptr<lpt_calibration, DestroyCalibration>;

constexpr int64_t kChannels = 21;

Calibration make_calibration(lpt_context *c, bool has_cross_gram = false, int64_t columns = kChannels) {
  lpt_calibration_options options = LPT_CALIBRATION_OPTIONS_INIT;
  options.has_cross_gram = has_cross_gram ? 1 : 0;
  lpt_calibration *made = nullptr;
  EXPECT_TRUE(ok(c, lpt_calibration_create(c, columns, &options, &made)));
  return Calibration(made);
}

Numbers value_of(lpt_context *c, const Calibration &calibration, lpt_calibration_value value) {
  const bool is_matrix = value == LPT_CALIBRATION_VALUE_GRAM || value == LPT_CALIBRATION_VALUE_CROSS_GRAM;
  const Tensor output =
      is_matrix ? make_tensor(c, LPT_FORMAT_F64, kChannels, kChannels) : make_tensor(c, LPT_FORMAT_F64, {kChannels});
  EXPECT_TRUE(ok(c, lpt_calibration_read(c, calibration.get(), value, output.get())));
  return numbers_of(c, output.get());
}

lpt_calibration_info info_of(lpt_context *c, const Calibration &calibration) {
  lpt_calibration_info info = LPT_CALIBRATION_INFO_INIT;
  EXPECT_TRUE(ok(c, lpt_calibration_describe(c, calibration.get(), &info)));
  return info;
}

double percentile(lpt_context *c, const Calibration &calibration, double share) {
  double magnitude = -1;
  EXPECT_TRUE(ok(c, lpt_calibration_percentile(c, calibration.get(), share, &magnitude)));
  return magnitude;
}

Numbers draw_f32(uint64_t place, int64_t rows, double scale = 1.0) {
  Numbers numbers = draw_normal(place, rows * kChannels);
  for (double &x : numbers) x = static_cast<double>(static_cast<float>(scale * x));
  return numbers;
}

// The sums of their definition, with the sum of magnitudes that bounds their rounding.
struct Products {
  Numbers sums = Numbers(kChannels * kChannels), magnitudes = sums;

  void add(const Numbers &left, const Numbers &right) {
    for (size_t row = 0; row < left.size(); row += kChannels) {
      for (size_t i = 0; i < kChannels; ++i) {
        for (size_t j = 0; j < kChannels; ++j) {
          const double product = left[row + i] * right[row + j];
          sums[i * kChannels + j] += product;
          magnitudes[i * kChannels + j] += std::abs(product);
        }
      }
    }
  }
  // A sum of 512 products in f32 has at most 512 roundings.
  void expect_near(const Numbers &found) const {
    for (size_t i = 0; i < sums.size(); ++i) ASSERT_NEAR(sums[i], found[i], 512 * std::ldexp(magnitudes[i], -24)) << i;
  }
};

TEST(Calibration, CollectsTheSumsOfItsDefinition) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const Calibration calibration = make_calibration(c, true);
  Products gram, cross;
  Numbers all;
  for (const int64_t rows : {1, 700, 1024, 0, 37}) {
    const Numbers inputs = draw_f32(400 + static_cast<uint64_t>(rows), rows),
                  reference = draw_f32(500 + static_cast<uint64_t>(rows), rows);
    const Tensor x = tensor_of(c, LPT_FORMAT_F32, rows, kChannels, inputs),
                 y = tensor_of(c, LPT_FORMAT_F64, rows, kChannels, reference);
    ASSERT_TRUE(ok(c, lpt_calibration_add(c, calibration.get(), x.get(), y.get())));
    gram.add(inputs, inputs);
    cross.add(reference, inputs);
    all.insert(all.end(), inputs.begin(), inputs.end());
  }
  gram.expect_near(value_of(c, calibration, LPT_CALIBRATION_VALUE_GRAM));
  cross.expect_near(value_of(c, calibration, LPT_CALIBRATION_VALUE_CROSS_GRAM));
  const Numbers maxima = value_of(c, calibration, LPT_CALIBRATION_VALUE_MAXIMA),
                means = value_of(c, calibration, LPT_CALIBRATION_VALUE_MEANS),
                squares = value_of(c, calibration, LPT_CALIBRATION_VALUE_MEAN_SQUARES);
  const lpt_calibration_info info = info_of(c, calibration);
  const auto rows = static_cast<double>(all.size() / kChannels);
  double amax = 0, mean = 0, square = 0;
  for (size_t i = 0; i < kChannels; ++i) {
    double largest = 0, sum = 0, sum_of_squares = 0;
    for (size_t at = i; at < all.size(); at += kChannels) {
      largest = std::max(largest, std::abs(all[at]));
      sum += all[at];
      sum_of_squares += all[at] * all[at];
    }
    EXPECT_EQ(largest, maxima[i]);
    EXPECT_NEAR(sum / rows, means[i], 1e-13);
    EXPECT_NEAR(sum_of_squares / rows, squares[i], 1e-12);
    amax = std::max(amax, largest);
    mean += sum / static_cast<double>(all.size());
    square += sum_of_squares / static_cast<double>(all.size());
  }
  EXPECT_EQ(1762, info.row_count);
  EXPECT_EQ(amax, info.amax);
  EXPECT_NEAR(mean, info.mean, 1e-13);
  EXPECT_NEAR(square, info.mean_square, 1e-12);
  // Percentiles against the sorted magnitudes.
  for (double &x : all) x = std::abs(x);
  std::sort(all.begin(), all.end());
  for (const double share : {1e-6, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto place = static_cast<size_t>(std::ceil(share * static_cast<double>(all.size()))) - 1;
    const double found = percentile(c, calibration, share);
    EXPECT_GE(found, all[place]) << share;
    EXPECT_LE(found, std::min(amax, 17.0 / 16 * all[place])) << share;
  }
}

// The magnitudes of the batches differ by 2^30, so that sums in f64 would depend on their order.
TEST(Calibration, IsIndependentOfTheOrderOfBatchesAndOfThreads) {
  std::vector<Numbers> batches;
  for (uint64_t i = 0; i < 7; ++i)
    batches.push_back(draw_f32(600 + i, 40, std::ldexp(1.0, static_cast<int>(i) * 5 - 15)));
  std::vector<Numbers> found;
  std::vector<size_t> order(batches.size());
  std::iota(order.begin(), order.end(), 0);
  Numbers forward, backward;
  for (const int threads : {1, 3, 1}) {
    const Context context = make_context(threads);
    lpt_context *const c = context.get();
    const Calibration calibration = make_calibration(c);
    Numbers plain(1), &sums = found.emplace_back();
    for (const size_t i : order) {
      const Tensor batch = tensor_of(c, LPT_FORMAT_F32, 40, kChannels, batches[i]);
      ASSERT_TRUE(ok(c, lpt_calibration_add(c, calibration.get(), batch.get(), nullptr)));
      for (const double x : batches[i]) plain[0] += x;
    }
    for (lpt_calibration_value value : {LPT_CALIBRATION_VALUE_GRAM, LPT_CALIBRATION_VALUE_MEANS,
                                        LPT_CALIBRATION_VALUE_MEAN_SQUARES, LPT_CALIBRATION_VALUE_MAXIMA}) {
      const Numbers more = value_of(c, calibration, value);
      sums.insert(sums.end(), more.begin(), more.end());
    }
    (threads == 3 ? backward : forward) = plain;
    std::reverse(order.begin(), order.end());
  }
  EXPECT_NE(forward, backward);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(Calibration, BeginsWithZeros) {
  const Context context = make_context(1);
  const Calibration calibration = make_calibration(context.get());
  EXPECT_EQ(Numbers(kChannels, 0.0), value_of(context.get(), calibration, LPT_CALIBRATION_VALUE_MEANS));
  EXPECT_EQ(Numbers(kChannels * kChannels, 0.0), value_of(context.get(), calibration, LPT_CALIBRATION_VALUE_GRAM));
  EXPECT_EQ(0.0, percentile(context.get(), calibration, 0.5));
  EXPECT_EQ(0, info_of(context.get(), calibration).row_count);
}

TEST(Calibration, RejectsWhatDoesNotFit) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const Calibration calibration = make_calibration(c), crossed = make_calibration(c, true);
  const Tensor batch = tensor_of(c, LPT_FORMAT_F32, 3, kChannels, draw_f32(700, 3));
  const auto reject = [&](lpt_status expected, lpt_status status, const std::vector<const char *> &words) {
    EXPECT_EQ(expected, status);
    expect_words(words, lpt_context_error(c));
  };
  const auto reject_add = [&](lpt_status status, const Calibration &to, const lpt_tensor *inputs,
                              const lpt_tensor *reference, const std::vector<const char *> &words) {
    reject(status, lpt_calibration_add(c, to.get(), inputs, reference), words);
  };
  lpt_calibration *made = nullptr;
  reject(LPT_INVALID_ARGUMENT, lpt_calibration_create(c, 0, nullptr, &made), {"columns is 0", "1 to 16777216"});
  lpt_calibration_options options = LPT_CALIBRATION_OPTIONS_INIT;
  options.has_gram = 2;
  reject(LPT_INVALID_ARGUMENT, lpt_calibration_create(c, 4, &options, &made), {"has_gram is 2", "0 to 1"});
  EXPECT_EQ(nullptr, made);
  const Tensor narrow = make_tensor(c, LPT_FORMAT_F32, 3, 20), codes = make_tensor(c, LPT_FORMAT_E4M3FN, 3, kChannels),
               longer = make_tensor(c, LPT_FORMAT_F32, 4, kChannels);
  reject_add(LPT_INVALID_ARGUMENT, calibration, narrow.get(), nullptr, {"inputs is 3 x 20 f32", "21 columns"});
  reject_add(LPT_UNSUPPORTED, calibration, codes.get(), nullptr, {"inputs is e4m3fn"});
  reject_add(LPT_INVALID_ARGUMENT, calibration, batch.get(), batch.get(), {"reference is given", "has_cross_gram"});
  reject_add(LPT_INVALID_ARGUMENT, crossed, batch.get(), nullptr, {"reference is NULL", "not quantized"});
  reject_add(LPT_INVALID_ARGUMENT, crossed, batch.get(), longer.get(), {"reference is 4 x 21", "3 x 21"});
  for (const double bad : {std::nan(""), HUGE_VAL, -2e17}) {
    Numbers numbers = draw_f32(701, 3);
    numbers[2 * kChannels + 4] = bad;
    const Tensor inputs = tensor_of(c, LPT_FORMAT_F64, 3, kChannels, numbers);
    reject_add(LPT_INVALID_ARGUMENT, calibration, inputs.get(), nullptr, {"inputs[2][4] is", "finite", "1e17"});
    reject_add(LPT_INVALID_ARGUMENT, crossed, batch.get(), inputs.get(), {"reference[2][4] is"});
  }
  EXPECT_EQ(0, info_of(c, calibration).row_count);
  EXPECT_EQ(0, info_of(c, crossed).row_count);
  const Tensor matrix = make_tensor(c, LPT_FORMAT_F32, kChannels, kChannels),
               halves = make_tensor(c, LPT_FORMAT_BF16, kChannels, kChannels);
  const auto read_to = [&](lpt_calibration_value value, const Tensor &output) {
    return lpt_calibration_read(c, calibration.get(), value, output.get());
  };
  reject(LPT_INVALID_ARGUMENT, read_to(5, matrix), {"value is 5", "0 to 4"});
  reject(LPT_INVALID_ARGUMENT, read_to(LPT_CALIBRATION_VALUE_CROSS_GRAM, matrix), {"value is 1", "does not collect"});
  reject(LPT_INVALID_ARGUMENT, read_to(LPT_CALIBRATION_VALUE_MEANS, matrix), {"output is 21 x 21", "1 x 21"});
  reject(LPT_UNSUPPORTED, read_to(LPT_CALIBRATION_VALUE_GRAM, halves), {"output is 21 x 21 bf16", "f64 or f32"});
  double magnitude = 5;
  for (const double share : {0.0, 1.5, std::nan("")}) {
    reject(LPT_INVALID_ARGUMENT, lpt_calibration_percentile(c, calibration.get(), share, &magnitude),
           {"share is", "above 0, at most 1"});
  }
  EXPECT_EQ(5.0, magnitude);
  reject(LPT_INVALID_ARGUMENT, lpt_calibration_add(c, nullptr, batch.get(), nullptr), {"calibration is NULL"});
}

}  // namespace
}  // namespace lpt::test
