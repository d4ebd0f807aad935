// Conversion of dense or unstructured weights to N:M: mask counts, selection of N, absorbed means, fitted weights, column
// orders.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/api/sparse.hpp"

namespace lpt::test {
namespace {

double masks_of(lpt_context *context, int32_t kept, int32_t of, lpt_sparse_direction direction, lpt_sparse_count count,
                double elements) {
  double bits = -1.0;
  EXPECT_TRUE(ok(context, lpt_sparse_diversity(context, kept, of, direction, count, &bits)));
  return std::exp2(bits * elements);
}

// Counts the square 0/1 matrices whose rows and columns all sum to `kept`, by enumeration.
int64_t count_by_trying(int32_t kept, int32_t of) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < 1u << of; ++row) {
    if (__builtin_popcount(row) == kept) rows.push_back(row);
  }
  int64_t result = 0;
  std::vector<size_t> at(static_cast<size_t>(of), 0);
  for (;;) {
    bool is_mask = true;
    for (int32_t c = 0; c < of && is_mask; ++c) {
      int32_t sum = 0;
      for (const size_t row : at) sum += rows[row] >> c & 1;
      is_mask = sum == kept;
    }
    result += is_mask;
    size_t i = 0;
    while (i < at.size() && ++at[i] == rows.size()) at[i++] = 0;
    if (i == at.size()) return result;
  }
}

TEST(SparseCount, CountsMasks) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const auto both = [&](int32_t kept, int32_t of) {
    return masks_of(c, kept, of, LPT_SPARSE_DIRECTION_BOTH, LPT_SPARSE_COUNT_EXACT, of * of);
  };
  for (int32_t of = 2; of <= 4; ++of) {
    for (int32_t kept = 1; kept < of; ++kept) {
      EXPECT_NEAR(static_cast<double>(count_by_trying(kept, of)), both(kept, of), 1e-6) << kept << ":" << of;
    }
  }
  EXPECT_NEAR(90.0, both(2, 4), 1e-9);
  EXPECT_NEAR(116963796250.0, both(4, 8), 1.0);
  EXPECT_NEAR(187530840.0, both(2, 8), 1e-3);
  // The published counts are too large: 144 and 1.756e13.
  EXPECT_NEAR(144.0, masks_of(c, 2, 4, LPT_SPARSE_DIRECTION_BOTH, LPT_SPARSE_COUNT_PUBLISHED, 16), 1e-9);
  EXPECT_NEAR(1.756e13, masks_of(c, 4, 8, LPT_SPARSE_DIRECTION_BOTH, LPT_SPARSE_COUNT_PUBLISHED, 64), 0.001e13);
  EXPECT_NEAR(std::pow(6.0, 16), masks_of(c, 2, 4, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_COUNT_EXACT, 64), 1.0);
  double bits = 0.0;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_sparse_diversity(c, 8, 16, LPT_SPARSE_DIRECTION_BOTH, LPT_SPARSE_COUNT_EXACT, &bits));
  expect_words({"of is 16", "up to 8"}, lpt_context_error(c));
}

TEST(SparseCount, ChoosesNAsPublished) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const struct {
    double share;
    int32_t kept[3];
  } kTable[] = {{0.5, {4, 6, 11}}, {0.7, {3, 5, 8}},  {0.8, {2, 4, 6}},
                {0.9, {2, 2, 4}},  {0.0, {4, 8, 16}}, {1.0, {1, 1, 1}}};
  for (const auto &line : kTable) {
    for (int i = 0; i < 3; ++i) {
      int32_t kept = 0;
      ASSERT_TRUE(ok(c, lpt_sparse_choose_kept(c, line.share, 4 << i, 0.95, &kept)));
      EXPECT_EQ(line.kept[i], kept) << line.share << " of " << (4 << i);
    }
  }
  int32_t kept = 0;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_sparse_choose_kept(c, 1.5, 4, 0.95, &kept));
  expect_words({"zero_share is 1.5"}, lpt_context_error(c));
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_sparse_choose_kept(c, 0.5, 4, 1.0, &kept));
  expect_words({"confidence is 1"}, lpt_context_error(c));
}

