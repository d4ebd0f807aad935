// Sparse masks through the C interface, tested by sorting, by sums in double, and by draws of shards.
#include "tests/api/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/support/bounds.hpp"

namespace lpt::test {
namespace {

constexpr lpt_format kWide[] = {LPT_FORMAT_F32, LPT_FORMAT_F64, LPT_FORMAT_BF16, LPT_FORMAT_F16};

struct Pattern {
  int32_t kept, of;
};
constexpr Pattern kPatterns[] = {{1, 2}, {2, 4}, {1, 4}, {3, 4}, {4, 8}, {8, 16}, {16, 32}, {2, 7}};

// Marks the `kept` largest elements of each group of a line. Of equal elements the first is kept.
std::vector<uint8_t> largest(const std::vector<double> &line, Pattern pattern) {
  std::vector<uint8_t> mask(line.size());
  for (size_t begin = 0; begin < line.size(); begin += static_cast<size_t>(pattern.of)) {
    const size_t end = std::min(begin + static_cast<size_t>(pattern.of), line.size());
    std::vector<size_t> order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return std::fabs(line[a]) > std::fabs(line[b]); });
    for (size_t i = 0; i < order.size() && i < static_cast<size_t>(pattern.kept); ++i) mask[order[i]] = 1;
  }
  return mask;
}

std::vector<uint8_t> largest(const std::vector<double> &numbers, int64_t rows, int64_t columns, Pattern pattern,
                             bool is_column) {
  std::vector<uint8_t> result(numbers.size());
  const int64_t lines = is_column ? columns : rows;
  const int64_t length = is_column ? rows : columns;
  const auto index = [&](int64_t line, int64_t i) {
    return static_cast<size_t>(is_column ? i * columns + line : line * columns + i);
  };
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<double> values;
    for (int64_t i = 0; i < length; ++i) values.push_back(numbers[index(line, i)]);
    const std::vector<uint8_t> mask = largest(values, pattern);
    for (int64_t i = 0; i < length; ++i) result[index(line, i)] = mask[static_cast<size_t>(i)];
  }
  return result;
}

TEST(SparseMask, KeepsTheLargestOfEachGroupInEveryFormat) {
  const Context context = make_context(2);
  for (const lpt_format format : kWide) {
    for (const Pattern pattern : kPatterns) {
      for (const bool is_column : {false, true}) {
        const int64_t rows = 37;
        const int64_t columns = 70;
        const Tensor source = tensor_of(context.get(), format, rows, columns, draw_normal(501, rows * columns));
        const lpt_sparse_options options =
            selection(pattern.kept, pattern.of, is_column ? LPT_SPARSE_DIRECTION_COLUMN : LPT_SPARSE_DIRECTION_ROW);
        const Tensor masked = make_tensor(context.get(), format, rows, columns);
        const Tensor mask = make_tensor(context.get(), LPT_FORMAT_UINT8, rows, columns);
        ASSERT_TRUE(ok(context.get(), lpt_sparse_mask_select(context.get(), source.get(), &options, mask.get(),
                                                             masked.get(), nullptr)));
        const std::vector<double> numbers = numbers_of(context.get(), source.get());
        const std::vector<uint8_t> expected = largest(numbers, rows, columns, pattern, is_column);
        ASSERT_EQ(expected, bytes_of(context.get(), mask.get())) << name_of(format) << " " << pattern.of;
        const std::vector<double> found = numbers_of(context.get(), masked.get());
        for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(expected[i] != 0 ? numbers[i] : 0.0, found[i]) << i;
        EXPECT_EQ(0, violations(context.get(), expected, rows, columns, pattern.kept, pattern.of, options.direction));
      }
    }
  }
}

TEST(SparseMask, KeepsTheFirstOfEqualOnesAndWhatIsNoNumber) {
  const Context context = make_context();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> numbers = {1, -1, 1, 1, 0, 0, 0, 0, 9, nan, 3, -infinity, -0.0f, 2, 0, -2, nan, nan, nan, 5};
  const Tensor source = wrap(context.get(), numbers, 1, 20);
  const std::vector<uint8_t> expected = {1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0};
  EXPECT_EQ(expected, selected(context.get(), source.get(), selection(2, 4)));
  for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS}) {
    const std::vector<uint8_t> drawn =
        selected(context.get(), source.get(), selection(2, 4, LPT_SPARSE_DIRECTION_ROW, rule));
    for (const size_t i : {4, 5, 9, 11, 13, 15, 16, 17}) EXPECT_EQ(1, drawn[i]) << i << " rule " << rule;
  }
}

