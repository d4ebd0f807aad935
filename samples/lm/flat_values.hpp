// A copy of the values of all parameters in one column of f32, for calls that send them as one tensor.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "parameter.hpp"

namespace lm {

class FlatValues {
 public:
  // Parameters are adjacent in the order of `indices`. `parameters` must outlive the object.
  FlatValues(lpt_context *context, const std::deque<Parameter> &parameters, const std::vector<int64_t> &indices);

  int64_t elements() const { return numbers_.rows(); }
  const Matrix<float> &numbers() const { return numbers_; }

  // Returns the elements of a parameter, in its shape.
  Tensor view(lpt_context *context, const Parameter &parameter) const;

  // Copies the values of all parameters. Casts from f32, bf16 and f16 and back change no value.
  void pack(lpt_context *context);

  // Writes the value of a parameter.
  void unpack(lpt_context *context, const Parameter &parameter) const;

 private:
  const std::deque<Parameter> &parameters_;
  std::vector<int64_t> begins_;  // by index of the parameter
  Matrix<float> numbers_;
};

// Throws Error, with the name of an option, if weights have scales, which cannot be sent in this way.
void check_flat(const char *option, const StateFormats &state);

}  // namespace lm
