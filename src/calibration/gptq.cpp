// GPTQ rounds one column after the other. With inverse(H + damping) = Uᵀ · U, the error e = (w - q) / U(j, j) of column j is
// subtracted from each later column i as e · U(j, i).
#include <numeric>

#include "src/calibration/factor.hpp"
#include "src/calibration/weights_fit.hpp"

namespace lpt {
namespace {

constexpr int64_t kColumnsAtOnce = 128;  // columns whose errors reach the later columns in one product

// Returns true if scales change along a row.
bool has_column_blocks(const Format &format) {
  return format.has_block_scale() && format.block_columns != LPT_BLOCK_EXTENT_FULL;
}

// Returns the columns of a block of scales; 1 if every scale is of a row or the tensor.
int64_t scale_columns(const WeightFit &fit) {
  return has_column_blocks(fit.output.format) ? fit.output.format.block_columns : 1;
}

// The state of GPTQ. Place i is the i-th column in the order of rounding.
struct Gptq {
  WeightFit &fit;
  int64_t width;               // scale_columns()
  int64_t pack;                // columns that one cast of a column writes; it divides width if a block has own scales
  std::vector<double> weight;  // columns × rows, by place: compensated, then decoded
  std::vector<double> errors;  // places of a block × rows
  MatrixView part;             // f32 scratch, rows × width

  double *row_of(int64_t place) { return weight.data() + place * fit.rows(); }
};

std::vector<int64_t> make_order(const WeightFit &fit) {
  const int64_t width = scale_columns(fit);
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
  for (int64_t i = place; i < place + count; ++i) {
    const int64_t column = fit.order[static_cast<size_t>(i)] - begin;
    for (int64_t r = 0; r < fit.rows(); ++r)
      WeightFit::floats(gptq.part, r)[column] = static_cast<float>(gptq.row_of(i)[r]);
  }
  return round_part(fit, cut_columns(gptq.part, 0, count), cut_columns(fit.output, begin, count), begin, true);
}

// Replaces the column at a place by its decoded codes, and writes its errors. The codes of the other columns of its pack are
// overwritten; they are written again at the end.
Status round_column(Gptq &gptq, int64_t place, double *errors) {
  const WeightFit &fit = gptq.fit;
  const int64_t c = fit.order[static_cast<size_t>(place)], begin = c / gptq.pack * gptq.pack;
  const MatrixView part = cut_columns(gptq.part, 0, std::min(gptq.pack, fit.columns() - begin));
  const MatrixView codes = cut_columns(fit.output, begin, part.columns);  // its scales are those of the block
  double *const weight = gptq.row_of(place);
  for (int64_t r = 0; r < fit.rows(); ++r) WeightFit::floats(part, r)[c - begin] = static_cast<float>(weight[r]);
  LPT_TRY(cast_part(fit.context, part, codes, fixed_cast(fit)));
  LPT_TRY(decode_part(fit.context, codes, part));
  const double diagonal = fit.inverse[static_cast<size_t>(place * fit.columns() + place)];
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
  const bool is_rescaled = has_column_blocks(fit.output.format) && fit.options.order != LPT_WEIGHTS_FIT_ORDER_DIAGONAL;
  for (int64_t place = begin; place < end; ++place) {
    const int64_t block = fit.order[static_cast<size_t>(place)] / gptq.width * gptq.width;
    const int64_t length = std::min(gptq.width, columns - block);
    const bool is_first =
        place == begin || fit.order[static_cast<size_t>(place - 1)] / gptq.width * gptq.width != block;
    if (is_rescaled && is_first) LPT_TRY(set_scales(gptq, place, block, length));
    double *const errors = gptq.errors.data() + (place - begin) * rows;
    LPT_TRY(round_column(gptq, place, errors));
    const double *const inverse = fit.inverse.data() + place * columns;
    parallel_parts(fit.context, end - place - 1, rows, [&](int64_t first, int64_t part) {
      for (int64_t i = place + 1 + first; i < place + 1 + first + part; ++i) {
        double *const later = gptq.row_of(i);
        for (int64_t r = 0; r < rows; ++r) later[r] -= inverse[i] * errors[r];
      }
    });
  }
  const F64View right{fit.inverse.data() + begin * columns + end, 1, columns};
  subtract_product(fit.context, columns - end, rows, count, right, {gptq.errors.data(), rows}, gptq.row_of(end), rows);
  return {};
}

}  // namespace

Status prepare_gptq(WeightFit &fit, double &out_damping) {
  fit.order = make_order(fit);
  return factor_gram(fit, fit.order, fit.inverse, out_damping);
}

Status run_gptq(WeightFit &fit) {
  const int64_t elements = packing_of(fit.output.format.element).elements, width = scale_columns(fit);
  const bool has_odd_blocks = has_column_blocks(fit.output.format) && width % elements != 0;
  Gptq gptq{fit, width, has_odd_blocks ? width : elements, {}, {}, {}};
  const int64_t rows = fit.rows(), columns = fit.columns();
  const int64_t step = std::max<int64_t>(kColumnsAtOnce / gptq.width, 1) * gptq.width;
  gptq.weight.resize(static_cast<size_t>(rows * columns));
  gptq.errors.resize(static_cast<size_t>(rows * std::min(step, columns)));
  LPT_TRY(take_matrix(fit.context, LPT_FORMAT_F32, rows, std::max(gptq.width, gptq.pack), false, gptq.part));
  for (int64_t r = 0; r < rows; ++r) std::fill_n(WeightFit::floats(gptq.part, r), gptq.part.columns, 0.0f);
  for (int64_t i = 0; i < columns; ++i) {
    const int64_t c = fit.order[static_cast<size_t>(i)];
    for (int64_t r = 0; r < rows; ++r) gptq.row_of(i)[r] = static_cast<double>(WeightFit::floats(fit.scaled, r)[c]);
  }
  for (int64_t begin = 0; begin < columns; begin += step) {
    LPT_TRY(round_block(gptq, begin, std::min(step, columns - begin)));
    LPT_TRY(fit.progress.report(fit.candidates + std::min(begin + step, columns), fit.candidates + columns));
  }
  // With their scales, the decoded numbers have exactly one code.
  for (int64_t i = 0; i < columns; ++i) {
    const int64_t c = fit.order[static_cast<size_t>(i)];
    for (int64_t r = 0; r < rows; ++r) WeightFit::floats(fit.scaled, r)[c] = static_cast<float>(gptq.row_of(i)[r]);
  }
  return cast_part(fit.context, fit.scaled, fit.output, fixed_cast(fit));
}

}  // namespace lpt
