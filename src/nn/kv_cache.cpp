#include "src/nn/kv_cache.hpp"

#include "src/formats/block_scale.hpp"
#include "src/nn/attention_operands.hpp"
#include "src/tensor/checks.hpp"

namespace lpt {
namespace {

// Options of keys or of values.
struct StoreOptions {
  const char *format_name, *rule_name, *scale_name;
  lpt_format format;
  lpt_scale_rule rule;
  double scale;
  int64_t width;
};

Status check_store_format(const StoreOptions &options, const Device &device, KvStore &store) {
  Format &format = store.tensor.format;
  const char *const name = options.format_name;
  if (!find_format(options.format, format)) {
    return invalid("%s is %lld: expected a format", name, number(options.format));
  }
  const std::string given = format_name(format.id);
  LPT_TRY(check_holds_numbers(format.id, name));
  if (format.is_sparse) return unsupported("%s is %s: expected a dense format", name, given.c_str());
  if (format.has_block_scale() && format.block_rows != 1) {
    return unsupported("%s is %s: expected blocks one row high", name, given.c_str());
  }
  LPT_TRY(check_choice(options.rule_name, options.rule, LPT_SCALE_RULE_SAWB));
  lpt_scale_rule rule;
  const Status status = resolve_rule(format, LPT_ROUNDING_NEAREST_EVEN, options.rule, rule);
  if (!status.is_ok()) return Status(status.code(), text("%s: %s", options.rule_name, status.message().c_str()));
  LPT_TRY(find_hidden_nan(format, LPT_OVERFLOW_SATURATE, store.hides_nan));
  if (store.hides_nan && !device.is_cpu()) {
    return unsupported("%s is %s on %s: expected a format with a code for NaN, or with block scales", name,
                       given.c_str(), device_text(device).c_str());
  }
  if (!format.has_tensor_scale() && options.scale != 1.0) {
    return invalid("%s is %g: %s has no tensor scale, expected 1", options.scale_name, options.scale, given.c_str());
  }
  return check_finite(options.scale_name, options.scale, static_cast<double>(kSmallestNormal),
                      static_cast<double>(kLargestFloat));
}

Status check_cache_shape(const lpt_kv_cache_options &options, int64_t value_width) {
  const struct {
    const char *name;
    int64_t value;
  } extents[] = {{"batches", options.batches},
                 {"key_heads", options.key_heads},
                 {"capacity", options.capacity},
                 {"key_width", options.key_width},
                 {"value_width", value_width}};
  for (const auto &[name, value] : extents) {
    if (value < 1) return invalid("%s is %lld: expected at least 1", name, number(value));
  }
  for (const int64_t width : {options.key_width, value_width}) {
    const int64_t shape[] = {options.batches, options.key_heads, options.capacity, width};
    if (check_tensor_extents(4, shape).is_ok()) continue;
    return invalid(
        "batches x key_heads x capacity x width is %lld x %lld x %lld x %lld: expected at most 2^56 elements",
        number(shape[0]), number(shape[1]), number(shape[2]), number(shape[3]));
  }
  return {};
}

Status set_tensor_scale(const Queue &queue, float scale, const Tensor &tensor) {
  if (tensor.tensor_scale == nullptr) return {};
  constexpr auto kBytes = static_cast<int64_t>(sizeof scale);
  LPT_TRY(queue.copy({tensor.tensor_scale, kBytes, &scale, kBytes, kBytes, 1}));
  return queue.synchronize();  // before `scale` ends
}

Status create_store(Context &context, const lpt_kv_cache_options &options, const StoreOptions &given, KvStore &store) {
  const int64_t extents[] = {options.batches, options.key_heads, options.capacity, given.width};
  Tensor *made = nullptr;
  LPT_TRY(create_tensor(context, given.format, 4, extents, &made));
  const std::unique_ptr<Tensor> owner(made);
  store.tensor = *made;
  store.cast.rule = given.rule;
  store.cast.keeps_tensor_scale = store.tensor.format.has_tensor_scale();
  return set_tensor_scale(context.queue, static_cast<float>(given.scale), store.tensor);
}

Status create_lengths(Context &context, int64_t batches, Tensor &lengths) {
  find_format(LPT_FORMAT_INT64, lengths.format);
  lengths.rank = 1;
  lengths.extents[0] = batches;
  lengths.strides[0] = 1;
  std::shared_ptr<std::byte> memory;
  LPT_TRY(allocate_bytes(context.allocator, static_cast<size_t>(batches) * sizeof(int64_t), memory));
  lengths.data = memory.get();
  lengths.storage.fill(memory);
  return {};
}

Status check_cache_device(const Context &context, const KvCache &cache) {
  const Device &own = context.queue.device(), &device = cache.keys.tensor.device;
  if (device == own) return {};
  return invalid("cache is on %s: expected %s, where the context works", device_text(device).c_str(),
                 device_text(own).c_str());
}

// Reads one number for each batch. `tensor` may be the lengths of the cache, so the numbers are copied.
Status read_batch_numbers(const Tensor *tensor, const char *name, int64_t batches, std::vector<int64_t> &out_numbers) {
  MatrixView view;
  LPT_TRY(check_indices(tensor, name, true, view, Device()));
  if (view.columns != batches) {
    return invalid("%s is %s: expected %lld elements", name, tensor_text(*tensor).c_str(), number(batches));
  }
  for (int64_t b = 0; b < batches; ++b) out_numbers.push_back(index_at(view, b));
  return {};
}

Status check_batch_number(const char *name, int64_t index, int64_t value, int64_t most) {
  if (value >= 0 && value <= most) return {};
  return invalid("%s is %lld: expected 0 to %lld", item(name, index).c_str(), number(value), number(most));
}

// Append.

// Casts rows. With `is_check`, selects the kernels and rejects a NaN that the format cannot represent.
Status cast_rows(Context &context, const char *name, const KvStore &store, const MatrixView &source,
                 const MatrixView &target, bool is_check) {
  if (is_check && store.hides_nan) {
    const KernelEntry<AmaxRequest> *kernel = nullptr;
    float amax = 0.0f;
    bool has_nan = false;
    const AmaxRequest request{source, &amax, &has_nan};
    LPT_TRY(select_kernel(context, "amax", amax_kernels(), request, {source.format.id}, &kernel));
    kernel->run(request);
    if (has_nan) {
      return invalid("%s has a NaN: %s has no code for it, and no block scale to carry it", name,
                     format_name(target.format.id).c_str());
    }
  }
  return cast_matrix(context, source, target, store.cast, is_check);
}

// Casts the last counts[b] positions of batch b to the positions from its length on. A cast has the positions of a head or,
// if these are fewer, the heads of a position.
Status append_rows(Context &context, const KvCache &cache, const KvStore &store, const Heads &source,
                   const std::vector<int64_t> &counts, bool is_check) {
  const int64_t heads = cache.heads(), capacity = cache.capacity(), positions = source.positions();
  Heads by_position = source;
  std::swap(by_position.tensor.extents[1], by_position.tensor.extents[2]);
  std::swap(by_position.tensor.strides[1], by_position.tensor.strides[2]);
  MatrixView rows;
  LPT_TRY(matrix_of(store.tensor, "cache", rows));
  size_t reported = 0;
  for (int64_t b = 0; b < cache.batches(); ++b) {
    const int64_t count = counts[static_cast<size_t>(b)], first = positions - count;
    const bool has_few = count < heads;
    for (int64_t i = 0; i < std::min(count, heads); ++i) {
      MatrixView from, to;
      if (has_few) {
        LPT_TRY(by_position.view(b * positions + first + i, 0, heads, from));
        to = cut_rows(rows, b * heads * capacity + cache.length(b) + i, heads);
        to.row_stride *= capacity;
        to.block_scale_stride *= capacity;
      } else {
        LPT_TRY(source.view(b * heads + i, first, count, from));
        to = cut_rows(rows, (b * heads + i) * capacity + cache.length(b), count);
      }
      const Arena::Mark mark = context.scratch->mark();
      LPT_TRY(cast_rows(context, source.name, store, from, to, is_check));
      context.scratch->give_back(mark);
      // The explanation has the kernels of the first cast.
      if (reported == 0) reported = context.choices.size();
      context.choices.resize(reported);
    }
  }
  return {};
}

Status read_counts(const KvCache &cache, const Tensor *tensor, int64_t positions, std::vector<int64_t> &counts) {
  const auto batches = static_cast<size_t>(cache.batches());
  if (tensor == nullptr) {
    counts.assign(batches, positions);
  } else {
    LPT_TRY(read_batch_numbers(tensor, "counts", cache.batches(), counts));
  }
  for (int64_t b = 0; b < cache.batches(); ++b) {
    const int64_t count = counts[static_cast<size_t>(b)], length = cache.length(b);
    LPT_TRY(check_batch_number("counts", b, count, positions));
    if (count <= cache.capacity() - length) continue;
    return invalid("%s is %lld: batch %lld has %lld of %lld positions, expected at most %lld",
                   tensor == nullptr ? "the number of positions of keys" : item("counts", b).c_str(), number(count),
                   number(b), number(length), number(cache.capacity()), number(cache.capacity() - length));
  }
  return {};
}

// Selection of batches.

// A copy of a batch. The index of the scratch is the number of batches.
struct Move {
  int64_t target, source;
};

// Orders the copies so that no batch is overwritten before it is read. The copies of a cycle begin with one to scratch.
std::vector<Move> order_moves(const std::vector<int64_t> &sources) {
  const auto batches = static_cast<int64_t>(sources.size());
  const auto at = [&](int64_t b) { return sources[static_cast<size_t>(b)]; };
  std::vector<int64_t> readers(sources.size()), ready;
  std::vector<bool> is_done(sources.size());
  for (int64_t b = 0; b < batches; ++b) {
    is_done[static_cast<size_t>(b)] = at(b) == b;
    if (at(b) != b) ++readers[static_cast<size_t>(at(b))];
  }
  const auto is_ready = [&](int64_t b) {
    return !is_done[static_cast<size_t>(b)] && readers[static_cast<size_t>(b)] == 0;
  };
  for (int64_t b = 0; b < batches; ++b) {
    if (is_ready(b)) ready.push_back(b);
  }
  std::vector<Move> moves;
  while (!ready.empty()) {
    const int64_t b = ready.back(), source = at(b);
    ready.pop_back();
    moves.push_back({b, source});
    is_done[static_cast<size_t>(b)] = true;
    --readers[static_cast<size_t>(source)];
    if (is_ready(source)) ready.push_back(source);
  }
  for (int64_t first = 0; first < batches; ++first) {  // what remains are cycles
    if (is_done[static_cast<size_t>(first)]) continue;
    moves.push_back({batches, first});
    for (int64_t b = first; !is_done[static_cast<size_t>(b)]; b = at(b)) {
      moves.push_back({b, at(b) == first ? batches : at(b)});
      is_done[static_cast<size_t>(b)] = true;
    }
  }
  return moves;
}

// Copies the first `length` rows of each head. Both views begin at the first head.
Status copy_batch(const Queue &queue, const MatrixView &source, const MatrixView &target, int64_t heads,
                  int64_t source_rows, int64_t target_rows, int64_t length) {
  const Format &format = source.format;
  const auto copy = [&](const void *from, void *to, int64_t bytes) {
    return queue.copy({to, target_rows * bytes, from, source_rows * bytes, length * bytes, heads});
  };
  if (length == 0) return {};
  LPT_TRY(copy(source.data, target.data, row_bytes(format.element, source.row_stride)));
  if (format.has_block_scale()) {
    LPT_TRY(copy(source.block_scales, target.block_scales,
                 source.block_scale_stride * (element_bits(format.block_scale) / 8)));
  }
  return format.has_zero_point() ? copy(source.zero_points, target.zero_points, source.block_scale_stride) : Status();
}

// The batches of a store, and scratch of one batch.
struct BatchRows {
  MatrixView rows, scratch;
  int64_t batch_rows;

