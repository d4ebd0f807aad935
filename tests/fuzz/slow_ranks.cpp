// The fuzz target of thresholds for slow ranks, corrections for delays, and estimates for lost packets. Bytes are read as calls
// with arbitrary tensors and numbers. Every call must return a documented status, an error must have a text, and all memory must
// be released.
#include <cmath>
#include <vector>

#include "tests/fuzz/call_values.hpp"

namespace {

constexpr int kMostCalls = 32;

class Caller : lpt::test::CallValues {
 public:
  using CallValues::CallValues;

  void run() {
    using Call = lpt_status (Caller::*)();
    static constexpr Call kCalls[] = {&Caller::create, &Caller::compensate, &Caller::fit, &Caller::estimate,
                                      &Caller::estimate_lossy};
    for (int calls = 0; calls < kMostCalls && !in_.is_at_end(); ++calls) {
      const size_t call = in_.byte() % std::size(kCalls);
      judge((this->*kCalls[call])(), call);
    }
  }

 private:
  lpt_status create() {
    const int64_t extents[] = {in_.below(40), in_.below(40)};
    const lpt_format format = in_.byte() % 4 != 0 ? dense() : this->format();
    lpt_tensor *made = nullptr;
    const lpt_status status = lpt_tensor_create(c_, format, 2, extents, &made);
    put(made, status);
    return status;
  }

  lpt_status compensate() {
    lpt_delay_options options = LPT_DELAY_OPTIONS_INIT;
    options.flags = in_.flags();
    options.strength = in_.real();
    options.norm = in_.choice(2);
    const lpt_tensor *own[3], *mean[3];
    lpt_tensor *gradients[3];
    const int64_t count = in_.below(5) - 1;
    for (int64_t i = 0; i < 3; ++i) {
      own[i] = maybe();
      mean[i] = tensor();
      gradients[i] = tensor();
    }
    return lpt_delay_compensate(c_, own, mean, count, &options, gradients);
  }

  lpt_status fit() {
    const int32_t ranks = in_.below(6), micro_batches = in_.below(6);
    const int64_t steps = in_.below(6);
    std::vector<double> seconds;
    for (int64_t i = 0; i < ranks * steps * micro_batches; ++i) {
      seconds.push_back(in_.byte() % 32 == 0 ? in_.real() : in_.byte() / 16.0);
    }
    const double serial = in_.real(), threshold = in_.real();
    lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
    return judged(lpt_drop_compute_fit(c_, seconds.data(), ranks, steps, micro_batches, serial, threshold, &info),
                  info);
  }

  lpt_status estimate() {
    const int32_t ranks = static_cast<int32_t>(in_.extent()), micro_batches = in_.below(16);
    const double mean = in_.real(), deviation = in_.real(), serial = in_.real(), threshold = in_.real();
    lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
    return judged(lpt_drop_compute_estimate(c_, ranks, micro_batches, mean, deviation, serial, threshold, &info), info);
  }

  lpt_status estimate_lossy() {
    const double loss = in_.byte() % 4 == 0 ? in_.real() : in_.byte() / 256.0;
    lpt_lossy_info info = LPT_LOSSY_INFO_INIT;
    const lpt_status status = lpt_lossy_estimate(c_, loss, static_cast<int32_t>(in_.extent()), &info);
    const bool is_right = std::isfinite(info.drift) && info.one_step_drift <= info.drift && info.mean_age >= 0.0 &&
                          std::isfinite(info.owner_weight) && info.other_weight >= 0.0 && info.other_weight <= 1.0 &&
                          std::isfinite(info.horvitz_thompson_variance);
    return is_right ? status : LPT_INTERNAL;
  }

  // A fraction is in [0, 1], and all results are numbers.
  static lpt_status judged(lpt_status status, const lpt_drop_compute_info &info) {
    const bool is_right = info.threshold_seconds >= 0.0 && info.kept_fraction >= 0.0 && info.kept_fraction <= 1.0 &&
                          info.speedup >= 0.0 && info.step_seconds <= info.full_seconds;
    return is_right ? status : LPT_INTERNAL;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return lpt::test::run_calls<Caller>(data, size);
}
