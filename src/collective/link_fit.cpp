#include <algorithm>

#include "src/call/operation.hpp"
#include "src/collective/cost.hpp"

namespace lpt {
namespace {

constexpr double kMostBytes = 0x1p62;
constexpr double kLeastSeconds = 1e-15, kMostMeasuredSeconds = 1e9;

Status check_measured(const double *bytes, const double *seconds, int64_t count) {
  if (bytes == nullptr) return invalid("bytes is NULL: expected %lld numbers", number(count));
  if (seconds == nullptr) return invalid("seconds is NULL: expected %lld numbers", number(count));
  if (count < 2) return invalid("count is %lld: expected 2 or more", number(count));
  for (int64_t i = 0; i < count; ++i) {
    LPT_TRY(check_finite(item("bytes", i).c_str(), bytes[i], 0.0, kMostBytes));
    LPT_TRY(check_finite(item("seconds", i).c_str(), seconds[i], kLeastSeconds, kMostMeasuredSeconds));
  }
  const auto [least, most] = std::minmax_element(bytes, bytes + count);
  if (*least != *most) return {};
  return invalid("bytes are %g everywhere: expected two different sizes, to tell latency and bandwidth apart", *least);
}

struct Fit {
  double alpha, beta;
};

// Least squares of (alpha + beta · bytes) / seconds - 1: each measurement is a row (1 / s, b / s) with the right side 1. The
// second column is made orthogonal to the first one: sizes may differ by a factor of 10^6, which normal equations square.
Fit fit_both(const double *bytes, const double *seconds, int64_t count) {
  double xx = 0.0, xy = 0.0, x = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double w = 1.0 / seconds[i];
    xx += w * w;
    xy += w * w * bytes[i];
    x += w;
  }
  const double mean = xy / xx;
  double rest = 0.0, total = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double z = (bytes[i] - mean) / seconds[i];
    rest += z * z;
    total += z;
  }
  const double beta = total / rest;
  return {x / xx - beta * mean, beta};
}

// Fits beta alone, with alpha = 0.
double fit_beta(const double *bytes, const double *seconds, int64_t count) {
  double yy = 0.0, y = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double z = bytes[i] / seconds[i];
    yy += z * z;
    y += z;
  }
  return y / yy;
}

}  // namespace

Status fit_link(const double *bytes, const double *seconds, int64_t count, lpt_cost_link &out_link) {
  LPT_TRY(check_measured(bytes, seconds, count));
  Fit fit = fit_both(bytes, seconds, count);
  if (!(fit.beta > 0.0)) {
    return invalid("seconds do not grow with bytes (%g s for each more): expected times that tell a bandwidth",
                   fit.beta);
  }
  if (fit.alpha < 0.0) fit = {0.0, fit_beta(bytes, seconds, count)};
  out_link = LPT_COST_LINK_INIT;
  out_link.latency_seconds = fit.alpha;
  out_link.bytes_per_second = 1.0 / fit.beta;
  return {};
}

}  // namespace lpt
