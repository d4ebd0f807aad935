// Rotary position embedding through the C interface, against its formulas in long double.
#include <algorithm>
#include <cmath>

#include "tests/api/support.hpp"

namespace lpt::test {
namespace {

constexpr long double kPi = 3.141592653589793238462643383279502884L;
constexpr lpt_format kFormats[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};

// Frequencies.

std::vector<double> frequencies_of(lpt_context *c, lpt_format format, int64_t count,
                                   const lpt_rotary_scaling *scaling) {
  const Tensor frequencies = make_tensor(c, format, {count});
  EXPECT_TRUE(ok(c, lpt_rotary_frequencies(c, scaling, frequencies.get())));
  return numbers_of(c, frequencies.get());
}

// Frequencies as defined in `modeling_rope_utils` of Hugging Face Transformers.
std::vector<long double> exact_frequencies(const lpt_rotary_scaling &o, int64_t count) {
  const auto width = static_cast<long double>(2 * count), length = static_cast<long double>(o.original_positions);
  const long double base = o.base, factor = o.factor;
  std::vector<long double> result;
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<long double>(i);
    long double b = base;
    if (o.kind == LPT_ROTARY_SCALING_KIND_NTK) b = base * std::pow(factor, width / (width - 2));
    const long double f = 1 / std::pow(b, 2 * index / width);
    long double scaled = f;
    if (o.kind == LPT_ROTARY_SCALING_KIND_LINEAR) scaled = f / factor;
    if (o.kind == LPT_ROTARY_SCALING_KIND_YARN) {
      const auto dimension = [&](long double rotations) {
        return width * std::log(length / (rotations * 2 * kPi)) / (2 * std::log(base));
      };
      const long double low = std::max(std::floor(dimension(o.beta_fast)), 0.0L);
      const long double high = std::min(std::ceil(dimension(o.beta_slow)), width - 1);
      const long double ramp = std::clamp((index - low) / (low == high ? 0.001L : high - low), 0.0L, 1.0L);
      scaled = f / factor * ramp + f * (1 - ramp);
    }
    if (o.kind == LPT_ROTARY_SCALING_KIND_LLAMA3) {
      const long double wavelength = 2 * kPi / f;
      const long double smooth =
          (length / wavelength - o.low_frequency_factor) / (o.high_frequency_factor - o.low_frequency_factor);
      if (wavelength > length / o.low_frequency_factor) {
        scaled = f / factor;
      } else if (wavelength >= length / o.high_frequency_factor) {
        scaled = (1 - smooth) * f / factor + smooth * f;
      }
    }
    result.push_back(scaled);
  }
  return result;
}

// The error bound of the header. An f32 result has one more rounding.
TEST(RotaryFrequencies, AreThoseOfTheFormulas) {
  const Context context = make_context();
  lpt_rotary_scaling llama = LPT_ROTARY_SCALING_INIT;
  llama.base = 500000;
  llama.factor = 8;
  llama.original_positions = 8192;
  double worst = 0.0;
  for (lpt_rotary_scaling_kind kind = LPT_ROTARY_SCALING_KIND_NONE; kind <= LPT_ROTARY_SCALING_KIND_LLAMA3; ++kind) {
    for (const double base : {10000.0, 500000.0, 2.0, 1e30}) {
      for (const int64_t length : {int64_t{16}, int64_t{4096}, int64_t{8192}}) {
        for (const int64_t count : {int64_t{1}, int64_t{2}, int64_t{32}, int64_t{64}, int64_t{128}}) {
          if (kind == LPT_ROTARY_SCALING_KIND_NTK && count == 1) continue;  // the formula divides by zero
          lpt_rotary_scaling scaling = llama;
          scaling.kind = kind;
          scaling.base = base;
          scaling.original_positions = length;
          const std::vector<long double> exact = exact_frequencies(scaling, count);
          const std::vector<double> wide = frequencies_of(context.get(), LPT_FORMAT_F64, count, &scaling);
          const std::vector<double> narrow = frequencies_of(context.get(), LPT_FORMAT_F32, count, &scaling);
          for (size_t i = 0; i < exact.size(); ++i) {
            const auto error = static_cast<double>(std::abs(wide[i] - exact[i]) / exact[i]);
            worst = std::max(worst, error);
            ASSERT_LE(error, 0x1p-44) << "kind " << kind << ", base " << base << ", " << count << " at " << i;
            ASSERT_EQ(static_cast<double>(static_cast<float>(wide[i])), narrow[i]);
          }
        }
      }
    }
  }
  std::printf("relative error: 2^%.1f\n", std::log2(worst));
}

TEST(RotaryFrequencies, OfOnePairOfColumnsAreOne) {
  const Context context = make_context();
  lpt_rotary_scaling scaling = LPT_ROTARY_SCALING_INIT;
  EXPECT_EQ(std::vector<double>{1.0}, frequencies_of(context.get(), LPT_FORMAT_F64, 1, nullptr));
  scaling.kind = LPT_ROTARY_SCALING_KIND_NTK;
  scaling.factor = 4;
  EXPECT_EQ(std::vector<double>{1.0}, frequencies_of(context.get(), LPT_FORMAT_F64, 1, &scaling));
  EXPECT_TRUE(frequencies_of(context.get(), LPT_FORMAT_F32, 0, nullptr).empty());
}

// Rotation.

// Queries of batch × heads × positions × width, stored as batch × positions × heads × width.
constexpr int64_t kBatch = 2, kHeads = 3, kPositions = 5, kWidth = 22;
constexpr int64_t kNumbers = kBatch * kPositions * kHeads * kWidth;

int64_t index_of(int64_t b, int64_t h, int64_t p, int64_t column) {
  return ((b * kPositions + p) * kHeads + h) * kWidth + column;
}

Tensor as_heads(lpt_context *c, const Tensor &memory) {
  return with_axes(c, memory, {kBatch, kHeads, kPositions, kWidth},
                   {kPositions * kHeads * kWidth, kWidth, kHeads * kWidth, 1});
}

Tensor memory_of(lpt_context *c, lpt_format format, uint64_t place) {
  return tensor_of(c, format, kBatch * kPositions * kHeads, kWidth, draw_normal(place, kNumbers));
}

struct Pair {
  int64_t first, second;
};
Pair columns_of(lpt_rotary_layout layout, int64_t count, int64_t i) {
  return layout == LPT_ROTARY_LAYOUT_HALVES ? Pair{i, count + i} : Pair{2 * i, 2 * i + 1};
}

// Rotates all but the last two columns.
constexpr int64_t kCount = (kWidth - 2) / 2;
constexpr int64_t kPlaces[kPositions] = {3, 0, 100000, 7, -12};

std::vector<double> exact_rotation(const std::vector<double> &x, const std::vector<double> &frequencies,
                                   const std::vector<int64_t> &positions, const lpt_rotary_options &options) {
  std::vector<double> result = x;
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t p = 0; p < kPositions; ++p) {
        for (int64_t i = 0; i < kCount; ++i) {
          const Pair pair = columns_of(options.layout, kCount, i);
          const auto first = static_cast<size_t>(index_of(b, h, p, pair.first));
          const auto second = static_cast<size_t>(index_of(b, h, p, pair.second));
          const long double angle = static_cast<long double>(positions[static_cast<size_t>(p)]) *
                                    static_cast<long double>(frequencies[static_cast<size_t>(i)]);
          const long double cosine = options.scale * std::cos(angle);
          const long double sine = (options.is_inverse != 0 ? -1 : 1) * options.scale * std::sin(angle);
          result[first] = static_cast<double>(x[first] * cosine - x[second] * sine);
          result[second] = static_cast<double>(x[first] * sine + x[second] * cosine);
        }
      }
    }
  }
  return result;
}

