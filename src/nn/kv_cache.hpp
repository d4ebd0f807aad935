// A store of the keys and values of attention.
#pragma once

#include "src/cast/cast.hpp"
#include "src/tensor/tensor.hpp"

namespace lpt {

// Keys or values: batches × key heads × capacity × width.
struct KvStore {
  Tensor tensor;
  Cast cast;
  bool hides_nan = false;  // the format cannot represent a NaN of one row
};

}  // namespace lpt

struct lpt_kv_cache {
  lpt::HandleKind kind = lpt::HandleKind::kKvCache;
  lpt::KvStore keys, values;
  lpt_tensor lengths;  // one int64 for each batch, in CPU memory

  int64_t batches() const { return keys.tensor.extents[0]; }
  int64_t heads() const { return keys.tensor.extents[1]; }
  int64_t capacity() const { return keys.tensor.extents[2]; }
  int64_t &length(int64_t batch) const { return static_cast<int64_t *>(lengths.data)[batch]; }
};

namespace lpt {

using KvCache = lpt_kv_cache;

Status create_kv_cache(Context &context, const lpt_kv_cache_options &options, KvCache **out_cache);
Status append_to_kv_cache(Context &context, KvCache &cache, const Tensor *keys, const Tensor *values,
                          const Tensor *counts);
Status truncate_kv_cache(KvCache &cache, const Tensor *lengths);
Status select_in_kv_cache(Context &context, KvCache &cache, const Tensor *batches);
void view_kv_cache(const KvCache &cache, Tensor **out_keys, Tensor **out_values, Tensor **out_lengths);

}  // namespace lpt
