#include "verify_elements.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

namespace tool {

namespace {

constexpr int64_t kRandomCount = 10'000'000;

// Returns the bits with every NaN as 7fc00000 with its sign.
uint32_t canonical_bits(float value) {
  return std::isnan(value) ? (as_bits(value) & 0x80000000u) | 0x7FC00000u : as_bits(value);
}

std::vector<float> random_set() {
  std::vector<float> values;
  for (int64_t i = 1; i <= kRandomCount; ++i) {
    uint64_t state = 1 + static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15u;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
    values.push_back(as_float(static_cast<uint32_t>((state ^ (state >> 31)) >> 32)));
  }
  return values;
}

Tally tally_of_codes(const Element &element, const std::vector<uint32_t> &codes,
                     const std::vector<uint32_t> &meanings) {
  const std::vector<float> values = element.decode(codes);
  Tally tally;
  for (size_t i = 0; i < codes.size(); ++i) {
    const uint32_t got = canonical_bits(values[i]);
    tally.add(got == meanings[i],
              fmt::format("code {} decodes to {:08x}: expected {:08x}", codes[i], got, meanings[i]));
  }
  return tally;
}

}  // namespace

Element::Element(lpt_context *context, const std::string &name)
    : context_(context), format_(find_format(name)), description_(describe(format_)) {
  const bool is_plain = description_.block_scale == LPT_FORMAT_NONE && description_.tensor_scale == LPT_FORMAT_NONE;
  if (!is_plain || description_.element_bits > 16 || format_ == LPT_FORMAT_TERNARY) {
    throw Error(fmt::format("a vector has the element {}: expected a plain one of at most 16 whole bits", name));
  }
}

std::vector<float> Element::decode(const std::vector<uint32_t> &codes) const {
  const auto count = static_cast<int64_t>(codes.size());
  const auto bits = static_cast<size_t>(description_.element_bits);
  const Tensor tensor = make_matrix(context_, format_, 1, count);
  std::byte *data = part_of(context_, tensor.get(), LPT_TENSOR_PART_PAYLOAD)->data;
  for (size_t i = 0; i < codes.size(); ++i) {
    for (size_t bit = 0; bit < bits; ++bit) {
      const size_t place = i * bits + bit;
      data[place / 8] |= static_cast<std::byte>((codes[i] >> bit & 1u) << (place % 8));
    }
  }
  std::vector<float> values(codes.size());
  const Tensor target = wrap_matrix(context_, LPT_FORMAT_F32, values.data(), 1, count);
  check(context_, lpt_dequantize(context_, tensor.get(), nullptr, target.get()));
  return values;
}

std::vector<float> Element::decode_all() const {
  std::vector<uint32_t> codes(size_t{1} << description_.element_bits);
  for (uint32_t i = 0; i < codes.size(); ++i) codes[i] = i;
  return decode(codes);
}

Trial Element::nearest() const {
  Trial trial = saturating("nearest_even");
  const bool can_say_so = description_.special == LPT_ELEMENT_SPECIAL_IEEE ||
                          description_.special == LPT_ELEMENT_SPECIAL_NAN_ONES ||
                          description_.special == LPT_ELEMENT_SPECIAL_FNUZ;
  if (can_say_so) trial.options.overflow = LPT_OVERFLOW_INFINITE;
  return trial;
}

Trial Element::saturating(const std::string &rounding) const {
  return make_trial(format_name(format_), "-", rounding, "-");
}

std::vector<uint32_t> Element::encode(const std::vector<float> &values, const Trial &trial) const {
  const std::vector<float> meanings = decode_all();
  const uint32_t nan_code = run_trial(context_, trial, {std::numeric_limits<float>::quiet_NaN()}, 1, false).codes[0];
  std::vector<uint32_t> codes = run_trial(context_, trial, values, 1, false).codes;
  for (uint32_t &code : codes) code = std::isnan(meanings[code]) ? nan_code : code;
  return codes;
}

std::vector<float> Element::set_named(const std::string &name) const {
  if (name == "bf16" || name == "f16") return Element(context_, name).decode_all();
  if (name == "midpoints") return midpoints();
  return name == "random" ? random_set() : std::vector<float>();
}

// Returns the midpoint of each pair of adjacent finite codes from zero, with the f32 before and after it; then all of these
// negated. After the largest code one more step is added; without mantissa bits it is twice as wide.
std::vector<float> Element::midpoints() const {
  std::vector<double> values;
  for (const float value : decode_all()) {
    values.push_back(value);
    if (static_cast<double>(value) == description_.largest) break;
  }
  const bool is_bare = description_.mantissa_bits == 0 && description_.exponent_bits > 0;
  const double last = values.back();
  values.push_back(2.0 * last - (is_bare ? 0.0 : values[values.size() - 2]));
  std::vector<float> result;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    const uint32_t bits = as_bits(static_cast<float>((values[i] + values[i + 1]) / 2.0));
    for (const uint32_t near : {bits - 1, bits, bits + 1}) result.push_back(as_float(near));
  }
  for (size_t i = 0, count = result.size(); i < count; ++i) result.push_back(-result[i]);
  return result;
}

void verify_codes(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report) {
  std::vector<uint32_t> codes, meanings;
  for (const auto &row : vectors.rows) {
    codes.push_back(static_cast<uint32_t>(number(row[0], 10)));
    meanings.push_back(static_cast<uint32_t>(number(row[1], 16)));
  }
  report.add(name, tally_of_codes(Element(context, name), codes, meanings));
}

void verify_custom_codes(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report) {
  std::map<std::string, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> elements;
  for (const auto &row : vectors.rows) {
    elements[row[0]].first.push_back(static_cast<uint32_t>(number(row[1], 10)));
    elements[row[0]].second.push_back(static_cast<uint32_t>(number(row[2], 16)));
  }
  for (const auto &[element, rows] : elements) {
    report.add(name + " " + element, tally_of_codes(Element(context, element), rows.first, rows.second));
  }
}

// The set "codes" decodes; a set <set>_<rounding> saturates.
void verify_digests(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report) {
  Tally tally;
  for (const auto &row : vectors.rows) {
    const Element element(context, row[1]);
    const size_t end = row[0].find('_');
    const std::string set = row[0].substr(0, end);
    std::string got;
    if (set == "codes") {
      LaneDigest digest;
      for (const float value : element.decode_all()) digest.add(canonical_bits(value), 4);
      got = digest.text();
    } else {
      const std::vector<float> values = element.set_named(set);
      if (values.empty()) {
        report.leave_out(fmt::format("{} of {} in {}.csv", row[0], row[1], name));
        continue;
      }
      const Trial trial = end == std::string::npos ? element.nearest() : element.saturating(row[0].substr(end + 1));
      got = digest_of(element.encode(values, trial), element.code_bytes());
    }
    tally.add(got == row[2], fmt::format("{} of {} has digest {}: expected {}", row[0], row[1], got, row[2]));
  }
  if (tally.checks > 0) report.add(name, tally);
}

}  // namespace tool
