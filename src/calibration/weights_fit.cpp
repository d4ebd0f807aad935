// Quantizes a weight W to Q so that the sum over rows of (W - Q) · H · (W - Q)ᵀ is small, with H = inputsᵀ · inputs.
//
// GPTQ rounds one column after the other. With inverse(H + damping) = Uᵀ · U, the error e = (w - q) / U(j, j) of column j is
// subtracted from each later column i as e · U(j, i).
#include <cmath>
#include <numeric>
#include <vector>

#include "src/calibration/factor.hpp"
#include "src/calibration/fit.hpp"
#include "src/cast/cast.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

constexpr int64_t kColumnsAtOnce = 128;  // columns whose errors reach the later columns in one product
constexpr int32_t kRatios = 20;          // of input factors: 0, 1/20, ...
constexpr double kMostDamping = 1.0e4;   // share at which a matrix is no Gram matrix

struct WeightFit {
  Context &context;
  const lpt_weights_fit_options &options;
  const SuppressProgress &progress;
  MatrixView given, output;  // f32 copy of the weight; the result
  MatrixView gram;           // f32, symmetric
  std::vector<float> factors;
  // f32 scratch of the shape of the weight: the weight times the factors, decoded codes, and two for errors.
  MatrixView scaled{}, decoded{}, difference{}, image{};

  int64_t rows() const { return given.rows; }
  int64_t columns() const { return given.columns; }
  double diagonal(int64_t c) const { return static_cast<double>(floats(gram, c)[c]); }
  static float *floats(const MatrixView &view, int64_t row) {
    return static_cast<float *>(view.data) + row * view.row_stride;
  }
};

// Reads an element of a Gram matrix of f32 or f64, as f32.
Status read_number(const MatrixView &matrix, const char *name, int64_t row, int64_t column, double &out_number) {
  const int64_t at = row * matrix.row_stride + column;
  const double given = matrix.format.id == LPT_FORMAT_F64
                           ? static_cast<const double *>(matrix.data)[at]
                           : static_cast<double>(static_cast<const float *>(matrix.data)[at]);
  out_number = static_cast<double>(static_cast<float>(given));
  if (std::isfinite(out_number)) return {};
  return invalid("%s[%lld][%lld] is %g: expected a finite number in the range of f32", name, number(row),
                 number(column), given);
}

template <typename Body>
void for_each_row(const WeightFit &fit, const Body &body) {
  parallel_parts(fit.context, fit.rows(), fit.columns(), [&](int64_t begin, int64_t count) {
    for (int64_t row = begin; row < begin + count; ++row) body(row);
  });
}

// Casts release their scratch: many steps would exhaust memory.
Status cast_part(Context &context, const MatrixView &source, const MatrixView &target, const Cast &cast) {
  const Arena::Mark mark = context.host_scratch->mark();
  LPT_TRY(cast_matrix(context, source, target, cast, false));
  context.host_scratch->give_back(mark);
  return {};
}

Status decode_part(Context &context, const MatrixView &source, const MatrixView &target) {
  const Arena::Mark mark = context.host_scratch->mark();
  LPT_TRY(dequantize_matrix(context, source, target, false));
  context.host_scratch->give_back(mark);
  return {};
}

Cast cast_of(const WeightFit &fit) {
  Cast cast;
  cast.rule = fit.options.scale_rule;
  return cast;
}

// Returns a cast that keeps all scales. Formats without scales have no rule.
Cast fixed_cast(const WeightFit &fit) {
  Cast cast;
  cast.rule = fit.output.format.is_plain() ? LPT_SCALE_RULE_DEFAULT : LPT_SCALE_RULE_FIXED;
  return cast;
}

// Sets scaled = weight · factors.
void scale_weight(WeightFit &fit) {
  for_each_row(fit, [&](int64_t row) {
    const float *from = WeightFit::floats(fit.given, row);
    float *to = WeightFit::floats(fit.scaled, row);
    for (int64_t c = 0; c < fit.columns(); ++c) to[c] = from[c] * fit.factors[static_cast<size_t>(c)];
  });
}