TEST(SparseMask, WeighsColumnsByTheirImportance) {
  const Context context = make_context();
  const std::vector<float> numbers = {4, 3, 2, 1, -1, 2, 3, -4};
  const std::vector<float> importance = {1, 1, 4, 8};
  const Tensor source = wrap(context.get(), numbers, 2, 4);
  const Tensor factors = wrap(context.get(), importance, 1, 4);
  lpt_sparse_options options = selection(2, 4);
  options.importance = factors.get();
  EXPECT_EQ((std::vector<uint8_t>{0, 0, 1, 1, 0, 0, 1, 1}), selected(context.get(), source.get(), options));
}

TEST(SparseMask, SoftThresholdSubtractsTheLargestThatGoes) {
  const Context context = make_context();
  std::vector<float> numbers = {4, -3, 2.5f, 1, -1, 0, 0, 0, 5, 5, -5, 5};
  const Tensor source = wrap(context.get(), numbers, 1, 12);
  const lpt_sparse_options options = selection(2, 4, LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_RULE_SOFT_THRESHOLD);
  ASSERT_TRUE(
      ok(context.get(), lpt_sparse_mask_select(context.get(), source.get(), &options, nullptr, source.get(), nullptr)));
  EXPECT_EQ((std::vector<float>{1.5f, -0.5f, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0}), numbers);
}

// Compares one draw for the full tensor with separate draws for its shards.
TEST(SparseMask, ShardsDrawWhatTheWholeDraws) {
  const Context context = make_context(2);
  const int64_t rows = 24;
  const int64_t columns = 42;  // the last group of a row is short
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, rows, columns, draw_normal(502, rows * columns));
  for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS}) {
    for (const lpt_sparse_direction direction : {LPT_SPARSE_DIRECTION_ROW, LPT_SPARSE_DIRECTION_COLUMN}) {
      lpt_sparse_options options = selection(2, 4, direction, rule);
      options.random.seed = 7;
      options.random.row_stride = columns;
      const std::vector<uint8_t> whole = selected(context.get(), source.get(), options);
      for (const int64_t first : {0, 8, 20}) {
        const int64_t length = first == 20 ? 4 : 12;
        options.random.offset = first * columns + 2 * first;
        const Tensor part = view(context.get(), source.get(), {first, 2 * first}, {length, columns - 2 * first});
        const std::vector<uint8_t> found = selected(context.get(), part.get(), options);
        size_t at = 0;
        for (int64_t r = first; r < first + length; ++r) {
          for (int64_t c = 2 * first; c < columns; ++c) {
            ASSERT_EQ(whole[static_cast<size_t>(r * columns + c)], found[at++]) << r << ", " << c;
          }
        }
      }
    }
  }
}

// Groups are numbered by rows in both directions. Four rows of C columns have the draws of C rows of one group; the next
// four rows have the draws that follow.
TEST(SparseMask, GroupsOfColumnsDrawRowAfterRow) {
  const Context context = make_context();
  lpt_context *c = context.get();
  const int64_t columns = 37;
  const std::vector<double> numbers = draw_normal(510, 8 * columns);
  const Tensor source = wrap(c, numbers, 8, columns);
  lpt_sparse_options options = selection(2, 4, LPT_SPARSE_DIRECTION_COLUMN, LPT_SPARSE_RULE_MVUE);
  const std::vector<uint8_t> whole = selected(c, source.get(), options);
  for (const int64_t group : {0, 1}) {
    const std::vector<double> rows(numbers.begin() + group * 4 * columns, numbers.begin() + (group + 1) * 4 * columns);
    const std::vector<double> transposed_copy = transposed(rows, 4, columns);
    const Tensor lines = wrap(c, transposed_copy, columns, 4);
    options.direction = LPT_SPARSE_DIRECTION_ROW;
    options.random.offset = group * 4 * columns;
    const std::vector<uint8_t> found = selected(c, lines.get(), options);
    for (int64_t r = 0; r < 4; ++r) {
      for (int64_t i = 0; i < columns; ++i) {
        ASSERT_EQ(whole[static_cast<size_t>((group * 4 + r) * columns + i)], found[static_cast<size_t>(i * 4 + r)]);
      }
    }
  }
}

