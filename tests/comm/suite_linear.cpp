// Linear layers that are split among ranks, against the full layer in double.
#include <cmath>

#include "tests/api/linear.hpp"
#include "tests/comm/partial.hpp"

namespace lpt::test {
namespace {

using Numbers = std::vector<double>;

// Each rank has kInner or kOuter along the axis that is split.
constexpr int64_t kTokens = 16, kInner = 64, kOuter = 96;

double &at(Numbers &numbers, int64_t columns, int64_t row, int64_t column) {
  return numbers[static_cast<size_t>(row * columns + column)];
}

Numbers columns_of(const Numbers &whole, int64_t columns, int64_t begin, int64_t count) {
  Numbers part;
  for (size_t row = 0; row * static_cast<size_t>(columns) < whole.size(); ++row) {
    const auto first = whole.begin() + static_cast<int64_t>(row) * columns + begin;
    part.insert(part.end(), first, first + count);
  }
  return part;
}

Numbers rows_of(const Numbers &whole, int64_t columns, int64_t begin, int64_t count) {
  return {whole.begin() + begin * columns, whole.begin() + (begin + count) * columns};
}

// a · b, m × k by k × n.
Numbers gemm(const Numbers &a, const Numbers &b, int64_t m, int64_t n, int64_t k) {
  Numbers c(static_cast<size_t>(m * n), 0.0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      const double factor = a[static_cast<size_t>(i * k + l)];
      for (int64_t j = 0; j < n; ++j) at(c, n, i, j) += factor * b[static_cast<size_t>(l * n + j)];
    }
  }
  return c;
}

// A full layer and its inputs, equal on all ranks, and the slices of this rank.
struct Layer {
  const Rank &self;
  lpt_linear_parallel parallel;
  int64_t inner, outer;          // of the full layer
  int64_t own_inner, own_outer;  // of this rank
  int64_t first_inner, first_outer;
  Numbers x, w, dy, bias;        // of the full layer
  Numbers own_x, own_w, own_dy;  // of this rank

  Layer(const Rank &rank, lpt_linear_parallel how) : self(rank), parallel(how) {
    const bool is_rows = how == LPT_LINEAR_PARALLEL_ROWS;
    inner = is_rows ? kInner * self.ranks : kInner;
    outer = is_rows ? kOuter : kOuter * self.ranks;
    own_inner = kInner;
    own_outer = kOuter;
    first_inner = is_rows ? self.rank * kInner : 0;
    first_outer = is_rows ? 0 : self.rank * kOuter;
    x = draw_normal(400, kTokens * inner);
    w = draw_normal(401, outer * inner, 0.1);
    dy = draw_normal(402, kTokens * outer);
    bias = draw_normal(403, outer);
    own_x = columns_of(x, inner, first_inner, own_inner);
    own_w = columns_of(rows_of(w, inner, first_outer, own_outer), inner, first_inner, own_inner);
    own_dy = columns_of(dy, outer, first_outer, own_outer);
  }