// Computes the squared error of the codes in the output.
Status output_error(WeightFit &fit, double &out_sum) {
  LPT_TRY(decode_part(fit.context, fit.output, fit.decoded));
  for_each_row(fit, [&](int64_t row) {
    const float *weight = WeightFit::floats(fit.given, row), *decoded = WeightFit::floats(fit.decoded, row);
    float *difference = WeightFit::floats(fit.difference, row);
    for (int64_t c = 0; c < fit.columns(); ++c) {
      difference[c] = decoded[c] / fit.factors[static_cast<size_t>(c)] - weight[c];
    }
  });
  return quadratic_form(fit.context, fit.difference, fit.gram, fit.image, out_sum);
}

// Sets `inverse` for the damped Gram matrix of the scaled inputs, in the given order of columns. Increases the damping until the
// matrix is positive definite.
Status factor_gram(const WeightFit &fit, const std::vector<int64_t> &order, std::vector<double> &inverse,
                   double &damping) {
  const int64_t columns = fit.columns();
  inverse.resize(static_cast<size_t>(columns * columns));
  const auto at = [&](int64_t i, int64_t j) {
    const int64_t a = order[static_cast<size_t>(i)], b = order[static_cast<size_t>(j)];
    const double factors = static_cast<double>(fit.factors[static_cast<size_t>(a)]) *
                           static_cast<double>(fit.factors[static_cast<size_t>(b)]);
    return static_cast<double>(WeightFit::floats(fit.gram, a)[b]) / factors;
  };
  double mean = 0.0;
  for (int64_t i = 0; i < columns; ++i) mean += at(i, i) / static_cast<double>(columns);
  if (mean == 0.0) mean = 1.0;
  for (damping = fit.options.damping; damping <= kMostDamping; damping *= 10) {
    for (int64_t i = 0; i < columns; ++i) {
      double *const row = inverse.data() + i * columns;
      for (int64_t j = i; j < columns; ++j) row[j] = at(i, j);
      row[i] += damping * mean;
    }
    if (factor_inverse(fit.context, columns, inverse.data())) return {};
    if (damping == 0.0) damping = 1e-10;
  }
  return invalid("gram is not positive semidefinite");
}

// Sets the weight to weight + weight · (cross_gram - gram) · inverse(gram + damping).
Status follow_reference(WeightFit &fit, const MatrixView &cross_gram, double &damping) {
  const int64_t rows = fit.rows(), columns = fit.columns();
  std::vector<int64_t> order(static_cast<size_t>(columns));
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> root, inverse(static_cast<size_t>(columns * columns), 0.0),
      weight(static_cast<size_t>(rows * columns)), image(weight.size(), 0.0), change(weight.size(), 0.0);
  LPT_TRY(factor_gram(fit, order, root, damping));
  // inverse = -rootᵀ · root, image = weight · (cross_gram - gram), change = image · -inverse
  subtract_product(fit.context, columns, columns, columns, {root.data(), 1, columns}, {root.data(), columns},
                   inverse.data(), columns);
  for (int64_t i = 0; i < columns; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double &difference = root[static_cast<size_t>(i * columns + j)];
      LPT_TRY(read_number(cross_gram, "options->cross_gram", i, j, difference));
      difference = static_cast<double>(WeightFit::floats(fit.gram, i)[j]) - difference;
    }
  }
  for (int64_t r = 0; r < rows; ++r) std::copy_n(WeightFit::floats(fit.given, r), columns, weight.data() + r * columns);
  subtract_product(fit.context, rows, columns, columns, {weight.data(), columns}, {root.data(), columns}, image.data(),
                   columns);
  subtract_product(fit.context, rows, columns, columns, {image.data(), columns}, {inverse.data(), columns},
                   change.data(), columns);
  for (int64_t r = 0; r < rows; ++r) {
    float *const given = WeightFit::floats(fit.given, r);
    for (int64_t c = 0; c < columns; ++c) {
      const auto at = static_cast<size_t>(r * columns + c);
      given[c] = static_cast<float>(weight[at] + change[at]);
    }
  }
  return {};
}

// Input factors.

