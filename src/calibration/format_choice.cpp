// One candidate for each of many tensors: the smallest sum of errors within a budget of bytes, the multiple-choice knapsack
// problem.
//
// Dynamic programming adds one tensor after the other. It keeps the partial sums that no other one is below in both bytes and
// error. A sum is dropped if it cannot lead to a smaller error than a known choice. The bound for the tensors that follow is
// the linear relaxation: their exchanges of a candidate for a larger one, in the order of error per byte, the last one in part.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/calibration/fit.hpp"
#include "src/call/operation.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostTensors = int64_t{1} << 14, kMostCandidates = 64;
constexpr int64_t kMostTensorBytes = int64_t{1} << 40;
constexpr double kMostError = 1e100;                            // so that no sum or product overflows
constexpr size_t kMostSums = size_t{1} << 20, kLeastSums = 64;  // of all tensors; of one tensor

struct Candidate {
  int64_t bytes;
  double error;
  int64_t index;
};

// Replaces a candidate of a tensor by the next larger one on the convex hull of its candidates.
struct Exchange {
  size_t tensor;
  int64_t added_bytes;
  double removed_error;
  size_t candidate;  // the larger one
};

// The bytes and the error of one candidate of each tensor so far.
struct PartialSum {
  int64_t bytes;
  double error;
  uint32_t parent, candidate;  // the sum of the tensors before, and the candidate of the last one
};

// Returns the candidates of a tensor with increasing bytes and decreasing errors.
std::vector<Candidate> useful_candidates(const FormatCandidates &given, int64_t tensor) {
  std::vector<Candidate> all, useful;
  for (int64_t i = 0; i < given.candidates; ++i) {
    const int64_t place = tensor * given.candidates + i;
    if (std::isfinite(given.errors[place])) all.push_back({given.bytes[place], given.errors[place], i});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate &a, const Candidate &b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.error < b.error;
  });
  for (const Candidate &one : all) {
    if (useful.empty() || one.error < useful.back().error) useful.push_back(one);
  }
  return useful;
}

// Appends the exchanges along the lower convex hull of the candidates, which remove less error per byte one after the other.
void append_exchanges(size_t tensor, const std::vector<Candidate> &candidates, std::vector<Exchange> &exchanges) {
  const auto rate = [&](size_t from, size_t to) {
    return (candidates[from].error - candidates[to].error) /
           static_cast<double>(candidates[to].bytes - candidates[from].bytes);
  };
  std::vector<size_t> hull;
  for (size_t i = 0; i < candidates.size(); ++i) {
    while (hull.size() > 1 && rate(hull[hull.size() - 2], hull.back()) <= rate(hull.back(), i)) hull.pop_back();
    hull.push_back(i);
  }
  for (size_t i = 1; i < hull.size(); ++i) {
    const Candidate &from = candidates[hull[i - 1]], &to = candidates[hull[i]];
    exchanges.push_back({tensor, to.bytes - from.bytes, from.error - to.error, hull[i]});
  }
}

// The linear relaxation of the tensors from `begin` on.
class Relaxation {
 public:
  Relaxation(const std::vector<std::vector<Candidate>> &tensors, const std::vector<Exchange> &exchanges, size_t begin) {
    for (size_t i = begin; i < tensors.size(); ++i) {
      least_bytes_ += tensors[i].front().bytes;
      first_error_ += tensors[i].front().error;
    }
    int64_t bytes = 0;
    double removed = 0.0;
    for (const Exchange &one : exchanges) {
      if (one.tensor < begin) continue;
      ends_.push_back(bytes += one.added_bytes);
      removed_.push_back(removed += one.removed_error);
    }
  }

