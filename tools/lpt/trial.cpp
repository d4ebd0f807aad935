#include "trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "text.hpp"
#include "vectors.hpp"

namespace tool {

namespace {

struct Named {
  const char *name;
  int32_t value;
};
constexpr Named kRules[] = {{"-", LPT_SCALE_RULE_DEFAULT},
                            {"amax", LPT_SCALE_RULE_AMAX},
                            {"power_of_two", LPT_SCALE_RULE_POWER_OF_TWO},
                            {"round_up", LPT_SCALE_RULE_ROUND_UP},
                            {"floor", LPT_SCALE_RULE_FLOOR},
                            {"ceil", LPT_SCALE_RULE_CEIL},
                            {"even", LPT_SCALE_RULE_EVEN},
                            {"nearest", LPT_SCALE_RULE_NEAREST},
                            {"headroom", LPT_SCALE_RULE_HEADROOM},
                            {"four_over_six", LPT_SCALE_RULE_FOUR_OVER_SIX}};
constexpr Named kRoundings[] = {{"nearest_even", LPT_ROUNDING_NEAREST_EVEN},
                                {"nearest_away", LPT_ROUNDING_NEAREST_AWAY},
                                {"toward_zero", LPT_ROUNDING_TOWARD_ZERO},
                                {"stochastic", LPT_ROUNDING_STOCHASTIC},
                                {"stochastic_underflow", LPT_ROUNDING_STOCHASTIC_UNDERFLOW}};

template <size_t count>
int32_t value_named(const Named (&all)[count], const char *what, const std::string &name) {
  const auto *found = std::find_if(all, all + count, [&](const Named &one) { return name == one.name; });
  if (found == all + count) throw Error(fmt::format("a vector has the {} {}: there is none", what, in_quotes(name)));
  return found->value;
}

void read_random(const std::string &text, lpt_quantize_options &options) {
  std::vector<uint64_t> parts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ':');) parts.push_back(number(word, 10));
  if (parts.size() != 6) {
    throw Error(
        fmt::format("a vector has the random bits {}: expected seed:offset:stream:step:rounds:bits", in_quotes(text)));
  }
  options.random.seed = parts[0];
  options.random.offset = static_cast<int64_t>(parts[1]);
  options.random.stream = static_cast<uint32_t>(parts[2]);
  options.random.step = static_cast<uint32_t>(parts[3]);
  options.philox_rounds = static_cast<int32_t>(parts[4]);
  options.stochastic_bits = static_cast<int32_t>(parts[5]);
}

// Unpacks contiguous numbers of `bits` bits, lowest bits first. A number may span bytes.
std::vector<uint32_t> unpacked(const Part &part, int bits) {
  std::vector<uint32_t> numbers(static_cast<size_t>(part.rows * part.columns));
  if (bits > 32 || part.bytes * 8 < numbers.size() * static_cast<size_t>(bits)) {
    throw Error(fmt::format("a vector has {} numbers: expected some of at most 32 bits that follow each other",
                            format_name(part.format)));
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t place = i * static_cast<size_t>(bits);
    uint32_t word = 0;
    std::memcpy(&word, part.data + place / 8, std::min<size_t>(sizeof word, part.bytes - place / 8));
    const uint32_t mask = bits == 32 ? 0xFFFFFFFFu : (1u << bits) - 1;
    numbers[i] = word >> (place % 8) & mask;
  }
  return numbers;
}

std::vector<uint32_t> numbers_of_part(lpt_context *context, const lpt_tensor *tensor, lpt_tensor_part which) {
  const auto part = part_of(context, tensor, which);
  return part ? unpacked(*part, describe(part->format).element_bits) : std::vector<uint32_t>();
}

bool has_nan(const Trial &trial) {
  return trial.description.special == LPT_ELEMENT_SPECIAL_IEEE ||
         trial.description.special == LPT_ELEMENT_SPECIAL_NAN_ONES ||
         trial.description.special == LPT_ELEMENT_SPECIAL_FNUZ;
}

std::vector<float> transposed_copy(const std::vector<float> &values, size_t rows) {
  const size_t columns = values.size() / rows;
  std::vector<float> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[i % columns * rows + i / columns] = values[i];
  return result;
}

}  // namespace

lpt_rounding find_rounding(const std::string &name) { return value_named(kRoundings, "rounding", name); }

Trial make_trial(const std::string &format, const std::string &rule, const std::string &rounding,
                 const std::string &random) {
  Trial trial;
  trial.format = find_format(format);
  trial.description = describe(trial.format);
  trial.options = lpt_quantize_options LPT_QUANTIZE_OPTIONS_INIT;
  trial.options.scale_rule = value_named(kRules, "rule", rule);
  trial.options.rounding = find_rounding(rounding);
  if (random != "-") read_random(random, trial.options);
  return trial;
}

TrialResult run_trial(lpt_context *context, const Trial &trial, std::vector<float> values, int64_t rows,
                      bool is_transposed) {
  const auto columns = static_cast<int64_t>(values.size()) / rows;
  if (trial.is_plain() && !has_nan(trial)) {
    std::replace_if(
        values.begin(), values.end(), [](float value) { return std::isnan(value); }, 0.0f);
  }
  if (is_transposed) values = transposed_copy(values, static_cast<size_t>(rows));
  const Tensor source = wrap_matrix(context, LPT_FORMAT_F32, values.data(), is_transposed ? columns : rows,
                                    is_transposed ? rows : columns);
  const Tensor target = make_matrix(context, trial.format, rows, columns);
  check(context, lpt_quantize(context, source.get(), &trial.options, is_transposed ? nullptr : target.get(),
                              is_transposed ? target.get() : nullptr));
  TrialResult result;
  const std::vector<uint32_t> tensor_scale = numbers_of_part(context, target.get(), LPT_TENSOR_PART_TENSOR_SCALE);
  if (!tensor_scale.empty()) result.tensor_scale = tensor_scale.front();
  result.scales = numbers_of_part(context, target.get(), LPT_TENSOR_PART_BLOCK_SCALES);
  result.zero_points = numbers_of_part(context, target.get(), LPT_TENSOR_PART_ZERO_POINTS);
  result.codes = numbers_of_part(context, target.get(), LPT_TENSOR_PART_PAYLOAD);
  return result;
}

std::string first_difference(const char *what, const std::vector<uint32_t> &got, const Place &place,
                             const std::vector<uint32_t> &expected, const std::vector<float> *values) {
  if (got.size() != expected.size() * place.rows) {
    return fmt::format("{} {}s in {} rows: expected {}", got.size(), what, place.rows, expected.size() * place.rows);
  }
  const size_t begin = place.row * expected.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == kNotCompared || expected[i] == got[begin + i]) continue;
    std::string text = fmt::format("{} {} is {:02x}: expected {:02x}", what, i, got[begin + i], expected[i]);
    if (values != nullptr) text += fmt::format("; its source has the bits {:08x}", as_bits((*values)[i]));
    return text;
  }
  return "";
}

}  // namespace tool