  lpt_linear_options options() const {
    lpt_linear_options options = step_options(5, 6, 7);
    options.comm = self.comm;
    options.parallel = parallel;
    return options;
  }
};

struct Wants {
  lpt_format format = LPT_FORMAT_F64;
  bool has_bias = false;
};

// Runs prepare, forward and backward.
Results pass(const Rank &self, lpt_linear *linear, const lpt_linear_options &options, const Wants &wants,
             const Numbers &x, const Numbers &w, const Numbers &dy, const Numbers &bias, int64_t inner, int64_t outer) {
  lpt_context *const context = self.context;
  const Tensor x_tensor = tensor_of(context, wants.format, kTokens, inner, x);
  const Tensor w_tensor = tensor_of(context, wants.format, outer, inner, w);
  const Tensor dy_tensor = tensor_of(context, wants.format, kTokens, outer, dy);
  const bool is_f64 = wants.format == LPT_FORMAT_F64;
  const lpt_format wide = is_f64 ? LPT_FORMAT_F64 : LPT_FORMAT_F32;
  const Tensor bias_tensor = vector_of(context, wide, bias);
  const Tensor y = make_tensor(context, wants.format, kTokens, outer),
               dx = make_tensor(context, wants.format, kTokens, inner);
  const Tensor dw = make_tensor(context, wide, outer, inner), db = make_tensor(context, wide, {outer});
  EXPECT_TRUE(self.ok(lpt_linear_prepare(context, linear, w_tensor.get(), &options)));
  const Tensor saved = make_saved(context, linear, kTokens);
  lpt_linear_options forward = options;
  if (wants.has_bias) forward.bias = bias_tensor.get();
  EXPECT_TRUE(self.ok(lpt_linear_forward(context, linear, x_tensor.get(), &forward, saved.get(), y.get())));
  EXPECT_TRUE(self.ok(
      lpt_linear_backward(context, linear, saved.get(), dy_tensor.get(), &options, dx.get(), dw.get(), db.get())));
  return {numbers_of(context, y.get()), numbers_of(context, dx.get()), numbers_of(context, dw.get()),
          numbers_of(context, db.get())};
}

Results pass_own(const Layer &layer, const char *recipe_name, const lpt_linear_options &options, const Wants &wants) {
  const Recipe recipe = make_recipe(layer.self.context, recipe_name);
  const Linear linear = make_linear(layer.self.context, recipe.get(), layer.own_inner, layer.own_outer);
  return pass(layer.self, linear.get(), options, wants, layer.own_x, layer.own_w, layer.own_dy,
              rows_of(layer.bias, 1, layer.first_outer, layer.own_outer), layer.own_inner, layer.own_outer);
}

void expect_near(const Numbers &expected, const Numbers &found, double bound, const std::string &what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  double worst = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::fabs(expected[i] - found[i]));
  EXPECT_LE(worst, bound) << what;
}

// f64: sums of at most 768 values below 6 times weights below 1. 2^-53 · 768 · 6 · 768 is 4e-10; the largest measured error is
// 1e-13.
constexpr double kBound = 1e-11;

Results whole_layer(const Layer &layer) {
  Results whole;
  whole.y = gemm(layer.x, transposed(layer.w, layer.outer, layer.inner), kTokens, layer.outer, layer.inner);
  for (size_t i = 0; i < whole.y.size(); ++i) whole.y[i] += layer.bias[i % layer.bias.size()];
  whole.dx = gemm(layer.dy, layer.w, kTokens, layer.inner, layer.outer);
  whole.dw = gemm(transposed(layer.dy, kTokens, layer.outer), layer.x, layer.outer, layer.inner, kTokens);
  whole.db.resize(layer.bias.size());
  for (size_t i = 0; i < layer.dy.size(); ++i) whole.db[i % whole.db.size()] += layer.dy[i];
  return whole;
}

Numbers own_weight(const Layer &layer, const Numbers &weight) {
  return columns_of(rows_of(weight, layer.inner, layer.first_outer, layer.own_outer), layer.inner, layer.first_inner,
                    layer.own_inner);
}

void expect_whole_layer(const Layer &layer, const Results &found) {
  const Results whole = whole_layer(layer);
  expect_near(columns_of(whole.y, layer.outer, layer.first_outer, layer.own_outer), found.y, kBound, "y");
  expect_near(columns_of(whole.dx, layer.inner, layer.first_inner, layer.own_inner), found.dx, kBound, "dx");
  expect_near(own_weight(layer, whole.dw), found.dw, kBound, "dw");
  expect_near(rows_of(whole.db, 1, layer.first_outer, layer.own_outer), found.db, kBound, "db");
}

void is_the_whole_layer(const Rank &self) {
  for (const lpt_linear_parallel parallel : {LPT_LINEAR_PARALLEL_COLUMNS, LPT_LINEAR_PARALLEL_ROWS}) {
    const Layer layer(self, parallel);
    const Results found = pass_own(layer, "f32", layer.options(), {.has_bias = true});
    expect_whole_layer(layer, found);
    const bool is_rows = parallel == LPT_LINEAR_PARALLEL_ROWS;
    EXPECT_TRUE(is_same(self, wrap(self.context, is_rows ? found.y : found.dx, kTokens, is_rows ? kOuter : kInner)));
  }
}

// Applies a plan to the matrices of all ranks and returns the result of `rank`.
Numbers joined(const std::vector<Numbers> &parts, int32_t rank, int64_t columns, int64_t shared) {
  Numbers result = parts[static_cast<size_t>(rank)];
  const double root = std::sqrt(static_cast<double>(parts.size()));
  for (size_t i = 0; i < result.size(); ++i) {
    const bool is_shared = static_cast<int64_t>(i) % columns < shared;
    if (!is_shared) result[i] *= root;
    if (!is_shared) continue;
    result[i] = 0.0;
    for (const Numbers &part : parts) result[i] += part[i];
  }
  return result;
}

