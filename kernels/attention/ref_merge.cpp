#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/merge.hpp"

namespace lpt {
namespace {

template <typename Number>
void merge_rows(const AttentionMerge &merge) {
  const auto *part = static_cast<const Number *>(merge.part);
  const auto *part_sums = static_cast<const Number *>(merge.part_log_sums);
  auto *output = static_cast<Number *>(merge.output);
  auto *log_sums = static_cast<Number *>(merge.log_sums);
  for (int64_t row = 0; row < merge.rows; ++row, part += merge.width, output += merge.width) {
    const Number greater = std::max(log_sums[row], part_sums[row]);
    if (greater == -std::numeric_limits<Number>::infinity()) continue;
    const Number first = std::exp(log_sums[row] - greater), second = std::exp(part_sums[row] - greater);
    const Number sum = first + second, keep = first / sum, more = second / sum;
    for (int64_t i = 0; i < merge.width; ++i) output[i] = keep * output[i] + more * part[i];
    log_sums[row] = greater + std::log(sum);
  }
}

template <typename Number>
void rescale_rows(const AttentionRescale &rescale) {
  const auto *log_sums = static_cast<const Number *>(rescale.log_sums);
  const auto *whole = static_cast<const Number *>(rescale.whole_log_sums);
  auto *row = static_cast<Number *>(rescale.probabilities);
  for (int64_t i = 0; i < rescale.rows; ++i, row += rescale.keys) {
    const bool is_empty = log_sums[i] == -std::numeric_limits<Number>::infinity();
    const Number factor = is_empty ? Number{0} : std::exp(log_sums[i] - whole[i]);
    for (int64_t j = 0; j < rescale.keys; ++j) row[j] *= factor;
  }
}

template <typename Number>
void score_gradient_rows(const AttentionScoreGradient &request) {
  const auto *probabilities = static_cast<const Number *>(request.probabilities);
  const auto *output = static_cast<const Number *>(request.output);
  const auto *given = static_cast<const Number *>(request.output_gradient);
  auto *gradient = static_cast<Number *>(request.gradient);
  const auto scale = static_cast<Number>(request.scale);
  for (int64_t i = 0; i < request.rows; ++i) {
    double sum = 0.0;
    for (int64_t c = 0; c < request.width; ++c) {
      sum += static_cast<double>(output[i * request.width + c]) * static_cast<double>(given[i * request.width + c]);
    }
    for (int64_t j = i * request.keys; j < (i + 1) * request.keys; ++j) {
      gradient[j] = scale * probabilities[j] * (gradient[j] - static_cast<Number>(sum));
    }
  }
}

template <typename Number>
void add(int64_t elements, const void *more, void *sum) {
  const auto *from = static_cast<const Number *>(more);
  auto *to = static_cast<Number *>(sum);
  for (int64_t i = 0; i < elements; ++i) to[i] += from[i];
}

}  // namespace

void merge_attention(const AttentionMerge &merge) {
  merge.format == LPT_FORMAT_F64 ? merge_rows<double>(merge) : merge_rows<float>(merge);
}

void rescale_probabilities(const AttentionRescale &rescale) {
  rescale.format == LPT_FORMAT_F64 ? rescale_rows<double>(rescale) : rescale_rows<float>(rescale);
}

void apply_score_gradient(const AttentionScoreGradient &request) {
  request.format == LPT_FORMAT_F64 ? score_gradient_rows<double>(request) : score_gradient_rows<float>(request);
}

void add_gradients(lpt_format format, int64_t elements, const void *more, void *sum) {
  format == LPT_FORMAT_F64 ? add<double>(elements, more, sum) : add<float>(elements, more, sum);
}

}  // namespace lpt
