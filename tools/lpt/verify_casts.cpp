#include "verify_casts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "text.hpp"
#include "trial.hpp"

namespace tool {

namespace {

struct Vector {
  Trial trial;
  std::string source;
  std::vector<float> values;
  TrialResult expected;
};

// Returns "" if a row of a cast equals the vector.
std::string difference(const Vector &vector, const TrialResult &got, const Place &place) {
  const TrialResult &expected = vector.expected;
  if (got.tensor_scale != expected.tensor_scale) {
    return fmt::format("the tensor scale is {:08x}: expected {:08x}", got.tensor_scale, expected.tensor_scale);
  }
  std::string text = first_difference("scale", got.scales, place, expected.scales);
  if (text.empty()) text = first_difference("zero point", got.zero_points, place, expected.zero_points);
  if (text.empty()) text = first_difference("code", got.codes, place, expected.codes, &vector.values);
  return text;
}

std::vector<uint32_t> codes_of(const std::string &text) {
  std::vector<uint32_t> codes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const std::string digits = text.substr(i, 2);
    codes.push_back(digits == "--" ? kNotCompared : static_cast<uint32_t>(number(digits, 16)));
  }
  return codes;
}

// Columns: format, rule, rounding, random, source, oracle, tensor_scale, scales, zero_points, codes.
Vector read_vector(const std::vector<std::string> &row, const std::map<std::string, std::vector<float>> &sources) {
  Vector vector;
  vector.trial = make_trial(row[0], row[1], row[2], row[3]);
  vector.source = row[4];
  const auto source = sources.find(row[4]);
  if (source == sources.end()) throw Error(fmt::format("a vector has the source {}: there is none", in_quotes(row[4])));
  vector.values = source->second;
  if (row[6] != "-") vector.expected.tensor_scale = static_cast<uint32_t>(number(row[6], 16));
  vector.expected.scales = hex_numbers(row[7], vector.trial.description.block_scale == LPT_FORMAT_F32 ? 8 : 2);
  if (row[8] != "-") vector.expected.zero_points = hex_numbers(row[8], 2);
  vector.expected.codes = codes_of(row[9]);
  if (vector.expected.codes.size() != vector.values.size()) {
    throw Error(fmt::format("{} codes: expected one for each of {} numbers", vector.expected.codes.size(),
                            vector.values.size()));
  }
  return vector;
}

std::map<std::string, std::vector<float>> read_sources(const Vectors &vectors) {
  std::map<std::string, std::vector<float>> sources;
  for (const auto &row : vectors.rows) {
    for (const uint32_t bits : hex_numbers(row[1], 8)) sources[row[0]].push_back(as_float(bits));
  }
  return sources;
}

struct Layout {
  bool is_together, is_transposed;
  const char *text;
};
constexpr Layout kLayouts[] = {{false, false, "alone"},
                               {false, true, "alone, as the transposed output"},
                               {true, false, "as a row of a matrix"},
                               {true, true, "as a row of a transposed output"}};

// Vectors of one format, rule and rounding, and the first difference of each.
class VectorGroup {
 public:
  void add(Vector vector) {
    vectors_.push_back(std::move(vector));
    wrong_.emplace_back();
  }

  void reject(const std::string &why) { rejected_.add(false, why); }

  Tally run(lpt_context *context) {
    for (const Layout &layout : kLayouts) {
      if (!layout.is_together) {
        for (size_t i = 0; i < vectors_.size(); ++i) compare(context, i, i + 1, layout);
      } else if (can_stand_together()) {
        compare(context, 0, vectors_.size(), layout);
      }
    }
    Tally tally = rejected_;
    for (size_t i = 0; i < vectors_.size(); ++i) {
      tally.add(wrong_[i].empty(), fmt::format("{}, {}", vectors_[i].source, wrong_[i]));
    }
    return tally;
  }

 private:
  // Returns whether the vectors can be rows of one matrix: no tensor scale, no random bits, equal lengths.
  bool can_stand_together() const {
    if (vectors_.empty()) return false;
    const Trial &trial = vectors_.front().trial;
    if (trial.description.tensor_scale != LPT_FORMAT_NONE || trial.is_random()) return false;
    return std::all_of(vectors_.begin(), vectors_.end(),
                       [&](const Vector &vector) { return vector.values.size() == vectors_.front().values.size(); });
  }

  void compare(lpt_context *context, size_t begin, size_t end, const Layout &layout) {
    std::vector<float> values;
    for (size_t i = begin; i < end; ++i) {
      values.insert(values.end(), vectors_[i].values.begin(), vectors_[i].values.end());
    }
    TrialResult got;
    std::string rejection;
    try {
      got = run_trial(context, vectors_[begin].trial, std::move(values), static_cast<int64_t>(end - begin),
                      layout.is_transposed);
    } catch (const std::exception &error) {
      rejection = error.what();
    }
    for (size_t i = begin; i < end; ++i) {
      const std::string text = rejection.empty() ? difference(vectors_[i], got, {i - begin, end - begin}) : rejection;
      if (!text.empty() && wrong_[i].empty()) wrong_[i] = fmt::format("{}: {}", layout.text, text);
    }
  }

  std::vector<Vector> vectors_;
  std::vector<std::string> wrong_;  // of each vector
  Tally rejected_;                  // invalid vectors
};

}  // namespace

void verify_casts(lpt_context *context, const std::string &name, const Vectors &vectors, const Vectors &sources,
                  Report &report) {
  const std::map<std::string, std::vector<float>> numbers = read_sources(sources);
  std::map<std::string, VectorGroup> groups;
  for (const auto &row : vectors.rows) {
    const std::string rounding = row[2] == "nearest_even" ? "" : " " + row[2];
    const std::string what = fmt::format("{} {} {}{}", name, row[0], row[1], rounding);
    try {
      groups[what].add(read_vector(row, numbers));
    } catch (const std::exception &error) {
      groups[what].reject(fmt::format("{}: {}", in_quotes(row[4]), error.what()));
    }
  }
  for (auto &[what, group] : groups) report.add(what, group.run(context));
}

}  // namespace tool