// Row-parallel with a plan: every rank has a separate gradient after the layer.
void joins_by_its_plan(const Rank &self) {
  const Layer layer(self, LPT_LINEAR_PARALLEL_ROWS);
  std::vector<Numbers> gemms, gradients;
  for (int32_t q = 0; q < self.ranks; ++q) {
    const Numbers x = columns_of(layer.x, layer.inner, q * kInner, kInner);
    const Numbers w = columns_of(layer.w, layer.inner, q * kInner, kInner);
    gemms.push_back(gemm(x, transposed(w, kOuter, kInner), kTokens, kOuter, kInner));
    gradients.push_back(draw_normal(410 + static_cast<uint64_t>(q), kTokens * kOuter));
  }
  const Numbers &own = gradients[static_cast<size_t>(self.rank)];
  for (const int64_t shared : {int64_t{0}, int64_t{40}, kOuter}) {
    const PartialPlan plan = make_plan(self, kOuter, shared);
    lpt_linear_options options = layer.options();
    options.plan = plan.get();
    Layer given = layer;
    given.own_dy = own;
    const Results found = pass_own(given, "f32", options, {.has_bias = true});
    Numbers y = joined(gemms, self.rank, kOuter, shared), db(kOuter, 0.0);
    for (size_t i = 0; i < y.size(); ++i) y[i] += layer.bias[i % kOuter];
    for (size_t i = 0; i < own.size(); ++i) db[i % kOuter] += own[i];
    const Numbers dy = joined(gradients, self.rank, kOuter, shared);
    expect_near(y, found.y, kBound, "y");
    expect_near(gemm(dy, layer.own_w, kTokens, kInner, kOuter), found.dx, kBound, "dx");
    expect_near(gemm(transposed(dy, kTokens, kOuter), layer.own_x, kOuter, kInner, kTokens), found.dw, kBound, "dw");
    expect_near(db, found.db, kBound, "db is that of the gradient as it came");
  }
}

double dot(const Numbers &a, const Numbers &b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double over_ranks(const Rank &self, double number) {
  const Numbers one = {number};
  const Tensor both = wrap(self.context, one, 1, 1);
  EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, both.get(), nullptr, both.get(), nullptr)));
  return one[0];
}

// Σ⟨y(x), g⟩ = Σ⟨x, dx(g)⟩ = Σ⟨w, dw(g)⟩ over ranks, for any plan.
void has_the_adjoint_as_its_gradient(const Rank &self) {
  for (const int64_t shared : {0, 1, 40, 96}) {
    const PartialPlan plan = make_plan(self, kOuter, shared);
    Layer layer(self, LPT_LINEAR_PARALLEL_ROWS);
    layer.own_dy = draw_normal(420 + static_cast<uint64_t>(self.rank), kTokens * kOuter);
    lpt_linear_options options = layer.options();
    options.plan = plan.get();
    const Results found = pass_own(layer, "f32", options, {});
    const double forward = over_ranks(self, dot(found.y, layer.own_dy));
    const double size = over_ranks(self, std::sqrt(dot(found.y, found.y) * dot(layer.own_dy, layer.own_dy)));
    EXPECT_NEAR(forward, over_ranks(self, dot(layer.own_x, found.dx)), 1e-12 * size) << shared;
    EXPECT_NEAR(forward, over_ranks(self, dot(layer.own_w, found.dw)), 1e-12 * size) << shared;
  }
}

// With a plan, input and gradient of a rank are private.
void leaves_own_inputs_alone(const Rank &self) {
  const PartialPlan plan = make_plan(self, kInner, 24);
  const Layer layer(self, LPT_LINEAR_PARALLEL_COLUMNS);
  lpt_linear_options options = layer.options();
  options.plan = plan.get();
  const int64_t before = read(self).collectives;
  const Results found = pass_own(layer, "f32", options, {.has_bias = true});
  EXPECT_EQ(before, read(self).collectives);
  expect_near(gemm(layer.own_dy, layer.own_w, kTokens, kInner, kOuter), found.dx, kBound, "dx");
}

