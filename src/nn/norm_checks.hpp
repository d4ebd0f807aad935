// Checks that the forward and the backward passes of norms share.
#pragma once

#include <cfloat>

#include "src/tensor/checks.hpp"

namespace lpt {

// Checks the options of RMSNorm or LayerNorm.
template <typename Options>
Status check_norm_options(const Options &options, bool is_backward) {
  LPT_TRY(check_flags("flags", options.flags));
  LPT_TRY(check_finite("epsilon", options.epsilon, 0.0, DBL_MAX));
  LPT_TRY(check_choice("is_accumulated", options.is_accumulated, 1));
  if (options.reserved != 0) return unsupported("reserved is %d: expected 0", options.reserved);
  if (is_backward || options.residual_gradient == nullptr) return {};
  return invalid("residual_gradient is set: expected NULL in a forward pass");
}

inline bool is_double(const MatrixView &view) { return view.format.id == LPT_FORMAT_F64; }

// Returns the address of element `begin` of an array with one number per row, or NULL.
inline void *cut_vector(const void *data, bool is_f64, int64_t begin) {
  if (data == nullptr) return nullptr;
  return const_cast<char *>(static_cast<const char *>(data)) + begin * (is_f64 ? 8 : 4);
}

struct NamedView {
  const MatrixView &view;
  const char *name;
};

// Rejects outputs that overlap inputs or each other.
Status check_outputs(std::initializer_list<NamedView> outputs, std::initializer_list<NamedView> inputs);

// Checks a vector that may be NULL. The view of NULL has no data.
Status check_optional_vector(const Tensor *tensor, const char *name, lpt_format format, int64_t count, bool needs_data,
                             const Device &device, MatrixView &out_view);

}  // namespace lpt