// f64: the angle has an error of half a unit at 100000, with frequency 1. f32: two units of each product. Others: one rounding.
double bound_of(lpt_format format) {
  switch (format) {
    case LPT_FORMAT_F64:
      return 8.0 * 0x1p-37;
    case LPT_FORMAT_F32:
      return 8.0 * 0x1p-22;
    case LPT_FORMAT_F16:
      return 8.0 * 0x1p-11;
    default:
      return 8.0 * 0x1p-8;
  }
}

void expect_near(const std::vector<double> &expected, const std::vector<double> &found, lpt_format format) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(expected[i], found[i], bound_of(format)) << "element " << i;
}

TEST(Rotary, RotatesPairsOfColumnsByTheirPositions) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const std::vector<int64_t> given(kPlaces, kPlaces + kPositions), counted = {-2, -1, 0, 1, 2};
  const std::vector<int32_t> narrow(kPlaces, kPlaces + kPositions);
  const Tensor int64 = indices_of(c, given), int32 = wrap(c, LPT_FORMAT_INT32, narrow.data(), 1, kPositions);
  lpt_rotary_scaling scaling = LPT_ROTARY_SCALING_INIT;
  for (const lpt_format format : kFormats) {
    for (const lpt_format of_frequencies : {LPT_FORMAT_F64, LPT_FORMAT_F32}) {
      const Tensor frequencies = make_tensor(c, of_frequencies, {kCount});
      ASSERT_TRUE(ok(c, lpt_rotary_frequencies(c, &scaling, frequencies.get())));
      const Tensor x = memory_of(c, format, 401), y = make_tensor(c, format, kNumbers / kWidth, kWidth);
      for (int choice = 0; choice < 12; ++choice) {
        lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
        options.layout = choice % 2 == 0 ? LPT_ROTARY_LAYOUT_HALVES : LPT_ROTARY_LAYOUT_INTERLEAVED;
        options.is_inverse = choice / 2 % 2;
        options.scale = choice / 4 == 1 ? 1.2 : 1.0;
        options.positions = choice / 4 == 0 ? int64.get() : choice / 4 == 1 ? int32.get() : nullptr;
        options.first_position = options.positions == nullptr ? -2 : 1000;  // not used with positions
        const Tensor queries = as_heads(c, x), rotated = as_heads(c, y);
        ASSERT_TRUE(ok(c, lpt_rotary(c, queries.get(), frequencies.get(), &options, rotated.get())));
        SCOPED_TRACE(name_of(format) + ", choice " + std::to_string(choice));
        expect_near(exact_rotation(numbers_of(c, x.get()), numbers_of(c, frequencies.get()),
                                   options.positions == nullptr ? counted : given, options),
                    numbers_of(c, y.get()), format);
      }
    }
  }
}