// All columns are shared: the sums equal those of lpt_all_reduce() bit for bit, in every format of activations.
void adds_as_an_all_reduce(const Rank &self) {
  const Layer layer(self, LPT_LINEAR_PARALLEL_ROWS);
  const PartialPlan plan = make_plan(self, kOuter, kOuter);
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_BF16}) {
    const Results part = pass_own(layer, "f32", step_options(5, 6, 7), {.format = format});
    const Tensor sum = tensor_of(self.context, format, kTokens, kOuter, part.y);
    EXPECT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, sum.get(), nullptr, sum.get(), nullptr)));
    lpt_linear_options options = layer.options();
    const Results without = pass_own(layer, "f32", options, {.format = format});
    EXPECT_EQ(numbers_of(self.context, sum.get()), without.y);
    EXPECT_EQ(part.dx, without.dx);
    EXPECT_EQ(part.dw, without.dw);
    options.plan = plan.get();
    EXPECT_EQ(without.y, pass_own(layer, "f32", options, {.format = format}).y);
  }
}

// The factor that fits `found` to the exact GEMM, and the relative error of the fit.
struct Fit {
  double factor, error;
};
Fit fit(const Numbers &exact, const Numbers &found) {
  const double factor = dot(exact, found) / dot(exact, exact);
  Numbers scaled = exact;
  for (double &number : scaled) number *= factor;
  return {factor, relative_error(found, scaled)};
}

// The error of a slice equals that of the full layer, and so does the factor of its GEMM: 1, except for unit-scaled recipes.
void expect_equal(const Numbers &exact, const Numbers &whole, const Numbers &found, const std::string &what) {
  const Fit expected = fit(exact, whole), given = fit(exact, found);
  EXPECT_NEAR(1.0, given.factor / expected.factor, 1e-4 + 0.25 * expected.error) << what;
  EXPECT_LE(given.error, 1e-6 + 1.3 * expected.error) << what;
}

// For every recipe and both splits, the error equals that of the full layer, or the call returns a reason. One rank has the
// bits of the layer without a comm.
void takes_every_recipe(const Rank &self) {
  if (self.ranks == 3 || self.ranks > 4) return;
  int64_t taken = 0;
  for (int64_t i = 0; i < lpt_recipe_count(); ++i) {
    const char *const name = lpt_recipe_name(i);
    for (const lpt_linear_parallel parallel : {LPT_LINEAR_PARALLEL_COLUMNS, LPT_LINEAR_PARALLEL_ROWS}) {
      const Layer layer(self, parallel);
      const Recipe recipe = make_recipe(self.context, name);
      const Linear whole = make_linear(self.context, recipe.get(), layer.inner, layer.outer);
      const Wants wants{.format = LPT_FORMAT_F32, .has_bias = true};
      const Results dense = pass(self, whole.get(), step_options(5, 6, 7), wants, layer.x, layer.w, layer.dy,
                                 layer.bias, layer.inner, layer.outer);
      const Results found = pass_own(layer, name, layer.options(), wants);
      if (self.ranks == 1) {
        EXPECT_EQ(dense.y, found.y) << name;
        EXPECT_EQ(dense.dx, found.dx) << name;
        EXPECT_EQ(dense.dw, found.dw) << name;
        EXPECT_EQ(dense.db, found.db) << name;
      }
      const bool is_rows = parallel == LPT_LINEAR_PARALLEL_ROWS;
      const Numbers &sum = is_rows ? found.y : found.dx;
      EXPECT_TRUE(is_same(self, wrap(self.context, sum, kTokens, is_rows ? kOuter : kInner))) << name;
      const Results exact = whole_layer(layer);
      const auto mine = [&](const Numbers &numbers, bool is_of_inner) {
        return is_of_inner ? columns_of(numbers, layer.inner, layer.first_inner, layer.own_inner)
                           : columns_of(numbers, layer.outer, layer.first_outer, layer.own_outer);
      };
      expect_equal(mine(exact.y, false), mine(dense.y, false), found.y, std::string(name) + ": y");
      expect_equal(mine(exact.dx, true), mine(dense.dx, true), found.dx, std::string(name) + ": dx");
      expect_equal(own_weight(layer, exact.dw), own_weight(layer, dense.dw), found.dw, std::string(name) + ": dw");
      ++taken;
    }
  }
  EXPECT_GE(taken, 2 * 19);
}

