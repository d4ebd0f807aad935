// The store of keys and values on a GPU against the CPU; other tests check the CPU.
#include "tests/device/support.hpp"

namespace lpt::test {
namespace {

class DeviceKvCache : public Devices {};

// Batches of different lengths, a cycle of batches, and free positions: all bytes are those of the CPU.
TEST_F(DeviceKvCache, HasTheBitsOfTheCpu) {
  const Tensor rows = tensor_of(cpu(), LPT_FORMAT_F32, 30, 32, draw_normal(36, 30 * 32)),
               there_rows = there(rows.get());
  const Tensor counts = indices_of(cpu(), {2, 5}), swapped = indices_of(cpu(), {1, 0}),
               ends = indices_of(cpu(), {4, 1});
  for (const lpt_format format : {LPT_FORMAT_BF16, LPT_FORMAT_E4M3FN_TENSOR, LPT_FORMAT_INT8_ROW, LPT_FORMAT_NVFP4}) {
    lpt_kv_cache_options options = LPT_KV_CACHE_OPTIONS_INIT;
    options.batches = 2;
    options.key_heads = 3;
    options.capacity = 7;
    options.key_width = 32;
    options.key_format = format;
    options.value_format = LPT_FORMAT_MXFP8_E4M3;
    options.key_scale = describe(format).tensor_scale == LPT_FORMAT_NONE ? 1.0 : 0.5;
    std::vector<uint8_t> bytes[2];
    for (const bool is_here : {true, false}) {
      lpt_context *const c = is_here ? cpu() : gpu();
      const lpt_tensor *const source = is_here ? rows.get() : there_rows.get();
      KvCache cache;
      Tensor views[3];
      ASSERT_TRUE(ok(c, lpt_kv_cache_create(c, &options, out(cache))));
      ASSERT_TRUE(ok(c, lpt_kv_cache_view(c, cache.get(), out(views[0]), out(views[1]), out(views[2]))));
      const Tensor five = wrap_axes(c, LPT_FORMAT_F32, describe(c, source).data, {2, 3, 5, 32});
      const Tensor one = wrap_axes(c, LPT_FORMAT_F32, describe(c, source).data, {2, 3, 1, 32});
      ASSERT_TRUE(ok(c, lpt_kv_cache_append(c, cache.get(), five.get(), five.get(), counts.get())));
      ASSERT_TRUE(ok(c, lpt_kv_cache_select(c, cache.get(), swapped.get())));
      ASSERT_TRUE(ok(c, lpt_kv_cache_truncate(c, cache.get(), ends.get())));
      ASSERT_TRUE(ok(c, lpt_kv_cache_append(c, cache.get(), one.get(), one.get(), nullptr)));
      for (int i = 0; i < 3; ++i) {
        const bool is_on_cpu = is_here || i == 2;  // the lengths are in CPU memory
        const std::vector<uint8_t> more = is_on_cpu ? bytes_of(cpu(), views[i].get()) : bytes_on_device(views[i].get());
        bytes[is_here].insert(bytes[is_here].end(), more.begin(), more.end());
      }
      lpt_context *const other = is_here ? gpu() : cpu();
      EXPECT_EQ(LPT_INVALID_ARGUMENT, lpt_kv_cache_select(other, cache.get(), swapped.get()));
      expect_words({"cache is on", "where the context works"}, lpt_context_error(other));
    }
    EXPECT_TRUE(bytes[0] == bytes[1]) << name_of(format);
  }
  lpt_kv_cache_options options = LPT_KV_CACHE_OPTIONS_INIT;
  options.key_heads = options.capacity = options.key_width = 1;
  options.key_format = LPT_FORMAT_INT8_TENSOR;
  KvCache none;
  EXPECT_EQ(LPT_UNSUPPORTED, lpt_kv_cache_create(gpu(), &options, out(none)));
  expect_words({"key_format is int8_tensor", "a code for NaN"}, lpt_context_error(gpu()));
}

}  // namespace
}  // namespace lpt::test
