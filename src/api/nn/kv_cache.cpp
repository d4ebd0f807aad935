#include "src/nn/kv_cache.hpp"

#include "src/api/guard.hpp"

using namespace lpt;

lpt_status lpt_kv_cache_create(lpt_context *context, const lpt_kv_cache_options *options, lpt_kv_cache **out_cache) {
  return guard(context, [&](Context &self) -> Status {
    lpt_kv_cache_options known = LPT_KV_CACHE_OPTIONS_INIT;
    if (options == nullptr) return invalid("options is NULL: expected the shape of the cache");
    LPT_TRY(read_options(options, "options", known));
    LPT_TRY(check_out(out_cache, "out_cache"));
    return create_kv_cache(self, known, out_cache);
  });
}

void lpt_kv_cache_destroy(lpt_kv_cache *cache) { destroy(cache, HandleKind::kKvCache); }

lpt_status lpt_kv_cache_append(lpt_context *context, lpt_kv_cache *cache, const lpt_tensor *keys,
                               const lpt_tensor *values, const lpt_tensor *counts) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(cache, HandleKind::kKvCache, "cache"));
    return append_to_kv_cache(self, *cache, keys, values, counts);
  });
}

lpt_status lpt_kv_cache_truncate(lpt_context *context, lpt_kv_cache *cache, const lpt_tensor *lengths) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(cache, HandleKind::kKvCache, "cache"));
    return truncate_kv_cache(*cache, lengths);
  });
}

lpt_status lpt_kv_cache_select(lpt_context *context, lpt_kv_cache *cache, const lpt_tensor *batches) {
  return guard(context, [&](Context &self) -> Status {
    LPT_TRY(check_handle(cache, HandleKind::kKvCache, "cache"));
    return select_in_kv_cache(self, *cache, batches);
  });
}

lpt_status lpt_kv_cache_view(lpt_context *context, const lpt_kv_cache *cache, lpt_tensor **out_keys,
                             lpt_tensor **out_values, lpt_tensor **out_lengths) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(cache, HandleKind::kKvCache, "cache"));
    LPT_TRY(check_out(out_keys, "out_keys"));
    LPT_TRY(check_out(out_values, "out_values"));
    LPT_TRY(check_out(out_lengths, "out_lengths"));
    view_kv_cache(*cache, out_keys, out_values, out_lengths);
    return {};
  });
}

lpt_status lpt_kv_cache_size(lpt_context *context, const lpt_kv_cache *cache, size_t *out_size_bytes) {
  return guard(context, [&](Context &) -> Status {
    LPT_TRY(check_handle(cache, HandleKind::kKvCache, "cache"));
    LPT_TRY(check_out(out_size_bytes, "out_size_bytes"));
    *out_size_bytes = tensor_bytes(cache->keys.tensor) + tensor_bytes(cache->values.tensor);
    return {};
  });
}