void set_factors(WeightFit &fit, double ratio) {
  double least = HUGE_VAL, most = 0.0;
  const auto magnitude = [&](int64_t c) { return std::pow(fit.diagonal(c), ratio / 2); };
  for (int64_t c = 0; c < fit.columns(); ++c) {
    if (!(fit.diagonal(c) > 0.0)) continue;
    least = std::min(least, magnitude(c));
    most = std::max(most, magnitude(c));
  }
  const double root = std::sqrt(least * most);
  for (int64_t c = 0; c < fit.columns(); ++c) {
    const bool is_used = fit.diagonal(c) > 0.0 && ratio > 0.0;
    fit.factors[static_cast<size_t>(c)] = is_used ? static_cast<float>(magnitude(c) / root) : 1.0f;
  }
}

// Finds the factors of the smallest error with rounding to nearest, and leaves that rounding in the output.
Status search_factors(WeightFit &fit, lpt_weights_fit_info &info) {
  double best = HUGE_VAL;
  for (int32_t i = 0; i < kRatios; ++i) {
    double error = 0.0;
    set_factors(fit, static_cast<double>(i) / kRatios);
    scale_weight(fit);
    LPT_TRY(cast_part(fit.context, fit.scaled, fit.output, cast_of(fit)));
    LPT_TRY(output_error(fit, error));
    LPT_TRY(fit.progress.report(i + 1, kRatios + fit.columns()));
    if (!(error < best)) continue;
    best = error;
    info.ratio = static_cast<double>(i) / kRatios;
  }
  set_factors(fit, info.ratio);
  scale_weight(fit);
  return cast_part(fit.context, fit.scaled, fit.output, cast_of(fit));
}

// GPTQ.

// The state of GPTQ. Place i is the i-th column in the order of rounding.
struct Gptq {
  WeightFit &fit;
  int64_t width;                // columns of a block of scales; 1 if every scale is of a row or the tensor
  int64_t pack;                 // columns that one cast of a column writes; it divides width if a block has own scales
  bool has_block_scales;        // along columns
  std::vector<int64_t> order;   // the column of each place
  std::vector<double> inverse;  // U
  std::vector<double> weight;   // columns × rows, by place: compensated, then decoded
  std::vector<double> errors;   // places of a block × rows
  MatrixView part;              // f32 scratch, rows × width

  double *row_of(int64_t place) { return weight.data() + place * fit.rows(); }
};

std::vector<int64_t> make_order(const WeightFit &fit, int64_t width) {
  std::vector<int64_t> order(static_cast<size_t>(fit.columns()));
  std::iota(order.begin(), order.end(), 0);
  if (fit.options.order == LPT_WEIGHTS_FIT_ORDER_COLUMNS) return order;
  std::vector<double> most(static_cast<size_t>((fit.columns() + width - 1) / width), 0.0);
  for (const int64_t c : order) {
    double &of_block = most[static_cast<size_t>(c / width)];
    of_block = std::max(of_block, fit.diagonal(c));
  }
  if (fit.columns() % width != 0) most.back() = -1.0;  // the block that is not full is the last one
  const bool is_in_blocks = fit.options.order == LPT_WEIGHTS_FIT_ORDER_BLOCKS;
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (is_in_blocks && a / width != b / width) {
      const double first = most[static_cast<size_t>(a / width)], second = most[static_cast<size_t>(b / width)];
      return first != second ? first > second : a / width < b / width;
    }
    return fit.diagonal(a) > fit.diagonal(b);
  });
  return order;
}

// Computes the scales of the block at `begin` from the compensated weights. The tensor scale stays.
Status set_scales(Gptq &gptq, int64_t place, int64_t begin, int64_t count) {
  const WeightFit &fit = gptq.fit;
  Cast cast = cast_of(fit);
  cast.keeps_tensor_scale = fit.output.format.has_tensor_scale();
  for (int64_t i = place; i < place + count; ++i) {
    const int64_t column = gptq.order[static_cast<size_t>(i)] - begin;
    for (int64_t r = 0; r < fit.rows(); ++r)
      WeightFit::floats(gptq.part, r)[column] = static_cast<float>(gptq.row_of(i)[r]);
  }
  return cast_part(fit.context, cut_columns(gptq.part, 0, count), cut_columns(fit.output, begin, count), cast);
}

