// Factors of the input columns of a weight.
//
// Columns of the weight are multiplied by factors, and inputs divided by them. Candidates are powers of the root mean squares
// of the inputs (AWQ) and, with a sample of inputs, maxima(inputs)^ratio / maxima(weight)^(1 - ratio) (SmoothQuant).
#include <cmath>
#include <numeric>

#include "src/calibration/weights_fit.hpp"

namespace lpt {
namespace {

// Returns the largest magnitude of each column.
std::vector<double> maxima_of(const MatrixView &matrix) {
  std::vector<double> maxima(static_cast<size_t>(matrix.columns), 0.0);
  for (int64_t r = 0; r < matrix.rows; ++r) {
    const float *numbers = WeightFit::floats(matrix, r);
    for (size_t c = 0; c < maxima.size(); ++c) {
      maxima[c] = std::max(maxima[c], static_cast<double>(std::fabs(numbers[c])));
    }
  }
  return maxima;
}

// A family of candidates. Columns with a zero in either vector have a factor of 1.
struct FactorFamily {
  int32_t has_maxima;
  std::vector<double> inputs, weights;

  double factor(size_t column, double ratio) const {
    const double of_input = std::pow(inputs[column], ratio);
    return has_maxima != 0 ? of_input / std::pow(weights[column], 1.0 - ratio) : of_input;
  }
  bool is_used(size_t column) const { return inputs[column] > 0.0 && weights[column] > 0.0; }
};

void set_factors(const FactorFamily &family, double ratio, std::vector<float> &factors) {
  double least = HUGE_VAL, most = 0.0;
  for (size_t c = 0; c < factors.size(); ++c) {
    if (!family.is_used(c)) continue;
    least = std::min(least, family.factor(c, ratio));
    most = std::max(most, family.factor(c, ratio));
  }
  const double root = std::sqrt(least * most);
  for (size_t c = 0; c < factors.size(); ++c) {
    factors[c] = family.is_used(c) ? static_cast<float>(family.factor(c, ratio) / root) : 1.0f;
  }
}

}  // namespace

Status search_factors(WeightFit &fit, lpt_weights_fit_info &info) {
  std::vector<double> roots(static_cast<size_t>(fit.columns()));
  for (int64_t c = 0; c < fit.columns(); ++c) roots[static_cast<size_t>(c)] = std::sqrt(fit.diagonal(c));
  std::vector<FactorFamily> families = {{0, roots, std::vector<double>(roots.size(), 1.0)}};
  if (fit.sample.is_given()) families.push_back({1, maxima_of(fit.sample.inputs), maxima_of(fit.given)});
  double best = HUGE_VAL;
  std::vector<float> chosen(fit.factors.size(), 1.0f);
  int64_t done = 0;
  for (const FactorFamily &family : families) {
    for (int32_t i = 0; i < kFactorRatios; ++i) {
      const double ratio = static_cast<double>(i) / kFactorRatios;
      double error = 0.0;
      set_factors(family, ratio, fit.factors);
      fit.scale_weight();
      LPT_TRY(cast_part(fit.context, fit.scaled, fit.output, cast_of(fit)));
      LPT_TRY(fit.sample.is_given() ? sample_error(fit, error) : output_error(fit, error));
      LPT_TRY(fit.progress.report(++done, fit.candidates + fit.columns()));
      if (!(error < best)) continue;
      best = error;
      chosen = fit.factors;
      info.ratio = ratio;
      info.has_maxima = family.has_maxima;
    }
  }
  fit.factors = chosen;
  return {};
}

Status sample_error(WeightFit &fit, double &out_sum) {
  FitSample &sample = fit.sample;
  for_each_row(fit, sample.inputs, [&](int64_t row) {
    const float *inputs = WeightFit::floats(sample.inputs, row);
    float *divided = WeightFit::floats(sample.decoded, row);
    for (int64_t c = 0; c < fit.columns(); ++c) divided[c] = inputs[c] / fit.factors[static_cast<size_t>(c)];
  });
  if (fit.input_format.id != LPT_FORMAT_F32) {
    const Arena::Mark mark = fit.context.host_scratch->mark();
    LPT_TRY(cast_and_back(fit.context, sample.decoded, fit.input_format, sample.decoded, {}, false));
    fit.context.host_scratch->give_back(mark);
  }
  LPT_TRY(decode_part(fit.context, fit.output, fit.decoded));
  LPT_TRY(multiply(fit.context, sample.decoded, fit.decoded, sample.outputs, TransposedOperand::kB));
  std::vector<double> sums(static_cast<size_t>(sample.outputs.rows)), &means = sample.means;
  means.assign(static_cast<size_t>(fit.rows()), 0.0);
  for (int64_t row = 0; row < sample.outputs.rows; ++row) {
    float *outputs = WeightFit::floats(sample.outputs, row);
    const float *reference = WeightFit::floats(sample.reference, row);
    for (size_t i = 0; i < means.size(); ++i) {
      outputs[i] = reference[i] - outputs[i];
      means[i] += static_cast<double>(outputs[i]) / static_cast<double>(sample.outputs.rows);
    }
  }
  if (!fit.has_bias_change) means.assign(means.size(), 0.0);
  for_each_row(fit, sample.outputs, [&](int64_t row) {
    const float *differences = WeightFit::floats(sample.outputs, row);
    double sum = 0.0;
    for (size_t i = 0; i < means.size(); ++i) {
      const double difference = static_cast<double>(differences[i]) - means[i];
      sum += difference * difference;
    }
    sums[static_cast<size_t>(row)] = sum;
  });
  out_sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  return {};
}

}  // namespace lpt
