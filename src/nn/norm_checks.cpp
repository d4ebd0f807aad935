#include "src/nn/norm_checks.hpp"

namespace lpt {

Status check_outputs(std::initializer_list<NamedView> outputs, std::initializer_list<NamedView> inputs) {
  for (const NamedView *output = outputs.begin(); output != outputs.end(); ++output) {
    for (const NamedView &input : inputs) {
      LPT_TRY(check_no_overlap(output->view, output->name, input.view, input.name));
    }
    for (const NamedView *other = outputs.begin(); other != output; ++other) {
      LPT_TRY(check_no_overlap(output->view, output->name, other->view, other->name));
    }
  }
  return {};
}

Status check_optional_vector(const Tensor *tensor, const char *name, lpt_format format, int64_t count, bool needs_data,
                             const Device &device, MatrixView &out_view) {
  void *data = nullptr;
  if (tensor != nullptr) LPT_TRY(check_vector(tensor, name, format, count, needs_data, &data, device));
  out_view = vector_view(format, data, count);
  return {};
}

}  // namespace lpt
