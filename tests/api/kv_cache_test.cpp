// The store of keys and values: rows against casts of single rows, attention against its definition in double and against
// tensors that have no free positions, and changes of batches against lists of rows.
#include "tests/api/attention_model.hpp"

namespace lpt::test {
namespace {

using Bytes = std::vector<uint8_t>;
using Rows = std::vector<Bytes>;
using Indices = std::vector<int64_t>;

struct Cache {
  KvCache handle;
  Tensor keys, values, lengths;
};

lpt_kv_cache_options cache_options(int64_t batches, int64_t heads, int64_t capacity, int64_t width, lpt_format format) {
  lpt_kv_cache_options options = LPT_KV_CACHE_OPTIONS_INIT;
  options.batches = batches;
  options.key_heads = heads;
  options.capacity = capacity;
  options.key_width = width;
  options.key_format = format;
  return options;
}

Cache make_cache(lpt_context *c, const lpt_kv_cache_options &options) {
  Cache made;
  EXPECT_TRUE(ok(c, lpt_kv_cache_create(c, &options, out(made.handle))));
  EXPECT_TRUE(ok(c, lpt_kv_cache_view(c, made.handle.get(), out(made.keys), out(made.values), out(made.lengths))));
  return made;
}

Indices lengths_of(lpt_context *c, const Cache &cache) {
  const auto *const data = static_cast<const int64_t *>(lpt_tensor_const_data(cache.lengths.get()));
  return Indices(data, data + shape_of(c, cache.lengths.get()).columns);
}

lpt_status append(lpt_context *c, const Cache &cache, const Tensor &keys, const Tensor &values,
                  const Indices &counts = {}) {
  const Tensor vector = counts.empty() ? Tensor() : indices_of(c, counts);
  return lpt_kv_cache_append(c, cache.handle.get(), keys.get(), values.get(), vector.get());
}

// Returns the bytes of each row with its scales and zero points, without the tensor scale.
Rows bytes_of_rows(lpt_context *c, const lpt_tensor *tensor) {
  Rows rows(static_cast<size_t>(shape_of(c, tensor).rows));
  for (const lpt_tensor_part part : parts_of(describe(c, tensor).format)) {
    if (part == LPT_TENSOR_PART_TENSOR_SCALE) continue;
    const Bytes bytes = plain_bytes(c, part_of(c, tensor, part).get());
    const size_t each = bytes.size() / rows.size();
    for (size_t r = 0; r < rows.size(); ++r) {
      rows[r].insert(rows[r].end(), &bytes[r * each], &bytes[r * each] + each);
    }
  }
  return rows;
}

// Returns the stored rows of keys, then of values: for each batch and head from the first position to the length.
Rows stored_rows(lpt_context *c, const Cache &cache) {
  Rows stored;
  const Indices lengths = lengths_of(c, cache);
  for (const Tensor *tensor : {&cache.keys, &cache.values}) {
    const Rows rows = bytes_of_rows(c, tensor->get());
    const int64_t *const extents = describe(c, tensor->get()).extents;
    for (int64_t head = 0; head < extents[0] * extents[1]; ++head) {
      const auto first = rows.begin() + head * extents[2];
      stored.insert(stored.end(), first, first + lengths[static_cast<size_t>(head / extents[1])]);
    }
  }
  return stored;
}

// All bytes of a cache, with free positions.
Bytes all_bytes(lpt_context *c, const Cache &cache) {
  Bytes all;
  for (const Tensor *tensor : {&cache.keys, &cache.values, &cache.lengths}) {
    const Bytes more = bytes_of(c, tensor->get());
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

bool is_storable(lpt_format format) {
  const lpt_format_description d = describe(format);
  const bool is_index = format == LPT_FORMAT_INT32 || format == LPT_FORMAT_INT64 || format == LPT_FORMAT_UINT8;
  return !is_index && (d.block_scale == LPT_FORMAT_NONE || d.block_rows == 1) && d.sparse_of == 0;
}

std::vector<lpt_format> storable_formats() {
  std::vector<lpt_format> formats = {format_named("e2m1fn/1x32/e8m0fnu/f32"), format_named("uint4/1x256/f32/uint8"),
                                     format_named("int4/tensor/f32"), format_named("e4m2b9-finite/1x16/f32")};
  for (int64_t i = 0; i < lpt_format_count(); ++i) {
    if (is_storable(lpt_format_at(i))) formats.push_back(lpt_format_at(i));
  }
  return formats;
}

bool can_hold_nan(lpt_format format) {
  const lpt_format_description d = describe(format);
  const bool has_code = d.special == LPT_ELEMENT_SPECIAL_IEEE || d.special == LPT_ELEMENT_SPECIAL_NAN_ONES ||
                        d.special == LPT_ELEMENT_SPECIAL_FNUZ;
  return has_code || d.block_scale != LPT_FORMAT_NONE;
}

// Creates batches × positions × heads × width: f32, bf16, f16 or f64.
Tensor draw_tensor(lpt_context *c, lpt_format format, const std::vector<int64_t> &extents, Values values,
                   uint64_t place) {
  Random random(place);
  const std::vector<float> numbers = draw(random, values, product(extents));
  Tensor tensor = make_tensor(c, format, extents);
  const Tensor wide = wrap(c, numbers, product(extents) / extents.back(), extents.back());
  EXPECT_TRUE(ok(c, lpt_quantize(c, wide.get(), nullptr, tensor.get(), nullptr)));
  return tensor;
}

// Returns positions of a tensor of batches × positions × heads × width as batches × heads × positions × width.
Tensor cut_positions(lpt_context *c, const Tensor &tensor, int64_t first, int64_t count) {
  const lpt_tensor_description d = describe(c, tensor.get());
  const Tensor part = view(c, tensor.get(), {0, first, 0, 0}, {d.extents[0], count, d.extents[2], d.extents[3]});
  return with_axes(c, part, {d.extents[0], d.extents[2], count, d.extents[3]},
                   {d.strides[0], d.strides[2], d.strides[1], d.strides[3]});
}

struct Side {
  lpt_format format;
  lpt_scale_rule rule = LPT_SCALE_RULE_DEFAULT;
  int64_t width = 0;

  double scale() const { return describe(format).tensor_scale == LPT_FORMAT_NONE ? 1.0 : 0.375; }
};

// Casts each row alone, in the order of stored_rows().
Rows cast_rows(lpt_context *c, const Side &side, const Tensor &numbers) {
  Rows rows;
  const int64_t *const extents = describe(c, numbers.get()).extents;
  for (int64_t b = 0; b < extents[0]; ++b) {
    for (int64_t h = 0; h < extents[2]; ++h) {
      for (int64_t p = 0; p < extents[1]; ++p) {
        const Tensor codes = make_tensor(c, side.format, 1, side.width);
        const Tensor row = view(c, numbers.get(), {b, p, h, 0}, {1, 1, 1, side.width});
        lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
        options.scale_rule = side.rule;
        if (describe(side.format).tensor_scale != LPT_FORMAT_NONE) {
          options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
          *part_data<float>(c, codes.get(), LPT_TENSOR_PART_TENSOR_SCALE) = static_cast<float>(side.scale());
        }
        EXPECT_TRUE(ok(c, lpt_quantize(c, row.get(), &options, codes.get(), nullptr)));
        rows.push_back(bytes_of_rows(c, codes.get())[0]);
      }
    }
  }
  return rows;
}

lpt_kv_cache_options side_options(const Side &key, const Side &value, int64_t batches, int64_t heads,
                                  int64_t capacity) {
  lpt_kv_cache_options options = cache_options(batches, heads, capacity, key.width, key.format);
  options.value_width = value.width;
  options.value_format = value.format;
  options.key_scale_rule = key.rule;
  options.value_scale_rule = value.rule;
  options.key_scale = key.scale();
  options.value_scale = value.scale();
  return options;
}

// Fills caches by one call, position by position, and by calls of more and of fewer positions than heads.
void expect_casts_of_rows(lpt_context *c, const Side &key, const Side &value, lpt_format source, int64_t positions = 7,
                          int64_t heads = 3) {
  SCOPED_TRACE(name_of(key.format) + ", " + name_of(value.format) + " from " + name_of(source));
  Tensor inputs[2];
  Rows expected;
  for (size_t i = 0; i < 2; ++i) {
    const Side &side = i == 0 ? key : value;
    const Values values = can_hold_nan(side.format) ? Values::kSpecials : Values::kOutliers;
    inputs[i] = draw_tensor(c, source, {2, positions, heads, side.width}, values, 300 + i);
    const Rows rows = cast_rows(c, side, inputs[i]);
    expected.insert(expected.end(), rows.begin(), rows.end());
  }
  const Indices ones(static_cast<size_t>(positions), 1);
  for (const Indices &chunks : {Indices{positions}, ones, Indices{1, positions - 3, 2}}) {
    const Cache cache = make_cache(c, side_options(key, value, 2, heads, positions + 2));
    int64_t first = 0;
    for (const int64_t count : chunks) {
      ASSERT_TRUE(ok(
          c, append(c, cache, cut_positions(c, inputs[0], first, count), cut_positions(c, inputs[1], first, count))));
      first += count;
      ASSERT_EQ(Indices({first, first}), lengths_of(c, cache));
    }
    ASSERT_TRUE(expected == stored_rows(c, cache)) << chunks.size() << " calls";
  }
}

TEST(KvCache, EachRowIsACastOfThisRowAlone) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  const std::vector<lpt_format> formats = storable_formats();
  const lpt_format sources[] = {LPT_FORMAT_F32, LPT_FORMAT_BF16, LPT_FORMAT_F16, LPT_FORMAT_F64};
  for (size_t i = 0; i < formats.size(); ++i) {
    const Side key{formats[i], LPT_SCALE_RULE_DEFAULT, 40};
    const Side value{formats[(i + 1) % formats.size()], LPT_SCALE_RULE_DEFAULT, 33};
    expect_casts_of_rows(c, key, value, sources[i % 4]);
    expect_casts_of_rows(c, {key.format, LPT_SCALE_RULE_DEFAULT, 1}, value, sources[(i + 1) % 4]);
  }
}

TEST(KvCache, ScalesFollowTheRuleOfTheOptions) {
  const Context context = make_context(1);
  const Side keys[] = {{LPT_FORMAT_NVFP4, LPT_SCALE_RULE_FOUR_OVER_SIX, 48},
                       {LPT_FORMAT_MXFP4, LPT_SCALE_RULE_FLOOR, 64},
                       {format_named("e2m1fn/1x32/e8m0fnu/f32"), LPT_SCALE_RULE_THREE_QUARTERS, 64}};
  const Side values[] = {{LPT_FORMAT_INT4_1X32, LPT_SCALE_RULE_MSE, 64},
                         {LPT_FORMAT_INT8_ROW, LPT_SCALE_RULE_POWER_OF_TWO, 24},
                         {LPT_FORMAT_TERNARY_TENSOR, LPT_SCALE_RULE_MEAN, 21}};
  for (int i = 0; i < 3; ++i) expect_casts_of_rows(context.get(), keys[i], values[i], LPT_FORMAT_F32);
}

// Casts of this size are divided over threads.
TEST(KvCache, LongInputsOnThreadsAreCastsOfRows) {
  const Context context = make_context(3);
  expect_casts_of_rows(context.get(), {LPT_FORMAT_MXFP8_E4M3, LPT_SCALE_RULE_DEFAULT, 128},
                       {LPT_FORMAT_UINT4_1X32, LPT_SCALE_RULE_DEFAULT, 128}, LPT_FORMAT_F32, 300, 2);
}

// Bounds the difference of attention in f64 and its definition. Decoded keys and values have at most two roundings to f32,
// 2^-23 of their magnitude. An error e of all scores changes probabilities by at most 2e, relative.
double attention_bound(const Sizes &s, const Numbers &query, const Numbers &key, const Numbers &value) {
  const auto largest = [](const Numbers &numbers) {
    double most = 0;
    for (const double x : numbers) most = std::max(most, std::fabs(x));
    return most;
  };
  const double score = largest(query) * largest(key) * std::sqrt(static_cast<double>(s.width));  // width / sqrt(width)
  return std::ldexp(1 + 2 * score, -23) * largest(value);
}

// Casts positions of one batch to a tensor of 1 × heads × positions × width.
Tensor cast_positions(lpt_context *c, const Side &side, const Tensor &numbers, int64_t batch,
                      const Indices &positions) {
  const int64_t *const strides = describe(c, numbers.get()).strides;
  const int64_t heads = describe(c, numbers.get()).extents[2], count = static_cast<int64_t>(positions.size());
  const auto *const data = static_cast<const float *>(lpt_tensor_const_data(numbers.get()));
  std::vector<float> rows;
  for (int64_t h = 0; h < heads; ++h) {
    for (const int64_t p : positions) {
      const float *const row = data + batch * strides[0] + p * strides[1] + h * strides[2];
      rows.insert(rows.end(), row, row + side.width);
    }
  }
  Tensor codes = make_tensor(c, side.format, {1, heads, count, side.width});
  lpt_quantize_options options = LPT_QUANTIZE_OPTIONS_INIT;
  if (describe(side.format).tensor_scale != LPT_FORMAT_NONE) {
    options.flags = LPT_QUANTIZE_KEEP_TENSOR_SCALE;
    *part_data<float>(c, codes.get(), LPT_TENSOR_PART_TENSOR_SCALE) = static_cast<float>(side.scale());
  }
  const Tensor source = wrap(c, rows, heads * count, side.width);
  EXPECT_TRUE(ok(c, lpt_quantize(c, source.get(), &options, codes.get(), nullptr)));
  return codes;
}

// Five positions of each batch, then the last of eight for batch 0, and all of them for batch 1. The queries of batch 0 that
// have no key of this call come first. The heads that share keys have 16 queries, so the fused kernel computes bf16.
TEST(KvCache, AttentionReadsEachBatchUpToItsLength) {
  const Context context = make_context(2);
  lpt_context *const c = context.get();
  constexpr int64_t kHeads = 2, kWidth = 32, kValueWidth = 48, kFirst = 5, kQueries = 8;
  const Indices counts = {1, kQueries};
  for (const lpt_format format : storable_formats()) {
    SCOPED_TRACE(name_of(format));
    const Side sides[] = {{format, LPT_SCALE_RULE_DEFAULT, kWidth}, {format, LPT_SCALE_RULE_DEFAULT, kValueWidth}};
    Tensor inputs[2];
    for (size_t i = 0; i < 2; ++i) {
      const std::vector<int64_t> extents = {2, kFirst + kQueries, kHeads, sides[i].width};
      inputs[i] = draw_tensor(c, LPT_FORMAT_F32, extents, Values::kNormal, 310 + i);
      auto *const data = static_cast<float *>(lpt_tensor_data(inputs[i].get()));
      const bool has_sign = format != LPT_FORMAT_E8M0FNU;
      for (int64_t j = 0; j < product(extents) && !has_sign; ++j) data[j] = std::fabs(data[j]);
    }
    const Cache cache = make_cache(c, side_options(sides[0], sides[1], 2, kHeads, 16));
    const auto part = [&](size_t i, int64_t first, int64_t count) { return cut_positions(c, inputs[i], first, count); };
    ASSERT_TRUE(ok(c, append(c, cache, part(0, 0, kFirst), part(1, 0, kFirst))));
    ASSERT_TRUE(ok(c, append(c, cache, part(0, kFirst, kQueries), part(1, kFirst, kQueries), counts)));
    const Indices positions[] = {{0, 1, 2, 3, 4, 12}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
    ASSERT_EQ(Indices({6, 13}), lengths_of(c, cache));
    const lpt_exaq_options levels = LPT_EXAQ_OPTIONS_INIT;
    for (const lpt_format wide : {LPT_FORMAT_F64, LPT_FORMAT_BF16, LPT_FORMAT_F32}) {
      const Tensor query = any(c, wide, {2, 2 * kHeads, kQueries, kWidth}, 312);
      const Tensor output = make_tensor(c, wide, {2, 2 * kHeads, kQueries, kValueWidth});
      lpt_attention_options options = options_of(true);
      options.exaq = wide == LPT_FORMAT_F32 && format != LPT_FORMAT_F64 ? &levels : nullptr;
      const lpt_attention_options causal = options;
      options.key_lengths = cache.lengths.get();
      ASSERT_TRUE(
          ok(c, lpt_attention_forward(c, query.get(), cache.keys.get(), cache.values.get(), &options, output.get())));
      for (int64_t b = 0; b < 2; ++b) {
        const Indices &stored = positions[b];
        const Sizes s{1, 2 * kHeads, kHeads, kQueries, static_cast<int64_t>(stored.size()), kWidth, kValueWidth};
        const Tensor key = cast_positions(c, sides[0], inputs[0], b, stored),
                     value = cast_positions(c, sides[1], inputs[1], b, stored),
                     own = view(c, query.get(), {b, 0, 0, 0}, s.query()),
                     found = view(c, output.get(), {b, 0, 0, 0}, s.output()), alone = make_tensor(c, wide, s.output());
        ASSERT_TRUE(ok(c, lpt_attention_forward(c, own.get(), key.get(), value.get(), &causal, alone.get())));
        ASSERT_EQ(bytes_of(c, alone.get()), bytes_of(c, found.get())) << name_of(wide) << ", batch " << b;
        if (wide != LPT_FORMAT_F64) continue;
        const Numbers numbers[] = {numbers_of(c, own.get()), numbers_of(c, key.get()), numbers_of(c, value.get())};
        const Numbers expected = attend(s, numbers[0], numbers[1], numbers[2], {true, 1 / std::sqrt(double{kWidth})});
        const Numbers result = numbers_of(c, found.get());
        const double bound = attention_bound(s, numbers[0], numbers[1], numbers[2]);
        for (size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(expected[i], result[i], bound) << "batch " << b;
      }
    }
  }
}

// Creates a cache of batches of different lengths, 0 to 6.
Cache ragged_cache(lpt_context *c, const lpt_kv_cache_options &options) {
  Cache cache = make_cache(c, options);
  Random random(320);
  Indices counts;
  for (int64_t b = 0; b < options.batches; ++b) counts.push_back(random.below(7));
  const std::vector<int64_t> extents = {options.batches, options.key_heads, 6, options.key_width};
  const Tensor keys = draw_tensor(c, LPT_FORMAT_F32, extents, Values::kNormal, 321),
               values = draw_tensor(c, LPT_FORMAT_F32, extents, Values::kNormal, 322);
  EXPECT_TRUE(ok(c, append(c, cache, keys, values, counts)));
  EXPECT_EQ(counts, lengths_of(c, cache));
  return cache;
}

// The explanation has one cast of keys and one of values, not one for each head.
TEST(KvCache, ExplanationDoesNotDependOnHeads) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  std::string texts[2];
  for (const int64_t heads : {1, 4}) {
    const Cache cache = make_cache(c, cache_options(2, heads, 8, 32, LPT_FORMAT_MXFP8_E4M3));
    const Tensor rows = draw_tensor(c, LPT_FORMAT_F32, {2, heads, 8, 32}, Values::kNormal, 319);
    ASSERT_TRUE(ok(c, append(c, cache, rows, rows)));
    texts[heads / 4] = lpt_context_explanation(c);
  }
  EXPECT_NE("", texts[0]);
  EXPECT_EQ(texts[0], texts[1]);
}

// A truncated cache that gets other positions equals a cache that got these only.
TEST(KvCache, TruncatesAndContinues) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_UINT4_1X32, LPT_FORMAT_NVFP4}) {
    const lpt_kv_cache_options options = cache_options(3, 2, 9, 32, format);
    const Tensor draws[] = {draw_tensor(c, LPT_FORMAT_F32, {3, 8, 2, 32}, Values::kNormal, 330),
                            draw_tensor(c, LPT_FORMAT_F32, {3, 8, 2, 32}, Values::kNormal, 331)};
    const auto part = [&](size_t i, int64_t first, int64_t count) { return cut_positions(c, draws[i], first, count); };
    const Cache cache = make_cache(c, options), other = make_cache(c, options);
    ASSERT_TRUE(ok(c, append(c, cache, part(0, 0, 5), part(1, 0, 5))));
    const Tensor lengths = indices_of(c, {2, 5, 0});
    ASSERT_TRUE(ok(c, lpt_kv_cache_truncate(c, cache.handle.get(), lengths.get())));
    ASSERT_EQ(Indices({2, 5, 0}), lengths_of(c, cache));
    ASSERT_TRUE(ok(c, append(c, other, part(0, 0, 2), part(1, 0, 2), {2, 2, 0})));
    ASSERT_TRUE(ok(c, append(c, other, part(0, 2, 3), part(1, 2, 3), {0, 3, 0})));
    for (const Cache *each : {&cache, &other}) ASSERT_TRUE(ok(c, append(c, *each, part(0, 5, 3), part(1, 5, 3))));
    ASSERT_EQ(Indices({5, 8, 3}), lengths_of(c, cache));
    EXPECT_TRUE(stored_rows(c, other) == stored_rows(c, cache)) << name_of(format);
    ASSERT_TRUE(ok(c, lpt_kv_cache_truncate(c, cache.handle.get(), nullptr)));
    EXPECT_EQ(Indices({0, 0, 0}), lengths_of(c, cache));
  }
}

// Runs lpt_kv_cache_select(), and compares rows and lengths with those of the selected batches before.
void expect_selection(lpt_context *c, lpt_format format, int64_t batches, const Indices &sources) {
  const Cache cache = ragged_cache(c, cache_options(batches, 2, 7, 40, format));
  const Indices lengths = lengths_of(c, cache);
  const Rows before[] = {bytes_of_rows(c, cache.keys.get()), bytes_of_rows(c, cache.values.get())};
  Rows expected;
  Indices expected_lengths;
  for (const int64_t source : sources) expected_lengths.push_back(lengths[static_cast<size_t>(source)]);
  for (const Rows &rows : before) {
    for (const int64_t source : sources) {
      for (int64_t head = 2 * source; head < 2 * source + 2; ++head) {
        const auto first = rows.begin() + 7 * head;
        expected.insert(expected.end(), first, first + lengths[static_cast<size_t>(source)]);
      }
    }
  }
  const Tensor vector = indices_of(c, sources);
  ASSERT_TRUE(ok(c, lpt_kv_cache_select(c, cache.handle.get(), vector.get())));
  ASSERT_EQ(expected_lengths, lengths_of(c, cache));
  ASSERT_TRUE(expected == stored_rows(c, cache)) << name_of(format) << testing::PrintToString(sources);
}

TEST(KvCache, SelectsBatches) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  for (const lpt_format format : {LPT_FORMAT_F32, LPT_FORMAT_UINT4_1X32, LPT_FORMAT_NVFP4, LPT_FORMAT_INT8_ROW}) {
    for (int64_t map = 0; map < 4 * 4 * 4 * 4; ++map) {  // all maps of four batches
      expect_selection(c, format, 4, {map % 4, map / 4 % 4, map / 16 % 4, map / 64});
    }
  }
  Random random(340);
  for (int i = 0; i < 40; ++i) {
    Indices sources;
    for (int b = 0; b < 9; ++b) sources.push_back(random.below(9));
    expect_selection(c, LPT_FORMAT_MXFP4, 9, sources);
  }
}