// Replaces the column at a place by its decoded codes, and writes its errors. The codes of the other columns of its pack are
// overwritten; they are written again at the end.
Status round_column(Gptq &gptq, int64_t place, double *errors) {
  const WeightFit &fit = gptq.fit;
  const int64_t c = gptq.order[static_cast<size_t>(place)], begin = c / gptq.pack * gptq.pack;
  const MatrixView part = cut_columns(gptq.part, 0, std::min(gptq.pack, fit.columns() - begin));
  const MatrixView codes = cut_columns(fit.output, begin, part.columns);  // its scales are those of the block
  double *const weight = gptq.row_of(place);
  for (int64_t r = 0; r < fit.rows(); ++r) WeightFit::floats(part, r)[c - begin] = static_cast<float>(weight[r]);
  LPT_TRY(cast_part(fit.context, part, codes, fixed_cast(fit)));
  LPT_TRY(decode_part(fit.context, codes, part));
  const double diagonal = gptq.inverse[static_cast<size_t>(place * fit.columns() + place)];
  for (int64_t r = 0; r < fit.rows(); ++r) {
    const auto decoded = static_cast<double>(WeightFit::floats(part, r)[c - begin]);
    errors[r] = (weight[r] - decoded) / diagonal;
    weight[r] = decoded;
  }
  return {};
}

// Rounds the columns of `count` places, and compensates for their errors in the later places.
Status round_block(Gptq &gptq, int64_t begin, int64_t count) {
  const WeightFit &fit = gptq.fit;
  const int64_t rows = fit.rows(), columns = fit.columns(), end = begin + count;
  const bool has_own_scales = gptq.has_block_scales && fit.options.order != LPT_WEIGHTS_FIT_ORDER_DIAGONAL;
  for (int64_t place = begin; place < end; ++place) {
    const int64_t block = gptq.order[static_cast<size_t>(place)] / gptq.width * gptq.width;
    const int64_t length = std::min(gptq.width, columns - block);
    const bool is_first =
        place == begin || gptq.order[static_cast<size_t>(place - 1)] / gptq.width * gptq.width != block;
    if (has_own_scales && is_first) LPT_TRY(set_scales(gptq, place, block, length));
    double *const errors = gptq.errors.data() + (place - begin) * rows;
    LPT_TRY(round_column(gptq, place, errors));
    const double *const inverse = gptq.inverse.data() + place * columns;
    parallel_parts(fit.context, end - place - 1, rows, [&](int64_t first, int64_t part) {
      for (int64_t i = place + 1 + first; i < place + 1 + first + part; ++i) {
        double *const later = gptq.row_of(i);
        for (int64_t r = 0; r < rows; ++r) later[r] -= inverse[i] * errors[r];
      }
    });
  }
  const F64View right{gptq.inverse.data() + begin * columns + end, 1, columns};
  subtract_product(fit.context, columns - end, rows, count, right, {gptq.errors.data(), rows}, gptq.row_of(end), rows);
  return {};
}

Gptq make_gptq(WeightFit &fit) {
  const Format &format = fit.output.format;
  const bool has_block_scales = format.has_block_scale() && format.block_columns != LPT_BLOCK_EXTENT_FULL;
  const int64_t width = has_block_scales ? format.block_columns : 1;
  const int64_t elements = packing_of(format.element).elements;
  const int64_t pack = has_block_scales && width % elements != 0 ? width : elements;
  return {fit, width, pack, has_block_scales, make_order(fit, width), {}, {}, {}, {}};
}

