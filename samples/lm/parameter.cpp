#include "parameter.hpp"

#include <cmath>
#include <utility>

#include "random.hpp"

namespace lm {

ParameterList::ParameterList(const Precision &precision, lpt_format plain, uint64_t seed)
    : matrix_format_(plain == LPT_FORMAT_F32 ? precision.state.weight : plain), plain_(plain), seed_(seed) {}

Parameter *ParameterList::matrix(lpt_context *context, std::string name, int64_t rows, int64_t columns, double gain,
                                 bool is_unit_scaled) {
  const double root = is_unit_scaled ? 1.0 : std::sqrt(static_cast<double>(columns));
  Parameter *parameter = add(context, std::move(name), rows, columns, matrix_format_, gain / root);
  parameter->is_unit_scaled = is_unit_scaled;
  return parameter;
}

Parameter *ParameterList::norm(lpt_context *context, std::string name, int64_t columns) {
  return add(context, std::move(name), 1, columns, plain_, 0.0);
}

Parameter *ParameterList::add(lpt_context *context, std::string name, int64_t rows, int64_t columns, lpt_format format,
                              double deviation) {
  const bool is_matrix = deviation != 0.0;
  const auto index = static_cast<uint32_t>(items_.size());
  const Matrix<float> start(context, rows, columns);
  for (uint64_t i = 0; float &value : start.values()) {
    value = is_matrix ? static_cast<float>(deviation * random_normal(seed_, index, i)) : 1.0f;
    ++i;
  }
  items_.push_back({.name = std::move(name),
                    .index = index,
                    .rows = rows,
                    .columns = columns,
                    .is_matrix = is_matrix,
                    .value = make_tensor(context, format, rows, columns),
                    .gradient = make_tensor(context, plain_, rows, columns)});
  check(context, lpt_quantize(context, start.tensor(), nullptr, items_.back().value.get(), nullptr));
  return &items_.back();
}

}  // namespace lm
