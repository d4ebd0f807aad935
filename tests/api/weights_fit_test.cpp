// FittedLayer weights against GPTQ written from its definition in double. The tests round by lpt_quantize().
#include <numeric>

#include "tests/api/weights_fit_layer.hpp"

namespace lpt::test {
namespace {

using Numbers = std::vector<double>;

// Inverts a positive definite matrix by Gauss-Jordan elimination.
Numbers inverse_of(Numbers matrix, int64_t size) {
  Numbers result(static_cast<size_t>(size * size), 0.0);
  for (int64_t i = 0; i < size; ++i) result[static_cast<size_t>(i * size + i)] = 1.0;
  for (int64_t i = 0; i < size; ++i) {
    const double pivot = matrix[static_cast<size_t>(i * size + i)];
    for (int64_t j = 0; j < size; ++j) {
      matrix[static_cast<size_t>(i * size + j)] /= pivot;
      result[static_cast<size_t>(i * size + j)] /= pivot;
    }
    for (int64_t r = 0; r < size; ++r) {
      const double factor = matrix[static_cast<size_t>(r * size + i)];
      if (r == i || factor == 0.0) continue;
      for (int64_t j = 0; j < size; ++j) {
        matrix[static_cast<size_t>(r * size + j)] -= factor * matrix[static_cast<size_t>(i * size + j)];
        result[static_cast<size_t>(r * size + j)] -= factor * result[static_cast<size_t>(i * size + j)];
      }
    }
  }
  return result;
}

// The tensor whose blocks GPTQ of the test rounds: rows × one block, with its scales.
struct BlockCast {
  lpt_context *c;
  Tensor codes;
  int64_t width;

  BlockCast(lpt_context *context, lpt_format format, int64_t columns)
      : c(context), codes(make_tensor(context, format, kFitRows, columns)), width(columns) {}
  Numbers round(const Numbers &block, lpt_scale_rule rule) const {
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scale_rule = rule;
    const Tensor source = tensor_of(c, LPT_FORMAT_F32, kFitRows, width, block);
    EXPECT_TRUE(ok(c, lpt_quantize(c, source.get(), &options, codes.get(), nullptr)));
    return numbers_of(c, codes.get());
  }