TEST(SparseAbsorb, GroupsKeepTheirSums) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  const int64_t rows = 21;
  const int64_t columns = 30;
  const Tensor source = tensor_of(c, LPT_FORMAT_F32, rows, columns, draw_normal(581, rows * columns));
  const std::vector<double> numbers = numbers_of(c, source.get());
  for (const lpt_sparse_direction direction : {LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_DIRECTION_COLUMN}) {
    const bool is_column = direction == LPT_SPARSE_DIRECTION_COLUMN;
    std::vector<uint8_t> mask = selected(c, source.get(), selection(2, 4, direction));
    std::fill_n(mask.begin(), is_column ? 1 : 4, uint8_t{0});  // a group without kept elements
    const Tensor bytes = mask_of(c, rows, columns, mask);
    const Tensor output = make_tensor(c, LPT_FORMAT_F32, rows, columns);
    ASSERT_TRUE(ok(c, lpt_sparse_absorb(c, source.get(), bytes.get(), 4, direction, output.get())));
    const std::vector<double> found = numbers_of(c, output.get());
    const int64_t lines = is_column ? columns : rows;
    const int64_t length = is_column ? rows : columns;
    for (int64_t line = 0; line < lines; ++line) {
      for (int64_t begin = 0; begin < length; begin += 4) {
        double whole = 0.0;
        double dropped = 0.0;
        double absorbed = 0.0;
        int kept = 0;
        const auto each = [&](const auto &body) {
          for (int64_t i = begin; i < std::min(begin + 4, length); ++i) {
            body(static_cast<size_t>(is_column ? i * columns + line : line * columns + i));
          }
        };
        each([&](size_t i) {
          whole += numbers[i], absorbed += found[i], kept += mask[i], dropped += mask[i] ? 0 : numbers[i];
        });
        each([&](size_t i) {
          const double expected = mask[i] == 0 ? 0.0 : numbers[i] + dropped / kept;
          EXPECT_NEAR(expected, found[i], 1e-6);
        });
        EXPECT_NEAR(kept > 0 ? whole : 0.0, absorbed, 1e-5);
      }
    }
  }
}

// Computes inputs · weightᵀ in double.
std::vector<double> outputs_of(const std::vector<double> &inputs, const std::vector<double> &weight, int64_t tokens,
                               int64_t outputs, int64_t columns) {
  std::vector<double> result(static_cast<size_t>(tokens * outputs));
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = 0.0;
      for (int64_t i = 0; i < columns; ++i) {
        sum += inputs[static_cast<size_t>(t * columns + i)] * weight[static_cast<size_t>(o * columns + i)];
      }
      result[static_cast<size_t>(t * outputs + o)] = sum;
    }
  }
  return result;
}

struct FitProblem {
  static constexpr int64_t kTokens = 200, kOutputs = 24, kColumns = 32;
  std::vector<double> inputs, weight;
  Tensor input_tensor, weight_tensor, mask_tensor, output;
  std::vector<uint8_t> mask;

  explicit FitProblem(lpt_context *c, double mean = 0.0) {
    // Correlated inputs: the fit can compensate for dropped weights.
    const std::vector<double> own = draw_normal(591, kTokens * kColumns);
    const std::vector<double> shared = draw_normal(592, kTokens * 4);
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t i = 0; i < kColumns; ++i) {
        const double number =
            mean + 0.5 * own[static_cast<size_t>(t * kColumns + i)] + shared[static_cast<size_t>(t * 4 + i % 4)];
        inputs.push_back(static_cast<double>(static_cast<float>(number)));
      }
    }
    weight = draw_normal(593, kOutputs * kColumns);
    input_tensor = tensor_of(c, LPT_FORMAT_F32, kTokens, kColumns, inputs);
    weight_tensor = tensor_of(c, LPT_FORMAT_F32, kOutputs, kColumns, weight);
    mask = selected(c, weight_tensor.get(), selection(2, 4));
    mask_tensor = mask_of(c, kOutputs, kColumns, mask);
    output = make_tensor(c, LPT_FORMAT_F32, kOutputs, kColumns);
  }

  double share_of_error(const std::vector<double> &other, const std::vector<double> &bias) const {
    const std::vector<double> whole = outputs_of(inputs, weight, kTokens, kOutputs, kColumns);
    const std::vector<double> found = outputs_of(inputs, other, kTokens, kOutputs, kColumns);
    double error = 0.0;
    double energy = 0.0;
    for (size_t i = 0; i < whole.size(); ++i) {
      const double change = bias.empty() ? 0.0 : bias[i % kOutputs];
      error += (whole[i] - found[i] - change) * (whole[i] - found[i] - change);
      energy += whole[i] * whole[i];
    }
    return error / energy;
  }
};