// A recipe with sparse weights and gradients: each slice equals its result without a comm, and the sum is reduced.
void takes_sparse_slices(const Rank &self) {
  const Recipe recipe = make_recipe(self.context, "f32");
  lpt_sparse_options sparse = LPT_SPARSE_OPTIONS_INIT;
  ASSERT_TRUE(self.ok(lpt_recipe_set_sparsity(self.context, recipe.get(), LPT_LINEAR_OPERAND_WEIGHT, 1, &sparse)));
  sparse.direction = LPT_SPARSE_DIRECTION_COLUMN;
  sparse.rule = LPT_SPARSE_RULE_MVUE;
  ASSERT_TRUE(self.ok(lpt_recipe_set_sparsity(self.context, recipe.get(), LPT_LINEAR_OPERAND_GRADIENT, 1, &sparse)));
  const Layer layer(self, LPT_LINEAR_PARALLEL_ROWS);
  const auto pass_of = [&](const lpt_linear_options &options) {
    const Linear linear = make_linear(self.context, recipe.get(), layer.own_inner, layer.own_outer);
    return pass(self, linear.get(), options, {.format = LPT_FORMAT_F32}, layer.own_x, layer.own_w, layer.own_dy,
                layer.bias, layer.own_inner, layer.own_outer);
  };
  const Results part = pass_of(step_options(5, 6, 7)), found = pass_of(layer.options());
  const Tensor sum = tensor_of(self.context, LPT_FORMAT_F32, kTokens, kOuter, part.y);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, sum.get(), nullptr, sum.get(), nullptr)));
  EXPECT_EQ(numbers_of(self.context, sum.get()), found.y);
  EXPECT_EQ(part.dx, found.dx);
  EXPECT_EQ(part.dw, found.dw) << "the gradient is the same on all ranks, and so are its draws";
}

// Slices of one rank are rounded with separate random bits; replicated tensors are rounded with equal ones.
void draws_apart_where_slices_are(const Rank &self) {
  const Recipe recipe = make_recipe(self.context, "f32");
  lpt_quantize_options cast = LPT_QUANTIZE_OPTIONS_INIT;
  cast.rounding = LPT_ROUNDING_STOCHASTIC;
  const lpt_format format = format_named("e4m3fn_tensor");
  ASSERT_TRUE(self.ok(lpt_recipe_set_cast(self.context, recipe.get(), LPT_LINEAR_CAST_FORWARD_INPUT, format, &cast)));
  const Numbers x = draw_normal(430, kTokens * kInner), w = draw_normal(431, kOuter * kInner, 0.1);
  const Numbers dy = draw_normal(432, kTokens * kOuter), bias(kOuter, 0.0);
  const auto output = [&](const lpt_linear_options &options) {
    const Linear linear = make_linear(self.context, recipe.get(), kInner, kOuter);
    return pass(self, linear.get(), options, {.format = LPT_FORMAT_F32}, x, w, dy, bias, kInner, kOuter).y;
  };
  lpt_linear_options options = step_options(5, 6, 7);
  const Numbers by_the_seed = output(options);
  options.random.seed ^= static_cast<uint64_t>(self.rank) << 54;
  const Numbers by_own_seed = output(options);
  EXPECT_EQ(self.rank == 0, by_own_seed == by_the_seed);
  const Tensor sum = tensor_of(self.context, LPT_FORMAT_F32, kTokens, kOuter, by_own_seed);
  ASSERT_TRUE(self.ok(lpt_all_reduce(self.context, self.comm, sum.get(), nullptr, sum.get(), nullptr)));
  options = step_options(5, 6, 7);
  options.comm = self.comm;
  options.parallel = LPT_LINEAR_PARALLEL_ROWS;
  EXPECT_EQ(numbers_of(self.context, sum.get()), output(options));
  options.parallel = LPT_LINEAR_PARALLEL_COLUMNS;
  EXPECT_EQ(by_the_seed, output(options));
  const PartialPlan plan = make_plan(self, kInner, 24);
  options.plan = plan.get();
  EXPECT_EQ(by_own_seed, output(options));
}