  // Sets the scales of the rule MSE: those of ratio · block with the smallest error of each row. `weights` are of the columns.
  void set_best_scales(Numbers block, const double *weights, const std::vector<double> &ratios) const {
    for (double &number : block) number = static_cast<double>(static_cast<float>(number));
    std::vector<double> least(kFitRows, HUGE_VAL), best(kFitRows, 1.0);
    const auto scale_by = [&](const auto &ratio_of) {
      Numbers changed = block;
      for (size_t i = 0; i < changed.size(); ++i) changed[i] *= ratio_of(i / static_cast<size_t>(width));
      round(changed, LPT_SCALE_RULE_DEFAULT);
    };
    for (const double ratio : ratios) {
      scale_by([&](size_t) { return ratio; });
      const Numbers rounded = round(block, LPT_SCALE_RULE_FIXED);
      for (size_t r = 0; r < least.size(); ++r) {
        double error = 0;
        for (size_t i = 0; i < static_cast<size_t>(width); ++i) {
          const double difference =
              rounded[r * static_cast<size_t>(width) + i] - block[r * static_cast<size_t>(width) + i];
          error += difference * difference * weights[i];
        }
        if (error < least[r]) least[r] = error, best[r] = ratio;
      }
    }
    scale_by([&](size_t r) { return best[r]; });
  }
};

std::vector<double> ratios_of(const char *format) {
  if (format == std::string("mxfp4")) return {1, 0.5, 0.25, 0.125};
  std::vector<double> ratios;
  for (int32_t i = 32; i > 16; --i) ratios.push_back(i / 32.0);
  if (format == std::string("e2m1fn/1x16/e4m3fn")) {
    for (int32_t i = 34; i <= 48; i += 2) ratios.push_back(i / 32.0);
  }
  return ratios;
}

// GPTQ by its definition, for a format with blocks of `width` columns: remove the first column of the rest from the inverse in
// each step, without a Cholesky factor. Scales have the rule MSE if there are ratios.
Numbers gptq_in_double(lpt_context *c, const FitLayer &layer, lpt_format format, int64_t width,
                       const std::vector<int64_t> &order, bool has_given_scales, const std::vector<double> &ratios) {
  const int64_t columns = layer.columns;
  Numbers damped = layer.gram, weight = layer.weight, decoded(weight.size());
  double mean = 0;
  for (int64_t i = 0; i < columns; ++i) mean += layer.at(i, i) / static_cast<double>(columns);
  for (int64_t i = 0; i < columns; ++i) damped[static_cast<size_t>(i * columns + i)] += 0.01 * mean;
  Numbers inverse = inverse_of(damped, columns);
  const auto block_of = [&](const Numbers &from, int64_t begin) {
    Numbers block;
    for (int64_t r = 0; r < kFitRows; ++r) {
      for (int64_t i = begin; i < std::min(begin + width, columns); ++i)
        block.push_back(from[static_cast<size_t>(r * columns + i)]);
    }
    return block;
  };
  std::vector<BlockCast> casts;
  Numbers diagonal_of_damped;
  for (int64_t i = 0; i < columns; ++i) diagonal_of_damped.push_back(damped[static_cast<size_t>(i * columns + i)]);
  const auto set_scales = [&](const BlockCast &cast, int64_t begin) {
    const Numbers block = block_of(weight, begin);
    if (ratios.empty()) cast.round(block, LPT_SCALE_RULE_DEFAULT);
    if (!ratios.empty()) cast.set_best_scales(block, diagonal_of_damped.data() + begin, ratios);
  };
  for (int64_t begin = 0; begin < columns; begin += width) {
    casts.emplace_back(c, format, std::min(width, columns - begin));
    set_scales(casts.back(), begin);
  }
  std::vector<bool> has_started(casts.size(), has_given_scales);
  for (const int64_t column : order) {
    const int64_t begin = column / width * width;
    const BlockCast &cast = casts[static_cast<size_t>(column / width)];
    if (!has_started[static_cast<size_t>(column / width)]) set_scales(cast, begin);
    has_started[static_cast<size_t>(column / width)] = true;
    const Numbers rounded = cast.round(block_of(weight, begin), LPT_SCALE_RULE_FIXED);
    const double diagonal = inverse[static_cast<size_t>(column * columns + column)];
    for (int64_t r = 0; r < kFitRows; ++r) {
      const size_t at = static_cast<size_t>(r * columns + column);
      decoded[at] = rounded[static_cast<size_t>(r * cast.width + column - begin)];
      const double error = (weight[at] - decoded[at]) / diagonal;
      for (int64_t i = 0; i < columns; ++i)
        weight[static_cast<size_t>(r * columns + i)] -= error * inverse[static_cast<size_t>(column * columns + i)];
      weight[at] = decoded[at];
    }
    // Eliminates the column from the inverse of the columns that are left.
    const Numbers row(inverse.begin() + column * columns, inverse.begin() + (column + 1) * columns);
    for (int64_t i = 0; i < columns; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        inverse[static_cast<size_t>(i * columns + j)] -=
            row[static_cast<size_t>(i)] * row[static_cast<size_t>(j)] / diagonal;
      }
    }
  }
  return decoded;
}

std::vector<int64_t> order_of(const FitLayer &layer, lpt_weights_fit_order order, int64_t width) {
  std::vector<int64_t> places(static_cast<size_t>(layer.columns));
  std::iota(places.begin(), places.end(), 0);
  const auto most = [&](int64_t block) {
    double largest = 0;
    for (int64_t i = block * width; i < std::min((block + 1) * width, layer.columns); ++i)
      largest = std::max(largest, layer.at(i, i));
    return (block + 1) * width > layer.columns ? 0.0 : largest;
  };
  if (order == LPT_WEIGHTS_FIT_ORDER_COLUMNS) return places;
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    const bool is_split = order == LPT_WEIGHTS_FIT_ORDER_BLOCKS && a / width != b / width;
    return is_split ? most(a / width) > most(b / width) : layer.at(a, a) > layer.at(b, b);
  });
  return places;
}

