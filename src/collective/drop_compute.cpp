#include "src/collective/drop_compute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "src/call/operation.hpp"

namespace lpt {
namespace {

constexpr int64_t kMostTimedRanks = 1 << 20, kMostTimedSteps = 1 << 20, kMostMicroBatches = 1 << 12;
constexpr double kLeastMeanSeconds = 1e-15, kMostTimedSeconds = 1e9;
constexpr int kFitCandidates = 200;
constexpr int kModelCandidates = 2000, kRefinements = 100;
constexpr int kBisections = 80;  // halve an interval of 40 to less than the distance of two doubles

Status check_extent(const char *name, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return {};
  return invalid("%s is %lld: expected 1 to %lld", name, number(value), number(most));
}

Status check_step(double serial_seconds, double threshold_seconds) {
  LPT_TRY(check_finite("serial_seconds", serial_seconds, 0.0, kMostTimedSeconds));
  return check_finite("threshold_seconds", threshold_seconds, 0.0, kMostTimedSeconds);
}

lpt_drop_compute_info make_info(double threshold, double kept, double full_seconds, double step_seconds) {
  lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
  info.threshold_seconds = threshold;
  info.full_seconds = full_seconds;
  info.step_seconds = step_seconds;
  info.kept_fraction = kept;
  info.speedup = kept * full_seconds / step_seconds;
  return info;
}

// Returns the first of the fastest candidates. If none is faster than full steps, the threshold is infinite.
lpt_drop_compute_info fastest(const std::vector<lpt_drop_compute_info> &candidates) {
  const double full_seconds = candidates.front().full_seconds;
  lpt_drop_compute_info best = make_info(std::numeric_limits<double>::infinity(), 1.0, full_seconds, full_seconds);
  for (const lpt_drop_compute_info &candidate : candidates) {
    if (candidate.speedup > best.speedup) best = candidate;
  }
  return best;
}

// Measured times.

Status check_times(const MicroBatchTimes &times) {
  LPT_TRY(check_extent("ranks", times.ranks, kMostTimedRanks));
  LPT_TRY(check_extent("steps", times.steps, kMostTimedSteps));
  LPT_TRY(check_extent("micro_batches", times.micro_batches, kMostMicroBatches));
  const int64_t count = times.ranks * times.steps * times.micro_batches;
  if (times.seconds == nullptr) return invalid("seconds is NULL: expected %lld numbers", number(count));
  for (int64_t i = 0; i < count; ++i) {
    const double seconds = times.seconds[i];
    if (!(seconds >= 0.0 && seconds <= kMostTimedSeconds)) {
      return check_finite(item("seconds", i).c_str(), seconds, 0.0, kMostTimedSeconds);
    }
  }
  if (std::any_of(times.seconds, times.seconds + count, [](double seconds) { return seconds > 0.0; })) return {};
  return invalid("seconds are 0 everywhere: expected times of micro-batches");
}

// Calls visit(step, micro_batch, end) with the time from the begin of the step to the end of the micro-batch.
template <typename Visit>
void for_each_end(const MicroBatchTimes &times, const Visit &visit) {
  const double *seconds = times.seconds;
  for (int64_t rank = 0; rank < times.ranks; ++rank) {
    for (int64_t step = 0; step < times.steps; ++step) {
      double end = 0.0;
      for (int64_t i = 0; i < times.micro_batches; ++i) {
        end += *seconds++;
        visit(step, i, end);
      }
    }
  }
}

std::vector<double> candidates_of(const MicroBatchTimes &times) {
  double first = std::numeric_limits<double>::infinity(), last = 0.0;
  for_each_end(times, [&](int64_t, int64_t i, double end) {
    if (i == 0) first = std::min(first, end);
    last = std::max(last, end);
  });
  std::vector<double> candidates;
  for (int i = 0; i < kFitCandidates; ++i) {
    candidates.push_back(first + (last - first) * i / (kFitCandidates - 1));
  }
  if (candidates.front() == 0.0) candidates.erase(candidates.begin());
  return candidates;
}

// Returns the time of the slowest rank in each step.
std::vector<double> slowest_seconds(const MicroBatchTimes &times) {
  std::vector<double> slowest(static_cast<size_t>(times.steps), 0.0);
  for_each_end(times, [&](int64_t step, int64_t, double end) {
    double &seconds = slowest[static_cast<size_t>(step)];
    seconds = std::max(seconds, end);
  });
  return slowest;
}

// Returns the number of micro-batches that end at each candidate or before it. Candidates are ascending.
std::vector<int64_t> count_ends(const MicroBatchTimes &times, const std::vector<double> &candidates) {
  std::vector<int64_t> counts(candidates.size() + 1, 0);
  for_each_end(times, [&](int64_t, int64_t, double end) {
    ++counts[static_cast<size_t>(std::lower_bound(candidates.begin(), candidates.end(), end) - candidates.begin())];
  });
  for (size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
  return counts;
}

// Normal times.

// Returns x with P(X > x) = tail for a standard normal X; tail is in (0, 0.5].
double upper_quantile(double tail) {
  double low = 0.0, high = 40.0;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(middle / std::numbers::sqrt2) > tail ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// Mean of the maximum of R normal sums. With g the constant of Euler and Mascheroni, it is
// M mean + sqrt(M) deviation ((1 - g) quantile(1 - 1 / R) + g quantile(1 - 1 / (e R))).
double slowest_mean(const MicroBatchModel &model) {
  const auto micro_batches = static_cast<double>(model.micro_batches);
  if (model.ranks == 1) return micro_batches * model.mean_seconds;
  const double tail = 1.0 / static_cast<double>(model.ranks);
  constexpr double kGamma = std::numbers::egamma;
  const double deviations = (1.0 - kGamma) * upper_quantile(tail) + kGamma * upper_quantile(tail / std::numbers::e);
  return micro_batches * model.mean_seconds + std::sqrt(micro_batches) * model.deviation_seconds * deviations;
}

// Sum over m of the probability that m micro-batches end before the threshold, divided by M.
double kept_fraction(const MicroBatchModel &model, double threshold) {
  double sum = 0.0;
  for (int64_t i = 1; i <= model.micro_batches; ++i) {
    const auto count = static_cast<double>(i);
    const double rest = threshold - count * model.mean_seconds;
    const double deviation = std::sqrt(count) * model.deviation_seconds;
    sum += deviation > 0.0 ? 0.5 * std::erfc(-rest / (deviation * std::numbers::sqrt2)) : (rest >= 0.0 ? 1.0 : 0.0);
  }
  return sum / static_cast<double>(model.micro_batches);
}

}  // namespace

Status fit_threshold(const MicroBatchTimes &times, double serial_seconds, double threshold_seconds,
                     lpt_drop_compute_info &out_info) {
  LPT_TRY(check_step(serial_seconds, threshold_seconds));
  LPT_TRY(check_times(times));
  const bool is_given = threshold_seconds != 0.0;
  const std::vector<double> candidates = is_given ? std::vector<double>{threshold_seconds} : candidates_of(times);
  const std::vector<double> slowest = slowest_seconds(times);
  const std::vector<int64_t> counts = count_ends(times, candidates);
  const auto mean = [&](double threshold) {
    double sum = 0.0;
    for (const double seconds : slowest) sum += std::min(seconds, threshold);
    return sum / static_cast<double>(times.steps) + serial_seconds;
  };
  const auto count = static_cast<double>(times.ranks * times.steps * times.micro_batches);
  const double full_seconds = mean(std::numeric_limits<double>::infinity());
  std::vector<lpt_drop_compute_info> found;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double kept = static_cast<double>(counts[i]) / count;
    found.push_back(make_info(candidates[i], kept, full_seconds, mean(candidates[i])));
  }
  out_info = is_given ? found.front() : fastest(found);
  return {};
}

Status estimate_threshold(const MicroBatchModel &model, double serial_seconds, double threshold_seconds,
                          lpt_drop_compute_info &out_info) {
  LPT_TRY(check_extent("ranks", model.ranks, kMostTimedRanks));
  LPT_TRY(check_extent("micro_batches", model.micro_batches, kMostMicroBatches));
  LPT_TRY(check_finite("mean_seconds", model.mean_seconds, kLeastMeanSeconds, kMostTimedSeconds));
  LPT_TRY(check_finite("deviation_seconds", model.deviation_seconds, 0.0, kMostTimedSeconds));
  LPT_TRY(check_step(serial_seconds, threshold_seconds));
  const double slowest = slowest_mean(model);
  const auto at = [&](double threshold) {
    return make_info(threshold, kept_fraction(model, threshold), slowest + serial_seconds,
                     std::min(threshold, slowest) + serial_seconds);
  };
  if (threshold_seconds != 0.0) {
    out_info = at(threshold_seconds);
    return {};
  }
  // A threshold above the mean of the slowest rank drops micro-batches, but the model has no faster steps for it.
  std::vector<lpt_drop_compute_info> found;
  for (int i = 1; i <= kModelCandidates; ++i) found.push_back(at(slowest * i / kModelCandidates));
  const lpt_drop_compute_info best = fastest(found);
  found.assign(1, best);
  for (int i = -kRefinements + 1; i < kRefinements && std::isfinite(best.threshold_seconds); ++i) {
    const double distance = slowest / kModelCandidates;
    found.push_back(at(std::min(best.threshold_seconds + distance * i / kRefinements, slowest)));
  }
  out_info = fastest(found);
  return {};
}

}  // namespace lpt