// <rotate(x), y> = <x, rotate back(y)>: if y is the gradient of the result, its inverse rotation is the gradient of x.
TEST(Rotary, InverseIsTheGradientAndRestoresTheInput) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Tensor frequencies = make_tensor(c, LPT_FORMAT_F64, {kCount});
  ASSERT_TRUE(ok(c, lpt_rotary_frequencies(c, nullptr, frequencies.get())));
  for (const lpt_rotary_layout layout : {LPT_ROTARY_LAYOUT_HALVES, LPT_ROTARY_LAYOUT_INTERLEAVED}) {
    const Tensor x = memory_of(c, LPT_FORMAT_F64, 402), y = memory_of(c, LPT_FORMAT_F64, 403);
    const Tensor forward = make_tensor(c, LPT_FORMAT_F64, kNumbers / kWidth, kWidth);
    const Tensor gradient = make_tensor(c, LPT_FORMAT_F64, kNumbers / kWidth, kWidth);
    lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
    options.layout = layout;
    options.first_position = 17;
    options.scale = 1.5;
    ASSERT_TRUE(ok(c, lpt_rotary(c, as_heads(c, x).get(), frequencies.get(), &options, as_heads(c, forward).get())));
    options.is_inverse = 1;
    ASSERT_TRUE(ok(c, lpt_rotary(c, as_heads(c, y).get(), frequencies.get(), &options, as_heads(c, gradient).get())));
    const std::vector<double> of_x = numbers_of(c, x.get()), of_y = numbers_of(c, y.get());
    const std::vector<double> result = numbers_of(c, forward.get()), back = numbers_of(c, gradient.get());
    double left = 0.0, right = 0.0;
    for (size_t i = 0; i < of_x.size(); ++i) left += result[i] * of_y[i];
    for (size_t i = 0; i < of_x.size(); ++i) right += of_x[i] * back[i];
    EXPECT_NEAR(left, right, 1e-12 * kNumbers);
    options.scale = 1.0 / 1.5;
    const Tensor in_place = as_heads(c, forward);
    ASSERT_TRUE(ok(c, lpt_rotary(c, in_place.get(), frequencies.get(), &options, in_place.get())));
    expect_near(of_x, numbers_of(c, forward.get()), LPT_FORMAT_F64);
  }
}

