// Conformance vectors of elements without scales: values of codes, and codes of values.
#pragma once

#include <string>
#include <vector>

#include "handles.hpp"
#include "trial.hpp"
#include "vectors.hpp"

namespace tool {

// An element of at most 16 bits without scales.
class Element {
 public:
  Element(lpt_context *context, const std::string &name);

  int code_bytes() const { return description_.element_bits > 8 ? 2 : 1; }
  std::vector<float> decode(const std::vector<uint32_t> &codes) const;

  // Returns all bf16 or f16 values, or the f32 values around midpoints of the codes, or ten million random ones; nothing for a
  // name other than "bf16", "f16", "midpoints", "random".
  std::vector<float> set_named(const std::string &name) const;

  // All NaN codes are mapped to that of a NaN without sign.
  std::vector<uint32_t> encode(const std::vector<float> &values, const Trial &trial) const;

  // To nearest even; overflow becomes infinity if the element has one.
  Trial nearest() const;
  Trial saturating(const std::string &rounding) const;

  std::vector<float> decode_all() const;

 private:
  std::vector<float> midpoints() const;

  lpt_context *context_;
  lpt_format format_;
  lpt_format_description description_;
};

void verify_codes(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report);
void verify_custom_codes(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report);
void verify_digests(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report);

}  // namespace tool