// Delayed scales of all ranks use the largest amax of any rank.
void shares_what_scalers_saw(const Rank &self) {
  const Recipe recipe = make_recipe(self.context, "f32");
  const lpt_format format = format_named("e4m3fn_tensor");
  lpt_scaler_options delayed = LPT_SCALER_OPTIONS_INIT;
  delayed.kind = LPT_SCALER_KIND_DELAYED;
  ASSERT_TRUE(self.ok(lpt_recipe_set_cast(self.context, recipe.get(), LPT_LINEAR_CAST_FORWARD_INPUT, format, nullptr)));
  ASSERT_TRUE(self.ok(lpt_recipe_set_scaler(self.context, recipe.get(), LPT_LINEAR_OPERAND_INPUT, &delayed)));
  const Linear first = make_linear(self.context, recipe.get(), 4, 3),
               second = make_linear(self.context, recipe.get(), 4, 3);
  const Numbers w(12, 1.0);
  const Tensor weight = tensor_of(self.context, LPT_FORMAT_F32, 3, 4, w);
  const Tensor y = make_tensor(self.context, LPT_FORMAT_F32, 2, 3);
  for (const Linear *linear : {&first, &second}) {
    ASSERT_TRUE(self.ok(lpt_linear_prepare(self.context, linear->get(), weight.get(), nullptr)));
    // The second layer has recorded an amax only on the last rank.
    if (linear == &second && self.rank + 1 != self.ranks) continue;
    const Tensor x = tensor_of(self.context, LPT_FORMAT_F32, 2, 4, Numbers(8, 1.0 + (self.rank * 5) % 7));
    ASSERT_TRUE(self.ok(lpt_linear_forward(self.context, linear->get(), x.get(), nullptr, nullptr, y.get())));
  }
  lpt_linear *const linears[] = {first.get(), second.get()};
  const int64_t before = read(self).collectives;
  ASSERT_TRUE(self.ok(lpt_linear_share_amax(self.context, self.comm, linears, 2)));
  EXPECT_EQ(before + 1, read(self).collectives);
  ASSERT_TRUE(self.ok(lpt_linear_update_scalers(self.context, linears, 2)));
  float largest = 0.0f;
  for (int32_t q = 0; q < self.ranks; ++q) largest = std::max(largest, 1.0f + static_cast<float>(q * 5 % 7));
  const auto amax = [&](lpt_linear *linear, lpt_linear_operand operand) {
    lpt_scaler_info values = LPT_SCALER_INFO_INIT;
    EXPECT_TRUE(self.ok(lpt_linear_scaler_read(self.context, linear, operand, &values)));
    return std::pair(values.amax, values.update_count);
  };
  EXPECT_EQ(std::pair(largest, int64_t{1}), amax(first.get(), LPT_LINEAR_OPERAND_INPUT));
  EXPECT_EQ(std::pair(1.0f + static_cast<float>((self.ranks - 1) * 5 % 7), int64_t{1}),
            amax(second.get(), LPT_LINEAR_OPERAND_INPUT));
  EXPECT_EQ(std::pair(0.0f, int64_t{0}), amax(first.get(), LPT_LINEAR_OPERAND_GRADIENT)) << "no one has cast one";
  EXPECT_TRUE(self.ok(lpt_linear_share_amax(self.context, self.comm, nullptr, 0)));
}

