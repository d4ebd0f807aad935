// The sets of values of the golden digests of elements. tools/make_golden.py and similar scripts define the same sets.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/formats/format.hpp"
#include "tests/formats/golden.hpp"

namespace lpt::golden {

// Returns an element format by name, described elements included.
inline Element element_named(const std::string &name) {
  lpt_format format = LPT_FORMAT_NONE;
  const Status status = format_from_name(name.c_str(), format);
  EXPECT_TRUE(status.is_ok()) << status.message();
  return element_of(status.is_ok() ? format : lpt_format{LPT_FORMAT_F16});
}

inline std::vector<float> bf16_set() {
  std::vector<float> values;
  for (uint32_t code = 0; code < 65536; ++code) values.push_back(bits_float(code << 16));
  return values;
}

inline std::vector<float> f16_set() {
  std::vector<float> values;
  for (uint32_t code = 0; code < 65536; ++code) values.push_back(decode(kElementF16, code));
  return values;
}

inline std::vector<float> random_set() {
  SplitMix64 random(1);
  std::vector<float> values(10'000'000);
  for (float &value : values) value = bits_float(random.next_high());
  return values;
}

// Returns each positive value with the f32 values before and after it; then all of these negated.
inline std::vector<float> around(const std::vector<float> &middles) {
  std::vector<float> values;
  for (const float middle : middles) {
    for (const uint32_t bits : {float_bits(middle) - 1, float_bits(middle), float_bits(middle) + 1}) {
      values.push_back(bits_float(bits));
    }
  }
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

// Returns the values around midpoints of adjacent values, and around the overflow threshold.
inline std::vector<float> midpoints_set(const Element &element) {
  std::vector<double> magnitudes;
  for (uint32_t code = 0; code <= element.max_code; ++code) {
    magnitudes.push_back(static_cast<double>(decode(element, code)));
  }
  const double last = magnitudes.back();
  const bool doubles = element.mantissa_bits == 0 && !element.is_integer;
  magnitudes.push_back(doubles ? 2 * last : 2 * last - magnitudes[magnitudes.size() - 2]);
  std::vector<float> middles;
  for (size_t i = 0; i + 1 < magnitudes.size(); ++i) {
    middles.push_back(static_cast<float>((magnitudes[i] + magnitudes[i + 1]) / 2));
  }
  return around(middles);
}

inline std::string digest_of(const Element &element, const std::vector<float> &values, lpt_rounding rounding,
                             lpt_overflow overflow) {
  Digest digest(element.bits == 16 ? 2 : 1);
  for (const float value : values) {
    digest.add(canonical_code(element, encode(element, value, rounding, overflow, 0, 16), value));
  }
  return digest.text();
}

}  // namespace lpt::golden