Status run_gptq(Gptq &gptq) {
  const WeightFit &fit = gptq.fit;
  const int64_t rows = fit.rows(), columns = fit.columns();
  const int64_t step = std::max<int64_t>(kColumnsAtOnce / gptq.width, 1) * gptq.width;
  gptq.weight.resize(static_cast<size_t>(rows * columns));
  gptq.errors.resize(static_cast<size_t>(rows * std::min(step, columns)));
  LPT_TRY(take_matrix(fit.context, LPT_FORMAT_F32, rows, std::max(gptq.width, gptq.pack), false, gptq.part));
  for (int64_t r = 0; r < rows; ++r) std::fill_n(WeightFit::floats(gptq.part, r), gptq.part.columns, 0.0f);
  for (int64_t i = 0; i < columns; ++i) {
    const int64_t c = gptq.order[static_cast<size_t>(i)];
    for (int64_t r = 0; r < rows; ++r) gptq.row_of(i)[r] = static_cast<double>(WeightFit::floats(fit.scaled, r)[c]);
  }
  for (int64_t begin = 0; begin < columns; begin += step) {
    LPT_TRY(round_block(gptq, begin, std::min(step, columns - begin)));
    LPT_TRY(fit.progress.report(kRatios + std::min(begin + step, columns), kRatios + columns));
  }
  // With their scales, the decoded numbers have exactly one code.
  for (int64_t i = 0; i < columns; ++i) {
    const int64_t c = gptq.order[static_cast<size_t>(i)];
    for (int64_t r = 0; r < rows; ++r) WeightFit::floats(fit.scaled, r)[c] = static_cast<float>(gptq.row_of(i)[r]);
  }
  return cast_part(fit.context, fit.scaled, fit.output, fixed_cast(fit));
}

// Arguments.

Status check_fit_options(const lpt_weights_fit_options &options) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_choice("method", options.method, LPT_WEIGHTS_FIT_METHOD_GPTQ));
  LPT_TRY(check_choice("order", options.order, LPT_WEIGHTS_FIT_ORDER_BLOCKS));
  LPT_TRY(check_choice("scale_rule", options.scale_rule, LPT_SCALE_RULE_SAWB));
  if (options.scale_rule == LPT_SCALE_RULE_FIXED) return unsupported("scale_rule is FIXED: expected a rule of amax");
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  return check_finite("damping", options.damping, 0.0, 1.0);
}

// Copies the upper triangle of the Gram matrix to both triangles of `gram`.
Status read_gram(const MatrixView &given, const MatrixView &gram) {
  for (int64_t i = 0; i < given.rows; ++i) {
    for (int64_t j = i; j < given.columns; ++j) {
      double value = 0.0;
      LPT_TRY(read_number(given, "gram", i, j, value));
      if (i == j && value < 0.0) {
        return invalid("gram[%lld][%lld] is %g: expected at least 0", number(i), number(j), value);
      }
      WeightFit::floats(gram, i)[j] = WeightFit::floats(gram, j)[i] = static_cast<float>(value);
    }
  }
  return {};
}

Status check_gram(const Tensor *gram, const char *name, int64_t columns, bool needs_data, MatrixView &view) {
  LPT_TRY(check_wide_matrix(gram, name, needs_data, view));
  if (view.format.id != LPT_FORMAT_F32 && view.format.id != LPT_FORMAT_F64) {
    return unsupported("%s is %s: expected f32 or f64", name, format_name(view.format.id).c_str());
  }
  return check_shape(view, name, columns, columns, "the columns of weight, squared");
}

// The matrices of a call.
struct FitViews {
  MatrixView weight, gram, cross_gram, output;
};

Status check_arguments(const Tensor *weight, const Tensor *gram, const lpt_weights_fit_options &options,
                       const Tensor *output, FitViews &views) {
  const bool needs_data = !is_check_only(options.flags);
  LPT_TRY(check_wide_matrix(weight, "weight", needs_data, views.weight));
  LPT_TRY(check_gram(gram, "gram", views.weight.columns, needs_data, views.gram));
  LPT_TRY(check_matrix(output, "output", needs_data, views.output));
  LPT_TRY(check_holds_numbers(views.output.format.id, "output"));
  if (views.output.format.is_sparse || views.output.layout != Layout::kRows) {
    return unsupported("output is %s: expected a dense format", tensor_text(*output).c_str());
  }
  LPT_TRY(check_shape(views.output, "output", views.weight.rows, views.weight.columns, "weight"));
  LPT_TRY(check_no_overlap(views.output, "output", views.weight, "weight"));
  LPT_TRY(check_no_overlap(views.output, "output", views.gram, "gram"));
  if (options.cross_gram == nullptr) return {};
  LPT_TRY(check_gram(options.cross_gram, "options->cross_gram", views.weight.columns, needs_data, views.cross_gram));
  return check_no_overlap(views.output, "output", views.cross_gram, "options->cross_gram");
}