constexpr lpt_weights_fit_order kOrders[] = {LPT_WEIGHTS_FIT_ORDER_COLUMNS, LPT_WEIGHTS_FIT_ORDER_DIAGONAL,
                                             LPT_WEIGHTS_FIT_ORDER_BLOCKS};

TEST(WeightsFit, GptqIsItsDefinition) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  // Scales of rows, of groups, with zero points, and powers of two. 200 columns: two steps, and a block that is not full.
  const std::pair<const char *, int64_t> formats[] = {
      {"int4_1x32", 32}, {"uint4_1x32", 32}, {"mxfp4", 32}, {"e4m3fn_1x128", 128}, {"e2m1fn/1x16/e4m3fn", 16}};
  for (const auto &[name, width] : formats) {
    lpt_format format = LPT_FORMAT_NONE;
    ASSERT_TRUE(ok(c, lpt_format_from_name(c, name, &format)));
    for (const lpt_weights_fit_order order : kOrders) {
      for (const auto &[columns, rule] : {std::pair{40, LPT_SCALE_RULE_DEFAULT}, std::pair{200, LPT_SCALE_RULE_DEFAULT},
                                          std::pair{40, LPT_SCALE_RULE_MSE}, std::pair{200, LPT_SCALE_RULE_MSE}}) {
        SCOPED_TRACE(std::string(name) + " order " + std::to_string(order) + " columns " + std::to_string(columns) +
                     " rule " + std::to_string(rule));
        const FitLayer layer(columns);
        lpt_weights_fit_options options = gptq_options(order);
        options.scale_rule = rule;
        const FittedLayer fitted = fit_layer(c, layer, format, options);
        const bool is_mse = rule == LPT_SCALE_RULE_MSE;
        const Numbers expected =
            gptq_in_double(c, layer, format, width, order_of(layer, order, width),
                           order == LPT_WEIGHTS_FIT_ORDER_DIAGONAL, is_mse ? ratios_of(name) : std::vector<double>());
        EXPECT_EQ(expected, fitted.decoded);
        EXPECT_NEAR(layer.error(fitted.decoded), fitted.info.fitted_error, 1e-4 * fitted.info.fitted_error);
        EXPECT_LT(fitted.info.fitted_error, fitted.info.nearest_error);
      }
    }
  }
}

TEST(WeightsFit, RuleMseWeighsErrorsByTheInputs) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  // Blocks of several rows, scales of the tensor, and both kinds of scales.
  for (const char *name :
       {"int4_1x32", "uint4_1x32", "int4/row/f32", "int8_tensor", "e4m3fn_tensor", "nvfp4", "nvfp4_16x16", "mxfp4"}) {
    SCOPED_TRACE(name);
    lpt_format format = LPT_FORMAT_NONE;
    ASSERT_TRUE(ok(c, lpt_format_from_name(c, name, &format)));
    FitLayer layer(72);
    for (double &number : layer.weight) number = number * number * number;  // outliers
    const auto weighted_error = [&](const Numbers &decoded) {
      double sum = 0;
      for (size_t i = 0; i < decoded.size(); ++i) {
        const auto column = static_cast<int64_t>(i) % layer.columns;
        sum += (decoded[i] - layer.weight[i]) * (decoded[i] - layer.weight[i]) * layer.at(column, column);
      }
      return sum;
    };
    lpt_weights_fit_options options = gptq_options();
    options.method = LPT_WEIGHTS_FIT_METHOD_NEAREST;
    options.damping = 0;
    const FittedLayer plain = fit_layer(c, layer, format, options);
    options.scale_rule = LPT_SCALE_RULE_MSE;
    const FittedLayer fitted = fit_layer(c, layer, format, options);
    lpt_quantize_options unweighted = LPT_QUANTIZE_OPTIONS_INIT;
    unweighted.scale_rule = LPT_SCALE_RULE_MSE;
    const Tensor source = tensor_of(c, LPT_FORMAT_F32, kFitRows, layer.columns, layer.weight),
                 codes = make_tensor(c, format, kFitRows, layer.columns);
    EXPECT_LT(weighted_error(fitted.decoded), weighted_error(plain.decoded));
    const bool has_rule = lpt_quantize(c, source.get(), &unweighted, codes.get(), nullptr) == LPT_OK;
    EXPECT_EQ(name != std::string("uint4_1x32"), has_rule);
    const double of_unweighted = has_rule ? weighted_error(numbers_of(c, codes.get())) : HUGE_VAL;
    EXPECT_LE(weighted_error(fitted.decoded), of_unweighted);
    EXPECT_EQ(fitted.info.nearest_error, fitted.info.fitted_error);
    options.method = LPT_WEIGHTS_FIT_METHOD_GPTQ;
    options.order = LPT_WEIGHTS_FIT_ORDER_BLOCKS;
    EXPECT_LT(fit_layer(c, layer, format, options).info.fitted_error, 0.95 * fitted.info.fitted_error);
  }
}

