#include "drop_compute.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "random.hpp"
#include "ranks.hpp"

namespace lm {

namespace {

constexpr uint64_t kDelayStream = 0xDE1A1;  // distinct from the streams of the parameters and batches
constexpr double kMeanDelay = 0.5;          // of the time of a micro-batch, at factor 1
constexpr int kDelayLengths = 999;
constexpr double kLeastKept = 0.9;  // of the micro-batches: fewer would change the loss by more than half a percent
constexpr int kHalvings = 30;       // of an interval of thresholds

// Ends of the cumulative distribution of delay lengths 1 to 999: log-normal, mean 4 and deviation 1 of the logarithm.
struct DelayLengths {
  std::vector<double> ends;
  double mean = 0.0;

  DelayLengths() {
    double sum = 0.0;
    for (int i = 1; i <= kDelayLengths; ++i) {
      const double distance = std::log(i) - 4.0;
      const double weight = std::exp(-0.5 * distance * distance) / i;
      sum += weight;
      mean += weight * i;
      ends.push_back(sum);
    }
    mean /= sum;
  }
};

// Returns a random delay with mean 1.
double random_delay(uint64_t seed, uint64_t index) {
  static const DelayLengths lengths;
  const double unit = random_unit(seed, kDelayStream, index) * lengths.ends.back();
  const auto found = std::upper_bound(lengths.ends.begin(), lengths.ends.end(), unit);
  return static_cast<double>(std::min<int64_t>(found - lengths.ends.begin(), kDelayLengths - 1) + 1) / lengths.mean;
}

double seconds_between(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double mean_of(const std::vector<double> &numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

}  // namespace

MicroBatchClock::MicroBatchClock(const DropSettings &settings, int64_t micro_batches, uint64_t seed,
                                 const Parallel &parallel)
    : settings_(settings),
      micro_batches_(micro_batches),
      seed_(seed),
      parallel_(parallel),
      is_chosen_(!settings.is_enabled || settings.threshold > 0.0) {
  if (settings.is_enabled && settings.threshold > 0.0) {
    result_.threshold = settings.threshold;
  }
}

void MicroBatchClock::set_result(const DropResult &result) {
  result_ = result;
  is_chosen_ = is_chosen_ || result.first_step > 0;
}

bool MicroBatchClock::is_measuring() const { return !is_chosen_ && steps_ >= kDropWarmUpSteps; }

void MicroBatchClock::begin_step(int64_t step) {
  step_ = step;
  step_start_ = start_ = Clock::now();
}

void MicroBatchClock::begin_micro_batch(int64_t micro_batch) {
  start_ = micro_batch == 0 ? step_start_ : Clock::now();
  if ((settings_.stragglers > 0.0 || settings_.least > 0.0) && std::isfinite(least_seconds_)) {
    const int64_t index = (step_ * micro_batches_ + micro_batch) * parallel_.ranks + parallel_.rank;
    const double whole = std::max(settings_.least, least_seconds_);
    double delay = whole - least_seconds_ +
                   settings_.stragglers * kMeanDelay * whole * random_delay(seed_, static_cast<uint64_t>(index));
    delay = std::min(delay, std::max(result_.threshold - seconds_between(step_start_, start_), 0.0));
    std::this_thread::sleep_for(std::chrono::duration<double>(delay));
  }
  computing_ = Clock::now();
}

bool MicroBatchClock::is_over() const { return seconds_between(step_start_, Clock::now()) > result_.threshold; }

void MicroBatchClock::end_micro_batch() {
  const Clock::time_point now = Clock::now();
  least_seconds_ = std::min(least_seconds_, seconds_between(computing_, now));
  if (is_measuring()) {
    seconds_.push_back(seconds_between(start_, now));
  }
}

void MicroBatchClock::end_step(lpt_context *context) {
  if (is_measuring()) {
    step_seconds_.push_back(seconds_between(step_start_, Clock::now()));
  }
  ++steps_;
  if (!is_chosen_ && steps_ == kDropWarmUpSteps + kDropMeasuredSteps) {
    choose_threshold(context);
  }
}

void MicroBatchClock::choose_threshold(lpt_context *context) {
  const std::vector<double> seconds = parallel_.data->gather(context, seconds_);
  const double step_seconds = mean_of(parallel_.data->gather(context, step_seconds_));
  const auto ranks = static_cast<int32_t>(parallel_.ranks);
  const auto micro_batches = static_cast<int32_t>(micro_batches_);
  const auto fit = [&](double serial_seconds, double threshold) {
    lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
    check(context, lpt_drop_compute_fit(context, seconds.data(), ranks, kDropMeasuredSteps, micro_batches,
                                        serial_seconds, threshold, &info));
    return info;
  };
  // full_seconds without serial_seconds is the mean time of the slowest rank; the rest of a step is serial.
  const double serial = std::max(step_seconds - fit(0.0, 0.0).full_seconds, 0.0);
  lpt_drop_compute_info info = fit(serial, 0.0);
  if (info.kept_fraction < kLeastKept) {
    double low = info.threshold_seconds, high = low;
    while (fit(serial, high).kept_fraction < kLeastKept) {
      high *= 2.0;
    }
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = 0.5 * (low + high);
      (fit(serial, middle).kept_fraction < kLeastKept ? low : high) = middle;
    }
    info = fit(serial, high);
  }
  result_.first_step = step_ + 1;
  result_.speedup = std::max(info.speedup, 1.0);
  if (info.speedup > 1.0) {
    result_.threshold = info.threshold_seconds;
  }
  is_chosen_ = true;
  seconds_ = {};
  step_seconds_ = {};
}

}  // namespace lm