TEST(SparseMask, ThreadsDoNotMatter) {
  const Context one = make_context(1);
  const Context many = make_context(3);
  const Tensor source = tensor_of(one.get(), LPT_FORMAT_F32, 300, 520, draw_normal(503, 300 * 520));
  for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MAGNITUDE, LPT_SPARSE_RULE_MVUE}) {
    for (const int32_t direction : {0, 1, 2}) {
      if (direction == LPT_SPARSE_DIRECTION_BOTH && rule != LPT_SPARSE_RULE_MAGNITUDE) continue;
      const lpt_sparse_options options = selection(4, 8, direction, rule);
      lpt_sparse_info a = LPT_SPARSE_INFO_INIT;
      lpt_sparse_info b = LPT_SPARSE_INFO_INIT;
      const Tensor first = make_tensor(one.get(), LPT_FORMAT_F32, 300, 520);
      const Tensor second = make_tensor(one.get(), LPT_FORMAT_F32, 300, 520);
      ASSERT_TRUE(ok(one.get(), lpt_sparse_mask_select(one.get(), source.get(), &options, nullptr, first.get(), &a)));
      ASSERT_TRUE(
          ok(many.get(), lpt_sparse_mask_select(many.get(), source.get(), &options, nullptr, second.get(), &b)));
      EXPECT_EQ(bytes_of(one.get(), first.get()), bytes_of(one.get(), second.get()));
      EXPECT_EQ(0, std::memcmp(&a, &b, sizeof a));
    }
  }
}

// Statistics of many draws for a row of values.
struct Draws {
  std::vector<double> sum, squares;         // of the error of each element
  double error = 0.0, error_squares = 0.0;  // squared error of a draw
  lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
};

Draws draw_many(lpt_context *context, const lpt_tensor *source, lpt_sparse_options options, int count) {
  const std::vector<double> numbers = numbers_of(context, source);
  const auto columns = static_cast<int64_t>(numbers.size());
  Draws draws{std::vector<double>(numbers.size()), std::vector<double>(numbers.size())};
  for (int draw = 0; draw < count; ++draw) {
    options.random.step = static_cast<uint32_t>(draw);
    const Tensor masked = make_tensor(context, LPT_FORMAT_F32, 1, columns);
    EXPECT_TRUE(ok(context, lpt_sparse_mask_select(context, source, &options, nullptr, masked.get(), &draws.values)));
    const std::vector<double> found = numbers_of(context, masked.get());
    double error = 0.0;
    for (size_t i = 0; i < found.size(); ++i) {
      const double off = found[i] - numbers[i];
      draws.sum[i] += off;
      draws.squares[i] += off * off;
      error += off * off;
    }
    draws.error += error;
    draws.error_squares += error * error;
  }
  return draws;
}

// An element that is kept becomes at most the sum of its group. The tolerance of the reported variance is 4 sigma of the draws.
TEST(SparseMask, DrawsAreUnbiasedWithTheReportedVariance) {
  const Context context = make_context();
  const int count = 4000;
  const std::vector<double> numbers = draw_normal(504, 64);
  const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, 1, 64, numbers);
  for (const lpt_sparse_rule rule : {LPT_SPARSE_RULE_MVUE, LPT_SPARSE_RULE_MVUE_TWO_DRAWS}) {
    const lpt_sparse_options options = selection(2, 4, LPT_SPARSE_DIRECTION_ROW, rule);
    const Draws draws = draw_many(context.get(), source.get(), options, count);
    const double rounding = 1e-6;
    for (size_t i = 0; i < draws.sum.size(); ++i) {
      double largest = 0;
      for (size_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j) largest += std::fabs(numbers[j]);
      EXPECT_NEAR(draws.sum[i] / count, 0, mean_tolerance(draws.squares[i] / count, largest, count) + rounding)
          << i << " rule " << rule;
    }
    const double mean = draws.error / count;
    const double sigma = std::sqrt((draws.error_squares / count - mean * mean) / count);
    EXPECT_NEAR(draws.values.variance, mean, 4 * sigma) << rule;
    EXPECT_GT(mean, 20 * sigma);  // the precision of the check above
  }
}