TEST(WeightsFit, GptqOfIndependentInputsRoundsToNearest) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  FitLayer layer(130);
  for (int64_t i = 0; i < layer.columns; ++i) {
    for (int64_t j = 0; j < layer.columns; ++j) layer.at(i, j) = i == j ? 3.0 : 0.0;
  }
  int32_t checked = 0;
  for (int32_t i = 0; i < lpt_format_count(); ++i) {
    const lpt_format format = lpt_format_at(i);
    const lpt_format_description facts = describe(format);
    const bool is_index = format == LPT_FORMAT_INT32 || format == LPT_FORMAT_INT64;
    if (facts.sparse_kept != 0 || is_index) continue;
    const Tensor source = tensor_of(c, LPT_FORMAT_F32, kFitRows, layer.columns, layer.weight);
    const Tensor nearest = make_tensor(c, format, kFitRows, layer.columns);
    if (lpt_quantize(c, source.get(), nullptr, nearest.get(), nullptr) != LPT_OK) continue;
    const Numbers expected = numbers_of(c, nearest.get());
    if (std::any_of(expected.begin(), expected.end(), [](double x) { return std::isnan(x); })) continue;  // no sign
    ++checked;
    for (const lpt_weights_fit_order order : kOrders) {
      const FittedLayer fitted = fit_layer(c, layer, format, gptq_options(order));
      EXPECT_EQ(expected, fitted.decoded) << name_of(format) << " order " << order;
    }
  }
  EXPECT_GT(checked, 50);
}

