// Common parts of the recipe tests: every named recipe as its paper defines it, and a reference model of its layer.
// The model rotates with lpt_hadamard(), casts with lpt_quantize() and random bits from this file, and computes all other steps
// in double.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/api/linear.hpp"

namespace lpt::test {

struct CastModel {
  const char *format = nullptr;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  bool is_stochastic = false;
};

struct RecipeModel {
  const char *name;
  CastModel casts[6];
  lpt_linear_gemm_options gemms[3] = {LPT_LINEAR_GEMM_OPTIONS_INIT, LPT_LINEAR_GEMM_OPTIONS_INIT,
                                      LPT_LINEAR_GEMM_OPTIONS_INIT};
};

inline lpt_linear_gemm_options gemm_options(int32_t hadamard_size, lpt_hadamard_signs signs = LPT_HADAMARD_SIGNS_NONE,
                                            lpt_hadamard_axis axis = LPT_HADAMARD_AXIS_INNER,
                                            lpt_linear_source source = LPT_LINEAR_SOURCE_PLAIN, int32_t parts = 1) {
  lpt_linear_gemm_options options = LPT_LINEAR_GEMM_OPTIONS_INIT;
  options.hadamard_size = hadamard_size;
  options.hadamard_signs = signs;
  options.hadamard_axis = axis;
  options.source = source;
  options.parts = parts;
  return options;
}

inline std::vector<RecipeModel> recipe_models() {
  const CastModel bf16{"bf16"};
  const CastModel e4m3{"e4m3fn/tensor/f32", LPT_SCALE_RULE_AMAX}, e5m2{"e5m2/tensor/f32", LPT_SCALE_RULE_AMAX};
  // The first step, in which the scales are 1.
  const CastModel one4{"e4m3fn_tensor", LPT_SCALE_RULE_FIXED}, one5{"e5m2_tensor", LPT_SCALE_RULE_FIXED};
  const CastModel one5_random{"e5m2_tensor", LPT_SCALE_RULE_FIXED, true};
  const CastModel mxfp8{"e4m3fn/1x32/e8m0fnu", LPT_SCALE_RULE_ROUND_UP};
  const CastModel row{"e4m3fn/1x128/f32", LPT_SCALE_RULE_AMAX}, square{"e4m3fn/128x128/f32", LPT_SCALE_RULE_AMAX};
  const CastModel nv{"nvfp4", LPT_SCALE_RULE_NEAREST}, nv_random{"nvfp4", LPT_SCALE_RULE_NEAREST, true};
  const CastModel nv_square{"nvfp4_16x16", LPT_SCALE_RULE_NEAREST};
  const CastModel quest{"mxfp4", LPT_SCALE_RULE_QUEST_NEAREST};
  const CastModel roomy{"e2m1fn/1x32/e8m0fnu/f32", LPT_SCALE_RULE_THREE_QUARTERS};
  const CastModel roomy_random{"e2m1fn/1x32/e8m0fnu/f32", LPT_SCALE_RULE_THREE_QUARTERS, true};
  const CastModel sawb{"int4/tensor/f32", LPT_SCALE_RULE_SAWB};
  const CastModel int4_random{"int4/tensor/f32", LPT_SCALE_RULE_AMAX, true};
  const CastModel log_random{"e3m0/tensor/f32", LPT_SCALE_RULE_AMAX, true};
  const CastModel fine{"e2m3fn/tensor/f32", LPT_SCALE_RULE_AMAX}, wide{"e3m2fn/tensor/f32", LPT_SCALE_RULE_AMAX};
  const CastModel int8{"int8/tensor/f32", LPT_SCALE_RULE_AMAX};
  const CastModel plain4{"e4m3fn"}, plain5{"e5m2"};
  const lpt_linear_gemm_options none = LPT_LINEAR_GEMM_OPTIONS_INIT;
  const lpt_linear_gemm_options clipped =
      gemm_options(32, LPT_HADAMARD_SIGNS_RANDOM, LPT_HADAMARD_AXIS_INNER, LPT_LINEAR_SOURCE_FORWARD_CLIPPED);
  const lpt_linear_gemm_options parts =
      gemm_options(0, LPT_HADAMARD_SIGNS_NONE, LPT_HADAMARD_AXIS_INNER, LPT_LINEAR_SOURCE_FORWARD_CLIPPED, 2);
  lpt_linear_gemm_options twice = LPT_LINEAR_GEMM_OPTIONS_INIT;
  twice.draws = 2;
  lpt_linear_gemm_options unit = LPT_LINEAR_GEMM_OPTIONS_INIT;
  unit.output_scale = LPT_LINEAR_OUTPUT_SCALE_UNIT;
  return {
      {"f32", {}},
      {"bf16", {bf16, bf16, bf16, bf16, bf16, bf16}},
      {"fp8_trillion", {one4, one4, one5_random, one5, one5_random, one5}},
      {"fp8_current", {e4m3, e4m3, e5m2, e4m3, e5m2, e4m3}},
      {"mxfp8", {mxfp8, mxfp8, mxfp8, mxfp8, mxfp8, mxfp8}},
      {"fp8_block", {row, square, row, square, row, row}},
      {"fp4_all_the_way", {nv, nv, nv_random, nv, nv_random, nv_random}},
      {"nvfp4_pretrain",
       {nv, nv_square, nv_random, nv_square, nv_random, nv},
       {none, none, gemm_options(16, LPT_HADAMARD_SIGNS_FIXED)}},
      {"quartet_v1",
       {quest, quest, roomy_random, roomy_random, roomy_random, roomy_random},
       {gemm_options(32), clipped, clipped}},
      {"quartet_neurips", {quest, quest, roomy, roomy, roomy, roomy}, {gemm_options(32), clipped, clipped}},
      {"luq", {sawb, sawb, log_random, sawb, log_random, sawb}, {none, none, twice}},
      {"halo_0", {e4m3, e4m3, e4m3, e4m3, e4m3, e4m3}},
      {"halo_1", {fine, fine, wide, wide, wide, wide}, {gemm_options(LPT_HADAMARD_SIZE_DIVISOR), none, none}},
      {"halo_2",
       {int8, int8, int8, int8, int8, int8},
       {gemm_options(LPT_HADAMARD_SIZE_DIVISOR),
        gemm_options(LPT_HADAMARD_SIZE_DIVISOR, LPT_HADAMARD_SIGNS_NONE, LPT_HADAMARD_AXIS_ROWS), none}},
      {"coat", {e4m3, e4m3, e5m2, e4m3, e5m2, e4m3}},
      {"int4_hadamard_sawb", {sawb, sawb, int4_random, sawb, int4_random, sawb}, {gemm_options(32), parts, parts}},
      {"unit_scaling", {plain4, plain4, plain5, plain4, plain5, plain4}, {unit, unit, unit}},
  };
}

// A matrix of values in row order.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> v;
  double &at(int64_t r, int64_t c) { return v[static_cast<size_t>(r * columns + c)]; }
  double at(int64_t r, int64_t c) const { return v[static_cast<size_t>(r * columns + c)]; }
};