// A call that fails leaves all bytes of the cache as they were, also those of free positions.
TEST(KvCache, FailedCallsChangeNothing) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  lpt_kv_cache_options options = cache_options(2, 2, 8, 4, LPT_FORMAT_F32);
  options.value_format = LPT_FORMAT_INT8_TENSOR;
  const Cache cache = make_cache(c, options);
  const Tensor one = draw_tensor(c, LPT_FORMAT_F32, {2, 2, 5, 4}, Values::kNormal, 350);
  ASSERT_TRUE(ok(c, append(c, cache, one, one, {5, 2})));
  const Tensor nan = draw_tensor(c, LPT_FORMAT_F32, {2, 2, 3, 4}, Values::kNormal, 351),
               good = draw_tensor(c, LPT_FORMAT_F32, {2, 2, 3, 4}, Values::kNormal, 352);
  static_cast<float *>(lpt_tensor_data(nan.get()))[2 * 2 * 3 * 4 - 1] = NAN;  // the last position of the last batch
  const Bytes before = all_bytes(c, cache);
  const auto expect_error = [&](lpt_status status, std::vector<const char *> words) {
    EXPECT_EQ(LPT_INVALID_ARGUMENT, status);
    expect_words(words, lpt_context_error(c));
    EXPECT_TRUE(before == all_bytes(c, cache)) << words[0];
  };
  expect_error(append(c, cache, good, nan), {"values has a NaN", "int8_tensor"});
  expect_error(append(c, cache, one, one, {4, 5}), {"counts[0] is 4", "batch 0 has 5 of 8", "at most 3"});
  expect_error(append(c, cache, one, one), {"number of positions of keys is 5", "at most 3"});
  expect_error(append(c, cache, good, one), {"values is 2 x 2 x 5 x 4", "expected 2 x 2 x 3 x 4"});
  expect_error(append(c, cache, cache.keys, one, {1, 1}), {"keys overlaps the memory of cache"});
  for (const Indices &lengths : {Indices{6, 2}, Indices{5, -1}, Indices{5}}) {
    const Tensor vector = indices_of(c, lengths);
    expect_error(lpt_kv_cache_truncate(c, cache.handle.get(), vector.get()), {"lengths", "expected"});
    expect_error(lpt_kv_cache_select(c, cache.handle.get(), vector.get()), {"batches", "expected"});
  }
  EXPECT_TRUE(ok(c, append(c, cache, nan, good)));  // f32 has a code for a NaN
  EXPECT_EQ(Indices({8, 5}), lengths_of(c, cache));
  // A NaN among positions that are not appended is not read.
  EXPECT_TRUE(ok(c, append(c, cache, good, nan, {0, 0})));
  EXPECT_EQ(1.0f, tensor_scale_of(c, cache.values.get()));
}