TEST(WeightsFit, FollowsTheReferenceByItsDefinition) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  FitLayer layer(72);
  const int64_t size = layer.columns;
  // gram is of the inputs, the reference has other ones: cross_gram is not symmetric.
  const Numbers noise = draw_normal(310, size * size, 0.02);
  Numbers cross = layer.gram;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      double &number = cross[static_cast<size_t>(i * size + j)];
      for (int64_t k = 0; k < size; ++k) number += noise[static_cast<size_t>(i * size + k)] * layer.at(k, j);
      number = static_cast<double>(static_cast<float>(number));
    }
  }
  const Tensor cross_gram = tensor_of(c, LPT_FORMAT_F64, size, size, cross);
  lpt_weights_fit_options options = gptq_options(LPT_WEIGHTS_FIT_ORDER_BLOCKS);
  options.cross_gram = cross_gram.get();
  options.method = LPT_WEIGHTS_FIT_METHOD_NEAREST;
  const FittedLayer exact = fit_layer(c, layer, LPT_FORMAT_F32, options);
  // weight · (cross_gram + d) · inverse(gram + d)
  double damping = 0;
  for (int64_t i = 0; i < size; ++i) damping += 0.01 * layer.at(i, i) / static_cast<double>(size);
  Numbers damped = layer.gram;
  for (int64_t i = 0; i < size; ++i) {
    damped[static_cast<size_t>(i * size + i)] += damping;
    cross[static_cast<size_t>(i * size + i)] += damping;
  }
  const Numbers inverse = inverse_of(damped, size);
  const auto times = [&](const Numbers &left, const Numbers &right) {
    Numbers result(left.size(), 0.0);
    for (size_t at = 0; at < result.size(); ++at) {
      const size_t row = at / static_cast<size_t>(size), column = at % static_cast<size_t>(size);
      for (size_t k = 0; k < static_cast<size_t>(size); ++k)
        result[at] += left[row * static_cast<size_t>(size) + k] * right[k * static_cast<size_t>(size) + column];
    }
    return result;
  };
  const Numbers expected = times(times(layer.weight, cross), inverse);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(expected[i], exact.decoded[i], 2e-7 * std::abs(expected[i]) + 1e-9) << i;
  EXPECT_EQ(0.0, exact.info.fitted_error);
  EXPECT_GT(exact.info.nearest_error, 1e-4);
  // The other methods fit that weight.
  for (const bool has_factors : {false, true}) {
    options.method = LPT_WEIGHTS_FIT_METHOD_GPTQ;
    const FittedLayer followed = fit_layer(c, layer, LPT_FORMAT_INT4_1X32, options, has_factors);
    FitLayer other = layer;
    other.weight = exact.decoded;
    const FittedLayer direct =
        fit_layer(c, other, LPT_FORMAT_INT4_1X32, gptq_options(LPT_WEIGHTS_FIT_ORDER_BLOCKS), has_factors);
    EXPECT_EQ(direct.bytes, followed.bytes) << has_factors;
    EXPECT_EQ(direct.info.fitted_error, followed.info.fitted_error);
    EXPECT_GT(followed.info.nearest_error, direct.info.nearest_error);
  }
}

TEST(WeightsFit, IsIndependentOfThreads) {
  const FitLayer layer(200);
  std::vector<FittedLayer> found;
  for (const int threads : {1, 3}) {
    const Context context = make_context(threads);
    found.push_back(
        fit_layer(context.get(), layer, LPT_FORMAT_NVFP4, gptq_options(LPT_WEIGHTS_FIT_ORDER_BLOCKS), true));
  }
  EXPECT_EQ(found[0].bytes, found[1].bytes);
  EXPECT_EQ(found[0].info.fitted_error, found[1].info.fitted_error);
  EXPECT_LT(found[0].info.fitted_error, found[0].info.nearest_error);
}

TEST(WeightsFit, RoundsColumnsWithoutInputsToNearest) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  FitLayer layer(64);
  for (int64_t i = 0; i < layer.columns; ++i) layer.at(5, i) = layer.at(i, 5) = 0.0;
  const FittedLayer fitted = fit_layer(c, layer, LPT_FORMAT_E4M3FN_ROW, gptq_options(), true);
  const Tensor nearest = tensor_of(c, LPT_FORMAT_E4M3FN_ROW, kFitRows, layer.columns, layer.weight);
  EXPECT_EQ(1.0, fitted.factors[5]);
  const FittedLayer without = fit_layer(c, layer, LPT_FORMAT_E4M3FN_ROW, gptq_options());
  for (int64_t r = 0; r < kFitRows; ++r) {
    const size_t at = static_cast<size_t>(r * layer.columns + 5);
    EXPECT_EQ(numbers_of(c, nearest.get())[at], without.decoded[at]) << r;
  }
}

TEST(WeightsFit, RoundsToNearestWithoutInputs) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  FitLayer layer(64);
  for (double &number : layer.gram) number = 0.0;
  const FittedLayer fitted = fit_layer(c, layer, LPT_FORMAT_NVFP4, gptq_options(), true);
  EXPECT_EQ(numbers_of(c, tensor_of(c, LPT_FORMAT_NVFP4, kFitRows, 64, layer.weight).get()), fitted.decoded);
  EXPECT_EQ(Numbers(64, 1.0), fitted.factors);
  EXPECT_EQ(0.0, fitted.info.fitted_error);
}