// The bits do not depend on strides, in-place operation, the number of threads, or one call per position.
TEST(Rotary, GivesTheSameBitsOfAnyStrides) {
  const Context context = make_context(), threads = make_context(3);
  lpt_context *const c = context.get();
  const Tensor frequencies = make_tensor(c, LPT_FORMAT_F32, {kCount});
  ASSERT_TRUE(ok(c, lpt_rotary_frequencies(c, nullptr, frequencies.get())));
  const Tensor x = memory_of(c, LPT_FORMAT_BF16, 404);
  const Tensor dense = make_tensor(c, LPT_FORMAT_BF16, {kBatch, kHeads, kPositions, kWidth});
  ASSERT_TRUE(ok(c, lpt_rotary(c, as_heads(c, x).get(), frequencies.get(), nullptr, dense.get())));
  const Tensor y = make_tensor(c, LPT_FORMAT_BF16, kNumbers / kWidth, kWidth);
  ASSERT_TRUE(ok(threads.get(),
                 lpt_rotary(threads.get(), as_heads(c, x).get(), frequencies.get(), nullptr, as_heads(c, y).get())));
  const std::vector<double> in_order = numbers_of(c, dense.get()), strided = numbers_of(c, y.get());
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t p = 0; p < kPositions; ++p) {
        for (int64_t i = 0; i < kWidth; ++i) {
          const auto at = static_cast<size_t>(((b * kHeads + h) * kPositions + p) * kWidth + i);
          ASSERT_EQ(in_order[at], strided[static_cast<size_t>(index_of(b, h, p, i))]);
        }
      }
    }
  }
  const Tensor heads = as_heads(c, x);
  for (int64_t p = 0; p < kPositions; ++p) {
    lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
    options.first_position = p;
    const Tensor one = view(c, heads.get(), {0, 0, p, 0}, {kBatch, kHeads, 1, kWidth});
    ASSERT_TRUE(ok(c, lpt_rotary(c, one.get(), frequencies.get(), &options, one.get())));
  }
  EXPECT_EQ(bytes_of(c, y.get()), bytes_of(c, x.get()));
}

// More rows than one task of a thread, and the maximum number of axes.
TEST(Rotary, TakesManyRowsAndAxes) {
  const Context context = make_context(), threads = make_context(3);
  const std::vector<int64_t> extents = {2, 2, 2, 2, 2, 2, 300, 64};
  const Tensor frequencies = make_tensor(context.get(), LPT_FORMAT_F32, {32});
  ASSERT_TRUE(ok(context.get(), lpt_rotary_frequencies(context.get(), nullptr, frequencies.get())));
  const Tensor x = make_tensor(context.get(), LPT_FORMAT_F32, extents);
  std::vector<int64_t> strides(8, 1);
  auto *const numbers = static_cast<float *>(describe(context.get(), x.get()).data);
  Random random(405);
  for (int64_t i = 0; i < 64 * 300 * 64; ++i) numbers[i] = static_cast<float>(random.normal());
  // The axes in memory are in the opposite order, except for columns.
  for (size_t i = 1; i < 7; ++i) strides[i] = (i == 1 ? 64 : strides[i - 1]) * extents[i - 1];
  strides[0] = 64;
  const Tensor reversed = with_axes(context.get(), x, extents, strides);
  std::vector<Tensor> results;
  for (lpt_context *const c : {context.get(), threads.get()}) {
    results.push_back(make_tensor(c, LPT_FORMAT_F32, extents));
    ASSERT_TRUE(ok(c, lpt_rotary(c, reversed.get(), frequencies.get(), nullptr, results.back().get())));
  }
  EXPECT_EQ(bytes_of(context.get(), results[0].get()), bytes_of(context.get(), results[1].get()));
  const std::vector<double> found = numbers_of(context.get(), results[0].get());
  size_t at = 0;
  std::vector<int64_t> index(7, 0);
  for (int64_t row = 0; row < 64 * 300; ++row) {
    int64_t rest = row, from = 0;
    for (size_t i = 7; i-- > 0; rest /= extents[i]) from += (index[i] = rest % extents[i]) * strides[i];
    for (int64_t i = 0; i < 32; ++i, ++at) {
      const double angle =
          static_cast<double>(index[6]) *
          static_cast<double>(static_cast<const float *>(describe(context.get(), frequencies.get()).data)[i]);
      const double x_of = static_cast<double>(numbers[from + i]), y_of = static_cast<double>(numbers[from + 32 + i]);
      ASSERT_NEAR(x_of * std::cos(angle) - y_of * std::sin(angle), found[at], bound_of(LPT_FORMAT_F32)) << row;
    }
    at += 32;
  }
}

