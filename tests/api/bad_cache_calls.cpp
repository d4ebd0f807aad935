#include "tests/api/bad_calls.hpp"

namespace lpt::test {

namespace {

// Two batches, two heads, four positions.
lpt_kv_cache_options good_options() {
  lpt_kv_cache_options options = LPT_KV_CACHE_OPTIONS_INIT;
  options.batches = options.key_heads = 2;
  options.capacity = 4;
  options.key_width = 8;
  return options;
}

// Creates a cache with options that `change` makes invalid.
template <typename Change>
lpt_status create_cache(World &w, Change change) {
  lpt_kv_cache_options options = good_options();
  change(options);
  auto *const canary = canary_handle<lpt_kv_cache>();
  lpt_kv_cache *made = canary;
  const lpt_status status = lpt_kv_cache_create(w.c, &options, &made);
  EXPECT_EQ(canary, made);
  return status;
}

// Runs `call` with a cache of two positions, and checks that they remain.
template <typename Call>
lpt_status with_cache(World &w, Call call) {
  lpt_context *const owner = w.owner.get();
  const lpt_kv_cache_options options = good_options();
  KvCache cache;
  Tensor keys, values, lengths;
  const Tensor rows = make_tensor(owner, LPT_FORMAT_F32, {2, 2, 2, 8});
  EXPECT_TRUE(ok(owner, lpt_kv_cache_create(owner, &options, out(cache))));
  EXPECT_TRUE(ok(owner, lpt_kv_cache_append(owner, cache.get(), rows.get(), rows.get(), nullptr)));
  EXPECT_TRUE(ok(owner, lpt_kv_cache_view(owner, cache.get(), out(keys), out(values), out(lengths))));
  const lpt_status status = call(cache.get());
  for (int64_t b = 0; b < 2; ++b) {
    EXPECT_EQ(2, static_cast<const int64_t *>(lpt_tensor_const_data(lengths.get()))[b]);
  }
  return status;
}

// Appends zeros of these shapes.
lpt_status append(World &w, const std::vector<int64_t> &keys, const std::vector<int64_t> &values,
                  const std::vector<int64_t> &counts = {}, lpt_format format = LPT_FORMAT_F32) {
  lpt_context *const owner = w.owner.get();
  const Tensor key = make_tensor(owner, format, keys), value = make_tensor(owner, format, values),
               vector = counts.empty() ? Tensor() : indices_of(owner, counts);
  return with_cache(
      w, [&](lpt_kv_cache *cache) { return lpt_kv_cache_append(w.c, cache, key.get(), value.get(), vector.get()); });
}

}  // namespace

const std::vector<BadCall> kCacheCalls = {
    {"kv_cache_create: no options",
     LPT_INVALID_ARGUMENT,
     {"options is NULL"},
     [](World &w) {
       lpt_kv_cache *made = nullptr;
       return lpt_kv_cache_create(w.c, nullptr, &made);
     }},
    {"kv_cache_create: no result",
     LPT_INVALID_ARGUMENT,
     {"out_cache is NULL"},
     [](World &w) {
       const lpt_kv_cache_options options = good_options();
       return lpt_kv_cache_create(w.c, &options, nullptr);
     }},
    {"kv_cache_create: a flag",
     LPT_UNSUPPORTED,
     {"flags is 0x1"},
     [](World &w) { return create_cache(w, [](auto &o) { o.flags = LPT_CHECK_ONLY; }); }},
    {"kv_cache_create: no batches",
     LPT_INVALID_ARGUMENT,
     {"batches is 0", "at least 1"},
     [](World &w) { return create_cache(w, [](auto &o) { o.batches = 0; }); }},
    {"kv_cache_create: heads that are not set",
     LPT_INVALID_ARGUMENT,
     {"key_heads is 0", "at least 1"},
     [](World &w) { return create_cache(w, [](auto &o) { o.key_heads = 0; }); }},
    {"kv_cache_create: a negative capacity",
     LPT_INVALID_ARGUMENT,
     {"capacity is -1", "at least 1"},
     [](World &w) { return create_cache(w, [](auto &o) { o.capacity = -1; }); }},
    {"kv_cache_create: keys without columns",
     LPT_INVALID_ARGUMENT,
     {"key_width is 0", "at least 1"},
     [](World &w) { return create_cache(w, [](auto &o) { o.key_width = 0; }); }},
    {"kv_cache_create: a negative width of values",
     LPT_INVALID_ARGUMENT,
     {"value_width is -4", "at least 1"},
     [](World &w) { return create_cache(w, [](auto &o) { o.value_width = -4; }); }},
    {"kv_cache_create: more elements than fit",
     LPT_INVALID_ARGUMENT,
     {"2 x 2 x 9223372036854775807 x 8", "2^56"},
     [](World &w) { return create_cache(w, [](auto &o) { o.capacity = INT64_MAX; }); }},
    {"kv_cache_create: wide values that do not fit",
     LPT_INVALID_ARGUMENT,
     {"2 x 2 x 4 x 36028797018963968", "2^56"},
     [](World &w) { return create_cache(w, [](auto &o) { o.value_width = int64_t{1} << 55; }); }},
    {"kv_cache_create: a number that is no format",
     LPT_INVALID_ARGUMENT,
     {"key_format is 63", "a format"},
     [](World &w) { return create_cache(w, [](auto &o) { o.key_format = 63; }); }},
    {"kv_cache_create: indices",
     LPT_UNSUPPORTED,
     {"value_format is int32"},
     [](World &w) { return create_cache(w, [](auto &o) { o.value_format = LPT_FORMAT_INT32; }); }},
    {"kv_cache_create: 2:4 keys",
     LPT_UNSUPPORTED,
     {"key_format is bf16/2:4", "dense"},
     [](World &w) { return create_cache(w, [](auto &o) { o.key_format = format_named("bf16/2:4"); }); }},
    {"kv_cache_create: blocks of several rows",
     LPT_UNSUPPORTED,
     {"key_format is nvfp4_16x16", "one row high"},
     [](World &w) { return create_cache(w, [](auto &o) { o.key_format = LPT_FORMAT_NVFP4_16X16; }); }},
    {"kv_cache_create: scales of columns",
     LPT_UNSUPPORTED,
     {"value_format is e4m3fn/column/f32", "one row high"},
     [](World &w) { return create_cache(w, [](auto &o) { o.value_format = format_named("e4m3fn/column/f32"); }); }},
    {"kv_cache_create: a rule that is none",
     LPT_INVALID_ARGUMENT,
     {"key_scale_rule is 21"},
     [](World &w) { return create_cache(w, [](auto &o) { o.key_scale_rule = 21; }); }},
    {"kv_cache_create: a rule of other scales",
     LPT_UNSUPPORTED,
     {"value_scale_rule", "bf16 has no scales"},
     [](World &w) { return create_cache(w, [](auto &o) { o.value_scale_rule = LPT_SCALE_RULE_FLOOR; }); }},
    {"kv_cache_create: a scale of keys without scales",
     LPT_INVALID_ARGUMENT,
     {"key_scale is 2", "no tensor scale"},
     [](World &w) { return create_cache(w, [](auto &o) { o.key_scale = 2.0; }); }},
    {"kv_cache_create: a scale of zero",
     LPT_INVALID_ARGUMENT,
     {"value_scale is 0"},
     [](World &w) {
       return create_cache(w, [](auto &o) {
         o.value_format = LPT_FORMAT_NVFP4;
         o.value_scale = 0.0;
       });
     }},
    {"kv_cache_create: a scale beyond f32",
     LPT_INVALID_ARGUMENT,
     {"key_scale is 1e+39"},
     [](World &w) {
       return create_cache(w, [](auto &o) {
         o.key_format = LPT_FORMAT_NVFP4;
         o.key_scale = 1e39;
       });
     }},
    {"kv_cache_append: no cache",
     LPT_INVALID_ARGUMENT,
     {"cache is NULL"},
     [](World &w) { return lpt_kv_cache_append(w.c, nullptr, w.a.get(), w.a.get(), nullptr); }},
    {"kv_cache_append: a tensor for the cache",
     LPT_INVALID_ARGUMENT,
     {"cache is not a live handle"},
     [](World &w) { return lpt_kv_cache_append(w.c, cast<lpt_kv_cache>(w.a.get()), w.a.get(), w.a.get(), nullptr); }},
    {"kv_cache_append: no keys",
     LPT_INVALID_ARGUMENT,
     {"keys is NULL"},
     [](World &w) {
       return with_cache(
           w, [&](lpt_kv_cache *cache) { return lpt_kv_cache_append(w.c, cache, nullptr, w.a.get(), nullptr); });
     }},
    {"kv_cache_append: keys without data",
     LPT_INVALID_ARGUMENT,
     {"keys is 4 x 32 f32 without data"},
     [](World &w) {
       return with_cache(w, [&](lpt_kv_cache *cache) {
         return lpt_kv_cache_append(w.c, cache, w.dataless.get(), w.dataless.get(), nullptr);
       });
     }},
    {"kv_cache_append: fewer batches",
     LPT_INVALID_ARGUMENT,
     {"keys is 2 x 1 x 8 f32", "expected 2 x 2 x 1 x 8"},
     [](World &w) {
       return append(w, {2, 1, 8}, {2, 1, 8});
     }},
    {"kv_cache_append: values of another width",
     LPT_INVALID_ARGUMENT,
     {"values is 2 x 2 x 1 x 9 f32", "expected 2 x 2 x 1 x 8"},
     [](World &w) {
       return append(w, {2, 2, 1, 8}, {2, 2, 1, 9});
     }},
    {"kv_cache_append: codes",
     LPT_UNSUPPORTED,
     {"keys is 2 x 2 x 1 x 8 int8", "f64, f32, bf16 or f16"},
     [](World &w) {
       return append(w, {2, 2, 1, 8}, {2, 2, 1, 8}, {}, LPT_FORMAT_INT8);
     }},
    {"kv_cache_append: counts of other batches",
     LPT_INVALID_ARGUMENT,
     {"counts is 1 x 3 int64", "expected 2 elements"},
     [](World &w) {
       return append(w, {2, 2, 1, 8}, {2, 2, 1, 8}, {1, 1, 1});
     }},
    {"kv_cache_append: a negative count",
     LPT_INVALID_ARGUMENT,
     {"counts[1] is -1", "expected 0 to 1"},
     [](World &w) {
       return append(w, {2, 2, 1, 8}, {2, 2, 1, 8}, {1, -1});
     }},
    {"kv_cache_append: more than there are",
     LPT_INVALID_ARGUMENT,
     {"counts[0] is 2", "expected 0 to 1"},
     [](World &w) {
       return append(w, {2, 2, 1, 8}, {2, 2, 1, 8}, {2, 1});
     }},
    {"kv_cache_append: beyond the capacity",
     LPT_INVALID_ARGUMENT,
     {"number of positions of keys is 3", "batch 0 has 2 of 4", "at most 2"},
     [](World &w) {
       return append(w, {2, 2, 3, 8}, {2, 2, 3, 8});
     }},
    {"kv_cache_truncate: no cache",
     LPT_INVALID_ARGUMENT,
     {"cache is NULL"},
     [](World &w) { return lpt_kv_cache_truncate(w.c, nullptr, nullptr); }},
    {"kv_cache_truncate: floats",
     LPT_INVALID_ARGUMENT,
     {"lengths is f32", "int32 or int64"},
     [](World &w) {
       return with_cache(w, [&](lpt_kv_cache *cache) { return lpt_kv_cache_truncate(w.c, cache, w.a.get()); });
     }},
    {"kv_cache_truncate: longer than before",
     LPT_INVALID_ARGUMENT,
     {"lengths[1] is 3", "expected 0 to 2"},
     [](World &w) {
       const Tensor lengths = indices_of(w.owner.get(), {1, 3});
       return with_cache(w, [&](lpt_kv_cache *cache) { return lpt_kv_cache_truncate(w.c, cache, lengths.get()); });
     }},
    {"kv_cache_select: no batches",
     LPT_INVALID_ARGUMENT,
     {"batches is NULL"},
     [](World &w) {
       return with_cache(w, [&](lpt_kv_cache *cache) { return lpt_kv_cache_select(w.c, cache, nullptr); });
     }},
    {"kv_cache_select: a batch that is none",
     LPT_INVALID_ARGUMENT,
     {"batches[0] is 2", "expected 0 to 1"},
     [](World &w) {
       const Tensor batches = indices_of(w.owner.get(), {2, 0});
       return with_cache(w, [&](lpt_kv_cache *cache) { return lpt_kv_cache_select(w.c, cache, batches.get()); });
     }},
    {"kv_cache_view: no memory for the lengths",
     LPT_INVALID_ARGUMENT,
     {"out_lengths is NULL"},
     [](World &w) {
       return with_cache(w, [&](lpt_kv_cache *cache) {
         return lpt_kv_cache_view(w.c, cache, &w.out_tensor, &w.out_tensor, nullptr);
       });
     }},
    {"kv_cache_size: no memory for the result",
     LPT_INVALID_ARGUMENT,
     {"out_size_bytes is NULL"},
     [](World &w) {
       return with_cache(w, [&](lpt_kv_cache *cache) { return lpt_kv_cache_size(w.c, cache, nullptr); });
     }},
};

}  // namespace lpt::test