void rejects_half_a_setting(const Rank &self) {
  const Layer layer(self, LPT_LINEAR_PARALLEL_ROWS);
  const Recipe recipe = make_recipe(self.context, "f32");
  const Linear linear = make_linear(self.context, recipe.get(), kInner, kOuter);
  const Tensor weight = tensor_of(self.context, LPT_FORMAT_F32, kOuter, kInner, layer.own_w);
  const Tensor x = tensor_of(self.context, LPT_FORMAT_F32, kTokens, kInner, layer.own_x);
  const Tensor y = make_tensor(self.context, LPT_FORMAT_F32, kTokens, kOuter);
  ASSERT_TRUE(self.ok(lpt_linear_prepare(self.context, linear.get(), weight.get(), nullptr)));
  const PartialPlan plan = make_plan(self, kOuter, 8), other_columns = make_plan(self, kOuter - 1, 8);
  lpt_partial_plan_options more = options_of(self, kOuter, 8);
  ++more.rank_count;
  const PartialPlan other_ranks = make_plan(self, more);
  const auto reject = [&](lpt_comm *comm, const lpt_partial_plan *given, lpt_linear_parallel parallel,
                          const std::vector<const char *> &words) {
    lpt_linear_options options = LPT_LINEAR_OPTIONS_INIT;
    options.comm = comm;
    options.plan = given;
    options.parallel = parallel;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_linear_forward(self.context, linear.get(), x.get(), &options, nullptr, y.get()));
    expect_words(words, lpt_context_error(self.context));
    EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_linear_prepare(self.context, linear.get(), weight.get(), &options));
    expect_words(words, lpt_context_error(self.context));
  };
  reject(self.comm, nullptr, LPT_LINEAR_PARALLEL_NONE,
         {"parallel is 0", "LPT_LINEAR_PARALLEL_COLUMNS", "LPT_LINEAR_PARALLEL_ROWS"});
  reject(self.comm, nullptr, 3, {"parallel is 3", "0 to 2"});
  reject(nullptr, nullptr, LPT_LINEAR_PARALLEL_ROWS, {"comm is NULL", "parallel is 2"});
  reject(nullptr, plan.get(), LPT_LINEAR_PARALLEL_NONE, {"comm is NULL", "plan"});
  reject(self.comm, other_ranks.get(), LPT_LINEAR_PARALLEL_ROWS, {"ranks", "as the plan"});
  reject(self.comm, other_columns.get(), LPT_LINEAR_PARALLEL_ROWS, {"plan has 95 columns", "96", "output_columns"});
  reject(self.comm, plan.get(), LPT_LINEAR_PARALLEL_COLUMNS, {"plan has 96 columns", "64", "input_columns"});
  EXPECT_TRUE(self.ok(lpt_barrier(self.context, self.comm))) << "no one has heard of it";
}

// A check-only call runs nothing on any rank.
void requests_without_a_word_to_others(const Rank &self) {
  for (const lpt_linear_parallel parallel : {LPT_LINEAR_PARALLEL_COLUMNS, LPT_LINEAR_PARALLEL_ROWS}) {
    for (const bool has_plan : {false, true}) {
      const Layer layer(self, parallel);
      const PartialPlan plan = make_plan(self, parallel == LPT_LINEAR_PARALLEL_ROWS ? kOuter : kInner, 30);
      lpt_linear_options options = layer.options();
      if (has_plan) options.plan = plan.get();
      const Recipe recipe = make_recipe(self.context, "f32");
      const Linear linear = make_linear(self.context, recipe.get(), kInner, kOuter);
      const Tensor weight = tensor_of(self.context, LPT_FORMAT_F32, kOuter, kInner, layer.own_w);
      ASSERT_TRUE(self.ok(lpt_linear_prepare(self.context, linear.get(), weight.get(), &options)));
      const int64_t before = read(self).collectives;
      options.flags = LPT_CHECK_ONLY;
      const Tensor x = make_tensor(self.context, LPT_FORMAT_F32, kTokens, kInner);
      const Tensor y = make_tensor(self.context, LPT_FORMAT_F32, kTokens, kOuter);
      const Tensor bias = make_tensor(self.context, LPT_FORMAT_F32, {kOuter});
      options.bias = bias.get();
      EXPECT_TRUE(self.ok(lpt_linear_forward(self.context, linear.get(), x.get(), &options, nullptr, y.get())));
      EXPECT_TRUE(self.ok(
          lpt_linear_backward(self.context, linear.get(), nullptr, y.get(), &options, x.get(), nullptr, bias.get())));
      EXPECT_EQ(before, read(self).collectives);
    }
  }
}

}  // namespace

std::vector<Case> linear_cases() {
  return {{"LinearIsTheWholeLayer", is_the_whole_layer},
          {"LinearJoinsByItsPlan", joins_by_its_plan},
          {"LinearHasTheAdjointAsItsGradient", has_the_adjoint_as_its_gradient},
          {"LinearLeavesOwnInputsAlone", leaves_own_inputs_alone},
          {"LinearAddsAsAnAllReduce", adds_as_an_all_reduce},
          {"LinearTakesEveryRecipe", takes_every_recipe},
          {"LinearTakesSparseSlices", takes_sparse_slices},
          {"LinearDrawsApartWhereSlicesAre", draws_apart_where_slices_are},
          {"LinearSharesWhatScalersSaw", shares_what_scalers_saw},
          {"LinearRejectsHalfAnOption", rejects_half_a_setting},
          {"LinearChecksWithoutMessages", requests_without_a_word_to_others}};
}

}  // namespace lpt::test
