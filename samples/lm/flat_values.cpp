#include "flat_values.hpp"

#include <fmt/format.h>

namespace lm {

FlatValues::FlatValues(lpt_context *context, const std::deque<Parameter> &parameters,
                       const std::vector<int64_t> &indices)
    : parameters_(parameters), begins_(parameters.size()) {
  int64_t elements = 0;
  for (const int64_t index : indices) {
    begins_[static_cast<size_t>(index)] = elements;
    elements += parameters[static_cast<size_t>(index)].elements();
  }
  numbers_ = Matrix<float>(context, elements, 1);
}

Tensor FlatValues::view(lpt_context *context, const Parameter &parameter) const {
  lpt_tensor *made = nullptr;
  check(context, lpt_tensor_wrap_matrix(context, LPT_FORMAT_F32, numbers_.row(begins_[parameter.index]), parameter.rows,
                                        parameter.columns, parameter.columns, &made));
  return Tensor(made);
}

void FlatValues::pack(lpt_context *context) {
  for (const Parameter &parameter : parameters_) {
    check(context, lpt_dequantize(context, parameter.value.get(), nullptr, view(context, parameter).get()));
  }
}

void FlatValues::unpack(lpt_context *context, const Parameter &parameter) const {
  check(context, lpt_quantize(context, view(context, parameter).get(), nullptr, parameter.value.get(), nullptr));
}

void check_flat(const char *option, const StateFormats &state) {
  lpt_format_description weight = LPT_FORMAT_DESCRIPTION_INIT;
  check(nullptr, lpt_format_describe(nullptr, state.weight, &weight));
  if (weight.tensor_scale != LPT_FORMAT_NONE || weight.block_scale != LPT_FORMAT_NONE) {
    throw Error(fmt::format("{} sends weights without scales, and the state {} has scales: expected another --state",
                            option, state.name));
  }
}

}  // namespace lm