  // Returns a lower bound of the error with so many bytes; infinity if the smallest candidates have more.
  double bound(int64_t bytes) const {
    const int64_t left = bytes - least_bytes_;
    if (left < 0) return std::numeric_limits<double>::infinity();
    const auto complete = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), left) - ends_.begin());
    const int64_t used = complete == 0 ? 0 : ends_[complete - 1];
    const double removed = complete == 0 ? 0.0 : removed_[complete - 1];
    if (complete == ends_.size()) return std::max(first_error_ - removed, 0.0);
    const double part = static_cast<double>(left - used) / static_cast<double>(ends_[complete] - used);
    return std::max(first_error_ - removed - part * (removed_[complete] - removed), 0.0);
  }

  int64_t least_bytes() const { return least_bytes_; }

 private:
  int64_t least_bytes_ = 0;
  double first_error_ = 0.0;
  std::vector<int64_t> ends_;    // sums of the bytes of exchanges
  std::vector<double> removed_;  // sums of their errors
};

class FormatChoice {
 public:
  FormatChoice(const FormatCandidates &given, int64_t budget) : budget_(budget) {
    for (int64_t i = 0; i < given.tensors; ++i) {
      tensors_.push_back(useful_candidates(given, i));
      append_exchanges(tensors_.size() - 1, tensors_.back(), exchanges_);
    }
    std::stable_sort(exchanges_.begin(), exchanges_.end(), [](const Exchange &a, const Exchange &b) {
      return a.removed_error * static_cast<double>(b.added_bytes) >
             b.removed_error * static_cast<double>(a.added_bytes);
    });
  }

  int64_t least_bytes() const { return Relaxation(tensors_, exchanges_, 0).least_bytes(); }

  void run() {
    choice_ = greedy_choice();
    error_ = error_of(choice_);
    bound_ = std::numeric_limits<double>::infinity();
    std::vector<std::vector<PartialSum>> sums(1, {{0, 0.0, 0, 0}});
    for (size_t i = 0; i < tensors_.size(); ++i) sums.push_back(add_tensor(i, sums.back()));
    // The sums of all tensors have increasing bytes and decreasing errors.
    if (!sums.back().empty() && sums.back().back().error < error_) {
      size_t place = sums.back().size() - 1;
      for (size_t i = tensors_.size(); i-- > 0;) {
        const PartialSum &sum = sums[i + 1][place];
        choice_[i] = sum.candidate;
        place = sum.parent;
      }
      error_ = error_of(choice_);
    }
    bound_ = std::min(bound_, error_);
  }

  void write(int64_t *out_choices, lpt_format_choose_info &out_info) const {
    for (size_t i = 0; i < tensors_.size(); ++i) {
      out_choices[i] = tensors_[i][choice_[i]].index;
      out_info.bytes += tensors_[i][choice_[i]].bytes;
    }
    out_info.error = error_;
    out_info.bound = bound_;
  }

 private:
  // Makes exchanges in their order as long as they are within the budget.
  std::vector<size_t> greedy_choice() const {
    std::vector<size_t> choice(tensors_.size(), 0);
    std::vector<bool> is_full(tensors_.size(), false);
    int64_t left = budget_ - least_bytes();
    for (const Exchange &one : exchanges_) {
      if (is_full[one.tensor]) continue;
      is_full[one.tensor] = one.added_bytes > left;
      if (is_full[one.tensor]) continue;
      choice[one.tensor] = one.candidate;
      left -= one.added_bytes;
    }
    return choice;
  }

  double error_of(const std::vector<size_t> &choice) const {
    double sum = 0.0;
    for (size_t i = 0; i < tensors_.size(); ++i) sum += tensors_[i][choice[i]].error;
    return sum;
  }