Status check_factors(const Tensor *input_factors, const FitViews &views, bool needs_data, void **out_factors) {
  if (input_factors == nullptr) return {};
  const int64_t columns = views.weight.columns;
  LPT_TRY(check_vector(input_factors, "input_factors", LPT_FORMAT_F32, columns, needs_data, out_factors));
  const MatrixView factors = vector_view(LPT_FORMAT_F32, *out_factors, columns);
  LPT_TRY(check_no_overlap(factors, "input_factors", views.weight, "weight"));
  LPT_TRY(check_no_overlap(factors, "input_factors", views.gram, "gram"));
  if (views.cross_gram.data != nullptr) {
    LPT_TRY(check_no_overlap(factors, "input_factors", views.cross_gram, "options->cross_gram"));
  }
  return check_no_overlap(factors, "input_factors", views.output, "output");
}

}  // namespace

Status fit_weights(Context &context, const Tensor *weight, const Tensor *gram, const lpt_weights_fit_options &options,
                   Tensor *output, Tensor *input_factors, lpt_weights_fit_info &out_info) {
  const bool needs_data = !is_check_only(options.flags);
  FitViews views;
  void *factors = nullptr;
  LPT_TRY(check_fit_options(options));
  LPT_TRY(check_arguments(weight, gram, options, output, views));
  LPT_TRY(check_factors(input_factors, views, needs_data, &factors));
  const int64_t rows = views.weight.rows, columns = views.weight.columns;
  const SuppressProgress progress(context);
  WeightFit fit{context, options, progress, {}, views.output, {}, {}};
  LPT_TRY(cast_matrix(context, views.weight, views.output, cast_of(fit), true));
  if (!needs_data) return {};
  LPT_TRY(take_matrix(context, LPT_FORMAT_F32, columns, columns, false, fit.gram));
  for (MatrixView *view : {&fit.given, &fit.scaled, &fit.decoded, &fit.difference, &fit.image}) {
    LPT_TRY(take_matrix(context, LPT_FORMAT_F32, rows, columns, false, *view));
  }
  LPT_TRY(read_gram(views.gram, fit.gram));
  LPT_TRY(widen_matrix(context, views.weight, fit.given, false));
  fit.factors.assign(static_cast<size_t>(columns), 1.0f);
  copy_matrix(fit.given, fit.scaled);
  // Matrices that are not valid are rejected before the output is written.
  if (options.cross_gram != nullptr) LPT_TRY(follow_reference(fit, views.cross_gram, out_info.damping));
  Gptq gptq = make_gptq(fit);
  const bool is_gptq = options.method == LPT_WEIGHTS_FIT_METHOD_GPTQ;
  if (is_gptq) LPT_TRY(factor_gram(fit, gptq.order, gptq.inverse, out_info.damping));
  double whole = 0.0, nearest = 0.0, fitted = 0.0;
  LPT_TRY(quadratic_form(context, fit.given, fit.gram, fit.image, whole));
  LPT_TRY(cast_part(context, fit.scaled, fit.output, cast_of(fit)));
  LPT_TRY(output_error(fit, nearest));
  if (factors != nullptr) {
    LPT_TRY(search_factors(fit, out_info));
    if (is_gptq) LPT_TRY(factor_gram(fit, gptq.order, gptq.inverse, out_info.damping));
  } else if (options.cross_gram != nullptr) {
    scale_weight(fit);
    LPT_TRY(cast_part(context, fit.scaled, fit.output, cast_of(fit)));
  }
  if (is_gptq) LPT_TRY(run_gptq(gptq));
  LPT_TRY(output_error(fit, fitted));
  out_info.nearest_error = whole == 0.0 ? 0.0 : nearest / whole;  // NaN for a weight with a NaN
  out_info.fitted_error = whole == 0.0 ? 0.0 : fitted / whole;
  if (factors != nullptr) std::copy(fit.factors.begin(), fit.factors.end(), static_cast<float *>(factors));
  return {};
}

}  // namespace lpt