TEST(KvCache, ViewsAreReadOnlyAndOutliveTheCache) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  Cache cache = make_cache(c, cache_options(2, 1, 4, 16, LPT_FORMAT_MXFP8_E4M3));
  for (const Tensor *tensor : {&cache.keys, &cache.values, &cache.lengths}) {
    EXPECT_EQ(nullptr, lpt_tensor_data(tensor->get()));
    EXPECT_EQ(uint64_t{LPT_TENSOR_READ_ONLY}, describe(c, tensor->get()).flags);
  }
  size_t bytes = 0;
  ASSERT_TRUE(ok(c, lpt_kv_cache_size(c, cache.handle.get(), &bytes)));
  EXPECT_EQ(size_t{2 * 2 * 4 * (16 + 1)}, bytes);  // keys and values: one byte per element and one scale per row
  const Tensor one = draw_tensor(c, LPT_FORMAT_F32, {2, 1, 3, 16}, Values::kNormal, 360);
  ASSERT_TRUE(ok(c, append(c, cache, one, one)));
  const Rows before = stored_rows(c, cache);
  cache.handle.reset();
  EXPECT_EQ(Indices({3, 3}), lengths_of(c, cache));
  EXPECT_TRUE(before == stored_rows(c, cache));
}

// Strides of the store are those of an axis of one element where it has one position or one head.
TEST(KvCache, TakesFewerAxesAndSmallShapes) {
  const Context context = make_context(1);
  lpt_context *const c = context.get();
  constexpr std::pair<int64_t, int64_t> kShapes[] = {{1, 1}, {3, 1}, {1, 3}};
  for (const auto &[heads, capacity] : kShapes) {
    const Cache cache = make_cache(c, cache_options(1, heads, capacity, 5, LPT_FORMAT_INT4_1X32));
    const std::vector<int64_t> extents = {heads, capacity, 5};
    const Tensor keys = draw_tensor(c, LPT_FORMAT_F32, extents, Values::kNormal, 370),
                 values = draw_tensor(c, LPT_FORMAT_F32, extents, Values::kNormal, 371);
    ASSERT_TRUE(ok(c, append(c, cache, keys, values)));
    Rows expected;
    for (const Tensor *numbers : {&keys, &values}) {
      // As batches × positions × heads × width, with the heads as batches.
      const Tensor rows = with_axes(c, *numbers, {heads, capacity, 1, 5}, {capacity * 5, 5, 5, 1});
      const Rows more = cast_rows(c, {LPT_FORMAT_INT4_1X32, LPT_SCALE_RULE_DEFAULT, 5}, rows);
      expected.insert(expected.end(), more.begin(), more.end());
    }
    EXPECT_TRUE(expected == stored_rows(c, cache)) << heads << " x " << capacity;
    if (heads == 1) {
      const Tensor matrix = with_axes(c, keys, {capacity, 5}, {5, 1});
      ASSERT_TRUE(ok(c, lpt_kv_cache_truncate(c, cache.handle.get(), nullptr)));
      EXPECT_TRUE(ok(c, append(c, cache, matrix, matrix)));
      EXPECT_EQ(Indices{capacity}, lengths_of(c, cache));
    }
  }
}

}  // namespace
}  // namespace lpt::test
