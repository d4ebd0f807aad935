#include <cmath>

#include "tests/api/bad_calls.hpp"

namespace lpt::test {
namespace {

struct FitArguments {
  std::vector<double> seconds = {1.0, 2.0, 1.0, 2.0};
  int32_t ranks = 2;
  int64_t steps = 1;
  int32_t micro_batches = 2;
  double serial = 0.0, threshold = 0.0;
};

template <typename Change>
lpt_status fit_threshold(World &w, Change change) {
  FitArguments given;
  change(given);
  lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
  const lpt_status status =
      lpt_drop_compute_fit(w.c, given.seconds.empty() ? nullptr : given.seconds.data(), given.ranks, given.steps,
                           given.micro_batches, given.serial, given.threshold, &info);
  EXPECT_EQ(0.0, info.full_seconds) << "written by a call that was rejected";
  return status;
}

struct ModelArguments {
  int32_t ranks = 4, micro_batches = 2;
  double mean = 1.0, deviation = 0.5, serial = 0.0, threshold = 0.0;
};

template <typename Change>
lpt_status estimate_threshold(World &w, Change change) {
  ModelArguments given;
  change(given);
  lpt_drop_compute_info info = LPT_DROP_COMPUTE_INFO_INIT;
  const lpt_status status = lpt_drop_compute_estimate(w.c, given.ranks, given.micro_batches, given.mean,
                                                      given.deviation, given.serial, given.threshold, &info);
  EXPECT_EQ(0.0, info.full_seconds) << "written by a call that was rejected";
  return status;
}

}  // namespace

const std::vector<BadCall> kDropComputeCalls = {
    {"drop_compute_fit: no ranks",
     LPT_INVALID_ARGUMENT,
     {"ranks is 0", "1 to 1048576"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.ranks = 0; }); }},
    {"drop_compute_fit: too many steps",
     LPT_INVALID_ARGUMENT,
     {"steps is 1048577", "1 to 1048576"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.steps = 1048577; }); }},
    {"drop_compute_fit: too many micro-batches",
     LPT_INVALID_ARGUMENT,
     {"micro_batches is 4097", "1 to 4096"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.micro_batches = 4097; }); }},
    {"drop_compute_fit: no times",
     LPT_INVALID_ARGUMENT,
     {"seconds is NULL", "4 numbers"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.seconds.clear(); }); }},
    {"drop_compute_fit: a negative time",
     LPT_INVALID_ARGUMENT,
     {"seconds[2] is -1"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.seconds[2] = -1.0; }); }},
    {"drop_compute_fit: a time that is no number",
     LPT_INVALID_ARGUMENT,
     {"seconds[3] is"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.seconds[3] = NAN; }); }},
    {"drop_compute_fit: an infinite time",
     LPT_INVALID_ARGUMENT,
     {"seconds[0] is inf"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.seconds[0] = INFINITY; }); }},
    {"drop_compute_fit: times of nothing",
     LPT_INVALID_ARGUMENT,
     {"seconds are 0 everywhere"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.seconds.assign(4, 0.0); }); }},
    {"drop_compute_fit: a negative serial time",
     LPT_INVALID_ARGUMENT,
     {"serial_seconds is -1"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.serial = -1.0; }); }},
    {"drop_compute_fit: a threshold that is no number",
     LPT_INVALID_ARGUMENT,
     {"threshold_seconds is"},
     [](World &w) { return fit_threshold(w, [](auto &a) { a.threshold = NAN; }); }},
    {"drop_compute_fit: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) {
       const double seconds[] = {1.0};
       return lpt_drop_compute_fit(w.c, seconds, 1, 1, 1, 0.0, 0.0, nullptr);
     }},
    {"drop_compute_estimate: too many ranks",
     LPT_INVALID_ARGUMENT,
     {"ranks is 1048577", "1 to 1048576"},
     [](World &w) { return estimate_threshold(w, [](auto &a) { a.ranks = 1048577; }); }},
    {"drop_compute_estimate: no micro-batches",
     LPT_INVALID_ARGUMENT,
     {"micro_batches is 0", "1 to 4096"},
     [](World &w) { return estimate_threshold(w, [](auto &a) { a.micro_batches = 0; }); }},
    {"drop_compute_estimate: a mean of nothing",
     LPT_INVALID_ARGUMENT,
     {"mean_seconds is 0"},
     [](World &w) { return estimate_threshold(w, [](auto &a) { a.mean = 0.0; }); }},
    {"drop_compute_estimate: a negative deviation",
     LPT_INVALID_ARGUMENT,
     {"deviation_seconds is -0.5"},
     [](World &w) { return estimate_threshold(w, [](auto &a) { a.deviation = -0.5; }); }},
    {"drop_compute_estimate: an infinite serial time",
     LPT_INVALID_ARGUMENT,
     {"serial_seconds is inf"},
     [](World &w) { return estimate_threshold(w, [](auto &a) { a.serial = INFINITY; }); }},
    {"drop_compute_estimate: a negative threshold",
     LPT_INVALID_ARGUMENT,
     {"threshold_seconds is -2"},
     [](World &w) { return estimate_threshold(w, [](auto &a) { a.threshold = -2.0; }); }},
    {"drop_compute_estimate: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_info is NULL"},
     [](World &w) { return lpt_drop_compute_estimate(w.c, 4, 2, 1.0, 0.5, 0.0, 0.0, nullptr); }},
};

}  // namespace lpt::test