// Least squares: the gradient of the squared error is zero for every kept weight, and for the bias if present.
void expect_least_squares(const FitProblem &p, const std::vector<double> &fitted, const std::vector<double> &bias) {
  const std::vector<double> whole = outputs_of(p.inputs, p.weight, p.kTokens, p.kOutputs, p.kColumns);
  const std::vector<double> found = outputs_of(p.inputs, fitted, p.kTokens, p.kOutputs, p.kColumns);
  // The sum over tokens of the error times an input. Column kColumns is the bias, whose input is 1.
  const auto expect_no_slope = [&](int64_t o, int64_t column) {
    double slope = 0.0;
    double magnitude = 0.0;
    for (int64_t t = 0; t < p.kTokens; ++t) {
      const auto out = static_cast<size_t>(t * p.kOutputs + o);
      const double off = found[out] - whole[out] + (bias.empty() ? 0.0 : bias[static_cast<size_t>(o)]);
      const double input = column == p.kColumns ? 1.0 : p.inputs[static_cast<size_t>(t * p.kColumns + column)];
      slope += input * off;
      magnitude += std::fabs(input * off);
    }
    EXPECT_LE(std::fabs(slope), 1e-4 * magnitude + 1e-9) << o << ", " << column;
  };
  for (int64_t o = 0; o < p.kOutputs; ++o) {
    for (int64_t i = 0; i < p.kColumns; ++i) {
      const auto at = static_cast<size_t>(o * p.kColumns + i);
      if (p.mask[at] == 0) {
        ASSERT_EQ(0.0, fitted[at]);
      } else {
        expect_no_slope(o, i);
      }
    }
    if (!bias.empty()) expect_no_slope(o, p.kColumns);
  }
}

lpt_sparse_fit_options exact_fit() {
  lpt_sparse_fit_options options = LPT_SPARSE_FIT_OPTIONS_INIT;
  options.damping = 0.0;
  options.iterations = 200;
  return options;
}

TEST(SparseFit, SolvesLeastSquaresUnderTheMask) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  FitProblem p(c);
  const lpt_sparse_fit_options options = exact_fit();
  lpt_sparse_fit_info values = LPT_SPARSE_FIT_INFO_INIT;
  ASSERT_TRUE(ok(c, lpt_sparse_fit(c, p.weight_tensor.get(), p.mask_tensor.get(), p.input_tensor.get(), &options,
                                   p.output.get(), nullptr, &values)));
  const std::vector<double> fitted = numbers_of(c, p.output.get());
  expect_least_squares(p, fitted, {});
  std::vector<double> masked = p.weight;
  for (size_t i = 0; i < masked.size(); ++i) masked[i] *= p.mask[i];
  EXPECT_NEAR(p.share_of_error(masked, {}), values.masked_error, 1e-5);
  EXPECT_NEAR(p.share_of_error(fitted, {}), values.fitted_error, 1e-5);
  EXPECT_LT(values.fitted_error, 0.5 * values.masked_error);
  EXPECT_GT(values.iteration_count, 3);
  EXPECT_LE(values.iteration_count,
            24);  // 16 weights per row are kept: as many conjugate gradient steps, plus some for rounding
}

TEST(SparseFit, FitsTheBiasWithTheWeight) {
  const Context context = make_context(2);
  lpt_context *c = context.get();
  FitProblem p(c, 3.0);
  const Tensor bias = make_tensor(c, LPT_FORMAT_F32, {p.kOutputs});
  const Tensor without = make_tensor(c, LPT_FORMAT_F32, p.kOutputs, p.kColumns);
  ASSERT_TRUE(ok(c, lpt_sparse_fit(c, p.weight_tensor.get(), p.mask_tensor.get(), p.input_tensor.get(), nullptr,
                                   p.output.get(), bias.get(), nullptr)));
  ASSERT_TRUE(ok(c, lpt_sparse_fit(c, p.weight_tensor.get(), p.mask_tensor.get(), p.input_tensor.get(), nullptr,
                                   without.get(), nullptr, nullptr)));
  const lpt_sparse_fit_options exact = exact_fit();
  const Tensor best = make_tensor(c, LPT_FORMAT_F32, p.kOutputs, p.kColumns);
  const Tensor best_bias = make_tensor(c, LPT_FORMAT_F32, {p.kOutputs});
  ASSERT_TRUE(ok(c, lpt_sparse_fit(c, p.weight_tensor.get(), p.mask_tensor.get(), p.input_tensor.get(), &exact,
                                   best.get(), best_bias.get(), nullptr)));
  expect_least_squares(p, numbers_of(c, best.get()), numbers_of(c, best_bias.get()));
  const double with_bias = p.share_of_error(numbers_of(c, p.output.get()), numbers_of(c, bias.get()));
  EXPECT_LE(with_bias, p.share_of_error(numbers_of(c, without.get()), {}) * (1 + 1e-6));
  // The bias alone compensates for constant inputs.
  std::vector<double> same(p.inputs.size());
  for (size_t i = 0; i < same.size(); ++i) same[i] = p.inputs[i % p.kColumns];
  p.inputs = same;
  p.input_tensor = tensor_of(c, LPT_FORMAT_F32, p.kTokens, p.kColumns, same);
  ASSERT_TRUE(ok(c, lpt_sparse_fit(c, p.weight_tensor.get(), p.mask_tensor.get(), p.input_tensor.get(), nullptr,
                                   p.output.get(), bias.get(), nullptr)));
  EXPECT_LT(p.share_of_error(numbers_of(c, p.output.get()), numbers_of(c, bias.get())), 1e-10);
}