TEST(SparseMask, TellsEnergiesOfWhatStays) {
  const Context context = make_context(2);
  const int64_t rows = 33;
  const int64_t columns = 50;
  std::vector<double> numbers = draw_normal(505, rows * columns);
  numbers[7] = std::numeric_limits<double>::infinity();
  const Tensor source = wrap(context.get(), numbers, rows, columns);
  for (const int32_t direction : {0, 1, 2}) {
    const lpt_sparse_options options = selection(2, 4, direction);
    const std::vector<uint8_t> mask = selected(context.get(), source.get(), options);
    lpt_sparse_info values = LPT_SPARSE_INFO_INIT;
    ASSERT_TRUE(
        ok(context.get(), lpt_sparse_mask_select(context.get(), source.get(), &options, nullptr, nullptr, &values)));
    double energy = 0;
    double kept = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (i == 7) continue;
      energy += numbers[i] * numbers[i];
      if (mask[i] != 0) kept += numbers[i] * numbers[i];
    }
    EXPECT_EQ(rows * columns, values.element_count);
    EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), values.kept_count);
    EXPECT_EQ(1, values.special_groups);
    EXPECT_NEAR(energy, values.energy, 1e-11 * energy);
    EXPECT_NEAR(kept, values.kept_energy, 1e-11 * energy);
    EXPECT_EQ(0.0, values.variance);
  }
}

TEST(SparseMask, TransposableMasksServeBothDirections) {
  const Context context = make_context(2);
  for (const Pattern pattern : kPatterns) {
    for (int32_t solver = LPT_SPARSE_SOLVER_AUTO; solver <= LPT_SPARSE_SOLVER_ENTROPY; ++solver) {
      if (solver == LPT_SPARSE_SOLVER_PRUNE) continue;
      const int64_t rows = 2 * pattern.of + 3;
      const int64_t columns = 3 * pattern.of;
      const Tensor source = tensor_of(context.get(), LPT_FORMAT_F32, rows, columns, draw_normal(506, rows * columns));
      lpt_sparse_options options = selection(pattern.kept, pattern.of, LPT_SPARSE_DIRECTION_BOTH);
      options.solver = solver;
      const Tensor masked = make_tensor(context.get(), LPT_FORMAT_F32, rows, columns);
      const Tensor mask = make_tensor(context.get(), LPT_FORMAT_UINT8, rows, columns);
      ASSERT_TRUE(ok(context.get(),
                     lpt_sparse_mask_select(context.get(), source.get(), &options, mask.get(), masked.get(), nullptr)));
      const std::vector<uint8_t> bytes = bytes_of(context.get(), mask.get());
      EXPECT_EQ(0, violations(context.get(), bytes, rows, columns, pattern.kept, pattern.of, LPT_SPARSE_DIRECTION_BOTH))
          << pattern.kept << ":" << pattern.of << " solver " << solver;
      const std::vector<double> numbers = numbers_of(context.get(), source.get());
      const std::vector<double> found = numbers_of(context.get(), masked.get());
      for (size_t i = 0; i < found.size(); ++i) ASSERT_EQ(bytes[i] != 0 ? numbers[i] : 0.0, found[i]);
    }
  }
}

// Returns the sum of the magnitudes that a transposable mask keeps in each tile of one row of tiles.
std::vector<double> kept_of_tiles(lpt_context *context, const std::vector<double> &numbers, const Pattern &pattern,
                                  lpt_sparse_solver solver) {
  const int64_t rows = pattern.of, columns = static_cast<int64_t>(numbers.size()) / rows;
  lpt_sparse_options options = selection(pattern.kept, pattern.of, LPT_SPARSE_DIRECTION_BOTH);
  options.solver = solver;
  const Tensor source = tensor_of(context, LPT_FORMAT_F32, rows, columns, numbers);
  const std::vector<uint8_t> mask = selected(context, source.get(), options);
  std::vector<double> sums(static_cast<size_t>(columns / pattern.of));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (mask[i] != 0) sums[i % static_cast<size_t>(columns) / static_cast<size_t>(pattern.of)] += std::abs(numbers[i]);
  }
  return sums;
}

TEST(SparseMask, AutoIsNearTheOptimumInEveryTile) {
  const Context context = make_context(1);
  for (const Pattern &pattern :
       {Pattern{1, 5}, {3, 5}, {2, 6}, {1, 8}, {2, 8}, {3, 8}, {4, 8}, {7, 8}, {1, 16}, {8, 16}}) {
    const std::vector<double> numbers = draw_normal(509, int64_t{400} * pattern.of * pattern.of);
    const std::vector<double> given = kept_of_tiles(context.get(), numbers, pattern, LPT_SPARSE_SOLVER_AUTO);
    const std::vector<double> best = kept_of_tiles(context.get(), numbers, pattern, LPT_SPARSE_SOLVER_EXACT);
    for (size_t i = 0; i < best.size(); ++i) {
      ASSERT_GE(given[i], 0.97 * best[i]) << pattern.kept << ":" << pattern.of << " tile " << i;
    }
  }
}

