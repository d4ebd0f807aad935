#include "parameter.hpp"

#include <cmath>
#include <utility>

#include "random.hpp"

namespace lm {

namespace {

// Returns the row of the full matrix for a row of a slice.
int64_t whole_row(int64_t row, int64_t rows, int64_t whole_rows, const Slice &slice) {
  if (slice.is_of_columns) {
    return row;
  }
  const int64_t height = rows / slice.sections;
  return row / height * (whole_rows / slice.sections) + slice.rank * height + row % height;
}

}  // namespace

ParameterList::ParameterList(const Precision &precision, lpt_format plain, uint64_t seed)
    : matrix_format_(plain == LPT_FORMAT_F32 ? precision.state.weight : plain), plain_(plain), seed_(seed) {}

Parameter *ParameterList::matrix(lpt_context *context, std::string name, int64_t rows, int64_t columns, double gain,
                                 bool is_unit_scaled, const Slice &slice) {
  const double root = is_unit_scaled ? 1.0 : std::sqrt(static_cast<double>(columns));
  Parameter *parameter = add(context, std::move(name), rows, columns, matrix_format_, gain / root, slice);
  parameter->is_unit_scaled = is_unit_scaled;
  parameter->whole_columns = columns;
  return parameter;
}

Parameter *ParameterList::norm(lpt_context *context, std::string name, int64_t columns) {
  return add(context, std::move(name), 1, columns, plain_, 0.0, {});
}

Parameter *ParameterList::add(lpt_context *context, std::string name, int64_t rows, int64_t columns, lpt_format format,
                              double deviation, const Slice &slice) {
  const int64_t whole_rows = rows;
  const int64_t whole_columns = columns;
  (slice.is_of_columns ? columns : rows) /= slice.ranks;
  const bool is_matrix = deviation != 0.0;
  const auto index = static_cast<uint32_t>(items_.size());
  const Matrix<float> start(context, rows, columns);
  const int64_t first_column = slice.is_of_columns ? slice.rank * columns : 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t first = whole_row(r, rows, whole_rows, slice) * whole_columns + first_column;
    for (int64_t c = 0; c < columns; ++c) {
      start.row(r)[c] =
          is_matrix ? static_cast<float>(deviation * random_normal(seed_, index, static_cast<uint64_t>(first + c)))
                    : 1.0f;
    }
  }
  items_.push_back({.name = std::move(name),
                    .index = index,
                    .rows = rows,
                    .columns = columns,
                    .is_matrix = is_matrix,
                    .value = make_tensor(context, format, rows, columns),
                    .gradient = make_tensor(context, plain_, rows, columns),
                    .is_sharded = slice.ranks > 1});
  check(context, lpt_quantize(context, start.tensor(), nullptr, items_.back().value.get(), nullptr));
  return &items_.back();
}

}  // namespace lm