TEST(WeightsFit, KeepsNanInItsRow) {
  const Context context = make_context(1);
  for (const lpt_scale_rule rule : {LPT_SCALE_RULE_DEFAULT, LPT_SCALE_RULE_MSE}) {
    FitLayer layer(64);
    lpt_weights_fit_options options = gptq_options();
    options.scale_rule = rule;
    const FittedLayer clean = fit_layer(context.get(), layer, LPT_FORMAT_INT4_1X32, options);
    layer.weight[64 + 3] = NAN;
    const FittedLayer fitted = fit_layer(context.get(), layer, LPT_FORMAT_INT4_1X32, options);
    EXPECT_TRUE(std::isnan(fitted.decoded[64 + 3]) && std::isnan(fitted.info.fitted_error));
    for (size_t i = 0; i < clean.decoded.size(); ++i) {
      if (i / 64 == 1) continue;
      ASSERT_EQ(clean.decoded[i], fitted.decoded[i]) << i;
    }
  }
}

TEST(WeightsFit, RejectsNanThatTheFormatCannotKeep) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  FitLayer layer(32);
  layer.weight[2 * 32 + 7] = NAN;
  const Tensor weight = tensor_of(c, LPT_FORMAT_F32, kFitRows, 32, layer.weight),
               output = make_tensor(c, LPT_FORMAT_INT8_TENSOR, kFitRows, 32),
               gram = tensor_of(c, LPT_FORMAT_F64, 32, 32, layer.gram);
  const std::vector<uint8_t> before = bytes_of(c, output.get());
  for (const lpt_weights_fit_method method : {LPT_WEIGHTS_FIT_METHOD_NEAREST, LPT_WEIGHTS_FIT_METHOD_GPTQ}) {
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    options.method = method;
    EXPECT_EQ(LPT_INVALID_ARGUMENT,
              lpt_weights_fit(c, weight.get(), gram.get(), &options, output.get(), nullptr, nullptr, nullptr));
    expect_words({"weight[2][7] is nan", "finite number, since int8_tensor has no NaN"}, lpt_context_error(c));
    EXPECT_EQ(before, bytes_of(c, output.get()));
  }
}

TEST(WeightsFit, RaisesTheDampingOfASingularMatrix) {
  const Context context = make_context(1);
  FitLayer layer(64);
  for (double &number : layer.gram) number = 2.0;  // inputs with equal columns
  lpt_weights_fit_options options = gptq_options();
  options.damping = 0.0;
  const FittedLayer fitted = fit_layer(context.get(), layer, LPT_FORMAT_E4M3FN_ROW, options);
  EXPECT_GT(fitted.info.damping, 0.0);
  EXPECT_LT(fitted.info.damping, 1e-6);
  EXPECT_LT(fitted.info.fitted_error, fitted.info.nearest_error);
}

