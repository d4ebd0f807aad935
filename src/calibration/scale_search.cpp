// Scales of the rule MSE, with errors that are weighted by the inputs.
#include <cmath>

#include "src/calibration/weights_fit.hpp"

namespace lpt {
namespace {

// Returns the candidates: scales of ratio · source. The first has the scales of the source. Ratios above 1 help where the largest
// elements are far apart: with 1.5, the largest magnitude becomes 4 instead of 6 in e2m1fn.
std::vector<float> ratios_of(const Format &format) {
  if (format.block_scale == LPT_FORMAT_E8M0FNU) return {1.0f, 0.5f, 0.25f, 0.125f};
  std::vector<float> ratios;
  for (int32_t i = 32; i > 16; --i) ratios.push_back(static_cast<float>(i) / 32.0f);
  if (format.element == LPT_FORMAT_E2M1FN) {
    for (int32_t i = 34; i <= 48; i += 2) ratios.push_back(static_cast<float>(i) / 32.0f);
  }
  return ratios;
}

struct ScaleSearch {
  const WeightFit &fit;
  MatrixView source, target, changed, decoded;
  const double *weights;      // of the squared errors of each column
  BlockGrid grid;             // one block without block scales
  std::vector<double> least;  // error of each block
  std::vector<float> chosen;  // ratio of each block

  // Calls body(row, block, first column, end) for the parts of all rows in blocks. Rows of one block run on one thread.
  template <typename Body>
  void for_each_part(const Body &body) const {
    const int64_t height = grid.block_rows, width = grid.block_columns;
    parallel_parts(fit.context, grid.rows, height * source.columns, [&](int64_t begin, int64_t count) {
      for (int64_t row = begin * height; row < std::min((begin + count) * height, source.rows); ++row) {
        for (int64_t i = 0; i < grid.columns; ++i) {
          const auto block = static_cast<size_t>(row / height * grid.columns + i);
          body(row, block, i * width, std::min((i + 1) * width, source.columns));
        }
      }
    });
  }

  // Casts the source with the scales of ratio(block) · source.
  template <typename Ratio>
  Status cast(bool keeps_tensor_scale, const Ratio &ratio) const {
    for_each_part([&](int64_t row, size_t block, int64_t begin, int64_t end) {
      const float *const from = WeightFit::floats(source, row), factor = ratio(block);
      float *const to = WeightFit::floats(changed, row);
      for (int64_t c = begin; c < end; ++c) to[c] = from[c] * factor;
    });
    LPT_TRY(cast_part(fit.context, changed, target, cast_of(fit, keeps_tensor_scale)));
    return cast_part(fit.context, source, target, fixed_cast(fit));
  }

  // Compares the codes of the target with the best ones.
  Status compare(float ratio) {
    LPT_TRY(decode_part(fit.context, target, decoded));
    std::vector<double> errors(least.size(), 0.0);
    for_each_part([&](int64_t row, size_t block, int64_t begin, int64_t end) {
      const float *const given = WeightFit::floats(source, row), *const found = WeightFit::floats(decoded, row);
      double sum = 0.0;
      for (int64_t c = begin; c < end; ++c) {
        const double difference = static_cast<double>(found[c]) - static_cast<double>(given[c]);
        sum += difference * difference * weights[c];
      }
      errors[block] += sum;
    });
    for (size_t i = 0; i < least.size(); ++i) {
      if (!(errors[i] < least[i])) continue;
      least[i] = errors[i];
      chosen[i] = ratio;
    }
    return {};
  }
};

}  // namespace

Status round_part(const WeightFit &fit, const MatrixView &source, const MatrixView &target, int64_t column,
                  bool keeps_tensor_scale) {
  const Format &format = target.format;
  if (!fit.searches_scales() || format.is_plain()) {
    return cast_part(fit.context, source, target, cast_of(fit, keeps_tensor_scale));
  }
  std::vector<double> weights(static_cast<size_t>(source.columns));
  const double damping = fit.options.damping * fit.mean_diagonal();
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t c = column + static_cast<int64_t>(i);
    weights[i] = fit.scaled_gram(c, c) + damping;
  }
  BlockGrid grid = {source.rows, source.columns, 1, 1};
  if (format.has_block_scale()) grid = block_grid(format, source.rows, source.columns);
  const auto blocks = static_cast<size_t>(grid.rows * grid.columns);
  ScaleSearch search{fit,
                     source,
                     target,
                     cut_columns(fit.image, 0, source.columns),
                     cut_columns(fit.decoded, 0, source.columns),
                     weights.data(),
                     grid,
                     std::vector<double>(blocks, HUGE_VAL),
                     std::vector<float>(blocks, 1.0f)};
  bool keeps = keeps_tensor_scale;
  for (const float ratio : ratios_of(format)) {
    LPT_TRY(search.cast(keeps, [&](size_t) { return ratio; }));
    LPT_TRY(search.compare(ratio));
    keeps = format.has_block_scale();
  }
  return search.cast(keeps, [&](size_t block) { return search.chosen[block]; });
}

}  // namespace lpt
