#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "trial.hpp"
#include "verify_casts.hpp"
#include "verify_elements.hpp"

namespace tool {

namespace {

// Columns: format, rule, rounding, random, set, tensor_scale, scale_digest, zero_point_digest, code_digest.
struct Digests {
  std::string tensor_scale, scales, zero_points, codes;

  bool operator==(const Digests &) const = default;
};

// Returns all finite f16 values. Index i has value number 25173 · i modulo their count, so that adjacent values are unrelated.
std::vector<float> mixed_halves(lpt_context *context) {
  std::vector<float> finite;
  const std::vector<float> all = Element(context, "f16").decode_all();
  std::copy_if(all.begin(), all.end(), std::back_inserter(finite), [](float value) { return value - value == 0.0f; });
  std::vector<float> mixed(finite.size());
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = finite[i * 25173 % finite.size()];
  return mixed;
}

constexpr int64_t kMixedRows = 62;

class DigestRow {
 public:
  DigestRow(lpt_context *context, const std::vector<std::string> &row)
      : context_(context),
        row_(row),
        trial_(make_trial(row[0], row[1], row[2], row[3])),
        expected_{row[5], row[6], row[7], row[8]},
        values_(row[4] == "f16_mixed" ? mixed_halves(context) : Element(context, row[0]).set_named(row[4])) {}

  bool has_set() const { return !values_.empty(); }

  // Returns "" if all layouts give the digests.
  std::string difference() const {
    for (const int64_t rows : {int64_t{1}, kMixedRows}) {
      for (const bool is_transposed : {false, true}) {
        if (trial_.is_plain() && (rows > 1 || is_transposed)) continue;
        if (trial_.is_random() && rows > 1 && is_transposed) continue;  // other indices, other bits
        const TrialResult got = cast(context_, rows, is_transposed);
        if (digests_of(got) != expected_) return reported(got, rows, is_transposed);
      }
    }
    return "";
  }

 private:
  TrialResult cast(lpt_context *context, int64_t rows, bool is_transposed) const {
    if (!trial_.is_plain()) return run_trial(context, trial_, values_, rows, is_transposed);
    TrialResult result;
    result.codes = Element(context, row_[0]).encode(values_, trial_);
    return result;
  }

  Digests digests_of(const TrialResult &result) const {
    const lpt_format_description &format = trial_.description;
    const int scale_bytes = format.block_scale == LPT_FORMAT_F32 ? 4 : 1;
    return {format.tensor_scale == LPT_FORMAT_NONE ? "-" : fmt::format("{:08x}", result.tensor_scale),
            format.block_scale == LPT_FORMAT_NONE ? "-" : digest_of(result.scales, scale_bytes),
            format.zero_point == LPT_FORMAT_NONE ? "-" : digest_of(result.zero_points, 1),
            digest_of(result.codes, format.element_bits > 8 ? 2 : 1)};
  }

  // Returns the error, and the first difference from the reference kernels if these are right.
  std::string reported(const TrialResult &got, int64_t rows, bool is_transposed) const {
    const Digests digests = digests_of(got);
    std::string text = fmt::format("{} {} of {} in {} row{}{}", row_[1], row_[2], row_[4], rows, rows == 1 ? "" : "s",
                                   is_transposed ? ", transposed" : "");
    if (row_[3] != "-") text += ", random bits " + row_[3];
    const auto compare = [&](const char *what, const std::string &have, const std::string &requested) {
      if (have != requested) text += fmt::format("; {} {}: expected {}", what, have, requested);
    };
    compare("tensor scale", digests.tensor_scale, expected_.tensor_scale);
    compare("digest of scales", digests.scales, expected_.scales);
    compare("digest of zero points", digests.zero_points, expected_.zero_points);
    compare("digest of codes", digests.codes, expected_.codes);
    return text + "; " + difference_to_plain_rows(got, rows, is_transposed);
  }

  std::string difference_to_plain_rows(const TrialResult &got, int64_t rows, bool is_transposed) const {
    const Context reference = make_context(0);
    check(reference.get(), lpt_context_set_isa(reference.get(), LPT_ISA_REFERENCE));
    const TrialResult plain = cast(reference.get(), rows, is_transposed);
    if (digests_of(plain) != expected_) return "the plain rows are wrong, too";
    for (const std::string &text : {first_difference("scale", got.scales, {}, plain.scales),
                                    first_difference("zero point", got.zero_points, {}, plain.zero_points),
                                    first_difference("code", got.codes, {}, plain.codes, &values_)}) {
      if (!text.empty()) return text + " by the plain rows, which are right";
    }
    return "the plain rows have another tensor scale, which is right";
  }

  lpt_context *context_;
  const std::vector<std::string> &row_;
  Trial trial_;
  Digests expected_;
  std::vector<float> values_;
};

}  // namespace

void verify_cast_digests(lpt_context *context, const std::string &name, const Vectors &vectors, Report &report) {
  std::map<std::string, Tally> tallies;
  for (const auto &row : vectors.rows) {
    std::string text;
    try {
      const DigestRow digests(context, row);
      if (!digests.has_set()) {
        report.leave_out(fmt::format("{} of {} in {}.csv", row[4], row[0], name));
        continue;
      }
      text = digests.difference();
    } catch (const std::exception &error) {
      text = error.what();
    }
    tallies[name + " " + row[0]].add(text.empty(), text);
  }
  for (const auto &[what, tally] : tallies) report.add(what, tally);
}

}  // namespace tool