  MatrixView at(int64_t batch, int64_t batches) const {
    return batch == batches ? scratch : cut_rows(rows, batch * batch_rows, batch_rows);
  }
};

}  // namespace

Status create_kv_cache(Context &context, const lpt_kv_cache_options &options, KvCache **out_cache) {
  LPT_TRY(check_flags("flags", options.flags, 0));
  const int64_t value_width = options.value_width == 0 ? options.key_width : options.value_width;
  const lpt_format value_format = options.value_format == LPT_FORMAT_NONE ? options.key_format : options.value_format;
  const StoreOptions keys{"key_format",           "key_scale_rule",  "key_scale",      options.key_format,
                          options.key_scale_rule, options.key_scale, options.key_width};
  const StoreOptions values{"value_format",           "value_scale_rule",  "value_scale", value_format,
                            options.value_scale_rule, options.value_scale, value_width};
  const Device &device = context.queue.device();
  auto cache = std::make_unique<KvCache>();
  LPT_TRY(check_cache_shape(options, value_width));
  LPT_TRY(check_store_format(keys, device, cache->keys));
  LPT_TRY(check_store_format(values, device, cache->values));
  LPT_TRY(create_lengths(context, options.batches, cache->lengths));
  LPT_TRY(create_store(context, options, keys, cache->keys));
  LPT_TRY(create_store(context, options, values, cache->values));
  *out_cache = cache.release();
  return {};
}

Status append_to_kv_cache(Context &context, KvCache &cache, const Tensor *keys, const Tensor *values,
                          const Tensor *counts) {
  LPT_TRY(check_cache_device(context, cache));
  const struct {
    const Tensor *given;
    const char *name;
    const KvStore &store;
  } inputs[] = {{keys, "keys", cache.keys}, {values, "values", cache.values}};
  Heads sources[2]{};
  for (int i = 0; i < 2; ++i) {
    const auto &[given, name, store] = inputs[i];
    LPT_TRY(read_heads(given, name, true, false, context.queue.device(), sources[i]));
    LPT_TRY(check_extents(sources[i], *given, cache.batches(), cache.heads(), sources[0].positions(),
                          store.tensor.extents[3]));
    for (const KvStore *memory : {&cache.keys, &cache.values}) {
      LPT_TRY(check_no_overlap(sources[i], Heads{"the memory of cache", memory->tensor}));
    }
  }
  const int64_t positions = sources[0].positions();
  std::vector<int64_t> new_counts;
  LPT_TRY(read_counts(cache, counts, positions, new_counts));
  for (const bool is_check : {true, false}) {
    context.choices.clear();
    for (int i = 0; i < 2; ++i) {
      LPT_TRY(append_rows(context, cache, inputs[i].store, sources[i], new_counts, is_check));
    }
  }
  for (int64_t b = 0; b < cache.batches(); ++b) cache.length(b) += new_counts[static_cast<size_t>(b)];
  return {};
}

Status truncate_kv_cache(KvCache &cache, const Tensor *lengths) {
  std::vector<int64_t> numbers;
  if (lengths == nullptr) {
    numbers.assign(static_cast<size_t>(cache.batches()), 0);
  } else {
    LPT_TRY(read_batch_numbers(lengths, "lengths", cache.batches(), numbers));
  }
  for (int64_t b = 0; b < cache.batches(); ++b) {
    LPT_TRY(check_batch_number("lengths", b, numbers[static_cast<size_t>(b)], cache.length(b)));
  }
  std::copy(numbers.begin(), numbers.end(), &cache.length(0));
  return {};
}

Status select_in_kv_cache(Context &context, KvCache &cache, const Tensor *batches) {
  LPT_TRY(check_cache_device(context, cache));
  const int64_t count = cache.batches(), heads = cache.heads(), capacity = cache.capacity();
  std::vector<int64_t> sources, lengths;
  LPT_TRY(read_batch_numbers(batches, "batches", count, sources));
  for (int64_t b = 0; b < count; ++b) {
    LPT_TRY(check_batch_number("batches", b, sources[static_cast<size_t>(b)], count - 1));
    lengths.push_back(cache.length(b));
  }
  const std::vector<Move> moves = order_moves(sources);
  int64_t scratch_rows = 0;  // of a head
  for (const Move &move : moves) {
    if (move.target == count) scratch_rows = std::max(scratch_rows, cache.length(move.source));
  }
  lengths.push_back(0);  // of the scratch
  BatchRows stores[2];
  for (int i = 0; i < 2; ++i) {
    const Tensor &tensor = (i == 0 ? cache.keys : cache.values).tensor;
    LPT_TRY(matrix_of(tensor, "cache", stores[i].rows));
    stores[i].batch_rows = heads * capacity;
    if (scratch_rows == 0) continue;
    LPT_TRY(take_matrix(context, tensor.format, heads * scratch_rows, tensor.extents[3], false, stores[i].scratch));
  }
  for (const auto &[target, source] : moves) {
    const int64_t length = lengths[static_cast<size_t>(source)];
    for (const BatchRows &store : stores) {
      LPT_TRY(copy_batch(context.queue, store.at(source, count), store.at(target, count), heads,
                         source == count ? scratch_rows : capacity, target == count ? scratch_rows : capacity, length));
    }
    lengths[static_cast<size_t>(target)] = length;
  }
  std::copy(lengths.begin(), lengths.end() - 1, &cache.length(0));
  return {};
}

void view_kv_cache(const KvCache &cache, Tensor **out_keys, Tensor **out_values, Tensor **out_lengths) {
  auto keys = std::make_unique<Tensor>(cache.keys.tensor), values = std::make_unique<Tensor>(cache.values.tensor),
       lengths = std::make_unique<Tensor>(cache.lengths);
  keys->is_read_only = values->is_read_only = lengths->is_read_only = true;
  *out_keys = keys.release();
  *out_values = values.release();
  *out_lengths = lengths.release();
}

}  // namespace lpt