inline Matrix transpose(const Matrix &matrix) {
  return {matrix.columns, matrix.rows, transposed(matrix.v, matrix.rows, matrix.columns)};
}

// Random bits, by the documentation of random numbers.

inline uint32_t philox_bits(uint64_t key, uint64_t index, uint32_t stream, uint32_t step) {
  const uint64_t block = index / 8;
  uint32_t c[4] = {static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), stream, step};
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 7; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * c[0], b = uint64_t{0xCD9E8D57u} * c[2];
    const uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                              static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    std::copy(next, next + 4, c);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c[index % 8 / 2] >> (16 * (index % 2)) & 0xFFFFu;
}

// Returns the bits of a matrix, lowest byte first. Element (r, c) has the index first + r · columns + c.
inline std::vector<uint8_t> bits_of(const lpt_random &random, uint32_t role, uint64_t first, int64_t rows,
                                    int64_t columns) {
  std::vector<uint8_t> words(static_cast<size_t>(2 * rows * columns));
  for (size_t i = 0; i < words.size() / 2; ++i) {
    const uint32_t bits = philox_bits(random.seed, first + i, 2u << 28 | random.stream << 4 | role, random.step);
    words[2 * i] = static_cast<uint8_t>(bits);
    words[2 * i + 1] = static_cast<uint8_t>(bits >> 8);
  }
  return words;
}