  std::vector<PartialSum> add_tensor(size_t tensor, const std::vector<PartialSum> &before) {
    const Relaxation rest(tensors_, exchanges_, tensor + 1);
    const auto bound_of = [&](const PartialSum &sum) { return sum.error + rest.bound(budget_ - sum.bytes); };
    std::vector<PartialSum> all, kept;
    for (size_t parent = 0; parent < before.size(); ++parent) {
      for (size_t i = 0; i < tensors_[tensor].size(); ++i) {
        const Candidate &one = tensors_[tensor][i];
        const PartialSum sum{before[parent].bytes + one.bytes, before[parent].error + one.error,
                             static_cast<uint32_t>(parent), static_cast<uint32_t>(i)};
        if (bound_of(sum) < error_) all.push_back(sum);
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const PartialSum &a, const PartialSum &b) {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.error < b.error;
    });
    for (const PartialSum &one : all) {
      if (kept.empty() || one.error < kept.back().error) kept.push_back(one);
    }
    const size_t limit = std::max(kMostSums / tensors_.size(), kLeastSums);
    if (kept.size() <= limit) return kept;
    std::vector<PartialSum> spread;  // of about equal distance, as sums with nearly equal bounds differ in bytes
    for (size_t i = 0; i < kept.size(); ++i) {
      if ((i + 1) * limit / kept.size() != i * limit / kept.size()) {
        spread.push_back(kept[i]);
      } else {
        bound_ = std::min(bound_, bound_of(kept[i]));
      }
    }
    return spread;
  }

  int64_t budget_;
  std::vector<std::vector<Candidate>> tensors_;
  std::vector<Exchange> exchanges_;  // of all tensors, those with the most error per byte first
  std::vector<size_t> choice_;       // the candidate of each tensor in the best choice that is known
  double error_ = 0.0, bound_ = 0.0;
};

Status check_error(int64_t place, double error) {
  if (error >= 0.0 && error <= kMostError) return {};
  return invalid("%s is %g: expected 0 to %g, or infinity", item("errors", place).c_str(), error, kMostError);
}

Status check_candidates(const FormatCandidates &given) {
  if (given.tensors < 0 || given.tensors > kMostTensors) {
    return invalid("tensor_count is %lld: expected 0 to %lld", number(given.tensors), number(kMostTensors));
  }
  if (given.candidates < 1 || given.candidates > kMostCandidates) {
    return invalid("candidate_count is %lld: expected 1 to %lld", number(given.candidates), number(kMostCandidates));
  }
  const int64_t count = given.tensors * given.candidates;
  if (count > 0 && given.errors == nullptr) return invalid("errors is NULL: expected %lld numbers", number(count));
  if (count > 0 && given.bytes == nullptr) return invalid("bytes is NULL: expected %lld numbers", number(count));
  for (int64_t i = 0; i < given.tensors; ++i) {
    bool is_possible = false;
    for (int64_t place = i * given.candidates; place < (i + 1) * given.candidates; ++place) {
      const bool is_excluded = given.errors[place] == std::numeric_limits<double>::infinity();
      if (!is_excluded) LPT_TRY(check_error(place, given.errors[place]));
      if (given.bytes[place] < 0 || given.bytes[place] > kMostTensorBytes) {
        return invalid("%s is %lld: expected 0 to %lld", item("bytes", place).c_str(), number(given.bytes[place]),
                       number(kMostTensorBytes));
      }
      is_possible = is_possible || !is_excluded;
    }
    if (!is_possible) {
      return invalid("errors of tensor %lld are all infinite: expected a finite one", number(i));
    }
  }
  return {};
}

}  // namespace

Status choose_formats(const FormatCandidates &given, int64_t budget, int64_t *out_choices,
                      lpt_format_choose_info &out_info) {
  LPT_TRY(check_candidates(given));
  if (out_choices == nullptr && given.tensors > 0) {
    return invalid("out_choices is NULL: expected memory of %lld numbers", number(given.tensors));
  }
  FormatChoice choice(given, budget);
  if (choice.least_bytes() > budget) {
    return invalid("budget_bytes is %lld: expected at least %lld, the bytes of the smallest candidates", number(budget),
                   number(choice.least_bytes()));
  }
  choice.run();
  choice.write(out_choices, out_info);
  return {};
}

}  // namespace lpt