TEST(WeightsFit, RejectsWhatDoesNotFit) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  const FitLayer layer(32);
  const Tensor weight = tensor_of(c, LPT_FORMAT_F32, kFitRows, 32, layer.weight),
               output = make_tensor(c, LPT_FORMAT_NVFP4, kFitRows, 32),
               gram = tensor_of(c, LPT_FORMAT_F64, 32, 32, layer.gram), factors = make_tensor(c, LPT_FORMAT_F32, {32});
  const std::vector<uint8_t> codes = bytes_of(c, output.get());
  const auto reject = [&](lpt_status status, const Tensor &of_inputs, const Tensor &target, const Tensor &vector,
                          const lpt_weights_fit_options &options, const std::vector<const char *> &words) {
    EXPECT_EQ(status, lpt_weights_fit(c, weight.get(), of_inputs.get(), &options, target.get(), vector.get(), nullptr,
                                      nullptr));
    expect_words(words, lpt_context_error(c));
    EXPECT_TRUE(status == LPT_CANCELLED || codes == bytes_of(c, output.get())) << words[0];
  };
  const auto changed = [&](int64_t i, int64_t j, double number) {
    FitLayer other = layer;
    other.at(i, j) = number;
    return tensor_of(c, LPT_FORMAT_F64, 32, 32, other.gram);
  };
  const auto with = [](auto change) {
    lpt_weights_fit_options options = LPT_WEIGHTS_FIT_OPTIONS_INIT;
    change(options);
    return options;
  };
  const lpt_weights_fit_options plain = gptq_options();
  reject(LPT_INVALID_ARGUMENT, make_tensor(c, LPT_FORMAT_F32, 32, 31), output, factors, plain,
         {"gram is 32 x 31", "32 x 32"});
  reject(LPT_UNSUPPORTED, make_tensor(c, LPT_FORMAT_BF16, 32, 32), output, factors, plain,
         {"gram is bf16", "f32 or f64"});
  reject(LPT_INVALID_ARGUMENT, changed(2, 4, NAN), output, factors, plain, {"gram[2][4] is nan", "finite"});
  reject(LPT_INVALID_ARGUMENT, changed(3, 3, -1.0), output, factors, plain, {"gram[3][3] is -1", "at least 0"});
  reject(LPT_INVALID_ARGUMENT, changed(3, 4, 1e30), output, factors, plain, {"gram is not positive semidefinite"});
  reject(LPT_INVALID_ARGUMENT, gram, make_tensor(c, LPT_FORMAT_NVFP4, kFitRows, 48), factors, plain,
         {"output is 24 x 48"});
  reject(LPT_UNSUPPORTED, gram, make_tensor(c, LPT_FORMAT_INT32, kFitRows, 32), factors, plain, {"output is int32"});
  reject(LPT_INVALID_ARGUMENT, gram, weight, factors, plain, {"output", "overlaps weight"});
  reject(LPT_INVALID_ARGUMENT, gram, output, make_tensor(c, LPT_FORMAT_F32, {31}), plain,
         {"input_factors is 31", "32"});
  reject(LPT_INVALID_ARGUMENT, gram, output, factors, with([](auto &o) { o.method = 2; }), {"method is 2", "0 to 1"});
  reject(LPT_INVALID_ARGUMENT, gram, output, factors, with([](auto &o) { o.order = 3; }), {"order is 3", "0 to 2"});
  reject(LPT_INVALID_ARGUMENT, gram, output, factors, with([](auto &o) { o.damping = 2.0; }),
         {"damping is 2", "0 to 1"});
  reject(LPT_UNSUPPORTED, gram, output, factors, with([](auto &o) { o.scale_rule = LPT_SCALE_RULE_FIXED; }),
         {"scale_rule is FIXED"});
  reject(LPT_UNSUPPORTED, gram, output, factors, with([](auto &o) { o.scale_rule = LPT_SCALE_RULE_EVEN; }),
         {"scale_rule"});
  const auto with_cross = [&](const Tensor &cross_gram) {
    lpt_weights_fit_options options = plain;
    options.cross_gram = cross_gram.get();
    return options;
  };
  const Tensor narrow = make_tensor(c, LPT_FORMAT_F32, 32, 31), halves = make_tensor(c, LPT_FORMAT_BF16, 32, 32),
               infinite = changed(5, 2, HUGE_VAL);
  reject(LPT_INVALID_ARGUMENT, gram, output, factors, with_cross(narrow),
         {"options->cross_gram is 32 x 31", "32 x 32"});
  reject(LPT_UNSUPPORTED, gram, output, factors, with_cross(halves), {"options->cross_gram is bf16", "f32 or f64"});
  reject(LPT_INVALID_ARGUMENT, gram, output, factors, with_cross(infinite),
         {"options->cross_gram[5][2] is inf", "finite"});
  lpt_weights_fit_options checked = plain;
  checked.flags = LPT_CHECK_ONLY;
  EXPECT_TRUE(
      ok(c, lpt_weights_fit(c, weight.get(), gram.get(), &checked, output.get(), factors.get(), nullptr, nullptr)));
  ASSERT_TRUE(ok(c, lpt_context_set_progress(
                        c, [](void *, int64_t, int64_t) { return 1; }, nullptr)));
  reject(LPT_CANCELLED, gram, output, factors, plain, {"cancel"});
}

}  // namespace
}  // namespace lpt::test