inline std::vector<uint8_t> transpose_bits(const std::vector<uint8_t> &words, int64_t rows, int64_t columns) {
  std::vector<uint8_t> result(words.size());
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int64_t to = i % columns * rows + i / columns;
    for (int64_t b = 0; b < 2; ++b) result[static_cast<size_t>(2 * to + b)] = words[static_cast<size_t>(2 * i + b)];
  }
  return result;
}

// Rotations.

// Returns the columns of a group: `size`, or by LPT_HADAMARD_SIZE_DIVISOR the largest power of two that divides the axis.
inline int32_t group_size(int32_t size, int64_t columns) {
  if (size != LPT_HADAMARD_SIZE_DIVISOR) return size;
  const auto power = static_cast<int32_t>(columns & -columns);
  return power < 16 ? 16 : power > 8192 ? 8192 : power;
}

inline std::vector<double> signs_of(const lpt_linear_gemm_options &rule, lpt_linear_gemm gemm, const lpt_random &random,
                                    int64_t count) {
  static constexpr int kFixed[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
  std::vector<double> signs(static_cast<size_t>(count), 1.0);
  for (int64_t i = 0; i < count; ++i) {
    if (rule.hadamard_signs == LPT_HADAMARD_SIGNS_FIXED) signs[static_cast<size_t>(i)] = kFixed[i % 16];
    if (rule.hadamard_signs != LPT_HADAMARD_SIGNS_RANDOM) continue;
    const uint32_t stream = 6u << 28 | random.stream << 4 | static_cast<uint32_t>(gemm);
    const auto index = static_cast<uint64_t>(i % group_size(rule.hadamard_size, count));
    signs[static_cast<size_t>(i)] = (philox_bits(random.seed, index, stream, random.step) & 1) != 0 ? -1.0 : 1.0;
  }
  return signs;
}

// Rotates the columns in f32, as the input of a cast.
inline Matrix rotate(lpt_context *c, const Matrix &matrix, int32_t size, const std::vector<double> &signs) {
  if (size == 0) return matrix;
  const Tensor source = wrap(c, matrix.v, matrix.rows, matrix.columns);
  const Tensor target = make_tensor(c, LPT_FORMAT_F32, matrix.rows, matrix.columns);
  const Tensor vector = vector_of(c, LPT_FORMAT_INT8, signs);
  lpt_hadamard_options options = LPT_HADAMARD_OPTIONS_INIT;
  options.size = group_size(size, matrix.columns);
  options.signs = vector.get();
  EXPECT_TRUE(ok(c, lpt_hadamard(c, source.get(), &options, target.get())));
  return {matrix.rows, matrix.columns, numbers_of(c, target.get())};
}

// Rotates the columns back, in double. Magnitudes are added.
inline Matrix rotate_back(const Matrix &matrix, int32_t size, const std::vector<double> &signs, bool is_magnitude) {
  if (size == 0) return matrix;
  Matrix result = matrix;
  for (int64_t r = 0; r < matrix.rows; ++r) {
    for (int64_t begin = 0; begin < matrix.columns;) {
      int64_t group = group_size(size, matrix.columns);
      while (group > matrix.columns - begin) group /= 2;
      for (int64_t i = 0; i < group; ++i) {
        double sum = 0.0;
        for (int64_t j = 0; j < group; ++j) {
          const bool is_minus = !is_magnitude && __builtin_popcountll(static_cast<unsigned long long>(i & j)) % 2 != 0;
          sum += is_minus ? -matrix.at(r, begin + j) : matrix.at(r, begin + j);
        }
        const double sign = is_magnitude ? 1.0 : signs[static_cast<size_t>(begin + i)];
        result.at(r, begin + i) = sign * sum / std::sqrt(static_cast<double>(group));
      }
      begin += group;
    }
  }
  return result;
}

// A layer.

struct Shape3 {
  int64_t rows, input, output;
};

// Results of the model: values, and magnitudes that bound the error of f32 sums.
struct Modelled {
  ExactGemm y, dx, dw, db;
};

class LayerModel {
 public:
  LayerModel(lpt_context *context, const RecipeModel &recipe, const Shape3 &shape, const lpt_random &prepare,
             const lpt_random &call)
      : c_(context), recipe_(recipe), shape_(shape), prepare_(prepare), call_(call) {}

  // Leaves operands with a stochastic cast unrounded. This is the mean of the stochastic casts.
  void leave_stochastic() { leaves_stochastic_ = true; }

  Modelled run(const Matrix &x, const Matrix &w, const Matrix &dy) {
    Modelled result;
    const lpt_linear_gemm_options &forward = recipe_.gemms[0];
    const std::vector<double> forward_signs = signs_of(forward, 0, prepare_, shape_.input);
    const Cast a = cast(LPT_LINEAR_CAST_FORWARD_INPUT, rotate(c_, x, forward.hadamard_size, forward_signs), call_);
    const Cast b = cast(LPT_LINEAR_CAST_FORWARD_WEIGHT, rotate(c_, w, forward.hadamard_size, forward_signs), prepare_);
    result.y = gemm(a.decoded, transpose(b.decoded), unit(0));

    Matrix w_backward = source(1) == LPT_LINEAR_SOURCE_PLAIN ? w : b.decoded;
    const bool is_kept_w = source(1) != LPT_LINEAR_SOURCE_PLAIN &&
                           is_same(LPT_LINEAR_CAST_DGRAD_WEIGHT, LPT_LINEAR_CAST_FORWARD_WEIGHT) &&
                           recipe_.gemms[1].hadamard_size == 0;
    result.dx = end(dgrad(dy, w_backward, is_kept_w), 1, a.is_inside, forward_signs);

    Matrix x_backward = source(2) == LPT_LINEAR_SOURCE_PLAIN ? x : a.decoded;
    const bool is_kept_x = source(2) != LPT_LINEAR_SOURCE_PLAIN &&
                           is_same(LPT_LINEAR_CAST_WGRAD_INPUT, LPT_LINEAR_CAST_FORWARD_INPUT) &&
                           recipe_.gemms[2].hadamard_size == 0;
    result.dw = end(wgrad(dy, x_backward, is_kept_x), 2, b.is_inside, forward_signs);
    result.db = gemm({1, shape_.rows, std::vector<double>(static_cast<size_t>(shape_.rows), 1.0)}, dy, unit(2));
    return result;
  }

 private:
  struct Cast {
    Matrix decoded;
    std::vector<bool> is_inside;  // not saturated
  };

  lpt_linear_source source(int which) const { return recipe_.gemms[which].source; }

  bool is_same(lpt_linear_cast a, lpt_linear_cast b) const {
    const CastModel &one = recipe_.casts[a], &other = recipe_.casts[b];
    return one.format == nullptr || (std::string(one.format) == other.format && one.rule == other.rule &&
                                     one.is_stochastic == other.is_stochastic);
  }

  double unit(int which) const {
    if (recipe_.gemms[which].output_scale != LPT_LINEAR_OUTPUT_SCALE_UNIT) return 1.0;
    return 1.0 / std::sqrt(static_cast<double>(which == 2 ? shape_.rows : shape_.input));
  }

  static ExactGemm gemm(const Matrix &a, const Matrix &b, double factor) {
    ExactGemm result = multiply(a.v, b.v, a.rows, b.columns, a.columns);
    for (double &value : result.value) value *= factor;
    for (double &value : result.magnitude) value *= factor;
    return result;
  }

  // Casts a matrix along its columns and decodes it. If `is_transposed`, its random bits are those of the transposed matrix.
  Cast cast(lpt_linear_cast which, const Matrix &matrix, const lpt_random &random, bool is_transposed = false,
            int draw = 0, bool is_first_part = false) const {
    static constexpr uint32_t kRoles[6] = {0, 1, 2, 1, 2, 0};
    const CastModel &model = recipe_.casts[which];
    Cast result{matrix, std::vector<bool>(matrix.v.size(), true)};
    if (model.format == nullptr || (model.is_stochastic && leaves_stochastic_ && !is_first_part)) return result;
    const Tensor source = wrap(c_, matrix.v, matrix.rows, matrix.columns);
    const Tensor target = make_tensor(c_, format_named(model.format), matrix.rows, matrix.columns);
    const uint32_t role = draw == 0 ? kRoles[which] : 8u + static_cast<uint32_t>(draw % 8);
    const uint64_t first = uint64_t{static_cast<uint32_t>(draw / 8)} << 61;
    std::vector<uint8_t> words = is_transposed ? bits_of(random, role, first, matrix.columns, matrix.rows)
                                               : bits_of(random, role, first, matrix.rows, matrix.columns);
    if (is_transposed) words = transpose_bits(words, matrix.columns, matrix.rows);
    const Tensor bits = wrap(c_, LPT_FORMAT_UINT8, words.data(), matrix.rows, 2 * matrix.columns);
    lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
    options.scale_rule = model.rule;
    options.rounding = model.is_stochastic && !is_first_part ? LPT_ROUNDING_STOCHASTIC : LPT_ROUNDING_NEAREST_EVEN;
    options.random_words = bits.get();
    EXPECT_TRUE(ok(c_, lpt_quantize(c_, source.get(), &options, target.get(), nullptr)));
    result.decoded.v = numbers_of(c_, target.get());
    look_for_clips(target.get(), matrix, result);
    return result;
  }

  void look_for_clips(const lpt_tensor *codes, const Matrix &matrix, Cast &result) const {
    const lpt_format format = describe(c_, codes).format;
    const lpt_format_description parts = describe(format);
    std::vector<double> scales;
    int64_t across = 1;
    if (parts.block_scale != LPT_FORMAT_NONE) {
      const Tensor part = part_of(c_, codes, LPT_TENSOR_PART_BLOCK_SCALES);
      across = shape_of(c_, part.get()).columns;
      scales = numbers_of(c_, part.get());
    }
    const double tensor = parts.tensor_scale != LPT_FORMAT_NONE ? static_cast<double>(tensor_scale_of(c_, codes)) : 1.0;
    for (int64_t r = 0; r < matrix.rows; ++r) {
      for (int64_t c = 0; c < matrix.columns; ++c) {
        const double block =
            scales.empty() ? 1.0 : scales[static_cast<size_t>(r / parts.block_rows * across + c / parts.block_columns)];
        // A value that exceeds the range by a rounding of the scale is not counted as saturated.
        const double most = parts.largest * block * tensor * (1.0 + 0x1p-24);
        result.is_inside[static_cast<size_t>(r * matrix.columns + c)] = std::abs(matrix.at(r, c)) <= most;
      }
    }
  }

  // Casts dy along its columns, with draws and parts.
  Matrix cast_gradient(int which, const Matrix &dy, bool is_transposed) const {
    const lpt_linear_gemm_options &rule = recipe_.gemms[which];
    Matrix sum = dy, rest = dy;
    std::fill(sum.v.begin(), sum.v.end(), 0.0);
    if (rule.parts == 2) {
      const Matrix part = cast(2 * which, dy, call_, is_transposed, 0, true).decoded;
      for (size_t i = 0; i < sum.v.size(); ++i) {
        sum.v[i] = part.v[i];
        rest.v[i] = static_cast<double>(static_cast<float>(dy.v[i]) - static_cast<float>(part.v[i]));
      }
    }
    for (int draw = 0; draw < rule.draws; ++draw) {
      const Matrix one = cast(2 * which, rest, call_, is_transposed, draw).decoded;
      for (size_t i = 0; i < sum.v.size(); ++i) sum.v[i] += one.v[i] / rule.draws;
    }
    return sum;
  }

  bool has_blocks(lpt_linear_cast which) const {
    const char *format = recipe_.casts[which].format;
    return format != nullptr && describe(format_named(format)).block_scale != LPT_FORMAT_NONE;
  }

  ExactGemm dgrad(const Matrix &dy, const Matrix &w, bool is_kept) const {
    const lpt_linear_gemm_options &rule = recipe_.gemms[1];
    if (rule.hadamard_size != 0 && rule.hadamard_axis == LPT_HADAMARD_AXIS_ROWS) {
      const std::vector<double> signs = signs_of(rule, 1, prepare_, shape_.rows);
      const Matrix transposed_copy = rotate(c_, transpose(dy), rule.hadamard_size, signs);
      const Matrix a = transpose(cast(LPT_LINEAR_CAST_DGRAD_GRADIENT, transposed_copy, call_).decoded);
      const ExactGemm plain = gemm(a, cast(LPT_LINEAR_CAST_DGRAD_WEIGHT, w, prepare_).decoded, unit(1));
      const Matrix value{shape_.rows, shape_.input, plain.value}, magnitude{shape_.rows, shape_.input, plain.magnitude};
      return {transpose(rotate_back(transpose(value), rule.hadamard_size, signs, false)).v,
              transpose(rotate_back(transpose(magnitude), rule.hadamard_size, signs, true)).v};
    }
    const std::vector<double> signs = signs_of(rule, 1, prepare_, shape_.output);
    const Matrix a = cast_gradient(1, rotate(c_, dy, rule.hadamard_size, signs), false);
    const bool is_transposed = has_blocks(LPT_LINEAR_CAST_DGRAD_WEIGHT) || rule.hadamard_size != 0;
    const Matrix along = rotate(c_, transpose(w), rule.hadamard_size, signs);  // input × output
    if (is_kept) return gemm(a, w, unit(1));
    const Matrix b =
        is_transposed ? transpose(cast(LPT_LINEAR_CAST_DGRAD_WEIGHT, along, prepare_, rule.hadamard_size == 0).decoded)
                      : cast(LPT_LINEAR_CAST_DGRAD_WEIGHT, w, prepare_).decoded;
    return gemm(a, b, unit(1));
  }

  ExactGemm wgrad(const Matrix &dy, const Matrix &x, bool is_kept) const {
    const lpt_linear_gemm_options &rule = recipe_.gemms[2];
    const std::vector<double> signs = signs_of(rule, 2, call_, shape_.rows);
    const bool is_rotated = rule.hadamard_size != 0;
    const Matrix dy_along = rotate(c_, transpose(dy), rule.hadamard_size, signs);  // output × rows
    const Matrix a = has_blocks(LPT_LINEAR_CAST_WGRAD_GRADIENT) || is_rotated ? cast_gradient(2, dy_along, !is_rotated)
                                                                              : transpose(cast_gradient(2, dy, false));
    if (is_kept) return gemm(a, x, unit(2));
    const Matrix x_along = rotate(c_, transpose(x), rule.hadamard_size, signs);
    const Matrix b = has_blocks(LPT_LINEAR_CAST_WGRAD_INPUT) || is_rotated
                         ? transpose(cast(LPT_LINEAR_CAST_WGRAD_INPUT, x_along, call_, !is_rotated).decoded)
                         : cast(LPT_LINEAR_CAST_WGRAD_INPUT, x, call_).decoded;
    return gemm(a, b, unit(2));
  }

  // Sets the gradient of saturated elements to zero, and undoes the rotation of forward.
  ExactGemm end(const ExactGemm &given, int which, const std::vector<bool> &is_inside,
                const std::vector<double> &signs) const {
    if (source(which) == LPT_LINEAR_SOURCE_PLAIN) return given;
    ExactGemm masked = given;
    for (size_t i = 0; i < masked.value.size() && source(which) == LPT_LINEAR_SOURCE_FORWARD_CLIPPED; ++i) {
      if (!is_inside[i]) masked.value[i] = masked.magnitude[i] = 0.0;
    }
    const int32_t size = recipe_.gemms[0].hadamard_size;
    const int64_t rows = which == 1 ? shape_.rows : shape_.output;
    return {rotate_back({rows, shape_.input, masked.value}, size, signs, false).v,
            rotate_back({rows, shape_.input, masked.magnitude}, size, signs, true).v};
  }

  lpt_context *c_;
  const RecipeModel &recipe_;
  Shape3 shape_;
  lpt_random prepare_, call_;
  bool leaves_stochastic_ = false;
};

// The layer under test.

inline lpt_random random_of(uint64_t key, uint32_t stream, uint32_t step) { return {key, 0, 0, stream, step}; }

struct Layer {
  lpt_context *c;
  Shape3 shape;
  Recipe recipe;
  Linear linear;
  Tensor x, w, dy, y, dx, dw, db, saved;
  lpt_linear_options prepare = LPT_LINEAR_OPTIONS_INIT, call = LPT_LINEAR_OPTIONS_INIT;
  Matrix x_numbers, w_numbers, dy_numbers;

  Layer(lpt_context *context, const char *name, const Shape3 &given, uint64_t place)
      : c(context), shape(given), recipe(make_recipe(context, name)) {
    x_numbers = {shape.rows, shape.input, draw_normal(place, shape.rows * shape.input)};
    w_numbers = {shape.output, shape.input, draw_normal(place + 1, shape.output * shape.input)};
    dy_numbers = {shape.rows, shape.output, draw_normal(place + 2, shape.rows * shape.output)};
    prepare.random = random_of(3, 4, 5);
    call.random = random_of(6, 7, 8);
    x = tensor_of(c, LPT_FORMAT_F32, shape.rows, shape.input, x_numbers.v);
    w = tensor_of(c, LPT_FORMAT_F32, shape.output, shape.input, w_numbers.v);
    dy = tensor_of(c, LPT_FORMAT_F32, shape.rows, shape.output, dy_numbers.v);
    y = make_tensor(c, LPT_FORMAT_F32, shape.rows, shape.output);
    dx = make_tensor(c, LPT_FORMAT_F32, shape.rows, shape.input);
    dw = make_tensor(c, LPT_FORMAT_F32, shape.output, shape.input);
    db = make_tensor(c, LPT_FORMAT_F32, {shape.output});
    make();
  }

  // Creates the layer. Call it after a change of `recipe`.
  void make() { linear = make_linear(c, recipe.get(), shape.input, shape.output); }

  void forward() {
    EXPECT_TRUE(ok(c, lpt_linear_prepare(c, linear.get(), w.get(), &prepare)));
    saved = make_saved(c, linear.get(), shape.rows);
    EXPECT_TRUE(ok(c, lpt_linear_forward(c, linear.get(), x.get(), &call, saved.get(), y.get())));
  }

  void backward(bool has_dx = true, bool has_dw = true, bool has_db = true) {
    EXPECT_TRUE(ok(c, lpt_linear_backward(c, linear.get(), saved.get(), dy.get(), &call, has_dx ? dx.get() : nullptr,
                                          has_dw ? dw.get() : nullptr, has_db ? db.get() : nullptr)));
  }

  LayerModel model(const RecipeModel &of) const { return LayerModel(c, of, shape, prepare.random, call.random); }
};

// Progress function that cancels an operation at call number `stop_at`.
struct Stop {
  int calls = 0;
  int stop_at = 0;
  static int32_t request(void *user, int64_t, int64_t) {
    auto *stop = static_cast<Stop *>(user);
    return stop->calls++ == stop->stop_at ? 1 : 0;
  }
};

}  // namespace lpt::test