TEST(SparseFit, RejectsAndIsCancelled) {
  const Context context = make_context();
  lpt_context *c = context.get();
  FitProblem p(c);
  const auto fit = [&](const lpt_tensor *inputs, const lpt_sparse_fit_options &options, lpt_tensor *output) {
    return lpt_sparse_fit(c, p.weight_tensor.get(), p.mask_tensor.get(), inputs, &options, output, nullptr, nullptr);
  };
  lpt_sparse_fit_options options = LPT_SPARSE_FIT_OPTIONS_INIT;
  const Tensor narrow = make_tensor(c, LPT_FORMAT_F32, 10, 31);
  EXPECT_EQ(LPT_INVALID_ARGUMENT, fit(narrow.get(), options, p.output.get()));
  expect_words({"inputs is 10 x 31", "10 x 32"}, lpt_context_error(c));
  const Tensor first = wrap_axes(c, LPT_FORMAT_F32, lpt_tensor_data(p.input_tensor.get()), {p.kOutputs});
  EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_sparse_fit(c, p.weight_tensor.get(), p.mask_tensor.get(), p.input_tensor.get(),
                                                 &options, p.output.get(), first.get(), nullptr));
  expect_words({"bias_change", "inputs"}, lpt_context_error(c));
  const Tensor half = make_tensor(c, LPT_FORMAT_BF16, p.kOutputs, p.kColumns);
  EXPECT_EQ(LPT_UNSUPPORTED, fit(p.input_tensor.get(), options, half.get()));
  expect_words({"output is bf16", "f32"}, lpt_context_error(c));
  options.damping = 2.0;
  EXPECT_EQ(LPT_INVALID_ARGUMENT, fit(p.input_tensor.get(), options, p.output.get()));
  expect_words({"damping is 2"}, lpt_context_error(c));
  options = LPT_SPARSE_FIT_OPTIONS_INIT;
  ASSERT_TRUE(ok(c, lpt_context_set_progress(
                        c, [](void *, int64_t done, int64_t) { return done >= 2 ? 1 : 0; }, nullptr)));
  EXPECT_EQ(LPT_CANCELLED, fit(p.input_tensor.get(), options, p.output.get()));
  ASSERT_TRUE(ok(c, lpt_context_set_progress(c, nullptr, nullptr)));
  for (const double number : numbers_of(c, p.output.get())) ASSERT_EQ(0.0, number);
}

TEST(SparseOrder, KeepsMoreAndTellsHowMuch) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const int64_t rows = 40;
  for (const int64_t columns : {64, 66}) {
    // Large columns are adjacent, which is an unfavorable order.
    std::vector<double> numbers = draw_normal(601, rows * columns);
    for (int64_t i = 0; i < rows * columns; ++i) numbers[static_cast<size_t>(i)] *= i % columns < 16 ? 4.0 : 1.0;
    const Tensor weight = tensor_of(c, LPT_FORMAT_F32, rows, columns, numbers);
    std::vector<int32_t> order(static_cast<size_t>(columns), -1);
    lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
    ASSERT_TRUE(ok(c, lpt_sparse_order(c, weight.get(), nullptr, order.data(), &values)));
    std::vector<int32_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < columns; ++i) ASSERT_EQ(i, sorted[static_cast<size_t>(i)]);
    std::vector<double> ordered(numbers.size());
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < columns; ++i) {
        ordered[static_cast<size_t>(r * columns + i)] =
            numbers[static_cast<size_t>(r * columns + order[static_cast<size_t>(i)])];
      }
    }
    const Tensor ordered_tensor = tensor_of(c, LPT_FORMAT_F32, rows, columns, ordered);
    lpt_sparse_info before = LPT_SPARSE_INFO_INIT;
    lpt_sparse_info after = LPT_SPARSE_INFO_INIT;
    ASSERT_TRUE(ok(c, lpt_sparse_mask_select(c, weight.get(), nullptr, nullptr, nullptr, &before)));
    ASSERT_TRUE(ok(c, lpt_sparse_mask_select(c, ordered_tensor.get(), nullptr, nullptr, nullptr, &after)));
    EXPECT_NEAR(after.kept_energy, values.kept_energy, 1e-5 * after.energy);
    EXPECT_NEAR(after.energy, values.energy, 1e-5 * after.energy);
    EXPECT_EQ(after.kept_count, values.kept_count);
    EXPECT_GT(after.kept_energy, before.kept_energy + 0.02 * before.energy);
  }
}

}  // namespace
}  // namespace lpt::test