// Scores depend only on the distance of two positions.
TEST(Rotary, GivesScoresOfDistances) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Tensor frequencies = make_tensor(c, LPT_FORMAT_F64, {8});
  ASSERT_TRUE(ok(c, lpt_rotary_frequencies(c, nullptr, frequencies.get())));
  const std::vector<double> query = draw_normal(406, 16), key = draw_normal(407, 16);
  const auto score = [&](int64_t of_query, int64_t of_key) {
    std::vector<double> q = query, k = key;
    lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
    const Tensor queries = wrap(c, q, 1, 16), keys = wrap(c, k, 1, 16);
    options.first_position = of_query;
    EXPECT_TRUE(ok(c, lpt_rotary(c, queries.get(), frequencies.get(), &options, queries.get())));
    options.first_position = of_key;
    EXPECT_TRUE(ok(c, lpt_rotary(c, keys.get(), frequencies.get(), &options, keys.get())));
    double sum = 0.0;
    for (size_t i = 0; i < 16; ++i) sum += q[i] * k[i];
    return sum;
  };
  EXPECT_NEAR(score(5, 2), score(1005, 1002), 1e-10);
  EXPECT_GT(std::abs(score(5, 2) - score(5, 3)), 1e-3);
}

TEST(Rotary, GivesNanForAnglesOutOfRange) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const std::vector<double> ones = {1.0, 0.5};
  const std::vector<int64_t> positions = {(int64_t{1} << 30) + 1, int64_t{1} << 30};
  const Tensor frequencies = wrap(c, ones, 1, 2), x = tensor_of(c, LPT_FORMAT_F32, 2, 4, std::vector<double>(8, 1.0));
  const Tensor places = indices_of(c, positions);
  lpt_rotary_options options = LPT_ROTARY_OPTIONS_INIT;
  options.positions = places.get();
  ASSERT_TRUE(ok(c, lpt_rotary(c, x.get(), frequencies.get(), &options, x.get())));
  const std::vector<double> found = numbers_of(c, x.get());
  const bool is_nan[] = {true, false, true, false, false, false, false, false};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(is_nan[i], std::isnan(found[i])) << i;
}

TEST(Rotary, TakesNoRowsAndNoFrequencies) {
  const Context context = make_context();
  lpt_context *const c = context.get();
  const Tensor none = make_tensor(c, LPT_FORMAT_F32, {0}), frequencies = make_tensor(c, LPT_FORMAT_F32, {2});
  const Tensor empty = make_tensor(c, LPT_FORMAT_F32, {3, 0, 4});
  EXPECT_TRUE(ok(c, lpt_rotary(c, empty.get(), frequencies.get(), nullptr, empty.get())));
  const Tensor x = tensor_of(c, LPT_FORMAT_F16, 3, 5, draw_normal(408, 15)), y = make_tensor(c, LPT_FORMAT_F16, 3, 5);
  EXPECT_TRUE(ok(c, lpt_rotary(c, x.get(), none.get(), nullptr, y.get())));
  EXPECT_EQ(bytes_of(c, x.get()), bytes_of(c, y.get()));
}

}  // namespace
}  // namespace lpt::test
