// Conformance vectors of plain elements: what codes mean, and what numbers become.
#pragma once

#include <string>
#include <vector>

#include "handles.hpp"
#include "trial.hpp"
#include "vectors.hpp"

namespace tool {

// A plain element of at most 16 bits.
class Element {
 public:
  Element(lpt_context *context, const std::string &name);

  int code_bytes() const { return description_.element_bits > 8 ? 2 : 1; }
  std::vector<float> decode(const std::vector<uint32_t> &codes) const;

  // All bf16 or f16 numbers, or the f32 around the middles of this element's codes, or ten million random ones; nothing
  // for a name that is none of "bf16", "f16", "midpoints", "random".
  std::vector<float> set_named(const std::string &name) const;

  // Any NaN counts as the one that a NaN without a sign becomes.
  std::vector<uint32_t> encode(const std::vector<float> &values, const Trial &trial) const;

  // To nearest even; overflow becomes infinite where the element can say so.
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