TEST(SparseMask, CheckCountsGroupsThatKeepTooMany) {
  const Context context = make_context(2);
  const std::vector<uint8_t> mask = {1, 1, 1, 0, 1, 1,  //
                                     1, 0, 0, 0, 1, 9,  //
                                     1, 0, 0, 7, 0, 0};
  EXPECT_EQ(1, violations(context.get(), mask, 3, 6, 2, 4, LPT_SPARSE_DIRECTION_ROW));
  EXPECT_EQ(1, violations(context.get(), mask, 3, 6, 2, 4, LPT_SPARSE_DIRECTION_COLUMN));
  EXPECT_EQ(2, violations(context.get(), mask, 3, 6, 2, 4, LPT_SPARSE_DIRECTION_BOTH));
  EXPECT_EQ(4, violations(context.get(), mask, 3, 6, 1, 4, LPT_SPARSE_DIRECTION_ROW));
  EXPECT_EQ(0, violations(context.get(), mask, 3, 6, 4, 4, LPT_SPARSE_DIRECTION_BOTH));
}

TEST(SparseMask, ComparesAppliesAndDecays) {
  const Context context = make_context(2);
  const int64_t rows = 40;
  const int64_t columns = 33;
  const auto count = static_cast<size_t>(rows * columns);
  Random random(507);
  std::vector<uint8_t> a(count);
  std::vector<uint8_t> b(count);
  for (size_t i = 0; i < count; ++i) a[i] = random.chance(0.5), b[i] = static_cast<uint8_t>(random.below(3));
  const Tensor mask = mask_of(context.get(), rows, columns, a);
  const Tensor other = mask_of(context.get(), rows, columns, b);
  int64_t found = 0;
  int64_t expected = 0;
  for (size_t i = 0; i < count; ++i) expected += (a[i] != 0) != (b[i] != 0);
  ASSERT_TRUE(ok(context.get(), lpt_sparse_mask_compare(context.get(), mask.get(), other.get(), &found)));
  EXPECT_EQ(expected, found);

  const Tensor weight = tensor_of(context.get(), LPT_FORMAT_BF16, rows, columns, draw_normal(508, rows * columns));
  const std::vector<double> weights = numbers_of(context.get(), weight.get());
  const Tensor gradient = tensor_of(context.get(), LPT_FORMAT_F32, rows, columns, draw_normal(509, rows * columns));
  const std::vector<double> before = numbers_of(context.get(), gradient.get());
  ASSERT_TRUE(ok(context.get(), lpt_sparse_mask_decay(context.get(), weight.get(), mask.get(), 0.125, gradient.get())));
  const std::vector<double> after = numbers_of(context.get(), gradient.get());
  for (size_t i = 0; i < count; ++i) {
    const double change = a[i] != 0 ? 0.0 : 0.125 * weights[i];
    ASSERT_EQ(static_cast<double>(static_cast<float>(before[i] + change)), after[i]) << i;
  }

  ASSERT_TRUE(ok(context.get(), lpt_sparse_mask_apply(context.get(), weight.get(), other.get(), weight.get())));
  const std::vector<double> masked = numbers_of(context.get(), weight.get());
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(b[i] != 0 ? weights[i] : 0.0, masked[i]) << i;
}

TEST(SparseMask, TakesEmptyMatricesAndChecksOnly) {
  const Context context = make_context();
  for (const int32_t direction : {0, 1, 2}) {
    for (const int64_t rows : {0, 5}) {
      const Tensor source = make_tensor(context.get(), LPT_FORMAT_F32, rows, 0);
      EXPECT_TRUE(selected(context.get(), source.get(), selection(2, 4, direction)).empty());
    }
    lpt_sparse_options options = selection(2, 4, direction);
    options.flags = LPT_CHECK_ONLY;
    const Tensor source = wrap(context.get(), LPT_FORMAT_F32, nullptr, 8, 8);
    const Tensor mask = wrap(context.get(), LPT_FORMAT_UINT8, nullptr, 8, 8);
    EXPECT_TRUE(ok(context.get(),
                   lpt_sparse_mask_select(context.get(), source.get(), &options, mask.get(), source.get(), nullptr)));
    EXPECT_NE(nullptr, std::strstr(lpt_context_explanation(context.get()), "mask"));
  }
}

}  // namespace
}  // namespace lpt::test
